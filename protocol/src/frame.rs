//! Frames: what a device and a relay say to each other inside a session.
//!
//! Owns the one registry of frame types and refusal codes, and their bytes. It doesn't know
//! which frame may come when or from whom; each end of a session judges that. Specification
//! sections 2.3 and 2.4.
//!
//! Invariant: one frame fills one Noise message exactly.

use core::fmt;

use thiserror::Error;

use crate::field_reader::FieldReader;
use crate::key::NoisePublic;
use crate::limit::{FRAME_HEADER_BYTES, KEY_BYTES};

const PUSH: u8 = 0x01;
const DELIVER: u8 = 0x02;
const HEARTBEAT: u8 = 0x03;
const ACK: u8 = 0x04;
const ERROR: u8 = 0x05;
const DELIVER_ACK: u8 = 0x06;

const BLOB_ID_BYTES: usize = 8;

/// One frame. `Debug` prints its type and, of a refusal, the code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Device to relay: store this Envelope for that Inbox.
    Push {
        /// The Inbox.
        recipient: NoisePublic,
        /// The Envelope, which a relay never decodes.
        envelope: &'a [u8],
    },
    /// Relay to device: a waiting Blob.
    Deliver {
        /// The relay's own number for the Blob, to be echoed.
        blob_id: u64,
        /// The Envelope.
        envelope: &'a [u8],
    },
    /// Device to relay, and the relay's echo: the session lives.
    Heartbeat,
    /// Relay to device: the Push is stored durably.
    Ack,
    /// The last frame is refused.
    Error(Refusal),
    /// Device to relay: the Blob is dealt with and may be deleted.
    DeliverAck {
        /// The number from the Deliver.
        blob_id: u64,
    },
}

impl<'a> Frame<'a> {
    /// The frame as bytes, before encryption.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Push {
                recipient,
                envelope,
            } => encode(PUSH, recipient.as_bytes(), envelope),
            Self::Deliver { blob_id, envelope } => {
                encode(DELIVER, &blob_id.to_be_bytes(), envelope)
            }
            Self::Heartbeat => encode(HEARTBEAT, &[], &[]),
            Self::Ack => encode(ACK, &[], &[]),
            Self::Error(refusal) => encode(ERROR, &[refusal.code()], &[]),
            Self::DeliverAck { blob_id } => encode(DELIVER_ACK, &blob_id.to_be_bytes(), &[]),
        }
    }

    /// Reads the frame that fills a decrypted Noise message.
    ///
    /// # Errors
    ///
    /// The frame is malformed; the session goes on.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let mut fields = FieldReader::new(bytes);
        let (Some(tag), Some(declared)) = (fields.u8(), fields.u32()) else {
            return Err(FrameError::TooShort { bytes: bytes.len() });
        };
        let body = fields.rest();
        if usize::try_from(declared) != Ok(body.len()) {
            return Err(FrameError::Length {
                declared,
                bytes: body.len(),
            });
        }
        Self::decode_body(tag, body)
    }

    fn decode_body(tag: u8, body: &'a [u8]) -> Result<Self, FrameError> {
        let wrong_body = FrameError::Body {
            tag,
            bytes: body.len(),
        };
        match tag {
            PUSH => {
                let (recipient, envelope) =
                    body.split_first_chunk::<KEY_BYTES>().ok_or(wrong_body)?;
                Ok(Self::Push {
                    recipient: NoisePublic::from_bytes(*recipient),
                    envelope,
                })
            }
            DELIVER => {
                let (blob_id, envelope) = body
                    .split_first_chunk::<BLOB_ID_BYTES>()
                    .ok_or(wrong_body)?;
                Ok(Self::Deliver {
                    blob_id: u64::from_be_bytes(*blob_id),
                    envelope,
                })
            }
            HEARTBEAT if body.is_empty() => Ok(Self::Heartbeat),
            ACK if body.is_empty() => Ok(Self::Ack),
            ERROR => Ok(Self::Error(Refusal::from_body(body))),
            DELIVER_ACK => {
                let blob_id = body.try_into().map_err(|_| wrong_body)?;
                Ok(Self::DeliverAck {
                    blob_id: u64::from_be_bytes(blob_id),
                })
            }
            HEARTBEAT | ACK => Err(wrong_body),
            _ => Err(FrameError::UnknownTag { tag }),
        }
    }
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Push { .. } => f.write_str("Push"),
            Self::Deliver { .. } => f.write_str("Deliver"),
            Self::Heartbeat => f.write_str("Heartbeat"),
            Self::Ack => f.write_str("Ack"),
            Self::Error(refusal) => write!(f, "Error({refusal:?})"),
            Self::DeliverAck { .. } => f.write_str("DeliverAck"),
        }
    }
}

