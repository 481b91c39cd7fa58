//! The frames between a client and a mailbox server, from the client's side.
//!
//! Owns their JSON: what a client sends, and what it reads of a server's answers. Keys and
//! types that aren't known are passed over. A body travels as hex.

use core::fmt;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::application::Application;
use super::code::Nameplate;
use super::phase::Phase;
use super::side::Side;
use crate::limit::{WORMHOLE_SEQNUM_MAX, WORMHOLE_STRING_BYTES_MAX};

/// What a server says that can delete one message.
const DELETES: &str = "message-delete-v1";

/// What a server says that knows numbers of messages.
const NUMBERS: &str = "message-seqnum-v1";

/// What this program calls itself in `bind`.
const CLIENT: &str = "sealpost";

/// How a side leaves a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mood {
    /// Everything was said.
    Happy,
    /// Nobody came.
    Lonely,
    /// The other side had another code.
    Scary,
    /// Something failed.
    Errory,
    /// The server said that it isn't to be used.
    Unwelcome,
}

impl Mood {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Happy,
        Self::Lonely,
        Self::Scary,
        Self::Errory,
        Self::Unwelcome,
    ];

    /// The mood as it stands in frames.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Happy => "happy",
            Self::Lonely => "lonely",
            Self::Scary => "scary",
            Self::Errory => "errory",
            Self::Unwelcome => "unwelcome",
        }
    }

    /// Reads what [`Mood::as_str`] gave.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mood| mood.as_str() == text)
    }
}

/// The name of a mailbox, 1 to 256 bytes; the server's to choose, or a secret.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WormholeMailbox(String);

impl WormholeMailbox {
    /// Takes a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = !text.is_empty() && text.len() <= WORMHOLE_STRING_BYTES_MAX;
        is_name.then(|| Self(text.to_owned()))
    }

    /// The name as it stands in frames.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for WormholeMailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WormholeMailbox")
    }
}

/// What a client sends.
#[derive(Clone, PartialEq, Eq)]
pub enum ClientFrame {
    /// Says what for and as which side.
    Bind {
        /// What for.
        app: Application,
        /// Which side.
        side: Side,
    },
    /// Asks for a nameplate.
    Allocate,
    /// Asks for the mailbox of a nameplate.
    Claim(Nameplate),
    /// Needs the nameplate no more.
    Release(Nameplate),
    /// Opens a mailbox.
    Open(WormholeMailbox),
    /// Puts a message into the open mailbox.
    Add {
        /// What it is.
        phase: Phase,
        /// Its bytes.
        body: Vec<u8>,
        /// Its number, for a server that knows numbers.
        seqnum: Option<u64>,
    },
    /// A message of the peer isn't needed any more.
    Delete {
        /// Who wrote it.
        side: Side,
        /// What it was.
        phase: Phase,
    },
    /// The messages of the peer up to a number aren't needed any more.
    Acknowledge {
        /// Who wrote them.
        side: Side,
        /// Up to and with which one.
        seqnum: u64,
    },
    /// Leaves a mailbox.
    Close {
        /// Which one.
        mailbox: WormholeMailbox,
        /// How.
        mood: Mood,
    },
    /// Asks for a `pong` behind everything that was sent before.
    Ping(u64),
}

impl ClientFrame {
    /// The frame as text. The id comes back in the server's `ack`.
    #[must_use]
    pub fn encode(&self, id: u64) -> String {
        let mut frame = match self {
            Self::Bind { app, side } => json!({
                "appid": app.id(), "side": side.as_str(),
                "client_version": [CLIENT, env!("CARGO_PKG_VERSION")],
                "mailbox-abilities": [NUMBERS],
            }),
            Self::Allocate => json!({}),
            Self::Claim(nameplate) | Self::Release(nameplate) => {
                json!({ "nameplate": nameplate.as_str() })
            }
            Self::Open(mailbox) => json!({ "mailbox": mailbox.as_str() }),
            Self::Add {
                phase,
                body,
                seqnum,
            } => {
                let mut add = json!({ "phase": phase.to_text(), "body": hex::encode(body) });
                if let (Some(seqnum), Some(fields)) = (seqnum, add.as_object_mut()) {
                    fields.insert("seqnum".to_owned(), json!(seqnum));
                }
                add
            }
            Self::Delete { side, phase } => {
                json!({ "their-side": side.as_str(), "their-phase": phase.to_text() })
            }
            Self::Acknowledge { side, seqnum } => {
                json!({ "side": side.as_str(), "seqnum": seqnum })
            }
            Self::Close { mailbox, mood } => {
                json!({ "mailbox": mailbox.as_str(), "mood": mood.as_str() })
            }
            Self::Ping(number) => json!({ "ping": number }),
        };
        if let Some(fields) = frame.as_object_mut() {
            fields.insert("type".to_owned(), json!(self.name()));
            fields.insert("id".to_owned(), json!(format!("{id:x}")));
        }
        frame.to_string()
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Bind { .. } => "bind",
            Self::Allocate => "allocate",
            Self::Claim(_) => "claim",
            Self::Release(_) => "release",
            Self::Open(_) => "open",
            Self::Add { .. } => "add",
            Self::Delete { .. } => "delete",
            Self::Acknowledge { .. } => "message-ack",
            Self::Close { .. } => "close",
            Self::Ping(_) => "ping",
        }
    }
}

impl fmt::Debug for ClientFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a server says of itself.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Welcome {
    /// Why it isn't to be used, in the words of whoever runs it.
    pub error: Option<String>,
    /// It wants something before `bind` that this build can't give.
    pub wants_permission: bool,
    /// Single messages can be deleted.
    pub deletes: bool,
    /// Messages have numbers and are acknowledged by them.
    pub numbers: bool,
}

