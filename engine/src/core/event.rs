//! What the engine tells the app apart from messages and delivery issues (spec 6.2).
//!
//! Owns the event values and the values that events and queries share: members, join
//! requests, the state of pairing. Events are told only after the commit they follow from.

use std::fmt;

use sealpost_protocol::key::{DeviceKeys, MemberId};
use sealpost_protocol::manifest;
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;
use sealpost_protocol::token::PairingToken;

use super::status::{Connection, Status, StatusReason};
use super::timing;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The status changed.
    StatusChanged {
        /// The new status.
        status: Status,
        /// Why, where the specification names a reason.
        reason: Option<StatusReason>,
    },
    /// The list of the other members changed; this is the whole list.
    MembersChanged(Vec<Member>),
    /// A device asks to join through the open pairing window.
    JoinRequested(JoinRequest),
    /// A device asked under the code of a window that is closed. Told once for each code; the
    /// device waits in vain until it is given a new one.
    StaleRequest {
        /// The name that the device gives itself.
        name: DeviceName,
        /// What became of the code.
        spent: Spent,
    },
    /// The Receive Session came up, went away, or changed its reason.
    ConnectionChanged(Connection),
    /// An admission by this device came to nothing.
    AdmissionDropped {
        /// The name of the device that isn't a member after all.
        name: DeviceName,
        /// Why.
        reason: AdmissionDropped,
    },
    /// [`PairingState`] changed.
    PairingChanged,
    /// The group has another name.
    GroupRenamed,
    /// A message row was added at this position.
    MessageStored {
        /// The position of the row in the message history.
        position: u64,
    },
    /// The delivery states of an own message changed, or a message was deleted.
    MessageChanged {
        /// The message.
        id: MessageId,
    },
}

/// Why an admission came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdmissionDropped {
    /// Concurrent admissions filled the group.
    GroupFull,
    /// The device was removed meanwhile.
    Removed,
}

impl AdmissionDropped {
    /// The stable name of the reason.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::GroupFull => "groupFull",
            Self::Removed => "removed",
        }
    }
}

/// How the code of a pairing window was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spent {
    /// Another device was let in with it.
    Accepted,
    /// Its window was closed: by the person, by its time, or by a newer one.
    Closed,
}

impl Spent {
    /// The stable name of the reason.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Closed => "closed",
        }
    }
}

/// A device in the group, as the app sees it. The name is a label and authenticates nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Derived from the signing key.
    pub id: MemberId,
    /// The name that the current manifest gives the device.
    pub name: DeviceName,
    /// Both public keys, for the compare code.
    pub keys: DeviceKeys,
}

impl Member {
    /// The member as a manifest lists it.
    #[must_use]
    pub fn of(listed: &manifest::Member) -> Self {
        Self {
            id: listed.keys.signing.member_id(),
            name: listed.name.clone(),
            keys: listed.keys,
        }
    }
}

/// Names a join request within one run of the engine. Never used twice, so that a request
/// of an earlier window can't be mistaken for one of the open window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JoinRequestId(pub u64);

/// A device that asks to join.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinRequest {
    /// Names the request in `accept` and `dismiss`.
    pub id: JoinRequestId,
    /// The name that the device gives itself.
    pub name: DeviceName,
    /// The four words that both screens show (amendment 3).
    pub words: [String; 4],
    /// The member, perhaps this device, whose name looks like this one. Either is only what
    /// its device says.
    pub looks_like: Option<DeviceName>,
}

impl fmt::Debug for JoinRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinRequest")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// What pairing looks like at the moment.
#[derive(Clone, Debug, Default)]
pub struct PairingState {
    /// The open window of the admitting side.
    pub window: Option<PairingWindow>,
    /// The join of the joining side, until its words are confirmed and the admission is here.
    pub join: Option<PairingJoin>,
}

