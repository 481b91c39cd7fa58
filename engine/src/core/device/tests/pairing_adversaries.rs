//! Who should not get in, and what strangers may cost: one test for each way to try.

use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets};
use sealpost_protocol::label;
use sealpost_protocol::limit::{END_TO_END_VERSION, GROUP_MEMBERS_MAX, NAME_BYTES_MAX};
use sealpost_protocol::manifest::{GroupId, Manifest, Member};
use sealpost_protocol::name::{self, DeviceName};
use sealpost_protocol::pair::PairBody;
use sealpost_protocol::token::{PairingSecret, PairingToken};
use sha2::{Digest as _, Sha256};

use super::pairing::{ask, open_window, pair, stranger};
use crate::core::event::{Event, JoinProgress, Spent};
use crate::core::issue::{DeliveryIssue, Unreadable};
use crate::core::rig::{Post, Rig, SECOND_MS, acknowledged, issues, pushes, words};
use crate::core::status::Status;
use crate::core::step::{Effect, WordsTarget};
use crate::core::timing;

/// An envelope to a device with any tag and body.
fn sealed(rig: &mut Rig, author: &DeviceSecrets, tag: MessageTag, body: &[u8]) -> Vec<u8> {
    let recipient = rig.noise();
    let sealing = Sealing {
        author: &author.signing,
        recipient: &recipient,
        sequence: rig.now_ms,
        timestamp_ms: rig.now_ms,
        tag,
        body,
    };
    seal(&sealing, &mut rig.rng).expect("it can be sealed")
}

fn listed(keys: DeviceKeys) -> Member {
    Member {
        keys,
        name: DeviceName::derived(&keys.signing),
    }
}

/// The first manifest of a group of these devices, signed by one of them or by a stranger.
fn manifest(rig: &mut Rig, members: &[DeviceKeys], issuer: &DeviceSecrets) -> Vec<u8> {
    let members = members.iter().copied().map(listed).collect();
    let manifest = Manifest::new(GroupId::generate(&mut rig.rng), 1, None, members);
    manifest
        .expect("it keeps the rules")
        .sign(&issuer.signing)
        .encode()
}

/// A joiner that has asked the first device; both are connected.
fn asking() -> (Post, PairingToken) {
    let mut post = Post::new(3);
    let token = open_window(&mut post.rigs[0]);
    let rig = &mut post.rigs[1];
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    post.settle(1);
    (post, token)
}

/// Lets the first device in the post accept the request that it has.
fn accept_first(post: &mut Post, admitter: usize) {
    let rig = &mut post.rigs[admitter];
    let request = rig.device.pairing().window.expect("open").requests[0].id;
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("the request is open");
    post.settle(admitter);
}

fn stale_requests(effects: &[Effect]) -> Vec<Spent> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Tell(Event::StaleRequest { spent, .. }) => Some(*spent),
            _ => None,
        })
        .collect()
}

#[test]
fn a_manifest_that_was_not_asked_for_is_unauthorized() {
    let outsider = stranger(70);
    let mut alone = Rig::new(1, "alone");
    alone.connect();
    let own = alone.device.keys();
    let body = manifest(&mut alone, &[own, outsider.keys()], &outsider);
    let envelope = sealed(&mut alone, &outsider, MessageTag::GroupManifest, &body);
    let effects = alone.deliver(&envelope);
    assert_eq!(issues(&effects), vec![DeliveryIssue::Unauthorized]);
    assert_eq!(acknowledged(&effects).len(), 1);
    assert_eq!(alone.device.status(), Status::NotJoined);
    assert!(alone.store.buffered.is_empty() && alone.store.membership.is_none());

    // A member isn't moved to another group either, also not by a member of its own.
    let mut post = Post::group(2);
    let member = post.rigs[1].store.secrets.clone();
    for author in [&outsider, &member] {
        let rig = &mut post.rigs[0];
        let before = rig.device.members();
        let own = rig.device.keys();
        let body = manifest(rig, &[own, outsider.keys(), member.keys()], author);
        let envelope = sealed(rig, author, MessageTag::GroupManifest, &body);
        let effects = rig.deliver(&envelope);
        assert_eq!(issues(&effects), vec![DeliveryIssue::Unauthorized]);
        assert_eq!(rig.device.members(), before);
    }
}

