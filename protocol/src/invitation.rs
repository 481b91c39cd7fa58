//! The invitation: a Relay Address and a pairing token in one link.
//!
//! Owns the link's grammar and the mending of what mail programs and people do to it. It never
//! connects anywhere: the person confirms the relay first. Specification section 1.4 and
//! amendment 4.
//!
//! A link is the address, a hash sign and the token. What is mended: white space, quotes,
//! angle brackets and invisible format characters around it, line breaks inside it with the
//! white space beside them, an upper case scheme, and one slash after host and port. Everything
//! else is refused with the part named.

use core::fmt;

use thiserror::Error;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};
use zeroize::Zeroizing;

use crate::address::{AddressError, RelayAddress};
use crate::token::{PairingToken, TEXT_PREFIX, TokenError};

/// The longest text that is looked at.
pub const TEXT_BYTES_MAX: usize = 4_096;

/// What a person was given to join a group.
#[derive(Clone, PartialEq, Eq)]
pub struct Invitation {
    /// The relay; a bare pairing token names none.
    pub relay: Option<RelayAddress>,
    /// The pairing token.
    pub token: PairingToken,
}

impl Invitation {
    /// Reads a link or a bare pairing token.
    ///
    /// # Errors
    ///
    /// Names the part that is wrong, without any of the text.
    pub fn parse(text: &str) -> Result<Self, InvitationError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(InvitationError::TooLong { bytes: text.len() });
        }
        let text = mended(text);
        if text.is_empty() {
            return Err(InvitationError::Empty);
        }
        if text.starts_with(TEXT_PREFIX) {
            return Ok(Self {
                relay: None,
                token: PairingToken::parse(&text)?,
            });
        }
        let Some((address, token)) = text.split_once('#') else {
            // The address is judged first, so that a wrong one isn't called a lonely one.
            RelayAddress::parse(&without_slash(&text))?;
            return Err(InvitationError::TokenMissing);
        };
        // Each part alone would ignore white space around it, but here that is inside the link.
        if address.ends_with(char::is_whitespace) {
            return Err(AddressError::Character.into());
        }
        if token.starts_with(char::is_whitespace) {
            return Err(TokenError::Character.into());
        }
        let relay = RelayAddress::parse(&without_slash(address))?;
        Ok(Self {
            relay: Some(relay),
            token: PairingToken::parse(token)?,
        })
    }

    /// The invitation as a link; `None` where it names no relay.
    #[must_use]
    pub fn to_link(&self) -> Option<String> {
        let relay = self.relay.as_ref()?;
        Some(format!("{}#{}", relay.to_text(), self.token.to_text()))
    }
}

impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Invitation")
    }
}

/// Which part of an invitation is wrong.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum InvitationError {
    /// There is no text.
    #[error("the invitation is empty")]
    Empty,
    /// The text is longer than any invitation.
    #[error("the invitation has {bytes} bytes")]
    TooLong {
        /// The bytes that there are.
        bytes: usize,
    },
    /// A relay address without a pairing token: the end of the link is missing.
    #[error("the invitation has no pairing token")]
    TokenMissing,
    /// The relay address in front of the token is wrong.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The pairing token is wrong.
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// Removes what surrounds a link and what broke it into lines.
///
/// The result carries the secret of a token: it is wiped, and never moved by growing.
fn mended(text: &str) -> Zeroizing<String> {
    let mut mended = Zeroizing::new(String::with_capacity(text.len()));
    let text = text.trim_matches(is_wrapping);
    for line in text.split(is_line_break) {
        mended.push_str(line.trim());
    }
    mended
}

