//! What the errors of the engine and the relay are called at the window.
//!
//! Owns the one translation. An error without a name of its own there becomes the vaguest
//! one that is still true.

use sealpost_engine::core::error::EngineError;
use sealpost_engine::engine::OpenError;
use sealpost_engine::keys::KeyStoreError;
use sealpost_engine::link::{LinksError, LinksOpenError};
use sealpost_engine::profile::ProfileError;
use sealpost_protocol::address::AddressError;
use sealpost_protocol::invitation::InvitationError;
use sealpost_protocol::limit;
use sealpost_protocol::token::TokenError;
use sealpost_relay::{StartError, StoreOpenError};

use crate::app_error::{AppError, AppErrorCode};
use crate::view::KeychainTrouble;

impl From<ProfileError> for AppError {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::InvalidName => AppErrorCode::ProfileNameInvalid.into(),
            ProfileError::InUse { .. } => AppErrorCode::ProfileInUse.into(),
            ProfileError::NotWritable(reason) => {
                Self::new(AppErrorCode::ProfileNotWritable).with_word("kind", reason.code())
            }
            ProfileError::TooNew { found, known } => Self::new(AppErrorCode::ProfileTooNew)
                .with_number("found", found.into())
                .with_number("known", known.into()),
            ProfileError::Damaged | ProfileError::Io(_) => AppErrorCode::ProfileDamaged.into(),
        }
    }
}

/// Which of the known troubles of a keychain an error is.
pub(super) fn keychain_trouble(error: KeyStoreError) -> KeychainTrouble {
    match error {
        KeyStoreError::Locked => KeychainTrouble::Locked,
        KeyStoreError::Dismissed => KeychainTrouble::Dismissed,
        KeyStoreError::Damaged | KeyStoreError::TooNew => KeychainTrouble::Damaged,
        KeyStoreError::OtherProfile => KeychainTrouble::OtherProfile,
        _ => KeychainTrouble::Missing,
    }
}

impl KeychainTrouble {
    /// The word that the error's sentences are chosen by.
    fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Locked => "locked",
            Self::Dismissed => "dismissed",
            Self::Damaged => "damaged",
            Self::OtherProfile => "otherProfile",
        }
    }
}

impl From<KeyStoreError> for AppError {
    fn from(error: KeyStoreError) -> Self {
        match error {
            KeyStoreError::TooNew => AppErrorCode::KeysTooNew.into(),
            KeyStoreError::WrongPassphrase => AppErrorCode::PassphraseWrong.into(),
            KeyStoreError::Exposed { .. } => {
                Self::new(AppErrorCode::KeyFileUnusable).with_word("kind", "exposed")
            }
            KeyStoreError::Io(_) | KeyStoreError::AlreadyThere => {
                AppErrorCode::KeyFileUnusable.into()
            }
            other => Self::new(AppErrorCode::KeychainUnusable)
                .with_word("kind", keychain_trouble(other).word()),
        }
    }
}

impl From<OpenError> for AppError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::KeyStore(error) => error.into(),
            OpenError::KeysMissing => KeyStoreError::Damaged.into(),
            OpenError::Storage(fault) => {
                Self::new(AppErrorCode::Storage).with_word("kind", fault.code())
            }
            OpenError::StoreTooNew { found, known } => Self::new(AppErrorCode::StoreTooNew)
                .with_word("kind", "named")
                .with_number("found", found.into())
                .with_number("known", known.into()),
        }
    }
}

