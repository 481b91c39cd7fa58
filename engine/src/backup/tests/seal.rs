//! The bytes, and what becomes of those that were tampered with.

use super::super::record::{self, EndPart, Kind};
use super::super::seal::{HEAD_BYTES, Opener, PART_BYTES, PART_HEAD_BYTES, Sealer};
use super::*;
use crate::keys::passphrase::Cost;

/// So that a test takes no second for each file.
const CHEAP: Cost = Cost {
    memory_kib: 8,
    passes: 1,
    lanes: 1,
};

const WHOLE_PART: usize = PART_HEAD_BYTES + PART_BYTES + 16;

fn sealed(text: &[u8]) -> Vec<u8> {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut sealer = Sealer::start_at(CHEAP, Vec::new(), PASSPHRASE, &mut rng).unwrap();
    // In bits that don't fit the parts.
    for bit in text.chunks(10_007) {
        sealer.write(bit).unwrap();
    }
    sealer.finish().unwrap()
}

fn opened(file: &[u8], length: usize) -> Result<Vec<u8>, BackupError> {
    opened_by(PASSPHRASE, file, length)
}

fn opened_by(passphrase: &str, file: &[u8], length: usize) -> Result<Vec<u8>, BackupError> {
    let mut opener = Opener::start(file, passphrase)?;
    let mut text = vec![0; length];
    for bit in text.chunks_mut(7_001) {
        opener.read(bit)?;
    }
    opener.finish()?;
    Ok(text)
}

fn text_of(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place % 251) as u8).collect()
}

#[test]
fn the_bytes_are_those_of_the_description() {
    let mut sealer = {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        Sealer::start_at(CHEAP, Vec::new(), PASSPHRASE, &mut rng).unwrap()
    };
    record::write(&mut sealer, Kind::End(EndPart { groups: 2 })).unwrap();
    let file = sealer.finish().unwrap();
    let hex: String = file.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, GOLDEN);
    let mut opener = Opener::start(&file[..], PASSPHRASE).unwrap();
    let read = record::read(&mut opener).unwrap();
    assert!(read == Kind::End(EndPart { groups: 2 }));
    opener.finish().unwrap();
}

#[test]
fn every_length_comes_back_as_it_was() {
    for length in [
        0,
        1,
        PART_BYTES - 1,
        PART_BYTES,
        PART_BYTES + 1,
        3 * PART_BYTES,
    ] {
        let text = text_of(length);
        assert!(opened(&sealed(&text), length).unwrap() == text, "{length}");
    }
}

#[test]
fn each_way_to_tamper_has_an_error_of_its_own() {
    let length = 2 * PART_BYTES + 100;
    let file = sealed(&text_of(length));
    let part = |number: usize| {
        let begin = HEAD_BYTES + number * WHOLE_PART;
        &file[begin..file.len().min(begin + WHOLE_PART)]
    };
    let head = &file[..HEAD_BYTES];
    let outcome = |parts: &[&[u8]]| opened(&parts.concat(), length).err();
    assert_eq!(outcome(&[head, part(0), part(1), part(2)]), None);
    assert_eq!(
        outcome(&[head, part(1), part(0), part(2)]),
        Some(BackupError::Reordered)
    );
    assert_eq!(
        outcome(&[head, part(0), part(0), part(2)]),
        Some(BackupError::Reordered)
    );
    assert_eq!(
        outcome(&[head, part(0), part(2)]),
        Some(BackupError::Reordered)
    );
    assert_eq!(
        outcome(&[head, part(0), part(1)]),
        Some(BackupError::Truncated)
    );
    assert_eq!(
        outcome(&[head, part(0), part(1), part(2), b"x"]),
        Some(BackupError::Appended)
    );
    assert_eq!(
        outcome(&[head, part(0), part(1), part(2), part(2)]),
        Some(BackupError::Appended)
    );
    let other = {
        let mut rng = ChaCha20Rng::seed_from_u64(8);
        let mut sealer = Sealer::start_at(CHEAP, Vec::new(), PASSPHRASE, &mut rng).unwrap();
        sealer.write(&text_of(length)).unwrap();
        sealer.finish().unwrap()
    };
    let of_other = &other[HEAD_BYTES..HEAD_BYTES + WHOLE_PART];
    assert_eq!(
        outcome(&[head, of_other, part(1), part(2)]),
        Some(BackupError::Damaged)
    );
    let wrong = opened_by("correct horsf", &file, length).err();
    assert_eq!(wrong, Some(BackupError::WrongPassphrase));
}

