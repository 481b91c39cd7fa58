use proptest::prelude::*;
use rand_core::OsRng;

use super::*;
use crate::link::vectors;
use crate::vectors::Given;

const AT: u64 = 7;

fn sealed(payload: &[u8]) -> Vec<u8> {
    seal(&vectors::keys(), Direction::AToB, AT, payload, &mut OsRng).unwrap()
}

fn opened(bytes: &[u8]) -> Result<OpenedLinkEnvelope, OpenError> {
    open(&vectors::keys(), Direction::AToB, AT, None, bytes)
}

/// Seals any padded plaintext, as no honest device does.
fn sealed_as_is(padded: &[u8]) -> Vec<u8> {
    let (keys, nonce) = (vectors::keys(), [9; NONCE_BYTES]);
    let header = header(AT);
    let sealed = Sealed {
        msg: padded,
        aad: &associated_data(&keys, Direction::AToB, &header),
    };
    let ciphertext = cipher(&keys, Direction::AToB)
        .encrypt(XNonce::from_slice(&nonce), sealed)
        .unwrap();
    [header.as_slice(), &nonce, &ciphertext].concat()
}

#[test]
fn the_vectors_are_met() {
    for (at, direction) in [(0, Direction::AToB), (1, Direction::BToA)] {
        let place = |field: &str| format!("/envelopes/{at}/{field}");
        let mut nonce = Given::from_bytes(vectors::bytes(&place("nonce")));
        let sequence = vectors::number(&place("sequence"));
        let payload = vectors::text(&place("plaintext_utf8"));
        assert_eq!(direction.as_str(), vectors::text(&place("direction")));
        let keys = vectors::keys();
        let bytes = seal(&keys, direction, sequence, payload.as_bytes(), &mut nonce).unwrap();
        let hash = <sha2::Sha256 as sha2::Digest>::digest(&bytes);
        assert_eq!(hash.as_slice(), vectors::bytes(&place("envelope_sha256")));
        assert_eq!(bytes.len() as u64, vectors::number(&place("length")));
        if at == 0 {
            assert_eq!(bytes, vectors::bytes(&place("envelope")));
        }
        let opened = open(&keys, direction, sequence, None, &bytes).unwrap();
        assert_eq!(
            (opened.sequence, opened.payload),
            (sequence, payload.into())
        );
    }
}

