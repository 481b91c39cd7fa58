//! The calls of the handle, on the thread.

use rand_core::OsRng;
use sealpost_protocol::limit::{LINK_BODY_BYTES_MAX, LINK_PAIRING_MS};
use sealpost_protocol::link::code::PairingCode;
use sealpost_protocol::link::key::{LinkId, LinkKey, Role};
use sealpost_protocol::link::payload::PayloadId;
use sealpost_protocol::name;

use super::entry::{Entry, Machine};
use super::pairing::PairingEntry;
use super::{Actor, LINKS_MAX};
use crate::core::link::pairing::{LinkPairing, PairingPhase};
use crate::core::link::{QueueError, RowKind, RowProgress, timing};
use crate::link::error::LinksError;
use crate::link::event::LinksEvent;
use crate::link::info::{
    Arrived, LinkContent, LinkPlace, LinkProgress, PairingStarted, PairingUrl, SentRow,
};
use crate::link::links::PairingOptions;
use crate::link::name::LinkName;
use crate::link::relay_url::RelayUrl;
use crate::link::store::Of;

type Result<T> = std::result::Result<T, LinksError>;

/// Most that is read at once of what arrived.
const ARRIVED_ROWS_MAX: usize = 256;

impl Actor {
    /// Shows a code.
    pub(in crate::link) fn start_pairing(
        &mut self,
        options: &PairingOptions,
    ) -> Result<PairingStarted> {
        let my_name = cleaned(&options.my_name)?;
        self.check_room()?;
        let now_ms = self.now_ms();
        let (key, id) = (LinkKey::generate(&mut OsRng), LinkId::generate(&mut OsRng));
        let expires_at_ms = now_ms.saturating_add(LINK_PAIRING_MS);
        let code = PairingCode::new(
            &options.shown_url.to_text(),
            (key.clone(), id),
            expires_at_ms / 1_000,
            &my_name,
        )?;
        let url = PairingUrl::new(code.to_url());
        let machine = LinkPairing::show((key, id), &my_name, now_ms, &mut OsRng);
        let relay = match &options.place {
            LinkPlace::Here => None,
            LinkPlace::At(relay) => Some(relay.to_text()),
        };
        let name = self.begin_pairing(Role::A, relay, machine, Some(url.clone()))?;
        Ok(PairingStarted {
            name,
            url,
            expires_at_ms,
        })
    }

    /// Joins a device that shows a code.
    pub(in crate::link) fn join(&mut self, code: &str, my_name: &str) -> Result<LinkName> {
        let code = PairingCode::parse(code)?;
        let relay = RelayUrl::parse(code.base_url())?;
        let my_name = cleaned(my_name)?;
        self.check_room()?;
        let me = (my_name.as_str(), std::env::consts::OS);
        let machine = LinkPairing::join(&code, me, self.now_ms(), &mut OsRng);
        self.begin_pairing(Role::B, Some(relay.to_text()), machine, None)
    }

    fn begin_pairing(
        &mut self,
        role: Role,
        relay: Option<String>,
        machine: LinkPairing,
        url: Option<PairingUrl>,
    ) -> Result<LinkName> {
        let name = LinkName::generate(&mut OsRng);
        let of = Of {
            position: None,
            name: name.clone(),
            relay,
            made_at_ms: self.now_ms(),
        };
        let entry = PairingEntry::new(of, (role, self.ways.count()), machine, url);
        self.pairings.insert(name.clone(), entry);
        if let Err(error) = self.settle_pairing(&name) {
            // Whoever asked for it is told.
            self.pairings.remove(&name);
            self.show();
            return Err(error);
        }
        self.changed(&name);
        Ok(name)
    }

    fn check_room(&self) -> Result<()> {
        if self.links.len().saturating_add(self.pairings.len()) < LINKS_MAX {
            Ok(())
        } else {
            Err(LinksError::TooMany { max: LINKS_MAX })
        }
    }

    /// The digits are the same.
    pub(in crate::link) fn confirm_digits(&mut self, name: &LinkName) -> Result<()> {
        let entry = self.pairings.get(name);
        let entry = entry.filter(|entry| !entry.is_over());
        let Some(entry) = entry else {
            return Err(self.not_pairing(name));
        };
        if entry.machine.view().phase != PairingPhase::Comparing {
            return Err(LinksError::NoDigits);
        }
        self.call_pairing(name, LinkPairing::confirm)
    }

    /// The digits differ, or nobody wants it any more.
    pub(in crate::link) fn cancel_pairing(&mut self, name: &LinkName) -> Result<()> {
        match self.pairings.get(name) {
            None => Err(self.not_pairing(name)),
            Some(entry) if entry.is_over() => self.dismiss(name),
            Some(_) => {
                self.call_pairing(name, LinkPairing::cancel)?;
                self.changed(name);
                Ok(())
            }
        }
    }

    fn not_pairing(&self, name: &LinkName) -> LinksError {
        if self.links.contains_key(name) || self.pairings.contains_key(name) {
            LinksError::NotPairing
        } else {
            LinksError::UnknownLink
        }
    }

