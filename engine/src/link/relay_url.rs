//! The address of a relay's web door.
//!
//! Owns its text: `http://` or `https://`, a host, perhaps a port and a path that a reverse
//! proxy takes off again. Anything else in it is refused with the part named. Never connects.

use std::fmt;

/// The most bytes that an address may have: it has to fit into a code that is scanned.
const TEXT_BYTES_MAX: usize = 512;

/// Where the web door of a relay is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelayUrl {
    is_tls: bool,
    host: String,
    port: u16,
    /// Empty, or from a slash on without one at the end.
    path: String,
}

/// Why a text is no address of a web door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RelayUrlError {
    /// It is too long.
    #[error("the address is too long")]
    TooLong,
    /// It begins with neither `http://` nor `https://`.
    #[error("the address begins with neither http:// nor https://")]
    Scheme,
    /// The host is missing or can't be one.
    #[error("the host of the address can't be one")]
    Host,
    /// The port is no number from 1 to 65535.
    #[error("the port of the address is no port")]
    Port,
    /// There is something in the path that doesn't belong there, or a query, or a fragment.
    #[error("the path of the address can't be used")]
    Path,
}

impl RelayUrlError {
    /// A stable name for each part.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLong => "tooLong",
            Self::Scheme => "scheme",
            Self::Host => "host",
            Self::Port => "port",
            Self::Path => "path",
        }
    }
}

impl RelayUrl {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// [`RelayUrlError`] names the part that is wrong.
    pub fn parse(text: &str) -> Result<Self, RelayUrlError> {
        let text = text.trim();
        if text.len() > TEXT_BYTES_MAX {
            return Err(RelayUrlError::TooLong);
        }
        let (is_tls, rest) = strip_scheme(text).ok_or(RelayUrlError::Scheme)?;
        let (authority, path) = match rest.find(['/', '?', '#']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (host, port) = split_port(authority)?;
        let port = match port {
            Some(port) => parse_port(port)?,
            None if is_tls => 443,
            None => 80,
        };
        Ok(Self {
            is_tls,
            host: check_host(host)?,
            port,
            path: check_path(path)?,
        })
    }

    /// Whether the connection is encrypted by TLS.
    #[must_use]
    pub const fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// The host, an IPv6 address without its brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// What stands before `/v1`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Host and port as a `Host` header has them.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        if self.port == if self.is_tls { 443 } else { 80 } {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }

    /// The address as text: what [`Self::parse`] reads back.
    #[must_use]
    pub fn to_text(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority(), self.path)
    }
}

impl fmt::Debug for RelayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RelayUrl")
    }
}

fn strip_scheme(text: &str) -> Option<(bool, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    match scheme.to_ascii_lowercase().as_str() {
        "http" => Some((false, rest)),
        "https" => Some((true, rest)),
        _ => None,
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), RelayUrlError> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(RelayUrlError::Host)?;
        if host.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(RelayUrlError::Host);
        }
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(RelayUrlError::Port),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((authority, None)),
    }
}

fn parse_port(port: &str) -> Result<u16, RelayUrlError> {
    let is_plain = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|port| is_plain && *port != 0);
    port.ok_or(RelayUrlError::Port)
}

fn check_host(host: &str) -> Result<String, RelayUrlError> {
    let is_address = host.parse::<std::net::Ipv6Addr>().is_ok();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_name = !host.is_empty() && host.len() <= 253 && host.bytes().all(is_plain);
    if is_address || is_name {
        Ok(host.to_ascii_lowercase())
    } else {
        Err(RelayUrlError::Host)
    }
}

fn check_path(path: &str) -> Result<String, RelayUrlError> {
    let path = path.trim_end_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte);
    if path.bytes().all(is_plain) {
        Ok(path.to_owned())
    } else {
        Err(RelayUrlError::Path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_back_as_it_is_written() {
        for (text, written) in [
            ("http://192.0.2.1:7703", "http://192.0.2.1:7703"),
            ("HTTP://Relay.Example/", "http://relay.example"),
            ("https://relay.example:443", "https://relay.example"),
            (
                "https://relay.example:7703/mail/",
                "https://relay.example:7703/mail",
            ),
            (" http://[2001:db8::1]:7703 ", "http://[2001:db8::1]:7703"),
            ("http://box.local:80", "http://box.local"),
        ] {
            let url = RelayUrl::parse(text).unwrap();
            assert_eq!(url.to_text(), written);
            assert_eq!(RelayUrl::parse(written).unwrap(), url);
        }
    }

    #[test]
    fn a_wrong_address_is_refused_with_its_part_named() {
        use RelayUrlError as E;
        for (text, error) in [
            ("relay.example:7703", E::Scheme),
            ("ftp://relay.example", E::Scheme),
            ("http://", E::Host),
            ("http://user@relay.example", E::Host),
            ("http://[::1", E::Host),
            ("http://[relay]", E::Host),
            ("http://relay example", E::Host),
            ("http://relay:", E::Port),
            ("http://relay:0", E::Port),
            ("http://relay:+1", E::Port),
            ("http://relay:65536", E::Port),
            ("http://[::1]7", E::Port),
            ("http://relay/p?x=1", E::Path),
            ("http://relay#x", E::Path),
            ("http://relay/a b", E::Path),
        ] {
            assert_eq!(RelayUrl::parse(text).unwrap_err(), error, "{text}");
        }
        let long = format!("http://relay/{}", "x".repeat(TEXT_BYTES_MAX));
        assert_eq!(RelayUrl::parse(&long).unwrap_err(), E::TooLong);
    }
}
