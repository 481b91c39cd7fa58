use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets};
use sealpost_protocol::limit::GROUP_MEMBERS_MAX;
use sealpost_protocol::name::DeviceName;
use sealpost_protocol::pair::PairBody;
use sealpost_protocol::token::{PairingSecret, PairingToken};

use crate::core::error::EngineError;
use crate::core::event::{Event, JoinRequestId};
use crate::core::issue::DeliveryIssue;
use crate::core::rig::{Post, Rig, SECOND_MS, acknowledged, issues, pushes, words};
use crate::core::status::{Phase, Status, StatusReason};
use crate::core::step::{Change, Effect, OutboxKind, PushOutcome, WordsTarget};
use crate::core::timing;

fn statuses(events: &[Event]) -> Vec<(Status, Option<StatusReason>)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::StatusChanged { status, reason } => Some((*status, *reason)),
            _ => None,
        })
        .collect()
}

pub(super) fn open_window(rig: &mut Rig) -> PairingToken {
    let token = rig
        .device
        .handle_start_pairing(rig.now_ms, &mut rig.rng)
        .expect("it may");
    rig.drain();
    token
}

/// A Pair as `joiner` would send it, whoever signs the envelope.
pub(super) fn pair(
    rig: &mut Rig,
    token: &PairingToken,
    joiner: &DeviceKeys,
    signer: &DeviceSecrets,
) -> Vec<u8> {
    let body = PairBody::new(token, joiner, DeviceName::derived(&joiner.signing)).encode();
    let recipient = rig.noise();
    let sealing = Sealing {
        author: &signer.signing,
        recipient: &recipient,
        sequence: 1,
        timestamp_ms: rig.now_ms,
        tag: MessageTag::Pair,
        body: &body,
    };
    seal(&sealing, &mut rig.rng).expect("it can be sealed")
}

/// Lets somebody ask; returns the request if it is new.
pub(super) fn ask(
    rig: &mut Rig,
    token: &PairingToken,
    joiner: &DeviceSecrets,
) -> Option<JoinRequestId> {
    let envelope = pair(rig, token, &joiner.keys(), joiner);
    let effects = rig.deliver(&envelope);
    assert_eq!(acknowledged(&effects).len(), 1);
    let target = effects.iter().find_map(|effect| match effect {
        Effect::ComputeWords(request) => Some(request.target),
        _ => None,
    })?;
    let WordsTarget::Request(id) = target else {
        panic!("not a request")
    };
    rig.device.handle_words(target, words());
    rig.drain();
    Some(id)
}

/// Takes the words of the own join, as computed, and says that they are the same.
pub(super) fn say_same(rig: &mut Rig) {
    for number in 1..9 {
        rig.device.handle_words(WordsTarget::Join(number), words());
    }
    rig.device.handle_confirm_words();
}

pub(super) fn stranger(seed: u64) -> DeviceSecrets {
    Rig::new(seed, "stranger").store.secrets.clone()
}

#[test]
fn two_devices_pair_and_each_is_told_once() {
    let mut post = Post::new(2);
    post.pair(0, 1);
    let (admitter, joiner) = (post.take_events(0), post.take_events(1));
    assert_eq!(
        statuses(&admitter),
        vec![(Status::Member, Some(StatusReason::Created))]
    );
    assert_eq!(
        statuses(&joiner),
        vec![
            (Status::PendingJoin, None),
            (Status::Member, Some(StatusReason::Joined))
        ]
    );
    let requests = admitter
        .iter()
        .filter(|event| matches!(event, Event::JoinRequested(_)))
        .count();
    assert_eq!(requests, 1);
    for (rig, other) in [(0, 1), (1, 0)] {
        let others = post.rigs[rig].device.members();
        assert_eq!(others, vec![post.rigs[other].device.me()]);
    }
    assert!(
        post.rigs[0].device.pairing().window.is_none(),
        "accepting spends the window"
    );
}

#[test]
fn the_words_of_both_sides_are_computed_from_the_same_keys() {
    let mut post = Post::new(2);
    let token = open_window(&mut post.rigs[0]);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    let effects = rig.drain();
    let envelope = pushes(&effects)[0].envelope.clone();
    let admitting = post.rigs[0].deliver(&envelope);
    let words: Vec<_> = effects
        .iter()
        .chain(&admitting)
        .filter_map(|effect| match effect {
            Effect::ComputeWords(request) => Some((request.admitter, request.joiner)),
            _ => None,
        })
        .collect();
    assert_eq!(words.len(), 2);
    assert_eq!(words[0], words[1]);
}

