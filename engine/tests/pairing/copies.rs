//! Profiles that were copied or restored, through a real relay.

use std::fs;

use sealpost_engine::Engine;
use sealpost_engine::core::issue::DeliveryIssue;

use super::devices::{Home, TestRelay, pair, until};

/// Whether an issue is on the list of a device.
async fn has(engine: &Engine, issue: &DeliveryIssue) -> bool {
    let listed = engine.delivery_issues(100).await.unwrap();
    listed.iter().any(|stored| stored.issue == *issue)
}

async fn until_either_has(engines: [&Engine; 2], issue: &DeliveryIssue) {
    for _ in 0..12_000 {
        if has(engines[0], issue).await || has(engines[1], issue).await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("nobody was told");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_store_says_so_and_loses_nothing_that_is_sent_from_it() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    a.engine.close().await;
    let backup = fs::read(home_a.database()).unwrap();
    let a = home_a.start(None).await;
    a.engine.send_text("before").await.unwrap();
    b.until_received(1).await;
    a.engine.close().await;
    assert!(!has_restored(&home_a).await, "nothing happened yet");
    fs::write(home_a.database(), backup).unwrap();
    let a = home_a.start(None).await;
    assert!(has(&a.engine, &DeliveryIssue::StoreRestored).await);
    a.engine.send_text("after").await.unwrap();
    b.until_received(2).await;
    assert_eq!(b.history().await.1, ["before", "after"]);
}

async fn has_restored(home: &Home) -> bool {
    let engine = home.try_open(None).await.unwrap();
    let is_told = has(&engine, &DeliveryIssue::StoreRestored).await;
    engine.close().await;
    is_told
}

#[tokio::test(flavor = "multi_thread")]
async fn two_copies_that_run_at_once_are_told_whatever_was_copied() {
    for with_keys in [false, true] {
        let relay = TestRelay::start().await;
        let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
        let a = home_a.start(Some(relay.address())).await;
        let b = home_b.start(Some(relay.address())).await;
        pair(&a, &b).await;
        a.engine.close().await;
        let home_copy = home_a.copy(with_keys);
        let a = home_a.start(None).await;
        until("the first one is connected", || {
            a.engine.connection() == sealpost_engine::core::status::Connection::Connected
        })
        .await;
        let copy = home_copy.start(None).await;
        let is_behind = has(&copy.engine, &DeliveryIssue::StoreRestored).await;
        assert_eq!(is_behind, !with_keys, "keys in common tell at once");
        until_either_has([&a.engine, &copy.engine], &DeliveryIssue::DeviceCopied).await;
        // Each may write, and the peer gets all of it.
        a.engine.send_text("from the first").await.unwrap();
        b.until_received(1).await;
        copy.engine.send_text("from the copy").await.unwrap();
        b.until_received(2).await;
        assert_eq!(b.history().await.1, ["from the first", "from the copy"]);
    }
}
