//! The relay of the simulation: an inbox per key, in the order of arrival.

use std::collections::BTreeMap;

use sealpost_protocol::key::NoisePublic;

/// What the relay holds, and what is still on its way to it.
#[derive(Debug, Default)]
pub(super) struct Relay {
    inboxes: BTreeMap<NoisePublic, BTreeMap<u64, Vec<u8>>>,
    last_blob: u64,
    /// Pushes whose sender stopped waiting, but which may still arrive.
    pub(super) late: Vec<(NoisePublic, Vec<u8>)>,
}

impl Relay {
    /// Stores a blob.
    pub(super) fn store(&mut self, recipient: NoisePublic, envelope: Vec<u8>) {
        self.last_blob += 1;
        self.inboxes
            .entry(recipient)
            .or_default()
            .insert(self.last_blob, envelope);
    }

    /// The first blob behind `cursor`.
    pub(super) fn next(&self, recipient: &NoisePublic, cursor: u64) -> Option<(u64, Vec<u8>)> {
        let inbox = self.inboxes.get(recipient)?;
        let (blob, envelope) = inbox.range(cursor + 1..).next()?;
        Some((*blob, envelope.clone()))
    }

    /// Takes an acknowledgement.
    pub(super) fn delete(&mut self, recipient: &NoisePublic, blob: u64) {
        if let Some(inbox) = self.inboxes.get_mut(recipient) {
            inbox.remove(&blob);
        }
    }

    /// How many blobs wait for a device.
    pub(super) fn waiting(&self, recipient: &NoisePublic) -> usize {
        self.inboxes.get(recipient).map_or(0, BTreeMap::len)
    }
}
