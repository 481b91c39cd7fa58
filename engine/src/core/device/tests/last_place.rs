//! Two admissions at once into the last place of a group: what each side is told, whatever
//! order the joiner that has to go hears in.

use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::limit::GROUP_MEMBERS_MAX;
use sealpost_protocol::manifest::SignedManifest;

use super::pairing::{ask, open_window, say_same, stranger};
use crate::core::event::{AdmissionDropped, Event};
use crate::core::rig::{Post, Rig, SECOND_MS, Store, pushes};
use crate::core::status::{Status, StatusReason};
use crate::core::step::{Effect, PushOutcome};

/// Lets strangers into the group of the first device until it has so many members.
fn fill(post: &mut Post, count: usize) {
    for number in 2..count {
        let rig = &mut post.rigs[0];
        let token = open_window(rig);
        let seed = 4_000 + u64::try_from(number).expect("a small number");
        let request = ask(rig, &token, &stranger(seed)).expect("new");
        rig.device
            .handle_accept(request, rig.now_ms, &mut rig.rng)
            .expect("room");
        post.settle(0);
    }
}

/// A full group in which two devices have let one in each, and made room for one of them.
struct LastPlace {
    post: Post,
    kept: usize,
    lost: usize,
    /// The stores of the joiners, at 2 and 3, while they waited.
    pending: [Store; 2],
    /// Who told of an admission that was dropped.
    told: Vec<usize>,
}

impl LastPlace {
    fn new() -> Self {
        let mut post = Post::group(2);
        fill(&mut post, GROUP_MEMBERS_MAX - 1);
        for seed in [60, 61] {
            let mut rig = Rig::new(seed, "joiner");
            rig.connect();
            post.rigs.push(rig);
            post.effects.push(Vec::new());
        }
        for (admitter, joiner) in [(0, 2), (1, 3)] {
            let token = open_window(&mut post.rigs[admitter]);
            let rig = &mut post.rigs[joiner];
            rig.device
                .handle_join(&token, rig.now_ms)
                .expect("another's token");
            post.settle(joiner);
        }
        let pending = [2, 3].map(|joiner: usize| post.rigs[joiner].store.clone());
        // Each admitter lets one in before it hears of the other.
        for admitter in [0, 1] {
            let rig = &mut post.rigs[admitter];
            let request = rig.device.pairing().window.expect("open").requests[0].id;
            rig.device
                .handle_accept(request, rig.now_ms, &mut rig.rng)
                .expect("one place is left");
        }
        post.take_events(0);
        post.take_events(1);
        for _ in 0..20 {
            for index in 0..post.rigs.len() {
                let rig = &mut post.rigs[index];
                rig.now_ms += 60 * SECOND_MS;
                rig.device.handle_wakeup(rig.now_ms, &mut rig.rng);
                post.settle(index);
            }
        }
        let told: Vec<usize> = [0, 1]
            .into_iter()
            .flat_map(|admitter| {
                let events = post.take_events(admitter);
                let drops = events.iter().filter(|event| is_drop(event)).count();
                std::iter::repeat_n(admitter, drops)
            })
            .collect();
        let (kept, lost) = if told == [0] { (3, 2) } else { (2, 3) };
        Self {
            post,
            kept,
            lost,
            pending,
            told,
        }
    }

    fn admitter(&self) -> usize {
        self.lost - 2
    }

    /// The manifest that let the lost one in, and the merge that dropped it.
    fn manifests(&self) -> [SignedManifest; 2] {
        let key = self.pending[self.lost - 2].secrets.keys().signing;
        let rows = self.post.rigs[self.admitter()].store.membership.as_ref();
        let rows = rows.expect("a member").manifests.values();
        let mut rows: Vec<_> = rows.map(|known| known.manifest.clone()).collect();
        rows.sort_by_key(SignedManifest::version);
        let issuer = self.post.rigs[self.admitter()].device.keys().signing;
        let anchor = rows
            .iter()
            .find(|row| row.member(&key).is_some() && *row.issuer() == issuer);
        let merge = rows
            .iter()
            .rfind(|row| row.member(&key).is_none() && row.members().len() == GROUP_MEMBERS_MAX);
        [anchor, merge].map(|found| found.expect("it is kept").clone())
    }
}

fn is_drop(event: &Event) -> bool {
    let full = AdmissionDropped::GroupFull;
    matches!(event, Event::AdmissionDropped { reason, .. } if *reason == full)
}

fn reasons(events: &[Event]) -> Vec<StatusReason> {
    let told = events.iter().filter_map(|event| match event {
        Event::StatusChanged { reason, .. } => *reason,
        _ => None,
    });
    told.collect()
}

#[test]
fn of_two_admissions_into_the_last_place_one_is_dropped_and_its_admitter_told() {
    let LastPlace {
        mut post,
        kept,
        lost,
        told,
        ..
    } = LastPlace::new();
    assert_eq!(told.len(), 1, "told once, to one: {told:?}");
    let keys = |index: usize| post.rigs[index].device.keys().signing.member_id();
    for admitter in [0, 1] {
        let members = post.rigs[admitter].device.members();
        assert_eq!(members.len(), GROUP_MEMBERS_MAX - 1);
        assert!(members.iter().any(|member| member.id == keys(kept)));
        assert!(!members.iter().any(|member| member.id == keys(lost)));
    }
    assert_eq!(post.rigs[kept].device.status(), Status::Member);
    // It had been let in by its own admitter, so it hears that it is out again, and why.
    assert_eq!(post.rigs[lost].device.status(), Status::NotJoined);
    assert_eq!(
        reasons(&post.take_events(lost)),
        vec![StatusReason::Joined, StatusReason::GroupFull]
    );
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    OneByOne,
    AtOnce,
    MergeFirst,
}

