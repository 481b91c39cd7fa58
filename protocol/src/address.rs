//! The Relay Address: key, host and both ports of a relay.
//!
//! Owns its grammar. It never resolves a host and never prints itself: text is asked for by
//! name ([`RelayAddress::to_text`]), `Debug` gives a fixed word. Specification section 1.4.
//!
//! Invariants: the key isn't of low order; the host is a DNS name in lower case, an IPv4 or an
//! IPv6 address in its usual form, without brackets; neither port is zero.

use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};

use thiserror::Error;

use crate::key::NoisePublic;
use crate::limit::{KEY_BYTES, PUSH_PORT, RECEIVE_PORT};

/// What every address starts with, in either case.
pub const SCHEME: &str = "trueseal://";

/// The longest text that is looked at.
pub const TEXT_BYTES_MAX: usize = 1_024;

const HOST_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;
const PUSH_PARAMETER: &str = "push=";

/// Where a relay is and which key it has.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelayAddress {
    public_key: NoisePublic,
    host: String,
    receive_port: u16,
    push_port: u16,
}

impl RelayAddress {
    /// Makes an address; an IPv6 host comes with or without brackets.
    ///
    /// # Errors
    ///
    /// Names the part that breaks an invariant.
    pub fn new(
        public_key: NoisePublic,
        host: &str,
        receive_port: u16,
        push_port: u16,
    ) -> Result<Self, AddressError> {
        if public_key.is_low_order() {
            return Err(AddressError::WeakKey);
        }
        let bare = host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let host = match (bare, host.parse::<Ipv6Addr>()) {
            (None, Ok(address)) => address.to_string(),
            (Some(bare), _) => ipv6_host(bare)?,
            (None, Err(_)) => named_host(host)?,
        };
        if receive_port == 0 {
            return Err(AddressError::ReceivePort);
        }
        if push_port == 0 {
            return Err(AddressError::PushPort);
        }
        Ok(Self {
            public_key,
            host,
            receive_port,
            push_port,
        })
    }

    /// Reads an address. White space around it is ignored, nothing else is.
    ///
    /// # Errors
    ///
    /// Names the part that is wrong, without any of the text.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.trim_ascii();
        check_characters(text)?;
        let rest = without_scheme(text)?;
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        if rest.contains('/') {
            return Err(AddressError::Path);
        }
        let (key, authority) = rest.split_once('@').ok_or(AddressError::KeyMissing)?;
        let (host, receive_port) = split_port(authority)?;
        let receive_port = match receive_port {
            Some(digits) => port(digits).ok_or(AddressError::ReceivePort)?,
            None => RECEIVE_PORT,
        };
        let push_port = query.map_or(Ok(PUSH_PORT), push_port)?;
        Self::new(public_key(key)?, host, receive_port, push_port)
    }

    /// The address as text, with both ports.
    #[must_use]
    pub fn to_text(&self) -> String {
        let key = hex::encode(self.public_key.as_bytes());
        let (open, close) = if self.host.contains(':') {
            ("[", "]")
        } else {
            ("", "")
        };
        format!(
            "{SCHEME}{key}@{open}{}{close}:{}?{PUSH_PARAMETER}{}",
            self.host, self.receive_port, self.push_port
        )
    }

    /// The relay's key.
    #[must_use]
    pub fn public_key(&self) -> &NoisePublic {
        &self.public_key
    }

    /// The host; an IPv6 address without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port for Receive Sessions.
    #[must_use]
    pub fn receive_port(&self) -> u16 {
        self.receive_port
    }

    /// The port for Push Sessions.
    #[must_use]
    pub fn push_port(&self) -> u16 {
        self.push_port
    }
}

impl fmt::Debug for RelayAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RelayAddress")
    }
}

/// Which part of an address is wrong.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AddressError {
    /// There is no text.
    #[error("the relay address is empty")]
    Empty,
    /// The text is longer than any address.
    #[error("the relay address has {bytes} bytes")]
    TooLong {
        /// The bytes that there are.
        bytes: usize,
    },
    /// White space or another character that no address contains.
    #[error("the relay address contains a character that none contains")]
    Character,
    /// Percent encoding, as some programs add.
    #[error("the relay address contains a percent sign")]
    PercentEncoding,
    /// The text starts with something else.
    #[error("the relay address doesn't start as one")]
    Scheme,
    /// There is no key in front of the host.
    #[error("the relay address has no key")]
    KeyMissing,
    /// The key isn't 64 hex digits.
    #[error("the key in the relay address isn't {} hex digits", KEY_BYTES * 2)]
    Key,
    /// The key gives no security.
    #[error("the key in the relay address is unusable")]
    WeakKey,
    /// The host is missing, or neither a name nor an address.
    #[error("the host in the relay address is wrong")]
    Host,
    /// The receive port isn't a number from 1 to 65535.
    #[error("the receive port in the relay address is wrong")]
    ReceivePort,
    /// The push port isn't a number from 1 to 65535.
    #[error("the push port in the relay address is wrong")]
    PushPort,
    /// There is a path.
    #[error("the relay address has a path")]
    Path,
    /// There is a query other than the push port.
    #[error("the relay address has something appended after its question mark")]
    Query,
    /// There is a fragment.
    #[error("the relay address has something appended after a hash sign")]
    Fragment,
}

