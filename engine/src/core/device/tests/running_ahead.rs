//! Runs of the handler that start before what was handled is committed.

use sealpost_protocol::envelope::{MessageTag, Sealing, seal};

use crate::core::rig::{Post, acknowledged};
use crate::core::step::{Change, Effect, HandlerRun};

/// Delivers messages of the group's first device to its second, without a drain.
fn deliver(post: &mut Post, sequences: impl Iterator<Item = u64>) {
    let author = post.rigs[0].store.secrets.clone();
    let rig = &mut post.rigs[1];
    let recipient = rig.noise();
    for sequence in sequences {
        let sealing = Sealing {
            author: &author.signing,
            recipient: &recipient,
            sequence,
            timestamp_ms: rig.now_ms,
            tag: MessageTag::Sync,
            body: b"x",
        };
        let envelope = seal(&sealing, &mut rig.rng).expect("it can be sealed");
        rig.device
            .handle_deliver(rig.session, 100 + sequence, envelope);
    }
}

fn run_ahead(post: &mut Post) -> Option<HandlerRun> {
    let rig = &mut post.rigs[1];
    let ahead = rig.device.run_ahead(rig.now_ms, &rig.store);
    ahead.map(|(run, _)| run)
}

#[test]
fn many_messages_share_a_step_and_none_of_them_is_handled_twice() {
    let mut post = Post::group(2);
    // The third is a copy of the second.
    deliver(&mut post, [1, 2, 2, 3].into_iter());
    let mut runs = 0;
    while let Some(run) = run_ahead(&mut post) {
        runs += 1;
        assert_eq!(run_ahead(&mut post), None, "one run at a time");
        let rig = &mut post.rigs[1];
        rig.device.handle_handler_outcome(run, Ok(()), rig.now_ms);
    }
    assert_eq!(runs, 3);
    let rig = &mut post.rigs[1];
    let rows = rig.store.handled.len();
    let step = rig.take_step();
    let records = step.changes.iter();
    let records = records.filter(|change| matches!(change, Change::MessageHandled { .. }));
    assert_eq!(records.count(), 3);
    assert_eq!(acknowledged(&step.effects), [101, 102, 102, 103]);
    assert_eq!(rig.store.handled.len(), rows, "nothing is durable yet");
}

#[test]
fn no_run_starts_ahead_of_anything_but_records() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[1];
    rig.device.handle_deliver(rig.session, 1, b"junk".to_vec());
    deliver(&mut post, [1].into_iter());
    assert_eq!(run_ahead(&mut post), None);
    assert_eq!(run_ahead(&mut post), None);
    let step = post.rigs[1].take_step();
    let starts = step.effects.iter();
    let starts = starts.filter(|effect| matches!(effect, Effect::StartHandler { .. }));
    assert_eq!(starts.count(), 1, "it starts with the step");
}