#[test]
fn a_joiner_holds_its_messages_until_the_words_are_confirmed() {
    let mut post = Post::new(2);
    post.pair(0, 1);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_send(b"held".to_vec(), rig.now_ms)
        .expect("a member");
    assert!(pushes(&rig.drain()).is_empty());
    assert!(pushes(&rig.restart()).is_empty(), "also after a restart");
    rig.connect();
    rig.device.handle_confirm_words();
    assert!(pushes(&rig.drain()).is_empty(), "nobody has seen words yet");
    assert!(rig.store.join.as_ref().is_some_and(|join| !join.confirmed));
    say_same(rig);
    post.settle(1);
    assert_eq!(post.rigs[0].bodies(), vec![b"held".to_vec()]);
    assert!(post.rigs[1].store.join.is_none());
    assert!(post.rigs[1].device.pairing().join.is_none());
}

#[test]
fn words_confirmed_before_the_admission_hold_nothing() {
    let mut post = Post::new(2);
    let token = open_window(&mut post.rigs[0]);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    say_same(rig);
    post.settle(1);
    assert!(
        post.rigs[1]
            .store
            .join
            .as_ref()
            .is_some_and(|join| join.confirmed)
    );
    let window = post.rigs[0].device.pairing().window.expect("open");
    let rig = &mut post.rigs[0];
    rig.device
        .handle_accept(window.requests[0].id, rig.now_ms, &mut rig.rng)
        .expect("open");
    post.settle(0);
    assert!(post.rigs[1].store.join.is_none());
    let rig = &mut post.rigs[1];
    rig.device
        .handle_send(b"x".to_vec(), rig.now_ms)
        .expect("a member");
    assert_eq!(pushes(&rig.drain()).len(), 1);
}

#[test]
fn refused_words_cancel_a_join_or_leave_the_group() {
    let mut post = Post::new(2);
    let token = open_window(&mut post.rigs[0]);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    rig.device
        .handle_refuse_words(rig.now_ms, &mut rig.rng)
        .expect("it may");
    post.settle(1);
    let rig = &mut post.rigs[1];
    assert_eq!(rig.device.status(), Status::NotJoined);
    assert!(rig.store.entries.is_empty() && rig.store.join.is_none());
    post.pair(0, 1);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_refuse_words(rig.now_ms, &mut rig.rng)
        .expect("it may");
    post.settle(1);
    assert_eq!(post.rigs[1].device.status(), Status::NotJoined);
    assert!(post.rigs[0].device.members().is_empty());
}

#[test]
fn joining_persists_the_join_and_queues_the_pair_in_one_step() {
    let mut post = Post::new(2);
    let token = open_window(&mut post.rigs[0]);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    let step = rig.take_step();
    let has = |test: fn(&Change) -> bool| step.changes.iter().any(test);
    assert!(has(|change| matches!(change, Change::JoinSaved(_))));
    assert!(has(|change| matches!(
        change,
        Change::PhaseSaved(Phase::PendingJoin)
    )));
    assert!(has(|change| matches!(change, Change::OutboxEntryAdded(_))));
    // Not committed: the join never happened.
    assert!(pushes(&rig.restart()).is_empty());
    assert_eq!(rig.device.status(), Status::NotJoined);
}

#[test]
fn a_pending_join_survives_a_restart_and_the_pair_is_retried_from_the_outbox() {
    let mut post = Post::new(2);
    let token = open_window(&mut post.rigs[0]);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    rig.drain();
    let effects = rig.restart();
    assert_eq!(rig.device.status(), Status::PendingJoin);
    assert_eq!(pushes(&effects).len(), 1);
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::ComputeWords(_)))
    );
    let id = pushes(&effects)[0].id;
    rig.device
        .handle_push_outcome(id, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    rig.drain();
    assert!(
        pushes(&rig.restart()).is_empty(),
        "an accepted Pair is not sent again"
    );
}