#[test]
fn no_manifest_but_the_admitters_own_lets_a_joiner_in() {
    let (mut post, _) = asking();
    let admitter = post.rigs[0].store.secrets.clone();
    let outsider = stranger(70);
    let rig = &mut post.rigs[1];
    let (own, joiner) = (rig.device.keys(), rig.store.secrets.clone());
    let other_noise = DeviceKeys {
        noise: outsider.keys().noise,
        signing: own.signing,
    };
    let signed = |rig: &mut Rig, members: &[DeviceKeys], issuer: &DeviceSecrets| {
        manifest(rig, members, issuer)
    };
    let genuine = signed(rig, &[admitter.keys(), own], &admitter);
    let attempts = [
        // Signed by a stranger, sent by the stranger or by who doesn't know better.
        (signed(rig, &[outsider.keys(), own], &outsider), &outsider),
        (signed(rig, &[admitter.keys(), own], &outsider), &outsider),
        (signed(rig, &[outsider.keys(), own], &outsider), &admitter),
        // The admitter's own word, carried by somebody else: the relay, or the joiner itself.
        (genuine.clone(), &outsider),
        (genuine.clone(), &joiner),
        // The admitter's word of another group, in which this device is not, or only half.
        (
            signed(rig, &[admitter.keys(), outsider.keys()], &admitter),
            &admitter,
        ),
        (
            signed(rig, &[admitter.keys(), other_noise], &admitter),
            &admitter,
        ),
    ];
    for (number, (body, author)) in attempts.iter().enumerate() {
        let envelope = sealed(rig, author, MessageTag::GroupManifest, body);
        let effects = rig.deliver(&envelope);
        assert_eq!(acknowledged(&effects).len(), 1, "attempt {number}");
        assert_eq!(rig.device.status(), Status::PendingJoin, "attempt {number}");
        assert!(rig.device.members().is_empty(), "attempt {number}");
    }
    let mut damaged = genuine;
    *damaged.last_mut().expect("not empty") ^= 1;
    let envelope = sealed(rig, &admitter, MessageTag::GroupManifest, &damaged);
    let malformed = DeliveryIssue::Unreadable(Unreadable::Malformed);
    assert_eq!(issues(&rig.deliver(&envelope)), vec![malformed]);
    assert_eq!(rig.device.status(), Status::PendingJoin);
    // None of it is in the way of the real one.
    accept_first(&mut post, 0);
    assert_eq!(post.rigs[1].device.status(), Status::Member);
    assert_eq!(
        post.rigs[1].device.members(),
        vec![post.rigs[0].device.me()]
    );
}

#[test]
fn what_is_kept_before_the_admission_is_bounded() {
    let (mut post, _) = asking();
    let rig = &mut post.rigs[1];
    let own = rig.device.keys();
    for seed in 0..200 {
        let outsider = stranger(3_000 + seed);
        let body = manifest(rig, &[outsider.keys(), own], &outsider);
        let envelope = sealed(rig, &outsider, MessageTag::GroupManifest, &body);
        rig.deliver(&envelope);
    }
    let max = crate::core::membership::BUFFERED_MANIFESTS_MAX;
    assert_eq!(rig.store.buffered.len(), max);
    accept_first(&mut post, 0);
    assert_eq!(post.rigs[1].device.status(), Status::Member);
    assert!(post.rigs[1].store.buffered.is_empty());
}

