//! The write-ahead log: how long it is, and when it moves into the file.
//!
//! Owns: every checkpoint, and the bounds of the log. SQLite would move it inside a commit,
//! before anybody is answered; here it moves between two commits. Never does: wait long for a
//! reader, or keep a relay in silence busy.
//!
//! Invariants:
//! - readers of this process can't keep the log from starting over: they finish what they
//!   read, which is short, and wait until it has;
//! - another program that keeps a read transaction open can, and then the log ends at
//!   [`LOG_BYTES_MAX`]: pushes are refused until that program lets go. What nobody waits for,
//!   such as giving space back, stops at [`LOG_BYTES_PRESSING`] already.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use rusqlite::Connection;

use super::schema::{BUSY_TIMEOUT, PAGE_BYTES};

/// The log is moved when it is this long, as far as readers let it.
const LOG_BYTES_DUE: u64 = 4 * 1_024 * 1_024;

/// The log starts over at this length, and readers of this process wait for that. With one
/// more batch it stays within 32 MiB.
const LOG_BYTES_PRESSING: u64 = 12 * 1_024 * 1_024;

/// The length from which puts are refused, because another program keeps the log from
/// starting over. A backup of a store of gigabytes must fit, so it is generous.
pub(super) const LOG_BYTES_MAX: u64 = 256 * 1_024 * 1_024;

/// The length from which deletes wait too. They are few against puts, and a store that is
/// drained should stay so over a restart.
pub(super) const LOG_BYTES_MAX_DELETES: u64 = 320 * 1_024 * 1_024;

/// The longest that emptying the log waits for another program.
const PATIENCE: Duration = Duration::from_millis(50);

/// Lets reads of this process pass, many at a time, but for the moments in which the log
/// starts over.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadGate(Arc<RwLock<()>>);

impl ReadGate {
    /// Held for one short read.
    pub(super) fn pass(&self) -> RwLockReadGuard<'_, ()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn close<T>(&self, work: impl FnOnce() -> T) -> T {
        let _closed = self.0.write().unwrap_or_else(PoisonError::into_inner);
        work()
    }
}

/// The log of the writing connection.
pub(super) struct Log {
    /// Pages in it, as the last commit or checkpoint told.
    pages: Arc<AtomicU64>,
    gate: ReadGate,
    bytes_max: u64,
    bytes_max_deletes: u64,
}

impl Log {
    /// Takes over the log of `connection`, the only one that writes.
    pub(super) fn new(connection: &mut Connection, gate: ReadGate) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&pages);
        connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            told.store(u64::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self {
            pages,
            gate,
            bytes_max: LOG_BYTES_MAX,
            bytes_max_deletes: LOG_BYTES_MAX_DELETES,
        })
    }

    /// How much of it may have to be moved.
    pub(super) fn bytes(&self) -> u64 {
        let pages = self.pages.load(Ordering::Relaxed);
        pages.saturating_mul(PAGE_BYTES.into())
    }

    /// Whether puts may make it longer. Tries to empty a log that is full.
    pub(super) fn has_room_for_puts(&self, connection: &Connection) -> bool {
        self.bytes() < self.bytes_max || self.empty(connection)
    }

    /// Whether deletes may make it longer.
    pub(super) fn has_room_for_deletes(&self, connection: &Connection) -> bool {
        self.bytes() < self.bytes_max_deletes || self.empty(connection)
    }

    /// Moves it into the file if it is long enough. False if it should have started over and
    /// another program keeps it from that.
    pub(super) fn keep_short(&self, connection: &Connection) -> bool {
        if self.bytes() < LOG_BYTES_DUE {
            return true;
        }
        self.checkpoint(connection, "PASSIVE");
        self.bytes() < LOG_BYTES_PRESSING
            || self.gate.close(|| {
                with_patience(connection, Duration::ZERO, || {
                    self.checkpoint(connection, "RESTART")
                })
            })
    }

    /// Moves all of it into the file and cuts it off; false if another program reads it, or
    /// the disk doesn't let it.
    pub(super) fn empty(&self, connection: &Connection) -> bool {
        self.gate.close(|| {
            with_patience(connection, PATIENCE, || {
                self.checkpoint(connection, "TRUNCATE")
            })
        })
    }

    /// True if it was done to its end.
    fn checkpoint(&self, connection: &Connection, mode: &str) -> bool {
        let pragma = format!("PRAGMA wal_checkpoint({mode})");
        let told = connection.query_row(&pragma, [], |row| {
            Ok((row.get::<_, bool>(0)?, row.get::<_, i64>(1)?))
        });
        match told {
            Ok((is_busy, pages)) => {
                if let Ok(pages) = u64::try_from(pages) {
                    self.pages.store(pages, Ordering::Relaxed);
                }
                !is_busy
            }
            Err(error) => {
                let error = super::StoreError::from(error);
                tracing::debug!(%error, "the write-ahead log stays for now");
                false
            }
        }
    }

    /// Lower bounds, so that a test reaches them.
    #[cfg(test)]
    pub(super) fn bound(&mut self, puts: u64, deletes: u64) {
        (self.bytes_max, self.bytes_max_deletes) = (puts, deletes);
    }
}

/// Runs `work` with another patience for locks than commits have: pushes queue up meanwhile.
fn with_patience<T>(connection: &Connection, patience: Duration, work: impl FnOnce() -> T) -> T {
    // Setting a number in the connection can't fail, and if it could nothing else would help.
    let _ = connection.busy_timeout(patience);
    let result = work();
    let _ = connection.busy_timeout(BUSY_TIMEOUT);
    result
}
