//! One load on one queue: publishers and consumers run, and what they saw becomes numbers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use rand_core::{OsRng, RngCore};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::load::{Load, Pace};
use super::peer::{Consumer, Mark, Peer, Publisher};
use super::process::{Probe, Usage};

/// What comes on top of a load's own time before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// What one load on one queue gave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) per_second: f64,
    /// Seconds from publication to confirmation.
    pub(super) confirm: Spread,
    /// Seconds from publication to delivery; nothing where nobody receives.
    pub(super) deliver: Spread,
    /// Seconds of CPU time of the server per message.
    pub(super) cpu: f64,
    pub(super) syncs: f64,
    pub(super) resident_bytes: f64,
}

/// Latencies in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) worst: f64,
}

/// What one publisher saw of the messages that count.
#[derive(Default)]
struct Seen {
    confirms: Vec<Duration>,
    delivers: Vec<Duration>,
    /// Messages that were done with before the end.
    done: u64,
}

#[derive(Clone, Copy)]
struct Span {
    warm_until: Instant,
    end: Instant,
}

/// The inboxes used so far in this process, so that no two loads share one.
static INBOXES: AtomicU64 = AtomicU64::new(1);

/// Puts `load` on `peer` for as long as `pace` says.
pub(super) async fn measure<P: Peer>(
    peer: &P,
    load: Load,
    pace: Pace,
    probe: &Probe,
) -> anyhow::Result<Cell> {
    let inboxes = u64::try_from(load.inboxes())?;
    let first = INBOXES.fetch_add(inboxes, Ordering::Relaxed);
    let inboxes = first..first + inboxes;
    for inbox in inboxes.clone() {
        peer.make(inbox).await.context("an inbox can't be made")?;
    }
    let limit = pace.warm + pace.run + PATIENCE;
    let cell = tokio::time::timeout(limit, put_on(peer, load, pace, probe, inboxes.clone())).await;
    for inbox in inboxes {
        peer.clear(inbox)
            .await
            .context("an inbox can't be cleared")?;
    }
    cell.context("messages got stuck")?
}

async fn put_on<P: Peer>(
    peer: &P,
    load: Load,
    pace: Pace,
    probe: &Probe,
    inboxes: std::ops::Range<u64>,
) -> anyhow::Result<Cell> {
    let mut consumers = JoinSet::new();
    let mut publishers = Vec::new();
    for inbox in inboxes {
        let mut routes = Vec::new();
        let count = peer.publishers_per_inbox(load);
        for number in 0..count {
            let (route, arrivals) = unbounded_channel();
            routes.push(route);
            let publisher = peer.publisher(inbox).await?;
            publishers.push((u32::try_from(number)?, publisher, arrivals));
        }
        if load.is_online {
            let consumer = peer.consumer(inbox).await?;
            consumers.spawn(consume(consumer, routes));
        }
    }
    let per_publisher = load.in_flight / publishers.len().max(1);
    let start = Instant::now();
    let span = Span {
        warm_until: start + pace.warm,
        end: start + pace.warm + pace.run,
    };
    let mut tasks = JoinSet::new();
    for (number, publisher, arrivals) in publishers {
        tasks.spawn(publish(
            number,
            publisher,
            arrivals,
            load,
            per_publisher,
            span,
        ));
    }
    tokio::time::sleep_until(span.warm_until.into()).await;
    let (before, from) = (probe.usage(), Instant::now());
    tokio::time::sleep_until(span.end.into()).await;
    let (after, to) = (probe.usage(), Instant::now());
    let mut seen = Seen::default();
    loop {
        tokio::select! {
            Some(ended) = tasks.join_next() => seen.add(ended??.0),
            // A consumer ends by itself only when it fails.
            Some(failed) = consumers.join_next(), if !consumers.is_empty() => failed??,
            else => break,
        }
        if tasks.is_empty() {
            break;
        }
    }
    Ok(seen.into_cell(before, after, to - from, pace.run))
}

async fn consume<C: Consumer>(
    mut consumer: C,
    routes: Vec<UnboundedSender<(u64, Instant)>>,
) -> anyhow::Result<()> {
    let mut marks: Vec<Mark> = Vec::new();
    loop {
        consumer.receive(&mut marks).await?;
        let now = Instant::now();
        for mark in marks.drain(..) {
            let route = routes.get(usize::try_from(mark.publisher)?);
            // A publisher that is done with everything has gone.
            let _ = route.context("a foreign message")?.send((mark.number, now));
        }
        consumer.acknowledge().await?;
    }
}

/// A message on its way.
struct Slot {
    at: Instant,
    is_confirmed: bool,
    is_delivered: bool,
}

