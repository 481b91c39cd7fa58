//! The thread of the links with a relay that a test plays, and a disk that is full.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use sealpost_protocol::link::key::{Direction, LinkId, LinkKey, Role};

use super::*;
use crate::clock::SystemClock;
use crate::core::error::StorageFault;
use crate::core::link::{
    Done, LinkChange, LinkRequest, LinkRow, NewLink, PageEnvelope, RelayHeaders,
};
use crate::engine::BoxFuture;
use crate::keys::MemoryStore;
use crate::link::error::LinksError;
use crate::link::info::{LinkContent, LinkTrouble};
use crate::link::links::LinksOptions;
use crate::link::store::{EndRecord, Of};
use crate::link::transport::{LinkAddress, WatchSink};
use crate::profile::ProfileId;

const PATIENCE: Duration = Duration::from_secs(30);

/// One mailbox that never fills up and refuses nothing.
#[derive(Default)]
struct PlayedRelay {
    directions: Mutex<BTreeMap<Direction, Vec<PageEnvelope>>>,
    lasts: Mutex<BTreeMap<Direction, u64>>,
    is_silent: std::sync::atomic::AtomicBool,
}

impl PlayedRelay {
    fn answer(&self, request: LinkRequest) -> Answer {
        let mut directions = self.directions.lock().unwrap();
        let mut lasts = self.lasts.lock().unwrap();
        let mut headers = RelayHeaders {
            created_ms: Some(7),
            more: Some(0),
            ..RelayHeaders::default()
        };
        let mut envelopes = Vec::new();
        match request {
            LinkRequest::Claim | LinkRequest::Erase => {}
            LinkRequest::Head(direction) => headers.last = lasts.get(&direction).copied(),
            LinkRequest::Page { direction, after } => {
                headers.last = lasts.get(&direction).copied();
                let stored = directions.entry(direction).or_default();
                let above = stored.iter().filter(|one| one.sequence > after);
                envelopes = above.cloned().collect();
            }
            LinkRequest::Put {
                direction,
                sequence,
                envelope,
            } => {
                lasts.insert(direction, sequence);
                headers.last = Some(sequence);
                let put = PageEnvelope { sequence, envelope };
                directions.entry(direction).or_default().push(put);
            }
            LinkRequest::Prune { direction, through } => {
                let stored = directions.entry(direction).or_default();
                stored.retain(|one| one.sequence > through);
            }
        }
        Answer::Done(Done {
            is_new: false,
            headers,
            envelopes,
        })
    }
}

/// The way to it; a watch that is open says nothing.
struct PlayedWay(Arc<PlayedRelay>);

impl LinkTransport for PlayedWay {
    fn perform(
        &self,
        _: LinkAddress,
        request: LinkRequest,
    ) -> BoxFuture<Result<Answer, LinkFailure>> {
        let is_silent = self.0.is_silent.load(std::sync::atomic::Ordering::SeqCst);
        let answer = (!is_silent).then(|| self.0.answer(request));
        Box::pin(async move {
            match answer {
                Some(answer) => Ok(answer),
                None => std::future::pending().await,
            }
        })
    }

    fn watch(&self, _: LinkAddress, _: Direction, _: WatchSink) -> BoxFuture<()> {
        Box::pin(std::future::pending())
    }
}

/// One side of a link that is there.
struct Side {
    _directory: tempfile::TempDir,
    actor: ActorHandle,
    name: LinkName,
}