#[test]
fn a_file_cut_anywhere_says_so() {
    let file = sealed(b"something");
    for length in 0..file.len() {
        let expected = if length < 8 {
            BackupError::NotABackup
        } else {
            BackupError::Truncated
        };
        assert_eq!(opened(&file[..length], 9).err(), Some(expected), "{length}");
    }
}

#[test]
fn no_changed_byte_passes() {
    let file = sealed(b"something");
    for place in 0..file.len() {
        for bit in [0x01, 0x80] {
            let mut changed = file.clone();
            changed[place] ^= bit;
            let error = opened(&changed, 9).expect_err("it was changed");
            let is_fitting = match place {
                0..8 => error == BackupError::NotABackup,
                8..10 => matches!(error, BackupError::TooNew { .. } | BackupError::Damaged),
                10..46 => error == BackupError::Damaged,
                // The proof of the key.
                46..62 => error == BackupError::WrongPassphrase,
                _ => matches!(error, BackupError::Damaged | BackupError::Truncated),
            };
            assert!(is_fitting, "{place}: {error:?}");
        }
    }
}

#[test]
fn a_newer_format_is_refused_by_both_numbers() {
    let mut file = sealed(b"something");
    file[8..10].copy_from_slice(&9_u16.to_be_bytes());
    // Whatever follows: a newer head may be a shorter one.
    for length in [10, file.len()] {
        let refused = opened(&file[..length], 9).err();
        let newer = BackupError::TooNew {
            found: 9,
            known: FORMAT,
        };
        assert_eq!(refused, Some(newer));
        assert!(newer.to_string().contains('9'));
    }
    assert_eq!(
        opened(b"%PDF-1.7 and more", 9).err(),
        Some(BackupError::NotABackup)
    );
    assert_eq!(opened(b"", 9).err(), Some(BackupError::NotABackup));
}

#[test]
fn a_planted_cost_is_refused_before_it_is_paid() {
    use sha2::Digest as _;
    let mut file = sealed(b"something");
    file[10..14].copy_from_slice(&u32::MAX.to_be_bytes());
    // With the right check: anybody can make that.
    let mut digest = sha2::Sha256::new();
    digest.update(b"sealpost backup head check v1\0");
    digest.update(&file[..38]);
    file[38..46].copy_from_slice(&digest.finalize()[..8]);
    assert_eq!(opened(&file, 9).err(), Some(BackupError::Damaged));
}

#[test]
fn a_planted_length_makes_no_memory() {
    // Of a part: refused before anything is read.
    let mut file = sealed(b"something");
    file[HEAD_BYTES + 9..HEAD_BYTES + 13].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(opened(&file, 9).err(), Some(BackupError::Damaged));
    // Of a record, by somebody who knows the passphrase.
    let file = sealed(&[0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
    let mut opener = Opener::start(&file[..], PASSPHRASE).unwrap();
    assert_eq!(record::read(&mut opener).err(), Some(BackupError::Damaged));
    // A record that the text ends in.
    let file = sealed(&[0, 0, 0, 9, 1, 2, 3]);
    let mut opener = Opener::start(&file[..], PASSPHRASE).unwrap();
    assert_eq!(record::read(&mut opener).err(), Some(BackupError::Damaged));
}

/// Magic, format, cost, salt, check, proof; then number, last, length, and the sealed record.
const GOLDEN: &str = concat!(
    "53504241434b5550",
    "0001",
    "000000080000000100000001",
    "19454a27b752f905909507d6160ddc88",
    "98d58f9345582816",
    "2da2d6ee39aa418fcb1db15ad52fbaac",
    "0000000000000000",
    "01",
    "00000018",
    "6a026bac8d6063e7f9d984a00f14a34e7cf9680fd38723df",
);
