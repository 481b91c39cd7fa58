//! Requests to mailboxes in the batches of pushes.

use bytes::Bytes;
use sealpost_protocol::link::key::{Direction, MailboxId};
use tokio::sync::oneshot;

use super::super::mailbox_table::Answer;
use super::super::{MailboxError, PutRoom};
use super::tests::{put, writer};
use super::*;
use crate::mailbox::{
    Claimed, EnvelopeDigest, MailboxAccess, Making, Refusal, Stored, TokenDigest,
};

type Outcome<T> = oneshot::Receiver<Result<T, MailboxError>>;

fn access(mailbox: u8) -> MailboxAccess {
    MailboxAccess {
        mailbox: MailboxId::from_bytes([mailbox; 16]),
        token: TokenDigest::from_bytes([7; 32]),
    }
}

fn claim(mailbox: u8) -> (Write, Outcome<Claimed>) {
    let (answer, outcome) = Answer::new();
    let order = MailboxOrder::Claim {
        access: access(mailbox),
        making: Making::Below(100),
        answer,
    };
    (Write::Mailbox(order, 1_000), outcome)
}

fn store(mailbox: u8, sequence: u64) -> (Write, Outcome<Stored>) {
    let (answer, outcome) = Answer::new();
    let envelope = Bytes::from(vec![mailbox; 400]);
    let order = MailboxOrder::Store {
        access: access(mailbox),
        direction: Direction::AToB,
        sequence,
        digest: EnvelopeDigest::of(&envelope).unwrap(),
        envelope,
        room: PutRoom::uncounted(),
        answer,
    };
    (Write::Mailbox(order, 1_000), outcome)
}

fn erase(mailbox: u8) -> (Write, Outcome<()>) {
    let (answer, outcome) = Answer::new();
    let access = access(mailbox);
    (
        Write::Mailbox(MailboxOrder::Erase { access, answer }, 1_000),
        outcome,
    )
}

/// Adds to a batch and hands back where the answer will be.
fn add<T>(batch: &mut Batch, (write, outcome): (Write, T)) -> T {
    batch.add(write);
    outcome
}

/// Pushes and requests of many phones share one transaction, and later ones of a batch see
/// what earlier ones have done.
#[test]
fn everything_queued_shares_a_commit_and_nothing_is_answered_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut writer, orders) = writer(&folder.path().join("inbox.db"));
    let mut claims = Vec::new();
    let mut stores = Vec::new();
    for mailbox in 0..20 {
        let (write, outcome) = claim(mailbox);
        orders.send(Order::Write(write)).unwrap();
        claims.push(outcome);
        for sequence in 1..=2 {
            let (write, outcome) = store(mailbox, sequence);
            orders.send(Order::Write(write)).unwrap();
            stores.push(outcome);
        }
    }
    let (write, mut ticket) = put(&writer, 300);
    orders.send(Order::Write(write)).unwrap();
    let collected = writer.collect(Batch::default(), 0, Tidiness::Tidy);
    let Collected::Batch(batch) = collected else {
        panic!("a batch was expected")
    };
    assert_eq!((batch.waited_for(), batch.additions()), (61, 61));
    assert!(stores.iter_mut().all(|outcome| outcome.try_recv().is_err()));
    assert!(writer.commit(batch).is_empty());
    assert!(ticket.try_outcome().is_some());
    assert!(
        claims
            .iter_mut()
            .all(|outcome| outcome.try_recv().unwrap().unwrap().is_new)
    );
    assert!(
        stores
            .iter_mut()
            .all(|outcome| outcome.try_recv().unwrap().unwrap().is_new)
    );
}

#[test]
fn a_commit_that_fails_has_changed_nothing_and_says_so_to_everybody() {
    let folder = tempfile::tempdir().unwrap();
    let (mut writer, _orders) = writer(&folder.path().join("inbox.db"));
    let mut batch = Batch::default();
    let mut first = add(&mut batch, claim(1));
    assert!(writer.commit(batch).is_empty());
    assert!(first.try_recv().unwrap().is_ok());
    let rename = |writer: &Writer, from: &str, to: &str| {
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        writer.connection.execute_batch(&sql).unwrap();
    };
    rename(&writer, "envelopes", "elsewhere");
    let mut batch = Batch::default();
    let mut made = add(&mut batch, claim(2));
    let mut touched = add(&mut batch, claim(1));
    let mut stored = add(&mut batch, store(1, 5));
    let mut erased = add(&mut batch, erase(2));
    assert!(writer.commit(batch).is_empty());
    let is_failure = |error: Option<MailboxError>| matches!(error, Some(MailboxError::Store(_)));
    assert!(is_failure(made.try_recv().unwrap().err()));
    assert!(is_failure(touched.try_recv().unwrap().err()));
    assert!(is_failure(stored.try_recv().unwrap().err()));
    assert!(is_failure(erased.try_recv().unwrap().err()));
    rename(&writer, "elsewhere", "envelopes");
    let mut batch = Batch::default();
    let mut made = add(&mut batch, claim(2));
    let mut stored = add(&mut batch, store(1, 5));
    let mut other = add(&mut batch, store(3, 1));
    assert!(writer.commit(batch).is_empty());
    assert!(
        made.try_recv().unwrap().unwrap().is_new,
        "it wasn't made before"
    );
    let stored = stored.try_recv().unwrap().unwrap();
    assert_eq!(
        (stored.is_new, stored.head.last, stored.head.count),
        (true, Some(5), 1)
    );
    let refused = MailboxError::Refused(Refusal::NoMailbox);
    assert_eq!(other.try_recv().unwrap().unwrap_err(), refused);
}

/// A disk that is full stays full if nobody gets to take anything away, and every device claims
/// its mailbox first.
#[test]
fn while_nothing_may_be_added_a_claim_of_what_is_there_goes_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inbox.db");
    let (mut writer, _orders) = writer(&path);
    let mut batch = Batch::default();
    let mut first = add(&mut batch, claim(1));
    assert!(writer.commit(batch).is_empty());
    assert!(first.try_recv().unwrap().unwrap().is_new);
    writer.disk = DiskFloor::new(&path, 1 << 60);
    let mut batch = Batch::default();
    let mut own = add(&mut batch, claim(1));
    let mut new = add(&mut batch, claim(2));
    let mut stored = add(&mut batch, store(1, 1));
    assert!(writer.commit(batch).is_empty());
    assert!(!own.try_recv().unwrap().unwrap().is_new);
    let refused = MailboxError::Refused(Refusal::NoRoom);
    assert_eq!(new.try_recv().unwrap().unwrap_err(), refused);
    let full = MailboxError::Store(StoreError::DiskFull);
    assert_eq!(stored.try_recv().unwrap().unwrap_err(), full);
    assert!(writer.is_failing, "a claim is no sign that there is room");
    writer.disk = DiskFloor::new(&path, 0);
    let mut batch = Batch::default();
    let mut new = add(&mut batch, claim(2));
    assert!(writer.commit(batch).is_empty());
    assert!(new.try_recv().unwrap().unwrap().is_new);
    assert!(!writer.is_failing);
}
