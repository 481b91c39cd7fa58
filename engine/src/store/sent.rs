//! The short way of one `send`: one row that makes it durable, the rows that follow from it
//! right after.
//!
//! Owns the table `sent`. A message touches nine pages of the database, and each is encrypted
//! and authenticated before the log is synced; its caller waits for one page and the sync. The
//! rest is written after the answer and needs no sync of its own: a crash in between, of the
//! program or of the computer, leaves the row, and the next start writes the rest from it.
//!
//! Invariants:
//! - nothing else of the machine is written between the two: what was left, say on a full disk,
//!   goes before the next write or fails it, and a machine that is built meanwhile knows of it;
//! - the rest and the removal of the row are one transaction, so a message is written once;
//! - everything else that the store writes is synced, whatever becomes of the rest.

use std::path::{Path, PathBuf};

use rusqlite::{Row, params};
use sealpost_protocol::key::{DeviceKeys, NoisePublic, SigningPublic};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use super::apply::Applied;
use super::fault::{fault, io_fault};
use super::{Store, integer, number};
use crate::core::error::StorageFault;
use crate::core::event::Member;
use crate::core::message::NewMessage;
use crate::core::step::{Change, OutboxBody, OutboxEntry, OutboxKind, OutboxMessage, Snapshot};
use crate::durable_file;

