//! Where private keys are kept.
//!
//! Owns the [`KeyStore`] trait, what is kept under it ([`item`]) and its implementations:
//! the keychain of the operating system ([`keychain`]), a key file with or without a
//! passphrase ([`key_file`]), and memory for tests ([`memory`]).
//!
//! Never falls back from one store to another and never makes up a key by itself: which
//! store a profile uses is the person's decision, and a key that can't be read is reported,
//! not replaced. The kernel's key ring is not used at all, because it forgets at a reboot.
//!
//! Invariants:
//! - calls block; an asynchronous caller moves them off its runtime;
//! - a saved item is durable when [`KeyStore::save`] returns;
//! - no error tells an item's name, a path or a key.

pub mod item;
pub mod key_file;
pub mod keychain;
mod layout;
pub mod memory;
pub(crate) mod passphrase;

use std::io;

pub use item::{GroupKeys, Identity, IdentityId, KeyItem, KeyItemName};
pub use key_file::{KeyFileStore, PassphraseFileStore};
pub use keychain::KeychainStore;
pub use memory::MemoryStore;

/// Keeps key items under names.
pub trait KeyStore: Send + Sync + 'static {
    /// Loads the item called `name`; `None` when the store works and has no such item.
    ///
    /// # Errors
    ///
    /// Any [`KeyStoreError`]: the store could not be asked, or what it holds is damaged.
    fn load(&self, name: &KeyItemName) -> Result<Option<KeyItem>, KeyStoreError>;

    /// Saves `item` under `name`, replacing what was there. Durable on return.
    ///
    /// # Errors
    ///
    /// Any [`KeyStoreError`]; the earlier item, if any, is then still there.
    fn save(&self, name: &KeyItemName, item: &KeyItem) -> Result<(), KeyStoreError>;

    /// Removes the item called `name`; nothing happens when there is none.
    ///
    /// # Errors
    ///
    /// Any [`KeyStoreError`].
    fn remove(&self, name: &KeyItemName) -> Result<(), KeyStoreError>;
}

/// Why a key store did not do what was asked. The text is safe to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyStoreError {
    /// There is no keychain here: no Secret Service on the session bus, or one without a
    /// lasting default collection.
    #[error("there is no keychain on this computer, or it keeps nothing for good")]
    Missing,
    /// The keychain is locked and nothing unlocked it.
    #[error("the keychain is locked")]
    Locked,
    /// The keychain asked to be unlocked and the question was dismissed.
    #[error("unlocking the keychain was dismissed")]
    Dismissed,
    /// What is kept under this name is not what was written.
    #[error("the stored keys are damaged")]
    Damaged,
    /// The keys belong to another profile.
    #[error("the stored keys belong to another profile")]
    OtherProfile,
    /// The keys were written by a newer version of this program.
    #[error("the stored keys were written by a newer version of this program")]
    TooNew,
    /// The passphrase doesn't open the key file.
    #[error("this passphrase does not open the key file")]
    WrongPassphrase,
    /// An unprotected key file can be read by others.
    #[error("the key file can be read by other users of this computer (mode {mode:o})")]
    Exposed {
        /// The permission bits that were found.
        mode: u32,
    },
    /// There is a key file where none may be yet.
    #[error("there is a key file already")]
    AlreadyThere,
    /// The file could not be read or written.
    #[error("the key file can't be used: {0}")]
    Io(io::ErrorKind),
    /// The keychain failed in a way that it doesn't explain.
    #[error("the keychain failed")]
    Failed,
}

impl KeyStoreError {
    /// A stable name for each kind.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Missing => "keyStoreMissing",
            Self::Locked => "keyStoreLocked",
            Self::Dismissed => "keyStoreDismissed",
            Self::Damaged => "keyStoreDamaged",
            Self::OtherProfile => "keyStoreOtherProfile",
            Self::TooNew => "keyStoreTooNew",
            Self::WrongPassphrase => "wrongPassphrase",
            Self::Exposed { .. } => "keyFileExposed",
            Self::AlreadyThere => "keyFileAlreadyThere",
            Self::Io(_) => "keyFile",
            Self::Failed => "keyStoreFailed",
        }
    }
}

impl From<io::Error> for KeyStoreError {
    fn from(error: io::Error) -> Self {
        Self::Io(error.kind())
    }
}
