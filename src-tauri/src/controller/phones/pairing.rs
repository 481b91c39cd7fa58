//! The pairing with a phone, on this computer's side.
//!
//! Owns its beginning and how its end is told: five minutes after it began, when the person
//! answered or left its screen, when the phone did, or when the code leads nowhere any more.
//! Who may be paired, the digits and the keys are the engine's.

use sealpost_engine::core::link::pairing::{PairingFailure, PairingPhase};
use sealpost_engine::core::phone_feed::Sharing;
use sealpost_engine::link::{
    LinkEnd, LinkInfo, LinkName, LinkPlace, LinkState, Links, PairingOptions, RelayUrl,
};

use super::super::pairing::DrawnCode;
use super::super::{Controller, State};
use super::sharing_view;
use crate::app_error::{AppError, AppErrorCode};
use crate::settings::PhoneSettings;
use crate::view::{
    PhonePairingClosed, PhonePairingStep, PhonePairingView, PhoneSharingView, StartPhonePairing,
};

/// A pairing that is going on.
pub(super) struct Pairing {
    link: LinkName,
    sharing: Sharing,
    /// The host and port in the code.
    address: String,
    /// The phone that the new one takes the place of.
    instead_of: Option<LinkName>,
    /// The picture of the code, which is drawn once.
    drawn: Option<DrawnCode>,
}

