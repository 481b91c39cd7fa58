//! The end of a group for devices that are offline, and what of it stays.

use std::sync::Arc;

use sealpost_engine::clock::{Clock as _, SteppedClock, SystemClock};
use sealpost_engine::core::event::Event;
use sealpost_engine::core::membership::Cohesion;
use sealpost_engine::core::status::{Status, StatusReason};
use sealpost_engine::core::timing::LEAVING_WARNING_MS;
use sealpost_engine::history::NoteKind;

use crate::devices::{Device, Home, TestRelay, pair, until};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// The relay's view of the clock that the devices share.
struct SharedClock(Arc<SteppedClock>);

impl sealpost_relay::Clock for SharedClock {
    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }
}

/// A relay and devices whose time passes only when it is told to.
async fn relay_and_homes(names: &[&str]) -> (Arc<SteppedClock>, TestRelay, Vec<Home>) {
    let clock = Arc::new(SteppedClock::new(SystemClock.now_ms()));
    let relay = TestRelay::start_with(Arc::new(SharedClock(Arc::clone(&clock)))).await;
    let home = |name: &&str| {
        let mut home = Home::new(name);
        home.clock = Arc::<SteppedClock>::clone(&clock);
        home
    };
    let homes = names.iter().map(home).collect();
    (clock, relay, homes)
}

async fn group_of_three(relay: &TestRelay, homes: &[Home]) -> [Device; 3] {
    let a = homes[0].start(Some(relay.address())).await;
    let b = homes[1].start(Some(relay.address())).await;
    let c = homes[2].start(Some(relay.address())).await;
    pair(&a, &b).await;
    pair(&a, &c).await;
    for device in [&a, &b, &c] {
        until("everybody lists everybody", || {
            device.engine.members().len() == 2
        })
        .await;
    }
    [a, b, c]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_was_offline_for_29_days_is_wiped_when_it_comes_back() {
    let (clock, relay, homes) = relay_and_homes(&["Laptop", "Tablet", "Phone"]).await;
    let [a, b, c] = group_of_three(&relay, &homes).await;
    a.engine.send_text("remember this").await.unwrap();
    c.until_received(1).await;
    let before = c.engine.me().keys;
    c.engine.close().await;
    drop(c);
    a.engine.destroy_group().await.unwrap();
    for device in [&a, &b] {
        until("the devices that are there are wiped", || {
            device.engine.status() == Status::NotJoined
        })
        .await;
    }
    assert!(relay.blobs() > 0, "the news waits for the third");
    clock.advance(29 * DAY_MS);
    let c = homes[2].start(None).await;
    until("it is wiped", || c.engine.status() == Status::NotJoined).await;
    let fresh = c.engine.me().keys;
    assert!(fresh.noise != before.noise && fresh.signing != before.signing);
    until("it is told why", || {
        let why = Some(StatusReason::Destroyed);
        c.was_told(|event| matches!(event, Event::StatusChanged { reason, .. } if *reason == why))
    })
    .await;
    assert_eq!(c.history().await.1, ["remember this"], "the history stays");
    assert_eq!(c.engine.manifest(), None);
    c.engine.close().await;
    let c = homes[2].start(None).await;
    assert_eq!(c.engine.me().keys, fresh);
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_is_warned_of_for_minutes_after_an_admission_and_across_a_restart() {
    let (clock, relay, homes) = relay_and_homes(&["Laptop", "Phone"]).await;
    let a = homes[0].start(Some(relay.address())).await;
    let b = homes[1].start(Some(relay.address())).await;
    assert_eq!(a.engine.leaving_warning().await.unwrap(), None);
    let start_ms = clock.now_ms();
    pair(&a, &b).await;
    a.engine.close().await;
    drop(a);
    let a = homes[0].start(None).await;
    let warning = a.engine.leaving_warning().await.unwrap().unwrap();
    assert_eq!(warning.newcomer, "Phone");
    assert!(!warning.is_me);
    assert_eq!(warning.until_ms, start_ms + LEAVING_WARNING_MS);
    assert!(b.engine.leaving_warning().await.unwrap().unwrap().is_me);
    clock.advance(LEAVING_WARNING_MS);
    assert!(a.engine.leaving_warning().await.unwrap().is_some());
    clock.advance(1);
    assert_eq!(a.engine.leaving_warning().await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_came_and_went_can_be_read_after_the_end_of_the_group() {
    let (_, relay, homes) = relay_and_homes(&["Laptop", "Tablet", "Phone"]).await;
    let [a, b, c] = group_of_three(&relay, &homes).await;
    assert_eq!(a.engine.manifest(), b.engine.manifest());
    assert_eq!(a.engine.cohesion().await.unwrap(), Some(Cohesion::Whole));
    let tablet = b.engine.me().id;
    a.engine.remove(tablet).await.unwrap();
    until("it is wiped", || b.engine.status() == Status::NotJoined).await;
    c.engine.leave().await.unwrap();
    until("the last but one has left", || {
        a.engine.members().is_empty()
    })
    .await;

    let kinds = |notes: &[sealpost_engine::history::StoredNote]| -> Vec<(NoteKind, String)> {
        let lines = notes.iter().map(|stored| {
            let name = stored.note.member.name.as_str().to_owned();
            (stored.note.kind(), name)
        });
        lines.collect()
    };
    let notes = a.engine.membership_history(None, 100).await.unwrap();
    let mut expected = [
        (NoteKind::Left, "Phone"),
        (NoteKind::Removed, "Tablet"),
        (NoteKind::Added, "Phone"),
    ]
    .map(|(kind, name)| (kind, name.to_owned()))
    .to_vec();
    let seen = kinds(&notes);
    assert_eq!(seen[..3], expected);
    expected = seen[3..].to_vec();
    expected.sort();
    assert_eq!(
        expected,
        [
            (NoteKind::Created, "Laptop".to_owned()),
            (NoteKind::Added, "Tablet".to_owned())
        ]
    );
    let older = a
        .engine
        .membership_history(Some(notes[0].position), 2)
        .await;
    assert_eq!(older.unwrap(), notes[1..3]);
    let removal = &notes[1].note;
    assert!(removal.by_me && !removal.is_me);
    assert_eq!(removal.by.as_ref().map(|by| by.version), Some(3));

    // The removed device can still read by whom.
    let notes = b.engine.membership_history(None, 1).await.unwrap();
    let note = &notes[0].note;
    assert!(note.is_me && !note.by_me);
    assert_eq!(note.kind(), NoteKind::Removed);
    let by = note.by.as_ref().and_then(|by| by.name.as_ref());
    assert_eq!(by.map(|name| name.as_str()), Some("Laptop"));
}
