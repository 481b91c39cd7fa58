//! The rows of all mailboxes, as the writer sees them.
//!
//! Owns: the SQL of `mailboxes`, `directions` and `envelopes`, and running the rules of
//! [`crate::mailbox`] inside the transaction that makes their changes durable. Never does:
//! commit, or answer before the commit.
//!
//! Invariants:
//! - the index says what the tables will say once the open transaction is committed, and what
//!   they say when none is open;
//! - what is deleted is overwritten in the file: envelopes can't be read by the relay, but a
//!   person who unpairs a device expects them gone.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use rusqlite::{Connection, Transaction, params};
use sealpost_protocol::link::key::{Direction, MailboxId};
use tokio::sync::oneshot;

use super::inboxes::SharedInboxes;
use super::mailboxes::{Changed, SharedMailboxes};
use super::whole::Whole;
use super::{MailboxError, PutRoom, StoreError, StoreOpenError};
use crate::limits::charged_bytes;
use crate::mailbox::{
    Change, Claimed, DirectionHead, DirectionSlots, EnvelopeDigest, Mailbox, MailboxAccess,
    MailboxIndex, Making, Refusal, Stored, TokenDigest,
};

/// The store's end of a request. Dropping it unanswered counts as closed.
pub(super) struct Answer<T>(oneshot::Sender<Result<T, MailboxError>>);

impl<T: Send + 'static> Answer<T> {
    pub(super) fn new() -> (Self, oneshot::Receiver<Result<T, MailboxError>>) {
        let (sender, receiver) = oneshot::channel();
        (Self(sender), receiver)
    }

    fn tell(self, outcome: Result<T, MailboxError>) {
        // Whoever asked may have gone; what is done is done all the same.
        let _ = self.0.send(outcome);
    }

    /// Keeps what the rules say until it is durable.
    fn keep(self, answer: Result<T, Refusal>) -> Kept {
        Box::new(move |commit| {
            self.tell(
                commit
                    .map_err(MailboxError::Store)
                    .and_then(|()| answer.map_err(MailboxError::Refused)),
            );
        })
    }
}

/// An answer that waits for its commit.
type Kept = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// One request that may change a mailbox.
pub(super) enum MailboxOrder {
    Claim {
        access: MailboxAccess,
        making: Making,
        answer: Answer<Claimed>,
    },
    Store {
        access: MailboxAccess,
        direction: Direction,
        sequence: u64,
        digest: EnvelopeDigest,
        envelope: Bytes,
        /// Held for as long as the Envelope is in memory.
        room: PutRoom,
        answer: Answer<Stored>,
    },
    Prune {
        access: MailboxAccess,
        direction: Direction,
        through: u64,
        answer: Answer<DirectionHead>,
    },
    Erase {
        access: MailboxAccess,
        answer: Answer<()>,
    },
    /// Removes a mailbox, whoever owned it.
    Forget {
        mailbox: MailboxId,
        answer: Answer<()>,
    },
    /// Nobody waits for it; the next sweep orders it again if it fails.
    Expire { mailbox: MailboxId },
}

impl MailboxOrder {
    fn is_waited_for(&self) -> bool {
        !matches!(self, Self::Expire { .. })
    }

    /// Whether it may make the store larger.
    fn is_addition(&self) -> bool {
        match self {
            Self::Claim { making, .. } => matches!(making, Making::Below(_)),
            Self::Store { .. } => true,
            _ => false,
        }
    }

    /// Whether it may make it smaller.
    fn is_delete(&self) -> bool {
        !matches!(self, Self::Claim { .. } | Self::Store { .. })
    }

    /// The same, making no mailbox. A claim of what is there adds nothing, and devices ask for
    /// it before they take anything away.
    fn making_none(self) -> Self {
        match self {
            Self::Claim {
                access,
                making: Making::Below(_),
                answer,
            } => Self::Claim {
                access,
                making: Making::NoRoom,
                answer,
            },
            order => order,
        }
    }

