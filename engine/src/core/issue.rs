//! Delivery issues: every exception to the delivery promise, by name (spec 6.2, 7.5).
//!
//! An issue is written in the same transaction as the rejection it reports and only then
//! acknowledged or shown (amendment 7), so none is lost to a crash. Holds no message text.

use std::borrow::Cow;
use std::fmt;

use sealpost_protocol::limit::RELAY_LIFE_MS_MAX;
use sealpost_protocol::message_id::MessageId;

/// An exception to the promise that every message arrives, in order, once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeliveryIssue {
    /// A blob couldn't be used.
    Unreadable(Unreadable),
    /// A message came from somebody who may not send it.
    Unauthorized,
    /// A blob of a newer End-to-End Version waits on the relay for an upgrade.
    HeldForUpgrade {
        /// The version that the blob names; unauthenticated.
        version: u32,
    },
    /// The message handler failed at every attempt.
    HandlerGaveUp {
        /// The message.
        message: MessageId,
        /// What the handler said at the last attempt.
        error: HandlerError,
    },
    /// A message won't reach at least one of its recipients.
    SendFailed {
        /// The message.
        message: MessageId,
        /// Why.
        failure: SendFailure,
    },
    /// Two different messages of one author bear one id, and the second can't be shown: the
    /// author's device exists twice.
    IdReused {
        /// The id of the second message.
        message: MessageId,
    },
    /// Another program uses the keys of this device: its profile was copied.
    DeviceCopied,
    /// The store is older than the keys: it was restored or is a copy, and another one was
    /// used since.
    StoreRestored,
    /// The store was damaged; what could be read of it was taken over into a new one.
    StoreRepaired,
    /// The store was of a version that can't be read any more and started afresh: this device
    /// is in the group no longer, and its history is gone.
    StoreReset,
    /// The device was without its relay for longer than a relay keeps messages, and what was
    /// sent in between may never come.
    AwayTooLong {
        /// The last time at which it had its relay, in Unix ms.
        since_ms: u64,
    },
}

impl DeliveryIssue {
    /// The stable names of all issues, in the order in which they are explained.
    pub const CODES: [&str; 16] = [
        "unreadable.malformed",
        "unreadable.senderOutdated",
        "unreadable.expired",
        "unreadable.droppedWhileHeld",
        "unauthorized",
        "heldForUpgrade",
        "handlerGaveUp",
        "sendFailed.tooLarge",
        "sendFailed.malformed",
        "sendFailed.expired",
        "idReused",
        "deviceCopied",
        "storeRestored",
        "storeRepaired",
        "storeReset",
        "awayTooLong",
    ];

    /// The stable name of the issue: with its detail where the detail is an enum.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(Unreadable::Malformed) => "unreadable.malformed",
            Self::Unreadable(Unreadable::SenderOutdated) => "unreadable.senderOutdated",
            Self::Unreadable(Unreadable::Expired) => "unreadable.expired",
            Self::Unreadable(Unreadable::DroppedWhileHeld) => "unreadable.droppedWhileHeld",
            Self::Unauthorized => "unauthorized",
            Self::HeldForUpgrade { .. } => "heldForUpgrade",
            Self::HandlerGaveUp { .. } => "handlerGaveUp",
            Self::SendFailed {
                failure: SendFailure::TooLarge,
                ..
            } => "sendFailed.tooLarge",
            Self::SendFailed {
                failure: SendFailure::Malformed,
                ..
            } => "sendFailed.malformed",
            Self::SendFailed {
                failure: SendFailure::Expired,
                ..
            } => "sendFailed.expired",
            Self::IdReused { .. } => "idReused",
            Self::DeviceCopied => "deviceCopied",
            Self::StoreRestored => "storeRestored",
            Self::StoreRepaired => "storeRepaired",
            Self::StoreReset => "storeReset",
            Self::AwayTooLong { .. } => "awayTooLong",
        }
    }

    /// The message that the issue is about, where it is about one.
    #[must_use]
    pub const fn message(&self) -> Option<&MessageId> {
        match self {
            Self::HandlerGaveUp { message, .. }
            | Self::SendFailed { message, .. }
            | Self::IdReused { message } => Some(message),
            Self::Unreadable(_)
            | Self::Unauthorized
            | Self::HeldForUpgrade { .. }
            | Self::DeviceCopied
            | Self::StoreRestored
            | Self::StoreRepaired
            | Self::StoreReset
            | Self::AwayTooLong { .. } => None,
        }
    }

    /// The text of the handler's error or the start of the absence, for the store.
    #[must_use]
    pub fn detail(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::HandlerGaveUp { error, .. } => Some(error.as_str().into()),
            Self::AwayTooLong { since_ms } => Some(since_ms.to_string().into()),
            _ => None,
        }
    }

    /// The span from which messages may be missing, in Unix ms, for an issue raised at `at_ms`.
    #[must_use]
    pub const fn missing_span(&self, at_ms: u64) -> Option<(u64, u64)> {
        match self {
            Self::AwayTooLong { since_ms } => {
                Some((*since_ms, at_ms.saturating_sub(RELAY_LIFE_MS_MAX)))
            }
            _ => None,
        }
    }

    /// The version that a held blob names, for the store.
    #[must_use]
    pub const fn version(&self) -> Option<u32> {
        match self {
            Self::HeldForUpgrade { version } => Some(*version),
            _ => None,
        }
    }

    /// Reads an issue back from its stored columns; `None` if they don't fit together.
    #[must_use]
    pub fn from_columns(
        code: &str,
        message: Option<MessageId>,
        version: Option<u32>,
        detail: Option<&str>,
    ) -> Option<Self> {
        let failed = |failure| message.map(|message| Self::SendFailed { message, failure });
        match code {
            "unreadable.malformed" => Some(Self::Unreadable(Unreadable::Malformed)),
            "unreadable.senderOutdated" => Some(Self::Unreadable(Unreadable::SenderOutdated)),
            "unreadable.expired" => Some(Self::Unreadable(Unreadable::Expired)),
            "unreadable.droppedWhileHeld" => Some(Self::Unreadable(Unreadable::DroppedWhileHeld)),
            "unauthorized" => Some(Self::Unauthorized),
            "heldForUpgrade" => version.map(|version| Self::HeldForUpgrade { version }),
            "handlerGaveUp" => message.map(|message| Self::HandlerGaveUp {
                message,
                error: HandlerError::new(detail.unwrap_or_default()),
            }),
            "sendFailed.tooLarge" => failed(SendFailure::TooLarge),
            "sendFailed.malformed" => failed(SendFailure::Malformed),
            "sendFailed.expired" => failed(SendFailure::Expired),
            "idReused" => message.map(|message| Self::IdReused { message }),
            "deviceCopied" => Some(Self::DeviceCopied),
            "storeRestored" => Some(Self::StoreRestored),
            "storeRepaired" => Some(Self::StoreRepaired),
            "storeReset" => Some(Self::StoreReset),
            "awayTooLong" => detail
                .and_then(|since_ms| since_ms.parse().ok())
                .map(|since_ms| Self::AwayTooLong { since_ms }),
            _ => None,
        }
    }
}

