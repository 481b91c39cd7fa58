//! The pairing code: a URL that a phone's camera opens, with everything secret in its fragment.
//!
//! Owns the URL's shape (section 8.1). It never decides whether a code is still valid: A does,
//! by erasing the mailbox; the time in it is for a countdown, and no clock is trusted.
//!
//! ```text
//! http://192.168.1.20:48787/p#v=1&i=<22>&k=<43>&x=<unix seconds>&n=<name>
//! ```
//!
//! Invariants: nothing secret stands before the `#`, which browsers keep to themselves; a code
//! never prints itself. Fields that aren't known are passed over, in any order; of a field that
//! stands twice the code is refused.

use core::fmt;
use core::fmt::Write as _;

use thiserror::Error;
use zeroize::Zeroizing;

use super::key::{LinkId, LinkKey};
use crate::limit::LINK_CODE_NAME_CHARS_MAX;
use crate::name;

/// The one version of codes.
const VERSION: &str = "1";

/// The page that the code opens, after the relay's base URL.
pub const PAGE_PATH: &str = "/p";

/// What A shows and B scans.
#[derive(Clone, PartialEq, Eq)]
pub struct PairingCode {
    base_url: String,
    id: LinkId,
    key: LinkKey,
    expires_s: u64,
    name: Option<String>,
}

/// Which part of a text keeps it from being a pairing code.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum CodeError {
    /// There is no text.
    #[error("the pairing code is empty")]
    Empty,
    /// Not a URL of http or https with a host, or one with a user's name in it.
    #[error("the pairing code isn't a web address")]
    Address,
    /// A web address, but not of the page for phones.
    #[error("the pairing code leads to another page")]
    Page,
    /// Nothing after the `#`, which programs that pass an address on tend to drop.
    #[error("the part of the pairing code after the # is missing")]
    NoFragment,
    /// Made by a program that is newer, or no pairing code at all.
    #[error("the pairing code is of another version")]
    Version,
    /// The link's id is missing or isn't one.
    #[error("the id in the pairing code isn't complete")]
    Id,
    /// The link's key is missing or isn't one.
    #[error("the key in the pairing code isn't complete")]
    Key,
    /// The end of its validity is missing or no number.
    #[error("the time in the pairing code isn't one")]
    Expiry,
    /// A field stands twice.
    #[error("a part of the pairing code stands twice")]
    Repeated,
}

impl PairingCode {
    /// Makes a code. The base URL is the relay's web door as the phone reaches it, without a
    /// slash at its end; the name is cleaned and cut to 24 characters.
    ///
    /// # Errors
    ///
    /// The base URL isn't one.
    pub fn new(
        base_url: &str,
        (key, id): (LinkKey, LinkId),
        expires_s: u64,
        name: &str,
    ) -> Result<Self, CodeError> {
        if !is_base_url(base_url) {
            return Err(CodeError::Address);
        }
        Ok(Self {
            base_url: base_url.to_owned(),
            id,
            key,
            expires_s,
            name: cleaned(name),
        })
    }

    /// The code as a URL. It contains the key.
    #[must_use]
    pub fn to_url(&self) -> Zeroizing<String> {
        let mut url = Zeroizing::new(String::with_capacity(
            self.base_url.len().saturating_add(256),
        ));
        let written = write!(
            url,
            "{}{PAGE_PATH}#v={VERSION}&i={}&k={}&x={}",
            self.base_url,
            self.id.to_text(),
            *self.key.to_text(),
            self.expires_s
        );
        debug_assert!(written.is_ok(), "writing to memory doesn't fail");
        if let Some(name) = &self.name {
            url.push_str("&n=");
            url.push_str(&percent_encoded(name));
        }
        url
    }

