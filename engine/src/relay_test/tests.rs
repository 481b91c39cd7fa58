use std::future::pending;
use std::sync::Arc;

use sealpost_protocol::key::NoiseSecret;
use sealpost_protocol::version::PREFIX_BYTES;
use sealpost_relay::{Config, Relay, SystemClock};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::session::tests::FakeRelay;

/// How a test ended, and what it told: of each step its last state, in the order told.
async fn tested(
    address: &RelayAddress,
) -> (
    Result<(), (RelayStep, RelayStepFailure)>,
    Vec<RelayStepReport>,
) {
    let mut told: Vec<RelayStepReport> = Vec::new();
    let ended = test_relay(address, |report| {
        match (report.state, told.last()) {
            (RelayStepState::Running, last) => {
                assert!(last.is_none_or(|last| last.state != RelayStepState::Running));
            }
            (RelayStepState::Skipped, _) => {}
            // Nothing ends that hasn't begun.
            (_, last) => {
                assert_eq!(last.unwrap().step, report.step);
                assert_eq!(told.pop().unwrap().state, RelayStepState::Running);
            }
        }
        told.push(report);
    })
    .await;
    (ended, told)
}

/// Checks that the test fails in `step` for `failure`, and what is told of every step.
async fn fails(address: &RelayAddress, step: RelayStep, failure: RelayStepFailure) {
    let (ended, told) = tested(address).await;
    assert_eq!(ended, Err((step, failure)));
    let steps: Vec<RelayStep> = told.iter().map(|report| report.step).collect();
    assert_eq!(steps, RelayStep::ALL);
    for report in told {
        match report.state {
            RelayStepState::Passed { .. } => assert!(report.step < step),
            RelayStepState::Failed { failure: told, .. } => {
                assert_eq!((report.step, told), (step, failure));
            }
            RelayStepState::Skipped => assert!(report.step > step),
            RelayStepState::Running => panic!("{:?} never ended", report.step),
        }
    }
}

fn not_reached(failure: ConnectFailure) -> RelayStepFailure {
    RelayStepFailure::NotReached(failure)
}

/// An address where one caller is answered with these bytes after its greeting.
async fn answering(bytes: Vec<u8>) -> RelayAddress {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = vec![0; PREFIX_BYTES + 2 + 32];
        stream.read_exact(&mut hello).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
    });
    let key = NoiseSecret::from_bytes([7; 32]).public();
    RelayAddress::new(key, "127.0.0.1", port, port).unwrap()
}

#[tokio::test]
async fn a_relay_that_works_passes_every_step_and_keeps_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let config = Config {
        store_path: directory.path().join("inbox.db"),
        listen_receive: "127.0.0.1:0".parse().unwrap(),
        listen_push: "127.0.0.1:0".parse().unwrap(),
        listen_health: None,
        ..Config::default()
    };
    let key = NoiseSecret::generate(&mut OsRng);
    let relay = Relay::start(config, key, Arc::new(SystemClock))
        .await
        .unwrap();
    let address = relay.address("localhost").unwrap();
    let (ended, told) = tested(&address).await;
    assert_eq!(ended, Ok(()));
    let steps: Vec<RelayStep> = told.iter().map(|report| report.step).collect();
    assert_eq!(steps, RelayStep::ALL);
    assert!(
        told.iter()
            .all(|report| matches!(report.state, RelayStepState::Passed { .. }))
    );
    // The relay has read the acknowledgement; it commits what it read by itself.
    let kept = || relay.numbers().blobs;
    for _ in 0..2_000 {
        if kept() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(kept(), 0);
    relay.stop().await;
}

#[tokio::test]
async fn a_name_that_nobody_has_fails_in_the_first_step() {
    let key = NoiseSecret::from_bytes([7; 32]).public();
    let address = RelayAddress::new(key, "sealpost-test.invalid", 7700, 7701).unwrap();
    let failure = not_reached(ConnectFailure::NameNotFound);
    fails(&address, RelayStep::LookUp, failure).await;
}

