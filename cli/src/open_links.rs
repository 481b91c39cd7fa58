//! The links of a profile while a command works with them.
//!
//! Owns the search for the link that the person means. A command that holds [`OpenLinks`]
//! closes them before it ends; what is queued stays queued.

use std::time::Duration;

use sealpost_engine::link::{LinkInfo, LinkName, LinkState, Links, LinksEvent, LinksEvents};
use tokio::time::{Instant, sleep};

use crate::device::Device;
use crate::explanation::{
    link_ended, link_lost, link_trouble, link_unconfirmed, link_unheard, link_unknown,
};
use crate::failure::{Exit, Failure};
use crate::open_group::LOOK_INTERVAL;

/// How long it is waited until a mailbox is erased at its relay.
const ERASE_PATIENCE: Duration = Duration::from_secs(5);

/// The open links.
pub(crate) struct OpenLinks {
    /// The links.
    pub(crate) links: Links,
    events: LinksEvents,
}

impl OpenLinks {
    /// Opens the links of the profile.
    pub(crate) async fn open(device: &Device) -> Result<Self, Failure> {
        let links = device.open_links().await?;
        let events = links.subscribe();
        Ok(Self { links, events })
    }

    /// The link that `wanted` names, or the only one.
    pub(crate) fn find(&self, wanted: Option<&str>) -> Result<LinkInfo, Failure> {
        let mut links = self.links.list();
        let Some(wanted) = wanted else {
            return match links.len() {
                0 => Err(no_link()),
                1 => Ok(links.remove(0)),
                several => Err(link_needed(several)),
            };
        };
        if let Some(found) = links.iter().find(|link| link.name.as_str() == wanted) {
            return Ok(found.clone());
        }
        let mut named = links.into_iter().filter(|link| link.peer_name == wanted);
        match (named.next(), named.next()) {
            (None, _) => Err(link_unknown()),
            (Some(found), None) => Ok(found),
            (Some(_), Some(_)) => Err(link_ambiguous()),
        }
    }

    /// What happens next; loses nothing when dropped early.
    pub(crate) async fn next(&mut self) -> Option<LinksEvent> {
        self.events.next().await
    }

    /// The link as it stands now; it is gone when nothing is found.
    pub(crate) fn look(&self, name: &LinkName) -> Result<LinkInfo, Failure> {
        self.links.info(name).ok_or_else(link_unknown)
    }

    /// Waits until every mailbox that is to be erased is; false when that takes too long.
    pub(crate) async fn erase(&self) -> bool {
        let deadline = Instant::now() + ERASE_PATIENCE;
        while self.links.erasing() > 0 {
            if Instant::now() >= deadline {
                return false;
            }
            sleep(LOOK_INTERVAL).await;
        }
        true
    }

    /// Ends what goes on and closes the data.
    pub(crate) async fn close(self) {
        self.links.close().await;
    }
}

/// What keeps a link from working, if something does.
pub(crate) fn trouble(link: &LinkInfo) -> Option<Failure> {
    match &link.state {
        LinkState::Ended(end) => Some(link_ended(*end)),
        LinkState::Lost => Some(link_lost()),
        LinkState::Unconfirmed { .. } if link.last_contact_ms.is_none() => {
            Some(link.trouble.map_or_else(link_unheard, link_trouble))
        }
        LinkState::Unconfirmed { .. } => {
            Some(link.trouble.map_or_else(link_unconfirmed, link_trouble))
        }
        LinkState::Pairing(_) | LinkState::Active => link.trouble.map(link_trouble),
    }
}

/// What the other device is called, or the link itself where it has told no name.
pub(crate) fn called(link: &LinkInfo) -> String {
    if link.peer_name.is_empty() {
        link.name.as_str().to_owned()
    } else {
        link.peer_name.clone()
    }
}

fn no_link() -> Failure {
    Failure::new(
        "link-none",
        Exit::Group,
        "There is no link yet.",
        "This profile is paired with no device.",
        "Pair one with `sealpost link new`, or `sealpost link join` on the other side.",
    )
}

fn link_needed(count: usize) -> Failure {
    Failure::new(
        "link-needed",
        Exit::Input,
        "It isn't clear which link is meant.",
        format!("This profile has {count} links."),
        "Name one with --link; `sealpost link list` shows them.",
    )
}

fn link_ambiguous() -> Failure {
    Failure::new(
        "link-ambiguous",
        Exit::Input,
        "It isn't clear which link is meant.",
        "More than one other device has this name.",
        "Use the link's own name with --link; `sealpost link list` shows it.",
    )
}
