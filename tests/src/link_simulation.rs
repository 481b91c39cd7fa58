//! Links under faults: the engine's own machine against the relay's own rules, in one thread.
//!
//! The fault model of "paired-mailbox/1" section 13.3. Two devices send each other messages
//! and states through one mailbox; a tenth of all requests and a tenth of all answers are lost,
//! devices crash between any write and any effect, the mailbox vanishes, the relay is set back
//! to an older copy of itself, and so are devices. Afterwards it is quiet, and whatever was
//! queued must have arrived, once, and no slot may stay taken.
//!
//! Beside it run the rules that the first description of the mailbox gave, to the letter
//! ([`Rules::Seed`]), through the same faults: they show what the faults are worth.
//!
//! One history is one [`Row`], one rule and one seed, and the same seed gives the same history.

mod account;
mod device;
mod line;
mod literal;
mod store;
mod world;

pub use account::{Account, History};
pub use line::Dice;
use world::World;

/// Which events a history has besides lost requests, lost answers and crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// None.
    Plain,
    /// The mailbox vanishes, as when it expires.
    Vanishing,
    /// The relay is set back to an older copy of itself.
    RelayRestored,
    /// Both.
    Both,
    /// Both, and a device is set back to an older copy of itself.
    ClientsRestored,
}

impl Row {
    /// All rows of the table.
    pub const ALL: [Self; 5] = [
        Self::Plain,
        Self::Vanishing,
        Self::RelayRestored,
        Self::Both,
        Self::ClientsRestored,
    ];

    /// What the row is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "none",
            Self::Vanishing => "mailbox vanishes",
            Self::RelayRestored => "relay restored",
            Self::Both => "both",
            Self::ClientsRestored => "both, and clients restored",
        }
    }

    const fn vanishes(self) -> bool {
        !matches!(self, Self::Plain | Self::RelayRestored)
    }

    const fn restores_relay(self) -> bool {
        !matches!(self, Self::Plain | Self::Vanishing)
    }

    const fn restores_clients(self) -> bool {
        matches!(self, Self::ClientsRestored)
    }
}

/// The rules that both devices follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The engine's machine.
    Product,
    /// The first description's, to the letter.
    Seed,
}

/// Runs one history.
#[must_use]
pub fn run(row: Row, rules: Rules, seed: u64) -> History {
    match rules {
        Rules::Product => World::new(row, seed).run(),
        Rules::Seed => literal::run(row, seed),
    }
}

/// Runs the histories of so many seeds from the first on.
#[must_use]
pub fn run_many(row: Row, rules: Rules, first: u64, histories: u64) -> Account {
    let mut account = Account::default();
    for seed in first..first.saturating_add(histories) {
        account.count(seed, &run(row, rules, seed));
    }
    account
}
