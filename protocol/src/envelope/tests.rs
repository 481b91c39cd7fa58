//! The vectors, the limits on both sides, and what an attacker can do to an Envelope.

use std::collections::BTreeSet;

use super::*;
use crate::frame::Frame;
use crate::limit::{PARENTS_MAX, SIGNATURE_BYTES};
use crate::vectors::{self, Given};

const EPHEMERAL: &str = "/inputs/envelope_ephemeral_private";

fn seal_from_a(tag: MessageTag, body: &[u8]) -> Result<Vec<u8>, SealError> {
    let author = vectors::device("a").signing;
    let recipient = vectors::device("b").keys().noise;
    let sealing = Sealing {
        author: &author,
        recipient: &recipient,
        sequence: 7,
        timestamp_ms: 1_790_812_800_000,
        tag,
        body,
    };
    seal(&sealing, &mut Given::new(EPHEMERAL))
}

fn open_as_b(envelope: &[u8]) -> Result<OpenedEnvelope, OpenError> {
    current(envelope).open(&vectors::device("b").noise)
}

fn current(envelope: &[u8]) -> SealedEnvelope {
    match Received::decode(envelope).unwrap() {
        Received::Current(envelope) => envelope,
        other => panic!("not current: {other:?}"),
    }
}

#[test]
fn the_vector_is_met_step_by_step() {
    let ephemeral = vectors::noise_secret(EPHEMERAL);
    let recipient = vectors::device("b").keys().noise;
    assert_eq!(
        ephemeral.public().as_bytes().as_slice(),
        vectors::bytes("/envelope/ephemeral_pub")
    );
    let shared = ephemeral.agree(&recipient).unwrap();
    assert_eq!(shared.as_slice(), vectors::bytes("/envelope/shared_secret"));
    let context = context(&ephemeral.public(), &recipient);
    let info = [label::ADDRESSED_ENCRYPTION, &context].concat();
    assert_eq!(info, vectors::bytes("/envelope/hkdf_info"));
    assert_eq!(aad(&context), vectors::bytes("/envelope/aad"));
    let key = derive_key(&shared, &context);
    assert_eq!(key.as_slice(), vectors::bytes("/envelope/aead_key"));

    let plaintext = vectors::bytes("/envelope/sealed_plaintext");
    let (signed, signature) = plaintext.split_last_chunk::<SIGNATURE_BYTES>().unwrap();
    let input = sealed::signing_input(&context, signed);
    assert_eq!(input.as_slice(), vectors::bytes("/envelope/signing_input"));
    assert_eq!(signature.as_slice(), vectors::bytes("/envelope/signature"));

    let envelope = seal_from_a(MessageTag::Sync, b"hello").unwrap();
    assert_eq!(envelope.len(), vectors::number("/envelope/envelope_bytes"));
    assert_eq!(envelope, vectors::bytes("/envelope/envelope"));
    assert_eq!(
        current(&envelope).ciphertext,
        vectors::bytes("/envelope/ciphertext")
    );
    let frame = Frame::Push {
        recipient,
        envelope: &envelope,
    }
    .encode();
    assert_eq!(frame, vectors::bytes("/envelope/push_frame"));
}

#[test]
fn the_vector_opens() {
    let opened = open_as_b(&vectors::bytes("/envelope/envelope")).unwrap();
    assert_eq!(opened.author, vectors::device("a").keys().signing);
    assert_eq!(opened.sequence, 7);
    assert_eq!(opened.timestamp_ms, 1_790_812_800_000);
    assert_eq!(opened.tag, MessageTag::Sync);
    assert_eq!(opened.body, b"hello");
    assert_eq!(
        opened.message_id().to_text(),
        vectors::text("/envelope/message_id")
    );
}

