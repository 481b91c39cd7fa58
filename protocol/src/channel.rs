//! The Noise channel between a device and a relay, without any input or output of its own.
//!
//! Owns both handshakes, the encryption of frames and the cutting of a byte stream into Noise
//! messages. It opens no socket, keeps no time and draws no randomness of its own: bytes come
//! in, bytes to be written go out. Specification sections 2.1 and 2.2.
//!
//! A Receive Session is `Noise_XX`: [`receive_start`] and [`ExpectReceiveReply`] on the
//! device, [`ExpectReceiveHello`] and [`ExpectReceiveFinish`] on the relay. A Push Session is
//! `Noise_NK`: [`push_start`] and [`ExpectPushReply`], [`ExpectPushHello`]. Each state is
//! consumed by the one message it expects.
//!
//! Bytes in are one Noise message without its length; bytes out carry it and are written as
//! they are.
//!
//! # Examples
//!
//! A Receive Session, with the bytes handed over in memory:
//!
//! ```
//! use rand_core::OsRng;
//! use sealpost_protocol::channel::{ExpectReceiveHello, RecordBuffer, receive_start};
//! use sealpost_protocol::frame::Frame;
//! use sealpost_protocol::key::NoiseSecret;
//! use sealpost_protocol::version::PREFIX;
//!
//! fn record(bytes: &[u8]) -> Vec<u8> {
//!     let mut buffer = RecordBuffer::new();
//!     buffer.push(bytes);
//!     buffer.next_record().expect("no empty message").expect("a whole message")
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (device, relay) = (NoiseSecret::generate(&mut OsRng), NoiseSecret::generate(&mut OsRng));
//! let (at_device, hello) = receive_start(&device, &relay.public(), &mut OsRng)?;
//! let hello = hello.strip_prefix(&PREFIX).ok_or("no prefix")?;
//! let at_relay = ExpectReceiveHello::new(&relay, &mut OsRng)?;
//! let (at_relay, reply) = at_relay.handle_hello(&record(hello))?;
//! let (at_device, finish) = at_device.handle_reply(&record(&reply))?;
//! let (at_relay, inbox) = at_relay.handle_finish(&record(&finish))?;
//! assert_eq!(inbox, device.public());
//!
//! let (mut sealer, _) = at_device.split();
//! let (_, mut opener) = at_relay.split();
//! let heartbeat = opener.open(&record(&sealer.seal(&Frame::Heartbeat)?))?;
//! assert_eq!(Frame::decode(&heartbeat)?, Frame::Heartbeat);
//! # Ok(())
//! # }
//! ```
//!
//! Invariants:
//!
//! - an impostor never learns a device's key: the relay's key is compared before the device's
//!   is sent;
//! - a [`Sealer`] is the only one to seal in its direction, and whoever has it writes what it
//!   gives in that order;
//! - a channel that failed stays failed.

mod handshake;
mod noise;
pub mod record;
pub mod reply;
mod transport;

pub use handshake::{
    ExpectPushHello, ExpectPushReply, ExpectReceiveFinish, ExpectReceiveHello, ExpectReceiveReply,
    HandshakeError, PUSH_HELLO_BYTES, PUSH_REPLY_BYTES, RECEIVE_FINISH_BYTES, RECEIVE_HELLO_BYTES,
    RECEIVE_REPLY_BYTES, push_start, receive_start,
};
pub use record::{RecordBuffer, RecordError};
pub use reply::{Reply, ReplyError};
pub use transport::{Channel, ChannelError, Opener, Sealer};

#[cfg(test)]
mod tests;
