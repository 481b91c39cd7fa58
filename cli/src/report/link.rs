//! What a command says about links to phones and other paired devices.

use serde::Serialize;

use crate::terminal_text::{lines, one_line};
use sealpost_engine::utc;

/// One thing that is said of a link. The JSON has the variant's name as `type`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum LinkReport {
    /// A link of this profile.
    Link(LinkRow),
    /// The code that the other device scans. It is a key: whoever has it can try to pair.
    LinkCode {
        link: String,
        url: String,
        expires_at_ms: u64,
        seconds: u64,
    },
    /// The relay that a code leads to, and who shows it.
    LinkRelay { relay: String, name: String },
    /// Another device has used the code.
    LinkContact { link: String },
    /// The digits that both screens show.
    LinkDigits {
        link: String,
        name: String,
        digits: String,
    },
    /// This side has confirmed; the other one hasn't come over yet.
    LinkConfirmed { link: String },
    /// The devices are paired.
    LinkPaired { link: String, name: String },
    /// The other device is called something else.
    LinkRenamed { link: String, name: String },
    /// The link is gone here; `erased` tells whether its mailbox is gone at the relay.
    LinkUnpaired {
        link: String,
        name: String,
        erased: bool,
    },
    /// The link ended by itself.
    LinkEnded {
        link: String,
        name: String,
        reason: &'static str,
    },
    /// A text is stored and on its way.
    LinkQueued { link: String, message_id: String },
    /// Where something is that was sent: `waiting`, `on_relay`, `collected` or `failed`.
    LinkSent(SentReport),
    /// The other device has something that was sent.
    LinkReceived {
        link: String,
        message_id: String,
        #[serde(flatten)]
        body: BodyReport,
    },
    /// Something arrived.
    LinkMessage(ArrivedReport),
}

/// A link, as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LinkRow {
    /// What it is called on this device.
    pub(crate) link: String,
    /// What the other device is called.
    pub(crate) name: String,
    /// `a` showed the code, `b` scanned it.
    pub(crate) role: &'static str,
    /// How it stands.
    pub(crate) state: &'static str,
    /// Why it ended, or what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
    /// What keeps it from working.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trouble: Option<&'static str>,
    /// Its relay.
    pub(crate) relay: Option<String>,
    /// When the other device was last heard of.
    pub(crate) last_contact_ms: Option<u64>,
    /// How much the other device hasn't confirmed.
    pub(crate) waiting: u64,
    /// How much arrived and wasn't printed.
    pub(crate) arrived: u64,
    /// What a person reads about its state.
    #[serde(skip)]
    pub(crate) explained: String,
}

/// Something that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SentReport {
    /// Over which link.
    pub(crate) link: String,
    /// Its id.
    pub(crate) message_id: String,
    /// Where it is.
    pub(crate) state: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
    /// What it says.
    #[serde(flatten)]
    pub(crate) body: BodyReport,
    /// When it was queued.
    pub(crate) queued_at_ms: u64,
}

/// Something that arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ArrivedReport {
    /// Over which link.
    pub(crate) link: String,
    /// Its place: what arrives later has a higher one.
    pub(crate) position: u64,
    /// Its id, made by its sender.
    pub(crate) message_id: String,
    /// What it says.
    #[serde(flatten)]
    pub(crate) body: BodyReport,
    /// When it was sealed, by its sender's clock.
    pub(crate) sealed_at_ms: u64,
}

/// What is sent: a text, or bytes that are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BodyReport {
    /// The key of a state; a message has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The bytes in hexadecimal digits, where they are no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<String>,
}

impl BodyReport {
    /// Of a body under a key.
    pub(crate) fn new(key: Option<String>, body: Vec<u8>) -> Self {
        match String::from_utf8(body) {
            Ok(text) => Self {
                key,
                text: Some(text),
                bytes: None,
            },
            Err(error) => {
                let digits = error.as_bytes().iter();
                let bytes = digits.map(|byte| format!("{byte:02x}")).collect();
                Self {
                    key,
                    text: None,
                    bytes: Some(bytes),
                }
            }
        }
    }

    fn to_text(&self) -> String {
        let key = self.key.as_deref();
        let key = key.map_or_else(String::new, |key| format!("[{}] ", one_line(key)));
        let text = self.text.as_deref().map(lines);
        let text =
            text.unwrap_or_else(|| "(bytes that are no text; --json prints them)".to_owned());
        format!("{key}{text}")
    }
}

