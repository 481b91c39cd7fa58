//! What the web door lets an address, a direction and everybody do (specification 4.11 of
//! "paired-mailbox/1").

use std::net::IpAddr;
use std::time::Duration;

use super::Rate;

/// Bounds of mailboxes, whoever asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MailboxLimits {
    /// Mailboxes of the relay.
    pub mailboxes_max: u64,
    /// Watches of the relay.
    pub watches_max: usize,
}

impl Default for MailboxLimits {
    fn default() -> Self {
        Self {
            mailboxes_max: 1_000,
            watches_max: 512,
        }
    }
}

impl MailboxLimits {
    /// The bounds of a relay inside an app, which serves its owner's phones.
    pub const BUNDLED: Self = Self {
        mailboxes_max: 32,
        watches_max: 128,
    };
}

/// Bounds of the web door.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WebLimits {
    /// Concurrent connections.
    pub connections_max: usize,
    /// Concurrent connections of one address.
    pub connections_per_address_max: usize,
    /// Requests of one address.
    pub request_rate: Rate,
    /// Envelopes stored in one direction.
    pub put_rate: Rate,
    /// Answers 401, 403 and 404 to one address.
    pub failure_rate: Rate,
    /// How long an address waits that has had more of those.
    pub failure_pause: Duration,
    /// Mailboxes made by one address.
    pub creation_rate: Rate,
    /// From the first byte of a request to the end of its header.
    pub header_read: Duration,
    /// From the end of a request's header to the end of its body.
    pub body_read: Duration,
    /// The longest silence between two requests, and the longest time that an answer may take
    /// to be read.
    pub idle: Duration,
    /// How often a watch shows that it lives.
    pub watch_beat: Duration,
}

impl Default for WebLimits {
    fn default() -> Self {
        let second = Duration::from_secs(1);
        let rate = |count, period, burst| Rate {
            count,
            period,
            burst,
        };
        Self {
            connections_max: 1_000,
            connections_per_address_max: 128,
            request_rate: rate(30, second, 90),
            put_rate: rate(120, 60 * second, 120),
            failure_rate: rate(20, 60 * second, 20),
            failure_pause: 60 * second,
            creation_rate: rate(10, 3_600 * second, 10),
            header_read: 10 * second,
            body_read: 30 * second,
            idle: 75 * second,
            watch_beat: 25 * second,
        }
    }
}

/// What stands for an address in the door's memory. Whoever has one IPv6 address has the
/// 2^64 beside it, too.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct AddressKey(u64, bool);

impl From<IpAddr> for AddressKey {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(address.to_bits().into(), false),
            IpAddr::V6(address) => {
                let network = u64::try_from(address.to_bits() >> 64);
                Self(network.unwrap_or_default(), true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(address: &str) -> AddressKey {
        address.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn neighbours_in_one_network_of_ipv6_count_as_one() {
        assert!(key("2001:db8::1") == key("2001:db8::ffff:1"));
        assert!(key("2001:db8::1") != key("2001:db8:0:1::1"));
        assert!(key("192.0.2.1") != key("192.0.2.2"));
        assert!(key("::ffff:192.0.2.1") == key("192.0.2.1"));
        assert!(key("0.0.0.1") != key("0:0:0:1::"));
    }
}
