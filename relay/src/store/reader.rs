//! Reading Envelopes back beside the writer.
//!
//! Owns: a few reading connections, opened when first needed. Reads are short and end their
//! snapshot with the chunk, and they pass a gate that the writer closes for a moment when the
//! log has to start over. Never blocks the
//! writer or a thread of the runtime's core.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::Semaphore;

use super::inboxes::Found;
use super::log::ReadGate;
use super::schema::open_reader;
use super::whole::Whole;
use super::{Blob, StoreError};

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
}

impl Readers {
    pub(super) fn new(path: PathBuf, gate: ReadGate) -> Self {
        let idle = Arc::new(Mutex::new(Vec::new()));
        Self {
            path,
            gate,
            turns: Arc::new(Semaphore::new(READERS_MAX)),
            idle,
            is_failing: Arc::default(),
        }
    }

    /// Adds the Envelopes that are no longer in memory. A blob that was deleted in the
    /// meantime is left out.
    pub(super) async fn fill(&self, found: Vec<Found>) -> Result<Vec<Blob>, StoreError> {
        self.run(move |connection| fill(connection, found)).await
    }

    /// Reads something small.
    pub(super) async fn check(&self) -> Result<(), StoreError> {
        self.run(|connection| {
            connection.query_row("SELECT store_version FROM meta", [], |_| Ok(()))
        })
        .await
    }

    async fn run<T: Send + 'static>(
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
        let result = task.await.unwrap_or(Err(StoreError::Closed));
        self.note(result.as_ref().err());
        result
    }

    fn note(&self, error: Option<&StoreError>) {
        let was_failing = self.is_failing.swap(error.is_some(), Ordering::Relaxed);
        match error {
            Some(error) if !was_failing => {
                tracing::warn!(%error, "waiting messages can't be read for now");
            }
            None if was_failing => tracing::info!("the store can be read again"),
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

fn fill(connection: &Connection, found: Vec<Found>) -> rusqlite::Result<Vec<Blob>> {
    let mut select = connection.prepare_cached("SELECT envelope FROM blobs WHERE id = ?1")?;
    let mut blobs = Vec::with_capacity(found.len());
    for Found { id, envelope } in found {
        let envelope = match envelope {
            Some(envelope) => Some(envelope),
            None => {
                let read = |row: &rusqlite::Row<'_>| row.get::<_, Vec<u8>>(0);
                select
                    .query_row([Whole(id.as_u64())], read)
                    .optional()?
                    .map(Bytes::from)
            }
        };
        blobs.extend(envelope.map(|envelope| Blob { id, envelope }));
    }
    Ok(blobs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::schema;

    #[tokio::test]
    async fn reads_that_fail_are_noticed_until_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let readers = Readers::new(path.clone(), ReadGate::default());
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
}
