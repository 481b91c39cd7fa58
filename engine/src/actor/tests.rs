mod full_outbox;
mod history;
mod pairing;
mod storage;

use std::path::PathBuf;
use std::sync::mpsc;

use super::*;
use crate::clock::SteppedClock;
use crate::core::issue::Unreadable;
use crate::core::status::{Connection, Status};
use crate::engine::{OpenError, OpenOptions};
use crate::keys::{GroupKeys, KeyItem, KeyItemName, KeyStore, KeyStoreError, MemoryStore};
use crate::namespace::Namespace;
use crate::profile::{ProfileId, database_path};
use crate::store::Store;

const SOON: Duration = Duration::from_secs(20);
const NOW_MS: u64 = 1_790_812_800_000;

/// What of a group survives its actor.
struct Home {
    directory: tempfile::TempDir,
    profile: ProfileId,
    keys: Arc<MemoryStore>,
    clock: Arc<SteppedClock>,
}

impl Home {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            profile: ProfileId::generate(&mut OsRng),
            keys: Arc::new(MemoryStore::new()),
            clock: Arc::new(SteppedClock::new(NOW_MS)),
        }
    }

    fn namespace() -> Namespace {
        Namespace::parse("group").unwrap()
    }

    fn database(&self) -> PathBuf {
        database_path(self.directory.path(), &Self::namespace())
    }

    async fn open(&self) -> Result<ActorHandle, OpenError> {
        let key_store: Arc<dyn KeyStore> = Arc::<MemoryStore>::clone(&self.keys);
        let clock: Arc<dyn Clock> = Arc::<SteppedClock>::clone(&self.clock);
        start(OpenOptions {
            directory: self.directory.path().to_owned(),
            namespace: Self::namespace(),
            profile_id: self.profile,
            relay: None,
            device_name: "Laptop".to_owned(),
            key_store,
            clock,
            max_payload_bytes: None,
        })
        .await
    }

    fn item(&self) -> KeyItemName {
        KeyItemName::group(&self.profile, &Self::namespace())
    }

    fn group_keys(&self) -> GroupKeys {
        let item = self.keys.load(&self.item()).unwrap().unwrap();
        GroupKeys::decode(&item, &self.profile).unwrap()
    }

    fn save_keys(&self, keys: &GroupKeys) {
        self.keys
            .save(&self.item(), &keys.encode(&self.profile))
            .unwrap();
    }
}

async fn rename(actor: &ActorHandle, name: String) -> Result<(), EngineError> {
    actor
        .call(move |device, now_ms, _| device.handle_rename_group(&name, now_ms))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_of_a_burst_is_answered() {
    let home = Home::new();
    let actor = Arc::new(home.open().await.unwrap());
    // Holds the actor, so that the calls pile up behind it.
    let (release, released) = mpsc::channel::<()>();
    let holder = Arc::clone(&actor);
    let held = tokio::spawn(async move {
        holder
            .query(move |_, _| Ok(released.recv_timeout(SOON).is_ok()))
            .await
    });
    let calls: Vec<_> = (0..3 * INPUTS_AT_ONCE_MAX)
        .map(|number| {
            let actor = Arc::clone(&actor);
            tokio::spawn(async move { rename(&actor, number.to_string()).await })
        })
        .collect();
    tokio::task::yield_now().await;
    release.send(()).unwrap();
    assert_eq!(held.await.unwrap(), Ok(true));
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(()));
    }
}

async fn fill_disk(actor: &ActorHandle, is_full: bool) {
    let filled = actor.query(move |store, _| {
        store.fill_disk(is_full);
        Ok(())
    });
    filled.await.unwrap();
}

#[tokio::test]
async fn a_full_disk_refuses_what_it_can_not_keep_and_recovers() {
    let home = Home::new();
    let actor = home.open().await.unwrap();
    rename(&actor, "before".to_owned()).await.unwrap();
    fill_disk(&actor, true).await;
    let (answered, answer) = mpsc::channel();
    actor.shared_input(Input::Call(Box::new(move |device, now_ms, _| {
        // Enough rows to need another page.
        (0..200).for_each(|_| device.handle_bad_frame(now_ms));
        Box::new(move |committed| answered.send(committed).unwrap())
    })));
    let refused = Err(EngineError::Storage(StorageFault::Full));
    assert_eq!(answer.recv_timeout(SOON).unwrap(), refused);
    assert_eq!(
        actor.query(|store, _| store.issues(None, 9)).await.unwrap(),
        Vec::new()
    );
    assert_eq!(actor.view().group_name.as_deref(), Some("before"));
    fill_disk(&actor, false).await;
    rename(&actor, "after".to_owned()).await.unwrap();
    assert_eq!(actor.view().group_name.as_deref(), Some("after"));
}

