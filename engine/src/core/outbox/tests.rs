//! The outbox against a model that is nothing but one list per recipient.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets};

use super::*;

const AUTHOR: SigningPublic = SigningPublic::from_bytes([1; 32]);

fn recipients(count: usize) -> Vec<DeviceKeys> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    (0..count)
        .map(|_| DeviceSecrets::generate(&mut rng).keys())
        .collect()
}

fn message(sequence: u64, kind: OutboxKind) -> OutboxMessage {
    OutboxMessage {
        sequence,
        kind,
        first: None,
        reported: Vec::new(),
    }
}

fn add(outbox: &mut Outbox, sequence: u64, kind: OutboxKind, to: &[DeviceKeys], step: &mut Step) {
    let id = MessageId::derive(&AUTHOR, sequence);
    outbox.add(message(sequence, kind), id, Vec::new(), to, step);
}

fn sync(sent_at_ms: u64) -> OutboxKind {
    OutboxKind::Sync { sent_at_ms }
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(7)
}

/// Starts everything that is ready.
fn start_all(outbox: &mut Outbox, now_ms: u64) -> Vec<(PushId, Ready)> {
    let ready = outbox.ready(now_ms, |_| false);
    ready
        .into_iter()
        .map(|copy| (outbox.start(&copy), copy))
        .collect()
}

fn finish(outbox: &mut Outbox, push: PushId, outcome: PushOutcome, now_ms: u64) -> Step {
    let mut step = Step::default();
    outbox.handle_outcome(push, outcome, now_ms, &mut rng(), &mut step);
    step
}

#[test]
fn one_push_per_recipient_is_unanswered() {
    let to = recipients(1);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    for sequence in 1..=3 {
        add(&mut outbox, sequence, sync(0), &to, &mut step);
    }
    for sequence in 1..=3 {
        let started = start_all(&mut outbox, 0);
        assert_eq!(started.len(), 1);
        assert_eq!(started[0].1.sequence, sequence);
        assert!(outbox.ready(0, |_| false).is_empty());
        finish(&mut outbox, started[0].0, PushOutcome::Stored, 0);
    }
    assert!(outbox.is_empty());
}

#[test]
fn thirty_two_pushes_are_unanswered_in_all() {
    let to = recipients(timing::PUSHES_IN_FLIGHT_MAX + 3);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    add(&mut outbox, 1, sync(0), &to, &mut step);
    let started = start_all(&mut outbox, 0);
    assert_eq!(started.len(), timing::PUSHES_IN_FLIGHT_MAX);
    assert_eq!(
        outbox.next_wakeup(|_| false),
        None,
        "an answer makes room, not the time"
    );
    finish(&mut outbox, started[0].0, PushOutcome::Stored, 0);
    assert_eq!(start_all(&mut outbox, 0).len(), 1);
}

#[test]
fn the_delay_doubles_from_one_second_to_five_minutes_within_a_fifth() {
    let to = recipients(1);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    add(&mut outbox, 1, OutboxKind::Pair, &to, &mut step);
    let mut rng = rng();
    let mut now_ms = 0;
    for expected_s in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300] {
        let started = start_all(&mut outbox, now_ms);
        outbox.handle_outcome(
            started[0].0,
            PushOutcome::Unanswered,
            now_ms,
            &mut rng,
            &mut step,
        );
        let delay_ms = outbox.next_wakeup(|_| false).expect("it waits") - now_ms;
        let expected_ms = expected_s * 1_000;
        assert!(
            delay_ms >= expected_ms * 4 / 5,
            "{delay_ms} after {expected_ms}"
        );
        assert!(
            delay_ms <= expected_ms * 6 / 5,
            "{delay_ms} after {expected_ms}"
        );
        assert!((1_000..=300_000).contains(&delay_ms));
        assert!(outbox.ready(now_ms + delay_ms - 1, |_| false).is_empty());
        now_ms += delay_ms;
    }
}

#[test]
fn a_success_resets_the_delay_and_a_connection_clears_it() {
    let to = recipients(2);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    for sequence in 1..=2 {
        add(&mut outbox, sequence, sync(0), &to[..1], &mut step);
    }
    let full = PushOutcome::Refused(Refusal::InboxFull);
    let started = start_all(&mut outbox, 0);
    finish(&mut outbox, started[0].0, full, 0);
    assert!(start_all(&mut outbox, 0).is_empty());
    outbox.clear_backoff();
    let started = start_all(&mut outbox, 0);
    assert_eq!(started.len(), 1);
    finish(&mut outbox, started[0].0, full, 0);
    let started = start_all(&mut outbox, 2_000);
    finish(&mut outbox, started[0].0, PushOutcome::Stored, 2_000);
    assert_eq!(
        start_all(&mut outbox, 2_000).len(),
        1,
        "the entry behind goes at once"
    );
}

