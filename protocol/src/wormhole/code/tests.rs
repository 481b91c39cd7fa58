//! Tests of codes and of the word list.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rand_core::SeedableRng as _;
use sha2::{Digest as _, Sha256};

use super::words::WORDS;
use super::*;

fn plate(text: &str) -> Nameplate {
    Nameplate::parse(text).unwrap()
}

fn start(word: &str) -> &str {
    word.get(..4).unwrap()
}

#[test]
fn the_words_are_told_apart_by_their_first_four_letters_and_never_change() {
    assert!(WORDS.is_sorted_by(|a, b| a < b));
    let starts: BTreeSet<_> = WORDS.iter().map(|word| start(word)).collect();
    assert_eq!(starts.len(), WORDS.len());
    assert_eq!(WORDS.len(), 1 << WORD_BITS);
    for word in WORDS {
        assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
        assert!((4..=8).contains(&word.len()), "{word}");
    }
    assert_eq!(
        hex::encode(Sha256::digest(WORDS.join("\n"))),
        "6cd9708f346c7700a85f7b45402ac784eae0b8e4ff36d3e2926824bd47f4a167"
    );
}

#[test]
fn a_made_code_is_read_back_both_ways() {
    let mut rng = rand_chacha::ChaCha20Rng::from_seed([3; 32]);
    let mut seen = BTreeSet::new();
    for number in 1..200 {
        let code = WormholeCode::generate(plate(&number.to_string()), &mut rng);
        let text = code.to_text();
        assert_eq!(WormholeCode::parse(&text).unwrap(), code);
        let typed = WormholeCode::read_typed(&text).unwrap();
        assert_eq!(typed.code, code);
        assert!(typed.corrected.is_empty());
        assert_eq!(text.split('-').count(), 1 + WORMHOLE_CODE_WORDS);
        assert!(seen.insert(text.split_once('-').unwrap().1.to_owned()));
    }
}

#[test]
fn a_code_is_read_as_people_type_it() {
    let code = WormholeCode::parse("7-abbey-cabin-bamboo");
    let code = code.unwrap();
    for (typed, corrected) in [
        ("7-abbey-cabin-bamboo", vec![]),
        ("  7 Abbey CABIN  bamboo\n", vec![]),
        ("7\u{2013}abbey\u{2011}cabin, bamboo.", vec![]),
        ("7-abbey-cabin-bamb", vec![2]),
        ("7 abey cabin bambo", vec![0, 2]),
        ("7 babey cabni bamboo", vec![0, 1]),
    ] {
        let read = WormholeCode::read_typed(typed).unwrap();
        assert_eq!(read.code, code, "{typed}");
        assert_eq!(read.corrected, corrected, "{typed}");
    }
}

#[test]
fn each_part_that_is_wrong_is_named() {
    use CodeError as E;
    for (text, error) in [
        ("", E::Empty),
        (" \n", E::Empty),
        ("abbey-cabin-bamboo", E::Nameplate),
        ("٧-abbey", E::Nameplate),
        ("-abbey", E::Nameplate),
        ("7", E::NoWords),
        ("7-", E::NoWords),
        ("7-abbey cabin", E::Blanks),
    ] {
        assert_eq!(WormholeCode::parse(text), Err(error), "{text}");
    }
    let long = format!("7-{}", "a".repeat(300));
    assert_eq!(WormholeCode::parse(&long), Err(E::TooLong));
    let digits = format!("{}-abbey", "7".repeat(41));
    assert_eq!(WormholeCode::parse(&digits), Err(E::Nameplate));
    for (text, error) in [
        ("--", E::Empty),
        ("abbey-cabin-bamboo", E::Nameplate),
        ("7--", E::NoWords),
        ("7-abbey-cabin", E::WordCount { found: 2 }),
        ("7-abbey-cabin-abbey-cabin", E::WordCount { found: 4 }),
    ] {
        assert_eq!(WormholeCode::read_typed(text), Err(error), "{text}");
    }
    let wrong = WormholeCode::read_typed("7-abbey-qqqqq-bamboo");
    let near = Vec::new();
    assert_eq!(wrong, Err(E::Word { place: 1, near }));
}

#[test]
fn words_are_completed_from_what_was_typed_so_far() {
    assert_eq!(completions("Abb", 5), ["abbey"]);
    assert_eq!(completions("", 3).len(), 3);
    assert!(completions("zzz", 3).is_empty());
    for word in WORDS {
        assert_eq!(completions(start(word), 5), [word]);
    }
}

#[test]
fn two_ways_to_write_a_letter_are_one_code() {
    let (composed, decomposed) = ("4-\u{e9}t\u{e9}", "4-e\u{301}te\u{301}");
    assert_ne!(composed, decomposed);
    let read = |text| WormholeCode::parse(text).unwrap().to_text();
    assert_eq!(read(composed), read(decomposed));
}

#[test]
fn nothing_is_printed() {
    let code = WormholeCode::parse("7-abbey-cabin").unwrap();
    assert_eq!(
        format!("{code:?} {:?}", code.nameplate()),
        "WormholeCode Nameplate"
    );
    let error = WormholeCode::read_typed("7-abbey-qqseckqq-bamboo").unwrap_err();
    assert!(!error.to_string().contains("seck"));
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in ".{0,40}") {
        let _ = WormholeCode::parse(&text);
        let _ = WormholeCode::read_typed(&text);
        let _ = completions(&text, 3);
    }
}