#[tokio::test]
async fn an_identity_changes_in_the_order_that_leaves_no_gap() {
    let home = Home::new();
    let mut group = Group::open(&options(&home), NOW_MS).unwrap();
    let before = group.device.keys();
    let fresh = sealpost_protocol::key::DeviceSecrets::generate(&mut OsRng);
    let step = || Step {
        changes: vec![Change::GroupWiped, Change::IdentityReplaced(fresh.clone())],
        effects: Vec::new(),
    };
    // The key store doesn't take the new one: nothing changes.
    home.keys.fail_with(Some(KeyStoreError::Locked));
    assert_eq!(group.commit(&step()).err(), Some(StorageFault::Unavailable));
    home.keys.fail_with(None);
    group.restore(NOW_MS).unwrap();
    assert_eq!(group.device.keys(), before);
    assert_eq!(home.group_keys().identities().len(), 1);

    group.commit(&step()).unwrap();
    group.restore(NOW_MS).unwrap();
    assert_eq!(group.device.keys(), fresh.keys());
    assert_eq!(home.group_keys().identities().len(), 1);
    drop(group);
    let group = Group::open(&options(&home), NOW_MS).unwrap();
    assert_eq!(group.device.keys(), fresh.keys());
}

fn options(home: &Home) -> OpenOptions {
    let key_store: Arc<dyn KeyStore> = Arc::<MemoryStore>::clone(&home.keys);
    OpenOptions {
        directory: home.directory.path().to_owned(),
        namespace: Home::namespace(),
        profile_id: home.profile,
        relay: None,
        device_name: "Laptop".to_owned(),
        key_store,
        clock: Arc::<SteppedClock>::clone(&home.clock),
        max_payload_bytes: None,
    }
}

#[tokio::test]
async fn a_start_finishes_a_change_of_identity_on_the_side_that_the_store_names() {
    let home = Home::new();
    let actor = home.open().await.unwrap();
    let me = actor.view().me.keys;
    actor.close().await;
    // Interrupted after the first of the three writes: the new one was never used.
    let mut keys = home.group_keys();
    let first = keys.identities()[0].id;
    let secrets = sealpost_protocol::key::DeviceSecrets::generate(&mut OsRng);
    let second = keys.add_identity(&first, secrets.clone(), &mut OsRng);
    home.save_keys(&keys);
    let actor = home.open().await.unwrap();
    assert_eq!(actor.view().me.keys, me);
    assert!(home.group_keys().identity(&second).is_none());
    actor.close().await;
    // Interrupted after the second: the store names the new one.
    home.save_keys(&keys);
    let mut store = Store::open(&home.database(), keys.database_key(), &first).unwrap();
    let changes = [Change::IdentityReplaced(secrets.clone())];
    store.apply(&changes, Some(&second)).unwrap();
    drop(store);
    let actor = home.open().await.unwrap();
    assert_eq!(actor.view().me.keys, secrets.keys());
    assert!(home.group_keys().identity(&first).is_none());
}

#[tokio::test]
async fn keys_that_were_saved_before_a_store_was_made_are_used_for_it() {
    let home = Home::new();
    let keys = GroupKeys::generate(&mut OsRng);
    home.save_keys(&keys);
    let actor = home.open().await.unwrap();
    assert_eq!(actor.view().me.keys, keys.identities()[0].secrets.keys());
    assert_eq!(home.group_keys().database_key(), keys.database_key());
}

