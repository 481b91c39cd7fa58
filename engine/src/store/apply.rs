//! Writes the changes of one step.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use sealpost_protocol::key::{MemberId, NoisePublic};
use sealpost_protocol::message_id::MessageId;

use super::fault::fault;
use super::{Store, integer, issues, membership, wipe};
use crate::core::error::StorageFault;
use crate::core::message::{DeliveryState, NewMessage};
use crate::core::step::{Change, HeldBlob, JoinRecord, OutboxBody, OutboxKind, OutboxMessage};
use crate::keys::IdentityId;

/// The stored numbers of the kinds of outbox messages: those of their tags on the wire.
pub(super) const KIND_PAIR: u8 = 1;
pub(super) const KIND_SYNC: u8 = 2;
pub(super) const KIND_REVOKE: u8 = 3;
pub(super) const KIND_GROUP_MANIFEST: u8 = 4;

/// What came of the changes.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// The message rows that were really added, with the positions they got.
    pub(crate) stored: Vec<(MessageId, u64)>,
    /// Whether any row was added, changed or removed.
    pub(crate) has_written: bool,
}

impl Store {
    /// Writes `changes` in one transaction. `identity` is the id under which the key store
    /// holds the secrets of [`Change::IdentityReplaced`].
    pub(crate) fn apply(
        &mut self,
        changes: &[Change],
        identity: Option<&IdentityId>,
    ) -> Result<Applied, StorageFault> {
        if changes.is_empty() {
            return Ok(Applied::default());
        }
        if self.has_left {
            self.finish_sends_left()?;
        }
        self.apply_after(changes, identity, |_| Ok(()))
    }

