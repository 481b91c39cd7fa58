//! `make bench-membership`: what one admission into a quiet group costs, beside the published
//! rule: manifests pushed and the bytes of their Envelopes. Counts, not times; always the same.

use sealpost_tests::membership_simulation::{Admission, Rule, Traffic};
use sealpost_tests::terminal::say;

fn main() {
    let admissions = [
        ("into 3", Admission::New(3)),
        ("into 9", Admission::New(9)),
        ("into 17", Admission::New(17)),
        ("into 32", Admission::New(32)),
        ("into 32, after 16 removals", Admission::Old),
    ];
    say("one admission               published          engine             factor");
    for (title, admission) in admissions {
        let published = Traffic::of(admission, Rule::Published);
        let engine = Traffic::of(admission, Rule::Product);
        say(&format!(
            "{title:<27} {:>3} blobs {:>5.1} kB  {:>3} blobs {:>5.1} kB  {:.2}x, bytes {:.2}x",
            published.blobs,
            kilobytes(published),
            engine.blobs,
            kilobytes(engine),
            engine.blobs as f64 / published.blobs as f64,
            engine.bytes as f64 / published.bytes as f64,
        ));
    }
}

fn kilobytes(traffic: Traffic) -> f64 {
    traffic.bytes as f64 / 1_000.0
}
