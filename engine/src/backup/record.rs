//! The records in a backup: what is kept of a profile, its groups and their history.
//!
//! Owns their form: a length of four bytes, then a protobuf message whose field numbers are
//! never used for something else. The order is: the profile; for each group its head, its
//! messages, its issues, its membership history; the end, which counts the groups. Whether
//! what a field says can be used is checked where it goes into a store.

use std::fmt;
use std::io::{Read, Write};

use prost::Message as _;

use super::BackupError;
use super::seal::{Opener, Sealer};

/// The longest record: a message has up to 60 KiB, and 31 recipients.
pub(super) const RECORD_BYTES_MAX: usize = 256 * 1024;

/// Any record.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(super) struct Record {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6")]
    pub(super) kind: Option<Kind>,
}

/// What a record is about.
#[derive(Clone, PartialEq, prost::Oneof)]
#[prost(skip_debug)]
pub(super) enum Kind {
    #[prost(message, tag = "1")]
    Profile(ProfilePart),
    #[prost(message, tag = "2")]
    Group(GroupPart),
    #[prost(message, tag = "3")]
    Message(MessagePart),
    #[prost(message, tag = "4")]
    Issue(IssuePart),
    #[prost(message, tag = "5")]
    Note(NotePart),
    #[prost(message, tag = "6")]
    End(EndPart),
}

/// What is kept of the profile.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(super) struct ProfilePart {
    #[prost(uint64, tag = "1")]
    pub(super) made_at_ms: u64,
    #[prost(string, optional, tag = "2")]
    pub(super) device_name: Option<String>,
    /// An object in JSON: settings of the shell, by their keys.
    #[prost(string, tag = "3")]
    pub(super) settings: String,
    /// How many messages the whole backup has, to show how far a restore is.
    #[prost(uint64, tag = "4")]
    pub(super) messages: u64,
}

/// The head of a group.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(super) struct GroupPart {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(uint64, tag = "2")]
    pub(super) read_position: u64,
}

/// A message of the history.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct MessagePart {
    #[prost(uint64, tag = "1")]
    pub(crate) position: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) id: Vec<u8>,
    #[prost(bool, tag = "3")]
    pub(crate) own: bool,
    #[prost(string, tag = "4")]
    pub(crate) author: String,
    #[prost(string, tag = "5")]
    pub(crate) author_name: String,
    #[prost(bytes = "vec", optional, tag = "6")]
    pub(crate) app_id: Option<Vec<u8>>,
    #[prost(bytes = "vec", tag = "7")]
    pub(crate) body: Vec<u8>,
    #[prost(uint64, tag = "8")]
    pub(crate) sent_at_ms: u64,
    #[prost(uint64, tag = "9")]
    pub(crate) stored_at_ms: u64,
    #[prost(message, repeated, tag = "10")]
    pub(crate) deliveries: Vec<DeliveryPart>,
    /// The ids under which it was sent once more.
    #[prost(bytes = "vec", repeated, tag = "11")]
    pub(crate) resent: Vec<Vec<u8>>,
}

/// How far an own message got to one recipient.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct DeliveryPart {
    #[prost(string, tag = "1")]
    pub(crate) member: String,
    #[prost(string, tag = "2")]
    pub(crate) name: String,
    /// The stable name of the state.
    #[prost(string, tag = "3")]
    pub(crate) state: String,
    #[prost(string, optional, tag = "4")]
    pub(crate) failure: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    pub(crate) at_ms: Option<u64>,
}

/// A delivery issue.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct IssuePart {
    #[prost(uint64, tag = "1")]
    pub(crate) at_ms: u64,
    #[prost(string, tag = "2")]
    pub(crate) code: String,
    #[prost(bytes = "vec", optional, tag = "3")]
    pub(crate) message: Option<Vec<u8>>,
    #[prost(uint32, optional, tag = "4")]
    pub(crate) version: Option<u32>,
    #[prost(string, optional, tag = "5")]
    pub(crate) detail: Option<String>,
}

/// A line of the membership history.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct NotePart {
    #[prost(uint64, tag = "1")]
    pub(crate) seen_ms: u64,
    #[prost(bool, tag = "2")]
    pub(crate) is_added: bool,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) member: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    pub(crate) noise: Vec<u8>,
    #[prost(string, tag = "5")]
    pub(crate) name: String,
    #[prost(bytes = "vec", optional, tag = "6")]
    pub(crate) issuer: Option<Vec<u8>>,
    #[prost(string, optional, tag = "7")]
    pub(crate) issuer_name: Option<String>,
    #[prost(uint64, optional, tag = "8")]
    pub(crate) version: Option<u64>,
    #[prost(bool, tag = "9")]
    pub(crate) is_me: bool,
    #[prost(bool, tag = "10")]
    pub(crate) by_me: bool,
}

/// The end of a backup.
#[derive(Clone, Copy, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(super) struct EndPart {
    #[prost(uint64, tag = "1")]
    pub(super) groups: u64,
}

macro_rules! hide {
    ($($part:ident)*) => {
        $(impl fmt::Debug for $part {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($part), "(..)"))
            }
        })*
    };
}

hide!(Record Kind ProfilePart GroupPart MessagePart DeliveryPart IssuePart NotePart EndPart);

/// Writes a record.
pub(super) fn write<W: Write>(to: &mut Sealer<W>, kind: Kind) -> Result<(), BackupError> {
    let record = Record { kind: Some(kind) };
    let bytes = zeroize::Zeroizing::new(record.encode_to_vec());
    if bytes.len() > RECORD_BYTES_MAX {
        // No row that this program wrote is so long.
        return Err(crate::core::error::StorageFault::Damaged.into());
    }
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    to.write(&length.to_be_bytes())?;
    to.write(&bytes)
}

/// Reads the next record.
pub(super) fn read<R: Read>(from: &mut Opener<R>) -> Result<Kind, BackupError> {
    let mut length = [0; 4];
    from.read(&mut length)?;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > RECORD_BYTES_MAX {
        return Err(BackupError::Damaged);
    }
    let mut bytes = zeroize::Zeroizing::new(vec![0; length]);
    from.read(&mut bytes)?;
    let record = Record::decode(bytes.as_slice()).map_err(|_| BackupError::Damaged)?;
    record.kind.ok_or(BackupError::Damaged)
}
