//! Ten thousand Receive Sessions that say nothing, and as many that connect at once.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::NoiseSecret;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::devices::Session;
use super::process::{Place, RelayProcess};
use super::table::{Goal, Table};
use super::{DEVICES, tell};

/// Devices that connect at the same time where nothing is said of a storm.
const CALM: usize = 32;

/// Sessions before the first look, so that what the relay sets up once is set up.
const WARM_UP: usize = 64;

/// How long processor time is counted.
const IDLE: Duration = Duration::from_secs(5);

/// For the relay to settle after the last connection.
const SETTLE: Duration = Duration::from_secs(1);

/// The longest time of one connection in a storm.
const CONNECT_MAX: Duration = Duration::from_secs(30);

const KIB: f64 = 1_024.0;

/// Memory and processor time of sessions that came one after the other.
pub(super) async fn measure_idle(relay: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    tell("10,000 idle Receive Sessions")?;
    let place = Place::new(relay, folder)?;
    let process = place.start()?;
    let address = Arc::new(process.address()?.clone());
    let warm = connect(&address, WARM_UP, CALM).await.sessions;
    tokio::time::sleep(SETTLE).await;
    let before = process.memory()?;
    let idle = connect(&address, DEVICES - WARM_UP, CALM).await;
    idle.first_error
        .map_or(Ok(()), Err)
        .context("a device can't connect")?;
    tokio::time::sleep(SETTLE).await;
    let after = process.memory()?;
    let grown = after.private.saturating_sub(before.private) as f64;
    table.add(
        "user memory of an idle Receive Session, of 10,000",
        grown / idle.sessions.len() as f64 / KIB,
        "KiB",
        Goal::AtMost(4.0),
    );
    table.aim(2.5);
    let ticks = idle_ticks(&process).await?;
    // One tick is what the kernel counts for anything at all.
    table.add(
        "processor time of 10,000 idle sessions in 5 s",
        ticks as f64,
        "ticks",
        Goal::AtMost(1.0),
    );
    drop((warm, idle.sessions));
    process.stop()
}

/// Connections that all begin at the same moment.
pub(super) async fn measure_storm(relay: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    tell("10,000 devices that connect at once")?;
    let place = Place::new(relay, folder)?;
    let process = place.start()?;
    let address = Arc::new(process.address()?.clone());
    let before = process.memory()?;
    let began = Instant::now();
    let storm = connect(&address, DEVICES, DEVICES).await;
    let took = began.elapsed();
    if let Some(error) = storm.first_error {
        tell(&format!("the first that failed: {error:#}"))?;
    }
    let connected = storm.sessions.len() as f64;
    table.add(
        "10,000 connects at once: failed",
        DEVICES as f64 - connected,
        "",
        Goal::AtMost(0.0),
    );
    table.add(
        "10,000 connects at once: sessions",
        connected / took.as_secs_f64(),
        "/s",
        Goal::AtLeast(1_200.0),
    );
    table.add(
        "10,000 connects at once: the slowest",
        storm.slowest.as_secs_f64() * 1_000.0,
        "ms",
        Goal::None,
    );
    tokio::time::sleep(SETTLE).await;
    let grown = process.memory()?.private.saturating_sub(before.private) as f64;
    table.add(
        "user memory of a session after the storm",
        grown / connected.max(1.0) / KIB,
        "KiB",
        Goal::None,
    );
    drop(storm.sessions);
    process.stop()
}

async fn idle_ticks(process: &RelayProcess) -> Result<u64> {
    let before = process.ticks()?;
    tokio::time::sleep(IDLE).await;
    Ok(process.ticks()?.saturating_sub(before))
}

/// What became of many connections.
#[derive(Default)]
struct Connected {
    sessions: Vec<Session>,
    slowest: Duration,
    first_error: Option<anyhow::Error>,
}

/// Connects devices, `at_once` of them at a time, until each has its heartbeat back.
async fn connect(relay: &Arc<RelayAddress>, count: usize, at_once: usize) -> Connected {
    let turns = Arc::new(Semaphore::new(at_once));
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        let (relay, turns) = (Arc::clone(relay), Arc::clone(&turns));
        tasks.spawn(async move {
            let _turn = turns.acquire().await?;
            let began = Instant::now();
            let device = NoiseSecret::generate(&mut OsRng);
            let connecting = async {
                let mut session = Session::receive(&relay, &device).await?;
                session.echo().await.map(|()| session)
            };
            let session = tokio::time::timeout(CONNECT_MAX, connecting)
                .await
                .context("a connection takes too long")??;
            anyhow::Ok((session, began.elapsed()))
        });
    }
    let mut connected = Connected::default();
    while let Some(done) = tasks.join_next().await {
        match done.map_err(anyhow::Error::from).and_then(|done| done) {
            Ok((session, took)) => {
                connected.sessions.push(session);
                connected.slowest = connected.slowest.max(took);
            }
            Err(error) => {
                connected.first_error.get_or_insert(error);
            }
        }
    }
    connected
}