#[tokio::test]
async fn a_store_that_names_an_identity_nobody_has_is_refused() {
    let home = Home::new();
    home.open().await.unwrap().close().await;
    let old = home.group_keys();
    let mut keys = home.group_keys();
    let first = keys.identities()[0].id;
    let secrets = sealpost_protocol::key::DeviceSecrets::generate(&mut OsRng);
    let second = keys.add_identity(&first, secrets, &mut OsRng);
    keys.keep_only(&second);
    home.save_keys(&keys);
    let refused = home.open().await.err();
    assert_eq!(refused, Some(OpenError::KeyStore(KeyStoreError::Damaged)));
    home.save_keys(&old);
    home.open().await.unwrap();
}

#[tokio::test]
async fn a_damaged_item_is_refused_at_every_start_and_never_replaced() {
    for has_store in [false, true] {
        let home = Home::new();
        if has_store {
            home.open().await.unwrap().close().await;
        }
        let damaged = KeyItem::from_bytes(b"SPK?".to_vec());
        home.keys.save(&home.item(), &damaged).unwrap();
        for _ in 0..3 {
            let refused = home.open().await.err();
            assert_eq!(refused, Some(OpenError::KeyStore(KeyStoreError::Damaged)));
        }
        assert_eq!(home.keys.load(&home.item()), Ok(Some(damaged)));
        assert_eq!(home.database().exists(), has_store);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn issues_from_before_the_first_listener_are_told_to_it_even_after_a_restart() {
    let home = Home::new();
    let actor = home.open().await.unwrap();
    let bad_frame = || Input::Session {
        generation: 0,
        report: Report::BadFrame,
    };
    actor.shared_input(bad_frame());
    actor.close().await;
    let actor = home.open().await.unwrap();
    let (told, tells) = mpsc::channel();
    let _subscription = actor.listen_to_issues(move |issue| told.send(issue).unwrap());
    let malformed = DeliveryIssue::Unreadable(Unreadable::Malformed);
    assert_eq!(tells.recv_timeout(SOON).unwrap(), malformed);
    actor.shared_input(bad_frame());
    assert_eq!(tells.recv_timeout(SOON).unwrap(), malformed);
    let untold = actor.query(|store, _| store.untold_issues()).await.unwrap();
    assert!(untold.is_empty());
    assert_eq!(
        actor
            .query(|store, _| store.issues(None, 9))
            .await
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn reports_for_an_earlier_machine_are_dropped() {
    let home = Home::new();
    let actor = home.open().await.unwrap();
    actor.shared_input(Input::Session {
        generation: 9,
        report: Report::BadFrame,
    });
    assert!(
        actor
            .query(|store, _| store.issues(None, 9))
            .await
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_sleep_and_a_clock_that_was_set_are_noticed_once() {
    let began = Instant::now();
    let mut jumps = ClockJumps::new(began, NOW_MS);
    let mut look = |awake_s, clock_s: u64| {
        jumps.has_jumped(
            began + Duration::from_secs(awake_s),
            NOW_MS + clock_s * 1_000,
        )
    };
    assert!(!look(10, 10));
    assert!(!look(3_600, 3_605), "clocks drift");
    assert!(look(3_610, 7_300));
    assert!(!look(3_620, 7_310), "once");
    assert!(look(3_630, 100), "a clock set back");
    assert!(!look(3_640, 110), "once");
}

#[tokio::test]
async fn a_group_without_relay_or_handler_says_so() {
    let home = Home::new();
    let actor = home.open().await.unwrap();
    let began = Instant::now();
    let expected = Connection::Disconnected(Some(crate::core::status::ConnectFailure::NoRelay));
    while actor.view().connection != expected && began.elapsed() < SOON {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(actor.view().connection, expected);
    assert_eq!(actor.view().status, Status::NotJoined);
}

#[tokio::test]
async fn the_clock_is_asked_when_the_actor_is_woken() {
    let home = Home::new();
    let actor = home.open().await.unwrap();
    let kept = |until| Change::MessageHandled {
        id: sealpost_protocol::message_id::MessageId::from_bytes([1; 32]),
        keep_until_ms: until,
    };
    actor.close().await;
    let keys = home.group_keys();
    let first = keys.identities()[0].id;
    let mut store = Store::open(&home.database(), keys.database_key(), &first).unwrap();
    store.apply(&[kept(NOW_MS + 1_000)], None).unwrap();
    drop(store);
    let actor = home.open().await.unwrap();
    let is_handled = |store: &Store| {
        use crate::core::step::Lookup;
        let id = sealpost_protocol::message_id::MessageId::from_bytes([1; 32]);
        store.is_handled(&id).map_err(|_| StorageFault::Unavailable)
    };
    assert_eq!(
        actor.query(move |store, _| is_handled(store)).await,
        Ok(true)
    );
    home.clock.advance(61 * 24 * 3_600_000);
    actor.wake();
    // The end of a turn is when time is looked at.
    rename(&actor, "x".to_owned()).await.unwrap();
    assert_eq!(
        actor.query(move |store, _| is_handled(store)).await,
        Ok(false)
    );
}

/// An actor without a thread of its own.
fn still_actor(home: &Home) -> Actor {
    let (inputs, inputs_of) = mpsc::channel();
    let mut actor = Actor::build(options(home), Handle::current(), inputs, inputs_of).unwrap();
    actor.settle(Vec::new());
    // These tests are not about what waits for a quiet moment.
    actor.tidy_at = None;
    actor
}

fn naming_call(name: &'static str) -> (Input, Receiver<Result<(), EngineError>>) {
    let (answered, answer) = mpsc::channel();
    let call = Input::Call(Box::new(move |device, now_ms, _| {
        device.handle_rename_group(name, now_ms).unwrap();
        Box::new(move |committed| answered.send(committed).unwrap())
    }));
    (call, answer)
}

#[tokio::test]
async fn a_store_that_can_not_be_read_is_asked_at_growing_intervals_and_for_a_call() {
    let home = Home::new();
    let mut actor = still_actor(&home);
    actor.group.store.hide_tables(true);
    actor.rebuild(StorageFault::Unavailable);
    for pause_s in [1, 2, 4, 8] {
        let rest = actor.rest;
        let pause = Duration::from_secs(pause_s);
        assert_eq!(actor.patience(), pause);
        for _ in 0..3 {
            assert!(actor.turn(None).is_none());
        }
        assert!(actor.stale.is_some());
        assert_eq!(actor.rest, rest, "nothing is tried meanwhile");
        home.clock.advance(pause_s * 1_000);
        actor.turn(None);
        assert_ne!(actor.rest, rest);
    }
    let (call, answer) = naming_call("refused");
    actor.turn(Some(call));
    let refused = answer.recv_timeout(SOON).unwrap();
    assert!(matches!(refused, Err(EngineError::Storage(_))));
    actor.group.store.hide_tables(false);
    let (call, answer) = naming_call("taken");
    actor.turn(Some(call));
    assert_eq!(answer.recv_timeout(SOON).unwrap(), Ok(()));
    assert_eq!((actor.rest, actor.stale), (None, None));
}

#[tokio::test]
async fn only_a_step_that_wrote_something_ends_the_row_of_failures() {
    let home = Home::new();
    let mut actor = still_actor(&home);
    for failures in 1..4 {
        actor.rebuild(StorageFault::Full);
        assert_eq!(actor.rest.map(|rest| rest.failures), Some(failures));
        home.clock.advance(REST_MAX_MS);
        // A sweep that finds nothing, and an empty step.
        for _ in 0..2 {
            actor.turn(None);
        }
        assert!(actor.stale.is_none());
        assert!(!actor.rests());
        assert_eq!(actor.rest.map(|rest| rest.failures), Some(failures));
        assert!(actor.patience() > Duration::from_secs(1), "no spinning");
    }
    let (call, answer) = naming_call("written");
    actor.turn(Some(call));
    assert_eq!(answer.recv_timeout(SOON).unwrap(), Ok(()));
    assert_eq!(actor.rest, None);
}

#[tokio::test]
async fn a_rebuilt_machine_keeps_the_open_window_and_says_what_changed() {
    let home = Home::new();
    let mut actor = still_actor(&home);
    let now_ms = home.clock.now_ms();
    let window = |actor: &Actor| {
        let window = actor.group.device.pairing().window?;
        Some(window.token.to_text())
    };
    actor
        .group
        .device
        .handle_start_pairing(now_ms, &mut OsRng)
        .unwrap();
    actor.group.device.handle_connection(Connection::Connected);
    actor.settle(Vec::new());
    let before = window(&actor);
    assert!(before.is_some());
    let (told, tells) = mpsc::channel();
    let listener = move |event| drop(told.send(event));
    let _subscription = actor.shared.notices.listen(listener);
    actor.rebuild(StorageFault::Full);
    assert_eq!(window(&actor), before);
    let is_told = |wanted: fn(&Event) -> bool| {
        std::iter::from_fn(|| tells.recv_timeout(SOON).ok()).any(|event| wanted(&event))
    };
    assert!(is_told(|event| matches!(
        event,
        Event::ConnectionChanged(Connection::Disconnected(None))
    )));
    assert!(is_told(|event| matches!(event, Event::PairingChanged)));
}

#[tokio::test]
async fn what_the_sessions_of_an_old_identity_say_is_not_of_the_new_one() {
    let home = Home::new();
    let mut actor = still_actor(&home);
    let mut post = crate::core::rig::Post::group(2);
    actor.group.device = post.rigs.remove(0).device;
    let (before, old) = (actor.group.device.keys(), actor.generation);
    actor.group.device.handle_destroy(NOW_MS).unwrap();
    actor.group.device.handle_forget().unwrap();
    actor.settle(Vec::new());
    assert_ne!(actor.group.device.keys(), before);
    actor.turn(Some(Input::Session {
        generation: old,
        report: Report::BadFrame,
    }));
    assert_eq!(actor.group.store.issues(None, 9).unwrap(), Vec::new());
    assert!(actor.generation > old);
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_computed_one_at_a_time_and_again_after_a_failure() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    static BEGUN: AtomicUsize = AtomicUsize::new(0);

    fn compute(_: &WordsRequest) -> Option<[String; 4]> {
        assert_eq!(RUNNING.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
        let begun = BEGUN.fetch_add(1, Ordering::SeqCst);
        std::thread::yield_now();
        RUNNING.fetch_sub(1, Ordering::SeqCst);
        (begun > 2).then(|| ["a", "b", "c", "d"].map(str::to_owned))
    }

    let home = Home::new();
    let mut actor = still_actor(&home);
    actor.compute = compute;
    let other = sealpost_protocol::key::DeviceSecrets::generate(&mut OsRng).keys();
    let secret = sealpost_protocol::token::PairingSecret::generate(&mut OsRng);
    let token = sealpost_protocol::token::PairingToken::new(other, secret.clone());
    let device = &mut actor.group.device;
    device.handle_join(&token, NOW_MS).unwrap();
    actor.settle(Vec::new());
    // Of no use to anybody: never computed.
    let effects = (7..12).map(|number| {
        Effect::ComputeWords(WordsRequest {
            target: crate::core::step::WordsTarget::Join(number),
            admitter: other,
            joiner: other,
            secret: secret.clone(),
        })
    });
    let step = Step {
        changes: Vec::new(),
        effects: effects.collect(),
    };
    actor.carry_out(step, &Applied::default());
    let has_words = |actor: &Actor| {
        let join = actor.group.device.pairing().join;
        join.is_some_and(|join| join.words.is_some())
    };
    while !has_words(&actor) || actor.is_computing {
        let input = actor.inputs.recv_timeout(SOON).unwrap();
        actor.turn(Some(input));
    }
    assert_eq!(
        BEGUN.load(Ordering::SeqCst),
        4,
        "three failed ones, one done"
    );
}

/// What a thread keeps for itself until it is gone: given back only when somebody says so.
struct ThreadsOwn(std::cell::OnceCell<(mpsc::Sender<()>, Receiver<()>)>);

impl Drop for ThreadsOwn {
    fn drop(&mut self) {
        if let Some((begun, released)) = self.0.get() {
            let _ = begun.send(());
            let _ = released.recv_timeout(SOON);
        }
    }
}

/// Otherwise a program that ends right after it has closed its groups gives back what the
/// database's cryptography holds while the thread does, too.
#[tokio::test]
async fn a_closed_groups_thread_is_gone_with_all_it_kept() {
    thread_local! {
        static OWN: ThreadsOwn = const { ThreadsOwn(std::cell::OnceCell::new()) };
    }
    let home = Home::new();
    let actor = home.open().await.unwrap();
    let (begins, begun) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let keeps = actor.query(move |_, _| Ok(OWN.with(|own| own.0.set((begins, released)).is_ok())));
    assert!(keeps.await.unwrap());
    let mut closing = std::pin::pin!(actor.close());
    let mut is_closed = async || {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(closing.as_mut().poll(context).is_ready())
        })
        .await
    };
    assert!(!is_closed().await);
    // By now the group has answered, and its thread hasn't given back what it kept.
    begun.recv_timeout(SOON).unwrap();
    assert!(!is_closed().await);
    release.send(()).unwrap();
    closing.await;
}

/// An actor whose device is in a group of two.
fn still_member(home: &Home) -> Actor {
    let mut actor = still_actor(home);
    let mut post = crate::core::rig::Post::group(2);
    actor.group.device = post.rigs.remove(0).device;
    actor
        .group
        .device
        .drain(NOW_MS, &mut OsRng, &actor.group.store);
    actor
}

fn sending_call(text: &'static [u8]) -> (Input, Receiver<Result<(), EngineError>>) {
    let (answered, answer) = mpsc::channel();
    let call = Input::Call(Box::new(move |device, now_ms, _| {
        device.handle_send(text.to_vec(), now_ms).unwrap();
        Box::new(move |committed| answered.send(committed).unwrap_or_default())
    }));
    (call, answer)
}

#[tokio::test]
async fn a_send_is_told_with_its_position_and_pushed_in_the_same_turn() {
    let home = Home::new();
    let mut actor = still_member(&home);
    let (told, tells) = mpsc::channel();
    let listener = move |event| drop(told.send(event));
    let _subscription = actor.shared.notices.listen(listener);
    let (call, answer) = sending_call(b"one");
    actor.turn(Some(call));
    assert_eq!(answer.recv_timeout(SOON).unwrap(), Ok(()));
    let is_told = |wanted: fn(&Event) -> bool| {
        std::iter::from_fn(|| tells.recv_timeout(SOON).ok()).any(|event| wanted(&event))
    };
    assert!(is_told(|event| matches!(
        event,
        Event::MessageStored { position: 1 }
    )));
    assert!(is_told(|event| matches!(
        event,
        Event::MessageChanged { .. }
    )));
    let row = actor.group.store.messages_after(0, 9).unwrap().remove(0);
    let delivery = &row.deliveries[0];
    assert!(actor.group.device.is_sending(&row.id, &delivery.member));
    assert_eq!(actor.group.store.outbox_copies(), Ok(1));
}

#[tokio::test]
async fn what_was_answered_is_there_although_the_rest_could_not_be_written() {
    let home = Home::new();
    let mut actor = still_member(&home);
    // The row of the short way can be written, the rows that follow from it can't.
    actor.group.store.hide_tables(true);
    let (call, answer) = sending_call(b"one");
    actor.turn(Some(call));
    assert_eq!(answer.recv_timeout(SOON).unwrap(), Ok(()));
    assert!(actor.stale.is_some());
    actor.group.store.hide_tables(false);
    home.clock.advance(REST_MAX_MS);
    actor.turn(None);
    assert_eq!(actor.stale, None);
    let rows = actor.group.store.messages_after(0, 9).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(actor.group.store.outbox_copies(), Ok(1));
}

#[tokio::test]
async fn a_quiet_group_indexes_its_texts_and_gives_the_log_back() {
    let home = Home::new();
    let mut actor = still_member(&home);
    let (call, _answer) = sending_call(b"one");
    actor.turn(Some(call));
    assert!(actor.tidy_at.is_some());
    for _ in 0..3 {
        actor.tidy_at = Some(Instant::now());
        actor.turn(None);
    }
    assert_eq!(actor.tidy_at, None);
    assert_eq!(actor.group.store.index_step(), Ok(true));
    let mut log = home.database().into_os_string();
    log.push("-wal");
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    // So does one in which only something was read.
    let (done, is_done) = mpsc::channel();
    let query = move |store: &Store, _: &crate::core::device::Device| {
        done.send(store.mark_read(1)).unwrap();
        None
    };
    actor.turn(Some(Input::Query(Box::new(query))));
    assert_eq!(is_done.recv_timeout(SOON).unwrap(), Ok(()));
    assert!(actor.tidy_at.is_some());
    actor.tidy_at = Some(Instant::now());
    actor.turn(None);
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
}
