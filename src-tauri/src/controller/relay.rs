//! The relay on this computer: the stand-alone relay as a library, started in this process.
//!
//! Owns its switch, its key item, its ports and the address that invitations name. The ports
//! are chosen once: the usual ones, or free ones where another program has those; from then
//! on they stay, because groups and invitations name them. Nothing else may take over the
//! key: a relay whose key is gone is reported and not started with a new one.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rand_core::OsRng;
use sealpost_engine::keys::{KeyItem, KeyItemName, KeyStore, KeyStoreError};
use sealpost_engine::profile::Profile;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use sealpost_relay::{Config, MailboxLimits, Numbers, Relay, SystemClock, everywhere};

use super::group::GROUPS_ON_RELAY_HERE;
use super::{Controller, Setup, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::local_address;
use crate::settings::{RelaySettings, Settings as _};
use crate::view::{RelayState, RelayView, SetRelayRunning};

/// How long a relay that stops waits for writes in progress: quitting waits for it too.
const DRAIN: Duration = Duration::from_secs(2);

/// The file of the relay's store in its folder.
const STORE_FILE: &str = "inbox.db";

/// What the app knows of the relay on this computer.
#[derive(Default)]
pub(super) struct RelaySlot {
    state: SlotState,
    settings: Option<RelaySettings>,
    addresses: Vec<String>,
    numbers: Numbers,
}

/// How far the relay is.
#[derive(Default)]
enum SlotState {
    #[default]
    Off,
    Starting,
    On(Arc<Relay>),
    Failed(AppError),
}

impl RelaySlot {
    /// The running relay's key.
    pub(super) fn public_key(&self) -> Option<NoisePublic> {
        match &self.state {
            SlotState::On(relay) => Some(relay.public_key()),
            SlotState::Off | SlotState::Starting | SlotState::Failed(_) => None,
        }
    }

    /// The relay, if it runs.
    pub(super) fn running(&self) -> Option<&Arc<Relay>> {
        match &self.state {
            SlotState::On(relay) => Some(relay),
            SlotState::Off | SlotState::Starting | SlotState::Failed(_) => None,
        }
    }

    /// The addresses of this computer, best first.
    pub(super) fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// What the code for a phone names as this computer; nothing without a network.
    pub(super) fn host(&self, setup: &Setup) -> Option<String> {
        let best = || self.addresses.first().cloned();
        setup.relay_host.clone().or_else(best)
    }

    /// The running relay's address, as invitations name it.
    pub(super) fn address(&self, setup: &Setup) -> Option<RelayAddress> {
        let SlotState::On(relay) = &self.state else {
            return None;
        };
        let host = setup.relay_host.clone();
        let host = host.unwrap_or_else(|| local_address::host_for_invitations(&self.addresses));
        relay.address(&host).ok()
    }

    /// Empties the slot; its ports stay known.
    fn take(&mut self) -> SlotState {
        self.numbers = Numbers::default();
        std::mem::take(&mut self.state)
    }

    /// What the window shows of it.
    pub(super) fn view(&self) -> RelayView {
        let (state, failure) = match &self.state {
            SlotState::Off => (RelayState::Off, None),
            SlotState::Starting => (RelayState::Starting, None),
            SlotState::On(_) => (RelayState::On, None),
            SlotState::Failed(error) => (RelayState::Failed, Some(error.clone())),
        };
        RelayView {
            state,
            failure,
            addresses: self.addresses.clone(),
            receive_port: self.settings.map_or(0, |settings| settings.receive_port),
            push_port: self.settings.map_or(0, |settings| settings.push_port),
            waiting_blobs: self.numbers.blobs,
            stored_bytes: self.numbers.bytes,
            devices: self.numbers.receive_sessions,
            first_expiry_ms: self.numbers.first_expiry_ms,
        }
    }
}

impl Controller {
    /// Switches the relay on this computer.
    ///
    /// # Errors
    ///
    /// `relay-port-in-use`, `relay-store-unusable`, and what keeps its key from being read.
    pub async fn set_relay_running(&self, args: SetRelayRunning) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        self.run_or_stop(args.on).await
    }

    /// Switches the relay on this computer to what it isn't. Chosen twice in a row it is
    /// undone, however long the first time takes.
    ///
    /// # Errors
    ///
    /// Those of [`Controller::set_relay_running`].
    pub async fn switch_relay(&self) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let on = self.state().relay.public_key().is_none();
        let switched = self.run_or_stop(on).await;
        // The tick in the tray has moved already, and goes back to what is so.
        self.changed();
        switched
    }

    async fn run_or_stop(&self, on: bool) -> Result<(), AppError> {
        let (profile, keys) = self.opened()?;
        if on {
            self.run_relay(&profile, &keys).await.map(drop)
        } else {
            self.stop_relay().await;
            if let Some(settings) = profile.relay() {
                profile.set_relay(RelaySettings {
                    on: false,
                    ..settings
                })?;
            }
            Ok(())
        }
    }

    /// Takes the relay to other ports. Where it can't listen there it goes on where it was.
    pub(super) async fn move_relay(&self, to: RelaySettings) -> Result<(), AppError> {
        let (profile, keys) = self.opened()?;
        let before = profile.relay();
        let was_on = self.state().relay.public_key().is_some();
        if !was_on {
            // It listens there when it is switched on the next time.
            let settings = RelaySettings { on: false, ..to };
            profile.set_relay(settings)?;
            self.state().relay.settings = Some(settings);
            self.changed();
            return Ok(());
        }
        self.stop_relay().await;
        profile.set_relay(to)?;
        let moved = self.run_relay(&profile, &keys).await;
        if let (Err(_), Some(before)) = (&moved, before) {
            profile.set_relay(before)?;
            // What went wrong with the new ports is the news, not this.
            let _ = self.run_relay(&profile, &keys).await;
        }
        self.follow_address().await;
        moved
    }

    /// The address of the relay on this computer, which is started if it is off.
    pub(super) async fn relay_here(
        &self,
        profile: &Arc<Profile>,
        keys: &Arc<dyn KeyStore>,
    ) -> Result<RelayAddress, AppError> {
        self.run_relay(profile, keys).await?;
        let state = self.state();
        let address = state.relay.address(&self.shared.setup);
        address.ok_or_else(|| AppErrorCode::RelayAddressInvalid.into())
    }

    /// Starts the relay again after a restart, if it was on. A failure is shown with the
    /// relay and keeps nobody from their messages.
    pub(super) async fn resume_relay(&self, profile: &Arc<Profile>, keys: &Arc<dyn KeyStore>) {
        let settings = profile.relay();
        self.state().relay.settings = settings;
        let with_app = self.state().preferences.start_relay_with_app;
        if with_app && settings.is_some_and(|settings| settings.on) {
            let _ = self.run_relay(profile, keys).await;
        }
    }

    /// Stops the relay. What it stores stays.
    pub(super) async fn stop_relay(&self) {
        self.part_phones_from_relay().await;
        let was = self.state().relay.take();
        if let SlotState::On(relay) = was
            && let Some(relay) = Arc::into_inner(relay)
        {
            relay.stop().await;
        }
        self.changed();
    }

    /// Takes over the running relay's numbers, if they changed.
    pub(super) fn refresh_numbers(&self) {
        let mut state = self.state();
        let slot = &mut state.relay;
        let SlotState::On(relay) = &slot.state else {
            return;
        };
        let numbers = relay.numbers();
        if slot.numbers != numbers {
            slot.numbers = numbers;
            drop(state);
            self.changed();
        }
    }

    /// Takes over the addresses of this computer, if they changed while the relay runs.
    pub(super) async fn refresh_addresses(&self) {
        if self.state().relay.public_key().is_none() {
            return;
        }
        let addresses = self.local_addresses().await;
        let before = std::mem::replace(&mut self.state().relay.addresses, addresses.clone());
        if before != addresses {
            self.follow_address().await;
            self.end_pairing_at_other_address().await;
            self.changed();
        }
    }

    async fn local_addresses(&self) -> Vec<String> {
        let find = Arc::clone(&self.shared.setup.local_addresses);
        blocking(move || find()).await.unwrap_or_default()
    }

    /// Moves the groups that were started on this relay to its present address. The other
    /// devices have to be told by a new invitation until relays are announced.
    pub(super) async fn follow_address(&self) {
        let Ok((profile, _)) = self.opened() else {
            return;
        };
        let here = profile.listed(GROUPS_ON_RELAY_HERE);
        for (name, engine) in self.engines() {
            let Some(address) = self.moved_address(engine.relay()) else {
                continue;
            };
            if here.contains(&name) {
                // The next round tries again.
                let _ = engine.set_relay(address).await;
            }
        }
    }

    /// The present address of the relay here, if a group knows it under one that is gone.
    fn moved_address(&self, known: Option<RelayAddress>) -> Option<RelayAddress> {
        let state = self.state();
        let SlotState::On(relay) = &state.relay.state else {
            return None;
        };
        let known = known.filter(|known| *known.public_key() == relay.public_key())?;
        let addresses = &state.relay.addresses;
        let is_gone = !addresses.is_empty()
            && self.shared.setup.relay_host.is_none()
            && known.host().parse::<IpAddr>().is_ok()
            && !addresses.iter().any(|address| address == known.host());
        let ports = relay.ports();
        let is_moved = (known.receive_port(), known.push_port()) != (ports.receive, ports.push);
        let address = state.relay.address(&self.shared.setup);
        address.filter(|_| is_gone || is_moved)
    }

    async fn run_relay(
        &self,
        profile: &Arc<Profile>,
        keys: &Arc<dyn KeyStore>,
    ) -> Result<(), AppError> {
        if matches!(self.state().relay.state, SlotState::On(_)) {
            return Ok(());
        }
        self.state().relay.state = SlotState::Starting;
        self.changed();
        let started = self.start_relay(profile, keys).await;
        let answer = self.take_relay(started);
        if answer.is_ok() {
            self.let_phones_in(profile).await;
        }
        self.changed();
        answer
    }

    fn take_relay(
        &self,
        started: Result<(Relay, RelaySettings, Vec<String>), AppError>,
    ) -> Result<(), AppError> {
        let mut state = self.state();
        let (slot_state, answer) = match started {
            Ok((relay, settings, addresses)) => {
                state.relay.settings = Some(settings);
                state.relay.addresses = addresses;
                (SlotState::On(Arc::new(relay)), Ok(()))
            }
            Err(error) => (SlotState::Failed(error.clone()), Err(error)),
        };
        state.relay.state = slot_state;
        answer
    }

    async fn start_relay(
        &self,
        profile: &Arc<Profile>,
        keys: &Arc<dyn KeyStore>,
    ) -> Result<(Relay, RelaySettings, Vec<String>), AppError> {
        let settings = profile.relay();
        let key = load_key(profile, keys, settings.is_some()).await?;
        let relay = match settings {
            Some(settings) => {
                self.serve(profile, &key, settings.receive_port, settings.push_port)
                    .await?
            }
            None => self.serve_first(profile, &key).await?,
        };
        let ports = relay.ports();
        let settings = RelaySettings {
            on: true,
            receive_port: ports.receive,
            push_port: ports.push,
        };
        if let Err(error) = profile.set_relay(settings) {
            relay.stop().await;
            return Err(error.into());
        }
        let addresses = self.local_addresses().await;
        Ok((relay, settings, addresses))
    }

    /// The usual ports, or free ones where another program has one of those.
    async fn serve_first(&self, profile: &Profile, key: &NoiseSecret) -> Result<Relay, AppError> {
        let (receive_port, push_port) = self.shared.setup.usual_ports;
        match self.serve(profile, key, receive_port, push_port).await {
            Err(error) if error.code == AppErrorCode::RelayPortInUse => {
                self.serve(profile, key, 0, 0).await
            }
            answer => answer,
        }
    }

    async fn serve(
        &self,
        profile: &Profile,
        key: &NoiseSecret,
        receive_port: u16,
        push_port: u16,
    ) -> Result<Relay, AppError> {
        let config = Config {
            store_path: profile.relay_directory().join(STORE_FILE),
            listen_receive: self.listen_address(receive_port),
            listen_push: self.listen_address(push_port),
            listen_health: None,
            shutdown_drain: DRAIN,
            mailboxes: MailboxLimits::BUNDLED,
            ..Config::default()
        };
        let key = NoiseSecret::from_bytes(*key.as_bytes());
        Ok(Relay::start(config, key, Arc::new(SystemClock)).await?)
    }

    /// Every interface, unless invitations are to name this computer's own loopback address.
    pub(super) fn listen_address(&self, port: u16) -> SocketAddr {
        let chosen = self.shared.setup.relay_host.as_deref();
        match chosen.and_then(|host| host.parse::<IpAddr>().ok()) {
            Some(address) if address.is_loopback() => SocketAddr::new(address, port),
            _ => everywhere(port),
        }
    }
}

/// Loads the relay's key, or makes it for a relay that has never run.
async fn load_key(
    profile: &Arc<Profile>,
    keys: &Arc<dyn KeyStore>,
    has_run: bool,
) -> Result<NoiseSecret, AppError> {
    let (id, keys) = (profile.id(), Arc::clone(keys));
    blocking(move || {
        let name = KeyItemName::relay(&id);
        match keys.load(&name)? {
            Some(item) => item.relay_key(&id),
            None if has_run => Err(KeyStoreError::Damaged),
            None => {
                let key = NoiseSecret::generate(&mut OsRng);
                keys.save(&name, &KeyItem::from_relay_key(&id, &key))?;
                Ok(key)
            }
        }
    })
    .await?
    .map_err(AppError::from)
}
