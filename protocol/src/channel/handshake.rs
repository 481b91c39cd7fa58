//! Both handshakes, each state its own type.

use core::fmt;

use rand_core::{CryptoRng, RngCore};
use snow::HandshakeState;
use subtle::ConstantTimeEq as _;
use thiserror::Error;

use super::noise::{self, PUSH_PATTERN, RECEIVE_PATTERN};
use super::transport::Channel;
use crate::key::{NoisePublic, NoiseSecret};
use crate::limit::{KEY_BYTES, NOISE_MESSAGE_BYTES_MAX};
use crate::version::PREFIX;

/// The first message of a Push Session.
pub const PUSH_HELLO_BYTES: usize = 48;
/// The second message of a Push Session.
pub const PUSH_REPLY_BYTES: usize = 48;
/// The first message of a Receive Session.
pub const RECEIVE_HELLO_BYTES: usize = 32;
/// The second message of a Receive Session.
pub const RECEIVE_REPLY_BYTES: usize = 96;
/// The third message of a Receive Session.
pub const RECEIVE_FINISH_BYTES: usize = 64;

const HANDSHAKE_BYTES_MAX: usize = RECEIVE_REPLY_BYTES;
const LENGTH_BYTES: usize = 2;

/// Why a handshake failed. The connection is closed in every case.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum HandshakeError {
    /// The peer isn't the relay whose key the address names.
    #[error("the relay has another key")]
    WrongRelayKey,
    /// A message has another length than this one always has.
    #[error("a handshake message has {bytes} bytes, not {expected}")]
    Length {
        /// The bytes that it has.
        bytes: usize,
        /// The bytes that it must have.
        expected: usize,
    },
    /// A message can't be decrypted: another key, another version or another protocol.
    #[error("a handshake message can't be decrypted")]
    Decryption,
    /// A key gives no security.
    #[error("a handshake uses an unusable key")]
    WeakKey,
    /// The Noise state refuses what always works.
    #[error("the handshake state is wrong")]
    State,
}

impl From<snow::Error> for HandshakeError {
    fn from(error: snow::Error) -> Self {
        if error == snow::Error::Decrypt {
            Self::Decryption
        } else if error == snow::Error::Dh {
            Self::WeakKey
        } else {
            Self::State
        }
    }
}

/// Starts a Push Session: the version prefix and the first message, for one write.
///
/// # Errors
///
/// The relay's key is unusable.
pub fn push_start(
    relay: &NoisePublic,
    rng: &mut (impl RngCore + CryptoRng),
) -> Result<(ExpectPushReply, Vec<u8>), HandshakeError> {
    check_key(relay)?;
    let mut state = noise::builder(PUSH_PATTERN, rng)?
        .remote_public_key(relay.as_bytes())?
        .build_initiator()?;
    let mut bytes = PREFIX.to_vec();
    write(&mut state, &mut bytes)?;
    Ok((ExpectPushReply { state }, bytes))
}

/// A device in a Push Session, waiting for the relay's answer.
pub struct ExpectPushReply {
    state: HandshakeState,
}

impl ExpectPushReply {
    /// Finishes the handshake.
    ///
    /// # Errors
    ///
    /// The answer isn't that of the relay whose key was given.
    pub fn handle_reply(mut self, message: &[u8]) -> Result<Channel, HandshakeError> {
        read(&mut self.state, message, PUSH_REPLY_BYTES)?;
        Channel::new(self.state)
    }
}

/// Starts a Receive Session: the version prefix and the first message, for one write.
///
/// # Errors
///
/// The relay's key is unusable.
pub fn receive_start(
    device: &NoiseSecret,
    relay: &NoisePublic,
    rng: &mut (impl RngCore + CryptoRng),
) -> Result<(ExpectReceiveReply, Vec<u8>), HandshakeError> {
    check_key(relay)?;
    let mut state = noise::builder(RECEIVE_PATTERN, rng)?
        .local_private_key(device.as_bytes())?
        .build_initiator()?;
    let mut bytes = PREFIX.to_vec();
    write(&mut state, &mut bytes)?;
    Ok((
        ExpectReceiveReply {
            state,
            relay: *relay,
        },
        bytes,
    ))
}

/// A device in a Receive Session, waiting for the relay's answer.
pub struct ExpectReceiveReply {
    state: HandshakeState,
    relay: NoisePublic,
}

impl ExpectReceiveReply {
    /// Compares the relay's key and only then makes the message that shows the device's.
    ///
    /// # Errors
    ///
    /// The answer isn't that of the relay whose key was given.
    pub fn handle_reply(mut self, message: &[u8]) -> Result<(Channel, Vec<u8>), HandshakeError> {
        read(&mut self.state, message, RECEIVE_REPLY_BYTES)?;
        let theirs = remote_key(&self.state)?;
        if !bool::from(theirs.as_bytes().ct_eq(self.relay.as_bytes())) {
            return Err(HandshakeError::WrongRelayKey);
        }
        let mut bytes = Vec::new();
        write(&mut self.state, &mut bytes)?;
        Ok((Channel::new(self.state)?, bytes))
    }
}