#[test]
fn every_flipped_bit_of_every_byte_is_refused() {
    let good = sealed(b"hello");
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            let expected = match at {
                0 => OpenError::Version(bytes[0]),
                1 => OpenError::Malformed,
                // Above 2^53-1 it is no number of a slot; below, it is another slot's.
                2 => OpenError::Malformed,
                3 if bit >= 5 => OpenError::Malformed,
                3..HEADER_BYTES => OpenError::SlotMismatch,
                _ => OpenError::Forged,
            };
            assert_eq!(opened(&bytes), Err(expected), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn a_changed_header_is_refused_in_the_slot_that_it_names() {
    let good = sealed(b"hello");
    for at in 3..HEADER_BYTES {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        let slot = u64::from_be_bytes(bytes[2..HEADER_BYTES].try_into().unwrap());
        let answer = open(&vectors::keys(), Direction::AToB, slot, None, &bytes);
        assert_eq!(answer, Err(OpenError::Forged), "byte {at}");
    }
}

#[test]
fn another_direction_mailbox_or_slot_is_refused() {
    let bytes = sealed(b"hello");
    let keys = vectors::keys();
    let reflected = open(&keys, Direction::BToA, AT, None, &bytes);
    assert_eq!(reflected, Err(OpenError::Forged));
    let moved = open(&keys, Direction::AToB, AT + 1, None, &bytes);
    assert_eq!(moved, Err(OpenError::SlotMismatch));
    let other = crate::link::key::LinkId::from_bytes([0; 16]);
    let foreign = LinkKeys::derive(&vectors::key(), &other);
    let answer = open(&foreign, Direction::AToB, AT, None, &bytes);
    assert_eq!(answer, Err(OpenError::Forged));
}

#[test]
fn a_mailbox_is_bound_even_under_one_key() {
    // Two directions under one key: what the associated data alone keeps apart.
    let bytes = sealed(b"hello");
    let parts = Parts::read(&bytes).unwrap();
    let keys = vectors::keys();
    let aad = associated_data(&keys, Direction::BToA, &parts.header);
    let sealed = Sealed {
        msg: parts.ciphertext,
        aad: &aad,
    };
    let cipher = cipher(&keys, Direction::AToB);
    assert!(
        cipher
            .decrypt(XNonce::from_slice(&parts.nonce), sealed)
            .is_err()
    );
    assert!(aad.ends_with(&bytes[..HEADER_BYTES]));
    assert!(aad.starts_with(b"paired-mailbox/1 envelope\0\xa1\x98\x41"));
}

#[test]
fn the_replay_check_is_strict_and_comes_last() {
    let bytes = sealed(b"hello");
    let after = |after| open(&vectors::keys(), Direction::AToB, AT, after, &bytes);
    for passes in [None, Some(0), Some(AT - 1)] {
        assert_eq!(after(passes).unwrap().sequence, AT);
    }
    for stale in [AT, AT + 1, u64::MAX] {
        let payload = b"hello".to_vec();
        assert_eq!(
            after(Some(stale)),
            Err(OpenError::Stale {
                sequence: AT,
                payload
            })
        );
    }
    let mut forged = bytes.clone();
    forged[100] ^= 1;
    let answer = open(&vectors::keys(), Direction::AToB, AT, Some(AT), &forged);
    assert_eq!(answer, Err(OpenError::Forged));
}

#[test]
fn the_longest_payload_fits_and_one_byte_more_does_not() {
    let longest = vec![7; 65_279];
    let bytes = sealed(&longest);
    assert_eq!(bytes.len(), 50 + 255 * 256);
    assert!(bytes.len() <= LINK_ENVELOPE_BYTES_MAX);
    assert_eq!(opened(&bytes).unwrap().payload, longest);
    let too_long = seal(
        &vectors::keys(),
        Direction::AToB,
        AT,
        &[7; 65_280],
        &mut OsRng,
    );
    assert_eq!(too_long, Err(SealError::TooLong { bytes: 65_280 }));
}

#[test]
fn lengths_say_only_the_multiple_of_the_padding() {
    for (payload, length) in [(0, 306), (255, 306), (256, 562), (511, 562), (512, 818)] {
        let bytes = sealed(&vec![0; payload]);
        assert_eq!(bytes.len(), length);
        assert_eq!(opened(&bytes).unwrap().payload, vec![0; payload]);
    }
}

#[test]
fn wrong_lengths_are_malformed() {
    let good = sealed(&[1; 300]);
    for length in (0..good.len()).filter(|length| *length != 306) {
        assert_eq!(opened(&good[..length]), Err(OpenError::Malformed));
    }
    // The right length for an envelope, but cut off.
    assert_eq!(opened(&good[..306]), Err(OpenError::Forged));
    let longer = [good.as_slice(), &[0]].concat();
    assert_eq!(opened(&longer), Err(OpenError::Malformed));
    assert_eq!(opened(&vec![1; 50 + 256 * 256]), Err(OpenError::Malformed));
}

#[test]
fn wrong_padding_is_malformed() {
    let mut no_mark = [0; 256];
    assert_eq!(opened(&sealed_as_is(&no_mark)), Err(OpenError::Malformed));
    no_mark[10] = 0x01;
    assert_eq!(opened(&sealed_as_is(&no_mark)), Err(OpenError::Malformed));
    let mut late = [0; 256];
    late[10] = PADDING_MARK;
    late[255] = 0x01;
    assert_eq!(opened(&sealed_as_is(&late)), Err(OpenError::Malformed));
    let mut more = [0; 512];
    more[3] = PADDING_MARK;
    assert_eq!(opened(&sealed_as_is(&more)).unwrap().payload, [0; 3]);
}

#[test]
fn sequences_out_of_range_are_neither_sealed_nor_opened() {
    for sequence in [0, LINK_SEQUENCE_MAX + 1, u64::MAX] {
        let answer = seal(&vectors::keys(), Direction::AToB, sequence, b"", &mut OsRng);
        assert_eq!(answer, Err(SealError::Sequence));
        let mut bytes = sealed(b"");
        bytes[2..HEADER_BYTES].copy_from_slice(&sequence.to_be_bytes());
        let answer = open(&vectors::keys(), Direction::AToB, sequence, None, &bytes);
        assert_eq!(answer, Err(OpenError::Malformed));
    }
    let keys = vectors::keys();
    let last = seal(&keys, Direction::AToB, LINK_SEQUENCE_MAX, b"", &mut OsRng).unwrap();
    let opened = open(&keys, Direction::AToB, LINK_SEQUENCE_MAX, Some(7), &last).unwrap();
    assert_eq!(opened.sequence, LINK_SEQUENCE_MAX);
}

#[test]
fn the_same_payload_is_never_the_same_envelope() {
    assert_ne!(sealed(b"hello"), sealed(b"hello"));
}

#[test]
fn nothing_of_an_envelope_is_printed() {
    let stale = open(
        &vectors::keys(),
        Direction::AToB,
        AT,
        Some(AT),
        &sealed(b"secret"),
    );
    assert_eq!(format!("{stale:?}"), "Err(Stale)");
    assert_eq!(
        format!("{:?}", opened(&sealed(b"secret"))),
        "Ok(OpenedLinkEnvelope)"
    );
    assert!(!stale.unwrap_err().to_string().contains("secret"));
}

proptest! {
    #[test]
    fn whatever_is_sealed_is_opened(
        payload in prop::collection::vec(any::<u8>(), 0..2_000),
        sequence in 1..=LINK_SEQUENCE_MAX,
    ) {
        let keys = vectors::keys();
        for direction in Direction::ALL {
            let bytes = seal(&keys, direction, sequence, &payload, &mut OsRng).unwrap();
            let opened = open(&keys, direction, sequence, None, &bytes).unwrap();
            prop_assert_eq!(&opened.payload, &payload);
        }
    }

    #[test]
    fn what_strangers_write_is_never_accepted(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
        prop_assert!(opened(&bytes).is_err());
    }
}
