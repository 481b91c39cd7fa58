//! For tests: the golden vectors of `tests/vectors/paired-mailbox.json`.

use serde_json::Value;

use super::key::{LinkId, LinkKey, LinkKeys};

const FILE: &str = include_str!("../../tests/vectors/paired-mailbox.json");

fn value(pointer: &str) -> Value {
    let file: Value = serde_json::from_str(FILE).expect("the vectors are JSON");
    file.pointer(pointer)
        .unwrap_or_else(|| panic!("no vector {pointer}"))
        .clone()
}

/// The text at a place.
pub(super) fn text(pointer: &str) -> String {
    value(pointer).as_str().expect("a text").to_owned()
}

/// The number at a place.
pub(super) fn number(pointer: &str) -> u64 {
    value(pointer).as_u64().expect("a number")
}

/// The bytes at a place.
pub(super) fn bytes(pointer: &str) -> Vec<u8> {
    hex::decode(text(pointer)).expect("hex")
}

/// The bytes at a place, of a length known beforehand.
pub(super) fn array<const N: usize>(pointer: &str) -> [u8; N] {
    bytes(pointer).try_into().expect("the right length")
}

/// The key of the vectors.
pub(super) fn key() -> LinkKey {
    LinkKey::from_bytes(array("/link_key"))
}

/// The id of the vectors.
pub(super) fn id() -> LinkId {
    LinkId::from_bytes(array("/link_id"))
}

/// What follows from both.
pub(super) fn keys() -> LinkKeys {
    LinkKeys::derive(&key(), &id())
}
