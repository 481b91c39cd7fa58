//! Takes over what can be read of a damaged store into a new one.
//!
//! Owns the way around pages that can't be read. The damaged file is kept beside the new one,
//! under its name with `.damaged-` and a number. Never touches a file whose key doesn't fit
//! or whose first page is damaged: those two can't be told apart (amendment 10). Never puts
//! a store in place that its machine can't be built from: then nothing has changed. Never reads
//! a store of another version than it knows: that one is refused or reset as it stands.
//!
//! Putting the new store in place takes two steps, and between them the damaged file stands
//! without the log that belongs to it. The mark says so from before the first until after the
//! second; whoever opens the store calls [`finish`] first.
//!
//! A page that fails its check breaks SQLCipher's connection for good, so that each failure
//! opens the file anew.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::fault::{OpenFault, fault, io_fault};
use super::{FLOOR, Store, connect, schema};
use crate::core::error::StorageFault;
use crate::core::issue::DeliveryIssue;
use crate::core::step::Change;
use crate::durable_file;
use crate::keys::IdentityId;

/// How often the file is opened anew in the search for readable rows between damaged pages.
const FAILURES_MAX: u32 = 2_000;

/// Ends the name of the file that asks for a repair at the next start.
const MARK: &str = ".repair-wanted";

/// What the mark holds once the new store is complete and only has to be put in place.
const READY: &[u8] = b"ready";

/// Ends the name of the new store until it is put in place.
const FRESH: &str = ".repair";

/// The tables that an earlier version set aside and that are moved in steps (schema.rs), and
/// what their names end with meanwhile.
const MOVED: [&str; 2] = ["outbox_message", "outbox_entry"];
const MOVED_FROM: &str = "_3";

/// How many damaged files are kept; beyond that nothing is repaired.
const KEPT_MAX: u32 = 100;

/// Repairs the store at `path`, if `is_whole` says that the group can go on from the result.
pub(crate) fn repair(
    floor: u32,
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
    let fresh = beside(path, FRESH);
    let mut outcome = copy(path, &kept)
        .and_then(|()| remove(&fresh))
        .map_err(|error| io_fault(&error).into())
        .and_then(|()| take_over(floor, &kept, &fresh, key, first, now_ms, is_whole).map(drop))
        .and_then(|()| make_ready(path).map_err(|error| io_fault(&error).into()));
    if outcome.is_err() {
        // Asked for once, whatever came of it. First: without the new store it must not be ready.
        drop(durable_file::remove(&beside(path, MARK)));
        // What can't be removed is only in the way of the next attempt, which does it first.
        drop(remove(&fresh));
        drop(remove(&kept));
    } else {
        outcome = finish(path).map_err(OpenFault::from);
    }
    // Reading left an empty log beside the kept file, where it had none.
    let log = beside(&kept, "-wal");
    if fs::metadata(&log).is_ok_and(|found| found.len() == 0) {
        drop(remove_file(&log));
    }
    outcome
}

/// Says that the new store only has to be put in place: all of it is in its file.
fn make_ready(path: &Path) -> io::Result<()> {
    let log = beside(&beside(path, FRESH), "-wal");
    if fs::metadata(&log).is_ok_and(|found| found.len() > 0) {
        return Err(io::Error::other("the new store has a log"));
    }
    durable_file::replace(&beside(path, MARK), READY)
}

