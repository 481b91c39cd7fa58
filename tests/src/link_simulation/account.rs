//! What a history came to.

use std::fmt::Write as _;

/// One history's figures.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Messages and states that were queued and durable.
    pub sent: u64,
    /// Of those, how many never arrived, states that a newer one replaced apart.
    pub lost: u64,
    /// Of the lost ones, those that a device had when it was set back to a copy without them.
    pub set_back: u64,
    /// Slots that stay taken at the end.
    pub stuck: u64,
    /// Rows that stay in an outbox at the end.
    pub waiting: u64,
    /// Deliveries of what had been delivered.
    pub repeated: u64,
    /// Messages that arrived before an earlier one, where nothing but crashes and lost
    /// requests happened.
    pub reordered: u64,
    /// Rows that a device reported as failed.
    pub failed: u64,
    /// Crashes of devices.
    pub crashes: u64,
    /// Requests.
    pub requests: u64,
    /// Whether the quiet end came.
    pub is_settled: bool,
    /// What is told of it, when a history goes wrong.
    pub told: String,
}

impl History {
    /// Whether something that must never happen happened, where no device is set back.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        self.lost > 0
            || self.stuck > 0
            || self.waiting > 0
            || self.reordered > 0
            || self.failed > 0
            || !self.is_settled
    }
}

/// The sums of many histories.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Their figures, added.
    pub sum: History,
    /// How many there were.
    pub histories: u64,
    /// The seeds of those in which something happened that never may.
    pub broken: Vec<u64>,
}

impl Account {
    /// Adds one.
    pub fn count(&mut self, seed: u64, history: &History) {
        self.histories += 1;
        let sum = &mut self.sum;
        sum.sent += history.sent;
        sum.lost += history.lost;
        sum.set_back += history.set_back;
        sum.stuck += history.stuck;
        sum.waiting += history.waiting;
        sum.repeated += history.repeated;
        sum.reordered += history.reordered;
        sum.failed += history.failed;
        sum.crashes += history.crashes;
        sum.requests += history.requests;
        if history.is_broken() {
            self.broken.push(seed);
        }
    }

    /// One line about them.
    #[must_use]
    pub fn line(&self) -> String {
        let sum = &self.sum;
        let mut line = format!(
            "{} histories, {} sent, {} lost ({} with a device that was set back), {} stuck, \
             {} waiting, {} repeated, {} out of order, {} failed; {} crashes, {} requests",
            self.histories,
            sum.sent,
            sum.lost,
            sum.set_back,
            sum.stuck,
            sum.waiting,
            sum.repeated,
            sum.reordered,
            sum.failed,
            sum.crashes,
            sum.requests
        );
        if !self.broken.is_empty() {
            let first: Vec<_> = self.broken.iter().take(10).collect();
            let _ = write!(line, "; broken seeds {first:?}");
        }
        line
    }
}
