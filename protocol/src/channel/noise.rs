//! What `snow` is given: the protocol names, the prologue and our own source of randomness.

use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use zeroize::Zeroizing;

use rand_core::{CryptoRng, RngCore};

use crate::limit::KEY_BYTES;
use crate::version::PREFIX;

pub(super) const RECEIVE_PATTERN: &str = "Noise_XX_25519_ChaChaPoly_BLAKE2s";
pub(super) const PUSH_PATTERN: &str = "Noise_NK_25519_ChaChaPoly_BLAKE2s";

/// A builder for one side of one handshake, with an ephemeral key from `rng`.
pub(super) fn builder(
    pattern: &str,
    rng: &mut (impl RngCore + CryptoRng),
) -> Result<snow::Builder<'static>, snow::Error> {
    let mut ephemeral = Zeroizing::new([0; KEY_BYTES]);
    rng.fill_bytes(ephemeral.as_mut_slice());
    let resolver = DrawnResolver { ephemeral };
    snow::Builder::with_resolver(pattern.parse()?, Box::new(resolver)).prologue(&PREFIX)
}

/// The usual primitives, and randomness that was drawn beforehand.
struct DrawnResolver {
    ephemeral: Zeroizing<[u8; KEY_BYTES]>,
}

impl CryptoResolver for DrawnResolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(DrawnBytes {
            bytes: Some(self.ephemeral.clone()),
        }))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

/// Gives its bytes once. A side of a handshake needs one ephemeral key, and a second one must
/// not be the same.
struct DrawnBytes {
    bytes: Option<Zeroizing<[u8; KEY_BYTES]>>,
}

impl Random for DrawnBytes {
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), snow::Error> {
        let bytes = self.bytes.take().ok_or(snow::Error::Rng)?;
        if dest.len() != bytes.len() {
            return Err(snow::Error::Rng);
        }
        dest.copy_from_slice(bytes.as_slice());
        Ok(())
    }
}
