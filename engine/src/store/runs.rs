//! The runs of this device on this store: what tells a store from its copies.

use std::collections::BTreeSet;

use super::Store;
use super::fault::fault;
use crate::core::error::StorageFault;
use crate::core::run_marker::RunMarker;

/// How many runs are kept. A marker comes back from the relay within its life at most; a
/// device that started more often than this meanwhile may take its own for a copy's.
const RUNS_MAX: i64 = 4_096;

impl Store {
    /// The runs that were made on this store.
    pub(crate) fn runs(&self) -> Result<BTreeSet<RunMarker>, StorageFault> {
        let mut statement = self
            .connection
            .prepare("SELECT marker FROM run")
            .map_err(fault)?;
        let found = statement
            .query_map([], |row| row.get(0).map(RunMarker::from_bytes))
            .and_then(Iterator::collect);
        found.map_err(fault)
    }

    /// Notes a run. Durable on return.
    pub(crate) fn add_run(&self, run: &RunMarker) -> Result<(), StorageFault> {
        self.connection
            .execute("INSERT INTO run (marker) VALUES (?1)", [run.as_bytes()])
            .map_err(fault)?;
        let oldest = self.connection.last_insert_rowid().saturating_sub(RUNS_MAX);
        self.connection
            .execute("DELETE FROM run WHERE place <= ?1", [oldest])
            .map(drop)
            .map_err(fault)
    }
}