#[test]
fn a_message_before_the_manifest_is_never_handled() {
    let (mut post, _) = asking();
    let admitter = post.rigs[0].store.secrets.clone();
    let rig = &mut post.rigs[1];
    for author in [admitter, stranger(70)] {
        let envelope = sealed(rig, &author, MessageTag::Sync, b"too early");
        let effects = rig.deliver(&envelope);
        assert_eq!(issues(&effects), vec![DeliveryIssue::Unauthorized]);
        assert!(
            !effects
                .iter()
                .any(|effect| matches!(effect, Effect::StartHandler { .. }))
        );
        assert_eq!(acknowledged(&effects).len(), 1);
    }
    assert!(rig.store.rows.is_empty());
    // A revoke finds no group to end.
    let envelope = sealed(rig, &stranger(70), MessageTag::Revoke, &[]);
    assert!(issues(&rig.deliver(&envelope)).is_empty());
    assert_eq!(rig.device.status(), Status::PendingJoin);
    accept_first(&mut post, 0);
    assert_eq!(post.rigs[1].device.status(), Status::Member);
}

#[test]
fn a_replayed_request_under_a_spent_secret_changes_nothing() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let joiner = stranger(9);
    let token = open_window(&mut rig);
    let envelope = pair(&mut rig, &token, &joiner.keys(), &joiner);
    let request = ask(&mut rig, &token, &joiner).expect("new");
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    rig.drain();
    let members = rig.device.members();
    let rows = rig.store.entries.len();
    let second = open_window(&mut rig);
    for again in 0..3 {
        let effects = rig.deliver(&envelope);
        assert!(issues(&effects).is_empty(), "it is in: no offence");
        assert_eq!(acknowledged(&effects).len(), 1);
        assert!(stale_requests(&effects).is_empty(), "it is in: no news");
        assert_eq!(rig.device.members(), members, "replay {again}");
        assert_eq!(rig.store.entries.len(), rows, "replay {again}");
        let window = rig.device.pairing().window.expect("open");
        assert!(window.requests.is_empty() && window.token == second);
    }
    // Whoever really comes too late is still told of.
    let late = stranger(10);
    let envelope = pair(&mut rig, &token, &late.keys(), &late);
    let effects = rig.deliver(&envelope);
    assert_eq!(stale_requests(&effects), vec![Spent::Accepted]);
    // After a restart no code is remembered; the member still does nothing wrong.
    rig.restart();
    rig.connect();
    let envelope = pair(&mut rig, &token, &joiner.keys(), &joiner);
    assert!(issues(&rig.deliver(&envelope)).is_empty());
}

#[test]
fn who_comes_too_late_is_told_apart_from_who_guesses() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let cancelled = open_window(&mut rig);
    let replaced = {
        rig.device.handle_cancel_pairing();
        open_window(&mut rig)
    };
    let used = open_window(&mut rig);
    let request = ask(&mut rig, &used, &stranger(9)).expect("new");
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    rig.drain();
    let late = stranger(10);
    for (token, spent) in [
        (&cancelled, Spent::Closed),
        (&replaced, Spent::Closed),
        (&used, Spent::Accepted),
    ] {
        let envelope = pair(&mut rig, token, &late.keys(), &late);
        let effects = rig.deliver(&envelope);
        assert_eq!(stale_requests(&effects), vec![spent]);
        assert_eq!(issues(&effects), vec![DeliveryIssue::Unauthorized]);
        let effects = rig.deliver(&envelope);
        assert!(stale_requests(&effects).is_empty(), "told once");
        assert_eq!(issues(&effects), vec![DeliveryIssue::Unauthorized]);
    }
    let guessed = PairingToken::new(used.keys(), PairingSecret::from_bytes([0; 32]));
    let envelope = pair(&mut rig, &guessed, &late.keys(), &late);
    assert!(stale_requests(&rig.deliver(&envelope)).is_empty());
    // Only so many are remembered.
    for _ in 0..=timing::SPENT_WINDOWS_MAX {
        open_window(&mut rig);
    }
    let later = stranger(11);
    let envelope = pair(&mut rig, &cancelled, &later.keys(), &later);
    assert!(stale_requests(&rig.deliver(&envelope)).is_empty());
}

