//! The rows of all inboxes, as the writer sees them.
//!
//! Owns: the SQL of `recipients` and `blobs`, the ids given to blobs, and the count and bytes
//! per recipient, which change in the transaction of the blobs they count. Never does: commit.
//!
//! Invariants:
//! - `recipients` has exactly the recipients that have blobs;
//! - an id is given once: they are reserved in blocks, and a start begins after the last block.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use rusqlite::{Connection, Transaction, params};
use sealpost_protocol::key::NoisePublic;

use super::inboxes::{Inboxes, Removed, SharedInboxes, Waiting};
use super::whole::Whole;
use super::{PutAnswer, Seconds, StoreError, StoreOpenError};

/// Ids per reservation: one extra row is written for so many blobs, and a restart skips no
/// more than so many.
const ID_BLOCK: u64 = 65_536;

/// One Envelope on its way to the disk.
pub(super) struct Put {
    pub(super) recipient: NoisePublic,
    pub(super) envelope: Bytes,
    pub(super) bytes: u32,
    pub(super) expires_at: Seconds,
    pub(super) answer: PutAnswer,
}

/// The writes of the native door that share one transaction.
#[derive(Default)]
pub(super) struct InboxBatch {
    pub(super) puts: Vec<Put>,
    pub(super) removed: Vec<Removed>,
}

/// A row of `recipients`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Recipient {
    row: i64,
    blobs: u64,
    bytes: u64,
}

/// Blobs that a store's count may reserve memory for before they are seen: a harmed store may
/// claim any number.
const COUNT_BELIEVED: usize = 1_024;

/// One inbox while the store is read. Found by its number: a million searches by key would
/// take longer than reading the rows.
struct Queue {
    key: NoisePublic,
    counted: Recipient,
    waiting: VecDeque<Waiting>,
    bytes: u64,
}

impl Queue {
    fn new(key: NoisePublic, counted: Recipient) -> Self {
        let expected = usize::try_from(counted.blobs).unwrap_or(usize::MAX);
        Self {
            key,
            counted,
            waiting: VecDeque::with_capacity(expected.min(COUNT_BELIEVED)),
            bytes: 0,
        }
    }

    fn push(&mut self, waiting: Waiting) {
        self.bytes = self.bytes.saturating_add(u64::from(waiting.bytes));
        self.waiting.push_back(waiting);
    }

    /// A recipient without blobs has no row.
    fn is_as_counted(&self) -> bool {
        let blobs = self.waiting.len() as u64;
        blobs > 0 && blobs == self.counted.blobs && self.bytes == self.counted.bytes
    }
}

/// What a commit changes in memory.
pub(super) struct Applied {
    first_id: u64,
    ids_reserved: u64,
    recipients: BTreeMap<NoisePublic, Option<Recipient>>,
}

/// The tables and what the writer knows of them.
pub(super) struct InboxTable {
    recipients: BTreeMap<NoisePublic, Recipient>,
    next_recipient: i64,
    next_id: u64,
    ids_reserved: u64,
}

impl InboxTable {
    /// Reads the tables once and fills `inboxes`.
    pub(super) fn load(
        connection: &Connection,
        inboxes: &mut Inboxes,
    ) -> Result<Self, StoreOpenError> {
        let recipients = load_recipients(connection)?;
        let mut queues: BTreeMap<i64, Queue> = recipients
            .iter()
            .map(|(key, recipient)| (recipient.row, Queue::new(*key, *recipient)))
            .collect();
        let mut statement = connection
            .prepare("SELECT id, recipient, expires_at, length(envelope) FROM blobs ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let queue = queues.get_mut(&row.get(1)?);
            queue.ok_or(StoreOpenError::Damaged)?.push(Waiting {
                id: row.get::<_, Whole>(0)?.0,
                bytes: row.get(3)?,
                expires_at: Seconds(row.get(2)?),
            });
        }
        let next_recipient = queues
            .last_key_value()
            .map_or(1, |(row, _)| row.saturating_add(1));
        for queue in queues.into_values() {
            if !queue.is_as_counted() {
                return Err(StoreOpenError::Damaged);
            }
            inboxes.restore(queue.key, queue.waiting);
        }
        let Whole(ids_reserved) =
            connection.query_row("SELECT ids_reserved FROM meta", [], |row| row.get(0))?;
        // The next put writes a new reservation before it uses an id.
        let next_id = ids_reserved.saturating_add(1);
        Ok(Self {
            recipients,
            next_recipient,
            next_id,
            ids_reserved,
        })
    }

