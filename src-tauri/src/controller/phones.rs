//! The phones of this profile: pages in a browser that see some of its groups.
//!
//! Owns the links of the profile, the switch and the door that phones come in by, a pairing
//! that is going on, and what each phone sees. The rules of links and pairing are the engine's
//! ([`sealpost_engine::link`]), what a phone is told is decided by
//! [`sealpost_engine::core::phone_feed`]; the relay is the one on this computer.
//!
//! Invariants:
//! - the door opens only after every known link has claimed its mailbox (amendment 16), and
//!   closes with the relay;
//! - what a phone sees is kept before the phone is let in;
//! - the links are open while the groups are, and closed with them.

mod door;
mod feed;
mod pairing;
mod transport;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sealpost_engine::core::phone_feed::Sharing;
use sealpost_engine::keys::KeyStore;
use sealpost_engine::link::{LinkName, LinkState, Links, LinksOptions};
use sealpost_engine::profile::Profile;
use sealpost_protocol::message_id::MessageId;

use super::{Controller, State};
use crate::app_error::{AppError, AppErrorCode};
use crate::settings::{PhonesSettings, Settings as _};
use crate::view::{OfPhone, PhonePairingClosed, PhoneSharingView, RenamePhone, SetPhoneSharing};

use door::Door;
use pairing::Pairing;
use transport::InProcessTransport;

/// Of how many messages of a group it is remembered that they changed, until the phones are
/// told. Beyond that only the newest messages are told.
const CHANGED_IDS_MAX: usize = 256;

/// What the app knows of its phones.
#[derive(Default)]
pub(super) struct PhonesSlot {
    links: Option<Links>,
    /// The way to the relay, while it runs.
    transport: Option<Arc<InProcessTransport>>,
    settings: PhonesSettings,
    door: Door,
    /// Why the links can't be used.
    failure: Option<AppError>,
    pairing: Option<Pairing>,
    closed: Option<PhonePairingClosed>,
    /// The messages that the phones haven't been told of, by group.
    changes: BTreeMap<String, BTreeSet<MessageId>>,
}

impl PhonesSlot {
    /// Takes note that a group has new rows, or that a row changed.
    pub(super) fn note_rows(&mut self, group: &str, changed: Option<MessageId>) {
        if self.links.is_none() {
            return;
        }
        let ids = self.changes.entry(group.to_owned()).or_default();
        if ids.len() < CHANGED_IDS_MAX {
            ids.extend(changed);
        }
    }

    /// What a phone sees; nothing if that isn't known.
    fn sharing(&self, phone: &LinkName) -> Sharing {
        let known = self.settings.phones.get(phone.as_str());
        known.map(|known| known.sharing.clone()).unwrap_or_default()
    }
}

impl Controller {
    /// Calls a phone something else.
    ///
    /// # Errors
    ///
    /// `phone-unknown`, `name-empty`, `phones-unusable`.
    pub async fn rename_phone(&self, args: RenamePhone) -> Result<(), AppError> {
        let (links, phone) = self.phone(&args.phone)?;
        links.rename(&phone, &args.name).await?;
        self.changed();
        Ok(())
    }

    /// Chooses which groups a phone sees.
    ///
    /// # Errors
    ///
    /// `phone-unknown`, `phone-pairing-over`, what keeps the profile from being written.
    pub async fn set_phone_sharing(&self, args: SetPhoneSharing) -> Result<(), AppError> {
        let Some(phone) = args.phone else {
            return self.share_with_newcomer(args.sharing);
        };
        let (_, phone) = self.phone(&phone)?;
        let _lifecycle = self.shared.lifecycle.lock().await;
        let sharing = self.sharing_of(&args.sharing);
        self.change_phones(|settings| {
            let known = settings
                .phones
                .entry(phone.as_str().to_owned())
                .or_default();
            known.sharing = sharing;
        })?;
        self.changed();
        Ok(())
    }

    /// Ends the link to a phone; what it shows is gone there as soon as it looks.
    ///
    /// # Errors
    ///
    /// `phone-unknown`, `phones-unusable`, what keeps the profile from being written.
    pub async fn unpair_phone(&self, args: OfPhone) -> Result<(), AppError> {
        let (links, phone) = self.phone(&args.phone)?;
        let _lifecycle = self.shared.lifecycle.lock().await;
        self.end_phone(&links, &phone).await
    }

