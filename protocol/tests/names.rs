//! Names from outside, over the whole of Unicode: what is kept, what goes, and what two names
//! have to differ in.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::Index;
use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::limit::{NAME_BYTES_MAX, NAME_MARKS_MAX};
use sealpost_protocol::name::{DeviceName, clean};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// Between two characters that are looked at where nothing or next to nothing is assigned.
const STRIDE: u32 = 251;

/// Drawn as nothing, although their category says otherwise.
const FILLERS: [char; 16] = [
    '\u{34f}',
    '\u{115f}',
    '\u{1160}',
    '\u{17b4}',
    '\u{17b5}',
    '\u{180b}',
    '\u{180f}',
    '\u{2800}',
    '\u{3164}',
    '\u{fe00}',
    '\u{fe0f}',
    '\u{ffa0}',
    '\u{fffc}',
    '\u{1d159}',
    '\u{e0100}',
    '\u{e01ef}',
];

fn owner() -> SigningPublic {
    SigningPublic::from_bytes([7; 32])
}

fn name(text: &str) -> DeviceName {
    DeviceName::clean(text, &owner())
}

/// Every character that is assigned, and some of those that are not.
fn characters() -> impl Iterator<Item = char> {
    (0..=0x0010_ffff).filter_map(char::from_u32).filter(|c| {
        let code = u32::from(*c);
        let is_sparse = (0x0004_0000..0x000e_0000).contains(&code) || code >= 0x000f_0000;
        !is_sparse || code.is_multiple_of(STRIDE)
    })
}

fn is_mark(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Mark
}

/// The characters by their category.
fn by_category() -> Vec<Vec<char>> {
    let mut found = BTreeMap::<String, Vec<char>>::new();
    for c in characters() {
        let category = format!("{:?}", c.general_category());
        found.entry(category).or_default().push(c);
    }
    found.into_values().collect()
}

/// What has to be true of every cleaned text.
fn check(cleaned: &str, raw: &str) {
    assert!(!cleaned.is_empty(), "{raw:?}");
    assert!(cleaned.len() <= NAME_BYTES_MAX, "{raw:?}");
    assert!(is_nfc(cleaned), "{raw:?}");
    assert_eq!(cleaned.trim(), cleaned, "{raw:?}");
    assert!(!cleaned.contains("  "), "{raw:?}");
    let mut marks = NAME_MARKS_MAX;
    for c in cleaned.chars() {
        assert!(c == ' ' || !c.is_whitespace(), "{raw:?}");
        assert_ne!(
            c.general_category_group(),
            GeneralCategoryGroup::Other,
            "{raw:?}"
        );
        assert!(!FILLERS.contains(&c), "{raw:?}");
        marks = match c {
            ' ' => NAME_MARKS_MAX,
            c if is_mark(c) => marks + 1,
            _ => 0,
        };
        assert!(marks <= NAME_MARKS_MAX || c == ' ', "{raw:?}");
    }
    assert_eq!(clean(cleaned).as_deref(), Some(cleaned), "{raw:?}");
}

#[test]
fn every_character_is_kept_parted_or_dropped_by_its_category() {
    let mut met = BTreeMap::<String, usize>::new();
    for c in characters() {
        let cleaned = clean(&format!("a{c}b")).expect("two letters can be seen");
        check(&cleaned, &c.to_string());
        let expected: String = match c.general_category_group() {
            _ if c.is_whitespace() => "a b".to_owned(),
            GeneralCategoryGroup::Other => "ab".to_owned(),
            _ if cleaned == "ab" => {
                // Only what is drawn as nothing may go without a trace.
                assert!(is_blank(c), "U+{:04X} is gone", u32::from(c));
                "ab".to_owned()
            }
            _ => format!("a{c}b").nfc().collect(),
        };
        assert_eq!(cleaned, expected, "U+{:04X}", u32::from(c));
        if let Some(alone) = clean(&c.to_string()) {
            check(&alone, &c.to_string());
        }
        *met.entry(format!("{:?}", c.general_category()))
            .or_default() += 1;
    }
    // All of them but the surrogates, which are no characters.
    assert_eq!(met.len(), 29, "{met:?}");
}