#[test]
fn cancelling_or_replacing_a_join_deletes_its_pair() {
    let mut post = Post::new(3);
    let first = open_window(&mut post.rigs[0]);
    let second = open_window(&mut post.rigs[1]);
    let rig = &mut post.rigs[2];
    rig.device
        .handle_join(&first, rig.now_ms)
        .expect("another's token");
    rig.device
        .handle_join(&second, rig.now_ms)
        .expect("it replaces the first");
    let effects = rig.drain();
    let pushed = pushes(&effects);
    assert_eq!(pushed.len(), 1);
    assert_eq!(pushed[0].recipient, second.keys().noise);
    assert_eq!(rig.store.entries.len(), 1);
    // In flight when it is cancelled: it isn't tried again.
    let id = pushed[0].id;
    rig.device.handle_cancel_join(&mut rig.rng);
    rig.drain();
    rig.device
        .handle_push_outcome(id, PushOutcome::Unanswered, rig.now_ms, &mut rig.rng);
    rig.drain();
    assert!(rig.store.entries.is_empty());
    assert_eq!(rig.device.status(), Status::NotJoined);
    rig.device.handle_cancel_join(&mut rig.rng);
    assert!(rig.drain().is_empty(), "nothing to cancel");
}

#[test]
fn a_group_or_the_own_token_forbid_joining() {
    let mut post = Post::group(2);
    let token = open_window(&mut post.rigs[0]);
    let rig = &mut post.rigs[1];
    assert_eq!(
        rig.device.handle_join(&token, rig.now_ms),
        Err(EngineError::AlreadyInGroup)
    );
    let mut alone = Rig::new(50, "alone");
    let own = open_window(&mut alone);
    assert_eq!(
        alone.device.handle_join(&own, alone.now_ms),
        Err(EngineError::InvalidPairingToken)
    );
    assert!(alone.device.pairing().window.is_some());
}

#[test]
fn joining_closes_an_open_window() {
    let mut post = Post::new(2);
    let theirs = open_window(&mut post.rigs[0]);
    let rig = &mut post.rigs[1];
    open_window(rig);
    rig.device
        .handle_join(&theirs, rig.now_ms)
        .expect("another's token");
    rig.drain();
    assert!(rig.device.pairing().window.is_none());
    assert_eq!(
        rig.device
            .handle_start_pairing(rig.now_ms, &mut rig.rng)
            .map(|_| ()),
        Err(EngineError::NotMember {
            status: Status::PendingJoin
        })
    );
}

#[test]
fn a_request_asks_once_and_is_accepted_once() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    let joiner = stranger(9);
    let request = ask(&mut rig, &token, &joiner).expect("new");
    assert_eq!(
        ask(&mut rig, &token, &joiner),
        None,
        "the same keys ask once"
    );
    assert_eq!(rig.device.pairing().window.expect("open").requests.len(), 1);
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    rig.drain();
    assert_eq!(
        rig.device.handle_accept(request, rig.now_ms, &mut rig.rng),
        Err(EngineError::PairingClosed)
    );
    let effects = rig.deliver(&pair(
        &mut Rig::new(1, "admitter"),
        &token,
        &joiner.keys(),
        &joiner,
    ));
    assert!(issues(&effects).is_empty(), "it is in");
    assert_eq!(acknowledged(&effects).len(), 1);
    assert_eq!(
        ask(&mut rig, &token, &stranger(10)),
        None,
        "the secret is spent"
    );
    assert_eq!(rig.store.issues, vec![DeliveryIssue::Unauthorized]);
}

#[test]
fn a_request_without_its_words_cannot_be_accepted() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    let joiner = stranger(9);
    let envelope = pair(&mut rig, &token, &joiner.keys(), &joiner);
    rig.deliver(&envelope);
    assert!(
        rig.device
            .pairing()
            .window
            .expect("open")
            .requests
            .is_empty()
    );
    assert_eq!(
        rig.device
            .handle_accept(JoinRequestId(1), rig.now_ms, &mut rig.rng),
        Err(EngineError::PairingClosed)
    );
}

