//! Pairing with a restart of either side at every step: table 4.7, and that nothing but the
//! open window is ever lost.

use std::collections::BTreeMap;

use sealpost_protocol::key::NoisePublic;

use crate::core::event::Event;
use crate::core::rig::{Rig, words};
use crate::core::status::{Status, StatusReason};
use crate::core::step::{Effect, OutboxKind, PushOutcome};

const ADMITTER: usize = 0;
const JOINER: usize = 1;

/// What happens at one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crash {
    /// The device that commits ends before the commit.
    Before,
    /// It ends after the commit, before anything of it was done.
    After,
    /// The other device ends at that moment.
    Other,
}

const CRASHES: [Crash; 3] = [Crash::Before, Crash::After, Crash::Other];

/// Two devices and the inboxes of a relay that never fails.
struct Scene {
    rigs: [Rig; 2],
    inboxes: BTreeMap<NoisePublic, BTreeMap<u64, Vec<u8>>>,
    blobs: u64,
    commits: usize,
    plan: BTreeMap<usize, Crash>,
    waiting: Vec<usize>,
    /// Reasons of status changes that were told, by device.
    told: [Vec<StatusReason>; 2],
    windows_lost: usize,
    windows_opened: usize,
    /// What to look for after each commit, and the first commit that had it.
    watched: Option<fn(&Self) -> bool>,
    seen: Option<usize>,
}

impl Scene {
    fn new(plan: BTreeMap<usize, Crash>) -> Self {
        let mut scene = Self {
            rigs: [Rig::new(1, "admitter"), Rig::new(2, "joiner")],
            inboxes: BTreeMap::new(),
            blobs: 0,
            commits: 0,
            plan,
            waiting: Vec::new(),
            told: [Vec::new(), Vec::new()],
            windows_lost: 0,
            windows_opened: 0,
            watched: None,
            seen: None,
        };
        for side in [ADMITTER, JOINER] {
            scene.connect(side);
        }
        scene.settle();
        scene
    }

    /// What a person does on one device, and everything that follows.
    fn act(&mut self, side: usize, deed: impl FnOnce(&mut Rig)) {
        deed(&mut self.rigs[side]);
        self.waiting.push(side);
        self.settle();
    }

    fn settle(&mut self) {
        while let Some(side) = self.waiting.pop() {
            self.commit(side);
        }
    }

    fn commit(&mut self, side: usize) {
        let step = self.rigs[side].take_step();
        if step.is_empty() {
            return;
        }
        self.commits += 1;
        let crash = self.plan.remove(&self.commits);
        if crash == Some(Crash::Before) {
            self.restart(side);
            return;
        }
        self.rigs[side].store.commit(step.changes);
        if self.seen.is_none() && self.watched.is_some_and(|is_it| is_it(self)) {
            self.seen = Some(self.commits);
        }
        match crash {
            Some(Crash::After) => self.restart(side),
            Some(Crash::Other) => {
                self.restart(1 - side);
                self.carry(side, step.effects);
            }
            _ => self.carry(side, step.effects),
        }
    }

    fn restart(&mut self, side: usize) {
        let had_window = self.rigs[side].device.pairing().window.is_some();
        self.windows_lost += usize::from(had_window);
        let effects = self.rigs[side].restart();
        assert!(
            self.rigs[side].device.pairing().window.is_none(),
            "a window is memory only"
        );
        self.carry(side, effects);
        self.connect(side);
    }

    /// Opens a session: everything that waits is delivered again.
    fn connect(&mut self, side: usize) {
        let effects = self.rigs[side].connect();
        self.carry(side, effects);
        let rig = &mut self.rigs[side];
        let inbox = self.inboxes.entry(rig.noise()).or_default();
        for (blob, envelope) in inbox.iter() {
            rig.device
                .handle_deliver(rig.session, *blob, envelope.clone());
        }
        self.waiting.push(side);
    }

    fn carry(&mut self, side: usize, effects: Vec<Effect>) {
        for effect in effects {
            let rig = &mut self.rigs[side];
            match effect {
                Effect::Push(push) => {
                    let stored = PushOutcome::Stored;
                    rig.device
                        .handle_push_outcome(push.id, stored, rig.now_ms, &mut rig.rng);
                    self.blobs += 1;
                    let inbox = self.inboxes.entry(push.recipient).or_default();
                    inbox.insert(self.blobs, push.envelope.clone());
                    let to = &mut self.rigs[1 - side];
                    if to.noise() == push.recipient {
                        to.device
                            .handle_deliver(to.session, self.blobs, push.envelope);
                        self.waiting.push(1 - side);
                    }
                }
                Effect::Acknowledge { session, blob } if session == rig.session => {
                    let inbox = self.inboxes.entry(rig.noise()).or_default();
                    inbox.remove(&blob);
                }
                Effect::ComputeWords(request) => rig.device.handle_words(request.target, words()),
                Effect::StartHandler { run, .. } => {
                    rig.device.handle_handler_outcome(run, Ok(()), rig.now_ms);
                }
                Effect::Tell(Event::StatusChanged {
                    reason: Some(reason),
                    ..
                }) => self.told[side].push(reason),
                _ => {}
            }
            self.waiting.push(side);
        }
    }

