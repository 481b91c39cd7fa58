//! The reference model: who must have been shown what, in which order, with which issues.
//!
//! It knows what was sent, what the relay held and what each device decided, and nothing of
//! how the machines work. Every decision is judged when it is committed; what is missing is
//! judged in the end.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_engine::core::issue::{DeliveryIssue, SendFailure, Unreadable};
use sealpost_engine::core::message::DeliveryState;
use sealpost_protocol::limit::{OUTBOX_LIFE_MS, RELAY_LIFE_MS_MAX, REPLAY_WINDOW_MS};
use sealpost_protocol::message_id::MessageId;

/// What a history did that it mustn't, in words.
pub(super) type Verdict = Result<(), String>;

/// One message of the app, as it was sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// Who sent it: the device or, where there are two of it, which of them.
    pub(super) author: usize,
    /// Its place among the author's messages.
    pub(super) place: usize,
    pub(super) sent_at_ms: u64,
    pub(super) body: Vec<u8>,
    /// Above the relay's limit.
    pub(super) is_large: bool,
    /// Refused by the relay as malformed where it goes to these devices.
    pub(super) malformed_at: BTreeSet<usize>,
    /// Whether its body holds an id, under which it is known when it is sent once more.
    pub(super) has_app_id: bool,
    /// What it sends once more, and to whom.
    pub(super) again: Option<(MessageId, BTreeSet<usize>)>,
    /// The handler of these devices never takes it.
    pub(super) poison: BTreeSet<usize>,
    /// Other bodies that a copy of the author sent under the same id.
    pub(super) others: Vec<Vec<u8>>,
}

/// What became of a message at one recipient.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate {
    /// Copies on the relay.
    pub(super) alive: usize,
    pub(super) is_shown: bool,
    pub(super) has_given_up: bool,
    /// A copy ended its time on the relay.
    is_outlived: bool,
    /// The device reported a copy that it refused or let go.
    is_reported: bool,
    /// A store was rewound under it.
    pub(super) is_excused: bool,
    /// It needn't keep its place.
    pub(super) may_be_late: bool,
    /// What the author's last word on it was.
    told: Option<DeliveryState>,
    /// The author deleted it before any copy had left.
    is_taken_back: bool,
}

/// A blob as the model knows it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// The message; none for a control message.
    pub(super) id: Option<MessageId>,
    pub(super) recipient: usize,
    pub(super) timestamp_ms: u64,
    pub(super) version: u8,
}

impl Known {
    /// Whether it is too old for a device whose clock shows this.
    pub(super) const fn is_aged(&self, clock_ms: u64) -> bool {
        self.timestamp_ms < clock_ms.saturating_sub(REPLAY_WINDOW_MS)
    }
}

/// What one device was shown, for a rewind of its store.
#[derive(Clone, Default)]
pub(super) struct Shown {
    decided: BTreeSet<MessageId>,
    last_place: BTreeMap<usize, usize>,
}

#[derive(Default)]
pub(super) struct Model {
    pub(super) sent: BTreeMap<MessageId, Sent>,
    pub(super) fates: BTreeMap<(MessageId, usize), Fate>,
    /// The place of the last message shown, by reader and author.
    last_place: BTreeMap<(usize, usize), usize>,
    next_place: usize,
    /// The device that exists twice.
    copied: Option<usize>,
    /// Devices whose stores went back: they don't know all their runs any more.
    rewound: BTreeSet<usize>,
    /// The ids under which a message was sent once more.
    again: BTreeMap<MessageId, Vec<MessageId>>,
}