fn check_characters(text: &str) -> Result<(), AddressError> {
    if text.is_empty() {
        return Err(AddressError::Empty);
    }
    if text.len() > TEXT_BYTES_MAX {
        return Err(AddressError::TooLong { bytes: text.len() });
    }
    match text
        .chars()
        .find(|c| !c.is_ascii_graphic() || matches!(c, '%' | '#'))
    {
        Some('%') => Err(AddressError::PercentEncoding),
        Some('#') => Err(AddressError::Fragment),
        Some(_) => Err(AddressError::Character),
        None => Ok(()),
    }
}

fn without_scheme(text: &str) -> Result<&str, AddressError> {
    let (scheme, rest) = text
        .split_at_checked(SCHEME.len())
        .ok_or(AddressError::Scheme)?;
    if scheme.eq_ignore_ascii_case(SCHEME) {
        Ok(rest)
    } else {
        Err(AddressError::Scheme)
    }
}

fn public_key(digits: &str) -> Result<NoisePublic, AddressError> {
    let mut key = [0; KEY_BYTES];
    hex::decode_to_slice(digits, &mut key).map_err(|_| AddressError::Key)?;
    Ok(NoisePublic::from_bytes(key))
}

/// Splits a port from a host; an IPv6 address keeps its brackets.
fn split_port(authority: &str) -> Result<(&str, Option<&str>), AddressError> {
    let end = if authority.starts_with('[') {
        authority
            .find(']')
            .ok_or(AddressError::Host)?
            .saturating_add(1)
    } else if authority.parse::<Ipv6Addr>().is_ok() {
        // Without brackets its last part could as well be a port.
        return Err(AddressError::Host);
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (host, rest) = authority.split_at_checked(end).ok_or(AddressError::Host)?;
    if rest.is_empty() {
        return Ok((host, None));
    }
    rest.strip_prefix(':')
        .map(|digits| (host, Some(digits)))
        .ok_or(AddressError::Host)
}

/// A port in plain decimal: no sign, no leading zero, not zero.
fn port(digits: &str) -> Option<u16> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if is_plain { digits.parse().ok() } else { None }
}

fn push_port(query: &str) -> Result<u16, AddressError> {
    let digits = query
        .strip_prefix(PUSH_PARAMETER)
        .ok_or(AddressError::Query)?;
    if digits.contains(['&', '=', '?', ';']) {
        return Err(AddressError::Query);
    }
    port(digits).ok_or(AddressError::PushPort)
}

fn ipv6_host(host: &str) -> Result<String, AddressError> {
    host.parse::<Ipv6Addr>()
        .map(|address| address.to_string())
        .map_err(|_| AddressError::Host)
}

/// A DNS name or an IPv4 address.
fn named_host(host: &str) -> Result<String, AddressError> {
    let is_name = host.len() <= HOST_BYTES_MAX && host.split('.').all(is_label);
    let ends_in_number = host
        .rsplit('.')
        .next()
        .is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_name || (ends_in_number && host.parse::<Ipv4Addr>().is_err()) {
        return Err(AddressError::Host);
    }
    Ok(host.to_ascii_lowercase())
}

