//! What may happen in a history: drawn from its seed.

use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;

use super::relay::RelayPlan;

/// The kinds of history; each brings something to bear that the others seldom reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Seconds and minutes: losses, repeats, crashes.
    Busy,
    /// Days: absences, lives that end, duplicates that come late.
    Days,
    /// One device is upgraded before another.
    Upgrade,
    /// More newer blobs than a device holds.
    Flood,
    /// Messages about as old as the Replay Window.
    Aged,
    /// Lives in the outbox and on the relay, and the Replay Window, to the millisecond.
    Edge,
    /// Stores that are restored from a backup.
    Rewound,
    /// A device that exists twice.
    Copied,
    /// The group is destroyed while its relay is away for longer than an outbox keeps.
    Destroyed,
}

/// How often what goes wrong, in per mille.
#[derive(Clone, Copy, Debug)]
pub(super) struct Faults {
    pub(super) crash: u32,
    pub(super) lose: u32,
    pub(super) repeat: u32,
    pub(super) refuse: u32,
    pub(super) fail_handler: u32,
    pub(super) hang: u32,
}

impl Faults {
    pub(super) const NONE: Self = Self {
        crash: 0,
        lose: 0,
        repeat: 0,
        refuse: 0,
        fail_handler: 0,
        hang: 0,
    };
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) kind: Kind,
    pub(super) devices: usize,
    pub(super) events: usize,
    pub(super) faults: Faults,
    pub(super) relay: RelayPlan,
}

impl Plan {
    pub(super) fn draw(rng: &mut ChaCha8Rng) -> Self {
        let mut below = |count: u32| rng.next_u32() % count;
        let kind = match below(40) {
            0..=7 => Kind::Busy,
            8..=16 => Kind::Days,
            17..=21 => Kind::Upgrade,
            22 => Kind::Flood,
            23..=25 => Kind::Aged,
            26..=28 => Kind::Edge,
            29..=33 => Kind::Rewound,
            34..=36 => Kind::Copied,
            _ => Kind::Destroyed,
        };
        let devices = match (kind, below(10)) {
            (Kind::Flood | Kind::Aged | Kind::Edge, _) | (_, 0..=5) => 2,
            (_, 6 | 7) => 3,
            (_, 8) => 4,
            _ => 5,
        };
        let has_crashes = below(4) > 0;
        let faults = Faults {
            crash: if has_crashes { 15 + below(30) } else { 0 },
            lose: below(250),
            repeat: below(100),
            refuse: below(150),
            fail_handler: below(150),
            hang: below(60),
        };
        let mut relay = RelayPlan::default();
        // A flood fills an inbox by itself, and a marker must find room to be met.
        let has_room = matches!(kind, Kind::Flood | Kind::Copied | Kind::Edge);
        if !has_room && below(3) == 0 {
            relay.inbox_blobs_max = 3 + u64::from(below(8));
        }
        if !has_room && below(3) == 0 {
            relay.push_burst = 2 + below(6);
        }
        Self {
            kind,
            devices,
            events: 90 + 30 * devices,
            faults,
            relay,
        }
    }
}
