//! What a window asks of a group's history: search, surroundings, drafts, deleting and sending
//! once more. And what all of it leaves in the log of the database.

use std::sync::Arc;

use sealpost_engine::clock::{Clock, SteppedClock, SystemClock};
use sealpost_engine::core::error::EngineError;
use sealpost_engine::core::issue::SendFailure;
use sealpost_engine::core::message::DeliveryState;
use sealpost_engine::history::DRAFT_BYTES_MAX;
use sealpost_protocol::message_id::MessageId;

use crate::devices::{Device, Home, TestRelay, pair, until};
use crate::is_on_relay;

const DAY_MS: u64 = 24 * 3_600_000;
const HOUR_MS: u64 = 3_600_000;

fn stepped() -> Arc<SteppedClock> {
    Arc::new(SteppedClock::new(SystemClock.now_ms()))
}

async fn state(device: &Device, id: MessageId) -> DeliveryState {
    let message = device.engine.message(id).await.unwrap().unwrap();
    message.deliveries[0].state
}

async fn positions(device: &Device, text: &str) -> Vec<u64> {
    let hits = device.engine.search(text, None, 100).await.unwrap();
    hits.iter().map(|hit| hit.message.position).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_is_searched_paged_and_jumped_into() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    for number in 0..30 {
        let text = format!("Straße {number} 東京");
        a.engine.send_text(&text).await.unwrap();
    }
    b.until_received(30).await;
    for device in [&a, &b] {
        let engine = &device.engine;
        assert_eq!(engine.message_count().await.unwrap(), 30);
        let all: Vec<u64> = (1..=30).rev().collect();
        assert_eq!(positions(device, "STRASSE").await, all);
        assert_eq!(positions(device, "京").await, all);
        assert_eq!(positions(device, "29 strasse").await, [30]);
        assert!(positions(device, "  ").await.is_empty());
        let page = engine.search("straße", Some(11), 4).await.unwrap();
        let page: Vec<u64> = page.iter().map(|hit| hit.message.position).collect();
        assert_eq!(page, [10, 9, 8, 7]);
        let around = engine.messages_around(10, 2, 3).await.unwrap();
        let around: Vec<u64> = around.iter().map(|message| message.position).collect();
        assert_eq!(around, [8, 9, 10, 11, 12]);
    }
    b.engine.delete_message(30).await.unwrap();
    b.engine.delete_message(30).await.unwrap();
    assert!(positions(&b, "29 strasse").await.is_empty());
    assert_eq!(b.engine.message_count().await.unwrap(), 29);
    assert_eq!(
        positions(&a, "29 strasse").await,
        [30],
        "only on this device"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_message_is_sent_once_more_and_a_waiting_one_is_taken_back() {
    let mut relay = TestRelay::start().await;
    let (mut home_a, mut home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let clock = stepped();
    home_a.clock = Arc::<SteppedClock>::clone(&clock);
    home_b.clock = Arc::<SteppedClock>::clone(&clock);
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    relay.stop().await;
    let failed = a.engine.send_text("once more").await.unwrap();
    let early = a.engine.retry(failed).await;
    assert_eq!(early, Err(EngineError::MemberNotFound), "it waits still");
    clock.advance(31 * DAY_MS);
    a.engine.wake();
    let expired = DeliveryState::Failed(SendFailure::Expired);
    while state(&a, failed).await != expired {
        // A copy that is being tried is spared until the next sweep, an hour later.
        clock.advance(HOUR_MS);
        a.engine.wake();
        tokio::task::yield_now().await;
    }
    let taken_back = a.engine.send_text("never mind").await.unwrap();
    let position = a
        .engine
        .message(taken_back)
        .await
        .unwrap()
        .unwrap()
        .position;
    // Nobody answers, so that a copy that was tried waits again.
    while state(&a, taken_back).await == DeliveryState::Sending {
        tokio::task::yield_now().await;
    }
    a.engine.delete_message(position).await.unwrap();
    assert!(a.engine.message(taken_back).await.unwrap().is_none());
    a.engine.retry(failed).await.unwrap();
    assert!(matches!(
        state(&a, failed).await,
        DeliveryState::Waiting | DeliveryState::Sending
    ));
    // The engine that goes on after a restart knows which message the copy is of.
    a.engine.close().await;
    let a = home_a.start(None).await;
    relay.resume().await;
    b.engine.reconnect();
    a.engine.reconnect();
    b.until_received(1).await;
    until("the handler ran", || b.handled() == ["once more"]).await;
    while !is_on_relay(&a, failed).await {
        tokio::task::yield_now().await;
    }
    assert_eq!(a.engine.outbox_copies().await.unwrap(), 0);
    assert_eq!(a.engine.message_count().await.unwrap(), 1);
    assert_eq!(b.engine.message_count().await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_kept_within_a_bound_and_over_a_restart() {
    let home = Home::new("Laptop");
    let engine = home.try_open(None).await.unwrap();
    assert_eq!(engine.draft().await.unwrap(), "");
    engine
        .set_draft("half a sentence".to_owned())
        .await
        .unwrap();
    engine.close().await;
    let engine = home.try_open(None).await.unwrap();
    assert_eq!(engine.draft().await.unwrap(), "half a sentence");
    // Cut at a letter, not inside one.
    engine.set_draft("ä".repeat(DRAFT_BYTES_MAX)).await.unwrap();
    let kept = engine.draft().await.unwrap();
    assert_eq!(kept, "ä".repeat(DRAFT_BYTES_MAX / 2));
    engine.set_draft(String::new()).await.unwrap();
    assert_eq!(engine.draft().await.unwrap(), "");
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_stays_small_in_a_day_of_traffic() {
    // What is promised; what a day writes is more than the second number, and the log is never
    // larger than that.
    const LOG_BYTES_MAX: u64 = 64 * 1_024 * 1_024;
    const SMALL: u64 = 8 * 1_024 * 1_024;
    const SENDS_PER_HOUR: u64 = 12;
    const TEXT_BYTES: usize = 20_000;

    let relay = TestRelay::start().await;
    let (mut home_a, mut home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let clock = stepped();
    home_a.clock = Arc::<SteppedClock>::clone(&clock);
    home_b.clock = Arc::<SteppedClock>::clone(&clock);
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    let log = |home: &Home| {
        let mut path = home.database().into_os_string();
        path.push("-wal");
        std::fs::metadata(path).map_or(0, |found| found.len())
    };
    let (mut largest, mut sent) = (0, 0);
    for _ in 0..24 * SENDS_PER_HOUR {
        clock.advance(HOUR_MS / SENDS_PER_HOUR);
        a.engine.wake();
        b.engine.wake();
        a.engine.send_text(&"x".repeat(TEXT_BYTES)).await.unwrap();
        sent += 1;
        a.engine.set_draft("y".repeat(TEXT_BYTES)).await.unwrap();
        b.engine.mark_read(sent).await.unwrap();
        b.engine.dismiss_issue(sent).await.unwrap();
        largest = largest.max(log(&home_a)).max(log(&home_b));
    }
    let written = sent * TEXT_BYTES as u64 * 3;
    assert!(written > 2 * SMALL, "{written}");
    assert!(largest <= SMALL && SMALL < LOG_BYTES_MAX, "{largest}");
}
