//! Key stores that can't be used.

use sealpost_engine::keys::KeyStoreError;

use crate::failure::{Exit, Failure};

/// What to do where no keychain helps.
const KEY_FILE_INSTEAD: &str = "Start a Secret Service, or make another profile with keys in a \
                                file: `sealpost init --profile NAME --key-store passphrase`.";

/// A key store that can't be used.
pub(crate) fn key_store_error(error: KeyStoreError) -> Failure {
    match error {
        KeyStoreError::Missing => keys(
            "keychain-missing",
            "There is no keychain.",
            "No Secret Service answers here, or it keeps nothing for good.",
            KEY_FILE_INSTEAD,
        ),
        KeyStoreError::Locked => keys(
            "keychain-locked",
            "The keychain is locked.",
            "Nothing here can unlock it.",
            "Unlock it and try again. Nothing was changed.",
        ),
        KeyStoreError::Dismissed => keys(
            "keychain-dismissed",
            "The keychain was not unlocked.",
            "The question for its password was dismissed.",
            "Try again and unlock it. Nothing was changed.",
        ),
        KeyStoreError::Damaged => keys(
            "keys-damaged",
            "The stored keys are damaged.",
            "What is stored is not what was written.",
            "Restore the keychain or the key file from a backup. No new keys were made.",
        ),
        KeyStoreError::OtherProfile => keys(
            "keys-of-other-profile",
            "The stored keys belong to another profile.",
            "The profile was copied or moved without its keys.",
            "Use the profile that they belong to. No new keys were made.",
        ),
        KeyStoreError::TooNew => keys(
            "keys-too-new",
            "The stored keys were written by a newer version of Sealpost.",
            "This version can't read them.",
            "Update this program. Nothing was changed.",
        ),
        KeyStoreError::WrongPassphrase => keys(
            "wrong-passphrase",
            "This passphrase doesn't open the key file.",
            "It is not the one that the file was made with.",
            "Try again, or set SEALPOST_PASSPHRASE. Nothing was changed.",
        ),
        KeyStoreError::Exposed { mode } => keys(
            "key-file-exposed",
            "The key file can be read by others.",
            format!("Its rights are {mode:o}; only its owner may read it."),
            "Run `chmod 600` on the key file, and think about who may have read it.",
        ),
        KeyStoreError::AlreadyThere => keys(
            "key-file-there",
            "There is a key file already.",
            "A new one would replace its keys.",
            "Use it, or make another profile with --profile. Nothing was changed.",
        ),
        KeyStoreError::Io(kind) => keys(
            "key-file",
            "The key file can't be used.",
            format!("The system says: {kind}."),
            "Check that it is there and that you may read and write it.",
        ),
        KeyStoreError::Failed => keys(
            "keychain-failed",
            "The keychain failed.",
            "It gave no reason.",
            "Try again; look at whether other programs can use the keychain.",
        ),
    }
}

fn keys(
    code: &'static str,
    what: &'static str,
    why: impl Into<String>,
    action: &'static str,
) -> Failure {
    Failure::new(code, Exit::Keys, what, why, action)
}
