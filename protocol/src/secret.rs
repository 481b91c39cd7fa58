//! What every secret of 32 bytes has in common: private keys and pairing secrets.
//!
//! Invariants: a secret is wiped when dropped, `Debug` prints its type's name and nothing else,
//! comparing takes constant time.

/// Implements what every secret of 32 bytes shares, for a type `struct Name([u8; KEY_BYTES])`.
macro_rules! secret_bytes {
    ($name:ident) => {
        impl $name {
            /// Draws a new secret.
            #[must_use]
            pub fn generate(
                rng: &mut (impl ::rand_core::RngCore + ::rand_core::CryptoRng),
            ) -> Self {
                let mut secret = Self([0; $crate::limit::KEY_BYTES]);
                rng.fill_bytes(&mut secret.0);
                secret
            }

            /// Takes a stored secret.
            #[must_use]
            pub fn from_bytes(bytes: [u8; $crate::limit::KEY_BYTES]) -> Self {
                Self(bytes)
            }

            /// The secret itself, for storing it.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8; $crate::limit::KEY_BYTES] {
                &self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                ::zeroize::Zeroize::zeroize(&mut self.0);
            }
        }

        impl ::zeroize::ZeroizeOnDrop for $name {}

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                ::subtle::ConstantTimeEq::ct_eq(self.0.as_slice(), other.0.as_slice()).into()
            }
        }

        impl Eq for $name {}

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

pub(crate) use secret_bytes;