    fn is_paired(&self) -> bool {
        let is_in = |rig: &Rig| rig.device.status() == Status::Member;
        self.rigs.iter().all(is_in)
    }

    /// What two people do until both devices are in: look, and do what is still to be done.
    /// Returns how many windows they had to open.
    fn pair(&mut self) -> usize {
        for _ in 0..12 {
            if self.is_paired() {
                return self.windows_opened;
            }
            let Some(window) = self.rigs[ADMITTER].device.pairing().window else {
                self.windows_opened += 1;
                self.act(ADMITTER, |rig| {
                    let opened = rig.device.handle_start_pairing(rig.now_ms, &mut rig.rng);
                    opened.expect("it may open one");
                });
                continue;
            };
            let store = &self.rigs[JOINER].store;
            let asked = store
                .join
                .as_ref()
                .is_some_and(|join| join.secret.as_bytes() == window.token.secret().as_bytes());
            if !asked {
                self.act(JOINER, |rig| {
                    let joined = rig.device.handle_join(&window.token, rig.now_ms);
                    joined.expect("it may ask");
                });
            } else if let Some(request) = window.requests.first() {
                self.act(ADMITTER, |rig| {
                    let accepted = rig
                        .device
                        .handle_accept(request.id, rig.now_ms, &mut rig.rng);
                    accepted.expect("the request is open");
                });
            }
        }
        panic!("the two never met");
    }

    fn say_same(&mut self) {
        while self.rigs[JOINER].device.pairing().join.is_some() {
            self.act(JOINER, |rig| rig.device.handle_confirm_words());
        }
    }

    fn check(&mut self) {
        let both: Vec<_> = self.rigs.iter().map(|rig| rig.device.me()).collect();
        assert_eq!(self.rigs[ADMITTER].device.members(), vec![both[1].clone()]);
        assert_eq!(self.rigs[JOINER].device.members(), vec![both[0].clone()]);
        let times = |side: usize, reason| {
            let told = self.told[side].iter();
            told.filter(|told| **told == reason).count()
        };
        assert!(times(ADMITTER, StatusReason::Created) <= 1);
        assert!(times(JOINER, StatusReason::Joined) <= 1);
        for side in [ADMITTER, JOINER] {
            assert_eq!(self.told[side].len(), times(side, self.told_reason(side)));
            let rig = &self.rigs[side];
            assert!(rig.store.entries.is_empty(), "device {side} waits");
            assert!(rig.store.join.is_none() && rig.store.buffered.is_empty());
        }
        for side in [ADMITTER, JOINER] {
            let body = vec![u8::try_from(side).expect("two sides")];
            self.act(side, |rig| {
                let sent = rig.device.handle_send(body.clone(), rig.now_ms);
                sent.expect("a member");
            });
            assert_eq!(self.rigs[1 - side].bodies().last(), Some(&body));
        }
    }

    const fn told_reason(&self, side: usize) -> StatusReason {
        if side == ADMITTER {
            StatusReason::Created
        } else {
            StatusReason::Joined
        }
    }
}

fn run(plan: &[(usize, Crash)]) -> (usize, usize) {
    let mut scene = Scene::new(plan.iter().copied().collect());
    let windows = scene.pair();
    scene.say_same();
    let commits = scene.commits;
    scene.plan.clear();
    scene.check();
    assert!(windows <= 1 + plan.len(), "{windows} windows with {plan:?}");
    assert!(windows <= 1 + scene.windows_lost + plan.len());
    (commits, windows)
}

#[test]
fn pairing_survives_a_restart_of_either_side_at_every_step() {
    let (commits, windows) = run(&[]);
    assert!(commits >= 6, "only {commits} steps");
    assert_eq!(windows, 1);
    let mut again = 0;
    for step in 1..=commits {
        for crash in CRASHES {
            let (_, windows) = run(&[(step, crash)]);
            again += usize::from(windows > 1);
        }
    }
    // Some of them meet the open window, which is the one thing that is lost.
    assert!(again > 0 && again < CRASHES.len() * commits);
}