    /// Calls the other device something else.
    pub(in crate::link) fn rename(&mut self, name: &LinkName, peer_name: &str) -> Result<()> {
        let peer_name = cleaned(peer_name)?;
        let position = self.position(name)?;
        self.store.rename(position, &peer_name)?;
        self.entry(name)?.peer_name = peer_name;
        self.changed(name);
        Ok(())
    }

    /// Ends a link, or a pairing.
    pub(in crate::link) fn unpair(&mut self, name: &LinkName) -> Result<()> {
        if self.pairings.contains_key(name) {
            return self.cancel_pairing(name);
        }
        match self.entry(name)?.machine {
            Machine::Ended(_) => self.dismiss(name),
            Machine::Link(_) | Machine::Stale(_) => self.end_link(name),
        }
    }

    /// Ends a link, because the person wants it.
    pub(super) fn end_link(&mut self, name: &LinkName) -> Result<()> {
        let now_ms = self.now_ms();
        self.entry(name)?.working()?.unpair(now_ms, &mut OsRng);
        self.settle(name)
    }

    /// Takes what ended off the list.
    pub(in crate::link) fn dismiss(&mut self, name: &LinkName) -> Result<()> {
        if let Some(entry) = self.pairings.get(name) {
            if !entry.is_over() {
                return Err(LinksError::StillPairing);
            }
            self.pairings.remove(name);
            self.changed(name);
            return Ok(());
        }
        let entry = self.entry(name)?;
        let position = entry.of.position;
        if !matches!(entry.machine, Machine::Ended(_)) {
            return Err(LinksError::NotEnded);
        }
        if let Some(position) = position {
            self.store.remove_link(position)?;
        }
        self.links.remove(name);
        self.changed(name);
        Ok(())
    }

    /// Queues something.
    pub(in crate::link) fn send(
        &mut self,
        name: &LinkName,
        content: LinkContent,
        body: Vec<u8>,
        id: Option<PayloadId>,
    ) -> Result<PayloadId> {
        let now_ms = self.now_ms();
        let kind = match content {
            LinkContent::Message => RowKind::Msg,
            LinkContent::State { key } => RowKind::State { collapse: key },
        };
        let link = self.entry(name)?.working()?;
        let queued = link.queue((kind, body), id, now_ms, &mut OsRng);
        let id = queued.map_err(queue_error)?;
        self.settle(name)?;
        Ok(id)
    }

    /// What arrived.
    pub(in crate::link) fn arrived(
        &mut self,
        name: &LinkName,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Arrived>> {
        let position = self.position(name)?;
        let limit = limit.min(ARRIVED_ROWS_MAX);
        Ok(self.store.arrived(position, after, limit)?)
    }

    /// Something that arrived was handled.
    pub(in crate::link) fn handled(&mut self, name: &LinkName, id: &PayloadId) -> Result<()> {
        let position = self.position(name)?;
        if self.store.handled(position, id)? {
            let arrived = self.store.arrived_count(position)?;
            self.entry(name)?.arrived = arrived;
            self.show();
        }
        Ok(())
    }

    /// What was sent.
    pub(in crate::link) fn outbox(&mut self, name: &LinkName) -> Result<Vec<SentRow>> {
        let position = self.position(name)?;
        let mut rows = self.store.sent(position)?;
        if let Machine::Link(link) = &self.entry(name)?.machine {
            // That it was collected is a hint of the relay's, and not stored.
            for (id, progress) in link.outbox() {
                let row = rows.iter_mut().find(|row| row.id == id);
                if let Some(row) = row.filter(|_| progress == RowProgress::Collected) {
                    row.progress = LinkProgress::Collected;
                }
            }
        }
        Ok(rows)
    }

    /// Takes something that failed off the list.
    pub(in crate::link) fn dismiss_failed(
        &mut self,
        name: &LinkName,
        id: &PayloadId,
    ) -> Result<bool> {
        let position = self.position(name)?;
        Ok(self.store.dismiss_failed(position, id)?)
    }

    fn entry(&mut self, name: &LinkName) -> Result<&mut Entry> {
        let is_pairing = self.pairings.contains_key(name);
        let entry = self.links.get_mut(name);
        entry.ok_or(if is_pairing {
            LinksError::StillPairing
        } else {
            LinksError::UnknownLink
        })
    }

    fn position(&mut self, name: &LinkName) -> Result<i64> {
        let position = self.entry(name)?.of.position;
        position.ok_or(LinksError::StillPairing)
    }

    fn changed(&self, name: &LinkName) {
        self.shared
            .listeners
            .tell(&LinksEvent::Changed(name.clone()));
        self.show();
    }
}

fn cleaned(text: &str) -> Result<String> {
    name::clean(text).ok_or(LinksError::NameEmpty)
}

const fn queue_error(error: QueueError) -> LinksError {
    match error {
        QueueError::TooLarge => LinksError::TooLarge {
            max: LINK_BODY_BYTES_MAX,
        },
        QueueError::Full => LinksError::OutboxFull {
            max: timing::OUTBOX_ROWS_MAX,
        },
        QueueError::Ended => LinksError::Ended,
    }
}