    /// Writes a batch into the open transaction.
    pub(super) fn apply(
        &mut self,
        transaction: &Transaction<'_>,
        batch: &InboxBatch,
    ) -> rusqlite::Result<Applied> {
        let recipients = self.merge(batch);
        for (key, after) in &recipients {
            write_recipient(transaction, key, self.recipients.get(key), after.as_ref())?;
        }
        let (first_id, ids_reserved) = self.take_ids(transaction, batch.puts.len() as u64)?;
        self.insert_blobs(transaction, batch, first_id, &recipients)?;
        let mut ids: Vec<u64> = batch.removed.iter().map(|removed| removed.id).collect();
        ids.sort_unstable();
        let mut delete = transaction.prepare_cached("DELETE FROM blobs WHERE id = ?1")?;
        for id in ids {
            delete.execute([Whole(id)])?;
        }
        Ok(Applied {
            first_id,
            ids_reserved,
            recipients,
        })
    }

    /// The rows of all touched recipients as they will be; `None` where no blob is left.
    fn merge(&mut self, batch: &InboxBatch) -> BTreeMap<NoisePublic, Option<Recipient>> {
        let mut touched: BTreeMap<NoisePublic, Option<Recipient>> = BTreeMap::new();
        for put in &batch.puts {
            let known = self.recipients.get(&put.recipient).copied();
            let entry = touched.entry(put.recipient).or_insert(known);
            let recipient = entry.get_or_insert_with(|| {
                let row = self.next_recipient;
                self.next_recipient = row.saturating_add(1);
                Recipient {
                    row,
                    blobs: 0,
                    bytes: 0,
                }
            });
            recipient.add(u64::from(put.bytes));
        }
        for removed in &batch.removed {
            let known = self.recipients.get(&removed.recipient).copied();
            let entry = touched.entry(removed.recipient).or_insert(known);
            if let Some(recipient) = entry {
                recipient.remove(u64::from(removed.bytes));
            }
        }
        for entry in touched.values_mut() {
            *entry = entry.filter(|recipient| recipient.blobs > 0);
        }
        touched
    }

    /// The first of `count` ids, and up to where ids are reserved. They count as given even
    /// if the commit fails.
    fn take_ids(
        &mut self,
        transaction: &Transaction<'_>,
        count: u64,
    ) -> rusqlite::Result<(u64, u64)> {
        let first = self.next_id;
        self.next_id = first.saturating_add(count);
        if self.next_id.saturating_sub(1) <= self.ids_reserved {
            return Ok((first, self.ids_reserved));
        }
        let reserved = self.next_id.saturating_add(ID_BLOCK);
        transaction
            .prepare_cached("UPDATE meta SET ids_reserved = ?1")?
            .execute([Whole(reserved)])?;
        Ok((first, reserved))
    }

    fn insert_blobs(
        &self,
        transaction: &Transaction<'_>,
        batch: &InboxBatch,
        first_id: u64,
        recipients: &BTreeMap<NoisePublic, Option<Recipient>>,
    ) -> rusqlite::Result<()> {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO blobs (id, recipient, expires_at, envelope) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for (id, put) in (first_id..).zip(&batch.puts) {
            // A blob without its recipient would be a damaged store at the next start.
            let recipient = recipients.get(&put.recipient).copied().flatten();
            let Recipient { row, .. } = recipient.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            insert.execute(params![
                Whole(id),
                row,
                put.expires_at.0,
                put.envelope.as_ref()
            ])?;
        }
        Ok(())
    }

    /// Takes over what a commit has made durable, then answers every put of the batch.
    pub(super) fn committed(
        &mut self,
        batch: InboxBatch,
        applied: Applied,
        shared: &SharedInboxes,
    ) {
        for (key, after) in applied.recipients {
            match after {
                Some(recipient) => self.recipients.insert(key, recipient),
                None => self.recipients.remove(&key),
            };
        }
        self.ids_reserved = applied.ids_reserved;
        let mut inboxes = shared.lock();
        for (id, put) in (applied.first_id..).zip(&batch.puts) {
            let waiting = Waiting {
                id,
                bytes: put.bytes,
                expires_at: put.expires_at,
            };
            inboxes.insert(put.recipient, waiting, &put.envelope);
        }
        drop(inboxes);
        for put in batch.puts {
            put.answer.tell(Ok(()));
        }
    }
}

impl InboxBatch {
    /// Gives back the room of every put and answers it; hands out the deletes, which are
    /// tried again.
    pub(super) fn failed(self, error: StoreError, shared: &SharedInboxes) -> Vec<Removed> {
        let mut inboxes = shared.lock();
        for put in &self.puts {
            inboxes.release(put.recipient, put.bytes);
        }
        drop(inboxes);
        for put in self.puts {
            put.answer.tell(Err(error));
        }
        self.removed
    }
}

