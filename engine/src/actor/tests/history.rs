//! Calls that rest on a row of the history.

use sealpost_protocol::frame::Refusal;

use super::*;
use crate::core::message::{DeliveryState, MessageHandle};
use crate::core::step::{PushId, PushOutcome};
use crate::engine::Engine;
use crate::history::PAGE_ROWS_MAX;

/// A call on the first message of the history, as `delete_message` and `retry` make it.
fn stored_call(
    run: fn(&mut crate::core::device::Device, MessageHandle, u64) -> Result<(), EngineError>,
) -> (Input, Receiver<Result<(), EngineError>>) {
    let (answered, answer) = mpsc::channel();
    let call = Input::StoredCall(Box::new(move |store, device, now_ms| {
        let result = match store.message_handle(1)? {
            Some(message) => run(device, message, now_ms),
            None => Err(EngineError::MemberNotFound),
        };
        Ok(Box::new(move |committed: Result<(), EngineError>| {
            answered.send(result.and(committed)).unwrap_or_default();
        }))
    }));
    (call, answer)
}

fn retrying_call() -> (Input, Receiver<Result<(), EngineError>>) {
    stored_call(|device, message, now_ms| device.handle_retry(message, now_ms).map(drop))
}

fn deleting_call() -> (Input, Receiver<Result<(), EngineError>>) {
    stored_call(|device, message, _| {
        device.handle_delete_message(message);
        Ok(())
    })
}

/// An actor with one message, which failed at the only other member.
fn with_failed_message(home: &Home) -> Actor {
    let mut actor = still_member(home);
    let (call, answer) = sending_call(b"one");
    actor.turn(Some(call));
    assert_eq!(answer.recv_timeout(SOON).unwrap(), Ok(()));
    let refused = PushOutcome::Refused(Refusal::Malformed);
    for push in 1..9 {
        let device = &mut actor.group.device;
        device.handle_push_outcome(PushId(push), refused, NOW_MS, &mut OsRng);
    }
    actor.turn(None);
    assert_eq!(actor.group.store.outbox_copies(), Ok(0));
    actor
}

#[tokio::test]
async fn of_two_retries_at_once_the_second_finds_nothing_to_send() {
    let home = Home::new();
    let mut actor = with_failed_message(&home);
    let (first, first_answer) = retrying_call();
    let (second, second_answer) = retrying_call();
    actor.shared.input(second);
    actor.turn(Some(first));
    assert_eq!(first_answer.recv_timeout(SOON).unwrap(), Ok(()));
    let refused = Err(EngineError::MemberNotFound);
    assert_eq!(second_answer.recv_timeout(SOON).unwrap(), refused);
    assert_eq!(actor.group.store.outbox_copies(), Ok(1));
}

#[tokio::test]
async fn a_retry_after_a_delete_sends_nothing() {
    let home = Home::new();
    let mut actor = with_failed_message(&home);
    let (delete, deleted) = deleting_call();
    let (retry, retried) = retrying_call();
    actor.shared.input(retry);
    actor.turn(Some(delete));
    assert_eq!(deleted.recv_timeout(SOON).unwrap(), Ok(()));
    let refused = Err(EngineError::MemberNotFound);
    assert_eq!(retried.recv_timeout(SOON).unwrap(), refused);
    assert_eq!(actor.group.store.outbox_copies(), Ok(0));
}

#[tokio::test]
async fn a_delete_after_a_retry_knows_its_copies() {
    let home = Home::new();
    let mut actor = with_failed_message(&home);
    let (retry, retried) = retrying_call();
    let (delete, deleted) = stored_call(|device, message, _| {
        assert_eq!(message.ids.len(), 2);
        assert!(message.failed.is_empty());
        device.handle_delete_message(message);
        Ok(())
    });
    actor.shared.input(delete);
    actor.turn(Some(retry));
    assert_eq!(retried.recv_timeout(SOON).unwrap(), Ok(()));
    assert_eq!(deleted.recv_timeout(SOON).unwrap(), Ok(()));
    assert_eq!(actor.group.store.message_handle(1), Ok(None));
}

#[tokio::test]
async fn a_copy_that_goes_out_once_more_shows_as_sending() {
    let home = Home::new();
    let mut actor = with_failed_message(&home);
    let (retry, retried) = retrying_call();
    actor.turn(Some(retry));
    assert_eq!(retried.recv_timeout(SOON).unwrap(), Ok(()));
    let store = &actor.group.store;
    let rows = store.messages_after(0, 9).unwrap();
    assert_eq!(rows[0].deliveries[0].state, DeliveryState::Waiting);
    let rows = with_sending(rows, store, &actor.group.device).unwrap();
    assert_eq!(rows[0].deliveries[0].state, DeliveryState::Sending);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_issue_is_listed_however_many_pages_they_fill() {
    const MANY: u64 = 2 * PAGE_ROWS_MAX as u64 + 500;
    let home = Home::new();
    let mut group = Group::open(&options(&home), NOW_MS).unwrap();
    let issue = |at_ms| Change::IssueAdded {
        at_ms,
        issue: DeliveryIssue::Unauthorized,
    };
    let changes: Vec<Change> = (1..=MANY).map(issue).collect();
    group.store.apply(&changes, None).unwrap();
    drop(group);
    let engine = Engine::open(options(&home)).await.unwrap();
    for (limit, expected) in [(usize::MAX, MANY), (1_500, 1_500), (1_000, 1_000), (0, 0)] {
        let listed = engine.delivery_issues(limit).await.unwrap();
        let newest_first: Vec<u64> = listed.iter().map(|issue| issue.at_ms).collect();
        let wanted: Vec<u64> = (1..=MANY)
            .rev()
            .take(usize::try_from(expected).unwrap())
            .collect();
        assert_eq!(newest_first, wanted);
    }
    engine.close().await;
}