#[test]
fn pairing_survives_two_restarts_at_any_two_steps() {
    let (commits, _) = run(&[]);
    for first in 1..=commits {
        for second in first + 1..=commits + 3 {
            for one in CRASHES {
                for other in CRASHES {
                    run(&[(first, one), (second, other)]);
                }
            }
        }
    }
}

/// The commit that first wrote something.
fn commit_that_wrote(it: fn(&Scene) -> bool) -> usize {
    let mut scene = Scene::new(BTreeMap::new());
    scene.watched = Some(it);
    scene.pair();
    scene.seen.expect("it comes to that")
}

impl Scene {
    /// Goes on until the planned crash happened.
    fn stop_at_crash(&mut self) {
        for _ in 0..12 {
            if self.plan.is_empty() {
                return;
            }
            self.step_on();
        }
    }

    /// The next thing that two people do.
    fn step_on(&mut self) {
        let window = self.rigs[ADMITTER].device.pairing().window;
        match window {
            None => self.act(ADMITTER, |rig| {
                let opened = rig.device.handle_start_pairing(rig.now_ms, &mut rig.rng);
                opened.expect("it may open one");
            }),
            Some(window) if self.rigs[JOINER].store.join.is_none() => self.act(JOINER, |rig| {
                let joined = rig.device.handle_join(&window.token, rig.now_ms);
                joined.expect("it may ask");
            }),
            Some(window) => self.act(ADMITTER, |rig| {
                if let Some(request) = window.requests.first() {
                    let now_ms = rig.now_ms;
                    let accepted = rig.device.handle_accept(request.id, now_ms, &mut rig.rng);
                    accepted.expect("the request is open");
                }
            }),
        }
    }
}

#[test]
fn an_admitter_that_ends_before_its_acceptance_is_written_has_admitted_nobody() {
    let accepting = commit_that_wrote(|scene| scene.rigs[ADMITTER].store.membership.is_some());
    let mut scene = Scene::new(BTreeMap::from([(accepting, Crash::Before)]));
    scene.stop_at_crash();
    let [admitter, joiner] = &scene.rigs;
    assert_eq!(admitter.device.status(), Status::NotJoined);
    assert!(admitter.store.membership.is_none() && admitter.store.entries.is_empty());
    assert!(
        admitter.device.pairing().window.is_none(),
        "the window is lost"
    );
    assert_eq!(joiner.device.status(), Status::PendingJoin, "and it waits");
    // Its person scans a new code.
    assert_eq!(scene.pair(), 1);
    scene.say_same();
    scene.check();
}

#[test]
fn an_admitter_that_ends_after_its_acceptance_is_written_has_admitted() {
    let accepting = commit_that_wrote(|scene| scene.rigs[ADMITTER].store.membership.is_some());
    let mut scene = Scene::new(BTreeMap::from([(accepting, Crash::After)]));
    scene.stop_at_crash();
    // The outbox has sent the manifest without anybody's doing.
    assert!(scene.is_paired());
    scene.say_same();
    scene.check();
}

#[test]
fn a_joiner_that_ends_before_it_stored_the_manifest_gets_it_again() {
    let entering = commit_that_wrote(|scene| scene.rigs[JOINER].store.membership.is_some());
    for crash in [Crash::Before, Crash::After] {
        let mut scene = Scene::new(BTreeMap::from([(entering, crash)]));
        scene.stop_at_crash();
        assert!(scene.is_paired(), "{crash:?}");
        scene.say_same();
        scene.check();
    }
}

#[test]
fn a_joiner_has_asked_if_and_only_if_its_join_is_written() {
    let joining = commit_that_wrote(|scene| scene.rigs[JOINER].store.join.is_some());
    let mut scene = Scene::new(BTreeMap::from([(joining, Crash::Before)]));
    scene.stop_at_crash();
    assert_eq!(scene.rigs[JOINER].device.status(), Status::NotJoined);
    assert!(scene.rigs[JOINER].store.entries.is_empty());

    let mut scene = Scene::new(BTreeMap::from([(joining, Crash::After)]));
    scene.stop_at_crash();
    assert_eq!(scene.rigs[JOINER].device.status(), Status::PendingJoin);
    let window = scene.rigs[ADMITTER].device.pairing().window;
    assert_eq!(
        window.expect("it is open").requests.len(),
        1,
        "it has asked"
    );
    let is_pair = |(message, _): &(crate::core::step::OutboxMessage, Vec<u8>)| {
        message.kind == OutboxKind::Pair
    };
    assert!(!scene.rigs[JOINER].store.bodies.values().any(is_pair));
}