#[test]
fn the_longest_body_has_the_published_sizes() {
    let body = vec![0x5a; BODY_BYTES_MAX];
    let envelope = seal_from_a(MessageTag::Sync, &body).unwrap();
    assert_eq!(envelope.len(), vectors::number("/sizes/envelope"));
    let recipient = vectors::device("b").keys().noise;
    let frame = Frame::Push {
        recipient,
        envelope: &envelope,
    }
    .encode();
    assert_eq!(frame.len(), vectors::number("/sizes/frame"));
    assert_eq!(open_as_b(&envelope).unwrap().body, body);

    let body = vec![0x5a; BODY_BYTES_MAX + 1];
    let error = seal_from_a(MessageTag::Sync, &body);
    assert_eq!(
        error,
        Err(SealError::BodyTooLarge {
            bytes: BODY_BYTES_MAX + 1
        })
    );
}

#[test]
fn what_no_receiver_accepts_is_not_sealed() {
    assert_eq!(
        seal_from_a(MessageTag::Revoke, b"x"),
        Err(SealError::RevokeWithBody)
    );
    // Everything around the body of a message without parents, for a body of this length.
    let fits = ENVELOPE_BYTES_MAX - 208;
    assert_eq!(
        seal_from_a(MessageTag::Pair, &vec![0; fits]).unwrap().len(),
        ENVELOPE_BYTES_MAX
    );
    let error = seal_from_a(MessageTag::Pair, &vec![0; fits + 1]);
    assert_eq!(error, Err(SealError::BodyTooLarge { bytes: fits + 1 }));

    let author = vectors::device("a").signing;
    let recipient = vectors::device("b").keys().noise;
    let weak = NoisePublic::from_bytes([0; 32]);
    let sealing = Sealing {
        author: &author,
        recipient: &recipient,
        sequence: SEQUENCE_MAX,
        timestamp_ms: SEQUENCE_MAX,
        tag: MessageTag::Revoke,
        body: &[],
    };
    let seal = |sealing: Sealing<'_>| seal(&sealing, &mut Given::new(EPHEMERAL));
    let opened = open_as_b(&seal(sealing).unwrap()).unwrap();
    assert_eq!(
        (opened.sequence, opened.timestamp_ms),
        (SEQUENCE_MAX, SEQUENCE_MAX)
    );
    let too_high = Sealing {
        sequence: SEQUENCE_MAX + 1,
        ..sealing
    };
    assert_eq!(seal(too_high), Err(SealError::Sequence));
    let too_late = Sealing {
        timestamp_ms: SEQUENCE_MAX + 1,
        ..sealing
    };
    assert_eq!(seal(too_late), Err(SealError::Timestamp));
    assert_eq!(
        seal(Sealing {
            recipient: &weak,
            ..sealing
        }),
        Err(SealError::WeakRecipient)
    );
}

/// Seals a plaintext that the sealing function would never make, properly signed.
fn crafted(signed: &[u8]) -> Vec<u8> {
    let ephemeral = vectors::noise_secret(EPHEMERAL);
    let recipient = vectors::device("b").keys().noise;
    let context = context(&ephemeral.public(), &recipient);
    let signature = vectors::device("a")
        .signing
        .sign(&sealed::signing_input(&context, signed));
    let plaintext = [signed, &signature].concat();
    let shared = ephemeral.agree(&recipient).unwrap();
    let payload = Payload {
        msg: &plaintext,
        aad: &aad(&context),
    };
    let ciphertext = cipher(&shared, &context)
        .encrypt(&Nonce::default(), payload)
        .unwrap();
    wire::encode(&recipient, &ephemeral.public(), ciphertext)
}

fn signed_part(sequence: u64, timestamp_ms: u64, parents: u8, tag: u8, body: &[u8]) -> Vec<u8> {
    let mut signed = vectors::device("a").keys().signing.as_bytes().to_vec();
    signed.extend_from_slice(&sequence.to_be_bytes());
    signed.extend_from_slice(&timestamp_ms.to_be_bytes());
    signed.push(parents);
    signed.extend(core::iter::repeat_n(0xdd, usize::from(parents) * 32));
    signed.push(tag);
    signed.extend_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
    signed.extend_from_slice(body);
    signed
}

