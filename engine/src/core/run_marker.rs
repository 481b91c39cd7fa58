//! Marks each run of a device, so that a copy of the device gives itself away.
//!
//! Owns the marker, the body of the message that carries it, and what this run knows of
//! others. A device that comes up writes one such message to itself. Whoever holds the same
//! keys and is connected gets it, too, and doesn't know the marker: both were copied from
//! one profile. A marker says nothing else, and only the device itself can read it.
//!
//! Never acts on a copy: which of two is to go on, only a person can say.

use std::collections::BTreeSet;
use std::fmt;

use rand_core::{CryptoRng, RngCore};

use super::inbox::BlobRef;
use super::timing;

/// Begins the body that a device sends to itself. No message of the app begins so: the bytes
/// name a field that the format doesn't have.
const BODY_LABEL: &[u8] = b"\xff\xff\xff\xff\xffsealpost run v1";

/// Marks one run of one device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunMarker([u8; 16]);

impl RunMarker {
    /// Draws a fresh marker.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut marker = [0; 16];
        rng.fill_bytes(&mut marker);
        Self(marker)
    }

    /// The marker that was stored as `bytes`.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The marker as bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The body of the message that carries the marker.
    pub(super) fn to_body(self) -> Vec<u8> {
        [BODY_LABEL, &self.0].concat()
    }

    /// The marker that a body carries, if it is such a body.
    pub(super) fn of_body(body: &[u8]) -> Option<Self> {
        let marker = body.strip_prefix(BODY_LABEL)?;
        marker.try_into().ok().map(Self)
    }
}

impl fmt::Debug for RunMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunMarker")
    }
}

/// What the machine knows of runs of its own.
#[derive(Default)]
pub(super) struct OwnRuns {
    current: Option<RunMarker>,
    /// The runs on this store before this one. Whose profile was copied while it ran knows of
    /// that run, too, which goes on elsewhere.
    earlier: BTreeSet<RunMarker>,
    /// Strange runs that were said.
    met: BTreeSet<RunMarker>,
    /// Whether the marker is to be sent.
    is_due: bool,
    /// The last sequence number that this run found in its store. One is durable before it is
    /// used, so no earlier run on this store used one above, whatever its clock said.
    found_sequence: u64,
    /// The sequence number that the marker was sent under last.
    last_sent: Option<u64>,
    /// The own marker that came back, and when it is acknowledged.
    held: Option<(BlobRef, u64)>,
}

impl OwnRuns {
    /// This run, those before it on the same store, and the last sequence number of these.
    pub(super) const fn new(
        current: RunMarker,
        earlier: BTreeSet<RunMarker>,
        found_sequence: u64,
    ) -> Self {
        Self {
            current: Some(current),
            earlier,
            met: BTreeSet::new(),
            is_due: false,
            found_sequence,
            last_sent: None,
            held: None,
        }
    }

    /// The marker is to be sent.
    pub(super) const fn want(&mut self) {
        self.is_due = true;
    }

    /// The marker to send now, once each time it is wanted.
    pub(super) fn take_due(&mut self) -> Option<RunMarker> {
        std::mem::take(&mut self.is_due).then_some(self.current)?
    }

    /// The marker was sent under this number.
    pub(super) const fn sent(&mut self, sequence: u64) {
        self.last_sent = Some(sequence);
    }

    /// Takes a marker that is no copy's; returns the blob that can be acknowledged now. The
    /// one that this run sent last is kept for a while, so that a copy gets it, too. Its number
    /// alone doesn't tell: two of a device count alike.
    pub(super) fn hold(
        &mut self,
        marker: RunMarker,
        at: BlobRef,
        sequence: u64,
        now_ms: u64,
    ) -> Option<BlobRef> {
        if self.current != Some(marker) || self.last_sent != Some(sequence) {
            return Some(at);
        }
        let until_ms = now_ms.saturating_add(timing::MARKER_HOLD_MS);
        self.held
            .replace((at, until_ms))
            .map(|(earlier, _)| earlier)
    }

