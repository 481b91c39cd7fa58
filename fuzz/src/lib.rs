//! What strangers can send to a relay or a link, or leave on a disk, as functions of bytes.
//!
//! Owns: one function per target, which panics when a rule is broken, and the bytes that each
//! search starts from. Never does: search. `make fuzz` runs the targets under libFuzzer, and
//! `cargo test -p sealpost-fuzz` replays `fuzz/corpus/`, so that what was found once stays
//! found.
//!
//! Invariant: a target does the same for the same bytes, whenever and wherever it runs.

mod frame;
mod handshake;
mod link;
mod prefix;
mod record;
mod seeded;
mod store_opener;
mod web_request;
mod wormhole;

/// One thing that takes bytes from outside.
pub struct Target {
    /// Its name, and that of its folder in `fuzz/corpus/`.
    pub name: &'static str,
    /// Takes any bytes and panics when a rule is broken.
    pub run: fn(&[u8]),
    /// What a search starts from: real messages, and what is known to be near them.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 8] = [
    Target {
        name: "prefix",
        run: prefix::run,
        seeds: prefix::seeds,
    },
    Target {
        name: "handshake",
        run: handshake::run,
        seeds: handshake::seeds,
    },
    Target {
        name: "frame",
        run: frame::run,
        seeds: frame::seeds,
    },
    Target {
        name: "record",
        run: record::run,
        seeds: record::seeds,
    },
    Target {
        name: "store_opener",
        run: store_opener::run,
        seeds: store_opener::seeds,
    },
    Target {
        name: "web_request",
        run: web_request::run,
        seeds: web_request::seeds,
    },
    Target {
        name: "link",
        run: link::run,
        seeds: link::seeds,
    },
    Target {
        name: "wormhole",
        run: wormhole::run,
        seeds: wormhole::seeds,
    },
];

/// The target of that name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