/// A relay in a Push Session, waiting for the first message.
pub struct ExpectPushHello {
    state: HandshakeState,
}

impl ExpectPushHello {
    /// Waits for a device.
    ///
    /// # Errors
    ///
    /// None that can occur; the Noise state says so at run time only.
    pub fn new(
        relay: &NoiseSecret,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Self, HandshakeError> {
        let state = noise::builder(PUSH_PATTERN, rng)?
            .local_private_key(relay.as_bytes())?
            .build_responder()?;
        Ok(Self { state })
    }

    /// Answers the first message and finishes the handshake.
    ///
    /// # Errors
    ///
    /// The device meant another relay, or isn't one.
    pub fn handle_hello(mut self, message: &[u8]) -> Result<(Channel, Vec<u8>), HandshakeError> {
        read(&mut self.state, message, PUSH_HELLO_BYTES)?;
        let mut bytes = Vec::new();
        write(&mut self.state, &mut bytes)?;
        Ok((Channel::new(self.state)?, bytes))
    }
}

/// A relay in a Receive Session, waiting for the first message.
pub struct ExpectReceiveHello {
    state: HandshakeState,
}

impl ExpectReceiveHello {
    /// Waits for a device.
    ///
    /// # Errors
    ///
    /// None that can occur; the Noise state says so at run time only.
    pub fn new(
        relay: &NoiseSecret,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Self, HandshakeError> {
        let state = noise::builder(RECEIVE_PATTERN, rng)?
            .local_private_key(relay.as_bytes())?
            .build_responder()?;
        Ok(Self { state })
    }

    /// Answers the first message.
    ///
    /// # Errors
    ///
    /// The message isn't one.
    pub fn handle_hello(
        mut self,
        message: &[u8],
    ) -> Result<(ExpectReceiveFinish, Vec<u8>), HandshakeError> {
        read(&mut self.state, message, RECEIVE_HELLO_BYTES)?;
        let mut bytes = Vec::new();
        write(&mut self.state, &mut bytes)?;
        Ok((ExpectReceiveFinish { state: self.state }, bytes))
    }
}

/// A relay in a Receive Session, waiting to learn which device it is.
pub struct ExpectReceiveFinish {
    state: HandshakeState,
}

impl ExpectReceiveFinish {
    /// Finishes the handshake; the key is the device's Inbox.
    ///
    /// # Errors
    ///
    /// The device doesn't hold the key that it shows, or the key is unusable.
    pub fn handle_finish(
        mut self,
        message: &[u8],
    ) -> Result<(Channel, NoisePublic), HandshakeError> {
        read(&mut self.state, message, RECEIVE_FINISH_BYTES)?;
        let device = remote_key(&self.state)?;
        check_key(&device)?;
        Ok((Channel::new(self.state)?, device))
    }
}

/// Prints the name of a state and nothing in it.
macro_rules! opaque_debug {
    ($($name:ident),*) => {
        $(impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        })*
    };
}

opaque_debug!(
    ExpectPushHello,
    ExpectPushReply,
    ExpectReceiveFinish,
    ExpectReceiveHello,
    ExpectReceiveReply
);

fn check_key(key: &NoisePublic) -> Result<(), HandshakeError> {
    if key.is_low_order() {
        Err(HandshakeError::WeakKey)
    } else {
        Ok(())
    }
}

/// Reads a message of a length that is known beforehand. Its payload is then empty.
fn read(state: &mut HandshakeState, message: &[u8], expected: usize) -> Result<(), HandshakeError> {
    if message.len() != expected {
        return Err(HandshakeError::Length {
            bytes: message.len(),
            expected,
        });
    }
    let mut payload = [0; HANDSHAKE_BYTES_MAX];
    state.read_message(message, &mut payload)?;
    Ok(())
}

/// Appends the next message, its length in front.
fn write(state: &mut HandshakeState, out: &mut Vec<u8>) -> Result<(), HandshakeError> {
    let mut message = [0; HANDSHAKE_BYTES_MAX];
    let bytes = state.write_message(&[], &mut message)?;
    let message = message.get(..bytes).ok_or(HandshakeError::State)?;
    out.extend_from_slice(&length_prefix(bytes).ok_or(HandshakeError::State)?);
    out.extend_from_slice(message);
    Ok(())
}

/// The length in front of a Noise message.
pub(super) fn length_prefix(bytes: usize) -> Option<[u8; LENGTH_BYTES]> {
    debug_assert!(
        bytes <= NOISE_MESSAGE_BYTES_MAX,
        "longer than any Noise message"
    );
    u16::try_from(bytes).ok().map(u16::to_be_bytes)
}

fn remote_key(state: &HandshakeState) -> Result<NoisePublic, HandshakeError> {
    let key: [u8; KEY_BYTES] = state
        .get_remote_static()
        .and_then(|key| key.try_into().ok())
        .ok_or(HandshakeError::State)?;
    Ok(NoisePublic::from_bytes(key))
}
