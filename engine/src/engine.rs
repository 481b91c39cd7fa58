//! The handle that a program uses for one group (specification, section 6).
//!
//! Owns the public calls and nothing else: each becomes an input of the group's actor
//! (`actor.rs`) and answers once what it asked for is durable. Never touches the
//! store, a key or a socket itself.
//!
//! Invariants:
//! - one actor per handle's group; clones share it;
//! - after [`Engine::close`] every call fails with [`EngineError::Closed`];
//! - a handler or listener may call the engine without a deadlock.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::key::MemberId;
use sealpost_protocol::limit::{END_TO_END_VERSION, TRANSPORT_VERSION};
use sealpost_protocol::manifest::ManifestHash;
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::token::PairingToken;

use crate::actor::{self, ActorHandle, with_sending};
use crate::clock::Clock;
use crate::core::device::Device;
use crate::core::error::{EngineError, StorageFault};
use crate::core::event::{Event, JoinRequestId, Member, PairingState};
use crate::core::issue::{DeliveryIssue, HandlerError};
use crate::core::membership::Cohesion;
use crate::core::message::Message;
use crate::core::status::{ConnectFailure, Connection, Status};
use crate::core::timing;
use crate::history::{PAGE_ROWS_MAX, SearchHit, StoredIssue, StoredMessage, StoredNote};
use crate::keys::{KeyStore, KeyStoreError};
use crate::namespace::Namespace;
use crate::profile::ProfileId;
use crate::store::{Query, Store};
use crate::subscription::Subscription;

mod phone_text;

/// A future that a handler returns.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Which versions this program speaks. A package version never implies the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The version of this crate.
    pub package: &'static str,
    /// The Transport Version.
    pub transport: u16,
    /// The End-to-End Version.
    pub end_to_end: u16,
}

/// Says which versions this program speaks.
#[must_use]
pub const fn versions() -> Versions {
    Versions {
        package: env!("CARGO_PKG_VERSION"),
        transport: TRANSPORT_VERSION,
        end_to_end: END_TO_END_VERSION,
    }
}

/// What a group is opened with.
pub struct OpenOptions {
    /// The directory of the profile: its database stands there.
    pub directory: PathBuf,
    /// Which group of the profile.
    pub namespace: Namespace,
    /// The profile that the keys belong to.
    pub profile_id: ProfileId,
    /// The relay from now on; `None` keeps the one that the group's store names.
    pub relay: Option<RelayAddress>,
    /// The name that this device shows to others. Cleaned before use.
    pub device_name: String,
    /// Where the keys are.
    pub key_store: Arc<dyn KeyStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// A lower limit for bodies than the protocol's; a higher one is clamped.
    pub max_payload_bytes: Option<usize>,
}

/// Why a group can't be opened. Its data is as it was. The text is safe to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The key store could not be asked, or what it holds is damaged.
    #[error("the keys can't be read: {0}")]
    KeyStore(#[from] KeyStoreError),
    /// The group's store is there and the key store has no keys for it. A fresh identity is
    /// never made up over an existing store.
    #[error("the keys of an existing group are missing")]
    KeysMissing,
    /// The store can't be used: not readable, full, damaged, or open elsewhere.
    #[error("the store can't be used: {0}")]
    Storage(#[from] StorageFault),
    /// The store was written by a newer version of this program.
    #[error("the store has version {found}; this version knows {known}")]
    StoreTooNew {
        /// The version that was found.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
}

impl OpenError {
    /// A stable name for each kind.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::KeyStore(error) => error.code(),
            Self::KeysMissing => "keysMissing",
            Self::Storage(_) => "storage",
            Self::StoreTooNew { .. } => "storeTooNew",
        }
    }
}

/// A device was let in only a moment ago. Two members that let somebody in and leave at the
/// same time tear the group: their newcomers never hear of each other (amendment 2).
#[derive(Clone, PartialEq, Eq)]
pub struct LeavingWarning {
    /// The name of the device that was let in.
    pub newcomer: String,
    /// Whether that is this device itself.
    pub is_me: bool,
    /// From when on there is nothing to warn of.
    pub until_ms: u64,
}

impl fmt::Debug for LeavingWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeavingWarning(..)")
    }
}

/// One group on this device. Cheap to clone; clones share the group.
///
/// The group closes when [`Self::close`] is called or the last clone is dropped. A message
/// handler that holds a clone keeps it open.
#[derive(Clone)]
pub struct Engine {
    actor: Arc<ActorHandle>,
}

