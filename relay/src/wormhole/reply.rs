//! Outgoing frames, as text.
//!
//! Invariant: traffic of clients that know nothing of acknowledgement has no key more than it
//! had before.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::{ABILITIES, MailboxName, Message, Nameplate, Seqnum, Side};

/// What a client is told first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Welcome {
    /// Shown to its user.
    pub motd: Option<String>,
    /// The version that the operator recommends to users of the Python client.
    pub current_cli_version: Option<String>,
    /// Shown to its user, by clients that then give up.
    pub error: Option<String>,
}

/// Where a client connects from, as the relay sees it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Address {
    /// The client's or, as a proxy tells it, that of the proxy's client.
    pub ip: IpAddr,
    /// Its port, if it is known.
    pub port: Option<u16>,
}

impl Welcome {
    /// The first frame of a connection.
    pub fn text(&self, address: Option<Address>, now_ms: u64) -> String {
        let mut welcome = json!({ "mailbox-abilities": ABILITIES });
        let texts = [
            ("motd", &self.motd),
            ("current_cli_version", &self.current_cli_version),
            ("error", &self.error),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                welcome[key] = text.as_str().into();
            }
        }
        if let Some(address) = address {
            let ip = address.ip.to_canonical();
            let key = if ip.is_ipv4() { "ipv4" } else { "ipv6" };
            welcome["your-address"] = json!({ key: ip.to_string(), "port": address.port });
        }
        object("welcome", json!({ "welcome": welcome }), now_ms)
    }
}

/// What a command is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// To a ping, with what it said.
    Pong(Value),
    /// All nameplates of the application, sorted as strings.
    Nameplates(Vec<Nameplate>),
    /// A nameplate was found and claimed.
    Allocated(Nameplate),
    /// A nameplate was claimed, and leads here.
    Claimed(MailboxName),
    /// A nameplate was released.
    Released,
    /// A mailbox is open. Only for clients that ask for it.
    Opened {
        /// Which.
        mailbox: MailboxName,
        /// The highest number of each side.
        seqnums: BTreeMap<Side, Seqnum>,
        /// The highest acknowledged number of each author.
        acked: BTreeMap<Side, Seqnum>,
    },
    /// A mailbox is closed.
    Closed,
}

impl Reply {
    /// The frame.
    pub fn text(&self, now_ms: u64) -> String {
        match self {
            Self::Pong(ping) => object("pong", json!({ "pong": ping }), now_ms),
            Self::Nameplates(nameplates) => {
                let list: Vec<_> = nameplates
                    .iter()
                    .map(|nameplate| json!({ "id": nameplate.as_str() }))
                    .collect();
                object("nameplates", json!({ "nameplates": list }), now_ms)
            }
            Self::Allocated(nameplate) => {
                let fields = json!({ "nameplate": nameplate.as_str() });
                object("allocated", fields, now_ms)
            }
            Self::Claimed(mailbox) => {
                object("claimed", json!({ "mailbox": mailbox.as_str() }), now_ms)
            }
            Self::Released => object("released", json!({}), now_ms),
            Self::Opened {
                mailbox,
                seqnums,
                acked,
            } => {
                let fields = json!({
                    "mailbox": mailbox.as_str(),
                    "seqnums": by_side(seqnums),
                    "acked": by_side(acked),
                });
                object("opened", fields, now_ms)
            }
            Self::Closed => object("closed", json!({}), now_ms),
        }
    }
}

fn by_side(seqnums: &BTreeMap<Side, Seqnum>) -> Value {
    let entries = seqnums.iter();
    let entries = entries.map(|(side, seqnum)| (side.as_str().to_owned(), seqnum.as_u64().into()));
    Value::Object(entries.collect())
}

/// The word that a command was read.
pub(super) fn ack_text(id: Option<&Value>, now_ms: u64) -> String {
    object("ack", json!({ "id": id }), now_ms)
}

/// A refusal. `orig` is the command as it came, which is JSON already.
pub fn error_text(error: &str, orig: Option<&str>, now_ms: u64) -> String {
    let error = Value::from(error).to_string();
    let orig = orig.unwrap_or("null");
    let at = seconds(now_ms);
    format!(r#"{{"type":"error","error":{error},"orig":{orig},"server_tx":{at}}}"#)
}

/// A message of a mailbox.
pub fn message_text(message: &Message, now_ms: u64) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let (side, phase) = (
        quoted(message.side.as_str()),
        quoted(message.phase.as_str()),
    );
    let (body, id) = (quoted(message.body.as_str()), message.id.as_str());
    let (received, at) = (seconds(message.received_ms), seconds(now_ms));
    let seqnum = message.seqnum;
    let seqnum = seqnum.map(|seqnum| format!(r#""seqnum":{},"#, seqnum.as_u64()));
    let seqnum = seqnum.unwrap_or_default();
    format!(
        r#"{{"type":"message","side":{side},"phase":{phase},"body":{body},"server_rx":{received},"id":{id},{seqnum}"server_tx":{at}}}"#
    )
}

fn object(kind: &str, mut fields: Value, now_ms: u64) -> String {
    fields["type"] = kind.into();
    fields["server_tx"] = seconds(now_ms);
    fields.to_string()
}

/// Seconds since the epoch, as a float.
fn seconds(at_ms: u64) -> Value {
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact for the next hundred thousand years"
    )]
    Value::from(at_ms as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wormhole::{Body, CommandId, Phase};

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_message_without_a_number_has_no_key_more_than_before() {
        let mut message = Message {
            side: Side::new("s"),
            phase: Phase::new("pa\"ke"),
            body: Body::new("\u{7}é"),
            id: CommandId::new("null"),
            received_ms: 1_500,
            seqnum: None,
        };
        let old = json!({
            "type": "message", "side": "s", "phase": "pa\"ke", "body": "\u{7}é",
            "server_rx": 1.5, "id": null, "server_tx": 2.0,
        });
        assert_eq!(read(&message_text(&message, 2_000)), old);
        message.seqnum = Seqnum::new(3);
        let mut new = old;
        new["seqnum"] = 3.into();
        assert_eq!(read(&message_text(&message, 2_000)), new);
    }

    #[test]
    fn an_error_quotes_the_command_letter_for_letter() {
        let orig = r#"{"type":"x", "n":123456789012345678901234567890}"#;
        let text = error_text("unknown 'type'", Some(orig), 1_000);
        assert!(text.contains(orig), "{text}");
        assert_eq!(read(&text)["error"], "unknown 'type'");
        assert_eq!(read(&error_text("x", None, 1_000))["orig"], Value::Null);
    }

    #[test]
    fn a_welcome_shows_what_is_set_and_where_the_client_is() {
        let bare = read(&Welcome::default().text(None, 0));
        assert_eq!(
            bare["welcome"],
            json!({ "mailbox-abilities": ["message-delete-v1", "message-seqnum-v1"] })
        );
        let welcome = Welcome {
            motd: Some("hello".into()),
            current_cli_version: Some("1.2".into()),
            error: Some("closed today".into()),
        };
        let address = Address {
            ip: "::ffff:192.0.2.7".parse().unwrap(),
            port: Some(9),
        };
        let full = read(&welcome.text(Some(address), 0))["welcome"].clone();
        assert_eq!(full["motd"], "hello");
        assert_eq!(full["current_cli_version"], "1.2");
        assert_eq!(full["error"], "closed today");
        let mapped = json!({ "ipv4": "192.0.2.7", "port": 9 });
        assert_eq!(full["your-address"], mapped);
    }
}
