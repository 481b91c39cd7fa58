//! Reading Envelopes back beside the writer.
//!
//! Owns: a few reading connections, opened when first needed. Reads are short and end their
//! snapshot with the chunk, and they pass a gate that the writer closes for a moment when the
//! log has to start over. Never blocks the writer or a thread of the runtime's core.
//!
//! Invariant: once a blob couldn't be read, checks fail until it can be, or is gone. What the
//! small read of a check finds says nothing about the page that it lies in.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};
use sealpost_protocol::link::key::Direction;
use tokio::sync::Semaphore;

use super::inboxes::Found;
use super::log::ReadGate;
use super::mailbox_table::side;
use super::schema::open_reader;
use super::whole::Whole;
use super::{Blob, BlobId, Chunk, StoreError};
use crate::metrics::StoreMetrics;

/// Connections that read at the same time.
const READERS_MAX: usize = 2;

/// The reading connections.
#[derive(Clone)]
pub(super) struct Readers {
    path: PathBuf,
    gate: ReadGate,
    /// Invariant: never more connections than `READERS_MAX`, idle or lent.
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
    /// Whether the last read failed, so that a bad disk is logged once and not per session.
    is_failing: Arc<AtomicBool>,
    /// The blob that couldn't be read last, or the start of all ids.
    unreadable: Arc<AtomicU64>,
    metrics: Arc<StoreMetrics>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, gate: ReadGate, metrics: Arc<StoreMetrics>) -> Self {
        let idle = Arc::new(Mutex::new(Vec::new()));
        Self {
            path,
            gate,
            turns: Arc::new(Semaphore::new(READERS_MAX)),
            idle,
            is_failing: Arc::default(),
            unreadable: Arc::new(AtomicU64::new(BlobId::START.as_u64())),
            metrics,
        }
    }

    /// Adds the Envelopes that are no longer in memory. A blob that was deleted in the
    /// meantime is left out, and the chunk ends before one that can't be read. An error if that
    /// is the first.
    pub(super) async fn fill(&self, found: Vec<Found>) -> Result<Chunk, StoreError> {
        let filled = self
            .run(move |connection| Ok(fill(connection, found)))
            .await;
        let (chunk, failure) = match filled {
            Ok((chunk, failure)) => (chunk, failure),
            Err(error) => (None, Some((BlobId::START, error))),
        };
        if let Some((blob, error)) = failure {
            self.metrics.read_failures.add(1);
            self.unreadable.store(blob.as_u64(), Ordering::Relaxed);
            self.note(Some(&error));
            return chunk.ok_or(error);
        }
        let chunk = chunk.ok_or(StoreError::Damaged)?;
        let unreadable = self.unreadable.load(Ordering::Relaxed);
        if chunk
            .blobs
            .iter()
            .any(|blob| blob.id.as_u64() == unreadable)
        {
            self.forgive(unreadable);
        }
        self.note(None);
        Ok(chunk)
    }

    /// The Envelopes of a mailbox's direction in a range of sequences, ascending.
    pub(super) async fn envelopes(
        &self,
        (number, direction): (u64, Direction),
        range: (u64, u64),
    ) -> Result<Vec<(u64, Bytes)>, StoreError> {
        let read = self.run(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT sequence, envelope FROM envelopes
                 WHERE mailbox = ?1 AND direction = ?2 AND sequence BETWEEN ?3 AND ?4
                 ORDER BY sequence",
            )?;
            let slots = params![
                Whole(number),
                side(direction),
                Whole(range.0),
                Whole(range.1)
            ];
            let envelope = |row: &rusqlite::Row<'_>| {
                let envelope: Vec<u8> = row.get(1)?;
                Ok((row.get::<_, Whole>(0)?.0, Bytes::from(envelope)))
            };
            statement.query_map(slots, envelope)?.collect()
        });
        let read: Result<Vec<_>, StoreError> = read.await;
        if let Err(error) = &read {
            self.metrics.read_failures.add(1);
            self.note(Some(error));
        }
        read
    }

    /// Reads something small, and what couldn't be read last.
    pub(super) async fn check(&self) -> Result<(), StoreError> {
        let unreadable = self.unreadable.load(Ordering::Relaxed);
        let checked = self.run(move |connection| {
            connection.query_row("SELECT store_version FROM meta", [], |_| Ok(()))?;
            envelope_of(connection, BlobId::from_u64(unreadable)).map(drop)
        });
        let checked = checked.await;
        if checked.is_ok() {
            self.forgive(unreadable);
        }
        self.note(checked.as_ref().err());
        checked
    }

    /// Unless another one has come to be unreadable meanwhile.
    fn forgive(&self, unreadable: u64) {
        let (start, order) = (BlobId::START.as_u64(), Ordering::Relaxed);
        let _ = self
            .unreadable
            .compare_exchange(unreadable, start, order, order);
    }

    pub(super) async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(|_| StoreError::Closed)?;
        let readers = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let connection = readers.take()?;
            let passing = readers.gate.pass();
            let result = read(&connection).map_err(StoreError::from);
            drop(passing);
            readers.give_back(connection);
            drop(turn);
            result
        });
        task.await.unwrap_or(Err(StoreError::Closed))
    }

    fn note(&self, error: Option<&StoreError>) {
        let is_failing =
            error.is_some() || self.unreadable.load(Ordering::Relaxed) != BlobId::START.as_u64();
        let was_failing = self.is_failing.swap(is_failing, Ordering::Relaxed);
        match error {
            Some(error) if !was_failing => {
                tracing::warn!(%error, "waiting messages can't be read for now");
            }
            None if was_failing && !is_failing => tracing::info!("the store can be read again"),
            Some(_) | None => {}
        }
    }

    fn take(&self) -> Result<Connection, StoreError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Ok(open_reader(&self.path)?),
        }
    }

    fn give_back(&self, connection: Connection) {
        if !self.turns.is_closed() {
            self.idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
        }
    }

    /// Closes what is idle; reads in progress finish and close theirs.
    pub(super) fn close(&self) {
        self.turns.close();
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// What could be read, if anything was looked at, and what couldn't.
fn fill(
    connection: &Connection,
    found: Vec<Found>,
) -> (Option<Chunk>, Option<(BlobId, StoreError)>) {
    let mut blobs = Vec::with_capacity(found.len());
    let mut last = None;
    let chunk = |blobs, last: Option<BlobId>| last.map(|through| Chunk { blobs, through });
    for Found { id, envelope } in found {
        let envelope = match envelope {
            Some(envelope) => Some(envelope),
            None => match envelope_of(connection, id) {
                Ok(envelope) => envelope,
                Err(error) => return (chunk(blobs, last), Some((id, error.into()))),
            },
        };
        blobs.extend(envelope.map(|envelope| Blob { id, envelope }));
        last = Some(id);
    }
    (chunk(blobs, last), None)
}

/// None if it isn't there.
fn envelope_of(connection: &Connection, id: BlobId) -> rusqlite::Result<Option<Bytes>> {
    connection
        .prepare_cached("SELECT envelope FROM blobs WHERE id = ?1")?
        .query_row([Whole(id.as_u64())], |row| row.get::<_, Vec<u8>>(0))
        .optional()
        .map(|envelope| envelope.map(Bytes::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::schema;

    #[tokio::test]
    async fn reads_that_fail_are_noticed_until_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let readers = Readers::new(path.clone(), ReadGate::default(), Arc::default());
        let is_failing = || readers.is_failing.load(Ordering::Relaxed);
        assert!(!is_failing());
        for _ in 0..2 {
            readers.check().await.unwrap_err();
            assert!(is_failing());
        }
        let _store = schema::open(&path, false).unwrap();
        readers.check().await.unwrap();
        assert!(!is_failing());
    }

    /// Three blobs, and the place in the file where the second one's Envelope goes on.
    fn store_of_three(path: &std::path::Path) -> usize {
        let (connection, _lock) = schema::open(path, false).unwrap();
        connection
            .execute_batch("INSERT INTO recipients VALUES (7, zeroblob(32), 3, 90000)")
            .unwrap();
        for id in 1_u8..=3 {
            let blob = rusqlite::params![id, vec![0xa0 + id; 30_000]];
            let insert = "INSERT INTO blobs VALUES (?1, 7, 10, ?2)";
            connection.execute(insert, blob).unwrap();
        }
        let emptied = "PRAGMA wal_checkpoint(TRUNCATE)";
        connection.query_row(emptied, [], |_| Ok(())).unwrap();
        let pages = std::fs::read(path).unwrap();
        let size = schema::PAGE_BYTES as usize;
        let is_second = |page: &[u8]| page[4..].iter().all(|byte| *byte == 0xa2);
        let page = pages.chunks(size).position(is_second).unwrap();
        page * size
    }

    fn found(ids: std::ops::RangeInclusive<u64>) -> Vec<Found> {
        let found = |id| Found {
            id: BlobId::from_u64(id),
            envelope: None,
        };
        ids.map(found).collect()
    }

    #[tokio::test]
    async fn a_blob_that_cannot_be_read_stops_none_before_it_and_is_not_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let place = store_of_three(&path);
        let metrics = Arc::<StoreMetrics>::default();
        let readers = Readers::new(path.clone(), ReadGate::default(), Arc::clone(&metrics));
        let sound = std::fs::read(&path).unwrap();
        let mut harmed = sound.clone();
        harmed[place..place + 4].fill(0xff);
        std::fs::write(&path, harmed).unwrap();
        let chunk = readers.fill(found(1..=3)).await.unwrap();
        let ids: Vec<u64> = chunk.blobs.iter().map(|blob| blob.id.as_u64()).collect();
        assert_eq!((ids, chunk.through.as_u64()), (vec![1], 1));
        let refused = readers.fill(found(2..=3)).await.unwrap_err();
        assert_eq!(refused, StoreError::Damaged);
        assert_eq!(metrics.read_failures.get(), 2);
        readers.fill(found(3..=3)).await.unwrap();
        assert_eq!(readers.check().await, Err(StoreError::Damaged));
        assert!(readers.is_failing.load(Ordering::Relaxed));
        // Readers keep pages that they have read.
        readers.idle.lock().unwrap().clear();
        std::fs::write(&path, sound).unwrap();
        assert_eq!(readers.check().await, Ok(()));
        assert!(!readers.is_failing.load(Ordering::Relaxed));
    }
}