    /// Bytes of its Envelope.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Store { envelope, .. } => envelope.len(),
            _ => 0,
        }
    }

    fn mailbox(&self) -> MailboxId {
        match self {
            Self::Claim { access, .. }
            | Self::Store { access, .. }
            | Self::Prune { access, .. }
            | Self::Erase { access, .. } => access.mailbox,
            Self::Forget { mailbox, .. } | Self::Expire { mailbox } => *mailbox,
        }
    }

    /// Answers that it can't be done.
    pub(super) fn fail(self, error: StoreError) {
        let error = MailboxError::Store(error);
        match self {
            Self::Claim { answer, .. } => answer.tell(Err(error)),
            Self::Store { answer, .. } => answer.tell(Err(error)),
            Self::Prune { answer, .. } => answer.tell(Err(error)),
            Self::Erase { answer, .. } | Self::Forget { answer, .. } => answer.tell(Err(error)),
            Self::Expire { .. } => {}
        }
    }
}

/// The requests to mailboxes that share one transaction.
#[derive(Default)]
pub(super) struct MailboxBatch {
    orders: VecDeque<(MailboxOrder, u64)>,
    bytes: usize,
    /// Answers of the orders that were run.
    kept: Vec<Kept>,
    /// The mailboxes that were touched, as they were before.
    before: Changed,
    changes: Vec<Change>,
}

impl MailboxBatch {
    pub(super) fn add(&mut self, order: MailboxOrder, now_ms: u64) {
        self.bytes = self.bytes.saturating_add(order.bytes());
        self.orders.push_back((order, now_ms));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.orders.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Orders that somebody waits for.
    pub(super) fn waited_for(&self) -> usize {
        let is_waited_for = |(order, _): &&(MailboxOrder, u64)| order.is_waited_for();
        self.orders.iter().filter(is_waited_for).count()
    }

    /// Orders that may make the store larger.
    pub(super) fn additions(&self) -> usize {
        let is_addition = |(order, _): &&(MailboxOrder, u64)| order.is_addition();
        self.orders.iter().filter(is_addition).count()
    }

    /// Orders that may make it smaller.
    pub(super) fn has_deletes(&self) -> bool {
        self.orders.iter().any(|(order, _)| order.is_delete())
    }

    /// Answers those that make the store larger, and keeps the others.
    pub(super) fn without_additions(self, error: StoreError) -> Self {
        let mut rest = Self::default();
        for (order, now_ms) in self.orders {
            let order = order.making_none();
            if order.is_addition() {
                order.fail(error);
            } else {
                rest.add(order, now_ms);
            }
        }
        rest
    }

    /// Answers all of them.
    pub(super) fn fail(self, error: StoreError) {
        for kept in self.kept {
            kept(Err(error));
        }
        for (order, _) in self.orders {
            order.fail(error);
        }
    }
}

/// The tables and what the writer knows of them.
pub(super) struct MailboxTable {
    index: MailboxIndex,
}

impl MailboxTable {
    /// Reads the tables once.
    pub(super) fn load(connection: &Connection) -> Result<Self, StoreOpenError> {
        let mut mailboxes = load_mailboxes(connection)?;
        load_directions(connection, &mut mailboxes)?;
        load_envelopes(connection, &mut mailboxes)?;
        let mut index = MailboxIndex::new();
        for (id, mailbox) in mailboxes.into_values() {
            index.set(id, Some(Arc::new(mailbox)));
        }
        Ok(Self { index })
    }

    /// What doors may know of them.
    pub(super) fn shared(&self) -> SharedMailboxes {
        SharedMailboxes::new(self.index.clone())
    }

    /// What the Envelopes count against the bounds of the whole relay.
    pub(super) fn charged(&self) -> u64 {
        let sums = self.index.sums();
        charged_bytes(sums.envelopes, sums.bytes)
    }