fn encode(tag: u8, head: &[u8], envelope: &[u8]) -> Vec<u8> {
    let body_bytes = head.len().saturating_add(envelope.len());
    let mut bytes = Vec::with_capacity(FRAME_HEADER_BYTES.saturating_add(body_bytes));
    bytes.push(tag);
    // A body too long for its length field is too long for a Noise message as well, and
    // sealing refuses it.
    bytes.extend_from_slice(&u32::try_from(body_bytes).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend_from_slice(head);
    bytes.extend_from_slice(envelope);
    bytes
}

/// Why a decrypted message isn't a frame. A relay answers each of them with
/// [`Refusal::Malformed`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    /// Shorter than type and length.
    #[error("a frame of {bytes} bytes is too short")]
    TooShort {
        /// The bytes that there are.
        bytes: usize,
    },
    /// The length field doesn't say what follows.
    #[error("a frame announces {declared} bytes and brings {bytes}")]
    Length {
        /// The length that the frame announces.
        declared: u32,
        /// The bytes that follow.
        bytes: usize,
    },
    /// A type that isn't in the registry.
    #[error("frame type {tag} is unknown")]
    UnknownTag {
        /// The type.
        tag: u8,
    },
    /// A body of a length that this type can't have.
    #[error("a frame of type {tag} can't have a body of {bytes} bytes")]
    Body {
        /// The type.
        tag: u8,
        /// The bytes of the body.
        bytes: usize,
    },
}

/// Why a relay refuses a frame. Codes below 0x10 are permanent, the others temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Refusal {
    /// The Envelope is above the relay's size limit.
    TooLarge = 0x01,
    /// The frame can't be understood or isn't allowed here.
    Malformed = 0x02,
    /// The Inbox is over its quota.
    InboxFull = 0x11,
    /// The Inbox receives too much at once.
    RateLimited = 0x12,
    /// The relay can't serve this now.
    Unavailable = 0x13,
    /// The relay failed; also what an unknown code is read as.
    InternalError = 0x14,
}

impl Refusal {
    /// Reads the body of an Error frame. What can't be understood must not destroy anything,
    /// so it counts as temporary.
    #[must_use]
    pub fn from_body(body: &[u8]) -> Self {
        match body {
            [0x01] => Self::TooLarge,
            [0x02] => Self::Malformed,
            [0x11] => Self::InboxFull,
            [0x12] => Self::RateLimited,
            [0x13] => Self::Unavailable,
            _ => Self::InternalError,
        }
    }

