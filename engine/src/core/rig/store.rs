//! The store in memory, with what the machines owe it checked at every commit.

use std::ops::{Deref, DerefMut};

use sealpost_protocol::key::{DeviceSecrets, MemberId};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use crate::core::message::{AppMessageId, DeliveryState};
use crate::core::rows::Rows;
use crate::core::step::{Change, Lookup, LookupError, StoredContent};

/// Everything that survives a crash.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    tables: Rows,
    /// Rows that were asked for again: the dedup table should have prevented it.
    pub(crate) repeats: usize,
    /// Makes every look-up fail.
    pub(crate) is_broken: bool,
}

impl Deref for Store {
    type Target = Rows;

    fn deref(&self) -> &Rows {
        &self.tables
    }
}

impl DerefMut for Store {
    fn deref_mut(&mut self) -> &mut Rows {
        &mut self.tables
    }
}

impl Store {
    pub(crate) fn new(secrets: DeviceSecrets, name: DeviceName) -> Self {
        Self {
            tables: Rows::new(secrets, name),
            repeats: 0,
            is_broken: false,
        }
    }

    /// One transaction.
    pub(crate) fn commit(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.check(&change);
            self.tables.write(vec![change]);
        }
    }

    /// What no machine may ask for.
    fn check(&mut self, change: &Change) {
        match change {
            Change::SequenceSaved(sequence) => {
                assert!(*sequence > self.sequence, "a sequence number only grows");
            }
            Change::OutboxEntryAdded(entry) => {
                let is_there = self.bodies.contains_key(&entry.sequence);
                assert!(is_there, "an entry has its message");
            }
            Change::OutboxMessageRemoved { sequence } => {
                let waits = self.entries.keys().any(|(waiting, _)| waiting == sequence);
                assert!(!waits, "a body goes with the last copy");
            }
            Change::DeliveryChanged { state, .. } => {
                assert_ne!(*state, DeliveryState::Sending, "in flight is never stored");
            }
            Change::MessageStored(row) => {
                let known = self.tables.rows.values();
                self.repeats += known.filter(|known| known.id == row.id).count();
            }
            _ => {}
        }
    }

    /// The tables, where they can be read.
    fn readable(&self) -> Result<&Rows, LookupError> {
        if self.is_broken {
            Err(LookupError)
        } else {
            Ok(&self.tables)
        }
    }
}

impl Lookup for Store {
    fn is_handled(&self, id: &MessageId) -> Result<bool, LookupError> {
        self.readable()?.is_handled(id)
    }

    fn outbox_body(&self, sequence: u64) -> Result<Option<Vec<u8>>, LookupError> {
        self.readable()?.outbox_body(sequence)
    }

    fn stored_message(&self, id: &MessageId) -> Result<Option<StoredContent>, LookupError> {
        self.readable()?.stored_message(id)
    }

    fn stored_app_message(
        &self,
        author: &MemberId,
        app_id: &AppMessageId,
    ) -> Result<Option<StoredContent>, LookupError> {
        self.readable()?.stored_app_message(author, app_id)
    }

    fn is_deleted(&self, author: &MemberId, app_id: &AppMessageId) -> Result<bool, LookupError> {
        self.readable()?.is_deleted(author, app_id)
    }
}
