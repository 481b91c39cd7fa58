//! Takes over what can be read of a damaged store into a new one.
//!
//! Owns the way around pages that can't be read. The damaged file is kept beside the new one,
//! under its name with `.damaged-` and a number. Never touches a file whose key doesn't fit
//! or whose first page is damaged: those two can't be told apart (amendment 10). Never puts
//! a store in place that its machine can't be built from: then nothing has changed.
//!
//! A page that fails its check breaks SQLCipher's connection for good, so that each failure
//! opens the file anew.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::fault::{OpenFault, fault, io_fault};
use super::{Store, connect};
use crate::core::error::StorageFault;
use crate::core::issue::DeliveryIssue;
use crate::core::step::Change;
use crate::durable_file;
use crate::keys::IdentityId;

/// How often the file is opened anew in the search for readable rows between damaged pages.
const FAILURES_MAX: u32 = 2_000;

/// Ends the name of the file that asks for a repair at the next start.
const MARK: &str = ".repair-wanted";

/// How many damaged files are kept; beyond that nothing is repaired.
const KEPT_MAX: u32 = 100;

/// Repairs the store at `path`, if `is_whole` says that the group can go on from the result.
pub(crate) fn repair(
    path: &Path,
    key: &[u8; 32],
    first: &IdentityId,
    now_ms: u64,
    is_whole: impl FnOnce(&Store) -> bool,
) -> Result<(), OpenFault> {
    let kept = (1..=KEPT_MAX)
        .map(|number| beside(path, &format!(".damaged-{number}")))
        .find(|kept| !kept.exists())
        .ok_or(StorageFault::Damaged)?;
    let fresh = beside(path, ".repair");
    let outcome = copy(path, &kept)
        .and_then(|()| remove(&fresh))
        .map_err(|error| io_fault(&error).into())
        .and_then(|()| take_over(&kept, &fresh, key, first, now_ms, is_whole));
    let outcome: Result<(), OpenFault> =
        outcome.and_then(|()| put(&fresh, path).map_err(|e| io_fault(&e).into()));
    if outcome.is_err() {
        // What can't be removed is only in the way of the next attempt, which does it first.
        drop(remove(&fresh));
        drop(remove(&kept));
    }
    // Reading left an empty log beside the kept file, where it had none.
    let log = beside(&kept, "-wal");
    if fs::metadata(&log).is_ok_and(|found| found.len() == 0) {
        drop(remove_file(&log));
    }
    // Asked for once, whatever came of it.
    drop(remove_file(&beside(path, MARK)));
    outcome
}

/// Asks for a repair at the next start: the damage showed while the store was open.
pub(crate) fn want(path: &Path) {
    // On a full or broken disk it shows again.
    drop(fs::write(beside(path, MARK), b""));
}

/// Whether a repair was asked for.
pub(crate) fn is_wanted(path: &Path) -> bool {
    beside(path, MARK).exists()
}

fn take_over(
    kept: &Path,
    fresh: &Path,
    key: &[u8; 32],
    first: &IdentityId,
    now_ms: u64,
    is_whole: impl FnOnce(&Store) -> bool,
) -> Result<(), OpenFault> {
    let mut source = Source::open(kept, key)?;
    let mut target = Store::open(fresh, key, first)?;
    let tables = tables(&target.connection).map_err(fault)?;
    target
        .connection
        .execute_batch("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")
        .map_err(fault)?;
    for table in &tables {
        source.copy_table(table, &target.connection)?;
    }
    target
        .connection
        .execute_batch(
            "DELETE FROM delivery WHERE position NOT IN (SELECT position FROM message);
             DELETE FROM outbox_entry WHERE sequence NOT IN (SELECT sequence FROM outbox_message);
             DELETE FROM outbox_message WHERE sequence NOT IN (SELECT sequence FROM outbox_entry);
             COMMIT; PRAGMA foreign_keys = ON;",
        )
        .map_err(fault)?;
    if !is_whole(&target) {
        return Err(StorageFault::Damaged.into());
    }
    let repaired = Change::IssueAdded {
        at_ms: now_ms,
        issue: DeliveryIssue::StoreRepaired,
    };
    target.apply(&[repaired], None)?;
    tracing::warn!(failures = source.failures, "a damaged store was repaired");
    Ok(())
}

/// A table and how its rows are reached.
struct Table {
    name: String,
    columns: Vec<String>,
    has_rowid: bool,
    /// The columns by which rows are ordered: the row id, or the primary key.
    order: String,
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<Table>> {
    let mut statement = connection.prepare(
        "SELECT name, wr FROM pragma_table_list
         WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             AND name <> 'store_version'",
    )?;
    let found = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(String, bool)>>>()?;
    found
        .into_iter()
        .map(|(name, is_without_rowid)| {
            let columns = names(connection, &name, "cid >= 0")?;
            let order = if is_without_rowid {
                names(connection, &name, "pk > 0 ORDER BY pk")?
            } else {
                vec!["rowid".to_owned()]
            };
            Ok(Table {
                name,
                columns,
                has_rowid: !is_without_rowid,
                order: order.join(", "),
            })
        })
        .collect()
}

fn names(connection: &Connection, table: &str, which: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(&format!(
            "SELECT name FROM pragma_table_info(?1) WHERE {which}"
        ))?
        .query_map([table], |row| row.get(0))?
        .collect()
}

/// The damaged file.
struct Source<'a> {
    path: &'a Path,
    key: &'a [u8; 32],
    connection: Connection,
    failures: u32,
}