#[test]
fn a_temporary_refusal_delays_its_recipient_only() {
    let to = recipients(2);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    for sequence in 1..=2 {
        add(&mut outbox, sequence, sync(0), &to, &mut step);
    }
    let started = start_all(&mut outbox, 0);
    assert_eq!(started.len(), 2);
    let step = finish(
        &mut outbox,
        started[0].0,
        PushOutcome::Refused(Refusal::RateLimited),
        0,
    );
    assert!(
        step.effects.is_empty() && step.changes.is_empty(),
        "no issue"
    );
    finish(&mut outbox, started[1].0, PushOutcome::Stored, 0);
    let next = start_all(&mut outbox, 0);
    assert_eq!(next.len(), 1);
    assert_eq!(
        (next[0].1.sequence, next[0].1.recipient),
        (2, started[1].1.recipient)
    );
}

#[test]
fn copies_that_wait_for_the_connection_are_tried_together() {
    let to = recipients(3);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    add(&mut outbox, 1, sync(0), &to, &mut step);
    let mut rng = rng();
    for (push, _) in start_all(&mut outbox, 0) {
        outbox.handle_outcome(push, PushOutcome::Unanswered, 0, &mut rng, &mut step);
    }
    let first_due = outbox.next_wakeup(|_| false).expect("they wait");
    assert_eq!(
        start_all(&mut outbox, first_due).len(),
        3,
        "one dial for all"
    );
}

#[test]
fn a_clock_set_back_stops_nothing() {
    let to = recipients(1);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    add(&mut outbox, 1, sync(0), &to, &mut step);
    let day_ms = 86_400_000;
    let started = start_all(&mut outbox, 10 * day_ms);
    finish(
        &mut outbox,
        started[0].0,
        PushOutcome::Unanswered,
        10 * day_ms,
    );
    let started = start_all(&mut outbox, day_ms);
    assert_eq!(started.len(), 1);
    let refused = PushOutcome::VersionUnsupported { min: 2, max: 2 };
    finish(&mut outbox, started[0].0, refused, 10 * day_ms);
    assert_eq!(start_all(&mut outbox, day_ms).len(), 1);
}

#[test]
fn held_sync_copies_are_passed_by_control_copies_only() {
    let to = recipients(1);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    add(&mut outbox, 1, sync(0), &to, &mut step);
    add(&mut outbox, 2, OutboxKind::GroupManifest, &to, &mut step);
    add(&mut outbox, 3, sync(0), &to, &mut step);
    let held: Vec<_> = outbox
        .ready(0, |_| true)
        .iter()
        .map(|copy| copy.sequence)
        .collect();
    assert_eq!(held, vec![2]);
    let free: Vec<_> = outbox
        .ready(0, |_| false)
        .iter()
        .map(|copy| copy.sequence)
        .collect();
    assert_eq!(free, vec![1]);
}

#[test]
fn expiry_is_exact_and_spares_control_copies() {
    for kind in [
        OutboxKind::Pair,
        OutboxKind::Revoke,
        OutboxKind::GroupManifest,
    ] {
        assert!(!is_expired(kind, u64::MAX));
    }
    let sent_at_ms = 1_000;
    assert!(!is_expired(
        sync(sent_at_ms),
        sent_at_ms + OUTBOX_LIFE_MS - 1
    ));
    assert!(is_expired(sync(sent_at_ms), sent_at_ms + OUTBOX_LIFE_MS));
    assert!(
        !is_expired(sync(sent_at_ms), 0),
        "sent in what is now the future"
    );
}

#[test]
fn a_copy_in_flight_outlives_its_expiry_until_the_answer() {
    let to = recipients(1);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    add(&mut outbox, 1, sync(0), &to, &mut step);
    let started = start_all(&mut outbox, 0);
    let mut step = Step::default();
    outbox.expire(OUTBOX_LIFE_MS, &mut step);
    assert!(step.changes.is_empty());
    let step = finish(
        &mut outbox,
        started[0].0,
        PushOutcome::Stored,
        OUTBOX_LIFE_MS,
    );
    assert!(step.effects.is_empty(), "it made it");
    assert!(outbox.is_empty());
}