    /// Reads a code. White space around it is ignored.
    ///
    /// # Errors
    ///
    /// Names the part that is wrong, without any of it.
    pub fn parse(text: &str) -> Result<Self, CodeError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(CodeError::Empty);
        }
        let (address, fragment) = text.split_once('#').unwrap_or((text, ""));
        let page = address.split_once('?').map_or(address, |(page, _)| page);
        let scheme_end = page.split_once("://").ok_or(CodeError::Address)?;
        let has_path = scheme_end.1.contains('/');
        let base = page
            .strip_suffix('/')
            .unwrap_or(page)
            .strip_suffix(PAGE_PATH)
            .filter(|_| has_path);
        let Some(base_url) = base else {
            let is_address = is_base_url(page.trim_end_matches('/'));
            return Err(if is_address {
                CodeError::Page
            } else {
                CodeError::Address
            });
        };
        if !is_base_url(base_url) {
            return Err(CodeError::Address);
        }
        if fragment.is_empty() {
            return Err(CodeError::NoFragment);
        }
        Self::read(base_url, &Fields::read(fragment)?)
    }

    fn read(base_url: &str, fields: &Fields<'_>) -> Result<Self, CodeError> {
        if fields.version != Some(VERSION) {
            return Err(CodeError::Version);
        }
        Ok(Self {
            base_url: base_url.to_owned(),
            id: fields.id.and_then(LinkId::parse).ok_or(CodeError::Id)?,
            key: fields.key.and_then(LinkKey::parse).ok_or(CodeError::Key)?,
            expires_s: fields.expires_s.and_then(number).ok_or(CodeError::Expiry)?,
            name: fields
                .name
                .map(percent_decoded)
                .and_then(|raw| cleaned(&raw)),
        })
    }

    /// The web door of the relay: scheme, host, port and perhaps a path, no slash at the end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The id of the link that is used until the rotation.
    #[must_use]
    pub const fn id(&self) -> LinkId {
        self.id
    }

    /// The key of the link that is used until the rotation.
    #[must_use]
    pub const fn key(&self) -> &LinkKey {
        &self.key
    }

    /// When A takes the code back, in Unix seconds of A's clock. For display.
    #[must_use]
    pub const fn expires_s(&self) -> u64 {
        self.expires_s
    }

    /// A's name, cleaned. For display: it proves nothing.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl fmt::Debug for PairingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairingCode")
    }
}

/// The fields of a fragment that are known.
#[derive(Default)]
struct Fields<'a> {
    version: Option<&'a str>,
    id: Option<&'a str>,
    key: Option<&'a str>,
    expires_s: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'a> Fields<'a> {
    fn read(fragment: &'a str) -> Result<Self, CodeError> {
        let mut fields = Self::default();
        for part in fragment.split('&') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let field = match name {
                "v" => &mut fields.version,
                "i" => &mut fields.id,
                "k" => &mut fields.key,
                "x" => &mut fields.expires_s,
                "n" => &mut fields.name,
                _ => continue,
            };
            if field.replace(value).is_some() {
                return Err(CodeError::Repeated);
            }
        }
        Ok(fields)
    }
}

/// Whether a text is scheme and authority of a web door, perhaps with a path.
#[must_use]
pub fn is_base_url(text: &str) -> bool {
    let rest = ["http://", "https://"]
        .into_iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    let Some(rest) = rest else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let is_plain =
        |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '@' | '\\' | '"' | '<' | '>');
    !authority.is_empty()
        && !authority.starts_with(':')
        && rest.chars().all(is_plain)
        && !rest.ends_with('/')
}

/// A plain decimal number: digits only.
fn number(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

fn cleaned(raw: &str) -> Option<String> {
    let short: String = name::clean(raw)?
        .chars()
        .take(LINK_CODE_NAME_CHARS_MAX)
        .collect();
    name::clean(&short)
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            let written = write!(encoded, "%{byte:02X}");
            debug_assert!(written.is_ok(), "writing to memory doesn't fail");
        }
    }
    encoded
}

