//! Real engines on a relay that does what it likes: what it can't do, and that what is left
//! to it is to delay and to drop.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that can't go on has failed"
)]

use std::sync::Arc;
use std::time::Duration;

use rand_core::OsRng;
use sealpost_engine::clock::SteppedClock;
use sealpost_engine::core::issue::HandlerError;
use sealpost_engine::core::status::Status;
use sealpost_engine::keys::MemoryStore;
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::ProfileId;
use sealpost_engine::{BoxFuture, Engine, OpenOptions};
use sealpost_protocol::frame::Refusal;
use sealpost_tests::hostile_relay::{Answer, Disturbance, HostileRelay};

/// A condition that hasn't come true by then never will.
const PATIENCE: Duration = Duration::from_secs(60);
/// Looks of [`until`] between two attempts to connect, about a second.
const LOOKS_PER_RECONNECT: u32 = 200;
const START_MS: u64 = 1_790_812_800_000;
const HOUR_MS: u64 = 60 * 60 * 1_000;
const DAY_MS: u64 = 24 * HOUR_MS;
/// Where an Envelope's version stands.
const VERSION_AT: usize = 35;

async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect(what);
}

/// As [`until`], while sessions are started afresh: the clocks stand, so only that ends a
/// delay. They get a while to come up on a busy machine.
async fn until_reconnected(engine: &Engine, what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let mut looks = 0;
    until(what, async || {
        if looks % LOOKS_PER_RECONNECT == 0 {
            engine.reconnect();
        }
        looks += 1;
        condition().await
    })
    .await;
}

struct Device {
    engine: Engine,
    clock: Arc<SteppedClock>,
    _directory: tempfile::TempDir,
}

/// SQLCipher takes itself down when the process of the tests ends, under whatever thread still
/// uses a store: so none is left behind.
impl Drop for Device {
    fn drop(&mut self) {
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| runtime.block_on(self.engine.close()));
    }
}

impl Device {
    async fn start(name: &str, relay: &HostileRelay) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(SteppedClock::new(START_MS));
        let options = OpenOptions {
            directory: directory.path().to_owned(),
            namespace: Namespace::parse("group").unwrap(),
            profile_id: ProfileId::generate(&mut OsRng),
            relay: Some(relay.address().unwrap()),
            device_name: name.to_owned(),
            key_store: Arc::new(MemoryStore::new()),
            clock: clock.clone(),
            max_payload_bytes: None,
        };
        let engine = Engine::open(options).await.unwrap();
        let take = |_| -> BoxFuture<Result<(), HandlerError>> { Box::pin(async { Ok(()) }) };
        engine.on_message(take).unwrap();
        Self {
            engine,
            clock,
            _directory: directory,
        }
    }

    /// The texts of others, in the order of the history.
    async fn shown(&self) -> Vec<String> {
        let rows = self.engine.messages_after(0, 1_000).await.unwrap();
        rows.iter()
            .filter(|row| !row.own)
            .map(|row| row.content.text().unwrap().to_owned())
            .collect()
    }

    /// Waits, while the computer seems to sleep now and then: that gives up a session at once
    /// that looks alive, and for whose silence no test waits.
    async fn until_woken(&self, what: &str, mut condition: impl AsyncFnMut() -> bool) {
        let mut looks = 0;
        until(what, async || {
            if looks % LOOKS_PER_RECONNECT == 0 {
                self.clock.advance(HOUR_MS);
                self.engine.wake();
                self.engine.reconnect();
            }
            looks += 1;
            condition().await
        })
        .await;
    }

    async fn issues(&self, code: &str) -> usize {
        let issues = self.engine.delivery_issues(1_000).await.unwrap();
        issues
            .iter()
            .filter(|stored| stored.issue.code() == code)
            .count()
    }

    async fn until_shown(&self, texts: &[&str]) {
        until("the texts are shown", async || {
            self.shown().await.len() >= texts.len()
        })
        .await;
        assert_eq!(self.shown().await, texts);
    }
}

