//! The handle that a program uses for its links (paired mailbox, sections 6 to 8).
//!
//! Owns the public calls and nothing else: each becomes an input of the one thread that has
//! all links of the profile, and answers once what it asked for is durable. Never touches the
//! store, a key or a socket itself.
//!
//! Invariants:
//! - what has arrived stays until the program says that it has handled it: handling it twice,
//!   after a crash in between, must do no harm;
//! - after [`Links::close`] every call fails with [`LinksError::Closed`];
//! - no call waits for the network.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sealpost_protocol::link::payload::PayloadId;

use super::actor::{self, ActorHandle};
use super::error::{LinksError, LinksOpenError};
use super::event::LinksEvents;
use super::info::{Arrived, LinkContent, LinkInfo, LinkPlace, LinkState, PairingStarted, SentRow};
use super::name::LinkName;
use super::relay_url::RelayUrl;
use super::store::{self, LinkStore};
use super::transport::{LinkAddress, LinkTransport};
use crate::clock::Clock;
use crate::keys::KeyStore;
use crate::profile::ProfileId;

/// What the links of a profile are opened with.
pub struct LinksOptions {
    /// The directory of the profile: the database stands there.
    pub directory: PathBuf,
    /// The profile that the key belongs to.
    pub profile_id: ProfileId,
    /// Where the key is.
    pub key_store: Arc<dyn KeyStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// How a pairing is begun.
pub struct PairingOptions {
    /// Where the mailbox is made.
    pub place: LinkPlace,
    /// The relay's web door as the other device reaches it: it stands in the code.
    pub shown_url: RelayUrl,
    /// What this device is called.
    pub my_name: String,
}

/// The links of a profile. Cheap to clone; clones share them.
///
/// They close when [`Self::close`] is called or the last clone is dropped.
#[derive(Clone)]
pub struct Links {
    actor: Arc<ActorHandle>,
}

impl Links {
    /// Whether the profile in `directory` has ever had a link. One that hasn't needs no key.
    #[must_use]
    pub fn exist(directory: &Path) -> bool {
        // What can't be looked at is there, so that opening it tells.
        LinkStore::exists(&store::path(directory)).unwrap_or(true)
    }

    /// Opens the links of a profile, with an empty store where there is none, and goes on with
    /// what was going on.
    ///
    /// Must be called inside a tokio runtime: requests run there.
    ///
    /// # Errors
    ///
    /// Any [`LinksOpenError`].
    pub async fn open(options: LinksOptions) -> Result<Self, LinksOpenError> {
        let actor = actor::start(options).await?;
        Ok(Self {
            actor: Arc::new(actor),
        })
    }

    /// Ends every request and watch and closes the store. Closing twice is fine.
    pub async fn close(&self) {
        self.actor.close().await;
    }

    /// Every link, those that are being paired and those that ended too, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<LinkInfo> {
        self.actor.view().links.clone()
    }

    /// One link.
    #[must_use]
    pub fn info(&self, name: &LinkName) -> Option<LinkInfo> {
        let view = self.actor.view();
        view.links.iter().find(|link| link.name == *name).cloned()
    }

    /// The mailboxes that links have on the relay in this program: all of them have to be
    /// claimed before its web door opens (amendment 16).
    #[must_use]
    pub fn known_mailboxes(&self) -> Vec<LinkAddress> {
        self.actor.view().here.clone()
    }

    /// Events from now on.
    #[must_use]
    pub fn subscribe(&self) -> LinksEvents {
        self.actor.listen()
    }

    /// The relay in this program runs and is reached so, or doesn't run any more.
    pub fn set_here(&self, transport: Option<Arc<dyn LinkTransport>>) {
        self.actor.set_here(transport);
    }

    /// The network has changed, or the person wants it now: what waits is tried at once.
    pub fn hurry(&self) {
        self.actor.hurry();
    }

    /// Whether somebody is looking: a link that isn't looked at needn't be watched. It is at
    /// first.
    pub fn set_watching(&self, is_watching: bool) {
        self.actor.set_watching(is_watching);
    }

    /// Shows a code to another device. The mailbox is made in the background; a relay that
    /// can't be reached shows in [`LinkInfo::trouble`].
    ///
    /// # Errors
    ///
    /// [`LinksError::TooMany`], [`LinksError::NameEmpty`], [`LinksError::Storage`] or
    /// [`LinksError::Closed`].
    pub async fn start_pairing(
        &self,
        options: PairingOptions,
    ) -> Result<PairingStarted, LinksError> {
        self.actor
            .call(move |actor| actor.start_pairing(&options))
            .await
    }

