//! One link on the thread: its machine, what is under way for it, and how it shows.

use sealpost_protocol::link::key::{LinkKeys, Role};

use super::traffic::Traffic;
use crate::core::error::StorageFault;
use crate::core::link::{Link, LinkCondition, LinkError};
use crate::link::error::LinksError;
use crate::link::info::{LinkEnd, LinkInfo, LinkPlace, LinkState, LinkTrouble};
use crate::link::relay_url::RelayUrl;
use crate::link::store::Of;
use crate::link::transport::{LinkAddress, LinkFailure};

/// A link on the thread.
pub(super) struct Entry {
    pub(super) of: Of,
    pub(super) role: Role,
    pub(super) peer_name: String,
    /// Of the machine: what was asked for an earlier one is dropped when it is answered.
    pub(super) run: u64,
    pub(super) machine: Machine,
    pub(super) traffic: Traffic,
    /// Why the relay gave no answer last.
    pub(super) failure: Option<LinkFailure>,
    /// How much arrived and wasn't handled.
    pub(super) arrived: u64,
}

/// What decides for a link.
pub(super) enum Machine {
    /// It is there.
    Link(Box<Link>),
    /// It is over.
    Ended(LinkEnd),
    /// What was decided couldn't be written; it is built anew from the store.
    Stale(StorageFault),
}

impl Machine {
    /// The machine of a link that is there.
    pub(super) fn link(&mut self) -> Option<&mut Link> {
        match self {
            Self::Link(link) => Some(link),
            Self::Ended(_) | Self::Stale(_) => None,
        }
    }
}

impl Entry {
    /// The machine of a link that is there, for a call.
    pub(super) fn working(&mut self) -> Result<&mut Link, LinksError> {
        match &mut self.machine {
            Machine::Link(link) => Ok(link),
            Machine::Ended(_) => Err(LinksError::Ended),
            Machine::Stale(fault) => Err((*fault).into()),
        }
    }

    /// Its relay.
    pub(super) fn relay(&self) -> Option<&str> {
        self.of.relay.as_deref()
    }

    /// When the machine wants to look at the clock.
    pub(super) fn next_timer(&self) -> Option<u64> {
        match &self.machine {
            Machine::Link(link) => link.next_timer(),
            Machine::Ended(_) | Machine::Stale(_) => None,
        }
    }

    /// Its mailbox, where it is on the relay in this program.
    pub(super) fn here(&self) -> Option<LinkAddress> {
        match &self.machine {
            Machine::Link(link) if self.of.relay.is_none() => Some(address(link.keys())),
            _ => None,
        }
    }

    /// How it shows.
    pub(super) fn info(&self) -> LinkInfo {
        let (state, trouble, condition) = match &self.machine {
            Machine::Link(link) => {
                let condition = link.condition();
                (state(&condition), self.trouble(&condition), condition)
            }
            Machine::Ended(end) => (LinkState::Ended(*end), None, LinkCondition::default()),
            Machine::Stale(fault) => {
                let trouble = Some(LinkTrouble::Storage(*fault));
                (LinkState::Active, trouble, LinkCondition::default())
            }
        };
        LinkInfo {
            name: self.of.name.clone(),
            role: self.role,
            peer_name: self.peer_name.clone(),
            place: place(self.relay()),
            state,
            made_at_ms: self.of.made_at_ms,
            last_contact_ms: condition.last_contact_ms,
            waiting: u64::try_from(condition.waiting).unwrap_or(u64::MAX),
            arrived: self.arrived,
            trouble,
        }
    }

    fn trouble(&self, condition: &LinkCondition) -> Option<LinkTrouble> {
        match condition.error {
            Some(LinkError::WrongToken) => Some(LinkTrouble::WrongToken),
            Some(LinkError::Unauthorized | LinkError::Refused) => Some(LinkTrouble::Refused),
            Some(LinkError::Configuration) => Some(LinkTrouble::Misconfigured),
            Some(LinkError::Misbehaves) => Some(LinkTrouble::Misbehaves),
            None if condition.is_unanswered => Some(not_reached(self.failure)),
            None if condition.is_blocked => Some(LinkTrouble::Blocked),
            None if condition.is_peer_newer => Some(LinkTrouble::NewerPeer),
            None => None,
        }
    }
}

fn state(condition: &LinkCondition) -> LinkState {
    match (condition.lost_since_ms, condition.unconfirmed_since_ms) {
        (Some(_), _) => LinkState::Lost,
        (None, Some(since_ms)) => LinkState::Unconfirmed { since_ms },
        (None, None) => LinkState::Active,
    }
}

/// Where a mailbox is.
pub(super) fn place(relay: Option<&str>) -> LinkPlace {
    let url = relay.and_then(|text| RelayUrl::parse(text).ok());
    url.map_or(LinkPlace::Here, LinkPlace::At)
}

/// A relay that isn't reached, for this reason.
pub(super) fn not_reached(failure: Option<LinkFailure>) -> LinkTrouble {
    LinkTrouble::NotReached(failure.unwrap_or(LinkFailure::NoAnswer))
}

/// The mailbox of keys, and what opens it at the relay.
pub(super) fn address(keys: &LinkKeys) -> LinkAddress {
    LinkAddress {
        mailbox: keys.mailbox(),
        token: keys.token().clone(),
    }
}