/// Two members of a group, and a third device that is in none.
struct Scene {
    relay: HostileRelay,
    a: Device,
    b: Device,
}

impl Scene {
    async fn new() -> Self {
        let relay = HostileRelay::start().await.unwrap();
        let a = Device::start("Laptop", &relay).await;
        let b = Device::start("Phone", &relay).await;
        let token = a.engine.start_pairing().await.unwrap();
        b.engine.join(token).await.unwrap();
        let request = || {
            let window = a.engine.pairing().window?;
            window.requests.first().map(|request| request.id)
        };
        until("a request arrives", async || request().is_some()).await;
        a.engine.accept(request().unwrap()).await.unwrap();
        until("the joiner is a member", async || {
            b.engine.status() == Status::Member
        })
        .await;
        until("the joiner knows its words", async || {
            let join = b.engine.pairing().join;
            join.is_none_or(|join| join.words.is_some())
        })
        .await;
        b.engine.confirm_words().await.unwrap();
        let scene = Self { relay, a, b };
        scene.a.engine.send_text("first").await.unwrap();
        scene.b.until_shown(&["first"]).await;
        scene
    }

    /// What a text is sealed to, kept back by the relay.
    async fn caught(&self, text: &str) -> Vec<u8> {
        self.relay.forward(false);
        let before = self.relay.pushed().len();
        self.a.engine.send_text(text).await.unwrap();
        until("it is pushed", async || self.relay.pushed().len() > before).await;
        self.relay.forward(true);
        self.relay.pushed().last().unwrap().1.clone()
    }