    /// Runs the orders of a batch and writes what they change into the open transaction.
    pub(super) fn apply(
        &mut self,
        transaction: &Transaction<'_>,
        batch: &mut MailboxBatch,
        inboxes: &SharedInboxes,
    ) -> rusqlite::Result<()> {
        let is_over = |(order, now_ms): &(MailboxOrder, u64)| {
            let mailbox = self.index.get(&order.mailbox());
            mailbox.is_some_and(|mailbox| mailbox.is_expired(*now_ms))
        };
        // Whoever claims a mailbox whose time is over deletes what was in it.
        let is_wiping = batch.has_deletes() || batch.orders.iter().any(is_over);
        // A setting of the connection, which no rollback takes back.
        if is_wiping {
            transaction.pragma_update(None, "secure_delete", true)?;
        }
        let applied = self.run_all(transaction, batch, inboxes);
        if is_wiping {
            transaction.pragma_update(None, "secure_delete", false)?;
        }
        applied
    }

    /// What isn't run when something fails stays in the batch, to be answered.
    fn run_all(
        &mut self,
        transaction: &Transaction<'_>,
        batch: &mut MailboxBatch,
        inboxes: &SharedInboxes,
    ) -> rusqlite::Result<()> {
        while let Some((order, now_ms)) = batch.orders.pop_front() {
            let id = order.mailbox();
            if let Entry::Vacant(before) = batch.before.entry(id) {
                before.insert(self.index.get(&id).cloned());
            }
            let envelope = match &order {
                MailboxOrder::Store { envelope, .. } => envelope.clone(),
                _ => Bytes::new(),
            };
            batch.kept.extend(self.run(order, now_ms, inboxes));
            for change in self.index.take_changes() {
                batch.changes.push(change);
                write(transaction, &change, &envelope)?;
            }
        }
        Ok(())
    }

    /// Runs one order; the answer to keep, if somebody waits for it.
    fn run(&mut self, order: MailboxOrder, now_ms: u64, inboxes: &SharedInboxes) -> Option<Kept> {
        let index = &mut self.index;
        match order {
            MailboxOrder::Claim {
                access,
                making,
                answer,
            } => Some(answer.keep(index.claim(&access, making, now_ms))),
            MailboxOrder::Store {
                access,
                direction,
                sequence,
                digest,
                envelope,
                room,
                answer,
            } => {
                let charge = charged_bytes(1, envelope.len() as u64);
                let has_room = || inboxes.lock().take_room(charge);
                let put = (sequence, digest);
                let stored = index.put(&access, direction, put, has_room, now_ms);
                let kept = answer.keep(stored);
                Some(Box::new(move |commit| {
                    drop(room);
                    kept(commit);
                }))
            }
            MailboxOrder::Prune {
                access,
                direction,
                through,
                answer,
            } => Some(answer.keep(index.prune(&access, direction, through, now_ms))),
            MailboxOrder::Erase { access, answer } => {
                Some(answer.keep(index.erase(&access, now_ms)))
            }
            MailboxOrder::Forget { mailbox, answer } => {
                index.forget(mailbox);
                Some(answer.keep(Ok(())))
            }
            MailboxOrder::Expire { mailbox } => {
                index.expire(mailbox, now_ms);
                None
            }
        }
    }

    /// Shows what a commit has made durable, answers the batch, then tells the watches.
    pub(super) fn committed(
        &self,
        batch: MailboxBatch,
        mailboxes: &SharedMailboxes,
        inboxes: &SharedInboxes,
    ) {
        if batch.kept.is_empty() && batch.changes.is_empty() {
            return;
        }
        inboxes.lock().set_mailbox_charge(self.charged());
        let after = |id: MailboxId| (id, self.index.get(&id).cloned());
        let changed = batch.before.into_keys().map(after).collect();
        mailboxes.publish(changed, &batch.changes, || {
            for kept in batch.kept {
                kept(Ok(()));
            }
        });
    }

