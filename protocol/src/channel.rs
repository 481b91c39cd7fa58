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
