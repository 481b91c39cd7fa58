//! A key from a passphrase.
//!
//! Owns what Argon2id costs, and what a file may ask for at most: a damaged or planted one
//! must not stop the computer. Takes about a second and 64 MiB at the usual cost.

use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

/// Bytes of the salt.
pub(crate) const SALT_BYTES: usize = 16;

/// What Argon2id costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) memory_kib: u32,
    pub(crate) passes: u32,
    pub(crate) lanes: u32,
}

impl Cost {
    /// That of a file that is written today.
    pub(crate) const USUAL: Self = Self {
        memory_kib: 64 * 1024,
        passes: 3,
        lanes: 1,
    };

    /// Whether no part of it is above `most`.
    pub(crate) const fn is_within(self, most: Self) -> bool {
        self.memory_kib <= most.memory_kib && self.passes <= most.passes && self.lanes <= most.lanes
    }
}

/// Why there is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// Argon2id has no such cost.
    Cost,
    /// The memory for it isn't there.
    Memory,
}

/// Derives a key. Blocks.
pub(crate) fn derive(
    passphrase: &str,
    cost: Cost,
    salt: &[u8; SALT_BYTES],
) -> Result<Zeroizing<[u8; 32]>, NoKey> {
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(32));
    let params = params.map_err(|_| NoKey::Cost)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut key = Zeroizing::new([0; 32]);
    argon2
        .hash_password_into(passphrase.as_bytes(), salt, key.as_mut())
        .map_err(|_| NoKey::Memory)?;
    Ok(key)
}
