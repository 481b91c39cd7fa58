//! Records of use, off unless an operator asks for them (section 8).
//!
//! They name an application and, for a client's version, its side; never a mailbox, a nameplate
//! or an address. Moments are rounded down to a multiple of the blur, durations are not.

use super::{AppId, MailboxSide, NameplateSide, Side};

/// How something ended. The later variants win over the earlier ones.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum UsageResult {
    /// Nobody came.
    Quiet,
    /// Two came, and neither complained.
    Happy,
    /// One came, or one said that it was alone.
    Lonely,
    /// A side met an error.
    Errory,
    /// A side met a wrong code.
    Scary,
    /// Nobody ended it.
    Pruney,
    /// More than two came.
    Crowded,
}

impl UsageResult {
    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Happy => "happy",
            Self::Lonely => "lonely",
            Self::Errory => "errory",
            Self::Scary => "scary",
            Self::Pruney => "pruney",
            Self::Crowded => "crowded",
        }
    }
}

/// When something began, how long the first side waited, and how long it took.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Times {
    /// Rounded, in Unix milliseconds.
    pub started_ms: u64,
    /// From the first side to the second.
    pub waiting_ms: Option<u64>,
    /// From the first side to the end.
    pub total_ms: u64,
}

/// The program behind a connection, as it says itself.
#[derive(Clone, Eq, PartialEq)]
pub struct Client {
    /// Its implementation.
    pub implementation: Option<String>,
    /// Its version.
    pub version: Option<String>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Client(..)")
    }
}

/// One record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Usage {
    /// A nameplate is gone.
    Nameplate(AppId, Times, UsageResult),
    /// A mailbox is gone.
    Mailbox {
        /// Its application.
        app: AppId,
        /// Whether a claim had made it.
        for_nameplate: bool,
        /// Its times.
        times: Times,
        /// How it ended.
        result: UsageResult,
    },
    /// A client has bound.
    Bind {
        /// Its application.
        app: AppId,
        /// Its side.
        side: Side,
        /// When, rounded, in Unix milliseconds.
        at_ms: u64,
        /// What it is.
        client: Client,
    },
}

/// Rounds a moment down.
pub(super) fn blurred(at_ms: u64, blur_ms: u64) -> u64 {
    let rest = at_ms.checked_rem(blur_ms).unwrap_or(0);
    at_ms.saturating_sub(rest)
}

fn times(mut came_ms: Vec<u64>, now_ms: u64, blur_ms: u64) -> Times {
    came_ms.sort_unstable();
    let first = came_ms.first().copied().unwrap_or(now_ms);
    let second = came_ms.get(1).copied();
    Times {
        started_ms: blurred(first, blur_ms),
        waiting_ms: second.map(|second| second.saturating_sub(first)),
        total_ms: now_ms.saturating_sub(first),
    }
}

/// What two sides more or less, and pruning, make of a result.
fn overridden(result: UsageResult, sides: usize, is_pruned: bool) -> UsageResult {
    match (sides, is_pruned) {
        (3.., _) => UsageResult::Crowded,
        (_, true) => UsageResult::Pruney,
        (_, false) => result,
    }
}

/// The record of a nameplate.
pub(super) fn of_nameplate(
    app: &AppId,
    sides: &[NameplateSide],
    is_pruned: bool,
    (now_ms, blur_ms): (u64, u64),
) -> Usage {
    let came_ms = sides.iter().map(|side| side.claimed_ms).collect();
    let result = match sides.len() {
        2 => UsageResult::Happy,
        _ => UsageResult::Lonely,
    };
    let result = overridden(result, sides.len(), is_pruned);
    Usage::Nameplate(app.clone(), times(came_ms, now_ms, blur_ms), result)
}

/// The record of a mailbox.
pub(super) fn of_mailbox(
    (app, for_nameplate): (&AppId, bool),
    sides: &[MailboxSide],
    is_pruned: bool,
    (now_ms, blur_ms): (u64, u64),
) -> Usage {
    let came_ms = sides.iter().map(|side| side.opened_ms).collect();
    let by_count = match sides.len() {
        0 => UsageResult::Quiet,
        1 => UsageResult::Lonely,
        _ => UsageResult::Happy,
    };
    let moods = sides.iter().filter_map(|side| side.mood.as_ref());
    let worst = moods.filter_map(|mood| match mood.as_str() {
        "lonely" => Some(UsageResult::Lonely),
        "errory" => Some(UsageResult::Errory),
        "scary" => Some(UsageResult::Scary),
        _ => None,
    });
    let result = worst.max().unwrap_or(by_count);
    Usage::Mailbox {
        app: app.clone(),
        for_nameplate,
        times: times(came_ms, now_ms, blur_ms),
        result: overridden(result, sides.len(), is_pruned),
    }
}
