//! What can be asked of a group at any time, without waiting for its actor.

use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::manifest::ManifestHash;

use crate::core::device::Device;
use crate::core::event::{Member, PairingState};
use crate::core::status::{Connection, Status};

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
