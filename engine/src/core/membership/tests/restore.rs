//! Restoring: at any point, the rows written so far are the whole machine but its timer.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::SignedManifest;

use super::super::{Membership, MembershipSnapshot, RestoreError, is_anchor};
use super::{HOUR_MS, NOW_MS, Person, founded, manifest, sent};

/// One device of the random histories.
struct Device {
    person: Person,
    admitter: SigningPublic,
    group: Option<Membership>,
    stored: MembershipSnapshot,
    inbox: VecDeque<(SigningPublic, SignedManifest)>,
}

/// Devices that change the membership at random, each restored after every step.
struct History {
    devices: Vec<Device>,
    now_ms: u64,
    rng: ChaCha8Rng,
}

impl History {
    fn new() -> Self {
        let people: [Person; 7] = Person::many();
        let founder = people[0].key();
        let devices = people.into_iter().map(|person| Device {
            person,
            admitter: founder,
            group: None,
            stored: MembershipSnapshot::default(),
            inbox: VecDeque::new(),
        });
        let mut history = Self {
            devices: devices.collect(),
            now_ms: NOW_MS,
            rng: ChaCha8Rng::seed_from_u64(1),
        };
        let [a, b] = [0, 1].map(|at: usize| history.devices[at].person.clone());
        let group = founded(&a, &b);
        history.devices[0].stored = group.snapshot().clone();
        history.devices[1]
            .inbox
            .push_back((a.key(), group.current().clone()));
        history.devices[0].group = Some(group);
        history.receive(1);
        history
    }

    fn step(&mut self, (what, who, whom): (u8, u8, u8)) {
        let count = self.devices.len();
        let (who, whom) = (usize::from(who) % count, usize::from(whom) % count);
        self.now_ms += u64::from(what) * 100;
        match what % 16 {
            0 | 1 => self.admit(who, whom),
            2 => self.remove(who, whom),
            3 => self.leave(who),
            4..=6 => self.pass_time(who, u64::from(whom as u8) * 20_000),
            7 => self.pass_time(who, 25 * HOUR_MS),
            _ => self.receive(who),
        }
    }

    /// Runs a deterministic input on the machine and on its restored twin.
    fn both(&mut self, who: usize, input: impl Fn(&mut Membership, &Person)) {
        let device = &mut self.devices[who];
        let Some(group) = &mut device.group else {
            return;
        };
        let keys = device.person.keys();
        let mut twin =
            Membership::restore(keys, device.stored.clone(), self.now_ms).expect("a root");
        assert!(twin.drain().0.is_empty(), "restoring finds nothing new");
        input(group, &device.person);
        input(&mut twin, &device.person);
        assert_eq!(group.view(), twin.view());
        assert_eq!(group.current(), twin.current());
        assert_eq!(group.tip(), twin.tip());
        assert_eq!(group.limbo(), twin.limbo());
        assert_eq!(group.is_removed(), twin.is_removed());
        assert_eq!(group.snapshot(), twin.snapshot());
        assert_eq!(group.clone().drain(), twin.drain());
        self.commit(who);
    }

    fn commit(&mut self, who: usize) {
        let device = &mut self.devices[who];
        let author = device.person.key();
        let Some(group) = &mut device.group else {
            return;
        };
        let (changes, effects) = group.drain();
        for change in &changes {
            device.stored.apply(change);
        }
        assert_eq!(*group.snapshot(), device.stored);
        for (to, manifest) in sent(&effects) {
            let recipient = self.devices.iter_mut().find(|d| d.person.key() == to);
            recipient
                .expect("a device")
                .inbox
                .push_back((author, manifest));
        }
    }

    fn admit(&mut self, who: usize, whom: usize) {
        let newcomer = self.devices[whom].person.member.clone();
        let now_ms = self.now_ms;
        if self.devices[whom].group.is_some() {
            return;
        }
        self.devices[whom].admitter = self.devices[who].person.key();
        self.both(who, |group, me| {
            let secret = &me.secrets.signing;
            let _ = group.issue_admission(&newcomer.keys, &newcomer.name, secret, now_ms);
        });
    }

    fn remove(&mut self, who: usize, whom: usize) {
        let key = self.devices[whom].person.key();
        let now_ms = self.now_ms;
        self.both(who, |group, me| {
            let _ = group.issue_removal(&key, &me.secrets.signing, now_ms);
        });
    }

    fn leave(&mut self, who: usize) {
        // A restored device knows that it is gone, but not by whose hand.
        let now_ms = self.now_ms;
        let device = &mut self.devices[who];
        if let Some(group) = &mut device.group {
            let _ = group.issue_leave(&device.person.secrets.signing, now_ms);
        }
        self.commit(who);
    }

    fn pass_time(&mut self, who: usize, passed_ms: u64) {
        let device = &mut self.devices[who];
        let online = device.inbox.is_empty();
        let rng = &mut self.rng;
        if let Some(group) = &mut device.group {
            let secret = &device.person.secrets.signing;
            group.handle_timer(self.now_ms, online, secret, rng);
            self.now_ms += passed_ms;
            group.handle_timer(self.now_ms, online, secret, rng);
        }
        self.commit(who);
    }

    fn receive(&mut self, who: usize) {
        let now_ms = self.now_ms;
        let device = &mut self.devices[who];
        let Some((author, manifest)) = device.inbox.pop_front() else {
            return;
        };
        if device.group.is_some() {
            self.both(who, |group, _| {
                let _ = group.handle_manifest(&author, manifest.clone(), now_ms);
            });
        } else if is_anchor(&manifest, &author, &device.person.keys(), &device.admitter) {
            let keys = device.person.keys();
            device.group = Some(Membership::anchored(keys, manifest, Vec::new(), now_ms));
            self.commit(who);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn restored_machine_goes_on_like_the_one_that_never_stopped(
        steps in vec(any::<(u8, u8, u8)>(), 1..120)
    ) {
        let mut history = History::new();
        for step in steps {
            history.step(step);
        }
    }
}

#[test]
fn rows_without_a_root_are_refused() {
    let [a, b] = Person::many();
    let mut rows = founded(&a, &b).snapshot().clone();
    rows.manifests.clear();
    let refused = Membership::restore(a.keys(), rows, NOW_MS).map(|_| ());
    assert_eq!(refused, Err(RestoreError::RootMissing));
    let stray = manifest(1, None, &[&a, &b], &b);
    let mut rows = founded(&a, &b).snapshot().clone();
    rows.root = Some(stray.hash());
    assert!(Membership::restore(a.keys(), rows, NOW_MS).is_err());
}