#[test]
fn a_copy_withdrawn_too_late_is_on_the_relay_all_the_same() {
    let to = recipients(1);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    add(&mut outbox, 1, sync(0), &to, &mut step);
    let started = start_all(&mut outbox, 0);
    let mut step = Step::default();
    outbox.withdraw_sync(|_| false, &mut step);
    assert!(
        outbox.is_empty(),
        "gone at once, so that a restart can't push it again"
    );
    add(&mut outbox, 2, OutboxKind::Revoke, &to, &mut step);
    assert!(
        start_all(&mut outbox, 0).is_empty(),
        "still one push per recipient"
    );
    let step = finish(&mut outbox, started[0].0, PushOutcome::Stored, 9);
    let on_relay = DeliveryState::OnRelay { at_ms: 9 };
    assert!(matches!(
        step.changes[..],
        [Change::DeliveryChanged { state, .. }] if state == on_relay
    ));
    assert_eq!(start_all(&mut outbox, 9).len(), 1);
}

#[test]
fn no_manifest_overtakes_the_admission_of_an_earlier_newcomer() {
    let to = recipients(4);
    let (member, one, two, later) = (to[0], to[1], to[2], to[3]);
    let (mut outbox, mut step) = (Outbox::default(), Step::default());
    let admissions = [
        (1, one, vec![one, member]),
        (2, two, vec![two, one, member]),
    ];
    for (sequence, newcomer, recipients) in admissions {
        let mut message = message(sequence, OutboxKind::GroupManifest);
        message.first = Some(newcomer.noise);
        let id = MessageId::derive(&AUTHOR, sequence);
        outbox.add(message, id, Vec::new(), &recipients, &mut step);
    }
    add(
        &mut outbox,
        3,
        OutboxKind::GroupManifest,
        &[later],
        &mut step,
    );
    add(&mut outbox, 4, sync(0), &[later], &mut step);
    let started = |outbox: &mut Outbox| {
        let started = start_all(outbox, 0);
        let to: Vec<_> = started.iter().map(|(_, copy)| copy.recipient).collect();
        (started[0].0, to)
    };
    let (first, heard) = started(&mut outbox);
    assert_eq!(heard, vec![one]);
    finish(&mut outbox, first, PushOutcome::Stored, 0);
    // Manifest 1 is free; the second newcomer comes before manifest 2 and all after it.
    let started = start_all(&mut outbox, 0);
    let heard: Vec<_> = started
        .iter()
        .map(|(_, copy)| (copy.sequence, copy.recipient))
        .collect();
    assert_eq!(heard, vec![(1, member), (2, two)]);
    finish(&mut outbox, started[1].0, PushOutcome::Stored, 0);
    let freed: Vec<_> = start_all(&mut outbox, 0)
        .iter()
        .map(|(_, copy)| copy.recipient)
        .collect();
    assert_eq!(freed, vec![one, later]);
}

#[test]
fn rows_that_do_not_fit_together_are_left_out() {
    let to = recipients(1);
    let outbox = Outbox::restore(
        &AUTHOR,
        vec![message(1, sync(0)), message(2, sync(0))],
        vec![
            OutboxEntry {
                sequence: 2,
                recipient: to[0],
            },
            OutboxEntry {
                sequence: 3,
                recipient: to[0],
            },
        ],
    );
    let ready: Vec<_> = outbox
        .ready(0, |_| false)
        .iter()
        .map(|copy| copy.sequence)
        .collect();
    assert_eq!(ready, vec![2]);
}

/// What can happen to an outbox.
#[derive(Clone, Debug)]
enum Input {
    Send {
        to: BTreeSet<usize>,
        is_control: bool,
    },
    Push,
    Answer {
        which: usize,
        outcome: Answer,
    },
    Wait {
        ms: u64,
    },
    Connect,
    Withdraw {
        from: usize,
    },
    Crash,
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    Stored,
    Permanent,
    Temporary,
    None,
}

fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let answer = prop_oneof![
        6 => Just(Answer::Stored),
        1 => Just(Answer::Permanent),
        2 => Just(Answer::Temporary),
        2 => Just(Answer::None),
    ];
    let input = prop_oneof![
        4 => (proptest::collection::btree_set(0..RECIPIENTS, 0..=RECIPIENTS), any::<bool>())
            .prop_map(|(to, is_control)| Input::Send { to, is_control }),
        6 => Just(Input::Push),
        6 => (0..8_usize, answer).prop_map(|(which, outcome)| Input::Answer { which, outcome }),
        2 => (0..400_000_u64).prop_map(|ms| Input::Wait { ms }),
        1 => (0..OUTBOX_LIFE_MS).prop_map(|ms| Input::Wait { ms }),
        1 => Just(Input::Connect),
        1 => (0..RECIPIENTS).prop_map(|from| Input::Withdraw { from }),
        1 => Just(Input::Crash),
    ];
    proptest::collection::vec(input, 0..120)
}