impl LinkReport {
    /// What a person reads.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Link(row) => row.to_text(),
            Self::LinkCode { url, .. } => format!(
                "Scan this with the other device, or open it there. It is good for 5 minutes and \
                 for one device. Only pair on a network you trust.\n\n{url}\n"
            ),
            Self::LinkRelay { relay, name } => {
                format!("{} shows this code. Its relay: {relay}", one_line(name))
            }
            Self::LinkContact { .. } => "Another device has used the code.".to_owned(),
            Self::LinkDigits { name, digits, .. } => {
                format!("{} shows six digits. Here: {digits}", one_line(name))
            }
            Self::LinkConfirmed { .. } => {
                "Confirmed here. Waiting for the other device.".to_owned()
            }
            Self::LinkPaired { link, name } => {
                format!("Paired with {} (link {link}).", one_line(name))
            }
            Self::LinkRenamed { name, .. } => {
                format!("The other device is called {} here.", one_line(name))
            }
            Self::LinkUnpaired { name, erased, .. } => unpaired_text(name, *erased),
            Self::LinkEnded { name, reason, .. } => ended_text(name, reason),
            Self::LinkQueued { message_id, .. } => message_id.clone(),
            Self::LinkSent(sent) => sent.to_text(),
            Self::LinkReceived { body, .. } => {
                format!("received by the other device  {}", body.to_text())
            }
            Self::LinkMessage(arrived) => format!(
                "{}  {}  {}",
                arrived.position,
                utc::to_text(arrived.sealed_at_ms),
                arrived.body.to_text()
            ),
        }
    }
}

fn unpaired_text(name: &str, erased: bool) -> String {
    let name = one_line(name);
    if erased {
        format!("The link to {name} is gone, here and at the relay.")
    } else {
        format!(
            "The link to {name} is gone here. Its relay can't be reached now: each `sealpost \
             link` command tries again for 30 days to have the mailbox erased there."
        )
    }
}

fn ended_text(name: &str, reason: &str) -> String {
    let name = one_line(name);
    if reason == "byPeer" {
        format!("{name} has unpaired. The keys of the link are gone.")
    } else {
        format!("The pairing with {name} came to nothing.")
    }
}

impl LinkRow {
    fn to_text(&self) -> String {
        let contact = match self.last_contact_ms {
            Some(at_ms) => format!("last heard of {}", utc::to_text(at_ms)),
            None => "not heard of yet".to_owned(),
        };
        let waiting = match self.waiting {
            0 => String::new(),
            count => format!("  {count} waiting"),
        };
        let arrived = match self.arrived {
            0 => String::new(),
            count => format!("  {count} new"),
        };
        format!(
            "{}  {}  {}  {contact}{waiting}{arrived}",
            self.link,
            one_line(&self.name),
            self.explained
        )
    }
}

impl SentReport {
    fn to_text(&self) -> String {
        let state = match self.state {
            "waiting" => "waits here",
            "on_relay" => "on the relay",
            "collected" => "collected",
            _ => match self.reason {
                Some("tooLarge") => "failed: the relay takes nothing so large",
                Some("expired") => "failed: nobody collected it in 30 days",
                _ => "failed: the relay refused it",
            },
        };
        format!(
            "{}  {state}  {}",
            utc::to_text(self.queued_at_ms),
            self.body.to_text()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_can_only_show_itself() {
        let body = BodyReport::new(Some("k\u{1b}".to_owned()), b"a\x1b[2J\nb".to_vec());
        let text = LinkReport::LinkMessage(ArrivedReport {
            link: "abc".to_owned(),
            position: 7,
            message_id: "id".to_owned(),
            body,
            sealed_at_ms: 1_790_812_800_000,
        })
        .to_text();
        assert_eq!(
            text,
            "7  2026-10-01 00:00:00Z  [k\\u{1b}] a\\u{1b}[2J\n    b"
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_told_as_digits() {
        let body = BodyReport::new(None, vec![0xff, 0x00]);
        let json = serde_json::to_string(&body).unwrap();
        assert_eq!(json, r#"{"bytes":"ff00"}"#);
        assert!(body.to_text().starts_with('('));
    }

    #[test]
    fn each_end_of_a_row_has_its_own_words() {
        let mut texts = std::collections::BTreeSet::new();
        for (state, reason) in [
            ("waiting", None),
            ("on_relay", None),
            ("collected", None),
            ("failed", Some("tooLarge")),
            ("failed", Some("expired")),
            ("failed", Some("malformed")),
        ] {
            let report = SentReport {
                link: String::new(),
                message_id: String::new(),
                state,
                reason,
                body: BodyReport::new(None, Vec::new()),
                queued_at_ms: 0,
            };
            assert!(texts.insert(report.to_text()), "{state} {reason:?}");
        }
    }
}