    /// Takes back what a transaction that failed would have changed, and says so to everybody.
    pub(super) fn failed(
        &mut self,
        mut batch: MailboxBatch,
        error: StoreError,
        inboxes: &SharedInboxes,
    ) {
        self.index.take_changes();
        for (id, mailbox) in std::mem::take(&mut batch.before) {
            self.index.set(id, mailbox);
        }
        inboxes.lock().set_mailbox_charge(self.charged());
        batch.fail(error);
    }
}

fn write(transaction: &Transaction<'_>, change: &Change, envelope: &Bytes) -> rusqlite::Result<()> {
    match *change {
        Change::Created {
            mailbox,
            number,
            token,
            at_ms,
        } => {
            let sql = "INSERT INTO mailboxes (id, mailbox, token_hash, created_ms, touched_ms)
                VALUES (?1, ?2, ?3, ?4, ?4)";
            transaction.prepare_cached(sql)?.execute(params![
                Whole(number),
                mailbox.as_bytes(),
                token.as_bytes(),
                Whole(at_ms)
            ])?;
        }
        Change::Touched { number, at_ms } => touch(transaction, number, at_ms)?,
        Change::Stored {
            number,
            direction,
            sequence,
            digest,
            at_ms,
            ..
        } => {
            touch(transaction, number, at_ms)?;
            let slot = (number, side(direction), sequence);
            write_envelope(transaction, slot, &digest, envelope)?;
        }
        Change::Pruned {
            number,
            direction,
            through,
            ..
        } => {
            let sql = "DELETE FROM envelopes
                WHERE mailbox = ?1 AND direction = ?2 AND sequence <= ?3";
            let slots = params![Whole(number), side(direction), Whole(through)];
            transaction.prepare_cached(sql)?.execute(slots)?;
        }
        Change::Gone { number, .. } => {
            for sql in [
                "DELETE FROM envelopes WHERE mailbox = ?1",
                "DELETE FROM directions WHERE mailbox = ?1",
                "DELETE FROM mailboxes WHERE id = ?1",
            ] {
                transaction.prepare_cached(sql)?.execute([Whole(number)])?;
            }
        }
    }
    Ok(())
}

fn touch(transaction: &Transaction<'_>, number: u64, at_ms: u64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE mailboxes SET touched_ms = ?2 WHERE id = ?1")?
        .execute([Whole(number), Whole(at_ms)])
        .map(drop)
}

fn write_envelope(
    transaction: &Transaction<'_>,
    (number, side, sequence): (u64, u8, u64),
    digest: &EnvelopeDigest,
    envelope: &Bytes,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO directions (mailbox, direction, last, last_hash)
        VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET last = excluded.last, last_hash = excluded.last_hash";
    transaction.prepare_cached(sql)?.execute(params![
        Whole(number),
        side,
        Whole(sequence),
        digest.hash()
    ])?;
    let sql = "INSERT INTO envelopes (mailbox, direction, sequence, hash, envelope)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    transaction.prepare_cached(sql)?.execute(params![
        Whole(number),
        side,
        Whole(sequence),
        digest.hash(),
        envelope.as_ref()
    ])?;
    Ok(())
}

/// How a direction is written.
pub(super) fn side(direction: Direction) -> u8 {
    match direction {
        Direction::AToB => 0,
        Direction::BToA => 1,
    }
}

fn direction_of(side: u8) -> Option<Direction> {
    Direction::ALL
        .into_iter()
        .find(|direction| self::side(*direction) == side)
}

/// The mailboxes of a store that is being read, by their numbers.
type Loaded = BTreeMap<u64, (MailboxId, Mailbox)>;

