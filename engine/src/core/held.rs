//! Blobs of a newer End-to-End Version, left on the relay until this device is upgraded.
//!
//! Owns their bookkeeping by digest, so that neither a new blob id nor a restart counts one
//! twice, and decides when `heldForUpgrade` is raised again. Never acknowledges one but the
//! oldest, when there are too many.
//!
//! The version isn't authenticated: anybody who knows a device's key can fill this table and
//! push real entries out of it (spec 3.8).
//!
//! Spec: 3.8; amendment 13.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_protocol::limit::{HELD_BLOBS_MAX, RELAY_LIFE_MS_MAX};

use super::issue::{DeliveryIssue, Unreadable};
use super::step::{Change, Effect, HeldBlob, SessionId, Step};
use super::timing;

/// The held blobs of one device.
#[derive(Default)]
pub(super) struct HeldBlobs {
    by_digest: BTreeMap<[u8; 32], HeldBlob>,
    /// Digest by order of first sight. Invariant: the same blobs as in `by_digest`.
    by_order: BTreeMap<u64, [u8; 32]>,
    last_order: u64,
    /// What the relay calls a held blob in the session that is up.
    on_session: BTreeMap<[u8; 32], (SessionId, u64)>,
    /// Blobs for which this run raised the issue, or left it to the interval.
    raised: BTreeSet<[u8; 32]>,
    /// When each version was raised last.
    raised_at_ms: BTreeMap<u32, u64>,
}

impl HeldBlobs {
    /// Builds the table from its rows.
    pub(super) fn restore(rows: Vec<HeldBlob>) -> Self {
        let mut held = Self::default();
        for row in rows {
            held.insert(row);
        }
        held
    }

    /// Leaves a blob on the relay, and makes room for it.
    pub(super) fn hold(
        &mut self,
        digest: [u8; 32],
        version: u32,
        on_session: (SessionId, u64),
        now_ms: u64,
        step: &mut Step,
    ) {
        self.on_session.insert(digest, on_session);
        let is_new = !self.by_digest.contains_key(&digest);
        if is_new {
            self.forget_gone(now_ms, step);
            let order = self.last_order.saturating_add(1);
            let row = HeldBlob {
                digest,
                version,
                order,
                first_seen_ms: now_ms,
            };
            self.insert(row);
            step.changes.push(Change::HeldBlobAdded(row));
            while self.by_digest.len() > HELD_BLOBS_MAX {
                self.drop_oldest(now_ms, step);
            }
        }
        self.raise(digest, version, is_new, now_ms, step);
    }

    /// Forgets a blob that turned out to be readable. Returns whether it was held.
    pub(super) fn release(&mut self, digest: &[u8; 32], step: &mut Step) -> bool {
        if self.remove(digest).is_none() {
            return false;
        }
        step.changes
            .push(Change::HeldBlobRemoved { digest: *digest });
        true
    }

    /// Forgets blobs that are older than a relay keeps anything (amendment 13).
    pub(super) fn forget_gone(&mut self, now_ms: u64, step: &mut Step) {
        let gone: Vec<[u8; 32]> = self
            .by_digest
            .values()
            .filter(|row| row.first_seen_ms.saturating_add(RELAY_LIFE_MS_MAX) < now_ms)
            .map(|row| row.digest)
            .collect();
        for digest in gone {
            self.release(&digest, step);
        }
    }

    /// Blob ids of an ended session mean nothing any more.
    pub(super) fn end_session(&mut self) {
        self.on_session.clear();
    }

    /// Whether nothing is held.
    pub(super) fn is_empty(&self) -> bool {
        self.by_digest.is_empty()
    }

    fn insert(&mut self, row: HeldBlob) {
        self.last_order = self.last_order.max(row.order);
        self.by_order.insert(row.order, row.digest);
        self.by_digest.insert(row.digest, row);
    }

    fn remove(&mut self, digest: &[u8; 32]) -> Option<HeldBlob> {
        let row = self.by_digest.remove(digest)?;
        self.by_order.remove(&row.order);
        self.on_session.remove(digest);
        self.raised.remove(digest);
        Some(row)
    }

    fn drop_oldest(&mut self, now_ms: u64, step: &mut Step) {
        let Some((_, digest)) = self.by_order.first_key_value() else {
            return;
        };
        let digest = *digest;
        let on_session = self.on_session.get(&digest).copied();
        self.release(&digest, step);
        let issue = DeliveryIssue::Unreadable(Unreadable::DroppedWhileHeld);
        step.changes.push(Change::IssueAdded {
            at_ms: now_ms,
            issue: issue.clone(),
        });
        step.effects.push(Effect::Raise(issue));
        // Not seen in this session: it is acknowledged when it comes round, as an unknown one
        // that overflows the table again, or the relay's own time limit takes it.
        if let Some((session, blob)) = on_session {
            step.effects.push(Effect::Acknowledge { session, blob });
        }
    }

    /// Once per blob and run, at most once per version and interval.
    fn raise(
        &mut self,
        digest: [u8; 32],
        version: u32,
        is_new: bool,
        now_ms: u64,
        step: &mut Step,
    ) {
        if !self.by_digest.contains_key(&digest) || !self.raised.insert(digest) {
            return;
        }
        self.raised_at_ms.retain(|_, at| {
            now_ms.saturating_sub(*at) < timing::HELD_ISSUE_INTERVAL_MS && *at <= now_ms
        });
        if self.raised_at_ms.contains_key(&version)
            || self.raised_at_ms.len() >= timing::HELD_ISSUE_VERSIONS_MAX
        {
            return;
        }
        self.raised_at_ms.insert(version, now_ms);
        let issue = DeliveryIssue::HeldForUpgrade { version };
        if is_new {
            step.changes.push(Change::IssueAdded {
                at_ms: now_ms,
                issue: issue.clone(),
            });
        }
        step.effects.push(Effect::Raise(issue));
    }
}
