//! The merge timer: who states the view when the current manifest doesn't, and when.
//!
//! A device that sees a mismatch waits for its rank times [`MERGE_DELAY_MS`] and a random
//! part, so that usually one device issues the merge and the others see it in time. The
//! delay counts only while the device is online and has drained its inbox.
//!
//! The timer is volatile: a restart derives it again. Spec: membership rule, section 3.6.

use std::collections::{BTreeSet, VecDeque};

use rand_core::RngCore;
use sealpost_protocol::key::{SigningPublic, SigningSecret};
use sealpost_protocol::limit::GROUP_MEMBERS_MAX;
use sealpost_protocol::manifest::{ManifestHash, SignedManifest};
use sha2::{Digest, Sha256};

use super::Membership;
use super::bound::{
    CLOSINGS_PER_DAY_MAX, DAY_MS, DRAINED_STEP_MS, MERGE_DELAY_MS, MERGES_PER_FIRING_MAX,
    QUESTIONS_PER_DAY_MAX,
};
use super::limbo::LimboStep;

/// The volatile state of the merge timer.
#[derive(Clone, Debug)]
pub(super) struct MergeTimer {
    delay: Delay,
    online: bool,
    /// The last time this device was told, Unix ms.
    pub(super) now_ms: u64,
    /// How long this device was online with nothing left to read, in this run.
    pub(super) drained_ms: u64,
    /// Limbo keys that were closed.
    pub(super) closings: Daily,
    /// Limbo keys that were asked.
    pub(super) questions: Daily,
}

