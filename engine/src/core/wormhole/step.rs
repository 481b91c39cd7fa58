//! The values that cross between the machine of a wormhole and the shell around it.
//!
//! As with every machine: the shell feeds one input, drains the step, commits its changes in
//! one transaction and then carries out its effects in order. A wormhole that needn't outlive
//! its process has nothing to commit, and its changes may be dropped.

use std::fmt;

use sealpost_protocol::wormhole::frame::{ClientFrame, WormholeMailbox};
use sealpost_protocol::wormhole::{
    Application, Nameplate, PakeSecret, Phase, Side, WormholeCode, WormholeKey, frame::Mood,
};
use zeroize::Zeroizing;

/// How a wormhole begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// This side makes the code.
    Allocate,
    /// The other side made it.
    Code(WormholeCode),
    /// Both sides have a key already: the mailbox follows from it, and stays.
    Seed(WormholeKey),
}

/// The durable state of a wormhole, without its messages.
#[derive(Clone, PartialEq, Eq)]
pub struct WormholeRow {
    /// What it is for.
    pub app: Application,
    /// This side.
    pub side: Side,
    /// Whether it has a seed, and so lasts.
    pub is_lasting: bool,
    /// What the key exchange begins with.
    pub pake: PakeSecret,
    /// The nameplate, once it is known.
    pub nameplate: Option<Nameplate>,
    /// The code, once it is known.
    pub code: Option<WormholeCode>,
    /// The mailbox, once it is known.
    pub mailbox: Option<WormholeMailbox>,
    /// The key, once it is known.
    pub key: Option<WormholeKey>,
    /// Whether the peer showed that it has the same key.
    pub is_confirmed: bool,
    /// Whether the nameplate is free again.
    pub is_released: bool,
    /// The number of the next own message in the mailbox.
    pub next_seqnum: u64,
    /// The phase of the next own message of the application.
    pub next_number: u64,
    /// The highest own number whose echo came.
    pub echoed: Option<u64>,
    /// The other side.
    pub peer: Option<Side>,
    /// The highest number of the peer that is done with.
    pub done: Option<u64>,
    /// What is expected of the peer next.
    pub expected: Phase,
    /// How it ended, once it did.
    pub end: Option<WormholeEnd>,
}

impl fmt::Debug for WormholeRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WormholeRow")
            .field("app", &self.app)
            .field("expected", &self.expected)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

/// An own message whose echo hasn't come.
#[derive(Clone, PartialEq, Eq)]
pub struct WormholeMessage {
    /// Its number in the mailbox.
    pub seqnum: u64,
    /// What it is.
    pub phase: Phase,
    /// Its bytes as they are sent, every time the same.
    pub body: Vec<u8>,
}

impl fmt::Debug for WormholeMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WormholeMessage")
            .field("seqnum", &self.seqnum)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

/// Everything a machine needs to go on after a restart.
#[derive(Clone, Debug)]
pub struct WormholeSnapshot {
    /// The state.
    pub row: WormholeRow,
    /// The own messages whose echo hasn't come, in any order.
    pub outbox: Vec<WormholeMessage>,
}

/// Everything that one drain asks for.
#[derive(Debug, Default)]
pub struct WormholeStep {
    /// What to write, in one transaction.
    pub changes: Vec<WormholeChange>,
    /// What to do after the commit, in this order.
    pub effects: Vec<WormholeEffect>,
}

/// One durable write.
#[derive(Clone, PartialEq, Eq)]
pub enum WormholeChange {
    /// The state is this now.
    Saved(Box<WormholeRow>),
    /// An own message is to be sent.
    Queued(WormholeMessage),
    /// The server has an own message.
    Echoed {
        /// Its number.
        seqnum: u64,
    },
    /// A message of the application has come.
    Arrived {
        /// Its place, from 0.
        number: u64,
        /// Its plaintext.
        plaintext: Zeroizing<Vec<u8>>,
    },
    /// The wormhole is over, and nothing of it is needed any more.
    Removed,
}

impl fmt::Debug for WormholeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Saved(_) => "Saved",
            Self::Queued(_) => "Queued",
            Self::Echoed { .. } => "Echoed",
            Self::Arrived { .. } => "Arrived",
            Self::Removed => "Removed",
        })
    }
}

/// What to do once the changes are durable.
#[derive(Debug, PartialEq, Eq)]
pub enum WormholeEffect {
    /// Open a connection; report by `handle_connected` or `handle_lost`.
    Connect,
    /// Send a frame on it.
    Send(ClientFrame),
    /// Close it; its end isn't reported any more.
    Disconnect,
    /// Tell whoever listens.
    Tell(WormholeEvent),
}

/// What is told.
#[derive(Clone, PartialEq, Eq)]
pub enum WormholeEvent {
    /// The code is known: to be said to the other side.
    Code(WormholeCode),
    /// The other side is there.
    PeerFound,
    /// It has the same code.
    Confirmed,
    /// A message has come.
    Arrived {
        /// Its place, from 0.
        number: u64,
        /// Its plaintext.
        plaintext: Zeroizing<Vec<u8>>,
    },
    /// The server has an own message.
    Stored {
        /// Its place, from 0.
        number: u64,
    },
    /// Messages of the peer are lost: the server had forgotten them.
    Missed {
        /// How many.
        count: u64,
    },
    /// The server has forgotten the mailbox: what the peer hadn't fetched is lost.
    Forgotten,
    /// It is over.
    Ended(WormholeEnd),
}

impl fmt::Debug for WormholeEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(_) => f.write_str("Code"),
            Self::PeerFound => f.write_str("PeerFound"),
            Self::Confirmed => f.write_str("Confirmed"),
            Self::Arrived { number, .. } => write!(f, "Arrived({number})"),
            Self::Stored { number } => write!(f, "Stored({number})"),
            Self::Missed { count } => write!(f, "Missed({count})"),
            Self::Forgotten => f.write_str("Forgotten"),
            Self::Ended(end) => write!(f, "Ended({end:?})"),
        }
    }
}

/// How a wormhole ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WormholeEnd {
    /// Everything was said.
    Done,
    /// It was given up here.
    Cancelled,
    /// Nobody came in time.
    TimedOut,
    /// The other side had another code: it is spent.
    WrongCode,
    /// A third side came: the code is spent.
    Crowded,
    /// The other side sent what can't be understood.
    Damaged,
    /// The server says that it isn't to be used.
    Unwelcome,
    /// The server refused.
    Refused,
    /// The state on this computer is older than the server's: it was set back.
    SetBack,
}

impl WormholeEnd {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Done,
        Self::Cancelled,
        Self::TimedOut,
        Self::WrongCode,
        Self::Crowded,
        Self::Damaged,
        Self::Unwelcome,
        Self::Refused,
        Self::SetBack,
    ];

    /// A stable name for each kind.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timedOut",
            Self::WrongCode => "wrongCode",
            Self::Crowded => "crowded",
            Self::Damaged => "damaged",
            Self::Unwelcome => "unwelcome",
            Self::Refused => "refused",
            Self::SetBack => "setBack",
        }
    }

    /// The mood that the server is told; `has_peer`: the other side came.
    pub(super) const fn mood(self, has_peer: bool) -> Mood {
        match self {
            Self::Done => Mood::Happy,
            Self::WrongCode => Mood::Scary,
            Self::Unwelcome => Mood::Unwelcome,
            Self::Cancelled | Self::TimedOut if !has_peer => Mood::Lonely,
            _ => Mood::Errory,
        }
    }
}