    /// Delivers to the reader and waits for its acknowledgement.
    async fn deliver(&self, envelope: Vec<u8>) {
        let blob = self.relay.deliver(self.b.engine.me().keys.noise, envelope);
        until("it is acknowledged", async || {
            self.relay.acknowledged().contains(&blob)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_repeated_is_shown_once_and_what_is_changed_never() {
    let scene = Scene::new().await;
    let second = scene.caught("second").await;
    let third = scene.caught("third").await;
    for _ in 0..3 {
        scene.deliver(second.clone()).await;
    }
    // Another body under the head of a message, and every part of it damaged.
    let mut swapped = second.clone();
    swapped[70..].copy_from_slice(&vec![7; second.len() - 70]);
    scene.deliver(swapped).await;
    let mut crossed = third.clone();
    crossed[38..70].copy_from_slice(&second[38..70]);
    scene.deliver(crossed).await;
    scene.deliver(third[..third.len() - 1].to_vec()).await;
    scene.deliver(vec![0xff; 100]).await;
    scene.deliver(third).await;
    scene.b.until_shown(&["first", "second", "third"]).await;
    assert_eq!(scene.b.issues("unreadable.malformed").await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_readdressed_is_read_by_nobody() {
    let scene = Scene::new().await;
    let kept = scene.caught("for the phone alone").await;
    let author = scene.a.engine.me().keys.noise;
    // As it is, and under the other device's own key.
    let mut renamed = kept.clone();
    renamed[2..34].copy_from_slice(author.as_bytes());
    for envelope in [kept, renamed] {
        let blob = scene.relay.deliver(author, envelope);
        until("it is acknowledged", async || {
            scene.relay.acknowledged().contains(&blob)
        })
        .await;
    }
    assert_eq!(scene.a.shown().await, Vec::<String>::new());
    assert_eq!(scene.a.issues("unreadable.malformed").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_replayed_after_59_or_61_days_is_not_shown_again() {
    let scene = Scene::new().await;
    let second = scene.caught("second").await;
    scene.deliver(second.clone()).await;
    scene.b.until_shown(&["first", "second"]).await;
    scene.b.clock.advance(59 * DAY_MS);
    scene.b.engine.wake();
    scene.deliver(second.clone()).await;
    assert_eq!(scene.b.issues("unreadable.expired").await, 0);
    scene.b.clock.advance(2 * DAY_MS);
    scene.b.engine.wake();
    scene.deliver(second).await;
    // A jump of the clock may begin a new session, to which it is delivered once more.
    assert!(scene.b.issues("unreadable.expired").await >= 1);
    scene.b.until_shown(&["first", "second"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invented_ack_costs_that_message_and_no_other() {
    let scene = Scene::new().await;
    scene.relay.answer_with(Answer::AckAndDrop);
    let before = scene.relay.pushed().len();
    scene.a.engine.send_text("dropped").await.unwrap();
    until("it is pushed", async || scene.relay.pushed().len() > before).await;
    until("the outbox is empty", async || {
        scene.a.engine.outbox_copies().await.unwrap() == 0
    })
    .await;
    scene.relay.answer_with(Answer::HangUp);
    scene.a.engine.send_text("later").await.unwrap();
    scene.relay.answer_with(Answer::Refuse(Refusal::InboxFull));
    scene.a.engine.reconnect();
    scene.relay.answer_with(Answer::Ack);
    until_reconnected(&scene.a.engine, "the rest arrives", async || {
        scene.b.shown().await.len() == 2
    })
    .await;
    scene.b.until_shown(&["first", "later"]).await;
    // An Ack too many confirms nothing that wasn't pushed. It is the last one: a push that
    // followed in time would take it for its own, and be the message that it costs.
    scene.relay.answer_with(Answer::TwoAcks);
    scene.a.engine.send_text("twice").await.unwrap();
    scene.b.until_shown(&["first", "later", "twice"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invented_newer_versions_are_held_in_bounds_and_said() {
    let scene = Scene::new().await;
    let kept = scene.caught("second").await;
    let reader = scene.b.engine.me().keys.noise;
    let mut blobs = Vec::new();
    for number in 0..130_u8 {
        let mut newer = kept.clone();
        newer[VERSION_AT] = 9;
        newer[40] = number;
        blobs.push(scene.relay.deliver(reader, newer));
    }
    let (oldest, held) = blobs.split_at(30);
    until("the oldest give way", async || {
        let taken = scene.relay.acknowledged();
        oldest.iter().all(|blob| taken.contains(blob))
    })
    .await;
    let taken = scene.relay.acknowledged();
    assert!(held.iter().all(|blob| !taken.contains(blob)));
    // Each that gave way may have been a message, and is said.
    assert_eq!(scene.b.issues("unreadable.droppedWhileHeld").await, 30);
    assert_eq!(scene.b.issues("heldForUpgrade").await, 1);
    // What this device can read passes them.
    scene.deliver(kept).await;
    scene.b.until_shown(&["first", "second"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_frames_and_great_lengths_cost_a_session_and_no_message() {
    let scene = Scene::new().await;
    let reader = scene.b.engine.me().keys.noise;
    let disturbances = [
        Disturbance::WrongFrames,
        Disturbance::Garbage,
        Disturbance::LengthWithoutBytes,
        Disturbance::HalfADelivery,
        Disturbance::EmptyRecord,
        Disturbance::EmptyDelivery,
    ];
    let mut texts = vec!["first".to_owned()];
    for disturbance in disturbances {
        let sessions = scene.relay.sessions();
        scene.relay.disturb(reader, disturbance);
        scene
            .b
            .until_woken("the device comes again", async || {
                scene.relay.sessions() > sessions
            })
            .await;
        let text = format!("after {disturbance:?}");
        scene.a.engine.send_text(&text).await.unwrap();
        texts.push(text);
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        scene.b.until_shown(&texts).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_delayed_and_reordered_is_shown_once_in_the_order_of_the_relay() {
    let scene = Scene::new().await;
    let second = scene.caught("second").await;
    let third = scene.caught("third").await;
    let fourth = scene.caught("fourth").await;
    scene.b.clock.advance(29 * DAY_MS);
    scene.b.engine.wake();
    for envelope in [&fourth, &second, &fourth, &third, &second] {
        scene.deliver(envelope.clone()).await;
    }
    let texts = ["first", "fourth", "second", "third"];
    scene.b.until_shown(&texts).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_blobs_that_lie_change_nothing() {
    let scene = Scene::new().await;
    let reader = scene.b.engine.me().keys.noise;
    // One number for two messages, two numbers for one, the greatest and the smallest.
    let second = scene.caught("second").await;
    let third = scene.caught("third").await;
    let deliveries = [(u64::MAX, &second), (u64::MAX, &third), (0, &second)];
    for (blob, envelope) in deliveries {
        let before = scene.relay.acknowledged().len();
        scene.relay.deliver_as(reader, blob, envelope.clone());
        until("it is acknowledged", async || {
            let acknowledged = scene.relay.acknowledged();
            acknowledged.len() > before && acknowledged.contains(&blob)
        })
        .await;
    }
    scene.b.until_shown(&["first", "second", "third"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_delivered_in_every_session_is_shown_once() {
    let scene = Scene::new().await;
    scene.relay.forget_acknowledgements(true);
    scene.a.engine.send_text("second").await.unwrap();
    scene.b.until_shown(&["first", "second"]).await;
    for _ in 0..3 {
        let before = scene.relay.acknowledged().len();
        scene
            .b
            .until_woken("it is acknowledged again", async || {
                scene.relay.acknowledged().len() > before
            })
            .await;
    }
    scene.a.engine.send_text("third").await.unwrap();
    scene.b.until_shown(&["first", "second", "third"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_none_leave_a_message_in_the_outbox() {
    let scene = Scene::new().await;
    let mut texts = vec!["first".to_owned()];
    let answers = [
        Answer::WrongFrame,
        Answer::Garbage,
        Answer::HalfAnAck,
        Answer::EmptyRecord,
    ];
    for answer in answers {
        scene.relay.answer_with(answer);
        let before = scene.relay.pushed().len();
        let text = format!("under {answer:?}");
        scene.a.engine.send_text(&text).await.unwrap();
        until("it is pushed", async || scene.relay.pushed().len() > before).await;
        assert_eq!(scene.a.engine.outbox_copies().await.unwrap(), 1);
        scene.relay.answer_with(Answer::Ack);
        texts.push(text);
        until_reconnected(&scene.a.engine, "it arrives", async || {
            scene.b.shown().await.len() == texts.len()
        })
        .await;
        assert_eq!(scene.b.shown().await, texts);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ack_before_its_push_is_an_invented_one() {
    let scene = Scene::new().await;
    scene.relay.answer_with(Answer::AckBeforehand);
    // A new session, which begins with the Ack.
    scene.a.engine.reconnect();
    let before = scene.relay.pushed().len();
    scene.a.engine.send_text("dropped or late").await.unwrap();
    until("it is pushed", async || scene.relay.pushed().len() > before).await;
    scene.relay.answer_with(Answer::Ack);
    scene.a.engine.send_text("later").await.unwrap();
    until_reconnected(&scene.a.engine, "the other arrives", async || {
        scene.b.shown().await.iter().any(|text| text == "later")
    })
    .await;
    // Whether the Ack is taken for that of the push is a matter of who is faster; nothing is
    // shown twice, and nothing else is lost.
    let shown = scene.b.shown().await;
    let others: Vec<_> = shown
        .iter()
        .filter(|text| *text != "dropped or late")
        .collect();
    assert_eq!(others, ["first", "later"]);
    assert!(shown.len() <= 3, "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_lies_is_said_to_the_sender() {
    let scene = Scene::new().await;
    for (refusal, code) in [
        (Refusal::TooLarge, "sendFailed.tooLarge"),
        (Refusal::Malformed, "sendFailed.malformed"),
    ] {
        scene.relay.answer_with(Answer::Refuse(refusal));
        scene.a.engine.send_text("refused").await.unwrap();
        until("the sender is told", async || {
            scene.a.issues(code).await == 1
        })
        .await;
        scene.relay.answer_with(Answer::Ack);
    }
    scene.a.engine.send_text("second").await.unwrap();
    scene.b.until_shown(&["first", "second"]).await;
}
