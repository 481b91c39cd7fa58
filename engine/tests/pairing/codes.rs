//! Pairing codes that don't lead into a group: own, used, closed and replaced ones, through
//! whole engines; and what a joiner knows while it waits.

use sealpost_engine::core::error::EngineError;
use sealpost_engine::core::event::{Event, JoinProgress, JoinRequest, PairingJoin, Spent};
use sealpost_engine::core::status::Status;

use crate::devices::{Device, Home, TestRelay, pair, until};

fn join(device: &Device) -> Option<PairingJoin> {
    device.engine.pairing().join
}

fn progress(device: &Device) -> Option<JoinProgress> {
    join(device).map(|join| join.progress)
}

fn requests(device: &Device) -> Vec<JoinRequest> {
    let window = device.engine.pairing().window;
    window.map(|window| window.requests).unwrap_or_default()
}

fn was_told_stale(device: &Device, wanted: Spent) -> bool {
    device.was_told(|event| matches!(event, Event::StaleRequest { spent, .. } if *spent == wanted))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_own_code_and_a_second_group_are_refused() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    let own = a.engine.start_pairing().await.unwrap();
    assert_eq!(
        a.engine.join(own).await,
        Err(EngineError::InvalidPairingToken)
    );
    assert!(a.engine.pairing().window.is_some(), "nothing changed");
    pair(&a, &b).await;
    let token = a.engine.start_pairing().await.unwrap();
    assert_eq!(
        b.engine.join(token.clone()).await,
        Err(EngineError::AlreadyInGroup)
    );
    b.engine.close().await;
    assert_eq!(b.engine.join(token).await, Err(EngineError::Closed));
    assert_eq!(
        b.engine.start_pairing().await.map(drop),
        Err(EngineError::Closed)
    );
    assert_eq!(b.engine.cancel_pairing().await, Err(EngineError::Closed));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_with_a_used_or_a_closed_code_is_told_of_and_waits() {
    let relay = TestRelay::start().await;
    let homes = ["Laptop", "Phone", "Tablet"].map(Home::new);
    let a = homes[0].start(Some(relay.address())).await;
    let b = homes[1].start(Some(relay.address())).await;
    let late = homes[2].start(Some(relay.address())).await;
    let used = {
        let token = a.engine.start_pairing().await.unwrap();
        b.engine.join(token.clone()).await.unwrap();
        until("it asks", || !requests(&a).is_empty()).await;
        a.engine.accept(requests(&a)[0].id).await.unwrap();
        token
    };
    let closed = a.engine.start_pairing().await.unwrap();
    a.engine.cancel_pairing().await.unwrap();
    for (token, spent) in [(used, Spent::Accepted), (closed, Spent::Closed)] {
        late.engine.join(token).await.unwrap();
        until("the admitter is told", || was_told_stale(&a, spent)).await;
        until("the relay has it", || {
            progress(&late) == Some(JoinProgress::OnRelay)
        })
        .await;
        assert_eq!(late.engine.status(), Status::PendingJoin);
    }
    assert_eq!(a.engine.members().len(), 1);
    late.engine.cancel_join().await.unwrap();
    assert_eq!(late.engine.status(), Status::NotJoined);
    assert_eq!(join(&late), None);
    // A new code is all that it needs.
    pair(&a, &late).await;
    assert_eq!(a.engine.members().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_joiner_knows_whether_the_relay_has_its_request() {
    let mut relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Phone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    relay.stop().await;
    let token = a.engine.start_pairing().await.unwrap();
    b.engine.join(token.clone()).await.unwrap();
    until("an attempt fails", || {
        b.engine.push_failure().is_some() && progress(&b) == Some(JoinProgress::Queued)
    })
    .await;
    assert_eq!(join(&b).map(|join| join.admitter), Some(token.keys()));
    b.engine.close().await;
    let b = home_b.start(None).await;
    assert_eq!(b.engine.status(), Status::PendingJoin);
    assert_ne!(progress(&b), Some(JoinProgress::OnRelay));
    relay.resume().await;
    until("the relay has it", || {
        progress(&b) == Some(JoinProgress::OnRelay)
    })
    .await;
    until("it asks", || !requests(&a).is_empty()).await;
    a.engine.accept(requests(&a)[0].id).await.unwrap();
    until("it is in", || {
        progress(&b) == Some(JoinProgress::Admitted) && b.engine.status() == Status::Member
    })
    .await;
    b.engine.confirm_words().await.unwrap();
    assert_eq!(join(&b), None);
}
