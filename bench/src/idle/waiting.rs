//! A million blobs that wait in ten thousand inboxes.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use tokio::task::JoinSet;

use super::devices::Session;
use super::process::Place;
use super::table::{Goal, Table};
use super::tell;

const INBOXES: usize = 10_000;
const BLOBS_EACH: usize = 100;
const ENVELOPE: [u8; 300] = [0x5a; 300];

/// Sessions that fill the inboxes, and pushes of each that wait for their answer.
const SESSIONS: usize = 16;
const IN_FLIGHT: usize = 64;

/// Devices that ask for what waits for them.
const ASKED: usize = 20;

/// For the relay to settle after the last push.
const SETTLE: Duration = Duration::from_secs(3);

const MIB: f64 = 1_048_576.0;

/// See the module.
pub(super) async fn measure(relay: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    tell("1,000,000 blobs for 10,000 inboxes, through Push Sessions")?;
    let place = Place::new(relay, folder)?;
    let process = place.start()?;
    let devices: Vec<_> = (0..INBOXES)
        .map(|_| NoiseSecret::generate(&mut OsRng))
        .collect();
    // What the first pushes set up is there with none waiting, too.
    let nobody = [NoiseSecret::generate(&mut OsRng).public()];
    Session::push(process.address()?)
        .await?
        .push_to(&nobody, &ENVELOPE)
        .await?;
    let before = process.memory()?;
    let rate = fill(process.address()?, &devices).await?;
    table.add(
        "pushes per second while filling, 300 B",
        rate,
        "/s",
        Goal::None,
    );
    tokio::time::sleep(SETTLE).await;
    let grown = process.memory()?.resident.saturating_sub(before.resident) as f64;
    table.add(
        "resident memory for 1,000,000 blobs",
        grown / MIB,
        "MiB",
        Goal::AtMost(64.0),
    );
    let slowest = ask(process.address()?, &devices).await?;
    table.add(
        "a new session's first blob of 1,000,000, slowest of 20",
        milliseconds(slowest),
        "ms",
        Goal::AtMost(50.0),
    );
    process.stop()?;
    tell("the same relay starts again")?;
    let process = place.start()?;
    let device = NoiseSecret::generate(&mut OsRng);
    Session::receive(process.address()?, &device)
        .await?
        .echo()
        .await?;
    table.add(
        "restart with 1,000,000 blobs until a session is taken",
        milliseconds(process.age()),
        "ms",
        Goal::AtMost(1_000.0),
    );
    let slowest = ask(process.address()?, &devices).await?;
    table.add(
        "a new session's first blob after the restart, slowest of 20",
        milliseconds(slowest),
        "ms",
        Goal::AtMost(50.0),
    );
    process.stop()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Fills all inboxes in turns, so that the blobs of one lie far apart.
async fn fill(relay: &RelayAddress, devices: &[NoiseSecret]) -> Result<f64> {
    let recipients: Arc<Vec<NoisePublic>> =
        Arc::new(devices.iter().map(NoiseSecret::public).collect());
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..SESSIONS {
        let (relay, recipients) = (relay.clone(), Arc::clone(&recipients));
        tasks.spawn(async move {
            let mut session = Session::push(&relay).await?;
            let share = recipients.len().div_ceil(SESSIONS);
            let mine = recipients.chunks(share).nth(number).unwrap_or_default();
            for _ in 0..BLOBS_EACH {
                for some in mine.chunks(IN_FLIGHT) {
                    session.push_to(some, &ENVELOPE).await?;
                }
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok((INBOXES * BLOBS_EACH) as f64 / began.elapsed().as_secs_f64())
}

/// The longest time from the connection to the first blob, of devices spread over all.
async fn ask(relay: &RelayAddress, devices: &[NoiseSecret]) -> Result<Duration> {
    let mut slowest = Duration::ZERO;
    for device in devices.iter().step_by(INBOXES / ASKED) {
        let began = Instant::now();
        let mut session = Session::receive(relay, device).await?;
        let frame = session.read().await?;
        slowest = slowest.max(began.elapsed());
        ensure!(
            matches!(Frame::decode(&frame)?, Frame::Deliver { .. }),
            "a blob was expected"
        );
    }
    Ok(slowest)
}
