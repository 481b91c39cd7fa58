//! Words that no log may contain.
//!
//! A test plants canaries (message texts, device names, group names) and hands over what
//! identifies somebody (keys, tokens, addresses); the logs are then searched for each of
//! them, and for shapes that look like an address or a key whoever planted it.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The longest run of hexadecimal digits that a log may hold.
const HEX_RUN_MAX: usize = 31;
/// The longest run of base64url characters that a log may hold.
const BASE64_RUN_MAX: usize = 39;

/// What was found where it must not be.
#[derive(Debug, PartialEq, Eq)]
pub struct Leak {
    /// The line of the log, counted from 1.
    pub line: usize,
    /// Which kind of thing it is.
    pub kind: &'static str,
    /// The line itself, for the person who reads the failed test.
    pub text: String,
}

/// Planted words, and the search for them.
#[derive(Debug, Default)]
pub struct LogCanary {
    planted: Vec<String>,
}

impl LogCanary {
    /// Plants words. One of fewer than six characters would be found by chance.
    ///
    /// # Panics
    ///
    /// When a word is that short.
    pub fn plant<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        for word in words {
            assert!(
                word.len() >= 6,
                "a canary of {} characters is found by chance",
                word.len()
            );
            self.planted.push(word.to_owned());
        }
    }

    /// Everything in `log` that must not be there.
    #[must_use]
    pub fn leaks(&self, log: &str) -> Vec<Leak> {
        log.lines()
            .enumerate()
            .filter_map(|(index, line)| {
                let kind = self.leak_of(line)?;
                Some(Leak {
                    line: index + 1,
                    kind,
                    text: line.to_owned(),
                })
            })
            .collect()
    }

    fn leak_of(&self, line: &str) -> Option<&'static str> {
        if self.planted.iter().any(|word| line.contains(word.as_str())) {
            return Some("a planted word");
        }
        if runs(line, |c| c.is_ascii_hexdigit()).any(|run| run.len() > HEX_RUN_MAX) {
            return Some("a long run of hexadecimal digits");
        }
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+');
        if runs(line, is_base64).any(is_keylike) {
            return Some("a long run of base64");
        }
        let is_address = |c: char| c.is_ascii_digit() || c == '.';
        if runs(line, is_address).any(|run| run.parse::<Ipv4Addr>().is_ok()) {
            return Some("a network address");
        }
        // Whole words only, or the middle of `outer_e::c` is an address.
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '.');
        runs(line, is_word)
            .any(|run| run.len() > 2 && run.parse::<Ipv6Addr>().is_ok())
            .then_some("a network address")
    }
}

/// Long, and mixed as keys are: a long lower-case module path is no key.
fn is_keylike(run: &str) -> bool {
    run.len() > BASE64_RUN_MAX
        && run.chars().any(|c| c.is_ascii_uppercase())
        && run.chars().any(|c| c.is_ascii_digit())
}

fn runs(line: &str, belongs: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    line.split(move |c| !belongs(c))
        .filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_planted_and_what_looks_like_a_key_or_an_address() {
        let mut canary = LogCanary::default();
        canary.plant(["the heron flies at dawn"]);
        let key = "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13";
        let member = "oJql9HpnWYAv-VX43C0qFKXJnSO-l_hkEn_5ODRVpPA";
        let log = format!(
            "all is well\nsent: the heron flies at dawn\nkey {key}\nid={member}\n\
             peer=192.168.1.7:7700\npeer=[fe80::1]:7701\n"
        );
        let kinds: Vec<_> = canary.leaks(&log).iter().map(|leak| leak.kind).collect();
        assert_eq!(
            kinds,
            [
                "a planted word",
                "a long run of hexadecimal digits",
                "a long run of base64",
                "a network address",
                "a network address",
            ]
        );
    }

    #[test]
    fn passes_what_an_honest_log_holds() {
        let log = "2026-11-30T02:30:12.123456Z  INFO session{conn=17}: \
                   sealpost_engine::core::outbox::push_attempt: attempts=3 bytes=512\n\
                   relay started version 0.1.0\n";
        assert_eq!(LogCanary::default().leaks(log), []);
    }
}
