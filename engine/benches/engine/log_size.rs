//! How large the write-ahead log of a client gets: under whoever reads for long, and in a day
//! in the tray.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use sealpost_engine::Engine;
use sealpost_engine::clock::SteppedClock;

use crate::bystander::{OpenRelay, Pair, body, keys_of};
use crate::devices::Home;
use crate::progress;
use crate::report::Report;

pub(crate) const LOG_BYTES_MAX: u64 = 64 * 1_024 * 1_024;

const SENDS_UNDER_READER: usize = 2_000;

const HOUR_MS: u64 = 3_600_000;
const SENDS_PER_HOUR: usize = 60;

pub(crate) async fn measure(report: &mut Report) {
    let relay = OpenRelay::start().await;
    let mut pair = Pair::start(&relay).await;
    for device in &pair.devices {
        device.engine.close().await;
    }
    let home = &mut pair.homes[0];
    let engine = home.try_open(None).await.unwrap();
    let mut largest = 0;
    let reader = Reader::start(home);
    for _ in 0..SENDS_UNDER_READER {
        engine.send(body()).await.unwrap();
        largest = largest.max(log_bytes(&home.database()));
    }
    report.size(
        "log, another program tries to read all along",
        LOG_BYTES_MAX,
        largest,
    );
    report.fact("  that program is kept out", "yes", reader.was_refused());
    engine.close().await;
    progress("log under a reader");

    let clock = Arc::new(SteppedClock::new(home.clock.now_ms()));
    home.clock = Arc::<SteppedClock>::clone(&clock);
    let engine = home.try_open(None).await.unwrap();
    let largest = busy_day(&engine, &clock, &home.database()).await;
    report.size(
        "log, the largest of a day of traffic",
        LOG_BYTES_MAX,
        largest,
    );
    // The same day in silence.
    settle(&engine, &home.database()).await;
    report.size(
        "log, once nothing was written for a while",
        0,
        log_bytes(&home.database()),
    );
    let before = state_of(&home.database());
    for _ in 0..24 {
        clock.advance(HOUR_MS);
        engine.wake();
        engine.unread().await.unwrap();
    }
    let is_quiet = before == state_of(&home.database());
    report.fact(
        "a day in the tray without traffic writes nothing",
        "yes",
        is_quiet,
    );
    engine.close().await;
    progress("log in a day in the tray");
}

async fn busy_day(engine: &Engine, clock: &SteppedClock, database: &Path) -> u64 {
    let mut largest = 0;
    for _ in 0..24 {
        for _ in 0..SENDS_PER_HOUR {
            clock.advance(HOUR_MS / SENDS_PER_HOUR as u64);
            engine.wake();
            engine.send(body()).await.unwrap();
            engine.messages_before(None, 50).await.unwrap();
            largest = largest.max(log_bytes(database));
        }
    }
    largest
}

/// Waits until the log is given back, or for long enough that it never will be.
async fn settle(engine: &Engine, database: &Path) {
    while engine.outbox_copies().await.unwrap() > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for _ in 0..40 {
        if log_bytes(database) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

fn log_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

/// The size of a store's write-ahead log now.
pub(crate) fn log_bytes(database: &Path) -> u64 {
    std::fs::metadata(log_path(database)).map_or(0, |found| found.len())
}

fn state_of(database: &Path) -> Vec<(u64, SystemTime)> {
    [database.to_owned(), log_path(database)]
        .iter()
        .filter_map(|path| std::fs::metadata(path).ok())
        .map(|found| (found.len(), found.modified().unwrap()))
        .collect()
}

/// Another program with the key, which wants to hold a read transaction.
struct Reader {
    connection: Connection,
}

impl Reader {
    fn start(home: &Home) -> Self {
        let connection = Connection::open(home.database()).unwrap();
        let key: String = keys_of(home)
            .database_key()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        connection
            .pragma_update(None, "key", format!("x'{key}'"))
            .unwrap();
        connection.busy_timeout(Duration::ZERO).unwrap();
        Self { connection }
    }

    /// Whether it can't begin.
    fn was_refused(&self) -> bool {
        let begun = self.connection.execute_batch("BEGIN");
        begun.unwrap();
        self.connection
            .query_row("SELECT count(*) FROM message", [], |row| {
                row.get::<_, i64>(0)
            })
            .is_err()
    }
}