fn is_wrapping(c: char) -> bool {
    c.is_whitespace()
        || c.general_category() == GeneralCategory::Format
        || matches!(
            c,
            '<' | '>' | '"' | '\'' | '‘' | '’' | '‚' | '“' | '”' | '„' | '«' | '»' | '‹' | '›'
        )
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Removes the one slash that may follow host and port.
fn without_slash(address: &str) -> String {
    let (front, query) = match address
        .find('?')
        .and_then(|at| address.split_at_checked(at))
    {
        Some((front, query)) => (front, query),
        None => (address, ""),
    };
    let front = match front.strip_suffix('/') {
        Some(stripped) if !stripped.ends_with('/') => stripped,
        _ => front,
    };
    format!("{front}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    fn address() -> String {
        vectors::text("/address/text")
    }

    fn link() -> String {
        format!("{}#{}", address(), vectors::text("/pairing/token"))
    }

    fn invitation() -> Invitation {
        Invitation {
            relay: Some(RelayAddress::parse(&address()).unwrap()),
            token: PairingToken::parse(&vectors::text("/pairing/token")).unwrap(),
        }
    }

    /// The text broken into lines of 72 characters.
    fn wrapped(text: &str, line_end: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let lines: Vec<String> = chars.chunks(72).map(|line| line.iter().collect()).collect();
        lines.join(line_end)
    }

    #[test]
    fn a_link_is_address_hash_and_token() {
        assert_eq!(invitation().to_link().as_deref(), Some(link().as_str()));
        assert_eq!(Invitation::parse(&link()), Ok(invitation()));
        assert_eq!(link(), vectors::text("/address/invitation"));
    }

    #[test]
    fn a_bare_token_names_no_relay() {
        let token = vectors::text("/pairing/token");
        let bare = Invitation {
            relay: None,
            ..invitation()
        };
        assert_eq!(bare.to_link(), None);
        assert_eq!(Invitation::parse(&token), Ok(bare.clone()));
        assert_eq!(
            Invitation::parse(&format!("<{}>\n", wrapped(&token, "\r\n"))),
            Ok(bare)
        );
    }

    #[test]
    fn what_programs_and_people_do_to_a_link_is_mended() {
        let link = link();
        for text in [
            format!("  {link}\r\n\r\n"),
            format!("<{link}>"),
            format!("\"{link}\""),
            format!("'{link}'"),
            format!("“{link}”"),
            format!("„{link}“"),
            format!("\u{2068}{link}\u{2069}\u{feff}"),
            format!("«\u{a0}{link}\u{a0}»"),
            format!("> <\"{link}\"> "),
            wrapped(&link, "\n"),
            wrapped(&link, "\r\n"),
            wrapped(&link, " \r\n\t "),
            wrapped(&link, "\u{2028}"),
            link.replace("trueseal", "TRUESEAL"),
            link.replace("trueseal", "TrueSeal"),
            link.replace("?push", "/?push"),
        ] {
            assert_eq!(Invitation::parse(&text), Ok(invitation()), "{text}");
        }
        let without_push = link.replace("?push=7701", "/");
        assert_eq!(Invitation::parse(&without_push), Ok(invitation()));
    }

    #[test]
    fn everything_else_is_refused_with_its_part() {
        use InvitationError::{Address, Token};
        let (link, address, token) = (link(), address(), vectors::text("/pairing/token"));
        for (text, error) in [
            (String::new(), InvitationError::Empty),
            ("<>".to_owned(), InvitationError::Empty),
            (address.clone(), InvitationError::TokenMissing),
            (format!("{address}/"), Address(AddressError::PushPort)),
            (format!("{address}#"), Token(TokenError::Empty)),
            (format!("{link}?fbid=1"), Token(TokenError::Appended)),
            (format!("{link}&utm_source=x"), Token(TokenError::Appended)),
            (format!("{link}%3Ffbid=1"), Token(TokenError::Appended)),
            (format!("{link}#{token}"), Token(TokenError::Appended)),
            (format!("{token}?fbid=1"), Token(TokenError::Appended)),
            (
                link.replace('#', "&utm_source=x#"),
                Address(AddressError::Query),
            ),
            (
                link.replace("?push=7701", "?fbid=1"),
                Address(AddressError::Query),
            ),
            (
                link.replace('?', "%3F"),
                Address(AddressError::PercentEncoding),
            ),
            (
                link.replace('#', "%23"),
                Address(AddressError::PercentEncoding),
            ),
            (link.replace('?', "//?"), Address(AddressError::Path)),
            (link.replace('?', "/join?"), Address(AddressError::Path)),
            (
                link.replace("trueseal", "https"),
                Address(AddressError::Scheme),
            ),
            (
                link.replace("relay.", "relay ."),
                Address(AddressError::Character),
            ),
            (
                link.replace("7700", "0"),
                Address(AddressError::ReceivePort),
            ),
            (link.replace('#', "# "), Token(TokenError::Character)),
            (link.replace('#', " #"), Address(AddressError::Character)),
            (
                link.replace("#tsp1_", "# tsp1_ "),
                Token(TokenError::Character),
            ),
            (format!("Join us: {link}"), Address(AddressError::Character)),
            (format!("{link}\n\nSee you!"), Token(TokenError::Character)),
        ] {
            assert_eq!(Invitation::parse(&text), Err(error), "{text}");
        }
        let long = " ".repeat(TEXT_BYTES_MAX + 1);
        assert_eq!(
            Invitation::parse(&long),
            Err(InvitationError::TooLong { bytes: long.len() })
        );
    }

    #[test]
    fn an_invitation_is_not_printed() {
        assert_eq!(format!("{:?}", invitation()), "Invitation");
    }
}