/// An open pairing window.
#[derive(Clone, Debug)]
pub struct PairingWindow {
    /// What the joining device needs to be given.
    pub token: PairingToken,
    /// When the window was opened; the app closes it (amendment 3).
    pub opened_at_ms: u64,
    /// Requests whose words are known, in the order of arrival.
    pub requests: Vec<JoinRequest>,
}

impl PairingWindow {
    /// When whoever shows the code has to close the window.
    #[must_use]
    pub const fn closes_at_ms(&self) -> u64 {
        self.opened_at_ms.saturating_add(timing::PAIRING_WINDOW_MS)
    }

    /// Whether that time has come. A clock that was set back before the opening counts as
    /// well: nothing says how long the window was open.
    #[must_use]
    pub const fn is_over(&self, now_ms: u64) -> bool {
        now_ms >= self.closes_at_ms() || now_ms < self.opened_at_ms
    }
}

/// A join that isn't finished.
#[derive(Clone, PartialEq, Eq)]
pub struct PairingJoin {
    /// The four words; `None` for the moment that computing them takes.
    pub words: Option<[String; 4]>,
    /// Whether the person said that the words are the same on both screens.
    pub confirmed: bool,
    /// How far it has come.
    pub progress: JoinProgress,
    /// The device behind the invitation.
    pub admitter: DeviceKeys,
}

/// How far a join has come, as far as the joining side can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JoinProgress {
    /// The request waits here and is tried again: no relay is reached, or it has no room.
    Queued,
    /// The request is on its way to the relay.
    Sending,
    /// The relay has the request; somebody must accept it. Nothing tells whether the code is
    /// still good: a closed window doesn't answer.
    OnRelay,
    /// The relay refused the request for good. Known until the end of the run; the delivery
    /// issue stays.
    Refused,
    /// This device is in the group; only the words are still to be compared.
    Admitted,
}

impl JoinProgress {
    /// The stable name of the progress.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::OnRelay => "on_relay",
            Self::Refused => "refused",
            Self::Admitted => "admitted",
        }
    }
}

impl fmt::Debug for PairingJoin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairingJoin")
            .field("confirmed", &self.confirmed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use sealpost_protocol::key::{NoisePublic, SigningPublic};
    use sealpost_protocol::token::PairingSecret;

    use super::*;

    #[test]
    fn names_and_words_are_never_printed() {
        let words = ["canary"; 4].map(str::to_owned);
        let owner = SigningPublic::from_bytes([1; 32]);
        let request = JoinRequest {
            id: JoinRequestId(1),
            name: DeviceName::clean("canary", &owner),
            words: words.clone(),
            looks_like: Some(DeviceName::clean("canary", &owner)),
        };
        let join = PairingJoin {
            words: Some(words),
            confirmed: false,
            progress: JoinProgress::Queued,
            admitter: DeviceKeys {
                noise: NoisePublic::from_bytes([2; 32]),
                signing: owner,
            },
        };
        let stale = Event::StaleRequest {
            name: DeviceName::clean("canary", &owner),
            spent: Spent::Accepted,
        };
        let shown = format!("{:?} {join:?} {stale:?}", Event::JoinRequested(request));
        assert!(!shown.contains("canary"), "{shown}");
    }

    #[test]
    fn a_window_is_over_after_ten_minutes_and_whenever_the_clock_went_back() {
        let keys = DeviceKeys {
            noise: NoisePublic::from_bytes([2; 32]),
            signing: SigningPublic::from_bytes([1; 32]),
        };
        let window = |opened_at_ms| PairingWindow {
            token: PairingToken::new(keys, PairingSecret::from_bytes([3; 32])),
            opened_at_ms,
            requests: Vec::new(),
        };
        let opened = 1_790_812_800_000;
        let ten_minutes = 10 * 60 * 1_000;
        assert!(!window(opened).is_over(opened));
        assert!(!window(opened).is_over(opened + ten_minutes - 1));
        assert!(window(opened).is_over(opened + ten_minutes));
        assert!(window(opened).is_over(opened - 1));
        assert!(window(u64::MAX).is_over(u64::MAX));
    }
}