impl fmt::Debug for Welcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Welcome")
            .field("wants_permission", &self.wants_permission)
            .field("deletes", &self.deletes)
            .field("numbers", &self.numbers)
            .finish_non_exhaustive()
    }
}

/// Why a server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// A third side came: the code is spent.
    Crowded,
    /// This side had released the nameplate before.
    Reclaimed,
    /// Another message was sent under this number before.
    SeqnumUsed,
    /// The mailbox holds as much as it may.
    MailboxFull,
    /// Something else.
    Other,
}

impl Refusal {
    fn of(text: &str) -> Self {
        match text {
            "crowded" => Self::Crowded,
            "reclaimed" => Self::Reclaimed,
            "seqnum already used" => Self::SeqnumUsed,
            "mailbox full" => Self::MailboxFull,
            _ => Self::Other,
        }
    }
}

/// A message of the open mailbox.
#[derive(Clone, PartialEq, Eq)]
pub struct MailboxMessage {
    /// Who wrote it.
    pub side: Side,
    /// What it is.
    pub phase: Phase,
    /// Its bytes; nothing if they aren't hex.
    pub body: Option<Vec<u8>>,
    /// Its number, if it has one.
    pub seqnum: Option<u64>,
}

impl fmt::Debug for MailboxMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailboxMessage")
            .field("phase", &self.phase)
            .field("seqnum", &self.seqnum)
            .finish_non_exhaustive()
    }
}

/// What a server sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerFrame {
    /// The first frame of a connection.
    Welcome(Welcome),
    /// A nameplate for this side.
    Allocated(Nameplate),
    /// The mailbox of the claimed nameplate.
    Claimed(WormholeMailbox),
    /// The nameplate isn't this side's any more.
    Released,
    /// What the mailbox remembers of numbers.
    Opened {
        /// The highest number of each side.
        seqnums: BTreeMap<Side, u64>,
        /// The highest acknowledged number of each side.
        acked: BTreeMap<Side, u64>,
    },
    /// A message, the own ones included.
    Message(MailboxMessage),
    /// The mailbox is left.
    Closed,
    /// The answer to a `ping`.
    Pong(Option<u64>),
    /// A refusal.
    Refused(Refusal),
    /// `ack`, and whatever this build doesn't know.
    Other,
}

/// What came isn't a frame of a mailbox server.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    /// Not a JSON object with a type.
    #[error("the frame isn't one of a mailbox server")]
    Shape,
    /// A part that a frame of its type must have is missing or wrong.
    #[error("a part of the frame is missing or wrong")]
    Part,
}

impl ServerFrame {
    /// Reads a frame.
    ///
    /// # Errors
    ///
    /// It isn't one, or lacks what it has to have.
    pub fn decode(text: &str) -> Result<Self, FrameError> {
        let fields: Map<String, Value> =
            serde_json::from_str(text).map_err(|_| FrameError::Shape)?;
        let name = fields.get("type").and_then(Value::as_str);
        let frame = match name.ok_or(FrameError::Shape)? {
            "welcome" => fields.get("welcome").and_then(welcome).map(Self::Welcome),
            "allocated" => field(&fields, "nameplate")
                .and_then(Nameplate::parse)
                .map(Self::Allocated),
            "claimed" => field(&fields, "mailbox")
                .and_then(WormholeMailbox::parse)
                .map(Self::Claimed),
            "released" => Some(Self::Released),
            "opened" => Some(Self::Opened {
                seqnums: numbers(fields.get("seqnums")),
                acked: numbers(fields.get("acked")),
            }),
            "message" => message(&fields).map(Self::Message),
            "closed" => Some(Self::Closed),
            "pong" => Some(Self::Pong(fields.get("pong").and_then(Value::as_u64))),
            "error" => field(&fields, "error").map(|text| Self::Refused(Refusal::of(text))),
            _ => Some(Self::Other),
        };
        frame.ok_or(FrameError::Part)
    }
}

fn field<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

fn welcome(value: &Value) -> Option<Welcome> {
    #[derive(Deserialize)]
    struct Inner {
        error: Option<Value>,
        #[serde(rename = "permission-required")]
        permission: Option<Value>,
        #[serde(rename = "mailbox-abilities")]
        abilities: Option<Value>,
    }
    let inner: Inner = Deserialize::deserialize(value).ok()?;
    let abilities = inner.abilities.as_ref().and_then(Value::as_array);
    let has = |name: &str| {
        abilities.is_some_and(|list| list.iter().any(|ability| ability.as_str() == Some(name)))
    };
    let none = |permission: &Value| permission.get("none").is_some();
    Some(Welcome {
        error: inner.error.map(|error| match error {
            Value::String(text) => text,
            _ => String::new(),
        }),
        wants_permission: inner.permission.is_some_and(|asked| !none(&asked)),
        deletes: has(DELETES),
        numbers: has(NUMBERS),
    })
}

fn message(fields: &Map<String, Value>) -> Option<MailboxMessage> {
    let seqnum = fields.get("seqnum").and_then(Value::as_u64);
    Some(MailboxMessage {
        side: field(fields, "side").and_then(Side::parse)?,
        phase: Phase::parse(field(fields, "phase")?),
        body: hex::decode(field(fields, "body")?).ok(),
        seqnum: seqnum.filter(|number| *number <= WORMHOLE_SEQNUM_MAX),
    })
}

fn numbers(value: Option<&Value>) -> BTreeMap<Side, u64> {
    let sides = value.and_then(Value::as_object).into_iter().flatten();
    sides
        .filter_map(|(side, number)| Some((Side::parse(side)?, number.as_u64()?)))
        .collect()
}

#[cfg(test)]
mod tests;