impl Controller {
    /// Shows a code to a phone. One that is shown stays: it may be on its way to a phone.
    ///
    /// # Errors
    ///
    /// `phones-need-relay`, `phones-need-network`, `phone-port-in-use`, `phones-too-many`,
    /// `phone-unknown`, `phones-unusable`.
    pub async fn start_phone_pairing(&self, args: StartPhonePairing) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        if self.state().phones.pairing.is_some() {
            return Ok(());
        }
        let (profile, keys) = self.opened()?;
        if self.state().relay.running().is_none() {
            return Err(AppErrorCode::PhonesNeedRelay.into());
        }
        let host = self.state().relay.host(&self.shared.setup);
        let host = host.ok_or(AppErrorCode::PhonesNeedNetwork)?;
        let instead_of = match args.instead_of {
            Some(phone) => Some(self.phone(&phone)?.1),
            None => None,
        };
        let links = self.make_links(&profile, &keys).await?;
        self.change_phones(|settings| settings.on = true)?;
        self.let_phones_in(&profile).await;
        self.door_answer()?;
        let shown_url = page_url(&host, self.state().phones.settings.port)?;
        let address = shown_url.authority();
        let started = links.start_pairing(PairingOptions {
            place: LinkPlace::Here,
            shown_url,
            my_name: profile.device_name().unwrap_or_default(),
        });
        let link = started.await?.name;
        let mut state = self.state();
        let sharing = match &instead_of {
            Some(phone) => state.phones.sharing(phone),
            // Everything that there is, to be narrowed while the code is scanned.
            None => Sharing::new(true, &state.groups.keys().cloned().collect(), []),
        };
        state.phones.closed = None;
        state.phones.pairing = Some(Pairing {
            link,
            sharing,
            address,
            instead_of,
            drawn: None,
        });
        drop(state);
        self.changed();
        Ok(())
    }

    /// Takes the code back, because the person closed it or left its screen.
    ///
    /// # Errors
    ///
    /// None; a command like the others.
    pub async fn cancel_phone_pairing(&self) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        self.end_pairing(PhonePairingClosed::Cancelled).await;
        Ok(())
    }

    /// Lets the phone in whose digits are the same.
    ///
    /// # Errors
    ///
    /// `phone-pairing-over`, `phones-unusable`, what keeps the profile from being written.
    pub async fn confirm_phone(&self) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (links, link) = self.pairing()?;
        let kept = {
            let state = self.state();
            let pairing = state.phones.pairing.as_ref();
            pairing.map(|pairing| PhoneSettings {
                sharing: pairing.sharing.clone(),
                address: Some(pairing.address.clone()),
            })
        };
        // Before it is let in: what it sees must not depend on when this program stops.
        self.change_phones(|settings| {
            let name = link.as_str().to_owned();
            settings.phones.insert(name, kept.unwrap_or_default());
        })?;
        links.confirm_digits(&link).await?;
        self.changed();
        Ok(())
    }

    /// Turns the phone away, because the digits differ.
    ///
    /// # Errors
    ///
    /// `phone-pairing-over`.
    pub async fn decline_phone(&self) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        self.pairing()?;
        self.end_pairing(PhonePairingClosed::Declined).await;
        Ok(())
    }

    /// Takes over which groups the phone that is being paired will see.
    pub(super) fn share_with_newcomer(&self, chosen: PhoneSharingView) -> Result<(), AppError> {
        let sharing = self.sharing_of(&chosen);
        let mut state = self.state();
        let pairing = state.phones.pairing.as_mut();
        pairing.ok_or(AppErrorCode::PhonePairingOver)?.sharing = sharing;
        drop(state);
        self.changed();
        Ok(())
    }

    /// Ends the pairing that is going on, if there is one.
    pub(super) async fn end_pairing(&self, reason: PhonePairingClosed) {
        let (links, pairing) = {
            let mut state = self.state();
            (state.phones.links.clone(), state.phones.pairing.take())
        };
        let (Some(links), Some(pairing)) = (links, pairing) else {
            return;
        };
        // What isn't being paired any more needs no end.
        let _ = links.cancel_pairing(&pairing.link).await;
        let is_paired = links
            .info(&pairing.link)
            .is_some_and(|info| is_phone(&info));
        if !is_paired {
            let name = pairing.link.as_str();
            let _ = self.change_phones(|settings| drop(settings.phones.remove(name)));
        }
        self.note_pairing_end(if is_paired {
            PhonePairingClosed::Paired
        } else {
            reason
        });
    }

    /// The code leads to an address that this computer doesn't have any more.
    pub(in crate::controller) async fn end_pairing_at_other_address(&self) {
        let is_gone = {
            let state = self.state();
            let port = state.phones.settings.port;
            let host = state.relay.host(&self.shared.setup);
            let now = host.and_then(|host| page_url(&host, port).ok());
            let pairing = state.phones.pairing.as_ref();
            pairing.is_some_and(|pairing| now.is_none_or(|now| now.authority() != pairing.address))
        };
        if is_gone {
            self.end_pairing(PhonePairingClosed::AddressChanged).await;
        }
    }

    /// Ends what an earlier run of the program had begun: its code is on no screen any more.
    /// One that the person has confirmed goes on.
    pub(super) async fn end_left_pairings(&self, links: &Links) {
        for info in links.list() {
            if let LinkState::Pairing(pairing) = &info.state
                && !pairing.is_confirmed
            {
                let _ = links.cancel_pairing(&info.name).await;
            }
        }
    }

    /// Takes note of how far the pairing has come, after its link has moved.
    pub(super) async fn follow_pairing(&self, links: &Links) {
        let followed = {
            let state = self.state();
            let pairing = state.phones.pairing.as_ref();
            pairing.map(|pairing| (pairing.link.clone(), pairing.instead_of.clone()))
        };
        let Some((link, instead_of)) = followed else {
            return;
        };
        let end = match links.info(&link).map(|info| info.state) {
            Some(LinkState::Pairing(_)) => return,
            Some(LinkState::Ended(end)) => {
                let _ = links.dismiss(&link).await;
                pairing_end(end)
            }
            Some(_) => PhonePairingClosed::Paired,
            None => PhonePairingClosed::PhoneGaveUp,
        };
        self.state().phones.pairing = None;
        if end == PhonePairingClosed::Paired {
            if let Some(old) = instead_of {
                // What can't be removed now stays on the list.
                let _ = self.end_phone(links, &old).await;
            }
        } else {
            let _ = self.change_phones(|settings| drop(settings.phones.remove(link.as_str())));
        }
        self.note_pairing_end(end);
    }

    fn note_pairing_end(&self, end: PhonePairingClosed) {
        self.state().phones.closed = Some(end);
        self.changed();
    }

    fn pairing(&self) -> Result<(Links, LinkName), AppError> {
        let state = self.state();
        let links = state.phones.links.clone();
        let link = state
            .phones
            .pairing
            .as_ref()
            .map(|pairing| pairing.link.clone());
        links
            .zip(link)
            .ok_or_else(|| AppErrorCode::PhonePairingOver.into())
    }
}

