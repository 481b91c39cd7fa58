//! Copies of a device, and messages that come again under one id or another.

use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::message_id::MessageId;

use crate::core::issue::DeliveryIssue;
use crate::core::rig::{Post, Rig, acknowledged, issues, pushes};
use crate::core::run_marker::RunMarker;
use crate::core::step::{Effect, PushId, PushOutcome};
use crate::core::timing::MARKER_HOLD_MS;

fn from_peer(post: &mut Post, sequence: u64, timestamp_ms: u64, body: &[u8]) -> Vec<u8> {
    let author = post.rigs[0].store.secrets.clone();
    let to = &mut post.rigs[1];
    let recipient = to.noise();
    let sealing = Sealing {
        author: &author.signing,
        recipient: &recipient,
        sequence,
        timestamp_ms,
        tag: MessageTag::Sync,
        body,
    };
    seal(&sealing, &mut to.rng).expect("it can be sealed")
}

fn text(id: u8, text: &str) -> Vec<u8> {
    let kind = AppMessageKind::Text(text.to_owned());
    let id = [id; 16];
    let via = None;
    AppMessage { id, kind, via }.encode()
}

fn runs_started(effects: &[Effect]) -> usize {
    let is_start = |effect: &&Effect| matches!(effect, Effect::StartHandler { .. });
    effects.iter().filter(is_start).count()
}

/// The envelope that a rig sends to itself when it looks for copies.
fn marker_of(rig: &mut Rig, run: u8) -> Vec<u8> {
    let marker = RunMarker::from_bytes([run; 16]);
    rig.device.handle_runs(marker, [].into());
    rig.device.handle_look_for_copy();
    let effects = rig.drain();
    let [push] = pushes(&effects)[..] else {
        panic!("one push");
    };
    assert_eq!(push.id, PushId::UNTRACKED);
    assert_eq!(push.recipient, rig.noise());
    push.envelope.clone()
}

#[test]
fn another_message_under_a_used_id_is_an_issue_and_not_a_duplicate() {
    for in_one_step in [false, true] {
        let mut post = Post::group(2);
        let now = post.rigs[1].now_ms;
        let first = from_peer(&mut post, 7, now, &text(1, "one"));
        let second = from_peer(&mut post, 7, now, &text(2, "two"));
        let id = MessageId::derive(&post.rigs[0].device.keys().signing, 7);
        let rig = &mut post.rigs[1];
        let effects = if in_one_step {
            let started = rig.deliver(&first);
            rig.device.handle_deliver(rig.session, 900, second.clone());
            let run = started.iter().find_map(|effect| match effect {
                Effect::StartHandler { run, .. } => Some(*run),
                _ => None,
            });
            rig.device
                .handle_handler_outcome(run.expect("a run"), Ok(()), now);
            rig.drain()
        } else {
            rig.receive(&first);
            rig.receive(&second)
        };
        assert_eq!(issues(&effects), [DeliveryIssue::IdReused { message: id }]);
        assert_eq!(runs_started(&effects), 0);
        assert!(!acknowledged(&effects).is_empty());
        assert_eq!(rig.bodies(), [text(1, "one")]);
        // The same bytes are a duplicate as ever.
        assert!(issues(&rig.receive(&first)).is_empty());
    }
}

#[test]
fn what_is_sent_again_under_a_new_id_is_handled_once() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let first = from_peer(&mut post, 1, now, &text(1, "one"));
    let again = from_peer(&mut post, 2, now + 5, &text(1, "one"));
    let other = from_peer(&mut post, 3, now + 6, &text(1, "something else"));
    let rig = &mut post.rigs[1];
    rig.receive(&first);
    let effects = rig.receive(&again);
    assert_eq!(runs_started(&effects), 0);
    assert!(issues(&effects).is_empty());
    assert_eq!(acknowledged(&effects).len(), 1);
    assert_eq!(rig.store.handled.len(), 2, "its own id is handled as well");
    let effects = rig.receive(&other);
    assert_eq!(runs_started(&effects), 0);
    assert!(matches!(
        issues(&effects)[..],
        [DeliveryIssue::IdReused { .. }]
    ));
    assert_eq!(rig.bodies().len(), 1);
}

#[test]
fn an_outcome_that_comes_with_its_redelivered_blob_counts() {
    let mut post = Post::group(2);
    let now = post.rigs[1].now_ms;
    let one = from_peer(&mut post, 1, now, &text(1, "one"));
    let rig = &mut post.rigs[1];
    let started = rig.deliver(&one);
    let run = started.iter().find_map(|effect| match effect {
        Effect::StartHandler { run, .. } => Some(*run),
        _ => None,
    });
    rig.connect();
    // Both in one step, the blob first.
    rig.device.handle_deliver(rig.session, 900, one);
    rig.device
        .handle_handler_outcome(run.expect("a run"), Ok(()), now);
    let effects = rig.drain();
    assert_eq!(runs_started(&effects), 0);
    assert_eq!(acknowledged(&effects), [900]);
    assert_eq!(rig.bodies().len(), 1);
}

#[test]
fn a_device_knows_its_own_marker_and_is_told_of_a_strange_one() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    let of_copy = marker_of(rig, 1);
    let own = marker_of(rig, 2);
    let effects = rig.receive(&own);
    assert!(issues(&effects).is_empty());
    assert!(
        acknowledged(&effects).is_empty(),
        "a copy is to get it, too"
    );
    assert_eq!(acknowledged(&rig.advance(MARKER_HOLD_MS)).len(), 1);
    let effects = rig.receive(&own);
    assert!(issues(&effects).is_empty());
    let effects = rig.receive(&of_copy);
    assert_eq!(issues(&effects), [DeliveryIssue::DeviceCopied]);
    assert_eq!(rig.store.issues, [DeliveryIssue::DeviceCopied]);
    assert_eq!(pushes(&effects).len(), 1, "the copy hears of this one");
    // Said once for each run of the copy.
    let effects = rig.receive(&of_copy);
    assert!(issues(&effects).is_empty() && pushes(&effects).is_empty());
    assert!(rig.bodies().is_empty(), "no handler and no history sees it");
}

#[test]
fn a_marker_that_was_not_pushed_changes_nothing_and_none_is_sent_outside_a_group() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    marker_of(rig, 1);
    let (now, rng) = (rig.now_ms, &mut rig.rng);
    rig.device
        .handle_push_outcome(PushId::UNTRACKED, PushOutcome::Unanswered, now, rng);
    assert!(rig.drain().is_empty());
    let mut alone = Rig::new(9, "Alone");
    alone
        .device
        .handle_runs(RunMarker::from_bytes([1; 16]), [].into());
    alone.device.handle_look_for_copy();
    assert!(pushes(&alone.drain()).is_empty());
}