#[test]
fn a_second_joiner_with_the_same_code_is_not_let_in() {
    let (mut post, token) = asking();
    let rig = &mut post.rigs[2];
    rig.device
        .handle_join(&token, rig.now_ms)
        .expect("another's token");
    post.settle(2);
    let requests = post.rigs[0].device.pairing().window.expect("open").requests;
    assert_eq!(requests.len(), 2, "both may ask");
    // The one is accepted; the other's request goes with the window.
    accept_first(&mut post, 0);
    assert_eq!(post.rigs[1].device.status(), Status::Member);
    assert_eq!(post.rigs[2].device.status(), Status::PendingJoin);
    let rig = &mut post.rigs[0];
    let other = requests[1].id;
    assert!(
        rig.device
            .handle_accept(other, rig.now_ms, &mut rig.rng)
            .is_err()
    );
    assert_eq!(rig.device.members().len(), 1);
    let join = post.rigs[2].device.pairing().join.expect("it waits");
    assert_eq!(join.progress, JoinProgress::OnRelay);
    // A new code lets it in.
    post.pair(0, 2);
    assert_eq!(post.rigs[2].device.status(), Status::Member);
    assert_eq!(post.rigs[1].device.members().len(), 2);
}

/// A group of two, and a third device that has asked the first and then the second.
fn asked_of_two_admitters() -> Post {
    let mut post = Post::group(2);
    let mut joiner = Rig::new(60, "third");
    joiner.connect();
    post.rigs.push(joiner);
    post.effects.push(Vec::new());
    for admitter in [0, 1] {
        let token = open_window(&mut post.rigs[admitter]);
        let rig = &mut post.rigs[2];
        rig.device
            .handle_join(&token, rig.now_ms)
            .expect("another's token");
        post.settle(2);
    }
    post
}

#[test]
fn of_two_admitters_the_one_whose_code_was_used_last_lets_it_in() {
    let mut post = asked_of_two_admitters();
    // The first admits it, which the second learns before it accepts the same device.
    accept_first(&mut post, 0);
    assert_eq!(post.rigs[2].device.status(), Status::PendingJoin);
    accept_first(&mut post, 1);
    assert_eq!(post.rigs[2].device.status(), Status::Member);
    for index in 0..3 {
        assert_eq!(post.rigs[index].device.members().len(), 2, "device {index}");
    }
    post.rigs[2].device.handle_confirm_words();
    let rig = &mut post.rigs[2];
    rig.device
        .handle_send(b"hi".to_vec(), rig.now_ms)
        .expect("a member");
    post.settle(2);
    for index in 0..2 {
        assert_eq!(post.rigs[index].bodies(), vec![b"hi".to_vec()]);
    }
}

#[test]
fn two_admitters_at_once_end_with_one_list() {
    let mut post = asked_of_two_admitters();
    // Neither has heard of the other's admission.
    for admitter in [0, 1] {
        let rig = &mut post.rigs[admitter];
        let request = rig.device.pairing().window.expect("open").requests[0].id;
        rig.device
            .handle_accept(request, rig.now_ms, &mut rig.rng)
            .expect("the request is open");
    }
    for _ in 0..20 {
        for index in 0..post.rigs.len() {
            let rig = &mut post.rigs[index];
            rig.now_ms += 60 * SECOND_MS;
            rig.device.handle_wakeup(rig.now_ms, &mut rig.rng);
            post.settle(index);
        }
    }
    assert_eq!(post.rigs[2].device.status(), Status::Member);
    for index in 0..3 {
        assert_eq!(post.rigs[index].device.members().len(), 2, "device {index}");
    }
    assert!(
        post.rigs
            .iter()
            .all(|rig| rig.device.pairing().window.is_none())
    );
}

/// Delivers a proven request of a new device; returns whether its words are to be computed.
fn flood(rig: &mut Rig, token: &PairingToken, seed: u64) -> Option<WordsTarget> {
    let joiner = stranger(seed);
    let envelope = pair(rig, token, &joiner.keys(), &joiner);
    let effects = rig.deliver(&envelope);
    assert_eq!(acknowledged(&effects).len(), 1);
    effects.iter().find_map(|effect| match effect {
        Effect::ComputeWords(request) => Some(request.target),
        _ => None,
    })
}

