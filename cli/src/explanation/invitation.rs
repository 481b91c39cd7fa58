//! Invitations, pairing codes and relay addresses that can't be read.

use sealpost_protocol::address::AddressError;
use sealpost_protocol::invitation::InvitationError;
use sealpost_protocol::token::{TEXT_CHARS, TokenError};

use crate::failure::{Exit, Failure};

/// What to do with an invitation that can't be read.
const SEND_AGAIN: &str = "Copy the whole invitation again, or have it sent again. \
                          Nothing was changed on this device.";

/// What to do with an address that can't be read.
const ADDRESS_AGAIN: &str = "Copy the address again, as `sealpost-relay address` prints it. \
                             Nothing was changed on this device.";

/// An invitation or pairing code that can't be read.
pub(crate) fn invitation_error(error: InvitationError) -> Failure {
    match error {
        InvitationError::Empty => input(
            "invitation-empty",
            "There is no invitation.",
            "The text is empty.",
            SEND_AGAIN,
        ),
        InvitationError::TooLong { bytes } => input(
            "invitation-too-long",
            "This is no invitation.",
            format!("It has {bytes} bytes, more than any invitation."),
            "Copy only the invitation, without the text around it. \
             Nothing was changed on this device.",
        ),
        InvitationError::TokenMissing => input(
            "invitation-cut",
            "The end of the invitation is missing.",
            "It names a relay, but the pairing code after the # is not there.",
            SEND_AGAIN,
        ),
        InvitationError::Address(AddressError::Scheme) => input(
            "invitation-unknown",
            "This is no invitation.",
            "An invitation starts with trueseal://, a pairing code with tsp1_.",
            SEND_AGAIN,
        ),
        InvitationError::Address(error) => Failure {
            what: format!(
                "The relay address in the invitation can't be read: {}",
                part(error)
            ),
            action: SEND_AGAIN.to_owned(),
            ..address_error(error)
        },
        InvitationError::Token(error) => token_error(error),
    }
}

/// A relay address that can't be read.
pub(crate) fn address_error(error: AddressError) -> Failure {
    let why = match error {
        AddressError::Empty => "The text is empty.".to_owned(),
        AddressError::TooLong { bytes } => format!("It has {bytes} bytes, more than any address."),
        AddressError::Character => {
            "It holds white space or another character that no address has.".to_owned()
        }
        AddressError::PercentEncoding => {
            "It holds a percent sign: another program has rewritten it.".to_owned()
        }
        AddressError::Scheme => "A relay address starts with trueseal://.".to_owned(),
        AddressError::KeyMissing => {
            "The relay's key and an @ must stand before the host.".to_owned()
        }
        AddressError::Key => "The relay's key must be 64 hexadecimal digits.".to_owned(),
        AddressError::WeakKey => "This key would protect nothing.".to_owned(),
        AddressError::Host => {
            "The host must be a name, an IPv4 address or an IPv6 address in brackets.".to_owned()
        }
        AddressError::ReceivePort | AddressError::PushPort => {
            "A port is a number from 1 to 65535.".to_owned()
        }
        AddressError::Path => "There is a path after the host; no address has one.".to_owned(),
        AddressError::Query => {
            "Only push=PORT may follow the question mark; another program may have added \
             something."
                .to_owned()
        }
        AddressError::Fragment => {
            "It goes on after a #: this may be an invitation, which belongs to `join`.".to_owned()
        }
    };
    let what = format!("The relay address can't be read: {}", part(error));
    input(address_code(error), what, why, ADDRESS_AGAIN)
}

fn address_code(error: AddressError) -> &'static str {
    match error {
        AddressError::Empty => "address-empty",
        AddressError::TooLong { .. } => "address-too-long",
        AddressError::Character => "address-character",
        AddressError::PercentEncoding => "address-percent",
        AddressError::Scheme => "address-scheme",
        AddressError::KeyMissing => "address-key-missing",
        AddressError::Key => "address-key",
        AddressError::WeakKey => "address-weak-key",
        AddressError::Host => "address-host",
        AddressError::ReceivePort => "address-receive-port",
        AddressError::PushPort => "address-push-port",
        AddressError::Path => "address-path",
        AddressError::Query => "address-query",
        AddressError::Fragment => "address-fragment",
    }
}

/// The part of an address that is wrong.
fn part(error: AddressError) -> &'static str {
    match error {
        AddressError::Empty => "there is none.",
        AddressError::TooLong { .. } => "it is too long.",
        AddressError::Character | AddressError::PercentEncoding => "a character is wrong.",
        AddressError::Scheme => "its beginning is wrong.",
        AddressError::KeyMissing => "its key is missing.",
        AddressError::Key | AddressError::WeakKey => "its key is wrong.",
        AddressError::Host => "its host is wrong.",
        AddressError::ReceivePort => "its first port is wrong.",
        AddressError::PushPort => "its push port is wrong.",
        AddressError::Path | AddressError::Query | AddressError::Fragment => {
            "something was added to it."
        }
    }
}

