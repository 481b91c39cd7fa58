//! The vectors, the largest manifest, and each invariant broken once.

use super::*;
use crate::envelope::{MessageTag, Sealing, seal};
use crate::vectors::{self, Given};

fn group() -> GroupId {
    GroupId(vectors::array("/inputs/group_id"))
}

fn first() -> SignedManifest {
    // Given out of order; the manifest sorts them.
    let members = vec![vectors::member("b"), vectors::member("a")];
    Manifest::new(group(), 1, None, members)
        .unwrap()
        .sign(&vectors::device("a").signing)
}

fn second() -> SignedManifest {
    Manifest::new(group(), 2, Some(first().hash()), vec![vectors::member("a")])
        .unwrap()
        .sign(&vectors::device("a").signing)
}

#[test]
fn both_vectors_are_met() {
    for (manifest, place) in [(first(), "/manifest_1"), (second(), "/manifest_2")] {
        let vector = |field: &str| vectors::bytes(&format!("{place}/{field}"));
        let input = manifest
            .0
            .manifest
            .signing_input(&manifest.0.issuer, &manifest.0.wire_names);
        assert_eq!(input, vector("signing_input"));
        assert_eq!(manifest.0.signature.as_slice(), vector("signature"));
        assert_eq!(manifest.hash().as_bytes().as_slice(), vector("hash"));
        assert_eq!(manifest.encode(), vector("encoded"));
        assert_eq!(
            SignedManifest::decode(&vector("encoded")),
            Ok(manifest.clone())
        );
        let version = vectors::number(&format!("{place}/version"));
        assert_eq!(manifest.version(), u64::try_from(version).unwrap());
    }
    assert_eq!(first().parent(), None);
    assert_eq!(second().parent(), Some(first().hash()));
}

#[test]
fn members_are_found_by_their_signing_key() {
    let (a, b) = (vectors::member("a"), vectors::member("b"));
    assert_eq!(first().members(), [a.clone(), b.clone()]);
    assert_eq!(first().member(&b.keys.signing), Some(&b));
    assert!(first().lists(&a.keys.signing));
    assert!(!second().lists(&b.keys.signing));
    assert_eq!(*first().issuer(), a.keys.signing);
    assert_eq!(first().group_id(), group());
}

/// As many members as wanted, with names of the greatest length.
fn many(count: usize) -> Vec<Member> {
    (0..count)
        .map(|index| {
            let byte = u8::try_from(index).unwrap();
            let keys = DeviceKeys {
                noise: NoisePublic::from_bytes([byte.saturating_add(2); 32]),
                signing: SigningPublic::from_bytes([byte; 32]),
            };
            Member {
                keys,
                name: DeviceName::clean(&"n".repeat(64), &keys.signing),
            }
        })
        .collect()
}

#[test]
fn the_largest_manifest_has_the_published_size() {
    let author = vectors::device("a");
    let parent = Some(first().hash());
    let members = many(GROUP_MEMBERS_MAX);
    let manifest = Manifest::new(group(), MANIFEST_VERSION_MAX, parent, members).unwrap();
    let encoded = manifest.sign(&author.signing).encode();
    assert_eq!(
        encoded.len(),
        vectors::number("/sizes/manifest_of_32_members")
    );
    let sealing = Sealing {
        author: &author.signing,
        recipient: &vectors::device("b").keys().noise,
        sequence: 1,
        timestamp_ms: 1,
        tag: MessageTag::GroupManifest,
        body: &encoded,
    };
    let envelope = seal(
        &sealing,
        &mut Given::new("/inputs/envelope_ephemeral_private"),
    )
    .unwrap();
    assert_eq!(
        envelope.len(),
        vectors::number("/sizes/envelope_of_that_manifest")
    );
    assert!(SignedManifest::decode(&encoded).is_ok());
}

#[test]
fn what_breaks_an_invariant_is_not_made() {
    let new = |version, members| Manifest::new(group(), version, None, members).err();
    assert_eq!(
        new(1, vec![]),
        Some(ManifestError::MemberCount { members: 0 })
    );
    assert_eq!(
        new(1, many(33)),
        Some(ManifestError::MemberCount { members: 33 })
    );
    for version in [0, MANIFEST_VERSION_MAX + 1, u64::MAX] {
        assert_eq!(
            new(version, many(1)),
            Some(ManifestError::Version { version })
        );
    }
    assert_eq!(new(MANIFEST_VERSION_MAX, many(1)), None);
    let twice = vec![vectors::member("a"), vectors::member("a")];
    assert_eq!(new(1, twice), Some(ManifestError::Order));
    let (a, mut b) = (vectors::member("a"), vectors::member("b"));
    b.keys.noise = a.keys.noise;
    assert_eq!(
        new(1, vec![a.clone(), b.clone()]),
        Some(ManifestError::NoiseKeyTwice)
    );
    b.keys.noise = NoisePublic::from_bytes([0; 32]);
    assert_eq!(new(1, vec![a, b]), Some(ManifestError::WeakKey));
}

