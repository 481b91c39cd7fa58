//! Random adding, acknowledging, reopening and restarting, beside a model of a few lines:
//! a message is delivered to the other side until it is retired, and never stored after.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};

use super::MemoryServer;

#[derive(Clone, Debug)]
enum Step {
    Add {
        side: usize,
        phase: u8,
        seqnum: Option<u64>,
    },
    Ack {
        side: usize,
        seqnum: u64,
    },
    Delete {
        side: usize,
        phase: u8,
        is_proposed: bool,
    },
    Reopen {
        side: usize,
    },
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0_usize..2, 0_u8..4, prop::option::weighted(0.8, 0_u64..8))
            .prop_map(|(side, phase, seqnum)| Step::Add { side, phase, seqnum }),
        3 => (0_usize..2, 0_u64..9).prop_map(|(side, seqnum)| Step::Ack { side, seqnum }),
        2 => (0_usize..2, 0_u8..4, any::<bool>())
            .prop_map(|(side, phase, is_proposed)| Step::Delete { side, phase, is_proposed }),
        2 => (0_usize..2).prop_map(|side| Step::Reopen { side }),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 0..60)
}

/// A message of the model: whose it is, its phase, its number.
type Row = (usize, u8, Option<u64>);

/// What the mailbox should hold and remember.
#[derive(Default)]
struct Model {
    rows: Vec<Row>,
    acked: BTreeMap<usize, u64>,
}

/// Who should hear of an add.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Heard {
    ByBoth,
    ByAuthor,
    Refused,
}

impl Model {
    fn add(&mut self, row: Row) -> Heard {
        let (side, _, seqnum) = row;
        if let Some(seqnum) = seqnum {
            if self.acked.get(&side).is_some_and(|acked| seqnum <= *acked) {
                return Heard::ByAuthor;
            }
            let same = |one: &&Row| one.0 == side && one.2 == Some(seqnum);
            match self.rows.iter().find(same) {
                Some(stored) if *stored == row => return Heard::ByAuthor,
                Some(_) => return Heard::Refused,
                None => {}
            }
        }
        self.rows.push(row);
        Heard::ByBoth
    }

    fn ack(&mut self, author: usize, through: u64) {
        let acked = self.acked.entry(author).or_insert(through);
        *acked = (*acked).max(through);
        self.rows.retain(|(side, _, seqnum)| {
            *side != author || seqnum.is_none_or(|seqnum| seqnum > through)
        });
    }
}

const SIDES: [&str; 2] = ["a", "b"];

struct Run {
    server: MemoryServer<ChaCha20Rng>,
    clients: [u32; 2],
    model: Model,
}

impl Run {
    fn new() -> Self {
        let mut run = Self {
            server: MemoryServer::new(ChaCha20Rng::seed_from_u64(3)),
            clients: [0; 2],
            model: Model::default(),
        };
        run.reopen(0);
        run.reopen(1);
        run
    }

    fn send(&mut self, side: usize, command: &Value) -> Vec<Value> {
        let client = self.clients[side];
        assert!(self.server.handle(client, command.to_string().as_bytes()));
        let mut heard = self.heard(side);
        assert_eq!(heard.remove(0)["type"], "ack");
        heard
    }

    fn heard(&mut self, side: usize) -> Vec<Value> {
        let texts = self.server.take(self.clients[side]);
        let read = |text: &String| serde_json::from_str(text).unwrap();
        texts.iter().map(read).collect()
    }

    /// A fresh connection gets what the model says, in its order.
    fn reopen(&mut self, side: usize) {
        self.server.disconnect(self.clients[side]);
        self.clients[side] = self.server.connect();
        let bind = json!({
            "type": "bind", "appid": "app", "side": SIDES[side],
            "mailbox-abilities": ["message-seqnum-v1"],
        });
        assert!(self.send(side, &bind).is_empty());
        let mut sent = self.send(side, &json!({"type": "open", "mailbox": "box"}));
        let opened = sent.remove(0);
        let rows: Vec<_> = sent.iter().map(row_of).collect();
        assert_eq!(rows, self.model.rows);
        let acked = self.model.acked.iter();
        let acked = acked.map(|(side, seqnum)| (SIDES[*side].to_owned(), (*seqnum).into()));
        assert_eq!(opened["acked"], Value::Object(acked.collect()));
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Add {
                side,
                phase,
                seqnum,
            } => {
                let row = (side, phase, seqnum);
                let add = json!({
                    "type": "add", "phase": phase.to_string(), "body": "", "seqnum": seqnum,
                });
                let expected = self.model.add(row);
                let own: Vec<_> = self.send(side, &add);
                let theirs: Vec<_> = self.heard(1 - side).iter().map(row_of).collect();
                match expected {
                    Heard::Refused => assert_eq!(own[0]["error"], "seqnum already used"),
                    Heard::ByAuthor | Heard::ByBoth => assert_eq!(row_of(&own[0]), row),
                }
                assert_eq!(own.len(), 1);
                let reaches = usize::from(expected == Heard::ByBoth);
                assert_eq!(theirs, vec![row; reaches]);
            }
            Step::Ack { side, seqnum } => {
                let author = 1 - side;
                let ack = json!({
                    "type": "message-ack", "side": SIDES[author], "seqnum": seqnum,
                });
                assert!(self.send(side, &ack).is_empty());
                self.model.ack(author, seqnum);
            }
            Step::Delete {
                side,
                phase,
                is_proposed,
            } => {
                let author = 1 - side;
                let kind = if is_proposed { "message-ack" } else { "delete" };
                let delete = json!({
                    "type": kind, "their-side": SIDES[author], "their-phase": phase.to_string(),
                });
                assert!(self.send(side, &delete).is_empty());
                let rows = &mut self.model.rows;
                rows.retain(|(of, what, _)| *of != author || *what != phase);
            }
            Step::Reopen { side } => self.reopen(side),
            Step::Restart => {
                self.server.restart();
                self.reopen(0);
                self.reopen(1);
            }
        }
    }
}

fn row_of(message: &Value) -> Row {
    assert_eq!(message["type"], "message", "{message}");
    let side = SIDES
        .iter()
        .position(|side| message["side"] == *side)
        .unwrap();
    let phase = message["phase"].as_str().unwrap().parse().unwrap();
    (side, phase, message.get("seqnum").and_then(Value::as_u64))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_message_is_delivered_until_retired_and_never_stored_after(steps in steps()) {
        let mut run = Run::new();
        let mut retired = BTreeSet::new();
        for step in steps {
            let before: BTreeSet<_> = numbered(&run.model.rows);
            let is_ack = matches!(step, Step::Ack { .. });
            run.step(step);
            let after = numbered(&run.model.rows);
            prop_assert!(retired.is_disjoint(&after), "a retired one was stored again");
            if is_ack {
                retired.extend(before.difference(&after).copied());
            }
        }
        run.reopen(0);
        run.reopen(1);
    }
}

fn numbered(rows: &[Row]) -> BTreeSet<(usize, u64)> {
    let numbers = rows
        .iter()
        .filter_map(|(side, _, seqnum)| Some((*side, (*seqnum)?)));
    numbers.collect()
}
