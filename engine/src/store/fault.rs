//! What is wrong with a store, in the words that reach a person.

use std::io;

use rusqlite::ErrorCode;

use crate::core::error::StorageFault;

/// Why a store can't be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenFault {
    /// It can't be used.
    Storage(StorageFault),
    /// Its version is below the floor: it can't be migrated any more, only reset.
    Outdated {
        /// The version that was found.
        found: u32,
    },
    /// It was written by a newer version.
    TooNew {
        /// The version that was found.
        found: u32,
        /// The newest version that is known.
        known: u32,
    },
}

impl From<StorageFault> for OpenFault {
    fn from(fault: StorageFault) -> Self {
        Self::Storage(fault)
    }
}

/// Sorts an error of SQLite. Its text may name the path and is dropped.
pub(crate) fn fault(error: rusqlite::Error) -> StorageFault {
    let code = error.sqlite_error_code();
    tracing::debug!(?code, "the store failed");
    match code {
        Some(ErrorCode::DiskFull) => StorageFault::Full,
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StorageFault::Damaged,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StorageFault::InUse,
        Some(_) => StorageFault::Unavailable,
        // What was read isn't of the type that was written.
        None => StorageFault::Damaged,
    }
}

/// Sorts an error of the file system.
pub(crate) fn io_fault(error: &io::Error) -> StorageFault {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StorageFault::Full,
        _ => StorageFault::Unavailable,
    }
}
