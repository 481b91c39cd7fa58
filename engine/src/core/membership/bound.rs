//! The numbers of rule R that no other part of the engine needs.
//!
//! What concerns the wire (32 members, 2^63-1) stands in `sealpost_protocol::limit`.
//! Spec: membership rule, sections 3.1 to 3.8.

const SECOND_MS: u64 = 1_000;
pub(super) const DAY_MS: u64 = 24 * 60 * 60 * SECOND_MS;

/// Known manifests, accepted or parked, above which the oldest are folded away.
///
/// Measured on an earlier form of the rule: with 24 kept nothing is lost, with 12 it is.
pub(super) const KNOWN_MAX: usize = 256;

/// Known manifests that a compaction leaves.
pub(super) const KNOWN_KEPT: usize = 192;

/// Parked manifests above which nothing more is parked for an author outside the view.
pub(super) const PARKED_MAX: usize = 64;

/// Manifests by others than its admitter that a device keeps while it waits for its anchor.
///
/// The rule's 64, and half as many again for those of whoever sends without end.
pub const BUFFERED_MANIFESTS_MAX: usize = 96;

/// How many of these may come from one author: two merges and what they rest on. With eight, a
/// joiner missed its own removal in one stress history of 1,654.
pub(super) const BUFFERED_PER_AUTHOR_MAX: usize = 16;

/// Manifests by its admitter that it keeps beside those.
pub(super) const BUFFERED_BY_ADMITTER_MAX: usize = 16;

/// Ancestors that a newcomer is sent after its manifest.
pub(super) const ANCESTORS_MAX: usize = 4;

/// Ancestors that a member is sent after a manifest whose parents it wasn't sent.
pub(super) const UNSENT_ANCESTORS_MAX: usize = 8;

/// Removed keys, newest first, whose proof is kept and sent to a newcomer.
pub(super) const PROVEN_KEYS_MAX: usize = 16;

/// Removed keys at which a group admits nobody any more.
pub(super) const TOMBS_MAX: usize = 4_096;

/// Removals by others that are remembered for one key.
pub(super) const REMOVALS_PER_KEY_MAX: usize = 64;

/// Leaves of its own that are remembered for one key; an honest device leaves once.
pub(super) const LEAVES_PER_KEY_MAX: usize = 16;

/// Keys remembered as once listed, for the authority of a Revoke.
pub(super) const KEYS_HELD_MAX: usize = 16_384;

/// The distance by which a manifest's version may lie above the highest accepted one.
pub(super) const VERSION_JUMP_MAX: u64 = 10_000;

/// Merges that one firing of the timer issues at most.
pub(super) const MERGES_PER_FIRING_MAX: usize = 6;

/// Limbo keys that one device closes within a day of one run at most; more only where one
/// manifest lists them, which one merge closes, the only one of its day.
pub(super) const CLOSINGS_PER_DAY_MAX: usize = 16;

/// Limbo keys that one device asks within a day of one run at most.
pub(super) const QUESTIONS_PER_DAY_MAX: usize = 16;

/// T: the merge delay per rank, and the width of its random part.
pub(super) const MERGE_DELAY_MS: u64 = 20 * SECOND_MS;

/// The time after which a key in limbo is asked.
pub(super) const ASK_AFTER_MS: u64 = DAY_MS / 2;

/// `T_close`: the time a key stays in limbo before a merge closes it.
pub(super) const CLOSE_AFTER_MS: u64 = DAY_MS;

/// The span after these over which the devices spread, each at a time of its own.
pub(super) const CLOSE_SPREAD_MS: u64 = DAY_MS / 2;

/// Manifests that a device in limbo answers with: what speaks for it.
pub(super) const PLEAS_MAX: usize = 8;

/// The grace in which manifests of a removed issuer are still taken.
pub(super) const REMOVED_ISSUER_GRACE_MS: u64 = 30 * DAY_MS;

/// The time after which a device leaves that is in limbo itself: long, for its admission may be
/// on its way, and well within the grace, for whoever let it in was removed, and it is heard no
/// longer than that one.
pub(super) const GIVE_UP_AFTER_MS: u64 = REMOVED_ISSUER_GRACE_MS / 2;

/// For how long it has been online in this run with nothing left to read, before it leaves: what
/// waited for it has come by then.
pub(super) const GIVE_UP_DRAINED_MS: u64 = 6 * DRAINED_STEP_MS;

/// What one look at the clock adds to that at most: a clock that was set adds no more.
pub(super) const DRAINED_STEP_MS: u64 = 60 * 60 * SECOND_MS;