#[test]
fn signed_nonsense_is_refused_with_its_reason() {
    let open = |signed: &[u8]| open_as_b(&crafted(signed));
    let eight = u8::try_from(PARENTS_MAX).unwrap();
    assert_eq!(
        open(&signed_part(7, 1, eight, 2, b"hi")).unwrap().body,
        b"hi"
    );
    let too_many = open(&signed_part(7, 1, eight + 1, 2, b"hi"));
    assert_eq!(too_many, Err(OpenError::Parents { parents: 9 }));
    for tag in [0, 5, 0xff] {
        assert_eq!(
            open(&signed_part(7, 1, 0, tag, b"")),
            Err(OpenError::UnknownTag { tag })
        );
    }
    assert_eq!(
        open(&signed_part(1 << 63, 1, 0, 2, b"")),
        Err(OpenError::Sequence)
    );
    assert_eq!(
        open(&signed_part(1, 1 << 63, 0, 2, b"")),
        Err(OpenError::Timestamp)
    );
    assert_eq!(
        open(&signed_part(1, 1, 0, 3, b"x")),
        Err(OpenError::Body { bytes: 1 })
    );
    let long = vec![0; BODY_BYTES_MAX + 1];
    let bytes = long.len();
    assert_eq!(
        open(&signed_part(1, 1, 0, 2, &long)),
        Err(OpenError::Body { bytes })
    );

    let mut trailing = signed_part(7, 1, 0, 2, b"hi");
    trailing.push(0);
    assert!(matches!(open(&trailing), Err(OpenError::Layout { .. })));
    let mut missing = signed_part(7, 1, 0, 2, b"hi");
    missing.pop();
    assert!(matches!(open(&missing), Err(OpenError::Layout { .. })));
    assert!(matches!(open(&[]), Err(OpenError::Layout { .. })));
}

#[test]
fn an_envelope_for_another_device_is_not_opened() {
    let envelope = current(&vectors::bytes("/envelope/envelope"));
    let a = vectors::device("a").noise;
    assert_eq!(envelope.open(&a), Err(OpenError::OtherRecipient));
    // Addressed anew to A by whoever holds the relay: the ciphertext is bound to B.
    let readdressed = SealedEnvelope {
        recipient: a.public(),
        ..envelope.clone()
    };
    assert_eq!(readdressed.open(&a), Err(OpenError::Decryption));
    let swapped = SealedEnvelope {
        ephemeral: a.public(),
        ..envelope.clone()
    };
    assert_eq!(
        swapped.open(&vectors::device("b").noise),
        Err(OpenError::Decryption)
    );
    let weak = SealedEnvelope {
        ephemeral: NoisePublic::from_bytes([0; 32]),
        ..envelope
    };
    assert_eq!(
        weak.open(&vectors::device("b").noise),
        Err(OpenError::WeakEphemeral)
    );
}

#[test]
fn two_copies_share_the_version_and_the_recipient_and_nothing_else() {
    let (author, b) = (vectors::device("a").signing, vectors::device("b"));
    let friend = vectors::noise_secret("/inputs/nk_relay_ephemeral_private").public();
    let copy = |recipient: &NoisePublic, ephemeral: &'static str| {
        let sealing = Sealing {
            author: &author,
            recipient,
            sequence: 7,
            timestamp_ms: 1_790_812_800_000,
            tag: MessageTag::Sync,
            body: &[0; 500],
        };
        seal(&sealing, &mut Given::new(ephemeral)).unwrap()
    };
    let own = b.keys().noise;
    let first = copy(&own, EPHEMERAL);
    let again = copy(&own, "/inputs/nk_client_ephemeral_private");
    let other = copy(&friend, "/inputs/xx_client_ephemeral_private");
    let head = 38;
    assert_eq!(first[..head], again[..head], "recipient and version");
    assert_ne!(first[..head], other[..head]);
    let windows =
        |bytes: &[u8]| -> BTreeSet<Vec<u8>> { bytes.windows(4).map(<[u8]>::to_vec).collect() };
    let of_first = windows(&first[head..]);
    assert!(of_first.is_disjoint(&windows(&again[head..])));
    assert!(of_first.is_disjoint(&windows(&other[head..])));
    let of_author = windows(author.public().as_bytes());
    for envelope in [first, again, other] {
        assert!(of_author.is_disjoint(&windows(&envelope)), "no sender");
    }
}

