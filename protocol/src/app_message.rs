//! What an app puts into the body of a `Sync` message.
//!
//! Owns the one registry of its fields. A device shows each id once, whatever it receives
//! twice. Fields that aren't known yet are passed over; a message made of nothing else is
//! [`AppMessageKind::Unknown`] and can be shown as such. Amendment 15.
//!
//! | Number | Field | State |
//! |---|---|---|
//! | 1 | id | in use |
//! | 2 | text | in use |
//! | 3 | group name | in use |
//! | 4 | file offer | reserved |
//! | 5 | file chunk | reserved |
//! | 6 | receipt | reserved |
//! | 7 | reaction | reserved |
//! | 8 | version of the group name | in use, beside 3 |
//! | 9 | via: the phone that it was written on | in use, beside 2 |

use core::fmt;

use prost::Message as _;
use prost::encoding::{DecodeContext, WireType, decode_key, encode_key, encode_varint, skip_field};
use rand_core::{CryptoRng, RngCore};
use thiserror::Error;

use crate::limit::APP_MESSAGE_ID_BYTES;
use crate::name::DeviceName;

const ID_FIELD: u32 = 1;
const TEXT_FIELD: u32 = 2;
const GROUP_NAME_FIELD: u32 = 3;
const GROUP_NAME_VERSION_FIELD: u32 = 8;
const VIA_FIELD: u32 = 9;
const FIELD_NUMBER_MAX: u32 = (1 << 29) - 1;

/// One message of the app.
#[derive(Clone, PartialEq, Eq)]
pub struct AppMessage {
    /// Random, and the same in every copy of the message.
    pub id: [u8; APP_MESSAGE_ID_BYTES],
    /// What it says.
    pub kind: AppMessageKind,
    /// The phone that it was written on, where it wasn't the author's device itself. A label
    /// by the author, cleaned; it proves nothing.
    pub via: Option<DeviceName>,
}

/// What a message of the app says.
#[derive(Clone, PartialEq, Eq)]
pub enum AppMessageKind {
    /// A text.
    Text(String),
    /// The name of the group: for everybody when it is given, later for each newcomer.
    GroupName {
        /// The name, not cleaned.
        name: String,
        /// Counts the names of the group: a new one is above all that its giver knew.
        version: u64,
    },
    /// Something that this build doesn't know.
    Unknown {
        /// The number of its field; 0 where there is none.
        number: u32,
    },
}

impl AppMessage {
    /// Makes a message with a new id.
    #[must_use]
    pub fn new(kind: AppMessageKind, rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut id = [0; APP_MESSAGE_ID_BYTES];
        rng.fill_bytes(&mut id);
        Self {
            id,
            kind,
            via: None,
        }
    }

    /// The message as bytes. Of an unknown one, its number with an empty value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut wire = WireAppMessage {
            id: self.id.to_vec(),
            via: self.via.as_ref().map_or("", DeviceName::as_str).to_owned(),
            ..WireAppMessage::default()
        };
        let mut unknown = None;
        match &self.kind {
            AppMessageKind::Text(text) => wire.kind = Some(WireKind::Text(text.clone())),
            AppMessageKind::GroupName { name, version } => {
                wire.kind = Some(WireKind::GroupName(name.clone()));
                wire.group_name_version = *version;
            }
            AppMessageKind::Unknown { number } => unknown = Some(*number),
        }
        let mut bytes = wire.encode_to_vec();
        if let Some(number) = unknown.filter(|number| is_unknown(*number)) {
            encode_key(number, WireType::LengthDelimited, &mut bytes);
            encode_varint(0, &mut bytes);
        }
        bytes
    }

    /// Reads a message.
    ///
    /// # Errors
    ///
    /// The bytes aren't a message of the app.
    pub fn decode(bytes: &[u8]) -> Result<Self, AppMessageError> {
        let wire = WireAppMessage::decode(bytes).map_err(|_| AppMessageError::Protobuf)?;
        let id = wire
            .id
            .as_slice()
            .try_into()
            .map_err(|_| AppMessageError::IdLength {
                bytes: wire.id.len(),
            })?;
        let kind = match wire.kind {
            Some(WireKind::Text(text)) => AppMessageKind::Text(text),
            Some(WireKind::GroupName(name)) => AppMessageKind::GroupName {
                name,
                version: wire.group_name_version,
            },
            None => AppMessageKind::Unknown {
                number: unknown_number(bytes),
            },
        };
        let via = DeviceName::of_phone(&wire.via);
        Ok(Self { id, kind, via })
    }
}

