//! What `snow` is given: the protocol names, the prologue, and primitives that take randomness
//! from outside and wipe their keys.
//!
//! X25519 and ChaCha20-Poly1305 are those of AWS-LC, because a relay spends most of a short
//! session in the former; what AWS-LC allocates for a key it wipes before it frees it. BLAKE2s
//! is the one that comes with `snow`. Nothing here draws randomness through AWS-LC.
//!
//! Not wiped: what `snow` keeps beside the primitives during a handshake and drops as it is. That
//! is the chaining key, of which both transport keys are made, the handshake hash, and copies on
//! the stack of agreed secrets and of cipher keys. The long-lived and the ephemeral secret and the
//! keys of a running session are wiped.
//!
//! Invariant: a side of a handshake draws its ephemeral key before it starts, and there is
//! nothing else it could draw.

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::agreement::{self, PrivateKey, UnparsedPublicKey};
use aws_lc_rs::error::Unspecified;
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

/// X25519 that holds its key for one handshake and refuses to agree on nothing.
struct X25519 {
    /// None until a key is set or drawn.
    pair: Option<KeyPair>,
    public: NoisePublic,
}

/// A secret as bytes, which wipe themselves, and as the key made of them.
struct KeyPair {
    secret: NoiseSecret,
    private: PrivateKey,
}

impl X25519 {
    fn new() -> Self {
        Self {
            pair: None,
            public: NoisePublic::from_bytes([0; KEY_BYTES]),
        }
    }

    fn replace(&mut self, secret: NoiseSecret) -> Result<(), Unspecified> {
        self.pair = None;
        let private = PrivateKey::from_private_key(&agreement::X25519, secret.as_bytes())?;
        let public = private.compute_public_key()?;
        self.public = NoisePublic::from_bytes(public.as_ref().try_into()?);
        self.pair = Some(KeyPair { secret, private });
        Ok(())
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
        self.pair = None;
        if let Some(secret) = privkey.first_chunk::<KEY_BYTES>()
            && privkey.len() == KEY_BYTES
        {
            let _ = self.replace(NoiseSecret::from_bytes(*secret));
        }
    }

    fn generate(&mut self, rng: &mut dyn Random) -> Result<(), snow::Error> {
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        rng.try_fill_bytes(secret.as_mut_slice())?;
        self.replace(NoiseSecret::from_bytes(*secret))
            .map_err(|_| snow::Error::Dh)
    }

    fn pubkey(&self) -> &[u8] {
        self.public.as_bytes()
    }

    fn privkey(&self) -> &[u8] {
        self.pair
            .as_ref()
            .map_or(&[], |pair| pair.secret.as_bytes())
    }

    /// Fails where the shared secret would be zero.
    fn dh(&self, pubkey: &[u8], out: &mut [u8]) -> Result<(), snow::Error> {
        let theirs = pubkey.first_chunk::<KEY_BYTES>().ok_or(snow::Error::Dh)?;
        let pair = self.pair.as_ref().ok_or(snow::Error::Dh)?;
        let out = out.get_mut(..KEY_BYTES).ok_or(snow::Error::Dh)?;
        let theirs = UnparsedPublicKey::new(&agreement::X25519, theirs);
        agreement::agree(&pair.private, theirs, snow::Error::Dh, |shared| {
            if shared.len() != KEY_BYTES {
                return Err(snow::Error::Dh);
            }
            out.copy_from_slice(shared);
            Ok(())
        })
    }
}

/// ChaCha20-Poly1305 with the nonce of Noise: four zero bytes and a little-endian counter.
///
/// It keeps the key's 32 bytes. The state that AWS-LC makes of them is twenty times as large
/// and made anew for each message, in a tenth of the time that the shortest message takes: a
/// relay holds thousands of sessions in which nothing moves.
struct ChaChaPoly {
    key: Zeroizing<[u8; KEY_BYTES]>,
}

impl ChaChaPoly {
    fn new() -> Self {
        Self {
            key: Zeroizing::new([0; KEY_BYTES]),
        }
    }

    fn cipher(&self) -> Result<LessSafeKey, Unspecified> {
        UnboundKey::new(&CHACHA20_POLY1305, self.key.as_slice()).map(LessSafeKey::new)
    }
}

impl Cipher for ChaChaPoly {
    fn name(&self) -> &'static str {
        "ChaChaPoly"
    }

    fn set(&mut self, key: &[u8; KEY_BYTES]) {
        *self.key = *key;
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
        let sealed = self.cipher().and_then(|cipher| {
            cipher.seal_in_place_separate_tag(noise_nonce(nonce), Aad::from(authtext), text)
        });
        match sealed {
            Ok(tag) if tag.as_ref().len() == room.len() => {
                room.copy_from_slice(tag.as_ref());
                plaintext.len().saturating_add(TAG_BYTES)
            }
            _ => {
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
        self.cipher()
            .and_then(|cipher| {
                cipher.open_separate_gather(
                    noise_nonce(nonce),
                    Aad::from(authtext),
                    text,
                    tag,
                    room,
                )
            })
            .map_err(|_| snow::Error::Decrypt)?;
        Ok(text.len())
    }
}

fn noise_nonce(counter: u64) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce
        .iter_mut()
        .skip(4)
        .zip(counter.to_le_bytes())
        .for_each(|(to, from)| *to = from);
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Points of small order and others that not every implementation reads alike.
    const EDGES: [[u8; KEY_BYTES]; 4] = [
        [0; KEY_BYTES],
        edge(1, 0, 0),
        edge(0xed, 0xff, 0x7f),
        edge(0xff, 0xff, 0xff),
    ];

    const fn edge(first: u8, middle: u8, last: u8) -> [u8; KEY_BYTES] {
        let mut bytes = [middle; KEY_BYTES];
        bytes[0] = first;
        bytes[KEY_BYTES - 1] = last;
        bytes
    }

    fn point() -> impl Strategy<Value = [u8; KEY_BYTES]> {
        prop_oneof![8 => any::<[u8; KEY_BYTES]>(), 1 => prop::sample::select(&EDGES[..])]
    }

    proptest! {
        /// What AWS-LC says of a key or an agreement, `curve25519-dalek` says too.
        #[test]
        fn two_implementations_agree(secret in any::<[u8; KEY_BYTES]>(), theirs in point()) {
            let secret = NoiseSecret::from_bytes(secret);
            let mut dh = X25519::new();
            dh.set(secret.as_bytes());
            let public = secret.public();
            prop_assert_eq!(dh.pubkey(), public.as_bytes());
            let mut out = [0; KEY_BYTES];
            let agreed = dh.dh(&theirs, &mut out).ok().map(|()| out);
            let expected = secret.agree(&NoisePublic::from_bytes(theirs));
            prop_assert_eq!(agreed, expected.map(|shared| *shared));
        }
    }

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