/// Undoes percent encoding; what isn't valid is kept as it stands, or replaced.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%')
            .then(|| after.split_at_checked(2))
            .flatten()
            .and_then(|(digits, after)| Some((hex::decode(digits).ok()?, after)));
        if let Some((decoded, after)) = escaped {
            bytes.extend(decoded);
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link::vectors;

    const BASE: &str = "http://192.168.1.20:48787";

    fn code(name: &str) -> PairingCode {
        let link = (vectors::key(), vectors::id());
        PairingCode::new(BASE, link, 1_795_000_300, name).unwrap()
    }

    #[test]
    fn a_code_is_the_url_of_the_specification() {
        let url = code("Tom's Büro").to_url();
        assert_eq!(
            *url,
            "http://192.168.1.20:48787/p#v=1&i=oKGio6SlpqeoqaqrrK2urw\
             &k=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8&x=1795000300&n=Tom%27s%20B%C3%BCro"
        );
        let read = PairingCode::parse(&format!("  {}\n", *url)).unwrap();
        assert_eq!(read, code("Tom's Büro"));
        assert_eq!((read.base_url(), read.name()), (BASE, Some("Tom's Büro")));
        assert_eq!((read.id(), read.key()), (vectors::id(), &vectors::key()));
        assert_eq!(read.expires_s(), 1_795_000_300);
    }

    #[test]
    fn nothing_secret_stands_before_the_fragment() {
        let url = code("Desk").to_url();
        let (sent, _) = url.split_once('#').unwrap();
        assert_eq!(sent, "http://192.168.1.20:48787/p");
        assert_eq!(format!("{:?}", code("Desk")), "PairingCode");
    }

    #[test]
    fn order_is_free_and_unknown_fields_are_passed_over() {
        let url = code("").to_url();
        let (address, fragment) = url.split_once('#').unwrap();
        let mut parts: Vec<_> = fragment.split('&').rev().collect();
        parts.extend(["f=abc", "z", ""]);
        let turned = format!("{address}/?utm=x#{}", parts.join("&"));
        assert_eq!(PairingCode::parse(&turned), Ok(code("")));
        assert_eq!(code("").name(), None);
    }

    #[test]
    fn each_fault_is_named() {
        let url = code("Desk").to_url();
        let parse = |text: &str| PairingCode::parse(text).unwrap_err();
        assert_eq!(parse(" \n"), CodeError::Empty);
        assert_eq!(parse("hello"), CodeError::Address);
        assert_eq!(parse("ftp://host/p#v=1"), CodeError::Address);
        assert_eq!(parse("http:///p#v=1"), CodeError::Address);
        assert_eq!(parse("http://a@b/p#v=1"), CodeError::Address);
        assert_eq!(parse("http://p#v=1"), CodeError::Page);
        assert_eq!(parse("https://host/other#v=1"), CodeError::Page);
        assert_eq!(parse("http://192.168.1.20:48787/p"), CodeError::NoFragment);
        assert_eq!(parse("http://192.168.1.20:48787/p#"), CodeError::NoFragment);
        assert_eq!(parse(&url.replace("v=1", "v=2")), CodeError::Version);
        assert_eq!(parse(&url.replace("v=1", "w=1")), CodeError::Version);
        assert_eq!(parse(&url.replace("&i=o", "&i=")), CodeError::Id);
        assert_eq!(parse(&url.replace("&k=A", "&k=")), CodeError::Key);
        assert_eq!(parse(&url.replace("&x=1", "&x=+1")), CodeError::Expiry);
        assert_eq!(parse(&url.replace("&x=1", "&y=1")), CodeError::Expiry);
        assert_eq!(parse(&format!("{}&v=1", *url)), CodeError::Repeated);
    }

    #[test]
    fn a_name_is_cleaned_and_cut() {
        let long = code(&"n".repeat(60));
        assert_eq!(
            long.name().unwrap().chars().count(),
            LINK_CODE_NAME_CHARS_MAX
        );
        let url = code("").to_url();
        for (raw, name) in [
            ("%00%0A", None),
            ("a%2", Some("a%2")),
            ("%ff", Some("\u{fffd}")),
            ("%E2%80%AEabc", Some("abc")),
        ] {
            let read = PairingCode::parse(&format!("{}&n={raw}", *url)).unwrap();
            assert_eq!(read.name(), name, "{raw}");
        }
    }

    #[test]
    fn only_web_doors_are_base_urls() {
        let link = || (vectors::key(), vectors::id());
        for good in [
            "http://[::1]:80",
            "https://relay.example/link",
            "http://a.local",
        ] {
            assert!(PairingCode::new(good, link(), 0, "").is_ok(), "{good}");
        }
        for wrong in [
            "",
            "http://",
            "http://:80",
            "http://a/",
            "http://a b",
            "http://a#b",
            "a",
        ] {
            let made = PairingCode::new(wrong, link(), 0, "");
            assert_eq!(made, Err(CodeError::Address), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn every_code_is_read_back(name in ".{0,40}", expires_s: u64) {
            let link = (vectors::key(), vectors::id());
            let code = PairingCode::new(BASE, link, expires_s, &name).unwrap();
            prop_assert_eq!(PairingCode::parse(&code.to_url()), Ok(code));
        }

        #[test]
        fn arbitrary_texts_do_not_panic(text in ".{0,80}") {
            let _ = PairingCode::parse(&text);
            let _ = PairingCode::parse(&format!("{BASE}/p#v=1&{text}"));
        }
    }
}
