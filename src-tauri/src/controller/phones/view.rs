//! The phones as the window shows them.

use std::collections::BTreeSet;

use sealpost_engine::link::{LinkEnd, LinkInfo, LinkState, LinkTrouble, Links};

use super::super::{Controller, State};
use super::pairing::{is_phone, pairing_view};
use super::sharing_view;
use crate::view::{PhoneState, PhoneTrouble, PhoneView, PhonesView};

impl Controller {
    /// Builds what the window shows of the phones.
    pub(in crate::controller) fn phones_view(&self, state: &State) -> PhonesView {
        let slot = &state.phones;
        let runs = state.relay.running().is_some();
        let (door, failure) = slot.door.view(slot.settings.on, runs);
        let links = slot.links.as_ref().map(Links::list).unwrap_or_default();
        let newcomer = slot.pairing.as_ref().and_then(|pairing| {
            let info = links.iter().find(|info| info.name == *pairing.link());
            pairing_view(state, info?)
        });
        let addresses = self.own_hosts(state);
        let phones = links.iter().filter(|info| is_phone(info));
        PhonesView {
            on: slot.settings.on,
            door,
            failure: slot.failure.clone().or(failure),
            port: slot.settings.port,
            host: state.relay.host(&self.shared.setup),
            pairing: newcomer,
            pairing_closed: slot.closed,
            phones: phones
                .map(|info| phone_view(state, info, &addresses))
                .collect(),
        }
    }

    /// Where phones may find this computer; empty while that isn't known.
    fn own_hosts(&self, state: &State) -> BTreeSet<String> {
        let port = state.phones.settings.port;
        let chosen = self.shared.setup.relay_host.clone();
        let hosts = chosen
            .into_iter()
            .chain(state.relay.addresses().iter().cloned());
        hosts
            .map(|host| match host.contains(':') {
                true => format!("[{host}]:{port}"),
                false => format!("{host}:{port}"),
            })
            .collect()
    }

    /// Draws the code of the pairing that is going on, before it is shown: that takes longer
    /// than the rest of a view.
    pub(super) fn draw_code(&self, links: &Links) {
        let mut state = self.state();
        let Some(pairing) = state.phones.pairing.as_mut() else {
            return;
        };
        let info = links.info(pairing.link());
        let url = info.and_then(|info| match info.state {
            LinkState::Pairing(stage) => stage.url,
            _ => None,
        });
        if let Some(url) = url {
            pairing.draw(url.as_str());
        }
    }
}

fn phone_view(state: &State, info: &LinkInfo, own: &BTreeSet<String>) -> PhoneView {
    let kept = state.phones.settings.phones.get(info.name.as_str());
    let address = kept.and_then(|kept| kept.address.clone());
    let (shown, since_ms) = phone_state(&info.state);
    PhoneView {
        id: info.name.as_str().to_owned(),
        name: info.peer_name.clone(),
        state: shown,
        since_ms,
        last_contact_ms: info.last_contact_ms,
        waiting: info.waiting,
        trouble: info.trouble.and_then(trouble),
        address_gone: address.filter(|address| !own.is_empty() && !own.contains(address)),
        sharing: sharing_view(state, &state.phones.sharing(&info.name)),
    }
}

fn phone_state(state: &LinkState) -> (PhoneState, Option<u64>) {
    match state {
        LinkState::Pairing(_) | LinkState::Active => (PhoneState::Linked, None),
        LinkState::Unconfirmed { since_ms } => (PhoneState::Unconfirmed, Some(*since_ms)),
        LinkState::Lost => (PhoneState::Lost, None),
        LinkState::Ended(LinkEnd::ByPeer) => (PhoneState::UnpairedThere, None),
        LinkState::Ended(_) => (PhoneState::Broken, None),
    }
}

/// That the relay isn't there is said once, for all phones.
fn trouble(trouble: LinkTrouble) -> Option<PhoneTrouble> {
    match trouble {
        LinkTrouble::NotReached(_) => None,
        LinkTrouble::Blocked => Some(PhoneTrouble::Full),
        LinkTrouble::Misbehaves => Some(PhoneTrouble::Misbehaves),
        LinkTrouble::Misconfigured | LinkTrouble::Refused | LinkTrouble::WrongToken => {
            Some(PhoneTrouble::Refused)
        }
        LinkTrouble::NewerPeer => Some(PhoneTrouble::Newer),
        LinkTrouble::Storage(_) => Some(PhoneTrouble::Storage),
    }
}
