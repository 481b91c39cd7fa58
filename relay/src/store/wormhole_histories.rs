//! The database's shelf beside the one in memory: the same commands, the same answers.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rand_core::OsRng;

use super::{InboxStore as _, SqliteStore, StoreSettings, Visitor, WriterPace};
use crate::limits::StoreLimits;
use crate::wormhole::{
    AppId, Body, CommandId, MailboxName, MemoryShelf, Message, Mood, Nameplate, Outcome, Phase,
    Request, Retire, Rules, Seqnum, Side,
};

#[derive(Clone, Debug)]
enum Step {
    Claim(usize, u8),
    Release(usize, u8),
    Open(usize, u8),
    Add(usize, u8, Option<u64>),
    Through(usize, usize, u64),
    Phase(usize, usize, u8),
    Close(usize, u8, bool),
    Prune(u64),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let side = 0_usize..3;
    let step = prop_oneof![
        2 => (side.clone(), 0_u8..2).prop_map(|(side, plate)| Step::Claim(side, plate)),
        1 => (side.clone(), 0_u8..2).prop_map(|(side, plate)| Step::Release(side, plate)),
        4 => (side.clone(), 0_u8..2).prop_map(|(side, name)| Step::Open(side, name)),
        8 => (side.clone(), 0_u8..3, prop::option::weighted(0.8, 0_u64..6))
            .prop_map(|(side, phase, seqnum)| Step::Add(side, phase, seqnum)),
        3 => (side.clone(), side.clone(), 0_u64..7)
            .prop_map(|(side, author, seqnum)| Step::Through(side, author, seqnum)),
        2 => (side.clone(), side.clone(), 0_u8..3)
            .prop_map(|(side, author, phase)| Step::Phase(side, author, phase)),
        2 => (side, 0_u8..2, any::<bool>())
            .prop_map(|(side, name, is_open)| Step::Close(side, name, is_open)),
        1 => (0_u64..400_000).prop_map(Step::Prune),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 0..40)
}

fn open(path: &std::path::Path) -> SqliteStore {
    let settings = StoreSettings {
        limits: StoreLimits {
            disk_free_bytes_min: 0,
            ..StoreLimits::default()
        },
        life_ms: 1_000,
        pace: WriterPace::default(),
    };
    SqliteStore::open(path, settings, false).unwrap()
}

fn side(number: usize) -> Side {
    Side::new(["a", "b", "c"][number])
}

/// Both shelves and where each side has its mailbox open: in the database, in memory.
struct Run {
    path: std::path::PathBuf,
    store: SqliteStore,
    visitor: Option<Visitor>,
    shelf: MemoryShelf,
    opened: BTreeMap<usize, (u64, u64)>,
    now_ms: u64,
}

const RULES: Rules = Rules {
    life_ms: 500_000,
    usage_blur_ms: Some(1_000),
    limits: crate::limits::WormholeLimits {
        mailboxes_max: 3,
        messages_max: 6,
        bytes_max: 1_000,
        frame_bytes_max: 1_000,
    },
};

impl Run {
    fn new(path: std::path::PathBuf) -> Self {
        let store = open(&path);
        Self {
            visitor: Some(store.visitor()),
            store,
            path,
            shelf: MemoryShelf::default(),
            opened: BTreeMap::new(),
            now_ms: 10_000_000,
        }
    }

    /// Asks both, the same but for the numbers that they give to mailboxes.
    async fn ask(&mut self, by: usize, make: impl Fn(u64) -> Request, numbers: (u64, u64)) {
        let (app, side) = (AppId::new("app"), side(by));
        let visitor = self.visitor.as_ref().unwrap();
        let under = (RULES, self.now_ms);
        let asked =
            self.store
                .ask_wormhole(visitor, (app.clone(), side.clone()), make(numbers.0), under);
        let theirs = asked.await.unwrap();
        let who = (&app, &side);
        let run = RULES.run(
            &mut self.shelf,
            who,
            make(numbers.1),
            self.now_ms,
            &mut OsRng,
        );
        let (ours, _) = run.unwrap_or_else(|never| match never {});
        match (theirs, ours) {
            (Ok(Outcome::Opened(theirs)), Ok(Outcome::Opened(ours))) => {
                assert_eq!((theirs.seqnums, theirs.acked), (ours.seqnums, ours.acked));
                let range = (0, theirs.replay_below);
                let replay = self
                    .store
                    .replay_wormhole(theirs.number, range)
                    .await
                    .unwrap();
                assert_eq!(replay.next, None);
                let expected = self.shelf.messages(ours.number, ours.replay_below);
                assert_eq!(replay.messages, expected);
                self.opened.insert(by, (theirs.number, ours.number));
            }
            // Their names are drawn.
            (Ok(Outcome::Claimed(_)), Ok(Outcome::Claimed(_))) => {}
            (theirs, ours) => assert_eq!(theirs, ours),
        }
    }

