//! Pairing where a step can't be written.

use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::name::DeviceName;
use sealpost_protocol::pair::PairBody;

use super::*;
use crate::core::event::JoinRequestId;
use crate::core::rig::words;
use crate::core::step::{SessionId, WordsTarget};

/// An actor with an open window and a request that can be accepted.
fn asked_actor(home: &Home) -> Actor {
    let mut actor = still_actor(home);
    let now_ms = home.clock.now_ms();
    let device = &mut actor.group.device;
    let token = device.handle_start_pairing(now_ms, &mut OsRng).unwrap();
    let joiner = DeviceSecrets::generate(&mut OsRng);
    let name = DeviceName::derived(&joiner.keys().signing);
    let sealing = Sealing {
        author: &joiner.signing,
        recipient: &token.keys().noise,
        sequence: now_ms,
        timestamp_ms: now_ms,
        tag: MessageTag::Pair,
        body: &PairBody::new(&token, &joiner.keys(), name).encode(),
    };
    let envelope = seal(&sealing, &mut OsRng).unwrap();
    device.handle_handler_set(true);
    device.handle_session_started(SessionId(1));
    device.handle_deliver(SessionId(1), 1, envelope);
    actor.settle(Vec::new());
    let target = WordsTarget::Request(JoinRequestId(1));
    actor.group.device.handle_words(target, words());
    actor.settle(Vec::new());
    actor
}

#[tokio::test]
async fn an_acceptance_that_can_not_be_written_leaves_the_window_as_it_was() {
    let home = Home::new();
    let mut actor = asked_actor(&home);
    let now_ms = home.clock.now_ms();
    let requests = |actor: &Actor| {
        let window = actor.group.device.pairing().window?;
        Some((window.token.to_text(), window.requests))
    };
    let before = requests(&actor).unwrap();
    actor.group.store.fill_disk(true);
    let device = &mut actor.group.device;
    device
        .handle_accept(before.1[0].id, now_ms, &mut OsRng)
        .unwrap();
    // Enough rows to need another page.
    (0..200).for_each(|_| device.handle_bad_frame(now_ms));
    actor.settle(Vec::new());
    assert!(requests(&actor).unwrap() == before);
    assert!(actor.group.device.members().is_empty());
    actor.group.store.fill_disk(false);
    actor.rest = None;
    let device = &mut actor.group.device;
    device
        .handle_accept(before.1[0].id, now_ms, &mut OsRng)
        .unwrap();
    actor.settle(Vec::new());
    assert!(requests(&actor).is_none());
    assert_eq!(actor.group.device.members().len(), 1);
    actor.rebuild(StorageFault::Full);
    assert!(requests(&actor).is_none(), "what is written stays so");
}