#[tokio::test]
async fn ports_where_nothing_listens_are_told_apart() {
    let relay = FakeRelay::new().await;
    let address = relay.address();
    let FakeRelay { key, receive, push } = relay;
    drop(push);
    let serving = tokio::spawn(async move {
        // The listener of the push port is gone for good.
        let push = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let relay = FakeRelay { key, receive, push };
        let mut session = relay.accept_receive().await;
        let _ = session.read().await;
    });
    let refused = not_reached(ConnectFailure::Refused);
    fails(&address, RelayStep::Push, refused).await;
    serving.await.unwrap();
    fails(&address, RelayStep::Connect, refused).await;
}

#[tokio::test]
async fn what_is_no_relay_of_this_version_fails_as_protocol() {
    let page = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
    let foreign = not_reached(ConnectFailure::SomethingElse);
    fails(&page, RelayStep::Protocol, foreign).await;
    let silent = answering(Vec::new()).await;
    fails(&silent, RelayStep::Protocol, foreign).await;
    let newer = answering(b"unsupported 2..3\n".to_vec()).await;
    let unsupported = RelayStepFailure::VersionUnsupported { min: 2, max: 3 };
    fails(&newer, RelayStep::Protocol, unsupported).await;
}

#[tokio::test]
async fn another_key_fails_as_key_and_is_shown_none() {
    let relay = FakeRelay::new().await;
    let address = relay.address_with_another_key();
    let wrong = not_reached(ConnectFailure::WrongKey);
    tokio::join!(
        fails(&address, RelayStep::Key, wrong),
        relay.accept_and_see_no_key()
    );
}

#[tokio::test]
async fn a_refused_blob_fails_as_push_with_the_refusal() {
    let relay = FakeRelay::new().await;
    let address = relay.address();
    let serve = async {
        let _receive = relay.accept_receive().await;
        let mut push = relay.accept_push().await;
        push.read().await.unwrap();
        push.send(&Frame::Error(Refusal::Unavailable)).await;
        let _ = push.read().await;
    };
    let refused = RelayStepFailure::Refused(Refusal::Unavailable);
    tokio::join!(fails(&address, RelayStep::Push, refused), serve);
}

#[tokio::test]
async fn a_blob_that_comes_back_changed_fails_as_receive() {
    let relay = FakeRelay::new().await;
    let address = relay.address();
    let serve = async {
        let mut receive = relay.accept_receive().await;
        let mut push = relay.accept_push().await;
        push.read().await.unwrap();
        push.send(&Frame::Ack).await;
        let changed = Frame::Deliver {
            blob_id: 1,
            envelope: b"changed",
        };
        receive.send(&changed).await;
        let _ = receive.read().await;
    };
    let changed = not_reached(ConnectFailure::SomethingElse);
    tokio::join!(fails(&address, RelayStep::Receive, changed), serve);
}

#[tokio::test(start_paused = true)]
async fn no_step_takes_longer_than_its_time() {
    let key = NoiseSecret::from_bytes([7; 32]).public();
    let address = RelayAddress::new(key, "localhost", 7700, 7701).unwrap();
    for step in RelayStep::ALL {
        let mut took = None;
        let mut test = RelayTest::new(&address, RELAY_TEST_STEP_MAX, |report| {
            if let RelayStepState::Failed { took: time, .. } = report.state {
                took = Some(time);
            }
        });
        let (failed, failure) = test.step::<()>(step, pending()).await.unwrap_err();
        assert_eq!(failed, step);
        let expected = match step {
            RelayStep::LookUp => not_reached(ConnectFailure::NameNotFound),
            RelayStep::Receive => RelayStepFailure::NotDelivered,
            _ => not_reached(ConnectFailure::NoAnswer),
        };
        assert_eq!(failure, expected);
        assert_eq!(took, Some(RELAY_TEST_STEP_MAX));
    }
}

#[test]
fn every_failure_has_a_code_of_its_own() {
    let refusals = [
        Refusal::TooLarge,
        Refusal::Malformed,
        Refusal::InboxFull,
        Refusal::RateLimited,
        Refusal::Unavailable,
        Refusal::InternalError,
    ];
    let mut codes: Vec<&str> = refusals
        .map(|refusal| RelayStepFailure::Refused(refusal).code())
        .to_vec();
    codes.push(RelayStepFailure::VersionUnsupported { min: 2, max: 2 }.code());
    codes.push(RelayStepFailure::NotDelivered.code());
    codes.push(not_reached(ConnectFailure::Unavailable).code());
    codes.sort_unstable();
    let count = codes.len();
    codes.dedup();
    assert_eq!(codes.len(), count);
}
