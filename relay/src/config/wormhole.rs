//! How the wormhole door is set up.

use crate::limits::WormholeLimits;
use crate::wormhole::{Rules, Welcome};

/// Everything the wormhole door needs to know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WormholeConfig {
    /// How mailboxes live, what they may hold, and whether their use is recorded.
    pub rules: Rules,
    /// Whether `list` tells which nameplates there are.
    pub listing: bool,
    /// What every client is told first.
    pub welcome: Welcome,
    /// Whether pages of any site may connect. The relay inside an app lets only programs and
    /// its own page in (amendment 22).
    pub any_origin: bool,
}

/// How long a mailbox inside an app lives without activity: long enough for two devices that
/// are seldom on at the same time.
const BUNDLED_LIFE_MS: u64 = 14 * 24 * 3_600_000;

impl Default for WormholeConfig {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            listing: true,
            welcome: Welcome::default(),
            any_origin: true,
        }
    }
}

impl WormholeConfig {
    /// The door of a relay inside an app.
    pub fn bundled() -> Self {
        Self {
            rules: Rules {
                life_ms: BUNDLED_LIFE_MS,
                limits: WormholeLimits {
                    mailboxes_max: WormholeLimits::BUNDLED_MAILBOXES_MAX,
                    ..WormholeLimits::default()
                },
                ..Rules::default()
            },
            any_origin: false,
            ..Self::default()
        }
    }
}
