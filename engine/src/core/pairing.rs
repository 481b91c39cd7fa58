//! Pairing: the window of the side that admits, and the join of the side that asks.
//!
//! Owns the pairing secrets, the requests and the words on both sides. Never issues a
//! manifest, never queues a message. The window is memory only: a restart of the
//! program closes it and spends its secret. A join survives restarts.
//!
//! Invariants:
//! - a secret is good for one accept: accepting, cancelling, joining and opening another
//!   window all spend it;
//! - a request asks once per pair of keys, however often its blob comes;
//! - a request can be accepted only after its words were shown;
//! - the ids of requests are never used twice, so an answer to an old window finds nothing;
//! - an acceptance that is never written leaves its window open;
//! - a dismissed device doesn't ask again in its window. Whoever gives it the code of a new
//!   window lets it ask again;
//! - what strangers cause is bounded: the requests of a window, the windows that are
//!   remembered, and one computation of words for each request that can still be shown.
//!
//! Spec: 4; amendments 3 and 13.

use std::collections::{BTreeMap, VecDeque};

use rand_core::CryptoRngCore;
use sealpost_protocol::key::DeviceKeys;
use sealpost_protocol::name::DeviceName;
use sealpost_protocol::pair::PairBody;
use sealpost_protocol::token::{PairingSecret, PairingToken};

use super::event::{
    JoinProgress, JoinRequest, JoinRequestId, PairingJoin, PairingState, PairingWindow, Spent,
};
use super::step::{JoinRecord, WordsRequest, WordsTarget};
use super::timing;

/// Both sides of pairing of one device.
#[derive(Default)]
pub(super) struct Pairing {
    window: Option<Window>,
    join: Option<Join>,
    /// The window that the last acceptance closed, until that is sure to be written.
    accepted: Option<AcceptedWindow>,
    /// The newest windows that are closed, the last one at the end.
    spent: VecDeque<SpentWindow>,
    last_request: u64,
    last_join: u64,
}

/// A window that is closed.
struct SpentWindow {
    token: PairingToken,
    spent: Spent,
    is_told: bool,
}

/// A window that an acceptance closed.
struct AcceptedWindow {
    window: Window,
    /// Who was let in.
    keys: DeviceKeys,
    /// Whether the acceptance was handed out to be written.
    is_drained: bool,
}

/// An open window.
struct Window {
    token: PairingToken,
    opened_at_ms: u64,
    requests: BTreeMap<JoinRequestId, Request>,
}

/// A device that asked, also after it was dismissed.
struct Request {
    keys: DeviceKeys,
    name: DeviceName,
    words: Option<[String; 4]>,
    looks_like: Option<DeviceName>,
    is_dismissed: bool,
}

/// The own join.
struct Join {
    number: u64,
    record: JoinRecord,
    words: Option<[String; 4]>,
}

/// What became of a Pair.
pub(super) enum Asked {
    /// A new request; its words have to be computed before it is shown.
    New(WordsRequest),
    /// The same device asked before, or is in the group.
    Known,
    /// It knows the secret of a window that is closed, which nobody has said yet.
    Stale { name: DeviceName, spent: Spent },
    /// No window, no proof, or too many requests.
    Refused,
}

impl Pairing {
    /// Takes up the join that the store holds. A window doesn't survive.
    pub(super) fn restore(record: Option<JoinRecord>) -> Self {
        let mut pairing = Self::default();
        if let Some(record) = record {
            pairing.join(record);
        }
        pairing
    }

    /// Takes over the window of the machine before, if it `fits` by its owner's keys, and
    /// goes on with its numbers. One that was closed by an acceptance is open again if that
    /// was never written: then the `members` don't hold who was accepted. Returns the words to
    /// compute for requests that lack them.
    pub(super) fn take_over(
        &mut self,
        last: &mut Self,
        fits: impl Fn(DeviceKeys) -> bool,
        members: &[DeviceKeys],
    ) -> Vec<WordsRequest> {
        self.last_request = last.last_request;
        self.spent = std::mem::take(&mut last.spent);
        let accepted = last.accepted.take();
        let undone = accepted.filter(|accepted| !members.contains(&accepted.keys));
        if let Some(undone) = &undone {
            let token = &undone.window.token;
            self.spent.retain(|past| past.token != *token);
        }
        let window = last.window.take().or(undone.map(|undone| undone.window));
        self.window = window.filter(|window| self.join.is_none() && fits(window.token.keys()));
        let Some(window) = &self.window else {
            return Vec::new();
        };
        let lacks = |request: &&Request| request.words.is_none() && !request.is_dismissed;
        let open = window.requests.iter().map(|(id, request)| (*id, request));
        open.filter(|(_, request)| lacks(request))
            .map(|(id, request)| window.words_of(id, request.keys))
            .collect()
    }