    async fn end_phone(&self, links: &Links, phone: &LinkName) -> Result<(), AppError> {
        let state = links.info(phone).map(|info| info.state);
        match state {
            Some(LinkState::Ended(_)) => links.dismiss(phone).await?,
            Some(_) => links.unpair(phone).await?,
            None => {}
        }
        self.change_phones(|settings| drop(settings.phones.remove(phone.as_str())))?;
        self.changed();
        Ok(())
    }

    /// Opens the links of the profile, if it has ever had one, and lets its phones in.
    pub(super) async fn open_links(&self, profile: &Arc<Profile>, keys: &Arc<dyn KeyStore>) {
        self.state().phones.settings = profile.phones();
        if Links::exist(profile.directory()) {
            // What went wrong is shown where the phones are, and keeps nobody from the rest.
            let _ = self.make_links(profile, keys).await;
        }
        self.let_phones_in(profile).await;
    }

    /// The links of the profile, which are opened if they aren't yet.
    async fn make_links(
        &self,
        profile: &Arc<Profile>,
        keys: &Arc<dyn KeyStore>,
    ) -> Result<Links, AppError> {
        if let Some(links) = self.state().phones.links.clone() {
            return Ok(links);
        }
        let opened = Links::open(LinksOptions {
            directory: profile.directory().to_owned(),
            profile_id: profile.id(),
            key_store: Arc::clone(keys),
            clock: Arc::clone(&self.shared.setup.clock),
        });
        let opened = opened.await.map_err(AppError::from);
        let links = self.take_links(opened)?;
        self.end_left_pairings(&links).await;
        self.forget_strangers(profile, &links);
        let bell = Arc::clone(&self.shared.phones_rang);
        tokio::spawn(feed::run(self.downgrade(), links.clone(), bell));
        Ok(links)
    }

    /// Forgets what was to be shown to phones that never came: the program stopped while they
    /// were being paired.
    fn forget_strangers(&self, profile: &Profile, links: &Links) {
        let known: BTreeSet<LinkName> = links.list().into_iter().map(|info| info.name).collect();
        let is_known =
            |name: &String| LinkName::parse(name).is_some_and(|name| known.contains(&name));
        let mut settings = profile.phones();
        let before = settings.phones.len();
        settings.phones.retain(|name, _| is_known(name));
        if settings.phones.len() != before && profile.set_phones(&settings).is_ok() {
            self.state().phones.settings = settings;
        }
    }

    fn take_links(&self, opened: Result<Links, AppError>) -> Result<Links, AppError> {
        let mut state = self.state();
        let slot = &mut state.phones;
        slot.failure = opened.as_ref().err().cloned();
        let links = opened?;
        slot.links = Some(links.clone());
        if let Some(transport) = slot.transport.clone() {
            links.set_here(Some(transport));
        }
        Ok(links)
    }

    /// Closes the links; all that they hold is on disk then.
    pub(super) async fn close_links(&self) {
        let links = {
            let mut state = self.state();
            state.phones.pairing = None;
            state.phones.changes.clear();
            state.phones.links.take()
        };
        if let Some(links) = links {
            links.close().await;
        }
    }

    /// The links, and what the link to a phone is called.
    fn phone(&self, id: &str) -> Result<(Links, LinkName), AppError> {
        let links = self.state().phones.links.clone();
        let links = links.ok_or(AppErrorCode::PhoneUnknown)?;
        let phone = LinkName::parse(id).filter(|name| links.info(name).is_some());
        Ok((links, phone.ok_or(AppErrorCode::PhoneUnknown)?))
    }

    /// Changes what is kept of the phones; on disk first.
    fn change_phones(&self, change: impl FnOnce(&mut PhonesSettings)) -> Result<(), AppError> {
        let (profile, _) = self.opened()?;
        let mut settings = profile.phones();
        change(&mut settings);
        profile.set_phones(&settings)?;
        self.state().phones.settings = settings;
        self.shared.phones_rang.notify_one();
        Ok(())
    }

    /// What the window means by a choice of groups.
    fn sharing_of(&self, chosen: &PhoneSharingView) -> Sharing {
        let shown = chosen.groups.iter().cloned().collect();
        let state = self.state();
        Sharing::new(
            chosen.later,
            &shown,
            state.groups.keys().map(String::as_str),
        )
    }
}

/// The choice of groups as the window shows it.
fn sharing_view(state: &State, sharing: &Sharing) -> PhoneSharingView {
    let groups = state.groups.keys().filter(|group| sharing.shows(group));
    PhoneSharingView {
        groups: groups.cloned().collect(),
        later: sharing.later,
    }
}