impl Model {
    pub(super) fn note_sent(
        &mut self,
        id: MessageId,
        mut sent: Sent,
        recipients: &[usize],
    ) -> Verdict {
        self.next_place += 1;
        sent.place = self.next_place;
        if let Some(first) = self.sent.get_mut(&id) {
            // Two copies of one device count alike. Their readers are told (`idReused`).
            if first.author == sent.author || self.copied.is_none() {
                return Err("a Message ID is used twice".to_owned());
            }
            if first.again.is_some() || sent.again.is_some() {
                return Err("a retry has the id of another message".to_owned());
            }
            first.others.push(sent.body);
            for recipient in recipients {
                self.fate(id, *recipient)?.is_excused = true;
            }
            return Ok(());
        }
        if let Some((root, _)) = &sent.again {
            self.again.entry(*root).or_default().push(id);
        }
        self.sent.insert(id, sent);
        for recipient in recipients {
            self.fates.insert((id, *recipient), Fate::default());
        }
        Ok(())
    }

    pub(super) fn fate(&mut self, id: MessageId, recipient: usize) -> Result<&mut Fate, String> {
        self.fates
            .get_mut(&(id, recipient))
            .ok_or_else(|| "a message that nobody sent".to_owned())
    }

    /// Every id under which the message was sent, the first one first.
    pub(super) fn ids(&self, id: MessageId) -> Vec<MessageId> {
        let again = self.sent.get(&id).and_then(|sent| sent.again.as_ref());
        let root = again.map_or(id, |(root, _)| *root);
        let mut ids = vec![root];
        ids.extend(self.again.get(&root).into_iter().flatten());
        ids
    }

    /// Whether a device shows the message, under whichever of its ids.
    fn is_shown(&self, id: MessageId, reader: usize) -> bool {
        let is_shown = |id| {
            let fate = self.fates.get(&(id, reader));
            fate.is_some_and(|fate: &Fate| fate.is_shown)
        };
        self.ids(id).into_iter().any(is_shown)
    }

    /// The author's device says what became of a copy.
    pub(super) fn note_told(&mut self, id: MessageId, recipient: usize, state: DeliveryState) {
        if let Some(fate) = self.fates.get_mut(&(id, recipient)) {
            fate.told = Some(state);
        }
    }

    /// Its author deleted a message, of which no copy had left.
    pub(super) fn note_taken_back(&mut self, id: MessageId) {
        for id in self.ids(id) {
            for (_, fate) in self.fates.iter_mut().filter(|((of, _), _)| *of == id) {
                fate.is_taken_back = true;
                // A copy whose answer got lost may still come.
                fate.may_be_late = true;
            }
        }
    }

    /// A copy of a message goes out.
    pub(super) fn judge_pushed(&mut self, id: MessageId, recipient: usize) -> Verdict {
        if self.fate(id, recipient)?.is_taken_back {
            return Err("a message is pushed that was taken back".to_owned());
        }
        Ok(())
    }

    /// The relay stored a copy.
    pub(super) fn note_stored(&mut self, known: &Known) -> Verdict {
        if let Some(id) = known.id {
            self.fate(id, known.recipient)?.alive += 1;
        }
        Ok(())
    }

    /// A copy is gone from the relay, by its age or on an acknowledgement.
    pub(super) fn note_gone(&mut self, known: &Known, is_outlived: bool) -> Verdict {
        if let Some(id) = known.id {
            let fate = self.fate(id, known.recipient)?;
            fate.alive = fate.alive.saturating_sub(1);
            fate.is_outlived |= is_outlived;
        }
        Ok(())
    }

    /// Whether two of the device share one inbox, and each shows what the other may have shown.
    pub(super) fn is_copied(&self, device: usize) -> bool {
        self.copied == Some(device)
    }

    /// The device exists twice from here on; what it sent is sent by both.
    pub(super) fn copy(&mut self, device: usize) {
        self.copied = Some(device);
        for ((id, _), fate) in &mut self.fates {
            fate.may_be_late |= self.sent[id].author == device;
        }
    }

    /// The handler is about to run.
    pub(super) fn judge_run(&mut self, id: MessageId, reader: usize) -> Verdict {
        let is_shown = self.is_shown(id, reader);
        let fate = self.fate(id, reader)?;
        if fate.is_shown || fate.has_given_up || is_shown {
            return Err("the handler runs again for a message that was handled".to_owned());
        }
        Ok(())
    }