impl Default for MergeTimer {
    fn default() -> Self {
        Self {
            delay: Delay::Idle,
            online: false,
            now_ms: 0,
            drained_ms: 0,
            closings: Daily::new(CLOSINGS_PER_DAY_MAX),
            questions: Daily::new(QUESTIONS_PER_DAY_MAX),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
enum Delay {
    /// No merge is needed.
    #[default]
    Idle,
    /// A merge is needed; its delay is drawn when the timer is handled next.
    Wanted,
    /// So much is left, counted from a moment when the device was online.
    Running { left_ms: u64, since_ms: u64 },
    /// So much is left; the device is offline, or its inbox is not drained.
    Paused { left_ms: u64 },
}

/// What a merge has to do.
enum Merge {
    /// Drop the members that the group has no room for.
    Overflow {
        dropped: BTreeSet<SigningPublic>,
        parent: SignedManifest,
    },
    /// Do something about keys that have been in limbo for long.
    Limbo(LimboStep),
    /// State the view.
    Restate,
}

impl Membership {
    /// Tells the machine that time passed, or that the device went online or offline.
    ///
    /// Call it at [`Self::next_timer`] and whenever `online_and_drained` changes: whether a
    /// Receive Session is up and no delivered blob is waiting to be handled. Harmless at any
    /// other time.
    pub fn handle_timer(
        &mut self,
        now_ms: u64,
        online_and_drained: bool,
        secret: &SigningSecret,
        rng: &mut impl RngCore,
    ) {
        self.timer.pass(now_ms, online_and_drained);
        self.follow_merge_need(now_ms);
        if !online_and_drained {
            return;
        }
        self.give_up_if_due(secret, now_ms);
        if matches!(self.timer.delay, Delay::Wanted) {
            let delay_ms = self.draw_delay(rng);
            self.timer.run(delay_ms);
        }
        if self.timer.is_due() {
            self.timer.delay = Delay::Idle;
            self.fire(secret, now_ms);
            self.follow_merge_need(now_ms);
        }
    }

    /// When to call [`Self::handle_timer`] next, Unix ms; it may lie in the past.
    #[must_use]
    pub fn next_timer(&self) -> Option<u64> {
        if !self.timer.online {
            return None;
        }
        match self.timer.delay {
            Delay::Wanted => Some(self.timer.now_ms),
            Delay::Running { left_ms, since_ms } => Some(since_ms.saturating_add(left_ms)),
            Delay::Idle | Delay::Paused { .. } => self.next_limbo_step(),
        }
    }

    /// Whether this device sees something that only a merge can mend.
    #[must_use]
    pub fn is_unsatisfied(&self) -> bool {
        self.needed_merge(self.timer.now_ms).is_some()
    }

    /// Wants a delay when a merge is needed, and none when it no longer is.
    pub(super) fn follow_merge_need(&mut self, now_ms: u64) {
        self.timer.now_ms = now_ms;
        match (self.needed_merge(now_ms).is_some(), self.timer.delay) {
            (true, Delay::Idle) => self.timer.delay = Delay::Wanted,
            (false, _) => self.timer.delay = Delay::Idle,
            (true, _) => {}
        }
    }

    /// Rank times T, and a random part of up to T.
    fn draw_delay(&self, rng: &mut impl RngCore) -> u64 {
        let rank = u64::try_from(self.rank()).unwrap_or(u64::MAX);
        let random_ms = rng.next_u64().checked_rem(MERGE_DELAY_MS).unwrap_or(0);
        rank.saturating_mul(MERGE_DELAY_MS)
            .saturating_add(random_ms)
    }

    /// This device's place among the members, shuffled anew by every current manifest.
    fn rank(&self) -> usize {
        let current = self.current().hash();
        let place = |key: &SigningPublic| {
            let digest = Sha256::new()
                .chain_update(current.as_bytes())
                .chain_update(key.as_bytes());
            <[u8; 32]>::from(digest.finalize())
        };
        let mine = place(&self.me.signing);
        self.view().keys().filter(|key| place(key) < mine).count()
    }

    /// Issues what is needed; usually one merge, and none if somebody else's arrived.
    fn fire(&mut self, secret: &SigningSecret, now_ms: u64) {
        for _ in 0..MERGES_PER_FIRING_MAX {
            let issued = match self.needed_merge(now_ms) {
                Some(Merge::Overflow { dropped, parent }) => {
                    let mut members = self.view().clone();
                    members.retain(|key, _| !dropped.contains(key));
                    self.issue_merge(Some(parent), members, secret, now_ms)
                }
                Some(Merge::Limbo(step)) => self.take_limbo_step(step, secret, now_ms),
                Some(Merge::Restate) => self.issue_merge(None, self.view().clone(), secret, now_ms),
                None => return,
            };
            // Without a parent to build on somebody else must do it, or a later manifest helps.
            if issued.is_err() {
                return;
            }
        }
    }

    fn needed_merge(&self, now_ms: u64) -> Option<Merge> {
        if !self.is_listed() {
            return None;
        }
        if self.view().len() > GROUP_MEMBERS_MAX {
            return self.overflow();
        }
        let current = self.current();
        let is_stated = self.view().contains_key(current.issuer()) && self.states_view(current);
        let closing = self.closing(now_ms).map(Merge::Limbo);
        let restating = (!is_stated).then_some(Merge::Restate);
        let asking = || self.asking(now_ms).map(Merge::Limbo);
        closing.or(restating).or_else(asking)
    }

    /// The members that came last have to go. A device that is one of them leaves the merge
    /// to the others.
    fn overflow(&self) -> Option<Merge> {
        let excess = self.view().len().saturating_sub(GROUP_MEMBERS_MAX);
        let mut latest: Vec<_> = self
            .view()
            .keys()
            .map(|key| (self.first_listing(key), *key))
            .collect();
        latest.sort_unstable();
        let dropped: BTreeSet<_> = latest
            .into_iter()
            .rev()
            .take(excess)
            .map(|(_, key)| key)
            .collect();
        if dropped.contains(&self.me.signing) {
            return None;
        }
        let parent = dropped
            .iter()
            .find_map(|key| self.parent_listing(Some(key)))?;
        Some(Merge::Overflow { dropped, parent })
    }

    /// The version and hash of the first accepted manifest that lists a key.
    fn first_listing(&self, key: &SigningPublic) -> (u64, Option<ManifestHash>) {
        if self.known.base.contains_key(key) {
            return (0, None);
        }
        let accepted = self.standing.accepted.iter();
        let listing = accepted
            .filter_map(|hash| Some((self.known.manifest(hash)?, *hash)))
            .filter(|(manifest, _)| manifest.lists(key))
            .map(|(manifest, hash)| (manifest.version(), Some(hash)));
        listing.min().unwrap_or((0, None))
    }
}

impl MergeTimer {
    /// Counts the time since the last call, if the device was online.
    fn pass(&mut self, now_ms: u64, online: bool) {
        self.delay = match self.delay {
            Delay::Running { left_ms, since_ms } => {
                let passed_ms = now_ms.saturating_sub(since_ms);
                let left_ms = left_ms.saturating_sub(passed_ms);
                Delay::Paused { left_ms }
            }
            other @ (Delay::Idle | Delay::Wanted | Delay::Paused { .. }) => other,
        };
        if self.online {
            let passed_ms = now_ms.saturating_sub(self.now_ms).min(DRAINED_STEP_MS);
            self.drained_ms = self.drained_ms.saturating_add(passed_ms);
        }
        self.online = online;
        self.now_ms = now_ms;
        if let (true, Delay::Paused { left_ms }) = (online, self.delay) {
            self.run(left_ms);
        }
    }

    fn run(&mut self, left_ms: u64) {
        let since_ms = self.now_ms;
        self.delay = Delay::Running { left_ms, since_ms };
    }

    fn is_due(&self) -> bool {
        matches!(self.delay, Delay::Running { left_ms: 0, .. })
    }
}

/// When something was done within the last day of this run, of which a day has room for so
/// much.
#[derive(Clone, Debug)]
pub(super) struct Daily {
    most: usize,
    /// Oldest first.
    times_ms: VecDeque<u64>,
}

impl Daily {
    const fn new(most: usize) -> Self {
        Self {
            most,
            times_ms: VecDeque::new(),
        }
    }

    /// How much was done within the last day.
    pub(super) fn recent(&self, now_ms: u64) -> usize {
        let times = self.times_ms.iter();
        times
            .filter(|at_ms| now_ms < at_ms.saturating_add(DAY_MS))
            .count()
    }

    /// So much was done.
    pub(super) fn remember(&mut self, count: usize, now_ms: u64) {
        self.times_ms
            .retain(|at_ms| now_ms < at_ms.saturating_add(DAY_MS));
        self.times_ms.extend(std::iter::repeat_n(now_ms, count));
    }

    /// From when on there is room again.
    pub(super) fn room_ms(&self) -> u64 {
        let before_last = self.most.saturating_sub(1);
        let oldest = self.times_ms.iter().rev().nth(before_last);
        oldest.map_or(0, |at_ms| at_ms.saturating_add(DAY_MS))
    }
}