impl From<EngineError> for AppError {
    fn from(error: EngineError) -> Self {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        match error {
            EngineError::InvalidRelayAddress => AppErrorCode::RelayAddressInvalid.into(),
            EngineError::Storage(fault) => {
                Self::new(AppErrorCode::Storage).with_word("kind", fault.code())
            }
            EngineError::Closed => AppErrorCode::Closed.into(),
            EngineError::NotMember { status } => {
                Self::new(AppErrorCode::NotMember).with_word("status", status.code())
            }
            EngineError::AlreadyInGroup => AppErrorCode::AlreadyInGroup.into(),
            EngineError::InvalidPairingToken => AppErrorCode::InvitationInvalid.into(),
            EngineError::PairingClosed => AppErrorCode::PairingClosed.into(),
            EngineError::RemovedBefore => AppErrorCode::RemovedBefore.into(),
            EngineError::KeysMismatch => AppErrorCode::KeysMismatch.into(),
            EngineError::GroupFull { max } => {
                Self::new(AppErrorCode::GroupFull).with_number("max", number(max))
            }
            EngineError::GroupWornOut { max } => {
                Self::new(AppErrorCode::GroupWornOut).with_number("max", number(max))
            }
            EngineError::NotListed => AppErrorCode::NotListed.into(),
            EngineError::ManifestAwaited => AppErrorCode::ManifestAwaited.into(),
            EngineError::VersionsExhausted => AppErrorCode::VersionsExhausted.into(),
            EngineError::PayloadTooLarge { max } => {
                Self::new(AppErrorCode::MessageTooLarge).with_number("max", number(max))
            }
            EngineError::StoreTooNew => AppErrorCode::StoreTooNew.into(),
            EngineError::GroupNameEmpty => Self::new(AppErrorCode::GroupNameInvalid)
                .with_number("max", number(limit::NAME_BYTES_MAX)),
            EngineError::MemberNotFound => AppErrorCode::MemberUnknown.into(),
            EngineError::InvalidNamespace | EngineError::MessageHandlerAlreadySet => {
                AppErrorCode::Internal.into()
            }
        }
    }
}

impl From<StartError> for AppError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::PortInUse { number, .. } => {
                Self::new(AppErrorCode::RelayPortInUse).with_number("port", number.into())
            }
            StartError::PortForbidden { number, .. } => {
                Self::new(AppErrorCode::RelayPortForbidden).with_number("port", number.into())
            }
            StartError::Store(StoreOpenError::NotWritable(_)) => {
                AppErrorCode::RelayDataNotWritable.into()
            }
            StartError::Store(_) => AppErrorCode::RelayStoreUnusable.into(),
            StartError::AddressUnavailable { .. } => {
                Self::new(AppErrorCode::RelayAddressInvalid).with_word("part", "host")
            }
            StartError::Config(_)
            | StartError::Listen { .. }
            | StartError::Certificate(_)
            | StartError::WebOpen => AppErrorCode::Internal.into(),
        }
    }
}

impl From<LinksOpenError> for AppError {
    fn from(error: LinksOpenError) -> Self {
        let unusable = |kind| Self::new(AppErrorCode::PhonesUnusable).with_word("kind", kind);
        match error {
            LinksOpenError::KeyStore(error) => error.into(),
            LinksOpenError::KeyMissing => unusable("keyMissing"),
            LinksOpenError::Storage(fault) => unusable(fault.code()),
            LinksOpenError::StoreTooNew { .. } => unusable("tooNew"),
        }
    }
}

impl From<LinksError> for AppError {
    fn from(error: LinksError) -> Self {
        match error {
            LinksError::Storage(fault) => {
                Self::new(AppErrorCode::PhonesUnusable).with_word("kind", fault.code())
            }
            LinksError::Closed => AppErrorCode::Closed.into(),
            LinksError::UnknownLink | LinksError::Ended => AppErrorCode::PhoneUnknown.into(),
            LinksError::StillPairing | LinksError::NotPairing | LinksError::NoDigits => {
                AppErrorCode::PhonePairingOver.into()
            }
            LinksError::TooMany { max } => Self::new(AppErrorCode::PhonesTooMany)
                .with_number("max", u64::try_from(max).unwrap_or(u64::MAX)),
            LinksError::NameEmpty => AppErrorCode::NameEmpty.into(),
            _ => AppErrorCode::Internal.into(),
        }
    }
}

/// The word for the part of an address that is wrong: one for each part that a person can
/// look at, and not one for each way in which it can be wrong.
pub(super) fn address_part(error: AddressError) -> &'static str {
    match error {
        AddressError::Empty => "empty",
        AddressError::Scheme => "scheme",
        AddressError::KeyMissing | AddressError::Key | AddressError::WeakKey => "key",
        AddressError::Host => "host",
        AddressError::ReceivePort | AddressError::PushPort => "port",
        AddressError::Character => "wrapped",
        AddressError::Path
        | AddressError::PercentEncoding
        | AddressError::Query
        | AddressError::Fragment => "query",
        AddressError::TooLong { .. } => "length",
    }
}

/// The word for the part of an invitation that is wrong.
pub(super) fn invitation_part(error: InvitationError) -> &'static str {
    match error {
        InvitationError::Empty => "empty",
        InvitationError::TooLong { .. } => "length",
        InvitationError::TokenMissing => "token",
        InvitationError::Address(error) => address_part(error),
        InvitationError::Token(TokenError::Appended) => "query",
        InvitationError::Token(_) => "token",
    }
}
