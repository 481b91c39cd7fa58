//! From the scanned key to one that no picture of the code gives away.
//!
//! Owns the commitment, the exchange, the six digits, the new key and id, and the proof in a
//! `welcome` (section 8.4, amendment 18). Rotation is always done. Which message may come when
//! is the engine's.
//!
//! Why a commitment: whoever photographed the code can stand between the two devices, and
//! could otherwise search for a key that makes both screens show the same six digits.
//!
//! Invariants: an exchange that everybody could compute gives nothing; secrets are wiped; the
//! old key alone, or the exchange alone, gives neither the new key nor the digits.

use core::fmt;

use hkdf::Hkdf;
use hmac::{Hmac, Mac as _};
use rand_core::{CryptoRng, RngCore};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::key::{LinkId, LinkKey};
use crate::key::{NoisePublic, NoiseSecret};
use crate::limit::{HASH_BYTES, KEY_BYTES, LINK_ID_BYTES};
use crate::{base64url, label};

/// How many different codes there are: six digits.
const DIGITS_MODULUS: u32 = 1_000_000;

/// The private half of one pairing's exchange; used once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeSecret(NoiseSecret);

impl ExchangeSecret {
    /// Draws a new one.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        Self(NoiseSecret::generate(rng))
    }

    /// Takes a stored one.
    #[must_use]
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(NoiseSecret::from_bytes(bytes))
    }

    /// The secret itself, for storing it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        self.0.as_bytes()
    }

    /// Its public half.
    #[must_use]
    pub fn public(&self) -> ExchangePublic {
        ExchangePublic(*self.0.public().as_bytes())
    }
}

/// The public half of one pairing's exchange.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ExchangePublic([u8; KEY_BYTES]);

impl ExchangePublic {
    /// Takes 32 bytes as they are; whether they make a usable key shows in the exchange.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// What binds its owner to it before it is shown.
    #[must_use]
    pub fn commitment(&self) -> Commitment {
        let hash = Sha256::new()
            .chain_update(label::LINK_COMMITMENT)
            .chain_update(self.0);
        Commitment(hash.finalize().into())
    }

    pub(super) fn to_text(self) -> String {
        base64url::encode(&self.0)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        base64url::decode(text).map(Self)
    }
}

impl fmt::Debug for ExchangePublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExchangePublic")
    }
}

/// A hash that binds B to its public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Commitment([u8; HASH_BYTES]);

impl Commitment {
    /// Takes a stored one.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; HASH_BYTES]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; HASH_BYTES] {
        &self.0
    }

    pub(super) fn to_text(self) -> String {
        base64url::encode(&self.0)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        base64url::decode(text).map(Self)
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Commitment")
    }
}

/// The six digits that both screens show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digits(u32);

impl Digits {
    /// The digits as text, leading zeros included.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{:06}", self.0)
    }
}

impl fmt::Debug for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digits")
    }
}

/// What both devices have in common after the exchange.
#[derive(Clone)]
pub struct Rotation {
    key: LinkKey,
    id: LinkId,
    digits: Digits,
    confirmation_key: Zeroizing<[u8; KEY_BYTES]>,
}

impl Rotation {
    /// A's side. `None` where the shared secret would be one that everybody knows.
    #[must_use]
    pub fn of_a(
        old: (&LinkKey, &LinkId),
        secret_a: &ExchangeSecret,
        public_b: &ExchangePublic,
    ) -> Option<Self> {
        let shared = agree(secret_a, public_b)?;
        Some(Self::derive(old, public_b, &secret_a.public(), &shared))
    }

    /// B's side. `None` where the shared secret would be one that everybody knows.
    #[must_use]
    pub fn of_b(
        old: (&LinkKey, &LinkId),
        secret_b: &ExchangeSecret,
        public_a: &ExchangePublic,
    ) -> Option<Self> {
        let shared = agree(secret_b, public_a)?;
        Some(Self::derive(old, &secret_b.public(), public_a, &shared))
    }

    fn derive(
        (old_key, old_id): (&LinkKey, &LinkId),
        public_b: &ExchangePublic,
        public_a: &ExchangePublic,
        shared: &[u8; KEY_BYTES],
    ) -> Self {
        let hkdf = Hkdf::<Sha256>::new(Some(old_key.as_bytes()), shared);
        let transcript = [
            label::LINK_ROTATION,
            old_id.as_bytes(),
            &public_b.0,
            &public_a.0,
        ]
        .concat();
        let expand = |label: &[u8], out: &mut [u8]| {
            let expanded = hkdf.expand_multi_info(&[label, &transcript], out);
            debug_assert!(expanded.is_ok(), "HKDF gives up to 8,160 bytes");
        };
        let [mut key, mut confirmation_key] = [0; 2].map(|_: u8| Zeroizing::new([0; KEY_BYTES]));
        let mut id = [0; LINK_ID_BYTES];
        let mut digits = [0; 4];
        expand(label::LINK_ROTATED_KEY, key.as_mut_slice());
        expand(label::LINK_ROTATED_ID, &mut id);
        expand(label::LINK_DIGITS, &mut digits);
        expand(
            label::LINK_CONFIRMATION_KEY,
            confirmation_key.as_mut_slice(),
        );
        Self {
            key: LinkKey::from_bytes(*key),
            id: LinkId::from_bytes(id),
            digits: Digits(u32::from_be_bytes(digits) % DIGITS_MODULUS),
            confirmation_key,
        }
    }

    /// The link's key from now on.
    #[must_use]
    pub const fn key(&self) -> &LinkKey {
        &self.key
    }

    /// The link's id from now on.
    #[must_use]
    pub const fn id(&self) -> LinkId {
        self.id
    }

