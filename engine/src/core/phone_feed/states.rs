//! The states that a phone is to have, and which of them may go out now.
//!
//! Owns what was handed to the link last under each key, and what waits for room. What waits
//! is only ever the newest: an offer takes the place of an older one under its key.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::link::feed::{FromDesktop, GROUPS_KEY, Message, changed_key, tail_key};
use sealpost_protocol::link::payload::PayloadId;
use sha2::{Digest as _, Sha256};

use super::{ROWS_MAX, ROWS_OF_A_KEY_MAX, changed};

/// A row of the link's outbox, as far as the feed cares: all that the phone hasn't said that
/// it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRow {
    /// Its id.
    pub id: PayloadId,
    /// Its collapse key, of a state.
    pub key: Option<String>,
    /// Whether it hasn't left this device: one under the same key takes its place.
    pub is_here: bool,
}

/// A state that is to be handed to the link.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its collapse key.
    pub key: String,
    /// Its body.
    pub body: Vec<u8>,
}

/// What one phone is shown.
#[derive(Default)]
pub struct PhoneFeed {
    rows: Vec<WaitingRow>,
    /// What was handed to the link last, by key.
    handed: BTreeMap<String, [u8; 32]>,
    /// What waits for room, by key.
    offered: BTreeMap<String, Vec<u8>>,
    /// Older messages that moved on and that the phone may not know of, by group.
    changed: BTreeMap<String, Changed>,
    /// The groups of which anything was handed to the link.
    told: BTreeSet<String>,
}

/// The messages of a group that moved on. A state under the same key takes the place of one
/// that the phone never saw, so it holds all that the phone hasn't said that it has.
#[derive(Default)]
struct Changed {
    messages: BTreeMap<u64, Message>,
    /// What went last, and what it held.
    handed: Option<(PayloadId, BTreeMap<u64, Message>)>,
}

impl PhoneFeed {
    /// Takes note of what waits in the link's outbox now.
    pub fn handle_outbox(&mut self, rows: Vec<WaitingRow>) {
        self.rows = rows;
        // Of an earlier run too: what was shared then may not be now.
        let keys = self.rows.iter().filter_map(|row| row.key.as_deref());
        self.told
            .extend(keys.filter_map(group_of).map(str::to_owned));
        let waits = |id: &PayloadId| self.rows.iter().any(|row| row.id == *id);
        for changed in self.changed.values_mut() {
            let Some((_, held)) = changed.handed.take_if(|(id, _)| !waits(id)) else {
                continue;
            };
            let is_news = |at: &u64, message: &mut Message| held.get(at) != Some(&*message);
            changed.messages.retain(is_news);
        }
        self.changed
            .retain(|_, changed| !changed.messages.is_empty() || changed.handed.is_some());
    }

    /// Handles that the time of a state was over before the phone collected it. To be called
    /// before [`Self::handle_outbox`] hears that it waits no more, which otherwise means that
    /// the phone has it. What it held is news to the phone still: the next offer goes out, be
    /// it the same; a group that was taken away is taken away again.
    pub fn handle_expired(&mut self, id: PayloadId, key: &str) {
        self.handed.remove(key);
        self.told.extend(group_of(key).map(str::to_owned));
        for changed in self.changed.values_mut() {
            changed.handed.take_if(|(handed, _)| *handed == id);
        }
    }

    /// Offers the list of the groups that are shared.
    pub fn offer_groups(&mut self, groups: &FromDesktop) {
        self.offer(GROUPS_KEY.to_owned(), groups.encode());
    }

    /// Offers the newest messages of a group that is shared.
    pub fn offer_tail(&mut self, group: &str, tail: &FromDesktop) {
        self.told.insert(group.to_owned());
        self.offer(tail_key(group), tail.encode());
        // What stands in the tail needn't be told beside it.
        if let FromDesktop::Tail { messages, .. } = tail
            && let (Some(first), Some(changed)) = (messages.first(), self.changed.get_mut(group))
        {
            changed.messages.retain(|at, _| *at < first.position);
        }
    }

    /// Takes note of an older message of a shared group that moved on.
    pub fn note_changed(&mut self, group: &str, message: Message) {
        self.told.insert(group.to_owned());
        let changed = self.changed.entry(group.to_owned()).or_default();
        changed.messages.insert(message.position, message);
    }

