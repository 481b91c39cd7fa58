//! What lies on the disk: the log while much is written, the file once all is taken.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use tokio::task::JoinSet;

use super::devices::Session;
use super::process::{Files, Place, RelayProcess};
use super::table::{Goal, Table};
use super::{PATIENCE, tell};

/// Pairs of one that pushes and one that takes.
const PAIRS: usize = 8;

/// Pushes of each pair that wait for their answer.
const IN_FLIGHT: usize = 16;

const ENVELOPE: [u8; 4_096] = [0x5a; 4_096];

/// How long the load lasts.
const LOAD: Duration = Duration::from_secs(20);

/// Envelopes that wait before the drain, for each device.
const FILLED: usize = 2_560;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_millis(50);

const MIB: f64 = 1_048_576.0;

/// See the module.
pub(super) async fn measure(relay: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    tell("20 s of 4 KiB pushes, with readers")?;
    let place = Place::new(relay, folder)?;
    let process = place.start()?;
    let load = measure_load(&process).await?;
    table.add(
        "pushes per second over 20 s, 4 KiB, each taken",
        load.pushes as f64 / LOAD.as_secs_f64(),
        "/s",
        Goal::None,
    );
    table.add(
        "largest write-ahead log during the load",
        load.largest.log as f64 / MIB,
        "MiB",
        Goal::AtMost(32.0),
    );
    tell("80 MiB fill up and are drained")?;
    let (peak, rest) = measure_drain(&process).await?;
    table.add(
        "largest file before the drain",
        peak as f64 / MIB,
        "MiB",
        Goal::None,
    );
    table.add(
        "file after the drain, of its peak",
        rest.database as f64 * 100.0 / peak as f64,
        "%",
        Goal::AtMost(5.0),
    );
    table.add(
        "write-ahead log after the drain",
        rest.log as f64 / MIB,
        "MiB",
        Goal::AtMost(32.0),
    );
    process.stop()
}

struct Load {
    pushes: usize,
    largest: Files,
}

async fn measure_load(process: &RelayProcess) -> Result<Load> {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for _ in 0..PAIRS {
        let relay = process.address()?.clone();
        let device = NoiseSecret::generate(&mut OsRng);
        tasks.spawn(push_until(
            relay.clone(),
            device.public(),
            Arc::clone(&is_over),
        ));
        tasks.spawn(async move {
            let mut session = Session::receive(&relay, &device).await?;
            // Until the relay has been quiet for longer than any commit.
            while let Ok(taken) = tokio::time::timeout(QUIET, session.take_some()).await {
                taken?;
            }
            anyhow::Ok(0)
        });
    }
    let began = Instant::now();
    let mut largest = Files::default();
    while began.elapsed() < LOAD {
        tokio::time::sleep(LOOK).await;
        let files = process.files()?;
        largest.log = largest.log.max(files.log);
    }
    is_over.store(true, Ordering::Relaxed);
    let mut pushes = 0;
    while let Some(done) = tasks.join_next().await {
        pushes += done??;
    }
    Ok(Load { pushes, largest })
}

/// Longer than any commit.
const QUIET: Duration = Duration::from_secs(2);

async fn push_until(
    relay: RelayAddress,
    recipient: NoisePublic,
    is_over: Arc<AtomicBool>,
) -> Result<usize> {
    let mut session = Session::push(&relay).await?;
    let mut pushes = 0;
    while !is_over.load(Ordering::Relaxed) {
        session.push_to(&[recipient; IN_FLIGHT], &ENVELOPE).await?;
        pushes += IN_FLIGHT;
    }
    Ok(pushes)
}

/// The largest file, and what lies there once it has stopped shrinking.
async fn measure_drain(process: &RelayProcess) -> Result<(u64, Files)> {
    let devices: Vec<_> = (0..PAIRS)
        .map(|_| NoiseSecret::generate(&mut OsRng))
        .collect();
    let mut tasks = JoinSet::new();
    for device in &devices {
        let (relay, recipient) = (process.address()?.clone(), device.public());
        tasks.spawn(async move {
            let mut session = Session::push(&relay).await?;
            for _ in 0..FILLED / IN_FLIGHT {
                session.push_to(&[recipient; IN_FLIGHT], &ENVELOPE).await?;
            }
            anyhow::Ok(())
        });
    }
    finish(&mut tasks).await?;
    // The last pages reach the file with a checkpoint, some of them only during the drain.
    let mut peak = process.files()?.database;
    for device in devices {
        let relay = process.address()?.clone();
        tasks.spawn(async move {
            let mut session = Session::receive(&relay, &device).await?;
            let mut taken = 0;
            while taken < FILLED {
                taken += session.take_some().await?;
            }
            // The echo says that the relay has read the acknowledgements before it.
            session.echo().await
        });
    }
    let began = Instant::now();
    let mut least = u64::MAX;
    let mut shrunk_at = Instant::now();
    while began.elapsed() < PATIENCE && shrunk_at.elapsed() < SHRUNK {
        tokio::time::sleep(LOOK).await;
        let size = process.files()?.database;
        peak = peak.max(size);
        if size < least {
            (least, shrunk_at) = (size, Instant::now());
        }
    }
    finish(&mut tasks).await?;
    Ok((peak, process.files()?))
}

/// A file that hasn't become smaller for so long stays as it is.
const SHRUNK: Duration = Duration::from_secs(6);

async fn finish(tasks: &mut JoinSet<Result<()>>) -> Result<()> {
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}