#[test]
fn a_recipient_cannot_pass_a_message_on_as_the_author() {
    // B opens A's message and seals the signed bytes again for A's other friend.
    let plaintext = vectors::bytes("/envelope/sealed_plaintext");
    let ephemeral = vectors::noise_secret("/inputs/nk_client_ephemeral_private");
    let friend = vectors::noise_secret("/inputs/nk_relay_ephemeral_private");
    let context = context(&ephemeral.public(), &friend.public());
    let shared = ephemeral.agree(&friend.public()).unwrap();
    let payload = Payload {
        msg: &plaintext,
        aad: &aad(&context),
    };
    let ciphertext = cipher(&shared, &context)
        .encrypt(&Nonce::default(), payload)
        .unwrap();
    let envelope = wire::encode(&friend.public(), &ephemeral.public(), ciphertext);
    assert_eq!(current(&envelope).open(&friend), Err(OpenError::Signature));
}

#[test]
fn a_signature_under_a_weak_key_is_refused() {
    // The identity point verifies anything in lax implementations.
    let mut signed = vec![1];
    signed.resize(32, 0);
    signed.extend_from_slice(&signed_part(7, 1, 0, 2, b"hi").split_off(32));
    assert_eq!(open_as_b(&crafted(&signed)), Err(OpenError::Signature));
}

#[test]
fn versions_are_told_apart_before_anything_else() {
    let version = |number: u64| {
        let mut bytes = vec![0x38];
        prost::encoding::encode_varint(number, &mut bytes);
        bytes
    };
    assert_eq!(
        Received::decode(&version(2)),
        Ok(Received::Newer { version: 2 })
    );
    assert_eq!(
        Received::decode(&version(65_536)),
        Ok(Received::Newer { version: 65_536 })
    );
    assert_eq!(Received::decode(&version(0)), Ok(Received::Older));
    assert_eq!(Received::decode(&[]), Ok(Received::Older));
    // The earlier format: its sequence in field 1, a signature in field 5.
    assert_eq!(
        Received::decode(&[0x08, 0x07, 0x2a, 0x01, 0xff]),
        Ok(Received::Older)
    );
    assert_eq!(
        Received::decode(&version(1)),
        Err(EnvelopeError::KeyLength { bytes: 0 })
    );
    // Field 3 as a number: another version's business, but not version 1.
    let recipient_as_number = [0x18, 0x05];
    let newer = [recipient_as_number.as_slice(), &version(9)].concat();
    assert_eq!(Received::decode(&newer), Ok(Received::Newer { version: 9 }));
    let now = [recipient_as_number.as_slice(), &version(1)].concat();
    assert_eq!(Received::decode(&now), Err(EnvelopeError::Protobuf));
    assert_eq!(Received::decode(&[0x38]), Err(EnvelopeError::Protobuf));
}

#[test]
fn unknown_fields_are_passed_over_and_the_last_value_counts() {
    let envelope = vectors::bytes("/envelope/envelope");
    // Field 2 with three bytes, field 6 with a number, then an earlier wrong recipient.
    let prefix = [
        &[0x12, 3, 1, 2, 3, 0x30, 0x2a, 0x1a, 1, 0x00][..],
        &envelope,
    ]
    .concat();
    assert_eq!(open_as_b(&prefix).unwrap().body, b"hello");
}

#[test]
fn nothing_of_a_message_is_printed() {
    let envelope = vectors::bytes("/envelope/envelope");
    let opened = open_as_b(&envelope).unwrap();
    assert_eq!(format!("{opened:?}"), "OpenedEnvelope { tag: Sync, .. }");
    assert_eq!(format!("{:?}", current(&envelope)), "SealedEnvelope");
}