fn load_mailboxes(connection: &Connection) -> Result<Loaded, StoreOpenError> {
    let mut statement = connection
        .prepare("SELECT id, mailbox, token_hash, created_ms, touched_ms FROM mailboxes")?;
    let mut rows = statement.query([])?;
    let mut mailboxes = Loaded::new();
    while let Some(row) = rows.next()? {
        let Whole(number) = row.get(0)?;
        let id = MailboxId::from_bytes(row.get(1)?);
        let token = TokenDigest::from_bytes(row.get(2)?);
        let (Whole(created_ms), Whole(touched_ms)) = (row.get(3)?, row.get(4)?);
        let mailbox = Mailbox::restore(number, token, created_ms, touched_ms);
        mailboxes.insert(number, (id, mailbox));
    }
    Ok(mailboxes)
}

fn load_directions(connection: &Connection, mailboxes: &mut Loaded) -> Result<(), StoreOpenError> {
    let mut statement =
        connection.prepare("SELECT mailbox, direction, last, last_hash FROM directions")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let slots = slots_of(mailboxes, row.get(0)?, row.get(1)?)?;
        *slots = DirectionSlots::restore((row.get::<_, Whole>(2)?.0, row.get(3)?));
    }
    Ok(())
}

fn load_envelopes(connection: &Connection, mailboxes: &mut Loaded) -> Result<(), StoreOpenError> {
    let mut statement = connection
        .prepare("SELECT mailbox, direction, sequence, hash, length(envelope) FROM envelopes")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let slots = slots_of(mailboxes, row.get(0)?, row.get(1)?)?;
        let digest = EnvelopeDigest::from_parts(row.get(4)?, row.get(3)?);
        if !slots.restore_slot(row.get::<_, Whole>(2)?.0, digest) {
            return Err(StoreOpenError::Damaged);
        }
    }
    Ok(())
}

fn slots_of(
    mailboxes: &mut Loaded,
    Whole(number): Whole,
    side: u8,
) -> Result<&mut DirectionSlots, StoreOpenError> {
    let direction = direction_of(side).ok_or(StoreOpenError::Damaged)?;
    let (_, mailbox) = mailboxes.get_mut(&number).ok_or(StoreOpenError::Damaged)?;
    Ok(mailbox.direction_mut(direction))
}

#[cfg(test)]
mod tests {
    use super::super::{MailboxStore, SqliteStore, StoreSettings, WriterPace, schema};
    use super::*;
    use crate::limits::StoreLimits;

    const A2B: Direction = Direction::AToB;

    fn access() -> MailboxAccess {
        MailboxAccess {
            mailbox: MailboxId::from_bytes([1; 16]),
            token: TokenDigest::from_bytes([2; 32]),
        }
    }

    const ROWS: &str = "INSERT INTO mailboxes VALUES (7, zeroblob(16), zeroblob(32), 10, 10);
        INSERT INTO directions VALUES (7, 0, 5, zeroblob(32));
        INSERT INTO envelopes VALUES (7, 0, 4, zeroblob(32), zeroblob(306));";

    /// A store with one Envelope in one mailbox, and what is loaded of it after `change`.
    fn load_after(change: &str) -> Result<MailboxTable, StoreOpenError> {
        let folder = tempfile::tempdir().unwrap();
        let (connection, _lock) = schema::open(&folder.path().join("inbox.db"), false).unwrap();
        connection.execute_batch(ROWS).unwrap();
        connection.execute_batch(change).unwrap();
        MailboxTable::load(&connection)
    }

    #[test]
    fn rows_that_contradict_each_other_are_a_damaged_store() {
        let sums = load_after("").unwrap().index.sums();
        assert_eq!((sums.mailboxes, sums.envelopes, sums.bytes), (1, 1, 306));
        for change in [
            "DELETE FROM mailboxes",
            "DELETE FROM directions",
            "UPDATE directions SET last = 3",
            "UPDATE directions SET last = -1",
            "UPDATE directions SET direction = 2",
            "UPDATE envelopes SET direction = 1",
            "UPDATE envelopes SET sequence = 0",
            "UPDATE envelopes SET hash = zeroblob(31)",
            "UPDATE mailboxes SET token_hash = zeroblob(31)",
            "UPDATE mailboxes SET mailbox = zeroblob(15)",
            "UPDATE mailboxes SET touched_ms = -1",
        ] {
            let error = load_after(change).err();
            assert_eq!(error, Some(StoreOpenError::Damaged), "{change}");
        }
    }