#[test]
fn a_dismissed_device_does_not_ask_again_in_this_window() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    let joiner = stranger(9);
    let request = ask(&mut rig, &token, &joiner).expect("new");
    rig.device.handle_dismiss(request);
    rig.drain();
    assert_eq!(ask(&mut rig, &token, &joiner), None);
    assert!(
        rig.device
            .pairing()
            .window
            .expect("open")
            .requests
            .is_empty()
    );
    assert_eq!(
        rig.device.handle_accept(request, rig.now_ms, &mut rig.rng),
        Err(EngineError::PairingClosed)
    );
}

#[test]
fn thirty_two_requests_may_be_open() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    for number in 0..timing::JOIN_REQUESTS_MAX {
        let seed = 1_000 + u64::try_from(number).expect("a small number");
        assert!(ask(&mut rig, &token, &stranger(seed)).is_some());
    }
    assert!(ask(&mut rig, &token, &stranger(9)).is_none());
    let open = rig.device.pairing().window.expect("open").requests;
    assert_eq!(open.len(), timing::JOIN_REQUESTS_MAX);
    rig.device.handle_dismiss(open[0].id);
    rig.drain();
    assert!(
        ask(&mut rig, &token, &stranger(10)).is_some(),
        "a dismissed one makes room"
    );
}

#[test]
fn a_closed_window_takes_nothing() {
    let close: [fn(&mut Rig); 3] = [
        |rig| rig.device.handle_cancel_pairing(),
        |rig| {
            open_window(rig);
        },
        |rig| {
            rig.restart();
            rig.connect();
        },
    ];
    for close in close {
        let mut rig = Rig::new(1, "admitter");
        rig.connect();
        let token = open_window(&mut rig);
        let request = ask(&mut rig, &token, &stranger(8)).expect("new");
        close(&mut rig);
        rig.drain();
        assert_eq!(ask(&mut rig, &token, &stranger(9)), None);
        assert_eq!(rig.store.issues, vec![DeliveryIssue::Unauthorized]);
        assert_eq!(
            rig.device.handle_accept(request, rig.now_ms, &mut rig.rng),
            Err(EngineError::PairingClosed)
        );
    }
}

#[test]
fn a_pair_without_proof_or_for_foreign_keys_is_unauthorized() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    let guessed = PairingToken::new(token.keys(), PairingSecret::from_bytes([0; 32]));
    let (one, two) = (stranger(8), stranger(9));
    let own = rig.store.secrets.clone();
    let attempts = [
        pair(&mut rig, &guessed, &one.keys(), &one),
        pair(&mut rig, &token, &one.keys(), &two),
        pair(&mut rig, &token, &own.keys(), &own),
    ];
    for envelope in attempts {
        let effects = rig.deliver(&envelope);
        assert_eq!(issues(&effects), vec![DeliveryIssue::Unauthorized]);
    }
    assert!(
        rig.device
            .pairing()
            .window
            .expect("open")
            .requests
            .is_empty()
    );
}

#[test]
fn one_known_and_one_unknown_key_are_refused() {
    let mut post = Post::group(2);
    let member = post.rigs[1].device.keys();
    let rig = &mut post.rigs[0];
    let token = open_window(rig);
    let mixed = stranger(9);
    let keys = DeviceKeys {
        noise: member.noise,
        signing: mixed.keys().signing,
    };
    let envelope = pair(rig, &token, &keys, &mixed);
    assert_eq!(
        issues(&rig.deliver(&envelope)),
        vec![DeliveryIssue::Unauthorized]
    );
}

#[test]
fn a_member_that_asks_again_is_sent_the_manifest_again() {
    let mut post = Post::group(2);
    let joiner = post.rigs[1].store.secrets.clone();
    let rig = &mut post.rigs[0];
    let token = open_window(rig);
    let request = ask(rig, &token, &joiner).expect("new");
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    let effects = rig.drain();
    let pushed = pushes(&effects);
    assert_eq!(pushed.len(), 1);
    assert_eq!(pushed[0].recipient, joiner.keys().noise);
    assert_eq!(rig.device.members().len(), 1);
}