impl Engine {
    /// Opens a group, makes it when the profile has none of that namespace yet, and connects
    /// in the background.
    ///
    /// Must be called inside a tokio runtime: the sessions and handlers run there.
    ///
    /// # Errors
    ///
    /// Any [`OpenError`].
    pub async fn open(options: OpenOptions) -> Result<Self, OpenError> {
        let actor = actor::start(options).await?;
        Ok(Self {
            actor: Arc::new(actor),
        })
    }

    /// Ends both sessions and closes the store; what is queued stays queued. A handler that
    /// runs is abandoned and its message comes again. Closing twice is fine.
    pub async fn close(&self) {
        self.actor.close().await;
    }

    pub(crate) fn actor(&self) -> &ActorHandle {
        &self.actor
    }

    /// Where this device stands in its group.
    #[must_use]
    pub fn status(&self) -> Status {
        self.actor.view().status
    }

    /// This device as a member.
    #[must_use]
    pub fn me(&self) -> Member {
        self.actor.view().me.clone()
    }

    /// The other members.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        self.actor.view().members.clone()
    }

    /// The current manifest's version and hash. Devices that agree about their group have the
    /// same; the hash tells nothing else, and belongs in no log.
    #[must_use]
    pub fn manifest(&self) -> Option<(u64, ManifestHash)> {
        self.actor.view().manifest
    }

    /// How the relay is reached for receiving.
    #[must_use]
    pub fn connection(&self) -> Connection {
        self.actor.view().connection
    }

    /// Why the last attempt to send found no relay; `None` once one was found.
    #[must_use]
    pub fn push_failure(&self) -> Option<ConnectFailure> {
        self.actor.push_failure()
    }

    /// What pairing looks like at the moment.
    #[must_use]
    pub fn pairing(&self) -> PairingState {
        self.actor.view().pairing.clone()
    }

    /// The largest body that [`Self::send`] takes.
    #[must_use]
    pub fn max_payload_bytes(&self) -> usize {
        self.actor.view().max_payload_bytes
    }

    /// The relay of the group, once it has one.
    #[must_use]
    pub fn relay(&self) -> Option<RelayAddress> {
        self.actor.view().relay.clone()
    }

    /// Changes the relay of the group and connects to it. Durable on return.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn set_relay(&self, relay: RelayAddress) -> Result<(), EngineError> {
        self.actor.set_relay(relay).await
    }

    /// Connects now instead of after the current delay, and tries to send what waits.
    pub fn reconnect(&self) {
        self.actor.reconnect();
    }

    /// Looks at the clock now: for a program that knows that time has jumped.
    pub fn wake(&self) {
        self.actor.wake();
    }

    /// What the group is called, if it has a name.
    #[must_use]
    pub fn group_name(&self) -> Option<String> {
        self.actor.view().group_name.clone()
    }

    /// Gives the group another name, which is cleaned, and tells the other members. Durable on
    /// return. Of two names that are given at the same time all devices take the same one.
    ///
    /// # Errors
    ///
    /// [`EngineError::GroupNameEmpty`], [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn rename_group(&self, name: String) -> Result<(), EngineError> {
        self.actor
            .call(move |device, now_ms, _| device.handle_rename_group(&name, now_ms))
            .await
    }

    /// Registers the one message handler, which starts receiving. It may run again for a
    /// message after a crash or after it failed.
    ///
    /// # Errors
    ///
    /// [`EngineError::MessageHandlerAlreadySet`] or [`EngineError::Closed`].
    pub fn on_message<H>(&self, handler: H) -> Result<Subscription, EngineError>
    where
        H: Fn(Message) -> BoxFuture<Result<(), HandlerError>> + Send + Sync + 'static,
    {
        self.actor.set_handler(Arc::new(handler))
    }

    /// Registers a listener of events. Those from before the first listener are told to it.
    /// Listeners run one after the other on a thread of their own and delay no message.
    pub fn on_event<L>(&self, listener: L) -> Subscription
    where
        L: Fn(Event) + Send + Sync + 'static,
    {
        self.actor.events().listen(listener)
    }

    /// Registers a listener of delivery issues. Those that nobody was told yet, of this run
    /// or an earlier one, are told to it.
    pub fn on_delivery_issue<L>(&self, listener: L) -> Subscription
    where
        L: Fn(DeliveryIssue) + Send + Sync + 'static,
    {
        self.actor.listen_to_issues(listener)
    }

    /// Queues a message to every other member; it is in the outbox on return.
    ///
    /// # Errors
    ///
    /// [`EngineError::Closed`], [`EngineError::PayloadTooLarge`],
    /// [`EngineError::NotMember`] or [`EngineError::Storage`].
    pub async fn send(&self, body: Vec<u8>) -> Result<MessageId, EngineError> {
        self.actor
            .call(move |device, now_ms, _| device.handle_send(body, now_ms))
            .await
    }

    /// Queues a text; see [`Self::send`].
    ///
    /// # Errors
    ///
    /// As [`Self::send`].
    pub async fn send_text(&self, text: &str) -> Result<MessageId, EngineError> {
        let message = AppMessage::new(AppMessageKind::Text(text.to_owned()), &mut OsRng);
        self.send(message.encode()).await
    }

    /// Opens a pairing window, in place of an open one, and returns its token.
    ///
    /// # Errors
    ///
    /// [`EngineError::NotMember`] outside `notJoined` and `member`, or
    /// [`EngineError::Closed`].
    pub async fn start_pairing(&self) -> Result<PairingToken, EngineError> {
        self.actor
            .call(|device, now_ms, rng| device.handle_start_pairing(now_ms, rng))
            .await
    }

    /// Admits the device that made a request.
    ///
    /// # Errors
    ///
    /// [`EngineError::PairingClosed`], [`EngineError::RemovedBefore`],
    /// [`EngineError::KeysMismatch`], [`EngineError::GroupFull`],
    /// [`EngineError::GroupWornOut`], [`EngineError::NotListed`],
    /// [`EngineError::ManifestAwaited`], [`EngineError::VersionsExhausted`],
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn accept(&self, request: JoinRequestId) -> Result<(), EngineError> {
        self.actor
            .call(move |device, now_ms, rng| device.handle_accept(request, now_ms, rng))
            .await
    }

    /// Dismisses a request; nobody is told.
    ///
    /// # Errors
    ///
    /// [`EngineError::Closed`].
    pub async fn dismiss(&self, request: JoinRequestId) -> Result<(), EngineError> {
        self.actor
            .change(move |device, _, _| device.handle_dismiss(request))
            .await
    }

    /// Closes the pairing window.
    ///
    /// # Errors
    ///
    /// [`EngineError::Closed`].
    pub async fn cancel_pairing(&self) -> Result<(), EngineError> {
        self.actor
            .change(|device, _, _| device.handle_cancel_pairing())
            .await
    }

    /// Asks to join the group of the device that made `token`.
    ///
    /// # Errors
    ///
    /// [`EngineError::AlreadyInGroup`], [`EngineError::InvalidPairingToken`],
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn join(&self, token: PairingToken) -> Result<(), EngineError> {
        self.actor
            .call(move |device, now_ms, _| device.handle_join(&token, now_ms))
            .await
    }

    /// Takes the request to join back.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn cancel_join(&self) -> Result<(), EngineError> {
        self.actor
            .change(|device, _, rng| device.handle_cancel_join(rng))
            .await
    }

    /// The person said that the four words are the same on both screens.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn confirm_words(&self) -> Result<(), EngineError> {
        self.actor
            .change(|device, _, _| device.handle_confirm_words())
            .await
    }

    /// The person said that the words differ: the join is cancelled, or the group left.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn refuse_words(&self) -> Result<(), EngineError> {
        self.actor
            .call(|device, now_ms, rng| device.handle_refuse_words(now_ms, rng))
            .await
    }

    /// Removes a member from the group.
    ///
    /// # Errors
    ///
    /// [`EngineError::MemberNotFound`], [`EngineError::NotMember`],
    /// [`EngineError::NotListed`], [`EngineError::ManifestAwaited`],
    /// [`EngineError::VersionsExhausted`], [`EngineError::Storage`] or
    /// [`EngineError::Closed`].
    pub async fn remove(&self, member: MemberId) -> Result<(), EngineError> {
        self.actor
            .call(move |device, now_ms, _| device.handle_remove(&member, now_ms))
            .await
    }

    /// Leaves the group; done once the relay has taken the news. After
    /// [`EngineError::ManifestAwaited`] it leaves by itself as soon as it can.
    ///
    /// # Errors
    ///
    /// [`EngineError::NotMember`], [`EngineError::ManifestAwaited`],
    /// [`EngineError::VersionsExhausted`], [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn leave(&self) -> Result<(), EngineError> {
        self.actor
            .call(|device, now_ms, _| device.handle_leave(now_ms))
            .await
    }

    /// Ends the group for everybody; done once the relay has taken the news.
    ///
    /// # Errors
    ///
    /// [`EngineError::NotMember`], [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn destroy_group(&self) -> Result<(), EngineError> {
        self.actor
            .call(|device, now_ms, _| device.handle_destroy(now_ms))
            .await
    }

    /// Forgets the group on this computer without waiting for the relay (amendment 9).
    ///
    /// # Errors
    ///
    /// [`EngineError::NotMember`] unless the group is ending, [`EngineError::Storage`] or
    /// [`EngineError::Closed`].
    pub async fn forget(&self) -> Result<(), EngineError> {
        self.actor.call(|device, _, _| device.handle_forget()).await
    }

    /// Up to `limit` messages after `position`, oldest first; 0 stands before all.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn messages_after(
        &self,
        position: u64,
        limit: usize,
    ) -> Result<Vec<StoredMessage>, EngineError> {
        self.actor
            .query(move |store, device| {
                let found = store.messages_after(position, limit)?;
                with_sending(found, store, device)
            })
            .await
    }

    /// Up to `limit` messages before `position` (`None`: the newest), oldest first.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn messages_before(
        &self,
        position: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredMessage>, EngineError> {
        self.actor
            .query(move |store, device| {
                let found = store.messages_before(position, limit)?;
                with_sending(found, store, device)
            })
            .await
    }

    /// One message of the history.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn message(&self, id: MessageId) -> Result<Option<StoredMessage>, EngineError> {
        self.actor
            .query(move |store, device| {
                let found = store.message(&id)?;
                with_sending(found, store, device)
            })
            .await
    }

    /// Up to `before` messages before `position` and up to `after` from there on, oldest first:
    /// the surroundings of what a search found.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn messages_around(
        &self,
        position: u64,
        before: usize,
        after: usize,
    ) -> Result<Vec<StoredMessage>, EngineError> {
        self.actor
            .query(move |store, device| {
                let found = store.messages_around(position, before, after)?;
                with_sending(found, store, device)
            })
            .await
    }

    /// How many messages the history holds.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn message_count(&self) -> Result<u64, EngineError> {
        self.actor.query(|store, _| store.message_count()).await
    }

    /// Up to `limit` messages before `before` (`None`: the newest) that hold every word of
    /// `text`, anywhere and in any spelling of it, newest first. Fewer than `limit` are all.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn search(
        &self,
        text: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<SearchHit>, EngineError> {
        let Some(query) = Query::parse(text).map(Arc::new) else {
            return Ok(Vec::new());
        };
        let limit = limit.min(PAGE_ROWS_MAX);
        let (mut hits, mut rest) = (Vec::new(), before);
        // In steps, between which others are answered.
        while hits.len() < limit {
            let (asked, room) = (Arc::clone(&query), limit.saturating_sub(hits.len()));
            let step = move |store: &Store, _: &Device| store.search(&asked, rest, room);
            let found = self.actor.query(step).await?;
            hits.extend(found.hits);
            rest = found.rest;
            if rest.is_none() {
                break;
            }
        }
        Ok(hits)
    }

    /// Deletes a message on this device. One of which no copy has left isn't sent any more;
    /// otherwise the copies that wait still go, so that all members get the same.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn delete_message(&self, position: u64) -> Result<(), EngineError> {
        self.actor
            .call_with(
                move |store| store.message_handle(position),
                |device, message, _| {
                    if let Some(message) = message {
                        device.handle_delete_message(message);
                    }
                    Ok(())
                },
            )
            .await
    }

    /// Sends an own message once more, to those members at which it failed; there it waits
    /// again. Members that have it are not shown it twice.
    ///
    /// # Errors
    ///
    /// [`EngineError::NotMember`], [`EngineError::MemberNotFound`] where it failed at none of
    /// the present members, [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn retry(&self, id: MessageId) -> Result<(), EngineError> {
        self.actor
            .call_with(
                move |store| {
                    let found = store.message(&id)?;
                    found.map_or(Ok(None), |found| store.message_handle(found.position))
                },
                |device, message, now_ms| {
                    let message = message.ok_or(EngineError::MemberNotFound)?;
                    device.handle_retry(message, now_ms).map(drop)
                },
            )
            .await
    }

    /// What was written and not sent; empty if nothing was.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn draft(&self) -> Result<String, EngineError> {
        self.actor.query(|store, _| store.draft()).await
    }

    /// Keeps what was written and not sent; at most [`DRAFT_BYTES_MAX`] bytes of it. It goes
    /// with the group.
    ///
    /// [`DRAFT_BYTES_MAX`]: crate::history::DRAFT_BYTES_MAX
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn set_draft(&self, text: String) -> Result<(), EngineError> {
        self.actor
            .change_store(move |store| store.set_draft(&text))
            .await
    }

    /// Up to `limit` delivery issues, newest first. Many are asked for page by page, so that the
    /// group does something else in between.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn delivery_issues(&self, limit: usize) -> Result<Vec<StoredIssue>, EngineError> {
        let mut found: Vec<StoredIssue> = Vec::new();
        while let missing = limit.saturating_sub(found.len())
            && missing > 0
        {
            let before = found.last().map(|issue| issue.id);
            let page = self
                .actor
                .query(move |store, _| store.issues(before, missing));
            let page = page.await?;
            let is_last = page.len() < missing.min(PAGE_ROWS_MAX);
            found.extend(page);
            if is_last {
                break;
            }
        }
        Ok(found)
    }

    /// Up to `limit` lines of who came and went in the group before `position` (`None`: the
    /// newest), as this device saw it, newest first. Like the messages it outlives the group.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn membership_history(
        &self,
        position: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredNote>, EngineError> {
        self.actor
            .query(move |store, _| store.membership_history(position, limit))
            .await
    }

    /// How this device stands with the others: what can't be repaired shows here. Nothing
    /// outside a group.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn cohesion(&self) -> Result<Option<Cohesion>, EngineError> {
        self.actor
            .query(|store, device| {
                let mut heard = BTreeSet::new();
                for other in device.members() {
                    if store.has_message_of(&other.id)? {
                        heard.insert(other.keys.signing);
                    }
                }
                Ok(device.cohesion(&heard))
            })
            .await
    }

    /// What speaks against leaving now, so that a program can ask first: a device was let in
    /// only a moment ago. `None` where nothing does.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn leaving_warning(&self) -> Result<Option<LeavingWarning>, EngineError> {
        if self.status() != Status::Member || self.members().is_empty() {
            return Ok(None);
        }
        let now_ms = self.actor.call(|_, now_ms, _| Ok(now_ms)).await?;
        let since_ms = now_ms.saturating_sub(timing::LEAVING_WARNING_MS);
        let query = move |store: &Store, _: &Device| store.last_admission_since(since_ms);
        let admission = self.actor.query(query).await?;
        Ok(admission.map(|note| LeavingWarning {
            newcomer: note.member.name.as_str().to_owned(),
            is_me: note.is_me,
            until_ms: note.seen_ms.saturating_add(timing::LEAVING_WARNING_MS),
        }))
    }

    /// How many delivery issues there are.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn issue_count(&self) -> Result<u64, EngineError> {
        self.actor.query(|store, _| store.issue_count()).await
    }

    /// Takes one delivery issue off the list. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn dismiss_issue(&self, id: u64) -> Result<bool, EngineError> {
        self.actor
            .change_store(move |store| store.remove_issue(id))
            .await
    }

    /// Takes all delivery issues off the list.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn dismiss_all_issues(&self) -> Result<(), EngineError> {
        self.actor.change_store(Store::remove_all_issues).await
    }

    /// Everything up to `position` has been read. Never goes back, and never beyond the last
    /// message there is.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn mark_read(&self, position: u64) -> Result<(), EngineError> {
        self.actor
            .change_store(move |store| store.mark_read(position))
            .await
    }

    /// The position up to which everything has been read.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn read_position(&self) -> Result<u64, EngineError> {
        self.actor.query(|store, _| store.read_position()).await
    }

    /// How many messages of others have not been read.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn unread(&self) -> Result<u64, EngineError> {
        self.actor.query(|store, _| store.unread()).await
    }

    /// How many copies of messages the relay hasn't got yet, control messages among them: a
    /// program that is about to end can wait for 0.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] or [`EngineError::Closed`].
    pub async fn outbox_copies(&self) -> Result<u64, EngineError> {
        self.actor.query(|store, _| store.outbox_copies()).await
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Engine")
    }
}