/// One part of a DNS name. Underscores don't belong in host names, but computers have them.
fn is_label(label: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&label.len())
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    fn with(rest: &str) -> String {
        format!("trueseal://{}{rest}", vectors::text("/keys/relay_public"))
    }

    fn parse(rest: &str) -> Result<RelayAddress, AddressError> {
        RelayAddress::parse(&with(rest))
    }

    #[test]
    fn ports_are_optional_when_read_and_written_always() {
        for (text, host, receive, push) in [
            ("@relay.example", "relay.example", 7_700, 7_701),
            ("@relay.example:1", "relay.example", 1, 7_701),
            ("@relay.example?push=65535", "relay.example", 7_700, 65_535),
            ("@192.168.1.7:7700?push=7701", "192.168.1.7", 7_700, 7_701),
            ("@[2001:db8:0::1]:80?push=81", "2001:db8::1", 80, 81),
            ("@localhost", "localhost", 7_700, 7_701),
            ("@Annas_PC.local", "annas_pc.local", 7_700, 7_701),
        ] {
            let address = parse(text).unwrap();
            assert_eq!(
                address.public_key().as_bytes().as_slice(),
                vectors::bytes("/keys/relay_public")
            );
            let read = (address.host(), address.receive_port(), address.push_port());
            assert_eq!(read, (host, receive, push), "{text}");
            assert_eq!(RelayAddress::parse(&address.to_text()), Ok(address.clone()));
            assert_eq!(
                RelayAddress::new(*address.public_key(), host, receive, push),
                Ok(address)
            );
        }
        assert_eq!(
            parse("@[::1]").unwrap().to_text(),
            with("@[::1]:7700?push=7701")
        );
    }

    #[test]
    fn the_vector_is_met() {
        let address = parse("@relay.example").unwrap();
        assert_eq!(address.to_text(), vectors::text("/address/text"));
    }

    #[test]
    fn case_and_surrounding_space_do_not_matter() {
        let text = with("@relay.example");
        let upper = text.to_ascii_uppercase();
        assert_eq!(
            RelayAddress::parse(&format!("\t {upper}\r\n")),
            RelayAddress::parse(&text)
        );
    }

    #[test]
    fn each_wrong_part_is_named() {
        use AddressError as Error;
        for (rest, error) in [
            ("", Error::KeyMissing),
            ("@", Error::Host),
            ("@:7700", Error::Host),
            ("@-relay", Error::Host),
            ("@relay-.example", Error::Host),
            ("@relay..example", Error::Host),
            ("@relay.example.", Error::Host),
            ("@1.2.3", Error::Host),
            ("@1.2.3.256", Error::Host),
            ("@01.2.3.4", Error::Host),
            ("@[::1", Error::Host),
            ("@::1", Error::Host),
            ("@[::1]7700", Error::Host),
            ("@[relay.example]", Error::Host),
            ("@user@relay.example", Error::Host),
            ("@relay.example:", Error::ReceivePort),
            ("@relay.example:0", Error::ReceivePort),
            ("@relay.example:07700", Error::ReceivePort),
            ("@relay.example:+7700", Error::ReceivePort),
            ("@relay.example:65536", Error::ReceivePort),
            ("@relay.example:7700:7701", Error::ReceivePort),
            ("@relay.example?push=", Error::PushPort),
            ("@relay.example?push=0", Error::PushPort),
            ("@relay.example?push=x", Error::PushPort),
            ("@relay.example?", Error::Query),
            ("@relay.example?fbid=1", Error::Query),
            ("@relay.example?PUSH=7701", Error::Query),
            ("@relay.example?push=7701&utm_source=x", Error::Query),
            ("@relay.example?push=7701&push=7701", Error::Query),
            ("@relay.example?push=7701?fbid=1", Error::Query),
            ("@relay.example/", Error::Path),
            ("@relay.example/path", Error::Path),
            ("@relay.example#top", Error::Fragment),
            ("@relay.example%3Fpush=7701", Error::PercentEncoding),
            ("@relay example", Error::Character),
            ("@rélay.example", Error::Character),
        ] {
            assert_eq!(parse(rest), Err(error), "{rest}");
        }
        let parse = RelayAddress::parse;
        assert_eq!(parse(" "), Err(Error::Empty));
        assert_eq!(parse("http://relay.example"), Err(Error::Scheme));
        assert_eq!(parse("trueseal:/"), Err(Error::Scheme));
        assert_eq!(parse("trueseal://00ff@relay.example"), Err(Error::Key));
        assert_eq!(
            parse(&format!("trueseal://{}@h", "0x".repeat(32))),
            Err(Error::Key)
        );
        assert_eq!(
            parse(&format!("trueseal://{}@h", "00".repeat(32))),
            Err(Error::WeakKey)
        );
        let long = with(&format!("@{}", "a".repeat(TEXT_BYTES_MAX)));
        assert_eq!(parse(&long), Err(Error::TooLong { bytes: long.len() }));
        assert_eq!(
            parse(&with(&format!("@{}", "a".repeat(64)))),
            Err(Error::Host)
        );
        assert_eq!(
            parse(&with(&format!("@{}", "a.".repeat(127) + "a"))),
            Err(Error::Host)
        );
    }

    #[test]
    fn a_typed_address_is_checked_too() {
        let key = NoisePublic::from_bytes(vectors::array("/keys/relay_public"));
        let new = RelayAddress::new;
        assert_eq!(new(key, "[::1]", 1, 1).unwrap().host(), "::1");
        assert_eq!(new(key, "h", 0, 1), Err(AddressError::ReceivePort));
        assert_eq!(new(key, "h", 1, 0), Err(AddressError::PushPort));
        for host in ["", "a b", "h:1", "h/", "h?", "h#", "h@h", "[h]", "ä"] {
            assert_eq!(new(key, host, 1, 1), Err(AddressError::Host), "{host}");
        }
        let weak = NoisePublic::from_bytes([0; 32]);
        assert_eq!(new(weak, "h", 1, 1), Err(AddressError::WeakKey));
    }

    #[test]
    fn an_address_is_not_printed() {
        assert_eq!(format!("{:?}", parse("@relay.example")), "Ok(RelayAddress)");
    }
}
