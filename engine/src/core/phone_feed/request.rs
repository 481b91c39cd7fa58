//! What a message of a phone leads to.

use sealpost_protocol::link::feed::FromPhone;

use crate::core::error::EngineError;

/// What a message of a phone asks of its group.
#[derive(Clone, PartialEq, Eq)]
pub enum Action {
    /// Send a text to the group, under the id of the phone's message.
    Send {
        /// The group.
        group: String,
        /// The text.
        text: String,
    },
    /// Tell the phone why its message can't be done.
    Refuse(Refusal),
    /// Answer with the messages before a position.
    Page {
        /// The group.
        group: String,
        /// The position.
        before: u64,
    },
    /// All up to a position was read.
    Read {
        /// The group.
        group: String,
        /// The position.
        position: u64,
    },
    /// Nothing: it is of no use, or of a later version.
    Nothing,
    /// Leave it where it is: the group can't be asked at the moment.
    Wait,
}

impl Action {
    /// The group that it is done in.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        match self {
            Self::Send { group, .. } | Self::Page { group, .. } | Self::Read { group, .. } => {
                Some(group)
            }
            Self::Refuse(_) | Self::Nothing | Self::Wait => None,
        }
    }
}

/// Why a phone's text can't be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is nothing in it.
    Empty,
    /// There is no such group on this device any more.
    GroupGone,
    /// This device isn't a member of the group.
    NotMember,
    /// The phone doesn't see the group any more.
    NotShared,
    /// It is longer than the group's relay takes.
    TooLarge,
}

impl Refusal {
    /// The stable name of the value, as the phone gets it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::GroupGone => "groupGone",
            Self::NotMember => "notMember",
            Self::NotShared => "notShared",
            Self::TooLarge => "tooLarge",
        }
    }

    /// The refusal that an error of sending is; nothing of one that passes.
    #[must_use]
    pub const fn of(error: &EngineError) -> Option<Self> {
        match error {
            EngineError::NotMember { .. } => Some(Self::NotMember),
            EngineError::PayloadTooLarge { .. } => Some(Self::TooLarge),
            _ => None,
        }
    }
}

/// How a group stands with a phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is open and shared.
    Shared,
    /// It isn't shared.
    NotShared,
    /// It isn't open at the moment.
    Closed,
    /// This device has no such group.
    Gone,
}

/// What a body of a phone leads to, where `standing` tells how a group stands with it.
#[must_use]
pub fn read(body: &[u8], standing: impl Fn(&str) -> Standing) -> Action {
    let Some(said) = FromPhone::decode(body) else {
        return Action::Nothing;
    };
    let group = match &said {
        FromPhone::Text { group, .. }
        | FromPhone::History { group, .. }
        | FromPhone::Read { group, .. } => group,
        FromPhone::Unknown => return Action::Nothing,
    };
    match (standing(group), said) {
        (Standing::Closed, _) => Action::Wait,
        (Standing::Shared, FromPhone::Text { text, .. }) if text.trim().is_empty() => {
            Action::Refuse(Refusal::Empty)
        }
        (Standing::Shared, FromPhone::Text { group, text }) => Action::Send { group, text },
        (Standing::Shared, FromPhone::History { group, before }) => Action::Page { group, before },
        (Standing::Shared, FromPhone::Read { group, position }) => Action::Read { group, position },
        (Standing::NotShared, FromPhone::Text { .. }) => Action::Refuse(Refusal::NotShared),
        (Standing::Gone, FromPhone::Text { .. }) => Action::Refuse(Refusal::GroupGone),
        // The next list of groups says it.
        (_, _) => Action::Nothing,
    }
}
