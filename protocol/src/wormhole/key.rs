//! The keys of a wormhole: the exchange by a code, what follows from it, and sealed bodies.
//!
//! Owns SPAKE2 over Ed25519 in its symmetric form, HKDF-SHA256 and XSalsa20-Poly1305, as every
//! magic-wormhole client has them. The exchange keeps no state but the random bytes that it
//! began with, so that it goes on after a restart: from the same bytes comes the same message.
//!
//! Invariants: one attempt at the code per exchange, because the peer's message is finished
//! with once; keys are wiped when dropped.

use crypto_secretbox::aead::{Aead as _, KeyInit as _};
use crypto_secretbox::{Key, Nonce, XSalsa20Poly1305};
use hkdf::Hkdf;
use rand_chacha::ChaCha20Rng;
use rand_core::{CryptoRng, RngCore, SeedableRng as _};
use sha2::{Digest as _, Sha256};
use spake2::{Ed25519Group, Identity, Password, Spake2};
use thiserror::Error;
use zeroize::Zeroizing;

use super::application::Application;
use super::code::WormholeCode;
use super::phase::Phase;
use super::side::Side;
use crate::label;
use crate::limit::{KEY_BYTES, WORMHOLE_NONCE_BYTES};
use crate::secret::secret_bytes;

/// The random bytes that one key exchange begins with. Never used with a second code.
#[derive(Clone)]
pub struct PakeSecret([u8; KEY_BYTES]);

secret_bytes!(PakeSecret);

/// What both sides have after the exchange, or keep as the seed of a lasting wormhole.
#[derive(Clone)]
pub struct WormholeKey([u8; KEY_BYTES]);

secret_bytes!(WormholeKey);

/// The exchange can't be finished with what the peer sent.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the peer's message isn't one of a key exchange")]
pub struct PakeError;

/// The bytes aren't what the peer sealed under this key for this phase.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the message doesn't open")]
pub struct UnsealError;

impl PakeSecret {
    /// The own message of the exchange: always the same one.
    #[must_use]
    pub fn message(&self, app: Application, code: &WormholeCode) -> Vec<u8> {
        self.start(app, code).1
    }

    /// Finishes the exchange with the peer's message.
    ///
    /// # Errors
    ///
    /// It isn't one, or it is one's own.
    pub fn finish(
        &self,
        app: Application,
        code: &WormholeCode,
        theirs: &[u8],
    ) -> Result<WormholeKey, PakeError> {
        let (exchange, own) = self.start(app, code);
        if own == theirs {
            return Err(PakeError);
        }
        let key = Zeroizing::new(exchange.finish(theirs).map_err(|_| PakeError)?);
        let bytes = key.as_slice().try_into().map_err(|_| PakeError)?;
        Ok(WormholeKey(bytes))
    }

    fn start(&self, app: Application, code: &WormholeCode) -> (Spake2<Ed25519Group>, Vec<u8>) {
        Spake2::start_symmetric_with_rng(
            &Password::new(code.to_text().as_bytes()),
            &Identity::new(app.id().as_bytes()),
            ChaCha20Rng::from_seed(self.0),
        )
    }
}

impl WormholeKey {
    /// Another key for a purpose of its own.
    #[must_use]
    pub fn derive(&self, purpose: &[u8]) -> Self {
        let mut key = Self([0; KEY_BYTES]);
        expand(&self.0, purpose, &mut key.0);
        key
    }

    /// The mailbox of a lasting wormhole: 32 hex digits that nobody else can know.
    #[must_use]
    pub fn mailbox(&self) -> String {
        let id = self.derive(label::WORMHOLE_MAILBOX);
        let (half, _) = id.0.split_at(KEY_BYTES / 2);
        hex::encode(half)
    }

    /// Seals a message of one's own.
    #[must_use]
    pub fn seal(
        &self,
        own: &Side,
        phase: &Phase,
        plaintext: &[u8],
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Vec<u8> {
        let mut nonce = [0; WORMHOLE_NONCE_BYTES];
        rng.fill_bytes(&mut nonce);
        self.seal_with(own, phase, plaintext, nonce)
    }

    fn seal_with(
        &self,
        own: &Side,
        phase: &Phase,
        plaintext: &[u8],
        nonce: [u8; WORMHOLE_NONCE_BYTES],
    ) -> Vec<u8> {
        let sealed = self
            .cipher(own, phase)
            .encrypt(Nonce::from_slice(&nonce), plaintext);
        debug_assert!(sealed.is_ok(), "memory takes every length");
        let mut body = nonce.to_vec();
        body.extend(sealed.unwrap_or_default());
        body
    }

    /// Opens a message of the peer.
    ///
    /// # Errors
    ///
    /// It was sealed under another key, for another phase, by another side, or not at all.
    pub fn open(
        &self,
        peer: &Side,
        phase: &Phase,
        body: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, UnsealError> {
        let (nonce, sealed) = body
            .split_at_checked(WORMHOLE_NONCE_BYTES)
            .ok_or(UnsealError)?;
        self.cipher(peer, phase)
            .decrypt(Nonce::from_slice(nonce), sealed)
            .map(Zeroizing::new)
            .map_err(|_| UnsealError)
    }

    fn cipher(&self, side: &Side, phase: &Phase) -> XSalsa20Poly1305 {
        let key = self.phase_key(side, phase);
        XSalsa20Poly1305::new(Key::from_slice(&key.0))
    }

    fn phase_key(&self, side: &Side, phase: &Phase) -> Self {
        let mut purpose = label::WORMHOLE_PHASE.to_vec();
        purpose.extend_from_slice(&Sha256::digest(side.as_str()));
        purpose.extend_from_slice(&Sha256::digest(phase.to_text()));
        self.derive(&purpose)
    }
}

fn expand(key: &[u8; KEY_BYTES], purpose: &[u8], out: &mut [u8; KEY_BYTES]) {
    let expanded = Hkdf::<Sha256>::new(None, key).expand(purpose, out);
    debug_assert!(expanded.is_ok(), "HKDF gives up to 8,160 bytes");
}

#[cfg(test)]
mod tests;