/// Whether a character is in one of the blocks of blank letters, marks and symbols.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
        || matches!(c, '\u{13441}' | '\u{13442}' | '\u{16fe4}')
        || FILLERS.contains(&c)
}

#[test]
fn a_name_of_blanks_alone_is_derived() {
    for c in characters().filter(|c| is_blank(*c) || c.is_whitespace()) {
        let text = c.to_string().repeat(3);
        assert_eq!(clean(&text), None, "U+{:04X}", u32::from(c));
        assert_eq!(name(&text), DeviceName::derived(&owner()));
    }
}

#[test]
fn names_that_look_alike_are_told() {
    let alike = [
        ("Anna's laptop", "annas  laptop"),
        ("Anna", "\u{410}nna"),
        ("Anna", "\u{ff21}nna"),
        ("paypal", "\u{440}\u{430}y\u{440}\u{430}l"),
        ("Zoë", "Zoe"),
        ("Office", "0ffice"),
        ("Kim", "Kirn"),
        ("Laptop", "Laptop\u{200b}"),
        ("Phone 1", "Phone l"),
        ("QuietHeron", "Quiet Heron"),
        ("desk", "d\u{435}sk"),
    ];
    for (one, other) in alike {
        assert!(name(one).looks_like(&name(other)), "{one} {other}");
        assert!(name(other).looks_like(&name(one)), "{other} {one}");
    }
    let apart = [
        ("Anna", "Anne"),
        ("Laptop 1", "Laptop 2"),
        ("🦀", "🐙"),
        ("台所", "書斎"),
        ("משרד", "בית"),
        ("!!!", "???"),
        ("Amber Otter", "Amber Heron"),
    ];
    for (one, other) in apart {
        assert!(!name(one).looks_like(&name(other)), "{one} {other}");
    }
}

fn raw_text() -> impl Strategy<Value = String> {
    let table = by_category();
    prop::collection::vec((any::<Index>(), any::<Index>()), 0..120).prop_map(move |places| {
        places
            .iter()
            .map(|(category, place)| {
                let of = &table[category.index(table.len())];
                of[place.index(of.len())]
            })
            .collect()
    })
}

/// Few letters and many marks, which is what towers are built of.
fn tower() -> impl Strategy<Value = String> {
    let marks: Vec<char> = characters().filter(|c| is_mark(*c)).collect();
    let piece = prop_oneof![
        4 => prop::sample::select(marks),
        1 => prop::sample::select(vec!['a', ' ', '\u{200d}', '\u{1100}', '\u{1161}', '🦀', '\u{feff}']),
    ];
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_comes_becomes_a_name(raw in raw_text()) {
        if let Some(cleaned) = clean(&raw) {
            check(&cleaned, &raw);
        }
        let name = name(&raw);
        check(name.as_str(), &raw);
        prop_assert!(name.looks_like(&name));
    }

    #[test]
    fn no_tower_of_marks_stands(raw in tower()) {
        if let Some(cleaned) = clean(&raw) {
            check(&cleaned, &raw);
        }
    }

    #[test]
    fn looking_alike_goes_both_ways(one in raw_text(), other in raw_text()) {
        let (one, other) = (name(&one), name(&other));
        prop_assert_eq!(one.looks_like(&other), other.looks_like(&one));
    }
}

#[test]
fn marks_are_marks_in_all_three_categories() {
    for category in [
        GeneralCategory::NonspacingMark,
        GeneralCategory::SpacingMark,
        GeneralCategory::EnclosingMark,
    ] {
        let mark = characters()
            .find(|c| c.general_category() == category && !is_blank(*c))
            .expect("there are some of each");
        let tower = format!("z{}", mark.to_string().repeat(20));
        let kept = clean(&tower).expect("there is a letter");
        assert!(
            kept.chars().filter(|c| is_mark(*c)).count() <= NAME_MARKS_MAX,
            "{category:?}"
        );
    }
}