impl Store {
    /// If `changes` are those of one `send`, makes them durable and returns `true`; then
    /// [`Self::finish_send`] has to follow. Otherwise writes nothing.
    pub(crate) fn begin_send(&mut self, changes: &[Change]) -> Result<bool, StorageFault> {
        let Some((sequence, row)) = only_send(changes) else {
            return Ok(false);
        };
        let (Some(author), Some(recipients)) = (row.author.signing_key(), encode(&row.recipients))
        else {
            return Ok(false);
        };
        if self.has_left {
            self.finish_sends_left()?;
        }
        // First: of a write that fails it isn't known whether it is there.
        self.has_left = true;
        self.connection
            .prepare_cached(
                "INSERT INTO sent (sequence, id, author, name, app_id, at_ms, recipients, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    integer(sequence),
                    row.id.as_bytes(),
                    author.as_bytes(),
                    row.author_name.as_str(),
                    row.app_id,
                    integer(row.sent_at_ms),
                    recipients,
                    row.body,
                ])
            })
            .map_err(fault)?;
        Ok(true)
    }

    /// Writes the rows of a `send` that was begun, unsynced: the next commit pays for it, which
    /// is soon where a relay answers, or [`Self::sync_log`].
    pub(crate) fn finish_send(&mut self, changes: &[Change]) -> Result<Applied, StorageFault> {
        let sequence = only_send(changes).map(|(sequence, _)| integer(sequence));
        self.sync_commits(false)?;
        let applied = self.apply_after(changes, None, |transaction| {
            transaction
                .prepare_cached("DELETE FROM sent WHERE sequence = ?1")?
                .execute([sequence])
                .map(drop)
        });
        // Where it fails nothing was lost yet, and the machine is built anew.
        self.has_left = applied.is_err();
        self.sync_commits(true)?;
        applied
    }

    /// Syncs what was written without it, so that the next `send` doesn't wait for these pages.
    /// Nothing rests on it.
    pub(crate) fn sync_log(&self) {
        if let Err(error) = durable_file::sync(&log_of(&self.path)) {
            let fault = io_fault(&error);
            tracing::debug!(%fault, "the log is synced with the next commit");
        }
    }

    /// Writes the rows of the `send`s that a stop or a fault kept from being finished.
    pub(crate) fn finish_sends_left(&mut self) -> Result<(), StorageFault> {
        self.has_left = true;
        self.sync_commits(true)?;
        let left = self.sends_left()?;
        if left.is_empty() {
            self.has_left = false;
            return Ok(());
        }
        let changes: Vec<Change> = left
            .into_iter()
            .flat_map(|(sequence, row)| changes_of(sequence, row))
            .collect();
        self.apply_after(&changes, None, |transaction| {
            transaction.execute("DELETE FROM sent", []).map(drop)
        })?;
        self.has_left = false;
        Ok(())
    }

    /// Adds what is left to what the machine is built from: it is sent, though not written.
    pub(super) fn add_sends_left(&self, snapshot: &mut Snapshot) -> Result<(), StorageFault> {
        if !self.has_left {
            return Ok(());
        }
        for (sequence, row) in self.sends_left()? {
            for change in changes_of(sequence, row) {
                match change {
                    Change::SequenceSaved(last) => {
                        snapshot.last_sequence = snapshot.last_sequence.max(last);
                    }
                    Change::OutboxMessageAdded(message, _) => {
                        snapshot.outbox_messages.push(message);
                    }
                    Change::OutboxEntryAdded(entry) => snapshot.outbox_entries.push(entry),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn sends_left(&self) -> Result<Vec<(u64, NewMessage)>, StorageFault> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT sequence, id, author, name, app_id, at_ms, recipients, body
                 FROM sent ORDER BY sequence",
            )
            .map_err(fault)?;
        let mut rows = statement.query([]).map_err(fault)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Whether a commit returns only once it is on the disk.
    fn sync_commits(&self, is_synced: bool) -> Result<(), StorageFault> {
        let mode = if is_synced { "FULL" } else { "NORMAL" };
        self.connection
            .pragma_update(None, "synchronous", mode)
            .map_err(fault)
    }
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// The number and the row of the message, if that is all that `changes` say.
fn only_send(changes: &[Change]) -> Option<(u64, &NewMessage)> {
    let [
        Change::SequenceSaved(sequence),
        Change::MessageStored(row),
        rest @ ..,
    ] = changes
    else {
        return None;
    };
    let is_copy = |(change, recipient): (&Change, &Member)| match change {
        Change::OutboxEntryAdded(entry) => {
            entry.sequence == *sequence && entry.recipient == recipient.keys
        }
        _ => false,
    };
    let is_queued = match rest {
        [] => row.recipients.is_empty(),
        [Change::OutboxMessageAdded(message, body), copies @ ..] => {
            *message == outbox_message(*sequence, row)
                && body.0 == row.body
                && copies.len() == row.recipients.len()
                && copies.iter().zip(&row.recipients).all(is_copy)
        }
        _ => false,
    };
    let is_send = row.own && row.sent_at_ms == row.stored_at_ms && is_queued;
    is_send.then_some((*sequence, row))
}

/// What [`only_send`] has read.
fn changes_of(sequence: u64, row: NewMessage) -> Vec<Change> {
    let mut queued = Vec::new();
    if !row.recipients.is_empty() {
        let body = OutboxBody(row.body.clone());
        let message = outbox_message(sequence, &row);
        queued.push(Change::OutboxMessageAdded(message, body));
        queued.extend(row.recipients.iter().map(|recipient| {
            Change::OutboxEntryAdded(OutboxEntry {
                sequence,
                recipient: recipient.keys,
            })
        }));
    }
    let mut changes = vec![Change::SequenceSaved(sequence), Change::MessageStored(row)];
    changes.append(&mut queued);
    changes
}

const fn outbox_message(sequence: u64, row: &NewMessage) -> OutboxMessage {
    OutboxMessage {
        sequence,
        kind: OutboxKind::Sync {
            sent_at_ms: row.sent_at_ms,
        },
        first: None,
        reported: Vec::new(),
    }
}

fn encode(recipients: &[Member]) -> Option<Vec<u8>> {
    let mut encoded = Vec::new();
    for Member { keys, name, .. } in recipients {
        let name = name.as_str().as_bytes();
        encoded.extend_from_slice(keys.noise.as_bytes());
        encoded.extend_from_slice(keys.signing.as_bytes());
        encoded.push(u8::try_from(name.len()).ok()?);
        encoded.extend_from_slice(name);
    }
    Some(encoded)
}

fn decode(mut encoded: &[u8]) -> Option<Vec<Member>> {
    let mut recipients = Vec::new();
    while !encoded.is_empty() {
        let (noise, rest) = encoded.split_first_chunk::<32>()?;
        let (signing, rest) = rest.split_first_chunk::<32>()?;
        let (length, rest) = rest.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        encoded = rest;
        let signing = SigningPublic::from_bytes(*signing);
        let keys = DeviceKeys {
            noise: NoisePublic::from_bytes(*noise),
            signing,
        };
        recipients.push(Member {
            id: signing.member_id(),
            name: DeviceName::clean(std::str::from_utf8(name).ok()?, &signing),
            keys,
        });
    }
    Some(recipients)
}

fn read(row: &Row<'_>) -> Result<(u64, NewMessage), StorageFault> {
    let author = SigningPublic::from_bytes(row.get(2).map_err(fault)?);
    let name: String = row.get(3).map_err(fault)?;
    let at_ms = number(row.get(5).map_err(fault)?)?;
    let recipients: Vec<u8> = row.get(6).map_err(fault)?;
    let message = NewMessage {
        id: MessageId::from_bytes(row.get(1).map_err(fault)?),
        own: true,
        author: author.member_id(),
        author_name: DeviceName::clean(&name, &author),
        app_id: row.get(4).map_err(fault)?,
        body: row.get(7).map_err(fault)?,
        sent_at_ms: at_ms,
        stored_at_ms: at_ms,
        recipients: decode(&recipients).ok_or(StorageFault::Damaged)?,
    };
    Ok((number(row.get(0).map_err(fault)?)?, message))
}

#[cfg(test)]
mod tests;
