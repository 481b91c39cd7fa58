//! The inbox, driven as part of a device, against a model that is one set of shown messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use sealpost_protocol::envelope::{MessageTag, Sealing, seal};

use super::*;
use crate::core::rig::{Post, Rig, START_MS, Store};

/// Messages of the author, in its order; then one of a newer version, then one that is none.
const MESSAGES: usize = 4;
const NEWER: usize = MESSAGES;
const JUNK: usize = MESSAGES + 1;

/// A store in a group, and the envelopes that its other member sent it.
fn fixture() -> &'static (Store, Vec<Vec<u8>>) {
    static FIXTURE: OnceLock<(Store, Vec<Vec<u8>>)> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let post = Post::group(2);
        let author = post.rigs[0].store.secrets.clone();
        let recipient = post.rigs[1].noise();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut envelopes: Vec<Vec<u8>> = (1..)
            .take(MESSAGES)
            .map(|sequence| {
                let sealing = Sealing {
                    author: &author.signing,
                    recipient: &recipient,
                    sequence,
                    timestamp_ms: START_MS,
                    tag: MessageTag::Sync,
                    body: b"text",
                };
                seal(&sealing, &mut rng).expect("it can be sealed")
            })
            .collect();
        envelopes.push(vec![0x38, 2]);
        envelopes.push(b"junk".to_vec());
        (post.rigs[1].store.clone(), envelopes)
    })
}

#[test]
fn a_record_is_kept_for_the_window_after_the_later_of_both_times() {
    assert_eq!(keep_until_ms(5, 3), 5 + REPLAY_WINDOW_MS);
    assert_eq!(keep_until_ms(3, 5), 5 + REPLAY_WINDOW_MS);
    assert_eq!(keep_until_ms(3, u64::MAX), u64::MAX, "never overflows");
}

/// What can happen to an inbox.
#[derive(Clone, Copy, Debug)]
enum Input {
    /// Another copy of this envelope reaches the relay.
    Arrive(usize),
    Deliver,
    Handle {
        is_ok: bool,
    },
    Wait {
        ms: u64,
    },
    Reconnect,
    /// The device stops; the last step was committed or not.
    Crash {
        is_committed: bool,
    },
}

fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let input = prop_oneof![
        4 => (0..=JUNK).prop_map(Input::Arrive),
        6 => Just(Input::Deliver),
        4 => Just(Input::Handle { is_ok: true }),
        2 => Just(Input::Handle { is_ok: false }),
        3 => (0..9_000_u64).prop_map(|ms| Input::Wait { ms }),
        1 => Just(Input::Reconnect),
        2 => any::<bool>().prop_map(|is_committed| Input::Crash { is_committed }),
    ];
    proptest::collection::vec(input, 0..80)
}

struct Trial {
    rig: Rig,
    /// The blobs on the relay, by id: which envelope each one is.
    blobs: BTreeMap<u64, usize>,
    last_blob: u64,
    cursor: u64,
    runs: Vec<HandlerRun>,
    arrived: BTreeSet<usize>,
    /// Whether the next step is lost, and how.
    crash: Option<bool>,
}

impl Trial {
    fn new() -> Self {
        let mut rig = Rig::with_store(1, fixture().0.clone());
        rig.connect();
        Self {
            rig,
            blobs: BTreeMap::new(),
            last_blob: 0,
            cursor: 0,
            runs: Vec::new(),
            arrived: BTreeSet::new(),
            crash: None,
        }
    }

    fn apply(&mut self, input: Input) {
        match input {
            Input::Arrive(which) => {
                self.last_blob += 1;
                self.blobs.insert(self.last_blob, which);
                self.arrived.insert(which);
            }
            Input::Deliver => self.deliver(),
            Input::Handle { is_ok } => {
                if let Some(run) = self.runs.pop() {
                    let outcome = if is_ok {
                        Ok(())
                    } else {
                        Err(HandlerError::default())
                    };
                    let now_ms = self.rig.now_ms;
                    self.rig.device.handle_handler_outcome(run, outcome, now_ms);
                    self.step();
                }
            }
            Input::Wait { ms } => {
                self.rig.now_ms += ms;
                let (now_ms, rng) = (self.rig.now_ms, &mut self.rig.rng);
                self.rig.device.handle_wakeup(now_ms, rng);
                self.step();
            }
            Input::Reconnect => self.reconnect(),
            Input::Crash { is_committed } => self.crash = Some(is_committed),
        }
    }

    fn deliver(&mut self) {
        let Some((blob, which)) = self.blobs.range(self.cursor + 1..).next() else {
            return;
        };
        self.cursor = *blob;
        let envelope = fixture().1[*which].clone();
        self.rig
            .device
            .handle_deliver(self.rig.session, *blob, envelope);
        self.step();
    }

    fn reconnect(&mut self) {
        self.cursor = 0;
        let effects = self.rig.connect();
        self.act(effects);
    }

    fn step(&mut self) {
        let step = self.rig.take_step();
        match self.crash.take() {
            None => {
                self.rig.store.commit(step.changes);
                self.act(step.effects);
            }
            Some(is_committed) => {
                if is_committed {
                    self.rig.store.commit(step.changes);
                }
                self.rig.restart();
                self.runs.clear();
                self.reconnect();
            }
        }
    }

    fn act(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::StartHandler { run, .. } => self.runs.push(run),
                Effect::AbandonHandler(run) => self.runs.retain(|known| *known != run),
                Effect::Acknowledge { session, blob } if session == self.rig.session => {
                    let which = self.blobs.remove(&blob).expect("it was delivered");
                    self.check_acknowledged(which);
                }
                _ => {}
            }
        }
    }

    /// What is acknowledged is durable: its record, its row, or its issue.
    fn check_acknowledged(&self, which: usize) {
        let store = &self.rig.store;
        match which {
            NEWER => panic!("a held blob stays on the relay"),
            JUNK => assert!(!store.issues.is_empty()),
            _ => assert!(store.handled.len() >= store.rows.len() && !store.handled.is_empty()),
        }
    }

    fn check(&self) {
        let ids: BTreeSet<_> = self.rig.store.rows.values().map(|row| row.id).collect();
        assert_eq!(ids.len(), self.rig.store.rows.len());
        assert_eq!(self.rig.store.repeats, 0, "no message is shown twice");
        assert!(self.runs.len() <= 1, "one at a time");
    }

    /// The relay delivers everything again and the handler takes it.
    fn conclude(mut self) {
        self.crash = None;
        self.reconnect();
        for _ in 0..200 {
            self.deliver();
            self.apply(Input::Handle { is_ok: true });
            self.apply(Input::Wait { ms: 8_000 });
            self.check();
        }
        let messages = self
            .arrived
            .iter()
            .filter(|which| **which < MESSAGES)
            .count();
        let store = &self.rig.store;
        assert_eq!(store.handled.len(), messages);
        let gave_up = store
            .issues
            .iter()
            .filter(|issue| matches!(issue, DeliveryIssue::HandlerGaveUp { .. }))
            .count();
        assert_eq!(
            store.rows.len() + gave_up,
            messages,
            "each once, or given up by name"
        );
        assert!(
            self.blobs.values().all(|which| *which == NEWER),
            "all else is acknowledged"
        );
        assert_eq!(store.held.len(), usize::from(self.arrived.contains(&NEWER)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_message_is_shown_once_whatever_happens(inputs in inputs()) {
        let mut trial = Trial::new();
        for input in inputs {
            trial.apply(input);
            trial.check();
        }
        trial.conclude();
    }
}