#[test]
fn the_newcomer_hears_first() {
    let mut post = Post::group(3);
    let rig = &mut post.rigs[0];
    let token = open_window(rig);
    let joiner = stranger(9);
    let request = ask(rig, &token, &joiner).expect("new");
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    rig.device
        .handle_send(b"after".to_vec(), rig.now_ms)
        .expect("a member");
    let effects = rig.drain();
    let pushed = pushes(&effects);
    assert_eq!(
        pushed.len(),
        1,
        "the others wait until it is in the newcomer's inbox"
    );
    assert_eq!(pushed[0].recipient, joiner.keys().noise);
    // Also after a restart.
    let effects = rig.restart();
    let pushed = pushes(&effects);
    assert_eq!(pushed.len(), 1);
    assert_eq!(pushed[0].recipient, joiner.keys().noise);
    let id = pushed[0].id;
    rig.device
        .handle_push_outcome(id, PushOutcome::Stored, rig.now_ms, &mut rig.rng);
    assert_eq!(pushes(&rig.drain()).len(), 3);
}

#[test]
fn a_newcomer_with_a_full_inbox_does_not_hold_up_the_group() {
    let mut post = Post::group(3);
    let rig = &mut post.rigs[0];
    let token = open_window(rig);
    let request = ask(rig, &token, &stranger(9)).expect("new");
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    let mut effects = rig.drain();
    let full = PushOutcome::Refused(sealpost_protocol::frame::Refusal::InboxFull);
    for _ in 0..timing::FIRST_COPY_REFUSALS_MAX {
        assert_eq!(pushes(&effects).len(), 1);
        let id = pushes(&effects)[0].id;
        rig.device
            .handle_push_outcome(id, full, rig.now_ms, &mut rig.rng);
        effects = rig.drain();
        if pushes(&effects).is_empty() {
            effects = rig.advance(20 * SECOND_MS);
        }
    }
    assert!(pushes(&effects).len() >= 2, "the others are told now");
}

#[test]
fn only_the_tokens_owner_can_admit() {
    // A stranger admits the joiner to a group of its own.
    let mut post = Post::new(3);
    let token = open_window(&mut post.rigs[0]);
    let hijack = open_window(&mut post.rigs[2]);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    rig.drain();
    let joiner = rig.store.secrets.clone();
    let rig = &mut post.rigs[2];
    let request = ask(rig, &hijack, &joiner).expect("new");
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    let effects = rig.drain();
    let envelope = pushes(&effects)[0].envelope.clone();
    let rig = &mut post.rigs[1];
    assert!(issues(&rig.deliver(&envelope)).is_empty());
    assert_eq!(rig.device.status(), Status::PendingJoin);
    assert_eq!(rig.store.buffered.len(), 1, "kept for later judgement");
    rig.deliver(&envelope);
    assert_eq!(rig.store.buffered.len(), 1, "once");
    rig.device.handle_cancel_join(&mut rig.rng);
    rig.drain();
    assert!(rig.store.buffered.is_empty());
}

#[test]
fn the_thirty_third_member_is_refused() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    for number in 2..GROUP_MEMBERS_MAX {
        let token = open_window(rig);
        let seed = 2_000 + u64::try_from(number).expect("a small number");
        let request = ask(rig, &token, &stranger(seed)).expect("new");
        rig.device
            .handle_accept(request, rig.now_ms, &mut rig.rng)
            .expect("room");
        rig.drain();
    }
    assert_eq!(rig.device.members().len(), GROUP_MEMBERS_MAX - 1);
    let token = open_window(rig);
    let request = ask(rig, &token, &stranger(9)).expect("new");
    let max = GROUP_MEMBERS_MAX;
    assert_eq!(
        rig.device.handle_accept(request, rig.now_ms, &mut rig.rng),
        Err(EngineError::GroupFull { max })
    );
    assert!(
        rig.device.pairing().window.is_some(),
        "an error changes nothing"
    );
}

#[test]
fn a_third_device_greets_the_members_it_did_not_meet() {
    let mut post = Post::group(3);
    for index in 0..3 {
        assert_eq!(post.rigs[index].device.members().len(), 2, "device {index}");
    }
    let rig = &mut post.rigs[2];
    rig.device
        .handle_send(b"hi".to_vec(), rig.now_ms)
        .expect("a member");
    post.settle(2);
    for index in 0..2 {
        assert_eq!(post.rigs[index].bodies(), vec![b"hi".to_vec()]);
    }
    let kinds: Vec<_> = post.rigs[2]
        .store
        .bodies
        .values()
        .map(|(m, _)| m.kind)
        .collect();
    assert!(
        !kinds.contains(&OutboxKind::GroupManifest),
        "nothing is left behind"
    );
}