/// A member with keys of its own can sign anything; it is not decoded all the same.
#[test]
fn what_breaks_an_invariant_never_decodes_however_well_it_is_signed() {
    let decoded = |version, members| {
        let manifest = Manifest {
            group_id: group(),
            version,
            parent: None,
            members,
        };
        let signed = manifest.sign(&vectors::device("a").signing);
        SignedManifest::decode(&signed.encode()).map(|manifest| manifest.version())
    };
    assert_eq!(decoded(1, many(GROUP_MEMBERS_MAX)), Ok(1));
    let count = ManifestError::MemberCount { members: 33 };
    assert_eq!(decoded(1, many(33)), Err(count));
    let twice = [many(2), many(2)].concat();
    assert_eq!(decoded(1, twice), Err(ManifestError::Order));
    let mut shared = many(2);
    shared[1].keys.noise = shared[0].keys.noise;
    assert_eq!(decoded(1, shared), Err(ManifestError::NoiseKeyTwice));
    for version in [0, MANIFEST_VERSION_MAX + 1, u64::MAX] {
        assert_eq!(
            decoded(version, many(2)),
            Err(ManifestError::Version { version })
        );
    }
}

/// The first manifest's fields, changed before they are encoded.
fn changed(change: impl FnOnce(&mut WireManifest)) -> Result<SignedManifest, ManifestError> {
    let mut wire = WireManifest::decode(first().encode().as_slice()).unwrap();
    change(&mut wire);
    SignedManifest::decode(&wire.encode_to_vec())
}

#[test]
fn what_breaks_the_shape_is_refused() {
    let error = |change: fn(&mut WireManifest)| changed(change).err();
    let length = |bytes, expected| Some(ManifestError::FieldLength { bytes, expected });
    assert_eq!(
        error(|wire| wire.members.reverse()),
        Some(ManifestError::Order)
    );
    assert_eq!(
        error(|wire| wire.version = 0),
        Some(ManifestError::Version { version: 0 })
    );
    assert_eq!(error(|wire| wire.group_id.truncate(31)), length(31, 32));
    assert_eq!(error(|wire| wire.issued_by.push(0)), length(33, 32));
    assert_eq!(error(|wire| wire.signature.clear()), length(0, 64));
    assert_eq!(error(|wire| wire.parent = Some(vec![])), length(0, 32));
    assert_eq!(
        error(|wire| wire
            .members
            .iter_mut()
            .for_each(|member| member.noise_pub.clear())),
        length(0, 32)
    );
    assert_eq!(
        error(|wire| wire
            .members
            .iter_mut()
            .for_each(|member| member.name = vec![b'n'; 256])),
        Some(ManifestError::NameLength { bytes: 256 })
    );
    assert_eq!(
        error(|wire| wire.members.clear()),
        Some(ManifestError::MemberCount { members: 0 })
    );
    assert_eq!(
        SignedManifest::decode(&[0x0a]),
        Err(ManifestError::Protobuf)
    );
}

#[test]
fn the_signature_covers_every_field() {
    let changes: [fn(&mut WireManifest); 7] = [
        |wire| wire.group_id = vec![0xcd; 32],
        |wire| wire.version = 2,
        |wire| wire.parent = Some(vec![0; 32]),
        |wire| wire.issued_by = vectors::device("b").keys().signing.as_bytes().to_vec(),
        |wire| wire.members.truncate(1),
        |wire| {
            wire.members
                .iter_mut()
                .for_each(|member| member.name.push(b'x'))
        },
        |wire| {
            wire.members
                .iter_mut()
                .for_each(|member| member.noise_pub.reverse())
        },
    ];
    for change in changes {
        assert_eq!(changed(change), Err(ManifestError::Signature));
    }
    assert_eq!(changed(|_| ()), Ok(first()));
}

#[test]
fn a_name_is_cleaned_for_showing_and_kept_for_hash_and_signature() {
    let issuer = vectors::device("a").signing;
    let manifest = first().0.manifest.clone();
    let raw = vec!["\u{202e}Amber".as_bytes().to_vec(), b"\xff".to_vec()];
    let input = manifest.signing_input(&issuer.public(), &raw);
    let sent = SignedManifest(Arc::new(Signed {
        hash: hash(&input),
        signature: issuer.sign(&input),
        issuer: issuer.public(),
        wire_names: raw,
        manifest,
    }));
    let read = SignedManifest::decode(&sent.encode()).unwrap();
    assert_eq!(read.members()[0].name.as_str(), "Amber");
    let b = vectors::member("b").keys.signing;
    assert_eq!(read.members()[1].name, DeviceName::derived(&b));
    assert_eq!(read.hash(), sent.hash());
    assert_eq!(read.encode(), sent.encode());
}

#[test]
fn signing_again_makes_no_different_manifest() {
    let again = first()
        .0
        .manifest
        .clone()
        .sign(&vectors::device("a").signing);
    assert_eq!(again.hash(), first().hash());
    let by_another = first()
        .0
        .manifest
        .clone()
        .sign(&vectors::device("b").signing);
    assert_ne!(by_another.hash(), first().hash());
}

#[test]
fn nothing_of_a_manifest_is_printed() {
    let printed = format!("{:?} {:?} {:?}", first(), first().hash(), group());
    assert_eq!(
        printed,
        "SignedManifest { version: 1, members: 2, .. } ManifestHash GroupId"
    );
}