    /// A received message entered the history of a device.
    pub(super) fn judge_shown(&mut self, id: MessageId, reader: usize, body: &[u8]) -> Verdict {
        let is_copied = self.is_copied(reader);
        let is_shown = self.is_shown(id, reader);
        let fate = self.fate(id, reader)?;
        if (fate.is_shown || fate.has_given_up || is_shown) && !is_copied {
            return Err("a message is shown twice".to_owned());
        }
        fate.is_shown = true;
        let may_be_late = fate.may_be_late || is_copied;
        let sent = self.sent.get(&id).ok_or("nobody sent it")?;
        if sent.others.iter().any(|other| other == body) {
            return Ok(());
        }
        if sent.body != body {
            return Err("a message is shown with another body".to_owned());
        }
        if sent.poison.contains(&reader) {
            return Err("a message is shown that the handler never took".to_owned());
        }
        let last = self.last_place.entry((reader, sent.author)).or_default();
        if sent.place < *last && !may_be_late {
            return Err("a message is shown after one that was sent later".to_owned());
        }
        *last = (*last).max(sent.place);
        Ok(())
    }

    /// An issue was recorded; `clock_ms` is the device's. Those about blobs are counted by
    /// [`Self::judge_acknowledged`].
    pub(super) fn judge_issue(
        &mut self,
        issue: &DeliveryIssue,
        device: usize,
        clock_ms: u64,
    ) -> Verdict {
        match issue {
            DeliveryIssue::HandlerGaveUp { message, .. } => {
                let is_copied = self.is_copied(device);
                let fate = self.fate(*message, device)?;
                if (fate.is_shown || fate.has_given_up) && !is_copied {
                    return Err("given up, and handled before".to_owned());
                }
                fate.has_given_up = true;
                let sent = self.sent.get(message).ok_or("nobody sent it")?;
                if sent.poison.contains(&device) || !sent.others.is_empty() {
                    Ok(())
                } else {
                    Err("given up before five attempts failed".to_owned())
                }
            }
            DeliveryIssue::SendFailed { message, failure } => {
                // A copy that was on its way when the sender gave up may still arrive.
                for ((id, _), fate) in &mut self.fates {
                    fate.may_be_late |= id == message;
                }
                let sent = self.sent.get(message).ok_or("nobody sent it")?;
                let is_right = match failure {
                    SendFailure::TooLarge => sent.is_large,
                    SendFailure::Malformed => !sent.malformed_at.is_empty(),
                    SendFailure::Expired => {
                        clock_ms >= sent.sent_at_ms.saturating_add(OUTBOX_LIFE_MS)
                    }
                };
                if is_right || !sent.others.is_empty() {
                    Ok(())
                } else {
                    Err(format!("an issue without its cause: {failure:?}"))
                }
            }
            DeliveryIssue::IdReused { message }
                if self
                    .sent
                    .get(message)
                    .is_some_and(|sent| !sent.others.is_empty()) =>
            {
                Ok(())
            }
            DeliveryIssue::DeviceCopied
                if self.is_copied(device) || self.rewound.contains(&device) =>
            {
                Ok(())
            }
            DeliveryIssue::AwayTooLong { since_ms }
                if clock_ms.saturating_sub(*since_ms) > RELAY_LIFE_MS_MAX =>
            {
                Ok(())
            }
            // The keys' own marker is the shell's, and a store in memory has no pages to damage.
            DeliveryIssue::IdReused { .. }
            | DeliveryIssue::DeviceCopied
            | DeliveryIssue::StoreRestored
            | DeliveryIssue::StoreRepaired
            | DeliveryIssue::StoreReset
            | DeliveryIssue::AwayTooLong { .. } => {
                Err(format!("an issue without its cause: {}", issue.code()))
            }
            DeliveryIssue::HeldForUpgrade { .. }
            | DeliveryIssue::Unreadable(Unreadable::Expired | Unreadable::DroppedWhileHeld) => {
                Ok(())
            }
            DeliveryIssue::Unauthorized | DeliveryIssue::Unreadable(_) => {
                Err(format!("an issue without a cause: {}", issue.code()))
            }
        }
    }

