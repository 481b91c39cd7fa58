//! Device and relay keys: X25519 for Noise and Addressed Encryption, Ed25519 for signatures.
//!
//! Owns the four key types and the pairs made of them. It never derives one key from another
//! and never prints one. Specification sections 1.2 and 1.3.
//!
//! Invariants: a secret is wiped when dropped; `Debug` prints a fixed word; comparing secrets
//! takes constant time.

use core::fmt;

use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use rand_core::{CryptoRng, RngCore};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use crate::base64url;
use crate::limit::{KEY_BYTES, SIGNATURE_BYTES};
use crate::secret::secret_bytes;

/// The u-coordinates of the points of small order, the top bit cleared: with any private key
/// they give a secret that everybody knows.
const LOW_ORDER_POINTS: [[u8; KEY_BYTES]; 7] = [
    [0; KEY_BYTES],
    single(1, 0x00, 0x00),
    [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
    ],
    [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef,
        0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f,
        0x11, 0x57,
    ],
    single(0xec, 0xff, 0x7f),
    single(0xed, 0xff, 0x7f),
    single(0xee, 0xff, 0x7f),
];

const fn single(first: u8, middle: u8, last: u8) -> [u8; KEY_BYTES] {
    let mut bytes = [middle; KEY_BYTES];
    bytes[0] = first;
    bytes[KEY_BYTES - 1] = last;
    bytes
}

/// Implements what both public key types share.
macro_rules! public_key {
    ($name:ident) => {
        impl $name {
            /// Takes 32 bytes as they are; whether they make a usable key is asked separately.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
                Self(bytes)
            }

            /// The 32 bytes of the key.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
                &self.0
            }
        }

        impl From<[u8; KEY_BYTES]> for $name {
            fn from(bytes: [u8; KEY_BYTES]) -> Self {
                Self(bytes)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

/// An X25519 private key.
#[derive(Clone)]
pub struct NoiseSecret([u8; KEY_BYTES]);

secret_bytes!(NoiseSecret);

impl NoiseSecret {
    /// The public key of this secret.
    #[must_use]
    pub fn public(&self) -> NoisePublic {
        NoisePublic(PublicKey::from(&StaticSecret::from(self.0)).to_bytes())
    }

    /// The secret shared with the holder of `theirs`, or `None` where everybody knows it.
    pub(crate) fn agree(&self, theirs: &NoisePublic) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
        let shared = StaticSecret::from(self.0).diffie_hellman(&PublicKey::from(theirs.0));
        shared
            .was_contributory()
            .then(|| Zeroizing::new(shared.to_bytes()))
    }
}

/// An X25519 public key: an Inbox on a relay, or a relay itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoisePublic([u8; KEY_BYTES]);

public_key!(NoisePublic);

impl NoisePublic {
    /// Whether this is one of the few keys that give no secrecy with any private key.
    #[must_use]
    pub fn is_low_order(&self) -> bool {
        let mut masked = self.0;
        if let Some(last) = masked.last_mut() {
            // X25519 ignores the top bit.
            *last &= 0x7f;
        }
        LOW_ORDER_POINTS.contains(&masked)
    }
}

/// An Ed25519 private key: the 32-byte seed.
#[derive(Clone)]
pub struct SigningSecret([u8; KEY_BYTES]);

secret_bytes!(SigningSecret);

impl SigningSecret {
    /// The public key of this secret.
    #[must_use]
    pub fn public(&self) -> SigningPublic {
        self.signer().public()
    }

    /// Ready to sign: what costs as much as a signature is done once.
    pub(crate) fn signer(&self) -> Signer {
        Signer(SigningKey::from_bytes(&self.0))
    }

    pub(crate) fn sign(&self, input: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.signer().sign(input)
    }
}

/// A signing secret with its public key; it wipes itself when dropped.
pub(crate) struct Signer(SigningKey);

impl Signer {
    pub(crate) fn public(&self) -> SigningPublic {
        SigningPublic(self.0.verifying_key().to_bytes())
    }

    pub(crate) fn sign(&self, input: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.0.sign(input).to_bytes()
    }
}

/// An Ed25519 public key: who signed, and the source of a member's id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SigningPublic([u8; KEY_BYTES]);

public_key!(SigningPublic);

impl SigningPublic {
    /// The id under which a member is known to the app.
    #[must_use]
    pub fn member_id(&self) -> MemberId {
        MemberId(base64url::encode(&self.0))
    }

    /// Whether this isn't a usable key: no point of the curve, or one of small order, under
    /// which signatures can be made without a secret.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.verifying_key().is_none_or(|key| key.is_weak())
    }

    /// Verifies strictly: canonical point and scalar, no key of small order.
    pub(crate) fn is_signed(&self, input: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(signature);
        self.verifying_key()
            .is_some_and(|key| key.verify_strict(input, &signature).is_ok())
    }

    /// The point, if these 32 bytes are the one way to write it.
    fn verifying_key(&self) -> Option<VerifyingKey> {
        let key = VerifyingKey::from_bytes(&self.0).ok()?;
        (key.to_edwards().compress().to_bytes() == self.0).then_some(key)
    }
}