    /// A group isn't shared any more: what hasn't left this device is replaced by nothing.
    pub fn withdraw(&mut self, group: &str) {
        if !self.told.remove(group) {
            return;
        }
        self.changed.remove(group);
        self.offered.remove(&changed_key(group));
        let tail = FromDesktop::Tail {
            group: group.to_owned(),
            from: None,
            messages: Vec::new(),
        };
        self.offer(tail_key(group), tail.encode());
        let key = changed_key(group);
        if self
            .rows
            .iter()
            .any(|row| row.is_here && row.key.as_ref() == Some(&key))
        {
            self.offer(key, changed(group, &[]).encode());
        }
    }

    /// The groups of which the phone has been told anything.
    pub fn told(&self) -> impl Iterator<Item = &str> {
        self.told.iter().map(String::as_str)
    }

    /// What may be handed to the link now, the most important first. [`Self::handle_handed`]
    /// has to follow.
    #[must_use]
    pub fn next(&self) -> Option<Outgoing> {
        let groups = self.offered.get_key_value(GROUPS_KEY);
        let others = self.offered.iter().filter(|(key, _)| *key != GROUPS_KEY);
        let mut states = groups.into_iter().chain(others);
        let state = states.find(|(key, _)| self.has_room(key));
        let state = state.map(|(key, body)| Outgoing {
            key: key.clone(),
            body: body.clone(),
        });
        state.or_else(|| self.next_changed())
    }

    /// Handles that a state was handed to the link and is a row of its outbox.
    pub fn handle_handed(&mut self, outgoing: &Outgoing, id: PayloadId) {
        let Outgoing { key, body } = outgoing;
        self.handed.insert(key.clone(), digest(body));
        if self.offered.get(key) == Some(body) {
            self.offered.remove(key);
        }
        let is_it = |(group, _): &(&String, &mut Changed)| changed_key(group) == *key;
        if let Some((_, changed)) = self.changed.iter_mut().find(is_it) {
            let held = FromDesktop::decode(body);
            if let Some(FromDesktop::Changed { messages, .. }) = held {
                let held = messages.into_iter().map(|one| (one.position, one));
                changed.handed = Some((id, held.collect()));
            }
        }
        // It took the place of one that hadn't left.
        self.rows
            .retain(|row| !(row.is_here && row.key.as_ref() == Some(key)));
        self.rows.push(WaitingRow {
            id,
            key: Some(key.clone()),
            is_here: true,
        });
    }

    /// Whether there is room for the answer to a request of the phone.
    #[must_use]
    pub fn has_room_for_answer(&self) -> bool {
        // Requests come from a phone that looks and collects; the last slots stay for states.
        self.rows.iter().filter(|row| row.key.is_none()).count() < ROWS_MAX / 2
    }

    fn offer(&mut self, key: String, body: Vec<u8>) {
        if self.handed.get(&key) == Some(&digest(&body)) {
            // What waited under the key is old: the phone is to have what it was handed.
            self.offered.remove(&key);
        } else {
            self.offered.insert(key, body);
        }
    }

    fn next_changed(&self) -> Option<Outgoing> {
        self.changed.iter().find_map(|(group, state)| {
            let key = changed_key(group);
            let messages: Vec<_> = state.messages.values().cloned().collect();
            let held = state.handed.as_ref().map(|(_, held)| held);
            let is_news = |message: &Message| {
                held.is_none_or(|held| held.get(&message.position) != Some(message))
            };
            if !messages.iter().any(is_news) || !self.has_room(&key) {
                return None;
            }
            let body = changed(group, &messages).encode();
            // What doesn't fit beside the rest goes when that has been collected.
            let is_handed = self.handed.get(&key) == Some(&digest(&body)) && held.is_some();
            (!is_handed).then_some(Outgoing { key, body })
        })
    }

    fn has_room(&self, key: &str) -> bool {
        let mut of_key = self
            .rows
            .iter()
            .filter(|row| row.key.as_deref() == Some(key));
        // It takes the place of that one.
        if of_key.any(|row| row.is_here) {
            return true;
        }
        let of_key = self
            .rows
            .iter()
            .filter(|row| row.key.as_deref() == Some(key));
        of_key.count() < ROWS_OF_A_KEY_MAX && self.rows.len() < ROWS_MAX
    }
}

/// The group that a state is about.
fn group_of(key: &str) -> Option<&str> {
    let (_, group) = key.split_once(':')?;
    (tail_key(group) == key || changed_key(group) == key).then_some(group)
}

fn digest(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}
