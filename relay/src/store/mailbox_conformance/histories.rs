//! Random histories of mailboxes: the database, restarted now and then, and the store without a
//! disk give the same answers.

use std::future::Future;
use std::path::Path;

use bytes::Bytes;
use proptest::prelude::*;
use sealpost_protocol::limit::LINK_MAILBOX_LIFE_MS;
use sealpost_protocol::link::key::{Direction, MailboxId};

use super::super::{
    InboxStore as _, MailboxError, MailboxStore, MemoryStore, PutRoom, SqliteStore, StoreSettings,
    WriterPace,
};
use crate::limits::StoreLimits;
use crate::mailbox::{MailboxAccess, Making, TokenDigest};

#[derive(Clone, Debug)]
enum Step {
    Claim {
        is_open: bool,
    },
    Put {
        sequence: u64,
        kind: u8,
        bytes: usize,
    },
    Page {
        after: u64,
        limit: usize,
    },
    Prune {
        through: u64,
    },
    Erase,
    Wait {
        ms: u64,
    },
    Sweep,
    SetBack {
        ms: u64,
    },
    Restart,
}

/// What is asked, of which mailbox, with which token, in which direction.
type Asked = (Step, u8, u8, Direction);

fn steps() -> impl Strategy<Value = Vec<Asked>> {
    let step = prop_oneof![
        4 => any::<bool>().prop_map(|is_open| Step::Claim { is_open }),
        12 => (0_u64..80, 0_u8..2, 300_usize..900)
            .prop_map(|(sequence, kind, bytes)| Step::Put { sequence, kind, bytes }),
        4 => (0_u64..80, 1_usize..20).prop_map(|(after, limit)| Step::Page { after, limit }),
        3 => (1_u64..80).prop_map(|through| Step::Prune { through }),
        1 => Just(Step::Erase),
        2 => (0..LINK_MAILBOX_LIFE_MS).prop_map(|ms| Step::Wait { ms }),
        1 => (0..2 * LINK_MAILBOX_LIFE_MS).prop_map(|ms| Step::SetBack { ms }),
        1 => Just(Step::Sweep),
        1 => Just(Step::Restart),
    ];
    // The wrong token now and then, and mostly the same mailbox.
    let direction = any::<bool>().prop_map(|is_first| Direction::ALL[usize::from(is_first)]);
    let token = prop_oneof![8 => Just(1_u8), 1 => Just(2_u8)];
    let mailbox = prop_oneof![4 => Just(1_u8), 1 => Just(2_u8), 1 => Just(3_u8)];
    prop::collection::vec((step, mailbox, token, direction), 1..80)
}

fn settings() -> StoreSettings {
    StoreSettings {
        limits: StoreLimits {
            total_bytes_max: 30_000,
            disk_free_bytes_min: 0,
            ..StoreLimits::default()
        },
        life_ms: 1_000,
        pace: WriterPace::default(),
    }
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, settings(), false).unwrap()
}

/// The answer as text: the types of answers differ.
async fn told<T: std::fmt::Debug>(
    answer: impl Future<Output = Result<T, MailboxError>> + Send,
) -> String {
    format!("{:?}", answer.await)
}

async fn answer(store: &dyn MailboxStore, asked: &Asked, now_ms: u64) -> String {
    let (step, mailbox, token, direction) = asked;
    let access = MailboxAccess {
        mailbox: MailboxId::from_bytes([*mailbox; 16]),
        token: TokenDigest::from_bytes([*token; 32]),
    };
    match step {
        Step::Claim { is_open: true } => told(store.claim(access, Making::Below(2), now_ms)).await,
        Step::Claim { is_open: false } => told(store.claim(access, Making::Closed, now_ms)).await,
        Step::Put {
            sequence,
            kind,
            bytes,
        } => {
            let envelope = (*sequence, Bytes::from(vec![*kind; *bytes]));
            let room = PutRoom::uncounted();
            told(store.store(access, *direction, envelope, room, now_ms)).await
        }
        Step::Page { after, limit } => {
            let page = store
                .page(&access, *direction, (*after, *limit), now_ms)
                .await;
            let page = page.map(|page| (page.head, page.more, page.envelopes));
            format!("{page:?}")
        }
        Step::Prune { through } => told(store.prune(access, *direction, *through, now_ms)).await,
        Step::Erase => told(store.erase(access, now_ms)).await,
        Step::Sweep => {
            store.expire_mailboxes(now_ms);
            String::new()
        }
        Step::Wait { .. } | Step::SetBack { .. } | Step::Restart => String::new(),
    }
}

async fn run(steps: Vec<Asked>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inbox.db");
    let memory = MemoryStore::new(settings());
    let mut sqlite = open(&path);
    let mut now_ms = 1_800_000_000_000;
    for asked in steps {
        match asked.0 {
            Step::Wait { ms } => now_ms += ms,
            Step::SetBack { ms } => now_ms -= ms,
            Step::Restart => {
                sqlite.close().await.unwrap();
                sqlite = open(&path);
            }
            _ => {}
        }
        let (one, other) = (
            answer(&memory, &asked, now_ms).await,
            answer(&sqlite, &asked, now_ms).await,
        );
        assert_eq!(one, other, "{asked:?}");
    }
    sqlite.close().await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_stores_answer_every_history_alike(steps in steps()) {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(run(steps));
    }
}
