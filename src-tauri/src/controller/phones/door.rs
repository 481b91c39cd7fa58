//! The door that phones come in by: the web port of the relay on this computer.
//!
//! Owns the switch, the port and the order: the links claim their mailboxes, those that no link
//! has go, then the port opens. The port is drawn at the first use and stays, because for the
//! browser of a phone another port is another page, with nothing in it (amendment 20).

use std::net::IpAddr;
use std::sync::Arc;

use rand_core::{OsRng, RngCore as _};
use sealpost_engine::link::{LinkTrouble, Links};
use sealpost_engine::profile::Profile;
use sealpost_relay::{Relay, StartError, WebConfig};

use super::Controller;
use super::transport::InProcessTransport;
use crate::app_error::{AppError, AppErrorCode};
use crate::view::{PhoneDoor, PhonePairingClosed, SetPhonesOn};

/// The ports that one is drawn from: high, and below those that systems give to connections.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// How many ports are tried.
const PORT_TRIES: usize = 32;

/// How far the door is.
#[derive(Default)]
pub(super) enum Door {
    #[default]
    Closed,
    Opening,
    Open,
    Failed(AppError),
}

impl Door {
    /// What the window shows of it, and why it can't be opened.
    pub(super) fn view(&self, on: bool, relay_runs: bool) -> (PhoneDoor, Option<AppError>) {
        match self {
            _ if !on => (PhoneDoor::Off, None),
            _ if !relay_runs => (PhoneDoor::RelayOff, None),
            Self::Failed(error) => (PhoneDoor::Failed, Some(error.clone())),
            Self::Closed | Self::Opening => (PhoneDoor::Opening, None),
            Self::Open => (PhoneDoor::Open, None),
        }
    }
}