    /// Whether words for this target are still of use.
    pub(super) fn wants_words(&self, target: WordsTarget) -> bool {
        match target {
            WordsTarget::Request(id) => self
                .window
                .as_ref()
                .and_then(|window| window.requests.get(&id))
                .is_some_and(|request| request.words.is_none() && !request.is_dismissed),
            WordsTarget::Join(number) => self
                .join
                .as_ref()
                .is_some_and(|join| join.number == number && join.words.is_none()),
        }
    }

    /// Opens a window under a new secret; one that was open is closed.
    pub(super) fn open(
        &mut self,
        me: DeviceKeys,
        now_ms: u64,
        rng: &mut impl CryptoRngCore,
    ) -> PairingToken {
        self.close(Spent::Closed);
        let token = PairingToken::new(me, PairingSecret::generate(rng));
        self.window = Some(Window {
            token: token.clone(),
            opened_at_ms: now_ms,
            requests: BTreeMap::new(),
        });
        token
    }

    /// Closes the window and spends its secret. Returns whether one was open.
    pub(super) fn close(&mut self, spent: Spent) -> bool {
        let Some(window) = self.window.take() else {
            return false;
        };
        self.spend(window.token, spent);
        true
    }

    /// Closes the window with which a device was let in. It is kept until that is written.
    pub(super) fn close_accepted(&mut self, keys: DeviceKeys) {
        let Some(window) = self.window.take() else {
            return;
        };
        self.spend(window.token.clone(), Spent::Accepted);
        self.accepted = Some(AcceptedWindow {
            window,
            keys,
            is_drained: false,
        });
    }

    /// A step is handed out: what the one before held is written, or this machine would have
    /// been replaced.
    pub(super) fn note_drained(&mut self) {
        self.accepted = self.accepted.take().filter(|accepted| !accepted.is_drained);
        if let Some(accepted) = &mut self.accepted {
            accepted.is_drained = true;
        }
    }

    fn spend(&mut self, token: PairingToken, spent: Spent) {
        if self.spent.len() >= timing::SPENT_WINDOWS_MAX {
            self.spent.pop_front();
        }
        self.spent.push_back(SpentWindow {
            token,
            spent,
            is_told: false,
        });
    }

    /// Takes a Pair whose author is known to hold the signing key in it. One of a member, by
    /// both of its keys, that isn't of the open window is a copy of the one it came in with:
    /// no news and no offence.
    pub(super) fn handle_pair(&mut self, body: PairBody, is_member: bool) -> Asked {
        let is_proven = |token: &PairingToken| body.is_proven(&token.keys(), token.secret());
        let Some(window) = self
            .window
            .as_mut()
            .filter(|window| is_proven(&window.token))
        else {
            if is_member {
                return Asked::Known;
            }
            let known = self.spent.iter_mut().find(|past| is_proven(&past.token));
            return match known {
                Some(past) if !past.is_told => {
                    past.is_told = true;
                    let spent = past.spent;
                    Asked::Stale {
                        name: body.name,
                        spent,
                    }
                }
                _ => Asked::Refused,
            };
        };
        if window
            .requests
            .values()
            .any(|request| request.keys == body.keys)
        {
            return Asked::Known;
        }
        let dismissed = window
            .requests
            .values()
            .filter(|request| request.is_dismissed)
            .count();
        if window.requests.len().saturating_sub(dismissed) >= timing::JOIN_REQUESTS_MAX
            || dismissed >= timing::JOIN_REQUESTS_DISMISSED_MAX
        {
            return Asked::Refused;
        }
        self.last_request = self.last_request.saturating_add(1);
        let id = JoinRequestId(self.last_request);
        let words = window.words_of(id, body.keys);
        let request = Request {
            keys: body.keys,
            name: body.name,
            words: None,
            looks_like: None,
            is_dismissed: false,
        };
        window.requests.insert(id, request);
        Asked::New(words)
    }