fn token_error(error: TokenError) -> Failure {
    match error {
        TokenError::Empty => input(
            "code-missing",
            "The pairing code is missing.",
            "Nothing stands after the #.",
            SEND_AGAIN,
        ),
        TokenError::Prefix => input(
            "code-prefix",
            "What follows the # is no pairing code.",
            "A pairing code starts with tsp1_.",
            SEND_AGAIN,
        ),
        TokenError::Appended => input(
            "code-appended",
            "Something was added to the pairing code.",
            "Another program put more behind it, as some do to follow links.",
            "Remove what follows the code, or have the invitation sent another way. \
             Nothing was changed on this device.",
        ),
        TokenError::Character => input(
            "code-character",
            "The pairing code holds a wrong character.",
            "It has only letters, digits, - and _.",
            SEND_AGAIN,
        ),
        TokenError::Length { chars } => input(
            "code-length",
            if chars < TEXT_CHARS {
                "A part of the pairing code is missing."
            } else {
                "The pairing code is too long."
            },
            format!("It has {chars} characters where {TEXT_CHARS} are needed."),
            SEND_AGAIN,
        ),
        TokenError::Check => input(
            "code-check",
            "The pairing code has a mistake in it.",
            "At least one character is not what was sent: the check inside the code doesn't fit.",
            SEND_AGAIN,
        ),
        TokenError::WeakKey => input(
            "code-weak-key",
            "This pairing code can't be trusted.",
            "It carries a key that would protect nothing.",
            "Ask the other person for a new invitation. Nothing was changed on this device.",
        ),
    }
}

fn input(
    code: &'static str,
    what: impl Into<String>,
    why: impl Into<String>,
    action: impl Into<String>,
) -> Failure {
    Failure::new(code, Exit::Input, what, why, action)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sealpost_protocol::invitation::Invitation;

    use super::*;

    const TOKEN: &str = "tsp1_e06Qm75__kTEZaIgA31gjuNYl9Me-XLwf3SJLLD3PxOgmqX0emdZgC_5VfjcLSoU\
                         pcmdI76X-GQSf_k4NFWk8Lu7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7Y2K1ZA";

    fn refusal(text: &str) -> Failure {
        invitation_error(Invitation::parse(text).unwrap_err())
    }

    #[test]
    fn each_mistake_in_an_invitation_has_a_text_of_its_own() {
        let key = "38ab664bd86f77d7e66bdd9ae0792913a94fd8b33a1260027e4b46c1f4884c67";
        let broken = [
            String::new(),
            "hello".to_owned(),
            "x".repeat(5000),
            TOKEN.replace("e06Qm75", "e06Qm76"),
            TOKEN.replace("e06Qm75", "e06 m75"),
            format!("{TOKEN}?fbid=1"),
            TOKEN.replace("e06Qm75", ""),
            format!("trueseal://{key}@relay.example"),
            format!("trueseal://{key}@relay.example#"),
            format!("trueseal://{key}@relay.example:0#{TOKEN}"),
            format!("trueseal://{key}@relay.example?push=x#{TOKEN}"),
            format!("trueseal://{key}@relay.example?fbid=1#{TOKEN}"),
            format!("trueseal://{key}@relay.example/a/b#{TOKEN}"),
            format!("trueseal://{key}@relay.example%3Fpush%3D7002#{TOKEN}"),
            format!("trueseal://0{key}@relay.example#{TOKEN}"),
            format!("trueseal://{}@relay.example#{TOKEN}", "0".repeat(64)),
            format!("trueseal://relay.example#{TOKEN}"),
            format!("trueseal://{key}@-relay#{TOKEN}"),
        ];
        let mut codes = BTreeSet::new();
        for text in &broken {
            let failure = refusal(text);
            assert_eq!(failure.exit, Exit::Input);
            assert!(
                failure.action.contains("Nothing was changed"),
                "{}",
                failure.action
            );
            assert!(codes.insert(failure.code), "{} comes twice", failure.code);
        }
    }

    #[test]
    fn a_refusal_never_repeats_what_was_typed() {
        for text in [
            TOKEN.replace('u', "v"),
            "trueseal://canaries@canaries#canaries".to_owned(),
        ] {
            let shown = refusal(&text).to_string();
            assert!(
                !shown.contains("canaries") && !shown.contains("7v7v7"),
                "{shown}"
            );
        }
    }
}
