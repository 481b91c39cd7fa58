//! What can be asked of a group at any time, without waiting for its actor.

use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::manifest::ManifestHash;

use crate::core::device::Device;
use crate::core::error::StorageFault;
use crate::core::event::{Member, PairingState};
use crate::core::message::DeliveryState;
use crate::core::status::{Connection, Status};
use crate::history::{Delivery, StoredMessage};
use crate::store::Store;

/// The committed state of a group, as of the last step.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) status: Status,
    pub(crate) me: Member,
    pub(crate) members: Vec<Member>,
    pub(crate) manifest: Option<(u64, ManifestHash)>,
    pub(crate) connection: Connection,
    pub(crate) pairing: PairingState,
    pub(crate) group_name: Option<String>,
    pub(crate) relay: Option<RelayAddress>,
    pub(crate) max_payload_bytes: usize,
}

impl View {
    /// Reads it off the machine.
    pub(super) fn of(device: &Device, relay: Option<RelayAddress>) -> Self {
        Self {
            status: device.status(),
            me: device.me(),
            members: device.members(),
            manifest: device.manifest(),
            connection: device.connection(),
            pairing: device.pairing(),
            group_name: device.group_name().map(str::to_owned),
            relay,
            max_payload_bytes: device.max_payload_bytes(),
        }
    }
}

/// Shows a copy that is in flight as such: the store only knows that it waits. It may have gone
/// out under any of the message's ids.
pub(crate) fn with_sending<M>(
    mut found: M,
    store: &Store,
    device: &Device,
) -> Result<M, StorageFault>
where
    for<'a> &'a mut M: IntoIterator<Item = &'a mut StoredMessage>,
{
    for message in &mut found {
        let is_waiting = |delivery: &&mut Delivery| delivery.state == DeliveryState::Waiting;
        let mut waiting = message.deliveries.iter_mut().filter(is_waiting).peekable();
        if waiting.peek().is_none() {
            continue;
        }
        let mut ids = vec![message.id];
        ids.extend(store.resent_ids(message.position)?);
        for delivery in waiting {
            if ids.iter().any(|id| device.is_sending(id, &delivery.member)) {
                delivery.state = DeliveryState::Sending;
            }
        }
    }
    Ok(found)
}