impl Controller {
    /// Switches whether phones may connect while the relay runs.
    ///
    /// # Errors
    ///
    /// `phone-port-in-use`, what keeps the profile from being written.
    pub async fn set_phones_on(&self, args: SetPhonesOn) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, _) = self.opened()?;
        self.change_phones(|settings| settings.on = args.on)?;
        if args.on {
            self.let_phones_in(&profile).await;
            return self.door_answer();
        }
        self.end_pairing(PhonePairingClosed::DoorClosed).await;
        self.close_door().await;
        self.changed();
        Ok(())
    }

    /// Tries to open the door once more, where it couldn't be.
    ///
    /// # Errors
    ///
    /// `phone-port-in-use`, `closed`.
    pub async fn try_phone_door_again(&self) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, keys) = self.opened()?;
        if self.state().phones.failure.is_some() {
            self.make_links(&profile, &keys).await?;
        }
        self.let_phones_in(&profile).await;
        self.door_answer()
    }

    /// Moves the door to another port, which no phone knows: all have to be paired again.
    ///
    /// # Errors
    ///
    /// `phone-port-in-use`, what keeps the profile from being written.
    pub async fn choose_phone_port(&self) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, _) = self.opened()?;
        self.end_pairing(PhonePairingClosed::AddressChanged).await;
        self.close_door().await;
        self.change_phones(|settings| settings.port = 0)?;
        self.let_phones_in(&profile).await;
        self.door_answer()
    }

    /// Lets the phones in, if they may come: the links first, then the door. While the links
    /// aren't open yet it waits for them.
    pub(in crate::controller) async fn let_phones_in(&self, profile: &Arc<Profile>) {
        let (relay, links, is_on) = {
            let mut state = self.state();
            let Some(relay) = state.relay.running().cloned() else {
                return;
            };
            let slot = &mut state.phones;
            if slot.transport.is_none() {
                let transport = Arc::new(InProcessTransport::new(relay.mailboxes()));
                slot.transport = Some(Arc::clone(&transport));
                if let Some(links) = &slot.links {
                    links.set_here(Some(transport));
                }
            }
            (relay, slot.links.clone(), slot.settings.on)
        };
        let waits_for_links = links.is_none() && Links::exist(profile.directory());
        if is_on && !waits_for_links {
            self.open_door(&relay, links).await;
        }
        self.changed();
    }

    /// The relay is about to stop: no phone comes in any more, and no link is served.
    pub(in crate::controller) async fn part_phones_from_relay(&self) {
        self.end_pairing(PhonePairingClosed::DoorClosed).await;
        let mut state = self.state();
        let slot = &mut state.phones;
        slot.door = Door::Closed;
        slot.transport = None;
        if let Some(links) = &slot.links {
            links.set_here(None);
        }
    }

    async fn open_door(&self, relay: &Relay, links: Option<Links>) {
        let transport = {
            let mut state = self.state();
            if matches!(state.phones.door, Door::Open) {
                return;
            }
            state.phones.door = Door::Opening;
            state.phones.transport.clone()
        };
        self.changed();
        if let (Some(links), Some(transport)) = (links, transport) {
            transport.until_claimed(&links.known_mailboxes()).await;
            end_unknown_mailboxes(relay, &links).await;
        }
        let door = match self.open_a_port(relay).await {
            Ok(()) => Door::Open,
            Err(error) => Door::Failed(error),
        };
        self.state().phones.door = door;
        self.changed();
    }

    /// Opens the port that phones know, or draws one for them to know.
    async fn open_a_port(&self, relay: &Relay) -> Result<(), AppError> {
        let known = self.state().phones.settings.port;
        if known != 0 {
            return self.open_port(relay, known).map(drop).map_err(port_error);
        }
        for _ in 0..PORT_TRIES {
            match self.open_port(relay, draw_port()) {
                Ok(port) => {
                    let kept = self.change_phones(|settings| settings.port = port);
                    if kept.is_err() {
                        relay.close_web().await;
                    }
                    return kept;
                }
                Err(StartError::PortInUse { .. } | StartError::PortForbidden { .. }) => {}
                Err(error) => return Err(port_error(error)),
            }
        }
        Err(AppErrorCode::Internal.into())
    }

    fn open_port(&self, relay: &Relay, port: u16) -> Result<u16, StartError> {
        let host = self.shared.setup.relay_host.clone();
        let name = host.filter(|host| host.parse::<IpAddr>().is_err());
        let names = name.into_iter().collect();
        relay.open_web(WebConfig::bundled(self.listen_address(port), names))
    }

    async fn close_door(&self) {
        let relay = {
            let mut state = self.state();
            state.phones.door = Door::Closed;
            state.relay.running().cloned()
        };
        if let Some(relay) = relay {
            relay.close_web().await;
        }
    }

    /// Whether the door could be opened.
    pub(super) fn door_answer(&self) -> Result<(), AppError> {
        match &self.state().phones.door {
            Door::Failed(error) => Err(error.clone()),
            Door::Closed | Door::Opening | Door::Open => Ok(()),
        }
    }
}

/// Removes the mailboxes that no link has. A relay whose files were restored from an older copy
/// has those again of phones that were unpaired since, and they would believe that they are not.
/// Nothing is removed while a link can't be read: its mailbox is not known then.
async fn end_unknown_mailboxes(relay: &Relay, links: &Links) {
    let mut all = links.list().into_iter();
    if all.any(|link| matches!(link.trouble, Some(LinkTrouble::Storage(_)))) {
        return;
    }
    let known = links.known_mailboxes();
    let known: Vec<_> = known.iter().map(|address| address.mailbox).collect();
    // What can't be removed now is removed when the door opens the next time.
    let _ = relay.mailboxes().retain(&known).await;
}

fn draw_port() -> u16 {
    let width = u32::from(PORTS.end - PORTS.start);
    let offset = u16::try_from(OsRng.next_u32() % width).unwrap_or_default();
    PORTS.start.saturating_add(offset)
}

/// The port of the phones is told apart from those of the relay: what to do is another thing.
fn port_error(error: StartError) -> AppError {
    match error {
        StartError::PortInUse { number, .. } | StartError::PortForbidden { number, .. } => {
            AppError::new(AppErrorCode::PhonePortInUse).with_number("port", number.into())
        }
        other => other.into(),
    }
}
