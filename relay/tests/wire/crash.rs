//! The real program, killed while pushes are in flight: what was acknowledged is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use sealpost_protocol::key::NoisePublic;
use sealpost_relay::key_file;

use crate::client::{Said, Session, device, envelope, number_of};
use crate::program::{Running, run_command};

const ROUNDS: u64 = 6;
const SENDERS: u64 = 4;
const RECIPIENTS: u8 = 3;

/// Numbers of one recipient: what was acknowledged, and what was sent at all.
#[derive(Default)]
struct Ledger {
    acknowledged: BTreeMap<u8, BTreeSet<u64>>,
    sent: BTreeMap<u8, BTreeSet<u64>>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_blob_is_lost_when_the_relay_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    for round in 0..ROUNDS {
        let mut running = start(folder.path());
        let key = key_file::load(&folder.path().join("data/keypair.hex"))
            .unwrap()
            .public();
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let first = (round * SENDERS + sender) * 1_000_000;
                tokio::spawn(push_until_killed(running.push_port, key, first))
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(60 + round * 40)).await;
        running.child.kill().unwrap();
        running.child.wait().unwrap();
        for sender in senders {
            let (acknowledged, sent) = sender.await.unwrap();
            merge(&mut ledger.acknowledged, acknowledged);
            merge(&mut ledger.sent, sent);
        }
    }
    let acknowledged: usize = ledger.acknowledged.values().map(BTreeSet::len).sum();
    assert!(
        acknowledged > 100,
        "the test has pushed something ({acknowledged})"
    );
    check_deliveries(folder.path(), &ledger).await;
}

fn start(folder: &Path) -> Running {
    let mut command = run_command(folder);
    command
        .env("TRUESEAL_RELAY_PUSH_RATE", "1000000")
        .env("TRUESEAL_RELAY_PUSH_BURST", "1000000");
    command.env("TRUESEAL_RELAY_INBOX_MAX_BLOBS", "10000000");
    Running::start(&mut command)
}

type Numbers = BTreeMap<u8, BTreeSet<u64>>;

/// Keeps 16 pushes in flight to changing recipients until the connection breaks.
async fn push_until_killed(port: u16, key: NoisePublic, first: u64) -> (Numbers, Numbers) {
    let (mut acknowledged, mut sent) = (Numbers::new(), Numbers::new());
    let Ok(mut session) = Session::push_to(port, key).await else {
        return (acknowledged, sent);
    };
    let recipient_of = |number: u64| (number % u64::from(RECIPIENTS)) as u8;
    for number in first.. {
        let to = recipient_of(number);
        sent.entry(to).or_default().insert(number);
        let bytes = 50 + (number % 40) as usize * 100;
        let recipient = device(to).public();
        if session
            .say_push(recipient, &envelope(number, bytes))
            .await
            .is_err()
        {
            break;
        }
        let Some(answered) = number.checked_sub(16).filter(|answered| *answered >= first) else {
            continue;
        };
        match session.hear().await {
            Ok(answer) => assert_eq!(answer, Said::Ack),
            Err(_) => break,
        }
        acknowledged
            .entry(recipient_of(answered))
            .or_default()
            .insert(answered);
    }
    (acknowledged, sent)
}

fn merge(all: &mut Numbers, more: Numbers) {
    for (to, numbers) in more {
        all.entry(to).or_default().extend(numbers);
    }
}

/// Every acknowledged blob arrives at its recipient, once, in each sender's order; nothing
/// arrives that was not sent to it.
async fn check_deliveries(folder: &Path, ledger: &Ledger) {
    let running = start(folder);
    let key = key_file::load(&folder.join("data/keypair.hex"))
        .unwrap()
        .public();
    for to in 0..RECIPIENTS {
        let mut session = Session::receive_from(running.receive_port, key, &device(to))
            .await
            .unwrap();
        let mut missing = ledger.acknowledged[&to].clone();
        let mut last_of_sender = BTreeMap::new();
        while !missing.is_empty() {
            let (_, delivered) = session.hear_blob().await;
            let number = number_of(&delivered);
            assert!(
                ledger.sent[&to].contains(&number),
                "a blob of somebody else"
            );
            let last = last_of_sender.insert(number / 1_000_000, number);
            assert!(
                last.is_none_or(|last| last < number),
                "repeated or out of order"
            );
            missing.remove(&number);
        }
    }
}
