//! The real program, killed at random while pushes and deliveries are in flight: what was
//! acknowledged is there, for its recipient alone, and in order.
//!
//! `SEALPOST_CRASH_ROUNDS` kills more often; `SEALPOST_CRASH_SEED` repeats the moments and
//! sizes of a run, though not what the system makes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use rand_core::{OsRng, RngCore};
use sealpost_protocol::key::NoisePublic;
use sealpost_relay::key_file;

use crate::client::{Said, Session, device, envelope, number_of};
use crate::program::{Running, run_command};
use crate::test_relay::wait_until;

const ROUNDS: u64 = 8;
const SENDERS: u64 = 4;
const RECIPIENTS: u8 = 4;

/// This recipient is there while the relay is killed, and acknowledges half of what it gets.
const TAKER: u8 = 0;

/// Numbers of one sender in one round.
const NUMBERS_PER_SENDER: u64 = 1_000_000;

/// Acknowledgements of a round; fewer would show little.
const ACKNOWLEDGED_PER_ROUND_MIN: usize = 250;

/// Unanswered pushes of a sender, as many as a device keeps.
const IN_FLIGHT: u64 = 32;

type Numbers = BTreeMap<u8, BTreeSet<u64>>;

/// What was acknowledged, what was sent at all, and what its recipient was given, each by
/// recipient.
#[derive(Default)]
struct Ledger {
    acknowledged: Numbers,
    sent: Numbers,
    delivered: Numbers,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_blob_is_lost_when_the_relay_is_killed() {
    let rounds = number_from("SEALPOST_CRASH_ROUNDS").unwrap_or(ROUNDS);
    let seed = number_from("SEALPOST_CRASH_SEED").unwrap_or_else(|| OsRng.next_u64());
    println!("SEALPOST_CRASH_SEED={seed} SEALPOST_CRASH_ROUNDS={rounds}");
    let mut dice = Dice::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    for round in 0..rounds {
        run_and_kill(folder.path(), round, &mut dice, &mut ledger).await;
    }
    let acknowledged = count(&ledger.acknowledged);
    println!("{acknowledged} acknowledged in {rounds} rounds");
    let expected = rounds as usize * ACKNOWLEDGED_PER_ROUND_MIN;
    assert!(acknowledged >= expected, "only {acknowledged} were pushed");
    drain(folder.path(), &mut ledger).await;
    for (to, acknowledged) in &ledger.acknowledged {
        let lost: Vec<_> = acknowledged.difference(&ledger.delivered[to]).collect();
        assert!(lost.is_empty(), "lost by recipient {to}: {lost:?}");
    }
}

async fn run_and_kill(folder: &Path, round: u64, dice: &mut Dice, ledger: &mut Ledger) {
    let mut running = start(folder);
    let key = relay_key(folder);
    let answered = Arc::new(AtomicUsize::new(0));
    let senders: Vec<_> = (0..SENDERS)
        .map(|sender| {
            let first = (round * SENDERS + sender) * NUMBERS_PER_SENDER;
            let dice = Dice::new(dice.next());
            let answered = Arc::clone(&answered);
            tokio::spawn(push_until_killed(
                running.push_port,
                key,
                first,
                dice,
                answered,
            ))
        })
        .collect();
    let taker = tokio::spawn(take_until_killed(running.receive_port, key));
    // A slow disk gets as far as a fast one, only later.
    let enough = ACKNOWLEDGED_PER_ROUND_MIN + dice.next() as usize % ACKNOWLEDGED_PER_ROUND_MIN;
    wait_until("enough is acknowledged", || {
        answered.load(Relaxed) >= enough
    })
    .await;
    tokio::time::sleep(Duration::from_millis(dice.next() % 300)).await;
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    for sender in senders {
        let (acknowledged, sent) = sender.await.unwrap();
        merge(&mut ledger.acknowledged, acknowledged);
        merge(&mut ledger.sent, sent);
    }
    let taken = taker.await.unwrap();
    assert_sent_to(ledger, TAKER, &taken);
    ledger.delivered.entry(TAKER).or_default().extend(taken);
}

fn start(folder: &Path) -> Running {
    let mut command = run_command(folder);
    command
        .env("TRUESEAL_RELAY_PUSH_RATE", "1000000")
        .env("TRUESEAL_RELAY_PUSH_BURST", "1000000");
    command.env("TRUESEAL_RELAY_INBOX_MAX_BLOBS", "10000000");
    Running::start(&mut command)
}

/// The key is made by the first start and stays the same over every kill.
fn relay_key(folder: &Path) -> NoisePublic {
    let key = key_file::load(&folder.join("data/keypair.hex"));
    key.unwrap().public()
}

/// Keeps pushes in flight to changing recipients until the connection breaks.
async fn push_until_killed(
    port: u16,
    key: NoisePublic,
    first: u64,
    mut dice: Dice,
    counter: Arc<AtomicUsize>,
) -> (Numbers, Numbers) {
    let (mut acknowledged, mut sent) = (Numbers::new(), Numbers::new());
    let Ok(mut session) = Session::push_to(port, key).await else {
        return (acknowledged, sent);
    };
    let recipient_of = |number: u64| (number % u64::from(RECIPIENTS)) as u8;
    for number in first.. {
        let to = recipient_of(number);
        sent.entry(to).or_default().insert(number);
        // Mostly small, and now and then as large as they come.
        let bytes = match dice.next() % 32 {
            0 => 61_000,
            _ => dice.next() % 4_000,
        };
        let blob = envelope(number, bytes as usize);
        if session.say_push(device(to).public(), &blob).await.is_err() {
            break;
        }
        let Some(answered) = number.checked_sub(IN_FLIGHT).filter(|n| *n >= first) else {
            continue;
        };
        match session.hear().await {
            Ok(answer) => assert_eq!(answer, Said::Ack),
            Err(_) => break,
        }
        let to = recipient_of(answered);
        acknowledged.entry(to).or_default().insert(answered);
        counter.fetch_add(1, Relaxed);
    }
    (acknowledged, sent)
}

/// Receives until the connection breaks, and acknowledges every other blob.
async fn take_until_killed(port: u16, key: NoisePublic) -> BTreeSet<u64> {
    let mut taken = BTreeSet::new();
    let Ok(mut session) = Session::receive_from(port, key, &device(TAKER)).await else {
        return taken;
    };
    let mut order = Order::default();
    while let Ok(said) = session.hear().await {
        let Said::Deliver(blob_id, blob) = said else {
            panic!("a blob was expected, not {said:?}");
        };
        let number = number_of(&blob);
        order.assert_next(blob_id, number);
        taken.insert(number);
        let acknowledgement = sealpost_protocol::frame::Frame::DeliverAck { blob_id };
        if taken.len() % 2 == 0 && session.say(&acknowledgement).await.is_err() {
            break;
        }
    }
    taken
}

/// Takes everything that waits, to the last blob, so that also what shouldn't be there shows.
async fn drain(folder: &Path, ledger: &mut Ledger) {
    let running = start(folder);
    let key = relay_key(folder);
    for to in 0..RECIPIENTS {
        let mut session = Session::receive_from(running.receive_port, key, &device(to))
            .await
            .unwrap();
        let mut delivered = BTreeSet::new();
        let mut order = Order::default();
        // A sender whose last push was not answered in time has stored it all the same, so
        // the end is the end of the inbox and not of the ledger.
        let last = close_inbox(&running, key, to).await;
        loop {
            let (blob_id, blob) = session.hear_blob().await;
            let number = number_of(&blob);
            if number == last {
                break;
            }
            order.assert_next(blob_id, number);
            delivered.insert(number);
        }
        assert_sent_to(ledger, to, &delivered);
        ledger.delivered.entry(to).or_default().extend(delivered);
    }
}

/// Pushes a last blob behind everything that waits.
async fn close_inbox(running: &Running, key: NoisePublic, to: u8) -> u64 {
    let mut session = Session::push_to(running.push_port, key).await.unwrap();
    let last = envelope(u64::MAX, 8);
    assert_eq!(session.store(device(to).public(), &last).await, Said::Ack);
    u64::MAX
}

/// Arrival order within one session: ids grow, and each sender's numbers too.
#[derive(Default)]
struct Order {
    last_id: Option<u64>,
    last_of_sender: BTreeMap<u64, u64>,
}

impl Order {
    fn assert_next(&mut self, blob_id: u64, number: u64) {
        let last = self.last_id.replace(blob_id);
        assert!(last.is_none_or(|last| last < blob_id), "ids out of order");
        let sender = number / NUMBERS_PER_SENDER;
        let last = self.last_of_sender.insert(sender, number);
        assert!(
            last.is_none_or(|last| last < number),
            "{number} is repeated or out of order"
        );
    }
}

fn assert_sent_to(ledger: &Ledger, to: u8, delivered: &BTreeSet<u64>) {
    let nothing = BTreeSet::new();
    let sent = ledger.sent.get(&to).unwrap_or(&nothing);
    let foreign: Vec<_> = delivered.difference(sent).collect();
    assert!(foreign.is_empty(), "recipient {to} got {foreign:?}");
}

fn merge(all: &mut Numbers, more: Numbers) {
    for (to, numbers) in more {
        all.entry(to).or_default().extend(numbers);
    }
}

fn count(numbers: &Numbers) -> usize {
    numbers.values().map(BTreeSet::len).sum()
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a whole number"))
}

/// Xorshift: the same numbers for the same seed everywhere.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
