//! How long `send` takes: with a relay, without one, and behind a full outbox.

use std::path::Path;
use std::time::{Duration, Instant};

use sealpost_engine::Engine;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::NoisePublic;

use crate::bystander::{OpenRelay, Pair, body};
use crate::devices::Home;
use crate::report::Report;
use crate::{ROUNDS, append, median, progress};

/// Sends of each kind in a turn, and turns in a round: what is compared takes turns.
const SENDS: usize = 10;
const TURNS: usize = 10;

/// Nobody sends faster than this by hand, and the answer of the relay is written meanwhile.
const PAUSE: Duration = Duration::from_millis(5);

const OUTBOX_ROWS: u64 = 100_000;
const SENDERS_AT_ONCE: usize = 64;

const SEND_MAX: f64 = 2.0;
const FULL_OUTBOX_MAX: f64 = 2.0;
const START_MAX: Duration = Duration::from_secs(2);

/// The senders that are compared.
struct Senders {
    online: Engine,
    empty: Engine,
    full: Engine,
}

#[derive(Default)]
struct Times {
    appends: Vec<Duration>,
    online: Vec<Duration>,
    empty: Vec<Duration>,
    full: Vec<Duration>,
    starts_empty: Vec<Duration>,
    starts_full: Vec<Duration>,
}

pub(crate) async fn measure(report: &mut Report) {
    let relay = OpenRelay::start().await;
    let online = Pair::start(&relay).await;
    let (empty, full) = (Pair::start(&relay).await, Pair::start(&relay).await);
    for pair in [&online, &empty, &full] {
        pair.devices[1].engine.close().await;
    }
    for pair in [&empty, &full] {
        let engine = &pair.devices[0].engine;
        engine.set_relay(nowhere()).await.unwrap();
    }
    progress(&format!("filling an outbox with {OUTBOX_ROWS} rows"));
    fill(&full.devices[0].engine).await;
    let folder = online.homes[0].database();
    let folder = folder.parent().unwrap();
    let mut senders = Senders {
        online: online.devices[0].engine.clone(),
        empty: empty.devices[0].engine.clone(),
        full: full.devices[0].engine.clone(),
    };
    let mut times = Times::default();
    for round in 1..=ROUNDS {
        for _ in 0..TURNS {
            turn(folder, &senders, &mut times).await;
        }
        senders.empty = restart(&senders.empty, &empty.homes[0], &mut times.starts_empty).await;
        senders.full = restart(&senders.full, &full.homes[0], &mut times.starts_full).await;
        progress(&format!("sending, round {round} of {ROUNDS}"));
    }
    for engine in [&senders.online, &senders.empty, &senders.full] {
        engine.close().await;
    }
    tell(report, times);
}

fn tell(report: &mut Report, mut times: Times) {
    let floor = median(&mut times.appends);
    let (online, empty) = (median(&mut times.online), median(&mut times.empty));
    let full = median(&mut times.full);
    report.note("append of 300 B + fdatasync (F), p50", floor);
    report.ratio("send, to F, p50", SEND_MAX, online, floor);
    report.ratio("send without a relay, to F, p50", SEND_MAX, empty, floor);
    let name = format!("send behind {OUTBOX_ROWS} rows, to an empty outbox, p50");
    report.ratio(&name, FULL_OUTBOX_MAX, full, empty);
    report.note("start, empty outbox, p50", median(&mut times.starts_empty));
    let name = format!("start, {OUTBOX_ROWS} rows in the outbox, p50");
    report.time(&name, START_MAX, median(&mut times.starts_full));
}

/// A relay that nobody runs: its port refuses.
fn nowhere() -> RelayAddress {
    RelayAddress::new(NoisePublic::from_bytes([9; 32]), "127.0.0.1", 1, 2).unwrap()
}

async fn fill(engine: &Engine) {
    let each = OUTBOX_ROWS / SENDERS_AT_ONCE as u64;
    let senders: Vec<_> = (0..SENDERS_AT_ONCE)
        .map(|_| {
            let engine = engine.clone();
            tokio::spawn(async move {
                for _ in 0..=each {
                    engine.send(body()).await.unwrap();
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    assert!(engine.outbox_copies().await.unwrap() >= OUTBOX_ROWS);
}

async fn turn(folder: &Path, senders: &Senders, times: &mut Times) {
    for _ in 0..SENDS {
        append(folder, &mut times.appends);
        // It made a file longer; whatever is synced right after it waits for that as well.
        tokio::time::sleep(PAUSE).await;
        send(&senders.online, &mut times.online).await;
        send(&senders.empty, &mut times.empty).await;
        send(&senders.full, &mut times.full).await;
    }
}

async fn send(engine: &Engine, times: &mut Vec<Duration>) {
    let body = body();
    let begin = Instant::now();
    engine.send(body).await.unwrap();
    times.push(begin.elapsed());
    tokio::time::sleep(PAUSE).await;
}

async fn restart(engine: &Engine, home: &Home, times: &mut Vec<Duration>) -> Engine {
    engine.close().await;
    let begin = Instant::now();
    let engine = home.try_open(None).await.unwrap();
    engine.unread().await.unwrap();
    times.push(begin.elapsed());
    engine
}