/// A manifest as a member sends it to a device.
fn sealed(rig: &mut Rig, author: &DeviceSecrets, sequence: u64, body: &SignedManifest) -> Vec<u8> {
    let recipient = rig.noise();
    let sealing = Sealing {
        author: &author.signing,
        recipient: &recipient,
        sequence,
        timestamp_ms: rig.now_ms,
        tag: MessageTag::GroupManifest,
        body: &body.encode(),
    };
    seal(&sealing, &mut rig.rng).expect("it can be sealed")
}

/// Answers every push until none is left; returns everything that happened.
fn push_out(rig: &mut Rig, mut effects: Vec<Effect>) -> Vec<Effect> {
    let mut all = Vec::new();
    while !effects.is_empty() {
        let ids: Vec<_> = pushes(&effects).iter().map(|push| push.id).collect();
        all.append(&mut effects);
        for id in ids {
            let stored = PushOutcome::Stored;
            rig.device
                .handle_push_outcome(id, stored, rig.now_ms, &mut rig.rng);
            effects.extend(rig.drain());
        }
    }
    all
}

/// Lets the joiner that lost the place hear of it; returns it and what it told.
fn hear(place: &LastPlace, order: Order, is_confirmed: bool, seed: u64) -> (Rig, Vec<Event>) {
    let author = place.post.rigs[place.admitter()].store.secrets.clone();
    let mut rig = Rig::with_store(seed, place.pending[place.lost - 2].clone());
    rig.now_ms = place.post.rigs[0].now_ms;
    rig.connect();
    if is_confirmed {
        say_same(&mut rig);
        rig.drain();
    }
    let [anchor, merge] = place.manifests();
    let anchor = sealed(&mut rig, &author, 1, &anchor);
    let merge = sealed(&mut rig, &author, 2, &merge);
    let mut effects = Vec::new();
    match order {
        Order::OneByOne => {
            effects.extend(rig.deliver(&anchor));
            assert_eq!(rig.device.status(), Status::Member);
            if is_confirmed {
                let sent = rig.device.handle_send(b"hi".to_vec(), rig.now_ms);
                sent.expect("a member");
                effects.extend(rig.drain());
            }
            effects.extend(rig.deliver(&merge));
        }
        Order::AtOnce => {
            for (blob, envelope) in [(101, anchor), (102, merge)] {
                rig.device.handle_deliver(rig.session, blob, envelope);
            }
            effects.extend(rig.drain());
        }
        Order::MergeFirst => {
            effects.extend(rig.deliver(&merge));
            assert_eq!(rig.store.buffered.len(), 1);
            effects.extend(rig.deliver(&anchor));
        }
    }
    let events = push_out(&mut rig, effects).into_iter();
    let events = events.filter_map(|effect| match effect {
        Effect::Tell(event) => Some(event),
        _ => None,
    });
    let events = events.collect();
    (rig, events)
}

#[test]
fn whoever_lost_the_last_place_is_told_so_once_and_can_pair_again() {
    let mut place = LastPlace::new();
    let before = place.pending[place.lost - 2].secrets.keys();
    let mut waiting = Vec::new();
    let mut seeds = 970_u64..;
    for order in [Order::OneByOne, Order::AtOnce, Order::MergeFirst] {
        for is_confirmed in [false, true] {
            let seed = seeds.next().expect("endless");
            let (rig, events) = hear(&place, order, is_confirmed, seed);
            let case = format!("{order:?}, confirmed: {is_confirmed}");
            let told = vec![StatusReason::Joined, StatusReason::GroupFull];
            assert_eq!(reasons(&events), told, "{case}");
            assert_eq!(rig.device.status(), Status::NotJoined, "{case}");
            assert!(rig.store.join.is_none() && rig.store.entries.is_empty());
            assert_ne!(rig.device.keys(), before, "{case}");
            waiting.push(rig);
        }
    }
    // Somebody makes room; then a new code lets it in.
    for mut rig in waiting {
        let post = &mut place.post;
        rig.now_ms = post.rigs[0].now_ms;
        rig.connect();
        post.rigs[place.lost] = rig;
        let leaver = post.rigs[0].device.members().into_iter().find(|member| {
            let is_it = |rig: &Rig| rig.device.keys() == member.keys;
            !post.rigs.iter().any(is_it)
        });
        let rig = &mut post.rigs[0];
        let leaver = leaver.expect("strangers filled it").id;
        rig.device
            .handle_remove(&leaver, rig.now_ms)
            .expect("it may");
        post.settle(0);
        post.pair(0, place.lost);
        assert_eq!(post.rigs[place.lost].device.status(), Status::Member);
        // The next one needs room for itself alone.
        say_same(&mut post.rigs[place.lost]);
        post.settle(place.lost);
        let rig = &mut post.rigs[place.lost];
        rig.device.handle_leave(rig.now_ms).expect("it may");
        post.settle(place.lost);
    }
}