impl fmt::Debug for AppMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppMessage")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AppMessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str("Text"),
            Self::GroupName { .. } => f.write_str("GroupName"),
            Self::Unknown { number } => write!(f, "Unknown({number})"),
        }
    }
}

/// Why bytes aren't a message of the app.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AppMessageError {
    /// Not protobuf.
    #[error("an app message isn't valid protobuf")]
    Protobuf,
    /// The id is missing or has another length.
    #[error("an app message has an id of {bytes} bytes")]
    IdLength {
        /// The bytes that it has.
        bytes: usize,
    },
}

#[derive(Clone, PartialEq, prost::Message)]
struct WireAppMessage {
    #[prost(bytes = "vec", tag = "1")]
    id: Vec<u8>,
    #[prost(oneof = "WireKind", tags = "2, 3")]
    kind: Option<WireKind>,
    #[prost(uint64, tag = "8")]
    group_name_version: u64,
    #[prost(string, tag = "9")]
    via: String,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum WireKind {
    #[prost(string, tag = "2")]
    Text(String),
    #[prost(string, tag = "3")]
    GroupName(String),
}

fn is_unknown(number: u32) -> bool {
    let is_known = matches!(
        number,
        0 | ID_FIELD | TEXT_FIELD | GROUP_NAME_FIELD | GROUP_NAME_VERSION_FIELD | VIA_FIELD
    );
    !is_known && number <= FIELD_NUMBER_MAX
}

/// The lowest number among the fields that aren't known; 0 where there is none.
fn unknown_number(mut bytes: &[u8]) -> u32 {
    let mut lowest = None::<u32>;
    while !bytes.is_empty() {
        let Ok((number, wire_type)) = decode_key(&mut bytes) else {
            break;
        };
        if skip_field(wire_type, number, &mut bytes, DecodeContext::default()).is_err() {
            break;
        }
        if is_unknown(number) {
            lowest = Some(lowest.map_or(number, |lowest| lowest.min(number)));
        }
    }
    lowest.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{BODY_BYTES_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
    use crate::vectors;

    /// The id of the vectors.
    const ID: [u8; APP_MESSAGE_ID_BYTES] = [0xab; APP_MESSAGE_ID_BYTES];

    fn message(kind: AppMessageKind) -> AppMessage {
        AppMessage {
            id: ID,
            kind,
            via: None,
        }
    }

    fn group_name(name: &str, version: u64) -> AppMessageKind {
        let name = name.to_owned();
        AppMessageKind::GroupName { name, version }
    }

    /// The id's field, then the rest in hex.
    fn with_id(rest: &str) -> Vec<u8> {
        [&[0x0a, 0x10][..], &ID, &hex::decode(rest).unwrap()].concat()
    }

    #[test]
    fn each_kind_has_its_bytes() {
        for (kind, rest) in [
            (AppMessageKind::Text("hello".to_owned()), "120568656c6c6f"),
            (AppMessageKind::Text(String::new()), "1200"),
            (group_name("Home", 0), "1a04486f6d65"),
            (group_name("Home", 300), "1a04486f6d6540ac02"),
            (AppMessageKind::Unknown { number: 4 }, "2200"),
            (AppMessageKind::Unknown { number: 0 }, ""),
        ] {
            let message = message(kind);
            assert_eq!(message.encode(), with_id(rest));
            assert_eq!(AppMessage::decode(&with_id(rest)), Ok(message));
        }
    }

    #[test]
    fn the_phone_that_it_was_written_on_stands_beside_it() {
        for (via, rest) in [
            ("Moto", "120268694a044d6f746f"),
            ("手机", "120268694a06e6898be69cba"),
        ] {
            let mut message = message(AppMessageKind::Text("hi".to_owned()));
            message.via = DeviceName::of_phone(via);
            assert_eq!(message.encode(), with_id(rest));
            assert_eq!(AppMessage::decode(&with_id(rest)), Ok(message));
        }
        // Cleaned like every name: a new line and a sign that turns the text around; then
        // nothing that can be seen.
        let noisy = AppMessage::decode(&with_id("120268694a084d6f0a746fe280ae")).unwrap();
        assert_eq!(noisy.via, DeviceName::of_phone("Mo to"));
        let empty = AppMessage::decode(&with_id("120268694a03e280ae")).unwrap();
        assert_eq!(empty.via, None);
        let long = with_id(&format!("120268694a8001{}", "61".repeat(128)));
        let long = AppMessage::decode(&long).unwrap().via.unwrap();
        assert_eq!(long.as_str(), "a".repeat(NAME_BYTES_MAX));
    }

    #[test]
    fn the_vectors_are_met() {
        for (kind, place) in [
            (AppMessageKind::Text("hello".to_owned()), "text"),
            (group_name("Home", 2), "group_name"),
        ] {
            let bytes = vectors::bytes(&format!("/app_message/{place}/bytes"));
            assert_eq!(message(kind).encode(), bytes);
        }
        let mut from_phone = message(AppMessageKind::Text("hello".to_owned()));
        from_phone.via = DeviceName::of_phone("Moto");
        let bytes = vectors::bytes("/app_message/text_via/bytes");
        assert_eq!(from_phone.encode(), bytes);
        assert_eq!(
            AppMessage::decode(&vectors::bytes("/app_message/unknown/bytes")),
            Ok(message(AppMessageKind::Unknown { number: 7 }))
        );
    }

    #[test]
    fn fields_of_later_versions_are_passed_over() {
        let text = Ok(message(AppMessageKind::Text("hi".to_owned())));
        // A receipt and a number beside a text.
        assert_eq!(AppMessage::decode(&with_id("3203616263120268695005")), text);
        // A reaction and, before it, something with a higher number.
        let unknown = Ok(message(AppMessageKind::Unknown { number: 7 }));
        assert_eq!(AppMessage::decode(&with_id("5200380a")), unknown);
        // The version of a name that isn't there says nothing.
        assert_eq!(AppMessage::decode(&with_id("120268694002")), text);
        let nothing = Ok(message(AppMessageKind::Unknown { number: 0 }));
        assert_eq!(AppMessage::decode(&with_id("4002")), nothing);
        // Of two kinds the last counts.
        assert_eq!(AppMessage::decode(&with_id("1a014112026869")), text);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        assert_eq!(
            AppMessage::decode(&[]),
            Err(AppMessageError::IdLength { bytes: 0 })
        );
        let short = AppMessage::decode(&[0x0a, 0x01, 0xab, 0x12, 0x00]);
        assert_eq!(short, Err(AppMessageError::IdLength { bytes: 1 }));
        for rest in ["12", "1205", "1202ff", "1201ff", "1005", "0000"] {
            assert_eq!(
                AppMessage::decode(&with_id(rest)),
                Err(AppMessageError::Protobuf)
            );
        }
    }

    #[test]
    fn the_longest_text_fills_a_body() {
        let longest = message(AppMessageKind::Text("n".repeat(TEXT_BYTES_MAX)));
        assert_eq!(longest.encode().len(), BODY_BYTES_MAX);
    }

    #[test]
    fn nothing_of_a_message_is_printed() {
        let printed = format!("{:?}", message(AppMessageKind::Text("secret".to_owned())));
        assert_eq!(printed, "AppMessage { kind: Text, .. }");
    }
}