/// The id of a member: the signing key as 43 characters of base64url.
///
/// Opaque to the app. `Debug` prints a fixed word.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(String);

impl MemberId {
    /// Reads an id that [`MemberId::as_str`] gave; any other text is refused.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        base64url::decode::<KEY_BYTES>(text).map(|_| Self(text.to_owned()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The signing key that this id stands for.
    #[must_use]
    pub fn signing_key(&self) -> Option<SigningPublic> {
        base64url::decode(&self.0).map(SigningPublic)
    }
}

impl fmt::Debug for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemberId")
    }
}

/// Both private keys of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSecrets {
    /// For Receive Sessions and for opening Envelopes.
    pub noise: NoiseSecret,
    /// For signing Envelopes and manifests.
    pub signing: SigningSecret,
}

impl DeviceSecrets {
    /// Draws two unrelated secrets.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        Self {
            noise: NoiseSecret::generate(rng),
            signing: SigningSecret::generate(rng),
        }
    }

    /// The public keys of this device.
    #[must_use]
    pub fn keys(&self) -> DeviceKeys {
        DeviceKeys {
            noise: self.noise.public(),
            signing: self.signing.public(),
        }
    }
}

/// Both public keys of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceKeys {
    /// The device's Inbox and the target of Addressed Encryption.
    pub noise: NoisePublic,
    /// The key that the device signs with.
    pub signing: SigningPublic,
}

impl DeviceKeys {
    /// Whether one of the two isn't a usable key.
    #[must_use]
    pub fn are_weak(&self) -> bool {
        self.noise.is_low_order() || self.signing.is_weak()
    }

    /// Noise key, then signing key.
    pub(crate) fn to_bytes(self) -> [u8; 2 * KEY_BYTES] {
        let mut bytes = [0; 2 * KEY_BYTES];
        let (noise, signing) = bytes.split_at_mut(KEY_BYTES);
        noise.copy_from_slice(&self.noise.0);
        signing.copy_from_slice(&self.signing.0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vectors;

    #[test]
    fn low_order_points_agree_to_nothing() {
        for mut point in LOW_ORDER_POINTS {
            for top_bit in [0x00, 0x80] {
                point[31] = (point[31] & 0x7f) | top_bit;
                let public = NoisePublic::from_bytes(point);
                assert!(public.is_low_order());
                assert!(NoiseSecret::from_bytes([0x77; 32]).agree(&public).is_none());
            }
        }
    }

    #[test]
    fn public_keys_follow_from_the_secrets() {
        for which in ["a", "b"] {
            let keys = vectors::device(which).keys();
            let noise = vectors::bytes(&format!("/keys/{which}_noise_public"));
            let signing = vectors::bytes(&format!("/keys/{which}_signing_public"));
            assert_eq!(keys.to_bytes().as_slice(), [noise, signing].concat());
            assert!(!keys.are_weak());
        }
        let relay = vectors::noise_secret("/inputs/relay/noise_private").public();
        assert_eq!(
            relay.as_bytes().as_slice(),
            vectors::bytes("/keys/relay_public")
        );
    }

    #[test]
    fn a_member_id_has_one_text() {
        let id = vectors::device("a").keys().signing.member_id();
        assert_eq!(id.as_str(), vectors::text("/keys/a_member_id"));
        assert_eq!(id.signing_key(), Some(vectors::device("a").keys().signing));
        assert_eq!(MemberId::parse(id.as_str()), Some(id.clone()));
        assert_eq!(
            MemberId::parse("oJql9HpnWYAv-VX43C0qFKXJnSO-l_hkEn_5ODRVpPB"),
            None
        );
        assert_eq!(MemberId::parse(""), None);
    }

    #[test]
    fn debug_prints_fixed_words() {
        let secrets = vectors::device("a");
        assert_eq!(
            format!(
                "{secrets:?} {:?} {:?}",
                secrets.keys(),
                secrets.keys().signing.member_id()
            ),
            "DeviceSecrets { noise: NoiseSecret, signing: SigningSecret } \
             DeviceKeys { noise: NoisePublic, signing: SigningPublic } MemberId"
        );
    }

    #[test]
    fn a_small_signing_key_is_weak() {
        assert!(SigningPublic::from_bytes([0; 32]).is_weak());
        let mut identity = [0; 32];
        identity[0] = 1;
        assert!(SigningPublic::from_bytes(identity).is_weak());
        assert!(!SigningSecret::from_bytes([0x22; 32]).public().is_weak());
        // y = p + 3: a point of large order, written in another way than its own.
        let mut other_form = [0xff; 32];
        other_form[0] = 0xf0;
        other_form[31] = 0x7f;
        assert!(VerifyingKey::from_bytes(&other_form).is_ok_and(|key| !key.is_weak()));
        assert!(SigningPublic::from_bytes(other_form).is_weak());
    }

    proptest! {
        #[test]
        fn only_low_order_keys_agree_to_nothing(bytes: [u8; 32], secret: [u8; 32]) {
            let public = NoisePublic::from_bytes(bytes);
            let agreed = NoiseSecret::from_bytes(secret).agree(&public);
            prop_assert_eq!(agreed.is_none(), public.is_low_order());
        }
    }
}