    /// A device acknowledges a blob. Returns the issue that must stand beside it.
    pub(super) fn judge_acknowledged(
        &mut self,
        known: &Known,
        version: u8,
        clock_ms: u64,
    ) -> Result<Option<Unreadable>, String> {
        let issue = if known.version > version {
            Some(Unreadable::DroppedWhileHeld)
        } else if known.is_aged(clock_ms) {
            Some(Unreadable::Expired)
        } else {
            None
        };
        if let Some(id) = known.id {
            let is_shown = self.is_shown(id, known.recipient);
            let fate = self.fate(id, known.recipient)?;
            match issue {
                Some(_) => {
                    fate.is_reported = true;
                    fate.may_be_late = true;
                }
                None if !fate.is_shown && !fate.has_given_up && !is_shown => {
                    return Err("acknowledged, and neither shown nor reported".to_owned());
                }
                None => {}
            }
        }
        Ok(issue)
    }

    /// What a device was shown so far.
    pub(super) fn shown_to(&self, reader: usize) -> Shown {
        Shown {
            decided: self
                .fates
                .iter()
                .filter(|((_, at), fate)| *at == reader && (fate.is_shown || fate.has_given_up))
                .map(|((id, _), _)| *id)
                .collect(),
            last_place: self
                .last_place
                .iter()
                .filter(|((at, _), _)| *at == reader)
                .map(|((_, author), place)| (*author, *place))
                .collect(),
        }
    }

    /// A device's store goes back to `shown`; what it sent after `place` it doesn't know.
    pub(super) fn rewind(&mut self, device: usize, shown: &Shown, place: usize) {
        self.rewound.insert(device);
        for ((id, reader), fate) in &mut self.fates {
            let sent = &self.sent[id];
            if *reader == device && !shown.decided.contains(id) {
                let was_decided = fate.is_shown || fate.has_given_up || fate.is_reported;
                fate.is_excused |= was_decided;
                // A second copy may still come, and the store of then doesn't know it.
                fate.may_be_late |= was_decided;
                fate.is_shown = false;
                fate.has_given_up = false;
            }
            if sent.author == device {
                fate.is_excused |= sent.place > place || fate.is_taken_back;
                fate.is_taken_back = false;
                // What waited in the store of then is pushed once more, and what was on its
                // way is waited for by nobody.
                fate.may_be_late = true;
            }
        }
        for ((reader, author), last) in &mut self.last_place {
            if *reader == device {
                *last = shown.last_place.get(author).copied().unwrap_or(0);
            }
        }
    }

    /// The place of the last message sent.
    pub(super) const fn place(&self) -> usize {
        self.next_place
    }

    /// All is quiet: what isn't shown must have a reason. `state` is what the author knows.
    pub(super) fn judge_end(
        &self,
        state: impl Fn(&Sent, MessageId, usize) -> Option<DeliveryState>,
    ) -> Verdict {
        for ((id, reader), fate) in &self.fates {
            let sent = &self.sent[id];
            let state = state(sent, *id, *reader);
            if matches!(
                state,
                Some(DeliveryState::Waiting | DeliveryState::Withdrawn)
            ) {
                return Err("a copy still waits in the outbox".to_owned());
            }
            if fate.is_taken_back {
                continue;
            }
            let has_failed = matches!(state, Some(DeliveryState::Failed(_)))
                || matches!(fate.told, Some(DeliveryState::Failed(_)));
            let is_refused = sent.is_large || sent.malformed_at.contains(reader);
            if is_refused && !has_failed && !fate.is_excused {
                return Err("a refused message has no failure".to_owned());
            }
            let is_done = fate.is_shown || fate.has_given_up || self.is_shown(*id, *reader);
            let has_reason = has_failed || fate.is_outlived || fate.is_reported || fate.is_excused;
            if !is_done && !has_reason {
                return Err(format!(
                    "a message of device {} (place {}) is lost at device {reader}",
                    sent.author, sent.place
                ));
            }
        }
        Ok(())
    }
}