    /// Takes computed words of a request, and looks for a member with a name like its own.
    /// Returns the request if it can be shown now.
    pub(super) fn set_request_words(
        &mut self,
        id: JoinRequestId,
        words: [String; 4],
        look_alike: impl FnOnce(&DeviceKeys, &DeviceName) -> Option<DeviceName>,
    ) -> Option<JoinRequest> {
        let request = self.window.as_mut()?.requests.get_mut(&id)?;
        if request.words.is_some() || request.is_dismissed {
            return None;
        }
        request.words = Some(words);
        request.looks_like = look_alike(&request.keys, &request.name);
        request.shown(id)
    }

    /// The device behind a request that can be accepted.
    pub(super) fn requester(&self, id: JoinRequestId) -> Option<(DeviceKeys, DeviceName)> {
        let request = self.window.as_ref()?.requests.get(&id)?;
        request.shown(id)?;
        Some((request.keys, request.name.clone()))
    }

    /// Dismisses a request; its blob doesn't ask again. Returns whether it was shown.
    pub(super) fn dismiss(&mut self, id: JoinRequestId) -> bool {
        let Some(request) = self
            .window
            .as_mut()
            .and_then(|window| window.requests.get_mut(&id))
        else {
            return false;
        };
        let was_shown = request.shown(id).is_some();
        request.is_dismissed = true;
        was_shown
    }

    /// Starts a join; an unfinished one is replaced, an open window closed.
    pub(super) fn join(&mut self, record: JoinRecord) {
        self.close(Spent::Closed);
        self.last_join = self.last_join.saturating_add(1);
        self.join = Some(Join {
            number: self.last_join,
            record,
            words: None,
        });
    }

    /// The computation that the join's words need, until it is done.
    pub(super) fn wanted_words(&self, me: DeviceKeys) -> Option<WordsRequest> {
        let join = self.join.as_ref()?;
        if join.words.is_some() {
            return None;
        }
        Some(WordsRequest {
            target: WordsTarget::Join(join.number),
            admitter: join.record.admitter,
            joiner: me,
            secret: join.record.secret.clone(),
        })
    }

    /// Takes computed words of the join with this number. Returns whether it is still there.
    pub(super) fn set_join_words(&mut self, number: u64, words: [String; 4]) -> bool {
        match &mut self.join {
            Some(join) if join.number == number => {
                join.words = Some(words);
                true
            }
            _ => false,
        }
    }

    /// The person said *Same*. Returns the record if that is news. Nobody can have compared
    /// words that aren't there yet.
    pub(super) fn confirm(&mut self) -> Option<&JoinRecord> {
        let join = self.join.as_mut()?;
        if join.record.confirmed || join.words.is_none() {
            return None;
        }
        join.record.confirmed = true;
        Some(&join.record)
    }

    /// The relay refused the join's request for good. Returns the record.
    pub(super) fn refuse_join(&mut self) -> Option<&JoinRecord> {
        let join = self.join.as_mut()?;
        join.record.is_refused = true;
        Some(&join.record)
    }

    /// Whether the relay refused the join's request for good.
    pub(super) fn is_join_refused(&self) -> bool {
        self.join_record().is_some_and(|record| record.is_refused)
    }

    /// The join is over, one way or the other. Returns whether there was one.
    pub(super) fn end_join(&mut self) -> bool {
        self.join.take().is_some()
    }

    /// The unfinished join.
    pub(super) fn join_record(&self) -> Option<&JoinRecord> {
        self.join.as_ref().map(|join| &join.record)
    }

    /// What the app may see; `progress` is that of the join.
    pub(super) fn state(&self, progress: JoinProgress) -> PairingState {
        PairingState {
            window: self.window.as_ref().map(|window| PairingWindow {
                token: window.token.clone(),
                opened_at_ms: window.opened_at_ms,
                requests: window
                    .requests
                    .iter()
                    .filter_map(|(id, request)| request.shown(*id))
                    .collect(),
            }),
            join: self.join.as_ref().map(|join| PairingJoin {
                words: join.words.clone(),
                confirmed: join.record.confirmed,
                progress,
                admitter: join.record.admitter,
            }),
        }
    }
}

impl Window {
    fn words_of(&self, id: JoinRequestId, joiner: DeviceKeys) -> WordsRequest {
        WordsRequest {
            target: WordsTarget::Request(id),
            admitter: self.token.keys(),
            joiner,
            secret: self.token.secret().clone(),
        }
    }
}

impl Request {
    fn shown(&self, id: JoinRequestId) -> Option<JoinRequest> {
        if self.is_dismissed {
            return None;
        }
        let words = self.words.clone()?;
        Some(JoinRequest {
            id,
            name: self.name.clone(),
            words,
            looks_like: self.looks_like.clone(),
        })
    }
}
