//! A small model of a mailbox server's rules: one nameplate, one mailbox, any number of
//! connections. It keeps what the specification says that a server keeps, and no more.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A stored message: side, phase, body, number.
type Stored = (String, String, String, Option<u64>);

/// The server.
#[derive(Default)]
pub(super) struct Door {
    /// Whether it knows numbers and deletes.
    pub(super) is_ours: bool,
    pub(super) stored: Vec<Stored>,
    pub(super) acked: BTreeMap<String, u64>,
    pub(super) sides: Vec<String>,
    pub(super) moods: Vec<String>,
    pub(super) is_released: bool,
    lines: BTreeMap<u32, Conversation>,
    last_line: u32,
}

#[derive(Default)]
struct Conversation {
    side: String,
    wants_opened: bool,
    is_open: bool,
    out: Vec<String>,
}

impl Door {
    /// A new one, with or without numbers and deletes.
    pub(super) fn new(is_ours: bool) -> Self {
        Self {
            is_ours,
            ..Self::default()
        }
    }

    pub(super) fn connect(&mut self) -> u32 {
        self.last_line += 1;
        let abilities = json!(["message-delete-v1", "message-seqnum-v1"]);
        let inner = if self.is_ours {
            json!({ "mailbox-abilities": abilities })
        } else {
            json!({})
        };
        let welcome = json!({"type": "welcome", "welcome": inner}).to_string();
        let line = Conversation {
            out: vec![welcome],
            ..Conversation::default()
        };
        self.lines.insert(self.last_line, line);
        self.last_line
    }

    pub(super) fn lose(&mut self, line: u32) {
        self.lines.remove(&line);
    }

    /// What waits for a client.
    pub(super) fn waiting(&mut self, line: u32) -> Option<&mut Vec<String>> {
        self.lines.get_mut(&line).map(|line| &mut line.out)
    }

    /// The server forgets everything.
    pub(super) fn forget(&mut self) {
        self.stored.clear();
        self.acked.clear();
        self.sides.clear();
    }

    fn say(&mut self, line: u32, frame: &Value) {
        if let Some(line) = self.lines.get_mut(&line) {
            line.out.push(frame.to_string());
        }
    }

    pub(super) fn hear(&mut self, line: u32, text: &str) {
        let frame: Value = serde_json::from_str(text).unwrap();
        let text = |name: &str| frame[name].as_str().unwrap_or_default().to_owned();
        self.say(line, &json!({"type": "ack", "id": frame["id"]}));
        let Some(side) = self.lines.get(&line).map(|line| line.side.clone()) else {
            return;
        };
        match frame["type"].as_str().unwrap() {
            "bind" => {
                let line = self.lines.get_mut(&line).unwrap();
                line.side = text("side");
                line.wants_opened = self.is_ours && frame["mailbox-abilities"].is_array();
            }
            "allocate" => self.say(line, &json!({"type": "allocated", "nameplate": "4"})),
            "claim" if !self.admit(&side) => self.refuse(line, "crowded"),
            "claim" => self.say(line, &json!({"type": "claimed", "mailbox": "mb"})),
            "release" => {
                self.is_released = true;
                self.say(line, &json!({"type": "released"}));
            }
            "open" if !self.admit(&side) => self.refuse(line, "crowded"),
            "open" => self.open(line),
            "add" => self.add(line, &side, text("phase"), text("body"), &frame["seqnum"]),
            "message-ack" => self.retire(&text("side"), frame["seqnum"].as_u64().unwrap()),
            "delete" => {
                let (side, phase) = (text("their-side"), text("their-phase"));
                self.stored.retain(|row| row.0 != side || row.1 != phase);
            }
            "close" => {
                self.moods.push(text("mood"));
                self.say(line, &json!({"type": "closed"}));
            }
            "ping" => self.say(line, &json!({"type": "pong", "pong": frame["ping"]})),
            other => panic!("unknown type {other}"),
        }
    }

    fn admit(&mut self, side: &str) -> bool {
        if !self.sides.iter().any(|known| known == side) {
            self.sides.push(side.to_owned());
        }
        self.sides.len() <= 2
    }

    fn refuse(&mut self, line: u32, text: &str) {
        self.say(line, &json!({"type": "error", "error": text, "orig": null}));
    }

    fn open(&mut self, line: u32) {
        let mut seqnums = self.acked.clone();
        for (side, _, _, seqnum) in &self.stored {
            if let Some(seqnum) = seqnum {
                let highest = seqnums.entry(side.clone()).or_default();
                *highest = (*highest).max(*seqnum);
            }
        }
        let acked = self.acked.clone();
        let (rows, conversation) = (self.stored.clone(), self.lines.get_mut(&line).unwrap());
        conversation.is_open = true;
        if conversation.wants_opened {
            let opened = json!({"type": "opened", "seqnums": seqnums, "acked": acked});
            conversation.out.push(opened.to_string());
        }
        conversation.out.extend(rows.iter().map(message));
    }

    fn add(&mut self, line: u32, side: &str, phase: String, body: String, seqnum: &Value) {
        let seqnum = seqnum.as_u64();
        let row = (side.to_owned(), phase, body, seqnum);
        let is_acked = seqnum.is_some_and(|n| self.acked.get(side).is_some_and(|a| n <= *a));
        let before = self
            .stored
            .iter()
            .find(|other| seqnum.is_some() && other.0 == row.0 && other.3 == seqnum);
        let is_repeat = before == Some(&row);
        assert!(self.is_ours || seqnum.is_none(), "it was never announced");
        if !is_acked && !is_repeat && before.is_some() {
            return self.refuse(line, "seqnum already used");
        }
        let is_quiet = is_acked || is_repeat;
        if !is_quiet {
            self.stored.push(row.clone());
        }
        let lines = self.lines.values_mut().filter(|line| line.is_open);
        for line in lines.filter(|line| !is_quiet || line.side == side) {
            line.out.push(message(&row));
        }
    }

    fn retire(&mut self, side: &str, seqnum: u64) {
        if !self.sides.iter().any(|known| known == side) {
            return;
        }
        let highest = self.acked.entry(side.to_owned()).or_default();
        *highest = (*highest).max(seqnum);
        let highest = *highest;
        self.stored
            .retain(|row| row.0 != side || row.3.is_none_or(|number| number > highest));
    }
}

fn message(row: &Stored) -> String {
    let (side, phase, body, seqnum) = row;
    let mut frame = json!({"type": "message", "side": side, "phase": phase, "body": body});
    if let Some(seqnum) = seqnum {
        frame["seqnum"] = json!(seqnum);
    }
    frame.to_string()
}