    /// What both screens show.
    #[must_use]
    pub const fn digits(&self) -> Digits {
        self.digits
    }

    /// The proof in A's `welcome`: only who took part in the exchange can make it. It covers
    /// A's name.
    #[must_use]
    pub fn confirmation(&self, name_of_a: &str) -> [u8; HASH_BYTES] {
        self.mac(name_of_a)
            .map_or([0; HASH_BYTES], |mac| mac.finalize().into_bytes().into())
    }

    /// Whether a `welcome` with this name and proof is from the device that shows the same
    /// digits. Compares in constant time.
    #[must_use]
    pub fn is_confirmed(&self, name_of_a: &str, confirmation: &[u8; HASH_BYTES]) -> bool {
        self.mac(name_of_a)
            .is_some_and(|mac| mac.verify_slice(confirmation).is_ok())
    }

    /// `None` never happens: HMAC takes keys of any length.
    fn mac(&self, name_of_a: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.confirmation_key.as_slice()).ok()?;
        mac.update(label::LINK_WELCOME);
        mac.update(name_of_a.as_bytes());
        Some(mac)
    }
}

impl fmt::Debug for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rotation")
    }
}

fn agree(secret: &ExchangeSecret, public: &ExchangePublic) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    secret.0.agree(&NoisePublic::from_bytes(public.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::vectors;

    fn secret(which: &str) -> ExchangeSecret {
        ExchangeSecret::from_bytes(vectors::array(&format!("/rotation/secret_{which}")))
    }

    fn of_a() -> Rotation {
        let (key, id) = (vectors::key(), vectors::id());
        Rotation::of_a((&key, &id), &secret("a"), &secret("b").public()).unwrap()
    }

    #[test]
    fn the_vectors_are_met_on_both_sides() {
        let (key, id) = (vectors::key(), vectors::id());
        let of_b = Rotation::of_b((&key, &id), &secret("b"), &secret("a").public()).unwrap();
        let shared = agree(&secret("a"), &secret("b").public()).unwrap();
        assert_eq!(shared.as_slice(), vectors::bytes("/rotation/shared"));
        for which in ["a", "b"] {
            let public = vectors::bytes(&format!("/rotation/public_{which}"));
            assert_eq!(secret(which).public().as_bytes().as_slice(), public);
        }
        for rotation in [of_a(), of_b] {
            let key = rotation.key().as_bytes().as_slice();
            assert_eq!(key, vectors::bytes("/rotation/new_link_key"));
            let id = rotation.id();
            assert_eq!(
                id.as_bytes().as_slice(),
                vectors::bytes("/rotation/new_link_id")
            );
            assert_eq!(rotation.digits().to_text(), vectors::text("/rotation/code"));
        }
        let commitment = secret("b").public().commitment();
        assert_eq!(
            commitment.as_bytes().as_slice(),
            vectors::bytes("/rotation/commit_b")
        );
    }

    #[test]
    fn somebody_in_between_shows_other_digits_on_each_side() {
        let (key, id) = (vectors::key(), vectors::id());
        let (a, b) = (secret("a"), secret("b"));
        let between = ExchangeSecret::from_bytes([0x33; KEY_BYTES]);
        let at_a = Rotation::of_a((&key, &id), &a, &between.public()).unwrap();
        let at_b = Rotation::of_b((&key, &id), &b, &between.public()).unwrap();
        assert_ne!(at_a.digits(), at_b.digits());
        assert_ne!(at_a.key(), at_b.key());
        let proof = at_a.confirmation("Desk");
        assert!(!at_b.is_confirmed("Desk", &proof));
    }

    #[test]
    fn everything_depends_on_the_old_key_and_id() {
        let (a, b) = (secret("a"), secret("b").public());
        let other_key = LinkKey::from_bytes([9; KEY_BYTES]);
        let other_id = LinkId::from_bytes([9; LINK_ID_BYTES]);
        for (key, id) in [(other_key, vectors::id()), (vectors::key(), other_id)] {
            let other = Rotation::of_a((&key, &id), &a, &b).unwrap();
            assert_ne!(other.key(), of_a().key());
            assert_ne!(other.id(), of_a().id());
            assert_ne!(other.digits(), of_a().digits());
        }
    }

    #[test]
    fn a_key_of_low_order_gives_nothing() {
        let (key, id) = (vectors::key(), vectors::id());
        let zero = ExchangePublic::from_bytes([0; KEY_BYTES]);
        assert!(Rotation::of_a((&key, &id), &secret("a"), &zero).is_none());
        assert!(Rotation::of_b((&key, &id), &secret("b"), &zero).is_none());
    }

    #[test]
    fn a_confirmation_covers_the_name_and_is_not_one_of_another_pairing() {
        let proof = of_a().confirmation("Desk");
        assert!(of_a().is_confirmed("Desk", &proof));
        assert!(!of_a().is_confirmed("Desc", &proof));
        for at in 0..HASH_BYTES {
            let mut wrong = proof;
            wrong[at] ^= 1;
            assert!(!of_a().is_confirmed("Desk", &wrong));
        }
    }

    #[test]
    fn a_commitment_fits_one_key() {
        let public = secret("b").public();
        let mut other = *public.as_bytes();
        other[31] ^= 0x80;
        assert_ne!(
            public.commitment(),
            ExchangePublic::from_bytes(other).commitment()
        );
    }

    #[test]
    fn six_digits_keep_their_leading_zeros() {
        assert_eq!(Digits(42).to_text(), "000042");
        assert_eq!(
            format!("{:?} {:?} {:?}", Digits(42), of_a(), secret("a")),
            "Digits Rotation ExchangeSecret(NoiseSecret)"
        );
    }
}
