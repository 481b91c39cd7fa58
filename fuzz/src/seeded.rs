//! Keys and randomness that are the same in every run.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sealpost_protocol::key::NoiseSecret;

/// The random numbers of one side of a handshake.
pub(crate) fn rng(side: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([side; 32])
}

pub(crate) fn relay_key() -> NoiseSecret {
    NoiseSecret::from_bytes([0x77; 32])
}

pub(crate) fn device_key() -> NoiseSecret {
    NoiseSecret::from_bytes([0x11; 32])
}