#[test]
fn a_flood_of_requests_costs_a_bounded_amount_of_work_and_memory() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    let first = stranger(9);
    let request = ask(&mut rig, &token, &first).expect("new");
    // Without the code nothing is computed or kept.
    let guessed = PairingToken::new(token.keys(), PairingSecret::from_bytes([0; 32]));
    for seed in 0..300 {
        assert_eq!(flood(&mut rig, &guessed, 5_000 + seed), None);
    }
    // With the code: the words of as many as can be shown, also while none are known yet.
    let computed = (0..300)
        .filter(|seed| flood(&mut rig, &token, 5_000 + seed).is_some())
        .count();
    assert_eq!(computed + 1, timing::JOIN_REQUESTS_MAX);
    // One device under one code: one request, however often it asks.
    let second = open_window(&mut rig);
    let computed = (0..300)
        .filter(|_| flood(&mut rig, &second, 9).is_some())
        .count();
    assert_eq!(computed, 1);
    // Words of a closed window are of no use any more.
    assert!(!rig.device.wants_words(WordsTarget::Request(request)));
}

#[test]
fn dismissing_a_flood_does_not_make_it_endless() {
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    let mut computed = 0;
    for seed in 0..1_000 {
        if let Some(target) = flood(&mut rig, &token, 8_000 + seed) {
            computed += 1;
            rig.device.handle_words(target, words());
            let request = rig.device.pairing().window.expect("open").requests[0].id;
            rig.device.handle_dismiss(request);
            rig.drain();
        }
    }
    assert_eq!(computed, timing::JOIN_REQUESTS_DISMISSED_MAX);
    // A new window starts over.
    let token = open_window(&mut rig);
    assert!(flood(&mut rig, &token, 9).is_some());
}

/// HMAC-SHA256 under the secret of a token.
fn mac(token: &PairingToken, message: &[u8]) -> [u8; 32] {
    let pad = |byte: u8| {
        let mut block = [byte; 64];
        let secret = token.secret().as_bytes();
        block
            .iter_mut()
            .zip(secret)
            .for_each(|(to, key)| *to ^= key);
        block
    };
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(message)
        .finalize();
    let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner);
    outer.finalize().into()
}

fn key_bytes(keys: DeviceKeys) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(keys.noise.as_bytes());
    bytes[32..].copy_from_slice(keys.signing.as_bytes());
    bytes
}

/// A Pair with a name as no honest device would send it, and a proof that fits.
fn named_pair(rig: &mut Rig, token: &PairingToken, joiner: &DeviceSecrets, name: &[u8]) -> Vec<u8> {
    let length = [u8::try_from(name.len()).expect("it fits one byte")];
    let keys = key_bytes(joiner.keys());
    let proof = mac(
        token,
        &[
            label::PAIR_PROOF,
            &END_TO_END_VERSION.to_be_bytes(),
            &key_bytes(token.keys()),
            &keys,
            &length,
            name,
        ]
        .concat(),
    );
    let body = [&keys[..], &proof, &length, name].concat();
    let read = PairBody::decode(&body).expect("the shape is right");
    assert!(read.is_proven(&token.keys(), token.secret()));
    sealed(rig, joiner, MessageTag::Pair, &body)
}