    /// Writes `changes` in one transaction, after what `first` does in it.
    pub(super) fn apply_after(
        &mut self,
        changes: &[Change],
        identity: Option<&IdentityId>,
        first: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<Applied, StorageFault> {
        let mut applied = Applied::default();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(fault)?;
        let written = rows_written(&transaction).map_err(fault)?;
        first(&transaction).map_err(fault)?;
        for change in changes {
            write(&transaction, change, identity, &mut applied).map_err(fault)?;
        }
        applied.has_written = rows_written(&transaction).map_err(fault)? != written;
        transaction.commit().map_err(fault)?;
        Ok(applied)
    }

    /// Counts up with every row that is written.
    pub(crate) fn rows_written(&self) -> i64 {
        rows_written(&self.connection).unwrap_or_default()
    }
}

/// How many rows the connection has written since it was opened.
fn rows_written(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT total_changes()")?
        .query_row([], |row| row.get(0))
}

#[expect(
    clippy::too_many_lines,
    reason = "a flat dispatcher: one arm per change"
)]
fn write(
    transaction: &Transaction<'_>,
    change: &Change,
    identity: Option<&IdentityId>,
    applied: &mut Applied,
) -> rusqlite::Result<()> {
    let run = |sql, values: &[&dyn rusqlite::ToSql]| {
        transaction.prepare_cached(sql)?.execute(values).map(drop)
    };
    match change {
        Change::PhaseSaved(phase) => run("UPDATE device SET phase = ?1", &[&phase.code()]),
        Change::LeaveWanted(wants) => run("UPDATE device SET wants_leave = ?1", &[wants]),
        Change::SeenSaved(at_ms) => run("UPDATE device SET seen_ms = ?1", &[&integer(*at_ms)]),
        Change::SequenceSaved(last) => {
            // Never back: a number that comes again may be taken for the message that had it.
            let sql = "UPDATE device SET last_sequence = max(last_sequence, ?1)";
            run(sql, &[&integer(*last)])
        }
        Change::JoinSaved(join) => save_join(transaction, join),
        Change::JoinRemoved => run("DELETE FROM pending_join", &[]),
        Change::ManifestBuffered(buffered) => run(
            "INSERT INTO buffered_manifest (author, encoded) VALUES (?1, ?2)",
            &[buffered.author.as_bytes(), &buffered.manifest.encode()],
        ),
        Change::BufferedManifestsRemoved => run("DELETE FROM buffered_manifest", &[]),
        Change::OutboxMessageAdded(message, body) => add_outbox(transaction, message, body),
        Change::OutboxEntryAdded(entry) => run(
            "INSERT OR IGNORE INTO outbox_entry (sequence, recipient_noise, recipient_signing)
             VALUES (?1, ?2, ?3)",
            &[
                &integer(entry.sequence),
                entry.recipient.noise.as_bytes(),
                entry.recipient.signing.as_bytes(),
            ],
        ),
        Change::OutboxEntryRemoved {
            sequence,
            recipient,
        } => run(
            "DELETE FROM outbox_entry WHERE sequence = ?1 AND recipient_noise = ?2",
            &[&integer(*sequence), recipient.as_bytes()],
        ),
        Change::OutboxMessageRemoved { sequence } => run(
            "DELETE FROM outbox_message WHERE sequence = ?1",
            &[&integer(*sequence)],
        ),
        Change::OutboxFailureReported { sequence, failure } => run(
            "UPDATE outbox_message SET reported = trim(reported || ' ' || ?2) WHERE sequence = ?1",
            &[&integer(*sequence), &failure.code()],
        ),
        Change::MessageHandled { id, keep_until_ms } => run(
            "INSERT INTO handled (id, keep_until_ms) VALUES (?1, ?2)
             ON CONFLICT (id) DO UPDATE SET keep_until_ms = max(keep_until_ms, ?2)",
            &[id.as_bytes(), &integer(*keep_until_ms)],
        ),
        Change::HandledPurged { before_ms } => run(
            "DELETE FROM handled WHERE keep_until_ms < ?1",
            &[&integer(*before_ms)],
        ),
        Change::MessageStored(message) => store_message(transaction, message, applied),
        Change::MessageDeleted { position } => delete_message(transaction, *position),
        Change::MessageResent {
            position,
            id,
            members,
        } => resend_message(transaction, *position, id, members),
        Change::DeliveryChanged {
            message,
            member,
            state,
        } => change_delivery(transaction, message, member.as_str(), *state),
        Change::GroupNamed { name, is_mine } => run(
            "UPDATE device SET label = ?1, label_version = ?2, label_is_mine = ?3",
            &[&name.text, &integer(name.version), is_mine],
        ),
        Change::IssueAdded { at_ms, issue } => issues::add(transaction, *at_ms, issue),
        Change::HeldBlobAdded(held) => add_held(transaction, held),
        Change::HeldBlobRemoved { digest } => {
            run("DELETE FROM held_blob WHERE digest = ?1", &[digest])
        }
        Change::Membership(change) => membership::write(transaction, change),
        Change::MembershipNoted(note) => membership::note(transaction, note),
        Change::GroupWiped => wipe::wipe(transaction),
        Change::IdentityReplaced(_) => match identity {
            Some(id) => run("UPDATE device SET identity = ?1", &[id.as_bytes()]),
            // Without its keys in the key store an identity must not come into use.
            None => Err(rusqlite::Error::InvalidQuery),
        },
    }
}

fn save_join(transaction: &Transaction<'_>, join: &JoinRecord) -> rusqlite::Result<()> {
    transaction
        .execute(
            "INSERT OR REPLACE INTO pending_join
                 (one, admitter_noise, admitter_signing, secret, confirmed, refused)
             VALUES (1, ?1, ?2, ?3, ?4, ?5)",
            params![
                join.admitter.noise.as_bytes(),
                join.admitter.signing.as_bytes(),
                join.secret.as_bytes(),
                join.confirmed,
                join.is_refused,
            ],
        )
        .map(drop)
}

fn add_outbox(
    transaction: &Transaction<'_>,
    message: &OutboxMessage,
    body: &OutboxBody,
) -> rusqlite::Result<()> {
    let (kind, sent_at_ms) = match message.kind {
        OutboxKind::Pair => (KIND_PAIR, 0),
        OutboxKind::Sync { sent_at_ms } => (KIND_SYNC, integer(sent_at_ms)),
        OutboxKind::Revoke => (KIND_REVOKE, 0),
        OutboxKind::GroupManifest => (KIND_GROUP_MANIFEST, 0),
    };
    let reported: Vec<_> = message
        .reported
        .iter()
        .map(|failure| failure.code())
        .collect();
    transaction
        .prepare_cached(
            "INSERT INTO outbox_message (sequence, kind, sent_at_ms, body, first, reported)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            integer(message.sequence),
            kind,
            sent_at_ms,
            body.0,
            message.first.as_ref().map(NoisePublic::as_bytes),
            reported.join(" "),
        ])
        .map(drop)
}

