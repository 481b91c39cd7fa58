//! The invitation: a Relay Address and a pairing token in one link.
//!
//! Owns the link's grammar and the mending of what mail programs and people do to it. It never
//! connects anywhere: the person confirms the relay first. Specification section 1.4 and
//! amendment 4.
//!
//! A link is the address, a hash sign and the token. What is mended: white space, quotes and
//! angle brackets around it, line breaks inside it with the white space beside them, an upper
//! case scheme, and one slash after the ports. Everything else is refused with the part named.

use core::fmt;

use thiserror::Error;

use crate::address::{self, AddressError, RelayAddress};
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
fn mended(text: &str) -> String {
    let text = text.trim_matches(is_wrapping);
    let mut lines = text
        .split(is_line_break)
        .map(str::trim)
        .filter(|line| !line.is_empty());
    lines.by_ref().collect()
}

fn is_wrapping(c: char) -> bool {
    c.is_whitespace()
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

/// Removes the one slash that may follow the authority.
fn without_slash(address: &str) -> String {
    let scheme_bytes = address::SCHEME.len();
    let Some((scheme, rest)) = address.split_at_checked(scheme_bytes) else {
        return address.to_owned();
    };
    match rest.split_once('/') {
        Some((authority, query)) if query.is_empty() || query.starts_with('?') => {
            format!("{scheme}{authority}{query}")
        }
        _ => address.to_owned(),
    }
}