    async fn step(&mut self, step: Step) {
        self.now_ms += 1_000;
        let now_ms = self.now_ms;
        let none = (u64::MAX >> 1, u64::MAX >> 1);
        let at = |by: &usize| self.opened.get(by).copied().unwrap_or(none);
        let plate = |plate: u8| Nameplate::parse(&plate.to_string()).unwrap();
        let name = |name: u8| MailboxName::new(format!("box {name}"));
        match step {
            Step::Claim(by, number) => {
                self.ask(by, |_| Request::Claim(plate(number)), none).await;
            }
            Step::Release(by, number) => {
                self.ask(by, |_| Request::Release(plate(number)), none)
                    .await;
            }
            Step::Open(by, number) => self.ask(by, |_| Request::Open(name(number)), none).await,
            Step::Add(by, phase, seqnum) => {
                let message = Message {
                    side: side(by),
                    phase: Phase::new(phase.to_string()),
                    body: Body::new("body"),
                    id: CommandId::new("null"),
                    received_ms: now_ms,
                    seqnum: seqnum.and_then(Seqnum::new),
                };
                let numbers = at(&by);
                self.ask(by, |at| Request::Add(at, message.clone()), numbers)
                    .await;
            }
            Step::Through(by, author, seqnum) => {
                let retire = Retire::Through(side(author), Seqnum::new(seqnum).unwrap());
                let numbers = at(&by);
                self.ask(by, |at| Request::Retire(at, retire.clone()), numbers)
                    .await;
            }
            Step::Phase(by, author, phase) => {
                let retire = Retire::Phase(side(author), Phase::new(phase.to_string()));
                let numbers = at(&by);
                self.ask(by, |at| Request::Retire(at, retire.clone()), numbers)
                    .await;
            }
            Step::Close(by, number, is_open) => {
                let mood = Some(Mood::new("happy"));
                let numbers = at(&by);
                let opened = |at| (is_open && numbers != none).then_some(at);
                let close = |at| Request::Close(name(number), opened(at), mood.clone());
                self.ask(by, close, numbers).await;
            }
            Step::Prune(after_ms) => self.prune(after_ms).await,
            Step::Restart => {
                self.store.close().await.unwrap();
                self.visitor = None;
                self.store = open(&self.path);
                self.visitor = Some(self.store.visitor());
                // Connections end with the relay, and what they had open with them: the number
                // of a mailbox that is gone may be given again.
                self.opened.clear();
            }
        }
        let (mailboxes, _) = self.shelf.counts();
        assert_eq!(self.store.wormhole_sums().0.mailboxes, mailboxes as u64);
    }

    /// Nobody has anything open then: a pass counts open ones as active.
    async fn prune(&mut self, after_ms: u64) {
        self.visitor = Some(self.store.visitor());
        self.now_ms += after_ms;
        self.store
            .prune_wormholes(RULES, self.now_ms)
            .await
            .unwrap();
        let none = std::collections::BTreeSet::new();
        let pruned = RULES.prune(&mut self.shelf, &none, self.now_ms);
        pruned.unwrap_or_else(|never| match never {});
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_database_answers_as_plain_lists_do(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let mut run = Run::new(folder.path().join("inbox.db"));
            for step in steps {
                run.step(step).await;
            }
        });
    }
}

/// A wormhole that stays open for weeks costs no more than one that was just opened.
#[tokio::test]
async fn ten_thousand_acknowledged_messages_leave_nothing_behind() {
    const AT_ONCE: u64 = 1_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inbox.db");
    let store = open(&path);
    let visitor = store.visitor();
    let under = (Rules::default(), 1_000);
    let ask =
        |by, request| store.ask_wormhole(&visitor, (AppId::new("app"), side(by)), request, under);
    let mut number = 0;
    for by in 0..2 {
        let opened = ask(by, Request::Open(MailboxName::new("box"))).await;
        if let Ok(Ok(Outcome::Opened(opening))) = opened {
            number = opening.number;
        }
    }
    for round in 0..10 {
        let seqnums = (round * AT_ONCE..(round + 1) * AT_ONCE).filter_map(Seqnum::new);
        let adds = seqnums.map(|seqnum| {
            let message = Message {
                side: side(0),
                phase: Phase::new(seqnum.as_u64().to_string()),
                body: Body::new("00".repeat(150)),
                id: CommandId::new("null"),
                received_ms: 1_000,
                seqnum: Some(seqnum),
            };
            ask(0, Request::Add(number, message))
        });
        for added in futures_util::future::join_all(adds).await {
            assert_eq!(added, Ok(Ok(Outcome::Done)));
        }
        assert_eq!(store.wormhole_sums().0.messages, AT_ONCE);
        let through = Seqnum::new((round + 1) * AT_ONCE - 1).unwrap();
        let retire = Retire::Through(side(0), through);
        let retired = ask(1, Request::Retire(number, retire)).await;
        assert_eq!(retired, Ok(Ok(Outcome::Done)));
    }
    let (sums, _) = store.wormhole_sums();
    assert_eq!((sums.mailboxes, sums.messages, sums.bytes), (1, 0, 0));
    store.close().await.unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    let count = |table: &str| -> u32 {
        let sql = format!("SELECT count(*) FROM {table}");
        database.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count("wormhole_messages"), 0);
    assert_eq!(count("mailbox_message_acks"), 1);
}