impl<'a> Source<'a> {
    fn open(path: &'a Path, key: &'a [u8; 32]) -> Result<Self, OpenFault> {
        Ok(Self {
            path,
            key,
            connection: connect(path, key)?,
            failures: 0,
        })
    }

    /// Copies from both ends up to what can't be read, then looks in between.
    fn copy_table(&mut self, table: &Table, target: &Connection) -> Result<(), OpenFault> {
        let Table { name, order, .. } = table;
        let Some(table) = &self.shared_part(table) else {
            return Ok(());
        };
        target
            .execute(&format!("DELETE FROM {name}"), [])
            .map_err(fault)?;
        let (last, is_all) = self.copy(table, target, &format!("ORDER BY {order}"))?;
        if is_all {
            return Ok(());
        }
        let backwards = order.replace(", ", " DESC, ") + " DESC";
        let (first, _) = self.copy(table, target, &format!("ORDER BY {backwards}"))?;
        if let (true, Some(last), Some(first)) = (table.has_rowid, last, first) {
            self.search(
                table,
                target,
                last.saturating_add(1),
                first.saturating_sub(1),
            )?;
        }
        Ok(())
    }

    /// The columns that the damaged file has, too: one of an earlier version lacks some, or the
    /// whole table. `None` where there is nothing to copy.
    fn shared_part(&self, table: &Table) -> Option<Table> {
        // Where even that can't be read, the rows are tried and fail one by one.
        let there = names(&self.connection, &table.name, "cid >= 0").ok();
        let is_there = |column: &String| there.as_ref().is_none_or(|there| there.contains(column));
        let columns = table.columns.iter().filter(|column| is_there(column));
        let columns: Vec<String> = columns.cloned().collect();
        (!columns.is_empty()).then(|| Table {
            name: table.name.clone(),
            columns,
            has_rowid: table.has_rowid,
            order: table.order.clone(),
        })
    }

    /// Copies what can be read of the rows from `low` to `high`.
    fn search(
        &mut self,
        table: &Table,
        target: &Connection,
        low: i64,
        high: i64,
    ) -> Result<(), OpenFault> {
        if low > high || self.failures >= FAILURES_MAX {
            return Ok(());
        }
        let rows = format!("WHERE rowid BETWEEN {low} AND {high} ORDER BY rowid");
        let (last, is_all) = self.copy(table, target, &rows)?;
        if is_all || low == high {
            return Ok(());
        }
        let low = last.map_or(low, |last| last.saturating_add(1));
        let middle = low.saturating_add(high.saturating_sub(low) / 2);
        self.search(table, target, low, middle)?;
        self.search(table, target, middle.saturating_add(1), high)
    }

    /// Copies rows until one can't be read. Returns the row id of the last one, and whether
    /// that was all.
    fn copy(
        &mut self,
        table: &Table,
        target: &Connection,
        which: &str,
    ) -> Result<(Option<i64>, bool), OpenFault> {
        let columns = table.columns.join(", ");
        let id = if table.has_rowid { "rowid" } else { "0" };
        let name = &table.name;
        let select = format!("SELECT {id}, {columns} FROM {name} NOT INDEXED {which}");
        let places = vec!["?"; table.columns.len()].join(", ");
        let insert = format!("INSERT OR IGNORE INTO {name} ({columns}) VALUES ({places})");
        let mut insert = target.prepare_cached(&insert).map_err(fault)?;
        let mut last = None;
        let mut read = || -> Result<(), Fault> {
            let mut statement = self.connection.prepare(&select).map_err(|_| Fault::Read)?;
            let mut rows = statement.query([]).map_err(|_| Fault::Read)?;
            while let Some(row) = rows.next().map_err(|_| Fault::Read)? {
                let values = (1..=table.columns.len()).map(|place| row.get(place));
                let values = values.collect::<rusqlite::Result<Vec<Value>>>();
                insert
                    .execute(params_from_iter(values.map_err(|_| Fault::Read)?))
                    .map_err(Fault::Write)?;
                last = Some(row.get(0).map_err(|_| Fault::Read)?);
            }
            Ok(())
        };
        match read() {
            Ok(()) => Ok((last, true)),
            // A row that the new store doesn't take isn't what was written.
            Err(Fault::Write(error)) if !is_refused(&error) => Err(fault(error).into()),
            Err(_) => {
                self.failures = self.failures.saturating_add(1);
                self.connection = connect(self.path, self.key)?;
                Ok((last, false))
            }
        }
    }
}

/// Which side a row failed on.
enum Fault {
    Read,
    Write(rusqlite::Error),
}

fn is_refused(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Copies a database with the log that belongs to it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    remove(to)?;
    for suffix in ["", "-wal"] {
        let bytes = match fs::read(beside(from, suffix)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !suffix.is_empty() => continue,
            Err(error) => return Err(error),
        };
        durable_file::replace(&beside(to, suffix), &bytes)?;
    }
    Ok(())
}

/// Puts the new database in place. The old log goes first: it would be played into any file
/// of that name.
fn put(fresh: &Path, path: &Path) -> io::Result<()> {
    for log in ["-wal", "-shm"] {
        remove_file(&beside(path, log))?;
    }
    fs::rename(fresh, path)
}

fn remove(path: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        remove_file(&beside(path, suffix))?;
    }
    Ok(())
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
