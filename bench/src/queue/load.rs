//! The loads: how large messages are, how many are in flight, and over how many inboxes.

use std::time::Duration;

/// One load that every queue gets.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Load {
    /// Bytes of a message.
    pub(super) bytes: usize,
    /// Messages that are published and not yet both confirmed and delivered.
    pub(super) in_flight: usize,
    /// Whether consumers are connected; otherwise a confirmation is the end of it.
    pub(super) is_online: bool,
}

/// Message sizes of the table: a short text, a long one, the largest.
pub(super) const SIZES: [usize; 3] = [300, 4_096, 61_440];
/// Depths of the table.
pub(super) const DEPTHS: [usize; 4] = [1, 16, 64, 256];

impl Load {
    /// Over how many inboxes the load is spread: a few senders at a time for each of a few
    /// devices.
    pub(super) fn inboxes(self) -> usize {
        match self.in_flight {
            0..4 => 1,
            4..32 => 4,
            32..128 => 8,
            _ => 16,
        }
    }

    /// Messages in flight per inbox.
    pub(super) fn window(self) -> usize {
        self.in_flight / self.inboxes()
    }
}

/// How long one load runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// At the start, not counted.
    pub(super) warm: Duration,
    /// What is counted.
    pub(super) run: Duration,
}

/// The name of a size, as the tables have it.
pub(super) fn size_name(bytes: usize) -> String {
    if bytes < 1_024 {
        format!("{bytes} B")
    } else {
        format!("{} KiB", bytes / 1_024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_depth_is_spread_evenly() {
        for in_flight in DEPTHS {
            let load = Load {
                bytes: 300,
                in_flight,
                is_online: true,
            };
            assert_eq!(load.window() * load.inboxes(), in_flight);
        }
    }
}