async fn publish<P: Publisher>(
    name: u32,
    mut publisher: P,
    mut arrivals: UnboundedReceiver<(u64, Instant)>,
    load: Load,
    window: usize,
    span: Span,
) -> anyhow::Result<(Seen, P)> {
    let mut body = vec![0; load.bytes];
    OsRng.fill_bytes(&mut body);
    let mut flight = Flight::new(span, load.is_online);
    let mut confirmed = Vec::new();
    loop {
        while flight.open < window && Instant::now() < span.end {
            let number = flight.launch();
            let mark = Mark {
                publisher: name,
                number,
            };
            mark.write(&mut body);
            publisher.publish(&body).await?;
        }
        publisher.flush().await?;
        if flight.open == 0 {
            // Its connection stays open until everything is counted: the CPU time of a process
            // per connection would go with it.
            return Ok((flight.seen, publisher));
        }
        tokio::select! {
            result = publisher.confirmed(&mut confirmed), if flight.unconfirmed > 0 => {
                result?;
                let now = Instant::now();
                for number in confirmed.drain(..) {
                    flight.confirm(number, now)?;
                }
            }
            Some((number, at)) = arrivals.recv(), if load.is_online => {
                flight.deliver(number, at)?;
                while let Ok((number, at)) = arrivals.try_recv() {
                    flight.deliver(number, at)?;
                }
            }
        }
    }
}

/// The messages of one publisher that are on their way.
struct Flight {
    slots: VecDeque<Slot>,
    /// The number of the first slot.
    first: u64,
    open: usize,
    unconfirmed: usize,
    is_online: bool,
    span: Span,
    seen: Seen,
}

impl Flight {
    fn new(span: Span, is_online: bool) -> Self {
        Self {
            slots: VecDeque::new(),
            first: 0,
            open: 0,
            unconfirmed: 0,
            is_online,
            span,
            seen: Seen::default(),
        }
    }

    fn launch(&mut self) -> u64 {
        let number = self.first + self.slots.len() as u64;
        self.slots.push_back(Slot {
            at: Instant::now(),
            is_confirmed: false,
            is_delivered: !self.is_online,
        });
        self.open += 1;
        self.unconfirmed += 1;
        number
    }

    fn confirm(&mut self, number: u64, now: Instant) -> anyhow::Result<()> {
        let slot = self.slot(number)?;
        anyhow::ensure!(!slot.is_confirmed, "confirmed twice");
        slot.is_confirmed = true;
        let (at, is_done) = (slot.at, slot.is_delivered);
        self.unconfirmed -= 1;
        if self.counts(at) {
            self.seen.confirms.push(now - at);
        }
        self.finish(is_done, now);
        Ok(())
    }

    fn deliver(&mut self, number: u64, now: Instant) -> anyhow::Result<()> {
        let Ok(slot) = self.slot(number) else {
            // At least once is what all of them promise.
            return Ok(());
        };
        if slot.is_delivered {
            return Ok(());
        }
        slot.is_delivered = true;
        let (at, is_done) = (slot.at, slot.is_confirmed);
        if self.counts(at) {
            self.seen.delivers.push(now.saturating_duration_since(at));
        }
        self.finish(is_done, now);
        Ok(())
    }

    fn slot(&mut self, number: u64) -> anyhow::Result<&mut Slot> {
        let index = number.checked_sub(self.first);
        let slot = index.and_then(|index| self.slots.get_mut(usize::try_from(index).ok()?));
        slot.context("a message that isn't on its way")
    }

    fn counts(&self, at: Instant) -> bool {
        at >= self.span.warm_until
    }

    fn finish(&mut self, is_done: bool, now: Instant) {
        if !is_done {
            return;
        }
        self.open -= 1;
        if now >= self.span.warm_until && now < self.span.end {
            self.seen.done += 1;
        }
        while let Some(slot) = self.slots.front() {
            if !(slot.is_confirmed && slot.is_delivered) {
                break;
            }
            self.slots.pop_front();
            self.first += 1;
        }
    }
}

impl Seen {
    fn add(&mut self, mut other: Self) {
        self.confirms.append(&mut other.confirms);
        self.delivers.append(&mut other.delivers);
        self.done += other.done;
    }

    fn into_cell(mut self, before: Usage, after: Usage, watched: Duration, run: Duration) -> Cell {
        let per_second = self.done as f64 / run.as_secs_f64();
        let messages = per_second * watched.as_secs_f64();
        Cell {
            per_second,
            confirm: Spread::of(&mut self.confirms),
            deliver: Spread::of(&mut self.delivers),
            cpu: after.cpu.saturating_sub(before.cpu).as_secs_f64() / messages,
            syncs: after.syncs.saturating_sub(before.syncs) as f64 / messages,
            resident_bytes: after.resident_bytes as f64,
        }
    }
}

impl Spread {
    pub(super) fn of(times: &mut [Duration]) -> Self {
        times.sort_unstable();
        let at = |share: usize| {
            let index = times.len().saturating_sub(1) * share / 100;
            times.get(index).map_or(f64::NAN, Duration::as_secs_f64)
        };
        Self {
            p50: at(50),
            p99: at(99),
            worst: at(100),
        }
    }
}