    /// The byte on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Whether trying again is pointless.
    #[must_use]
    pub const fn is_permanent(self) -> bool {
        self.code() < 0x10
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    /// Each frame and its bytes: type, length, body.
    fn table() -> Vec<(Frame<'static>, Vec<u8>)> {
        let recipient = NoisePublic::from_bytes([0xab; 32]);
        let short_push = [&[1, 0, 0, 0, 0x20][..], &[0xab; 32]].concat();
        let blob_id = 0x0102_0304_0506_0708;
        let mut table = vec![
            (
                Frame::Push {
                    recipient,
                    envelope: b"",
                },
                short_push,
            ),
            (
                Frame::Push {
                    recipient,
                    envelope: b"env",
                },
                [&[1, 0, 0, 0, 0x23][..], &[0xab; 32], b"env"].concat(),
            ),
        ];
        for (frame, place) in [
            (
                Frame::Deliver {
                    blob_id,
                    envelope: b"env",
                },
                "deliver/bytes",
            ),
            (Frame::Heartbeat, "heartbeat"),
            (Frame::Ack, "ack"),
            (Frame::Error(Refusal::TooLarge), "error_too_large"),
            (Frame::Error(Refusal::Malformed), "error_malformed"),
            (Frame::Error(Refusal::InboxFull), "error_inbox_full"),
            (Frame::Error(Refusal::RateLimited), "error_rate_limited"),
            (Frame::Error(Refusal::Unavailable), "error_unavailable"),
            (Frame::Error(Refusal::InternalError), "error_internal_error"),
            (Frame::DeliverAck { blob_id }, "deliver_ack/bytes"),
        ] {
            table.push((frame, vectors::bytes(&format!("/frames/{place}"))));
        }
        table
    }

    #[test]
    fn each_frame_has_its_bytes() {
        for (frame, bytes) in table() {
            assert_eq!(frame.encode(), bytes);
            assert_eq!(Frame::decode(&bytes), Ok(frame));
        }
    }

    #[test]
    fn neither_envelopes_nor_numbers_are_printed() {
        let printed: Vec<_> = table()
            .iter()
            .map(|(frame, _)| format!("{frame:?}"))
            .collect();
        assert_eq!(printed.first().map(String::as_str), Some("Push"));
        assert_eq!(printed.last().map(String::as_str), Some("DeliverAck"));
        assert!(printed.contains(&"Error(InboxFull)".to_owned()));
    }

    #[test]
    fn a_length_must_fit_exactly() {
        for (_, bytes) in table() {
            for cut in 0..bytes.len() {
                assert!(Frame::decode(bytes.get(..cut).unwrap()).is_err());
            }
            let long = [bytes.as_slice(), &[0]].concat();
            assert!(matches!(
                Frame::decode(&long),
                Err(FrameError::Length { .. })
            ));
        }
        assert_eq!(
            Frame::decode(&[3, 0, 0, 0]),
            Err(FrameError::TooShort { bytes: 4 })
        );
        let huge = [3, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(
            Frame::decode(&huge),
            Err(FrameError::Length {
                declared: u32::MAX,
                bytes: 0
            })
        );
    }

    #[test]
    fn bodies_of_wrong_length_and_unknown_types_are_refused() {
        let decode = |tag: u8, body: &[u8]| Frame::decode(&encode(tag, body, &[])).err();
        assert_eq!(
            decode(PUSH, &[0; 31]),
            Some(FrameError::Body {
                tag: PUSH,
                bytes: 31
            })
        );
        assert_eq!(
            decode(DELIVER, &[0; 7]),
            Some(FrameError::Body {
                tag: DELIVER,
                bytes: 7
            })
        );
        for tag in [HEARTBEAT, ACK] {
            assert_eq!(decode(tag, &[0]), Some(FrameError::Body { tag, bytes: 1 }));
        }
        for bytes in [7, 9] {
            let error = decode(DELIVER_ACK, &vec![0; bytes]);
            assert_eq!(
                error,
                Some(FrameError::Body {
                    tag: DELIVER_ACK,
                    bytes
                })
            );
        }
        for tag in [0, 7, 0xff] {
            assert_eq!(decode(tag, &[]), Some(FrameError::UnknownTag { tag }));
        }
    }

    #[test]
    fn a_refusal_that_is_not_understood_is_temporary() {
        for body in [&[][..], &[0x00], &[0x03], &[0x10], &[0x15], &[0x01, 0x01]] {
            assert_eq!(Refusal::from_body(body), Refusal::InternalError);
        }
        assert!(Refusal::TooLarge.is_permanent() && Refusal::Malformed.is_permanent());
        for refusal in [
            Refusal::InboxFull,
            Refusal::RateLimited,
            Refusal::Unavailable,
            Refusal::InternalError,
        ] {
            assert!(!refusal.is_permanent());
        }
    }
}