/// Why a blob couldn't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unreadable {
    /// Its bytes aren't a message for this device.
    Malformed,
    /// Its sender runs a version that is no longer read.
    SenderOutdated,
    /// It is older than the Replay Window.
    Expired,
    /// It waited for an upgrade and was pushed out by later ones.
    DroppedWhileHeld,
}

/// Why a message won't reach a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SendFailure {
    /// The relay accepts only smaller messages.
    TooLarge,
    /// The relay can't read what was pushed.
    Malformed,
    /// It couldn't be handed to the relay for 30 days.
    Expired,
}

impl SendFailure {
    /// Every failure.
    pub const ALL: [Self; 3] = [Self::TooLarge, Self::Malformed, Self::Expired];

    /// The stable name of the failure.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLarge => "tooLarge",
            Self::Malformed => "malformed",
            Self::Expired => "expired",
        }
    }

    /// Reads a stored name back.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.code() == code)
    }
}

/// What a message handler says when it fails. The text is the app's own and may hold
/// anything, so it is shown only where it is asked for by [`HandlerError::as_str`].
#[derive(Clone, PartialEq, Eq, Default)]
pub struct HandlerError(String);

impl HandlerError {
    /// The most bytes of a handler's text that are kept.
    pub const BYTES_MAX: usize = 1024;

    /// Takes the text, cut to [`HandlerError::BYTES_MAX`] bytes at a character.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut kept = String::new();
        for character in text.chars() {
            if kept.len().saturating_add(character.len_utf8()) > Self::BYTES_MAX {
                break;
            }
            kept.push(character);
        }
        Self(kept)
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerError(..)")
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message handler failed")
    }
}

impl std::error::Error for HandlerError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_issue() -> Vec<DeliveryIssue> {
        let message = MessageId::from_bytes([7; 32]);
        let mut issues = vec![
            DeliveryIssue::Unreadable(Unreadable::Malformed),
            DeliveryIssue::Unreadable(Unreadable::SenderOutdated),
            DeliveryIssue::Unreadable(Unreadable::Expired),
            DeliveryIssue::Unreadable(Unreadable::DroppedWhileHeld),
            DeliveryIssue::Unauthorized,
            DeliveryIssue::HeldForUpgrade { version: 9 },
            DeliveryIssue::HandlerGaveUp {
                message,
                error: HandlerError::new("why"),
            },
            DeliveryIssue::IdReused { message },
            DeliveryIssue::DeviceCopied,
            DeliveryIssue::StoreRestored,
            DeliveryIssue::StoreRepaired,
            DeliveryIssue::StoreReset,
            DeliveryIssue::AwayTooLong { since_ms: 1 },
        ];
        issues
            .extend(SendFailure::ALL.map(|failure| DeliveryIssue::SendFailed { message, failure }));
        issues
    }

    #[test]
    fn every_issue_is_read_back_from_its_columns() {
        for issue in every_issue() {
            let read = DeliveryIssue::from_columns(
                issue.code(),
                issue.message().copied(),
                issue.version(),
                issue.detail().as_deref(),
            );
            assert_eq!(read, Some(issue));
        }
    }

    #[test]
    fn every_code_is_that_of_an_issue_and_listed_once() {
        let mut codes: Vec<_> = every_issue().iter().map(DeliveryIssue::code).collect();
        let mut listed = DeliveryIssue::CODES.to_vec();
        codes.sort_unstable();
        listed.sort_unstable();
        assert_eq!(codes, listed);
    }

    #[test]
    fn columns_that_lack_their_detail_are_refused() {
        for code in [
            "heldForUpgrade",
            "handlerGaveUp",
            "sendFailed.expired",
            "sent",
        ] {
            assert_eq!(
                DeliveryIssue::from_columns(code, None, None, None),
                None,
                "{code}"
            );
        }
    }

    #[test]
    fn a_handler_text_is_cut_at_a_character_and_never_printed() {
        let error = HandlerError::new(&"é".repeat(HandlerError::BYTES_MAX));
        assert_eq!(error.as_str().len(), HandlerError::BYTES_MAX);
        let shown = format!(
            "{:?} {}",
            HandlerError::new("canary"),
            HandlerError::new("canary")
        );
        assert!(!shown.contains("canary"));
    }
}
