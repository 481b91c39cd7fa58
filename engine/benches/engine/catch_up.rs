//! A device comes back to a full inbox, while a window asks what a window asks.

use std::path::Path;
use std::time::{Duration, Instant};

use sealpost_engine::Engine;

use crate::bystander::{OpenRelay, Pair, keys_of, sealed};
use crate::log_size::{LOG_BYTES_MAX, log_bytes};
use crate::report::Report;
use crate::{ROUNDS, median, percentile, progress};

const WAITING: usize = 10_000;
const PUSH_SESSIONS: usize = 4;
const CATCH_UP_MAX: Duration = Duration::from_secs(10);
const ANSWER_MAX: Duration = Duration::from_millis(50);

/// Blobs that may stay for a while: what a device sends to itself to notice its copies.
const MARKERS_MAX: u64 = 2;

/// A page of the window, and how long it rests between two looks.
const PAGE_ROWS: usize = 50;
const LOOK_EVERY: Duration = Duration::from_millis(16);

pub(crate) async fn measure(report: &mut Report) {
    let relay = OpenRelay::start().await;
    let Pair { homes, devices } = Pair::start(&relay).await;
    let author = keys_of(&homes[0]).identities()[0].secrets.clone();
    let recipient = devices[1].engine.me().keys.noise;
    for device in &devices {
        device.engine.close().await;
    }
    let (mut times, mut answers) = (Vec::new(), Vec::new());
    let (mut stored, mut next) = (0, 0);
    let mut largest_log = 0;
    for round in 1..=ROUNDS {
        let count = WAITING / PUSH_SESSIONS;
        // A number is used once: a round may take less than a millisecond for each.
        let first = (homes[0].clock.now_ms()).max(next);
        next = first + WAITING as u64;
        let fills = (0..PUSH_SESSIONS as u64).map(|part| {
            let envelopes = sealed(&author, recipient, first + part * count as u64, count);
            let relay = &relay;
            async move { relay.fill(recipient, &envelopes).await }
        });
        let before = relay.blobs();
        for fill in fills {
            fill.await;
        }
        assert_eq!(relay.blobs(), before + WAITING as u64);
        stored += WAITING as u64;
        let begin = Instant::now();
        let device = homes[1].start(None).await;
        let database = homes[1].database();
        let log = look_until(&device.engine, &database, stored, &mut answers).await;
        largest_log = largest_log.max(log);
        times.push(begin.elapsed());
        while relay.blobs() > before + MARKERS_MAX {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        device.engine.close().await;
        progress(&format!(
            "catch-up, round {round} of {ROUNDS}: {:.2} s",
            times.last().unwrap().as_secs_f64()
        ));
    }
    let name = format!("catch-up of {WAITING} messages of 300 B");
    report.time(&name, CATCH_UP_MAX, median(&mut times));
    report.note(
        "  the window's questions meanwhile, p50",
        median(&mut answers),
    );
    let slow = percentile(&mut answers, 99);
    report.time("  the window's questions meanwhile, p99", ANSWER_MAX, slow);
    let slowest = percentile(&mut answers, 100);
    report.time(
        "  the window's questions meanwhile, the slowest",
        ANSWER_MAX,
        slowest,
    );
    report.size(
        "  the log meanwhile, the largest",
        LOG_BYTES_MAX,
        largest_log,
    );
}

/// Asks what the window shows until all is there, and notes how long each answer took. Returns
/// the largest size of the log that was seen.
async fn look_until(
    engine: &Engine,
    database: &Path,
    stored: u64,
    answers: &mut Vec<Duration>,
) -> u64 {
    let mut largest = 0;
    loop {
        largest = largest.max(log_bytes(database));
        let begin = Instant::now();
        let page = engine.messages_before(None, PAGE_ROWS).await.unwrap();
        answers.push(begin.elapsed());
        assert!(page.len() <= PAGE_ROWS);
        let begin = Instant::now();
        let unread = engine.unread().await.unwrap();
        answers.push(begin.elapsed());
        let begin = Instant::now();
        let _ = engine.status();
        answers.push(begin.elapsed());
        if unread >= stored {
            return largest;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
