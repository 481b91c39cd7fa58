//! What a command says about inviting and joining.

use super::{Report, devices, with_reason};
use crate::terminal_text::one_line;

/// What a person reads; nothing for what is no report of pairing.
pub(super) fn text(report: &Report) -> String {
    match report {
        Report::CompareCode { name, code, .. } => {
            format!("{code}  {}: the same on its screen", one_line(name))
        }
        Report::Invitation { link, seconds, .. } => {
            format!("Invitation, good for {}:\n\n{link}\n", lasting(*seconds))
        }
        Report::InvitationCancelled => "The invitation is cancelled.".to_owned(),
        Report::JoinRequest {
            name,
            words,
            looks_like,
        } => request_text(name, words, looks_like.as_deref()),
        Report::StaleRequest { name, reason } => stale_text(name, reason),
        Report::AdmissionDropped { name, reason } => dropped_text(name, reason),
        Report::Accepted { name, delivered } => accepted_text(name, *delivered),
        Report::Dismissed { name } => format!("{} was dismissed.", one_line(name)),
        Report::Relay {
            host,
            receive_port,
            push_port,
            fingerprint,
        } => {
            format!("Relay: {host}, ports {receive_port} and {push_port}, key {fingerprint}")
        }
        Report::Words { words } => words_text(words),
        Report::Pending { on_relay, .. } => pending_text(*on_relay).to_owned(),
        Report::JoinProgress { state, reason, .. } => progress_text(state, *reason),
        Report::Joined { members, .. } => {
            format!(
                "This device is in the group, together with {}.",
                devices(*members)
            )
        }
        Report::Cancelled { .. } => "The join is given up.".to_owned(),
        _ => String::new(),
    }
}

fn lasting(seconds: u64) -> String {
    match seconds {
        1 => "1 second".to_owned(),
        60 => "1 minute".to_owned(),
        _ if seconds.is_multiple_of(60) => format!("{} minutes", seconds / 60),
        _ => format!("{seconds} seconds"),
    }
}

fn request_text(name: &str, words: &[String; 4], looks_like: Option<&str>) -> String {
    let warning = looks_like.map_or_else(String::new, |member| {
        format!(
            "\nCareful: its name looks like that of {}, which is in the group already. Only the \
             words tell which device this is.",
            one_line(member)
        )
    });
    format!(
        "{} asks to join.\n{}{warning}",
        one_line(name),
        words_text(words)
    )
}

fn stale_text(name: &str, reason: &str) -> String {
    let name = one_line(name);
    let why = if reason == "accepted" {
        "which has let another device in"
    } else {
        "which is closed"
    };
    format!(
        "{name} asked with an earlier invitation, {why}. It waits in vain: give it a new one \
         with `sealpost pair`."
    )
}

fn dropped_text(name: &str, reason: &str) -> String {
    let name = one_line(name);
    let why = if reason == "groupFull" {
        "others were let in at the same time, and the group is full"
    } else {
        "it was removed meanwhile"
    };
    format!("{name} is not in the group after all: {why}.")
}

fn progress_text(state: &str, reason: Option<&str>) -> String {
    match state {
        "queued" => with_reason(
            "The request waits here until the relay takes it, and is tried again",
            "relay",
            reason.or(Some("not reached yet")),
        ),
        "sending" => "The request is on its way to the relay.".to_owned(),
        "on_relay" => "The request is on the relay. Waiting for somebody to accept it on the \
                       other device. Nobody is asked any more once the invitation is closed: \
                       then ask for a new one and run `sealpost join` with it."
            .to_owned(),
        "admitted" => "The other device has let this one in.".to_owned(),
        _ => "The relay refused the request.".to_owned(),
    }
}

fn words_text(words: &[String; 4]) -> String {
    format!("Words: {}", words.join(" "))
}

pub(super) fn accepted_text(name: &str, delivered: bool) -> String {
    let name = one_line(name);
    if delivered {
        format!("{name} is in the group.")
    } else {
        format!(
            "{name} is in the group, but the relay doesn't have the news for it yet. It goes \
             out with the next `sealpost tail` or `sealpost send` that reaches the relay."
        )
    }
}

pub(super) const fn pending_text(on_relay: bool) -> &'static str {
    if on_relay {
        "The request is on the relay and waits to be accepted. `sealpost join` goes on with it."
    } else {
        "The request is stored here, but the relay doesn't have it yet. It goes out while \
         `sealpost join` runs and reaches the relay."
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_state_of_a_join_has_a_text_of_its_own_without_its_code() {
        let states = ["queued", "sending", "on_relay", "admitted", "refused"];
        let texts: BTreeSet<_> = states.map(|state| progress_text(state, None)).into();
        assert_eq!(texts.len(), states.len());
        assert!(texts.iter().all(|text| !text.contains('_')), "{texts:?}");
        assert!(progress_text("queued", Some("refused")).ends_with("relay, refused"));
    }

    #[test]
    fn names_from_outside_are_safe_in_every_text_that_has_one() {
        let name = "Am\u{202e}ber\u{1b}[2J";
        let words = ["a", "b", "c", "d"].map(str::to_owned);
        for text in [
            request_text(name, &words, Some(name)),
            stale_text(name, "accepted"),
            stale_text(name, "closed"),
            dropped_text(name, "groupFull"),
            dropped_text(name, "removed"),
            accepted_text(name, true),
            accepted_text(name, false),
        ] {
            assert!(!text.contains(['\u{202e}', '\u{1b}']), "{text}");
            assert!(text.contains("Am"), "{text}");
        }
        assert!(request_text("B", &words, None).ends_with("a b c d"));
        assert!(request_text("B", &words, Some("C")).contains("looks like that of C"));
    }

    #[test]
    fn a_time_is_told_as_people_say_it() {
        let told = [1, 59, 60, 90, 600].map(lasting);
        assert_eq!(
            told,
            [
                "1 second",
                "59 seconds",
                "1 minute",
                "90 seconds",
                "10 minutes"
            ]
        );
    }
}
