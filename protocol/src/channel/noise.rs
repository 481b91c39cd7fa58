//! What `snow` is given: the protocol names, the prologue, and primitives that take randomness
//! from outside and wipe their keys.
//!
//! Invariant: a side of a handshake draws its ephemeral key before it starts, and there is
//! nothing else it could draw.

use chacha20poly1305::aead::{AeadInPlace as _, KeyInit as _};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce, Tag};
use rand_core::{CryptoRng, RngCore};
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use zeroize::Zeroizing;

use crate::key::{NoisePublic, NoiseSecret};
use crate::limit::{KEY_BYTES, TAG_BYTES};
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
    let resolver = Resolver { ephemeral };
    snow::Builder::with_resolver(pattern.parse()?, Box::new(resolver)).prologue(&PREFIX)
}

struct Resolver {
    ephemeral: Zeroizing<[u8; KEY_BYTES]>,
}

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        let bytes = Some(self.ephemeral.clone());
        Some(Box::new(DrawnBytes { bytes }))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        matches!(choice, DHChoice::Curve25519).then(|| Box::new(X25519::new()) as Box<dyn Dh>)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        let cipher = || Box::new(ChaChaPoly::new()) as Box<dyn Cipher>;
        matches!(choice, CipherChoice::ChaChaPoly).then(cipher)
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

/// X25519 over our own key type, which wipes itself and refuses to agree on nothing.
struct X25519 {
    /// None until a key is set or drawn.
    secret: Option<NoiseSecret>,
    public: NoisePublic,
}

impl X25519 {
    fn new() -> Self {
        Self {
            secret: None,
            public: NoisePublic::from_bytes([0; KEY_BYTES]),
        }
    }

    fn replace(&mut self, secret: NoiseSecret) {
        self.public = secret.public();
        self.secret = Some(secret);
    }
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        KEY_BYTES
    }

    fn priv_len(&self) -> usize {
        KEY_BYTES
    }

    fn set(&mut self, privkey: &[u8]) {
        // Only whole keys are ever handed in. What isn't one can't be refused here; without a
        // key every agreement fails, while a made-up one would be known to everybody.
        self.secret = None;
        if let Some(secret) = privkey.first_chunk::<KEY_BYTES>()
            && privkey.len() == KEY_BYTES
        {
            self.replace(NoiseSecret::from_bytes(*secret));
        }
    }

    fn generate(&mut self, rng: &mut dyn Random) -> Result<(), snow::Error> {
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        rng.try_fill_bytes(secret.as_mut_slice())?;
        self.replace(NoiseSecret::from_bytes(*secret));
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        self.public.as_bytes()
    }

    fn privkey(&self) -> &[u8] {
        self.secret.as_ref().map_or(&[], |secret| secret.as_bytes())
    }

    fn dh(&self, pubkey: &[u8], out: &mut [u8]) -> Result<(), snow::Error> {
        let theirs = pubkey.first_chunk::<KEY_BYTES>().ok_or(snow::Error::Dh)?;
        let theirs = NoisePublic::from_bytes(*theirs);
        let secret = self.secret.as_ref().ok_or(snow::Error::Dh)?;
        let shared = secret.agree(&theirs).ok_or(snow::Error::Dh)?;
        out.get_mut(..KEY_BYTES)
            .ok_or(snow::Error::Dh)?
            .copy_from_slice(shared.as_slice());
        Ok(())
    }
}

/// ChaCha20-Poly1305 with the nonce of Noise: four zero bytes and a little-endian counter.
struct ChaChaPoly {
    cipher: ChaCha20Poly1305,
}

impl ChaChaPoly {
    fn new() -> Self {
        Self {
            cipher: ChaCha20Poly1305::new(&Key::default()),
        }
    }
}

impl Cipher for ChaChaPoly {
    fn name(&self) -> &'static str {
        "ChaChaPoly"
    }

    fn set(&mut self, key: &[u8; KEY_BYTES]) {
        self.cipher = ChaCha20Poly1305::new(Key::from_slice(key));
    }

    /// Writes nothing where the room isn't enough; the caller has made sure that it is.
    fn encrypt(&self, nonce: u64, authtext: &[u8], plaintext: &[u8], out: &mut [u8]) -> usize {
        let Some((text, rest)) = out.split_at_mut_checked(plaintext.len()) else {
            return 0;
        };
        let Some(room) = rest.first_chunk_mut::<TAG_BYTES>() else {
            return 0;
        };
        text.copy_from_slice(plaintext);
        match self
            .cipher
            .encrypt_in_place_detached(&noise_nonce(nonce), authtext, text)
        {
            Ok(tag) => {
                room.copy_from_slice(&tag);
                plaintext.len().saturating_add(TAG_BYTES)
            }
            Err(_) => {
                text.fill(0);
                0
            }
        }
    }

    fn decrypt(
        &self,
        nonce: u64,
        authtext: &[u8],
        ciphertext: &[u8],
        out: &mut [u8],
    ) -> Result<usize, snow::Error> {
        let (text, tag) = ciphertext
            .split_last_chunk::<TAG_BYTES>()
            .ok_or(snow::Error::Decrypt)?;
        let room = out.get_mut(..text.len()).ok_or(snow::Error::Decrypt)?;
        room.copy_from_slice(text);
        self.cipher
            .decrypt_in_place_detached(&noise_nonce(nonce), authtext, room, Tag::from_slice(tag))
            .map_err(|_| snow::Error::Decrypt)?;
        Ok(text.len())
    }
}

fn noise_nonce(counter: u64) -> Nonce {
    let mut nonce = Nonce::default();
    nonce
        .iter_mut()
        .skip(4)
        .zip(counter.to_le_bytes())
        .for_each(|(to, from)| *to = from);
    nonce
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_agreed_without_a_whole_key() {
        let theirs = NoiseSecret::from_bytes([9; KEY_BYTES]).public();
        let mut out = [0; KEY_BYTES];
        let mut dh = X25519::new();
        for wrong in [&[][..], &[7; KEY_BYTES - 1], &[7; KEY_BYTES + 1]] {
            assert!(dh.dh(theirs.as_bytes(), &mut out).is_err());
            dh.set(&[7; KEY_BYTES]);
            dh.dh(theirs.as_bytes(), &mut out).unwrap();
            dh.set(wrong);
            assert!(dh.dh(theirs.as_bytes(), &mut out).is_err());
        }
    }
}