const RECIPIENTS: usize = 4;

/// The model: per recipient the copies that wait, in order, and nothing else.
#[derive(Default)]
struct Model {
    waiting: BTreeMap<NoisePublic, Vec<u64>>,
    kinds: BTreeMap<u64, OutboxKind>,
    /// How every copy ended.
    ended: BTreeMap<(NoisePublic, u64), &'static str>,
    sent: usize,
}

/// The outbox under test, its rows, and the model beside it.
struct Trial {
    outbox: Outbox,
    messages: BTreeMap<u64, OutboxMessage>,
    entries: BTreeMap<(u64, NoisePublic), DeviceKeys>,
    flying: BTreeMap<PushId, Ready>,
    model: Model,
    to: Vec<DeviceKeys>,
    now_ms: u64,
    rng: ChaCha8Rng,
    raised: BTreeSet<(MessageId, SendFailure)>,
}

impl Trial {
    fn new() -> Self {
        Self {
            outbox: Outbox::default(),
            messages: BTreeMap::new(),
            entries: BTreeMap::new(),
            flying: BTreeMap::new(),
            model: Model::default(),
            to: recipients(RECIPIENTS),
            now_ms: 1_000_000,
            rng: rng(),
            raised: BTreeSet::new(),
        }
    }

    fn commit(&mut self, step: Step) {
        self.outbox.end_step();
        for change in step.changes {
            match change {
                Change::OutboxMessageAdded(message, _) => {
                    self.messages.insert(message.sequence, message);
                }
                Change::OutboxEntryAdded(entry) => {
                    self.entries
                        .insert((entry.sequence, entry.recipient.noise), entry.recipient);
                }
                Change::OutboxEntryRemoved {
                    sequence,
                    recipient,
                } => {
                    assert!(
                        self.entries.remove(&(sequence, recipient)).is_some(),
                        "once"
                    );
                }
                Change::OutboxMessageRemoved { sequence } => {
                    self.messages.remove(&sequence);
                }
                Change::OutboxFailureReported { sequence, failure } => {
                    let message = self.messages.get_mut(&sequence).expect("it has copies");
                    message.reported.push(failure);
                }
                Change::IssueAdded { .. } | Change::DeliveryChanged { .. } => {}
                other => panic!("not a change of the outbox: {other:?}"),
            }
        }
        for effect in step.effects {
            let Effect::Raise(DeliveryIssue::SendFailed { message, failure }) = effect else {
                panic!("the outbox only raises failures");
            };
            assert!(
                self.raised.insert((message, failure)),
                "once per message and reason"
            );
        }
    }

    fn end(&mut self, recipient: NoisePublic, sequence: u64, how: &'static str) {
        let waiting = self.model.waiting.entry(recipient).or_default();
        let position = waiting.iter().position(|waits| *waits == sequence);
        waiting.remove(position.expect("it waits"));
        self.model.ended.insert((recipient, sequence), how);
    }

    fn apply(&mut self, input: Input) {
        match input {
            Input::Send { to, is_control } => self.send(&to, is_control),
            Input::Push => self.push(),
            Input::Answer { which, outcome } => self.answer(which, outcome),
            Input::Wait { ms } => self.wait(ms),
            Input::Connect => self.outbox.clear_backoff(),
            Input::Withdraw { from } => self.withdraw(from),
            Input::Crash => {
                self.flying.clear();
                self.outbox = Outbox::restore(
                    &AUTHOR,
                    self.messages.values().cloned().collect(),
                    self.entries
                        .iter()
                        .map(|((sequence, _), recipient)| OutboxEntry {
                            sequence: *sequence,
                            recipient: *recipient,
                        })
                        .collect(),
                );
            }
        }
    }

    fn send(&mut self, to: &BTreeSet<usize>, is_control: bool) {
        self.model.sent += 1;
        let sequence = u64::try_from(self.model.sent).expect("a small number");
        let kind = if is_control {
            OutboxKind::GroupManifest
        } else {
            sync(self.now_ms)
        };
        let to: Vec<_> = to.iter().map(|index| self.to[*index]).collect();
        let mut step = Step::default();
        add(&mut self.outbox, sequence, kind, &to, &mut step);
        self.commit(step);
        self.model.kinds.insert(sequence, kind);
        for keys in to {
            self.model
                .waiting
                .entry(keys.noise)
                .or_default()
                .push(sequence);
        }
    }