#[test]
fn no_name_in_a_request_can_deceive_or_disturb() {
    let long = "n".repeat(255);
    let hostile: [&[u8]; 9] = [
        "\u{202e}potpaL s'annA\u{202c}".as_bytes(),
        "An\u{200b}na\u{feff}\u{2060}'s laptop".as_bytes(),
        "z\u{30d}\u{30d}\u{30d}\u{30d}\u{30d}\u{30d}\u{30d}\u{30d}\u{30d}\u{30d}\u{30d}".as_bytes(),
        long.as_bytes(),
        "\u{3164}\u{2800}\u{115f}".as_bytes(),
        b"\x1b[2J\x1b[1;1Hadmitter\r\n\x07",
        b"\xff\xfe\x00",
        b"",
        "\u{e0041}\u{e0042}\u{fe0f}".as_bytes(),
    ];
    let mut rig = Rig::new(1, "admitter");
    rig.connect();
    let token = open_window(&mut rig);
    for (number, name) in hostile.iter().enumerate() {
        let joiner = stranger(900 + u64::try_from(number).expect("a small number"));
        let envelope = named_pair(&mut rig, &token, &joiner, name);
        let effects = rig.deliver(&envelope);
        let target = effects.iter().find_map(|effect| match effect {
            Effect::ComputeWords(request) => Some(request.target),
            _ => None,
        });
        rig.device
            .handle_words(target.expect("it may ask"), words());
        rig.drain();
    }
    let window = rig.device.pairing().window.expect("open");
    assert_eq!(window.requests.len(), hostile.len());
    for request in &window.requests {
        let shown = request.name.as_str();
        assert_eq!(name::clean(shown).as_deref(), Some(shown));
        assert!((1..=NAME_BYTES_MAX).contains(&shown.len()));
    }
    // Accepted, it is that name that the whole group gets.
    let request = window.requests[0].id;
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("open");
    rig.drain();
    assert_eq!(rig.device.members()[0].name.as_str(), "potpaL s'annA");
}

#[test]
fn a_request_that_looks_like_a_member_says_so() {
    let mut post = Post::group(2);
    let me = post.rigs[0].device.me().name;
    let member = post.rigs[1].device.me();
    let rig = &mut post.rigs[0];
    let token = open_window(rig);
    let ask_as = |rig: &mut Rig, seed: u64, name: &str| {
        let joiner = stranger(seed);
        let envelope = named_pair(rig, &token, &joiner, name.as_bytes());
        let effects = rig.deliver(&envelope);
        let target = effects.iter().find_map(|effect| match effect {
            Effect::ComputeWords(request) => Some(request.target),
            _ => None,
        });
        rig.device
            .handle_words(target.expect("it may ask"), words());
        rig.drain().into_iter().find_map(|effect| match effect {
            Effect::Tell(Event::JoinRequested(request)) => Some(request.looks_like),
            _ => None,
        })
    };
    // The devices of the post are called "device 0" and "device 1".
    let of_member = ask_as(rig, 901, "D\u{435}vic\u{435} l").expect("it is shown");
    assert_eq!(of_member, Some(member.name));
    let of_mine = ask_as(rig, 902, "device\u{a0}0").expect("it is shown");
    assert_eq!(of_mine, Some(me));
    assert_eq!(ask_as(rig, 903, "Kitchen").expect("it is shown"), None);
    // A member that asks again is itself.
    let again = post.rigs[1].store.secrets.clone();
    let rig = &mut post.rigs[0];
    ask(rig, &token, &again).expect("new");
    let requests = rig.device.pairing().window.expect("open").requests;
    assert_eq!(requests.last().expect("four").looks_like, None);
}

#[test]
fn a_full_group_takes_nobody_and_keeps_the_window() {
    let mut post = Post::group(2);
    let rig = &mut post.rigs[0];
    for seed in 2..GROUP_MEMBERS_MAX {
        let token = open_window(rig);
        let joiner = stranger(2_000 + u64::try_from(seed).expect("a small number"));
        let request = ask(rig, &token, &joiner).expect("new");
        rig.device
            .handle_accept(request, rig.now_ms, &mut rig.rng)
            .expect("room");
        rig.drain();
    }
    let token = open_window(rig);
    let request = ask(rig, &token, &stranger(9)).expect("new");
    let before = rig.store.entries.len();
    assert!(
        rig.device
            .handle_accept(request, rig.now_ms, &mut rig.rng)
            .is_err()
    );
    assert!(pushes(&rig.drain()).is_empty());
    assert_eq!(rig.store.entries.len(), before);
    // A member that was removed makes room for the same request.
    let gone = rig.device.members()[0].id.clone();
    rig.device.handle_remove(&gone, rig.now_ms).expect("it may");
    rig.drain();
    rig.device
        .handle_accept(request, rig.now_ms, &mut rig.rng)
        .expect("room again, in the same window");
}