/// Adds a row of the history with its deliveries, unless it is there under either id.
fn store_message(
    transaction: &Transaction<'_>,
    message: &NewMessage,
    applied: &mut Applied,
) -> rusqlite::Result<()> {
    let added = transaction
        .prepare_cached(
            "INSERT INTO message
                 (id, own, author, author_name, app_id, body, sent_at_ms, stored_at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            message.id.as_bytes(),
            message.own,
            message.author.as_str(),
            message.author_name.as_str(),
            message.app_id,
            message.body,
            integer(message.sent_at_ms),
            integer(message.stored_at_ms),
        ])?;
    if added == 0 {
        return Ok(());
    }
    let position = transaction.last_insert_rowid();
    let mut insert = transaction.prepare_cached(
        "INSERT OR IGNORE INTO delivery (position, member, name, place, state)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let waiting = DeliveryState::Waiting.code();
    for (place, member) in (0_i64..).zip(&message.recipients) {
        let (id, name) = (member.id.as_str(), member.name.as_str());
        insert.execute(params![position, id, name, place, waiting])?;
    }
    applied
        .stored
        .push((message.id, u64::try_from(position).unwrap_or_default()));
    Ok(())
}

/// Deletes a row of the history. Of a message of another member its name stays: sent once more
/// it is not shown again.
fn delete_message(transaction: &Transaction<'_>, position: u64) -> rusqlite::Result<()> {
    for sql in [
        "INSERT OR IGNORE INTO deleted (author, app_id)
         SELECT author, app_id FROM message
         WHERE position = ?1 AND own = 0 AND app_id IS NOT NULL",
        "DELETE FROM search WHERE rowid = ?1",
        "DELETE FROM message WHERE position = ?1",
    ] {
        transaction
            .prepare_cached(sql)?
            .execute([integer(position)])?;
    }
    Ok(())
}

fn resend_message(
    transaction: &Transaction<'_>,
    position: u64,
    id: &MessageId,
    members: &[MemberId],
) -> rusqlite::Result<()> {
    let position = integer(position);
    transaction
        .prepare_cached(
            "INSERT INTO resend (id, position)
             SELECT ?1, position FROM message WHERE position = ?2",
        )?
        .execute(params![id.as_bytes(), position])?;
    let mut update = transaction.prepare_cached(
        "UPDATE delivery SET state = ?3, failure = NULL, at_ms = NULL
         WHERE position = ?1 AND member = ?2 AND state = 'failed'",
    )?;
    for member in members {
        let waiting = DeliveryState::Waiting.code();
        update.execute(params![position, member.as_str(), waiting])?;
    }
    Ok(())
}

fn change_delivery(
    transaction: &Transaction<'_>,
    message: &MessageId,
    member: &str,
    state: DeliveryState,
) -> rusqlite::Result<()> {
    let (failure, at_ms) = match state {
        DeliveryState::OnRelay { at_ms } => (None, Some(integer(at_ms))),
        DeliveryState::Failed(failure) => (Some(failure.code()), None),
        DeliveryState::Waiting | DeliveryState::Withdrawn => (None, None),
        // Not a state that lasts: after a restart the copy waits again.
        DeliveryState::Sending => return Ok(()),
    };
    transaction
        .prepare_cached(
            "UPDATE delivery SET state = ?3, failure = ?4, at_ms = ?5
             WHERE member = ?2 AND position =
                 coalesce((SELECT position FROM message WHERE id = ?1),
                          (SELECT position FROM resend WHERE id = ?1))",
        )?
        .execute(params![
            message.as_bytes(),
            member,
            state.code(),
            failure,
            at_ms
        ])
        .map(drop)
}

fn add_held(transaction: &Transaction<'_>, held: &HeldBlob) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT OR IGNORE INTO held_blob (digest, version, place, first_seen_ms)
             VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            held.digest,
            held.version,
            integer(held.order),
            integer(held.first_seen_ms)
        ])
        .map(drop)
}