/// Puts a repaired store in place, where a stop or a fault has kept it from there. Until that
/// is done the store must not be opened: the file may be the damaged one, without its log.
pub(crate) fn finish(path: &Path) -> Result<(), StorageFault> {
    let mark = beside(path, MARK);
    let finished = match fs::read(&mark) {
        Ok(said) if said == READY => {
            let fresh = beside(path, FRESH);
            let put = match fresh.try_exists() {
                Ok(true) => put(&fresh, path),
                // It is in place.
                found => found.map(drop),
            };
            put.and_then(|()| durable_file::remove(&mark))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    finished.map_err(|error| io_fault(&error))
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
    floor: u32,
    kept: &Path,
    fresh: &Path,
    key: &[u8; 32],
    first: &IdentityId,
    now_ms: u64,
    is_whole: impl FnOnce(&Store) -> bool,
) -> Result<u32, OpenFault> {
    let mut source = Source::open(kept, key)?;
    source.check_version(floor)?;
    let mut target = Store::open(fresh, key, first)?;
    let tables = tables(&target.connection).map_err(fault)?;
    target
        .connection
        .execute_batch("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")
        .map_err(fault)?;
    for table in &tables {
        let name = &table.name;
        target
            .connection
            .execute(&format!("DELETE FROM {name}"), [])
            .map_err(fault)?;
        source.copy_table(table, &target.connection)?;
        if MOVED.contains(&name.as_str()) {
            source.copy_table(&table.before_it_moved(), &target.connection)?;
        }
    }
    source.copy_sequences(&target.connection)?;
    target
        .connection
        .execute_batch(KEEP_POSITIONS)
        .map_err(fault)?;
    target
        .connection
        .execute_batch(
            "DELETE FROM resend WHERE position NOT IN (SELECT position FROM message);
             DELETE FROM delivery WHERE position NOT IN (SELECT position FROM message);
             DELETE FROM outbox_entry WHERE sequence NOT IN (SELECT sequence FROM outbox_message);
             DELETE FROM outbox_message WHERE sequence NOT IN (SELECT sequence FROM outbox_entry);
             COMMIT; PRAGMA foreign_keys = ON;",
        )
        .map_err(fault)?;
    target.finish_sends_left()?;
    if !is_whole(&target) {
        return Err(StorageFault::Damaged.into());
    }
    let repaired = Change::IssueAdded {
        at_ms: now_ms,
        issue: DeliveryIssue::StoreRepaired,
    };
    target.apply(&[repaired], None)?;
    tracing::warn!(failures = source.failures, "a damaged store was read");
    Ok(source.failures)
}

/// Copies what can be read of the store at `path` into a new one in the folder `scratch`, and
/// leaves `path` as it is. Says whether there is anything that can't be read.
pub(crate) fn read_out(
    path: &Path,
    key: &[u8; 32],
    first: &IdentityId,
    scratch: &Path,
    now_ms: u64,
) -> Result<(Store, bool), OpenFault> {
    let fresh = beside(path, FRESH);
    let is_ready = fs::read(beside(path, MARK)).is_ok_and(|said| said == READY);
    // A repaired store that a stop kept from its place is the one that counts.
    let from = if is_ready && fresh.exists() {
        &fresh
    } else {
        path
    };
    let (kept, read) = (scratch.join("kept.db"), scratch.join("read.db"));
    copy(from, &kept).map_err(|error| io_fault(&error))?;
    let failures = take_over(FLOOR, &kept, &read, key, first, now_ms, |_| true)?;
    // Its place is on another disk, perhaps a small one.
    drop(remove(&kept));
    let store = Store::open(&read, key, first)?;
    // Under another key, or without its first page, a store reads as an empty one.
    if failures > 0 && store.identity().is_err() && store.message_count()? == 0 {
        return Err(StorageFault::Damaged.into());
    }
    Ok((store, failures > 0))
}

/// No position of a message that is lost is given to another one: what was read, withdrawn and
/// shown goes by positions.
const KEEP_POSITIONS: &str = "
    INSERT INTO sqlite_sequence (name, seq) SELECT 'message', 0
        WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'message');
    UPDATE sqlite_sequence SET seq = max(seq,
        (SELECT coalesce(max(max(read_position, withdrawn_to)), 0) FROM device),
        (SELECT coalesce(max(position), 0) FROM delivery),
        (SELECT coalesce(max(position), 0) FROM resend)) WHERE name = 'message';";

/// A table and how its rows are reached.
struct Table {
    name: String,
    /// What it is called in the damaged file.
    source: String,
    columns: Vec<String>,
    has_rowid: bool,
    /// The columns by which rows are ordered: the row id, or the primary key.
    order: String,
}

impl Table {
    /// Its rows that an earlier version wrote and that aren't moved yet.
    fn before_it_moved(&self) -> Self {
        Self {
            source: format!("{}{MOVED_FROM}", self.name),
            name: self.name.clone(),
            columns: self.columns.clone(),
            has_rowid: self.has_rowid,
            order: self.order.clone(),
        }
    }
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
                source: name.clone(),
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

    /// Refuses what was written by a newer version, or by one that is too old. Where the version
    /// is what was damaged, the rest may not be.
    fn check_version(&mut self, floor: u32) -> Result<(), OpenFault> {
        match schema::version(&self.connection) {
            Ok(found) if schema::plan(found, floor) == schema::Plan::Reset => {
                Err(OpenFault::Outdated { found })
            }
            Err(too_new @ OpenFault::TooNew { .. }) => Err(too_new),
            Ok(_) => Ok(()),
            Err(_) => self.open_anew(),
        }
    }

    fn open_anew(&mut self) -> Result<(), OpenFault> {
        self.failures = self.failures.saturating_add(1);
        self.connection = connect(self.path, self.key)?;
        Ok(())
    }

    /// Takes over how far the numbers of rows have come, so that none is given twice.
    fn copy_sequences(&mut self, target: &Connection) -> Result<(), OpenFault> {
        let read = |connection: &Connection| -> rusqlite::Result<Vec<(String, i64)>> {
            connection
                .prepare("SELECT name, seq FROM sqlite_sequence")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let Ok(found) = read(&self.connection) else {
            return self.open_anew();
        };
        for (name, seq) in found {
            for sql in [
                "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2
                 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)
                     AND EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?1)",
                "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
            ] {
                target
                    .execute(sql, rusqlite::params![name, seq])
                    .map_err(fault)?;
            }
        }
        Ok(())
    }

    /// Copies from both ends up to what can't be read, then looks in between.
    fn copy_table(&mut self, table: &Table, target: &Connection) -> Result<(), OpenFault> {
        let order = &table.order;
        let Some(table) = &self.shared_part(table) else {
            return Ok(());
        };
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
        let there = names(&self.connection, &table.source, "cid >= 0").ok();
        let is_there = |column: &String| there.as_ref().is_none_or(|there| there.contains(column));
        let columns = table.columns.iter().filter(|column| is_there(column));
        let columns: Vec<String> = columns.cloned().collect();
        (!columns.is_empty()).then(|| Table {
            source: table.source.clone(),
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
        let (name, source) = (&table.name, &table.source);
        let select = format!("SELECT {id}, {columns} FROM {source} NOT INDEXED {which}");
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
                self.open_anew()?;
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
        remove_file(&beside(fresh, log))?;
        durable_file::remove(&beside(path, log))?;
    }
    durable_file::rename(fresh, path)
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