/// Whether a link is one to a phone that was paired.
pub(super) fn is_phone(info: &LinkInfo) -> bool {
    !matches!(info.state, LinkState::Pairing(_))
}

/// The address of the page that a phone opens.
fn page_url(host: &str, port: u16) -> Result<RelayUrl, AppError> {
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    RelayUrl::parse(&format!("http://{host}:{port}"))
        .map_err(|_| AppErrorCode::PhonesNeedNetwork.into())
}

fn pairing_end(end: LinkEnd) -> PhonePairingClosed {
    match end {
        LinkEnd::Pairing(failure) => match failure {
            PairingFailure::Expired => PhonePairingClosed::Expired,
            PairingFailure::Cancelled => PhonePairingClosed::Cancelled,
            PairingFailure::PeerCancelled => PhonePairingClosed::PhoneGaveUp,
            PairingFailure::TwoDevices => PhonePairingClosed::TwoDevices,
            PairingFailure::Mismatch => PhonePairingClosed::Mismatch,
            PairingFailure::WrongToken | PairingFailure::Refused => PhonePairingClosed::Failed,
        },
        LinkEnd::ByPeer => PhonePairingClosed::PhoneGaveUp,
        LinkEnd::ClaimsClosed | LinkEnd::Storage(_) => PhonePairingClosed::Failed,
    }
}

/// What the window shows of the pairing; the code is drawn again only when it is another one.
pub(super) fn pairing_view(state: &State, info: &LinkInfo) -> Option<PhonePairingView> {
    let pairing = state.phones.pairing.as_ref()?;
    let LinkState::Pairing(stage) = &info.state else {
        return None;
    };
    let url = stage.url.as_ref();
    let drawn = pairing.drawn.as_ref();
    let drawn = drawn.filter(|drawn| url.is_some_and(|url| url.as_str() == drawn.link));
    let step = match stage.phase {
        PairingPhase::Claiming => PhonePairingStep::Preparing,
        PairingPhase::Waiting if drawn.is_some() => PhonePairingStep::Code,
        PairingPhase::Waiting if stage.url.is_some() => PhonePairingStep::Preparing,
        PairingPhase::Waiting | PairingPhase::Exchanging => PhonePairingStep::Contacted,
        PairingPhase::Comparing => PhonePairingStep::Compare,
        PairingPhase::Finishing | PairingPhase::Done | PairingPhase::Failed(_) => {
            PhonePairingStep::Finishing
        }
    };
    Some(PhonePairingView {
        step,
        link: drawn.map(|drawn| drawn.link.clone()),
        qr_svg: drawn.map(|drawn| drawn.svg.clone()),
        expires_at_ms: stage.expires_at_ms,
        name: Some(info.peer_name.clone()).filter(|name| !name.is_empty()),
        digits: stage.digits.clone(),
        sharing: sharing_view(state, &pairing.sharing),
        instead_of: pairing
            .instead_of
            .as_ref()
            .map(|phone| phone.as_str().to_owned()),
    })
}

impl Pairing {
    /// What its link is called.
    pub(super) fn link(&self) -> &LinkName {
        &self.link
    }

    /// Draws its code, where that is another one than was drawn.
    pub(super) fn draw(&mut self, link: &str) {
        if self.drawn.as_ref().is_none_or(|drawn| drawn.link != link) {
            self.drawn = DrawnCode::new(link.to_owned());
        }
    }
}