impl Side {
    async fn open(role: Role, relay: &Arc<PlayedRelay>) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(u64::from(role == Role::A));
        let directory = tempfile::tempdir().unwrap();
        let actor = start(LinksOptions {
            directory: directory.path().to_owned(),
            profile_id: ProfileId::generate(&mut rng),
            key_store: Arc::new(MemoryStore::new()),
            clock: Arc::new(SystemClock),
        });
        let actor = actor.await.unwrap();
        actor.set_here(Some(Arc::new(PlayedWay(Arc::clone(relay)))));
        let name = LinkName::generate(&mut rng);
        let made = name.clone();
        let add = move |actor: &mut Actor| {
            let of = Of {
                position: None,
                name: made,
                relay: None,
                made_at_ms: 1,
            };
            let link = LinkChange::LinkAdded(Box::new(NewLink {
                key: LinkKey::from_bytes([1; 32]),
                id: LinkId::from_bytes([2; 16]),
                role,
                peer_name: "Other".to_owned(),
                peer_platform: String::new(),
                row: LinkRow::default(),
                outbox: Vec::new(),
            }));
            let position = actor.store.apply(&of, &[link], &[], EndRecord::Nothing)?;
            actor.begin_link(position.unwrap());
            Ok(())
        };
        actor.call(add).await.unwrap();
        Self {
            _directory: directory,
            actor,
            name,
        }
    }

    async fn send(&self, text: &str) -> Result<(), LinksError> {
        let (name, body) = (self.name.clone(), text.as_bytes().to_vec());
        let send = move |actor: &mut Actor| actor.send(&name, LinkContent::Message, body, None);
        self.actor.call(send).await.map(drop)
    }

    async fn fill_disk(&self, is_full: bool) {
        let fill = move |actor: &mut Actor| {
            actor.store.fill_disk(is_full);
            Ok(())
        };
        self.actor.call(fill).await.unwrap();
    }

    fn trouble(&self) -> Option<LinkTrouble> {
        self.actor.view().links[0].trouble
    }

    /// Tries until the condition holds.
    async fn until(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        let wait = async {
            while !condition(self) {
                self.actor.hurry();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect(what);
    }

    async fn texts(&self) -> Vec<String> {
        let name = self.name.clone();
        let arrived = self.actor.call(move |actor| actor.arrived(&name, 0, 100));
        let texts = arrived.await.unwrap().into_iter();
        texts
            .map(|one| String::from_utf8(one.body).unwrap())
            .collect()
    }

    fn arrived(&self) -> u64 {
        self.actor.view().links[0].arrived
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_arrives_on_a_full_disk_stays_on_the_relay_and_comes_once_there_is_room() {
    let relay = Arc::<PlayedRelay>::default();
    let (a, b) = (
        Side::open(Role::A, &relay).await,
        Side::open(Role::B, &relay).await,
    );
    a.send("before").await.unwrap();
    b.until("it arrives", |b| b.arrived() == 1).await;
    b.fill_disk(true).await;
    for number in 0..5 {
        // Larger than what is left in the last page.
        a.send(&format!("{number} {}", "x".repeat(20_000)))
            .await
            .unwrap();
    }
    let full = Some(LinkTrouble::Storage(StorageFault::Full));
    b.until("B says that its disk is full", |b| b.trouble() == full)
        .await;
    assert!(b.arrived() < 6);
    b.fill_disk(false).await;
    b.until("everything arrives", |b| b.arrived() == 6).await;
    let begins: Vec<_> = b
        .texts()
        .await
        .iter()
        .map(|text| text.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(begins, ["before", "0", "1", "2", "3", "4"]);
    b.until("B works again", |b| b.trouble().is_none()).await;
    a.actor.close().await;
    b.actor.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_stored_is_not_promised_and_nothing_of_it_is_sent() {
    let relay = Arc::<PlayedRelay>::default();
    let (a, b) = (
        Side::open(Role::A, &relay).await,
        Side::open(Role::B, &relay).await,
    );
    a.fill_disk(true).await;
    let refused = a.send(&"x".repeat(50_000)).await;
    assert_eq!(refused, Err(LinksError::Storage(StorageFault::Full)));
    a.fill_disk(false).await;
    a.send("after").await.unwrap();
    b.until("it arrives", |b| b.arrived() == 1).await;
    assert_eq!(b.texts().await, ["after"]);
    a.actor.close().await;
    b.actor.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_waits_for_no_request_and_answers_nothing_afterwards() {
    let relay = Arc::<PlayedRelay>::default();
    let a = Side::open(Role::A, &relay).await;
    relay
        .is_silent
        .store(true, std::sync::atomic::Ordering::SeqCst);
    a.send("never answered").await.unwrap();
    a.actor.close().await;
    a.actor.close().await;
    assert_eq!(a.send("late").await, Err(LinksError::Closed));
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_only_so_many_links() {
    let relay = Arc::<PlayedRelay>::default();
    let a = Side::open(Role::A, &relay).await;
    let begin = |actor: &mut Actor| {
        actor.start_pairing(&crate::link::links::PairingOptions {
            place: crate::link::info::LinkPlace::Here,
            shown_url: crate::link::relay_url::RelayUrl::parse("http://192.0.2.1:7703").unwrap(),
            my_name: "Desk".to_owned(),
        })
    };
    for _ in 1..LINKS_MAX {
        a.actor.call(begin).await.unwrap();
    }
    let refused = a.actor.call(begin).await.map(drop);
    assert_eq!(refused, Err(LinksError::TooMany { max: LINKS_MAX }));
    a.actor.close().await;
}