    fn push(&mut self) {
        for copy in self.outbox.ready(self.now_ms, |_| false) {
            let noise = copy.recipient.noise;
            let waiting = &self.model.waiting[&noise];
            assert_eq!(
                waiting.first(),
                Some(&copy.sequence),
                "the head of the line"
            );
            assert!(
                !self
                    .flying
                    .values()
                    .any(|flying| flying.recipient.noise == noise),
                "one per recipient"
            );
            if is_expired(copy.kind, self.now_ms) {
                let mut step = Step::default();
                let failure = SendFailure::Expired;
                self.outbox
                    .fail(&noise, copy.sequence, failure, self.now_ms, &mut step);
                self.commit(step);
                self.end(noise, copy.sequence, "expired");
                continue;
            }
            let id = self.outbox.start(&copy);
            self.flying.insert(id, copy);
        }
        assert!(self.flying.len() <= timing::PUSHES_IN_FLIGHT_MAX);
    }

    fn answer(&mut self, which: usize, answer: Answer) {
        let Some(id) = self
            .flying
            .keys()
            .nth(which % self.flying.len().max(1))
            .copied()
        else {
            return;
        };
        let copy = self.flying.remove(&id).expect("it was just found");
        let outcome = match answer {
            Answer::Stored => PushOutcome::Stored,
            Answer::Permanent => PushOutcome::Refused(Refusal::TooLarge),
            Answer::Temporary => PushOutcome::Refused(Refusal::InboxFull),
            Answer::None => PushOutcome::Unanswered,
        };
        let mut step = Step::default();
        self.outbox
            .handle_outcome(id, outcome, self.now_ms, &mut self.rng, &mut step);
        let noise = copy.recipient.noise;
        // Withdrawn while in flight, it has ended already.
        let has_ended = self.model.ended.contains_key(&(noise, copy.sequence));
        match answer {
            Answer::Stored if !has_ended => self.end(noise, copy.sequence, "stored"),
            Answer::Permanent if !has_ended => self.end(noise, copy.sequence, "refused"),
            Answer::Stored | Answer::Permanent | Answer::Temporary | Answer::None => {}
        }
        if has_ended {
            assert!(
                step.effects.is_empty(),
                "nobody is told of what was taken back"
            );
        }
        self.commit(step);
    }

    fn wait(&mut self, ms: u64) {
        self.now_ms += ms;
        let mut step = Step::default();
        self.outbox.expire(self.now_ms, &mut step);
        for change in &step.changes {
            if let Change::OutboxEntryRemoved {
                sequence,
                recipient,
            } = change
            {
                assert!(is_expired(self.model.kinds[sequence], self.now_ms));
                self.end(*recipient, *sequence, "expired");
            }
        }
        self.commit(step);
        for (recipient, waiting) in &self.model.waiting {
            for sequence in waiting {
                let is_flying = self.flying.values().any(|flying| {
                    flying.sequence == *sequence && flying.recipient.noise == *recipient
                });
                let is_expired = is_expired(self.model.kinds[sequence], self.now_ms);
                assert!(is_flying || !is_expired, "nothing waits past its life");
            }
        }
    }

    fn withdraw(&mut self, from: usize) {
        let gone = self.to[from].signing;
        let mut step = Step::default();
        self.outbox
            .withdraw_sync(|keys| keys.signing != gone, &mut step);
        for change in &step.changes {
            if let Change::OutboxEntryRemoved {
                sequence,
                recipient,
            } = change
            {
                self.end(*recipient, *sequence, "withdrawn");
            }
        }
        self.commit(step);
    }

    /// The relay is there and takes everything: what waits goes out, in order.
    fn conclude(mut self) {
        for _ in 0..=self.model.sent {
            self.outbox.clear_backoff();
            self.push();
            while !self.flying.is_empty() {
                self.answer(0, Answer::Stored);
            }
        }
        assert!(self.outbox.is_empty() && self.entries.is_empty() && self.messages.is_empty());
        assert!(
            self.model.waiting.values().all(Vec::is_empty),
            "nothing is lost"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_outbox_does_what_the_model_does(inputs in inputs()) {
        let mut trial = Trial::new();
        for input in inputs {
            trial.apply(input);
        }
        trial.conclude();
    }
}