    /// The kept marker, once its time is over.
    pub(super) fn take_held(&mut self, now_ms: u64) -> Option<BlobRef> {
        let (at, _) = self.held.take_if(|(_, until_ms)| *until_ms <= now_ms)?;
        Some(at)
    }

    /// When the kept marker is acknowledged.
    pub(super) fn next_wakeup(&self) -> Option<u64> {
        self.held.map(|(_, until_ms)| until_ms)
    }

    /// Whether a marker is one of this store's own. One that isn't is said once, and answered
    /// with this run's own, so that the copy hears of this one as well. An earlier run that
    /// counts on from where this one began hasn't ended: the store was copied from under it.
    pub(super) fn meet(&mut self, marker: RunMarker, sequence: u64) -> bool {
        // Who couldn't note its own run can't judge others.
        if self.current.is_none_or(|own| own == marker) {
            return true;
        }
        let is_before = sequence <= self.found_sequence;
        if (self.earlier.contains(&marker) && is_before) || !self.met.insert(marker) {
            return true;
        }
        self.want();
        false
    }
}

#[cfg(test)]
mod tests {
    use sealpost_protocol::app_message::AppMessage;

    use super::*;
    use crate::core::step::SessionId;

    #[test]
    fn a_marker_is_read_back_from_its_body_and_from_no_other() {
        let marker = RunMarker::from_bytes([7; 16]);
        let body = marker.to_body();
        assert!(RunMarker::of_body(&body) == Some(marker));
        assert!(RunMarker::of_body(&body[..body.len() - 1]).is_none());
        assert!(RunMarker::of_body(b"").is_none());
        assert!(AppMessage::decode(&body).is_err());
        assert_eq!(format!("{marker:?}"), "RunMarker");
    }

    const AT: BlobRef = BlobRef {
        session: SessionId(1),
        blob: 1,
    };

    fn markers() -> [RunMarker; 3] {
        [1, 2, 3].map(|byte| RunMarker::from_bytes([byte; 16]))
    }

    #[test]
    fn a_strange_run_is_met_once_and_answered_once() {
        let [own, earlier, strange] = markers();
        let mut runs = OwnRuns::new(own, BTreeSet::from([earlier]), 4);
        assert!(runs.meet(own, 5) && runs.meet(earlier, 4));
        assert!(runs.take_due().is_none());
        assert!(!runs.meet(strange, 4));
        assert!(runs.take_due() == Some(own));
        assert!(runs.meet(strange, 4));
        assert!(runs.take_due().is_none());
    }

    #[test]
    fn an_earlier_run_that_counts_on_is_a_copy_and_one_that_comes_late_is_not() {
        let [own, earlier, _] = markers();
        // The clock of the one that goes on elsewhere may be behind: it counts far below this
        // one's, and yet above all that the store knows.
        for sent in [None, Some(10), Some(1_000_000)] {
            let mut runs = OwnRuns::new(own, BTreeSet::from([earlier]), 9);
            if let Some(sequence) = sent {
                runs.sent(sequence);
                assert_eq!(runs.hold(own, AT, sequence, 0), None);
            }
            assert!(runs.meet(earlier, 8));
            assert!(runs.meet(earlier, 9), "it may be from before");
            assert!(!runs.meet(earlier, 10));
            assert!(runs.take_due() == Some(own));
            assert!(runs.meet(earlier, 11), "said once");
        }
    }

    #[test]
    fn a_marker_of_another_run_under_the_same_number_displaces_none() {
        let [own, earlier, _] = markers();
        let mut runs = OwnRuns::new(own, BTreeSet::from([earlier]), 9);
        runs.sent(10);
        assert_eq!(runs.hold(own, AT, 10, 0), None);
        let other = BlobRef { blob: 2, ..AT };
        assert_eq!(runs.hold(earlier, other, 10, 1), Some(other));
        assert_eq!(runs.take_held(timing::MARKER_HOLD_MS), Some(AT));
    }
}