    /// Joins a device that shows a code.
    ///
    /// # Errors
    ///
    /// [`LinksError::Code`], [`LinksError::RelayUrl`], [`LinksError::TooMany`],
    /// [`LinksError::NameEmpty`], [`LinksError::Storage`] or [`LinksError::Closed`]. A code that
    /// is no longer good shows as the end of the pairing.
    pub async fn join(&self, code: &str, my_name: &str) -> Result<LinkName, LinksError> {
        let (code, my_name) = (zeroize::Zeroizing::new(code.to_owned()), my_name.to_owned());
        self.actor
            .call(move |actor| actor.join(&code, &my_name))
            .await
    }

    /// The person said that the six digits are the same on both screens.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::NotPairing`], [`LinksError::NoDigits`],
    /// [`LinksError::Storage`] or [`LinksError::Closed`].
    pub async fn confirm_digits(&self, name: &LinkName) -> Result<(), LinksError> {
        let name = name.clone();
        self.actor
            .call(move |actor| actor.confirm_digits(&name))
            .await
    }

    /// The person said that the digits differ, or wants no pairing any more. The mailbox is
    /// erased and nothing is kept.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::NotPairing`], [`LinksError::Storage`] or
    /// [`LinksError::Closed`].
    pub async fn cancel_pairing(&self, name: &LinkName) -> Result<(), LinksError> {
        let name = name.clone();
        self.actor
            .call(move |actor| actor.cancel_pairing(&name))
            .await
    }

    /// Calls the other device something else, on this one.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::NameEmpty`], [`LinksError::Storage`] or
    /// [`LinksError::Closed`].
    pub async fn rename(&self, name: &LinkName, peer_name: &str) -> Result<(), LinksError> {
        let (name, peer_name) = (name.clone(), peer_name.to_owned());
        self.actor
            .call(move |actor| actor.rename(&name, &peer_name))
            .await
    }

    /// Ends a link: its keys, what waits and what arrived are gone on return. The mailbox is
    /// erased as soon as its relay can be reached, for 30 days.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::Storage`] or [`LinksError::Closed`].
    pub async fn unpair(&self, name: &LinkName) -> Result<(), LinksError> {
        let name = name.clone();
        self.actor.call(move |actor| actor.unpair(&name)).await
    }

    /// Takes a link off the list that ended by itself, with what had arrived.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::StillPairing`], [`LinksError::NotEnded`],
    /// [`LinksError::Storage`] or [`LinksError::Closed`].
    pub async fn dismiss(&self, name: &LinkName) -> Result<(), LinksError> {
        let name = name.clone();
        self.actor.call(move |actor| actor.dismiss(&name)).await
    }

    /// Queues something for the other device; it is in the outbox on return. `id` names it
    /// where its sender has a name for it already; what is queued twice under one id goes once.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::StillPairing`], [`LinksError::Ended`],
    /// [`LinksError::TooLarge`], [`LinksError::OutboxFull`], [`LinksError::Storage`] or
    /// [`LinksError::Closed`].
    pub async fn send(
        &self,
        name: &LinkName,
        content: LinkContent,
        body: Vec<u8>,
        id: Option<PayloadId>,
    ) -> Result<PayloadId, LinksError> {
        let name = name.clone();
        self.actor
            .call(move |actor| actor.send(&name, content, body, id))
            .await
    }

    /// What arrived after `position` and wasn't handled yet, oldest first, up to `limit`.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::Storage`] or [`LinksError::Closed`].
    pub async fn arrived(
        &self,
        name: &LinkName,
        position: u64,
        limit: usize,
    ) -> Result<Vec<Arrived>, LinksError> {
        let name = name.clone();
        self.actor
            .call(move |actor| actor.arrived(&name, position, limit))
            .await
    }

    /// Something that arrived has been handled; it is forgotten.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::Storage`] or [`LinksError::Closed`].
    pub async fn handled(&self, name: &LinkName, id: PayloadId) -> Result<(), LinksError> {
        let name = name.clone();
        self.actor
            .call(move |actor| actor.handled(&name, &id))
            .await
    }

    /// What was sent and the other device hasn't said that it has, oldest first, and what
    /// failed.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::Storage`] or [`LinksError::Closed`].
    pub async fn outbox(&self, name: &LinkName) -> Result<Vec<SentRow>, LinksError> {
        let name = name.clone();
        self.actor.call(move |actor| actor.outbox(&name)).await
    }

    /// Takes something that failed off the list. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// [`LinksError::UnknownLink`], [`LinksError::Storage`] or [`LinksError::Closed`].
    pub async fn dismiss_failed(&self, name: &LinkName, id: PayloadId) -> Result<bool, LinksError> {
        let name = name.clone();
        self.actor
            .call(move |actor| actor.dismiss_failed(&name, &id))
            .await
    }

    /// Whether links wait to be erased at their relays.
    #[must_use]
    pub fn erasing(&self) -> usize {
        self.actor.view().erasing
    }

    /// Whether a link is still being paired.
    #[must_use]
    pub fn is_pairing(&self) -> bool {
        let is_pairing = |link: &LinkInfo| matches!(link.state, LinkState::Pairing(_));
        self.actor.view().links.iter().any(is_pairing)
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Links")
    }
}