impl Recipient {
    fn add(&mut self, bytes: u64) {
        self.blobs = self.blobs.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn remove(&mut self, bytes: u64) {
        self.blobs = self.blobs.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

fn load_recipients(
    connection: &Connection,
) -> Result<BTreeMap<NoisePublic, Recipient>, StoreOpenError> {
    let mut statement = connection.prepare("SELECT id, key, blobs, bytes FROM recipients")?;
    let mut rows = statement.query([])?;
    let mut recipients = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let recipient = Recipient {
            row: row.get(0)?,
            blobs: row.get::<_, Whole>(2)?.0,
            bytes: row.get::<_, Whole>(3)?.0,
        };
        recipients.insert(NoisePublic::from_bytes(row.get(1)?), recipient);
    }
    Ok(recipients)
}

fn write_recipient(
    transaction: &Transaction<'_>,
    key: &NoisePublic,
    before: Option<&Recipient>,
    after: Option<&Recipient>,
) -> rusqlite::Result<()> {
    match (before, after) {
        (None, None) => {}
        (None, Some(new)) => {
            transaction
                .prepare_cached(
                    "INSERT INTO recipients (id, key, blobs, bytes) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![
                    new.row,
                    key.as_bytes(),
                    Whole(new.blobs),
                    Whole(new.bytes)
                ])?;
        }
        (Some(_), Some(new)) => {
            transaction
                .prepare_cached("UPDATE recipients SET blobs = ?2, bytes = ?3 WHERE id = ?1")?
                .execute(params![new.row, Whole(new.blobs), Whole(new.bytes)])?;
        }
        (Some(old), None) => {
            transaction
                .prepare_cached("DELETE FROM recipients WHERE id = ?1")?
                .execute([old.row])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::PutTicket;
    use super::super::{PutRoom, schema};
    use super::*;
    use crate::limits::StoreLimits;

    const ALICE: NoisePublic = NoisePublic::from_bytes([1; 32]);

    /// A store with one blob for Alice, and what is loaded of it after `change`.
    fn load_after(change: &str) -> Result<InboxTable, StoreOpenError> {
        let folder = tempfile::tempdir().unwrap();
        let (connection, _lock) = schema::open(&folder.path().join("inbox.db"), false).unwrap();
        let rows = "INSERT INTO recipients VALUES (7, zeroblob(32), 1, 3);
            INSERT INTO blobs VALUES (1, 7, 10, x'010203');";
        connection.execute_batch(rows).unwrap();
        connection.execute_batch(change).unwrap();
        InboxTable::load(&connection, &mut Inboxes::new(StoreLimits::default()))
    }

    #[test]
    fn a_store_whose_counts_are_wrong_is_damaged() {
        assert!(load_after("").is_ok());
        for change in [
            "UPDATE recipients SET blobs = 2",
            "UPDATE recipients SET bytes = 2",
            "UPDATE recipients SET bytes = -1",
            "DELETE FROM blobs",
            "DELETE FROM recipients",
            "INSERT INTO recipients VALUES (8, randomblob(32), 0, 0)",
            "INSERT INTO recipients VALUES (8, randomblob(31), 0, 0)",
        ] {
            let error = load_after(change).err();
            assert_eq!(error, Some(StoreOpenError::Damaged), "{change}");
        }
    }

    /// Counts that have gone wrong in memory fail the batch instead of losing its blobs.
    #[test]
    fn a_blob_without_a_recipient_is_never_written() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, _lock) = schema::open(&folder.path().join("inbox.db"), false).unwrap();
        let mut inboxes = Inboxes::new(StoreLimits::default());
        let mut table = InboxTable::load(&connection, &mut inboxes).unwrap();
        let (answer, _ticket) = PutTicket::new(PutRoom::uncounted());
        let put = Put {
            recipient: ALICE,
            envelope: Bytes::from_static(b"abc"),
            bytes: 3,
            expires_at: Seconds(1),
            answer,
        };
        let unknown = Removed {
            recipient: ALICE,
            id: 99,
            bytes: 3,
        };
        let batch = InboxBatch {
            puts: vec![put],
            removed: vec![unknown],
        };
        let transaction = connection.transaction().unwrap();
        let error = table.apply(&transaction, &batch).err().unwrap();
        assert_eq!(StoreError::from(error), StoreError::Damaged);
    }
}