    fn open(path: &std::path::Path) -> SqliteStore {
        let settings = StoreSettings {
            limits: StoreLimits {
                disk_free_bytes_min: 0,
                ..StoreLimits::default()
            },
            life_ms: 1_000,
            pace: WriterPace::default(),
        };
        SqliteStore::open(path, settings, false).unwrap()
    }

    fn put(store: &SqliteStore, sequence: u64, envelope: &[u8]) -> impl Future<Output = bool> {
        let envelope = (sequence, Bytes::copy_from_slice(envelope));
        let room = PutRoom::uncounted();
        let stored = store.store(access(), A2B, envelope, room, 1_000);
        async move { stored.await.is_ok() }
    }

    /// A token whoever unpairs a phone holds, and what lay in its mailbox, aren't in the file.
    #[tokio::test]
    async fn what_was_pruned_or_erased_is_not_in_the_file() {
        use super::super::InboxStore as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let canary = |number: u8| {
            format!("canary-{number}-of-a-mailbox ")
                .repeat(20)
                .into_bytes()
        };
        let is_in_file = |needle: &[u8]| {
            let bytes = std::fs::read(&path).unwrap();
            bytes.windows(needle.len()).any(|part| part == needle)
        };
        let store = open(&path);
        store
            .claim(access(), Making::Below(9), 1_000)
            .await
            .unwrap();
        for number in 1..=3 {
            assert!(put(&store, number.into(), &canary(number)).await);
        }
        store.close().await.unwrap();
        let needles = [1, 2, 3].map(|number| canary(number)[..24].to_vec());
        assert!(needles.iter().all(|needle| is_in_file(needle)));
        assert!(is_in_file(&[2; 32]), "the digest of the token");
        let store = open(&path);
        store.prune(access(), A2B, 2, 1_000).await.unwrap();
        store.close().await.unwrap();
        let [one, two, three] = &needles;
        assert!(!is_in_file(one) && !is_in_file(two) && is_in_file(three));
        let store = open(&path);
        store.erase(access(), 1_000).await.unwrap();
        store.close().await.unwrap();
        assert!(!is_in_file(three) && !is_in_file(&[2; 32]));
    }

    /// What was answered is there after a restart, `last` of a pruned direction among it.
    #[tokio::test]
    async fn a_restart_changes_no_answer() {
        use super::super::InboxStore as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let store = open(&path);
        store
            .claim(access(), Making::Below(9), 1_000)
            .await
            .unwrap();
        for sequence in 1..=3 {
            assert!(put(&store, sequence, &[7; 400]).await);
        }
        store.prune(access(), A2B, 3, 1_000).await.unwrap();
        for direction in Direction::ALL {
            let room = PutRoom::uncounted();
            let envelope = (9, Bytes::from(vec![8; 400]));
            let stored = store.store(access(), direction, envelope, room, 2_000);
            assert!(stored.await.unwrap().is_new);
        }
        let before = Direction::ALL.map(|direction| store.head(&access(), direction, 1_000));
        let sums = store.mailbox_sums();
        store.close().await.unwrap();
        drop(store);
        let store = open(&path);
        let after = Direction::ALL.map(|direction| store.head(&access(), direction, 1_000));
        assert_eq!(after, before);
        assert_eq!(store.mailbox_sums(), sums);
        assert!(
            !store
                .claim(access(), Making::Below(9), 3_000)
                .await
                .unwrap()
                .is_new
        );
        let room = PutRoom::uncounted();
        let same = store.store(access(), A2B, (9, Bytes::from(vec![8; 400])), room, 1_000);
        assert!(!same.await.unwrap().is_new);
    }
}
