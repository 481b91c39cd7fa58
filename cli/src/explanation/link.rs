//! Links that can't be opened, calls that they refuse, codes that can't be used, pairings that
//! came to nothing, and what keeps a link from working.

use sealpost_engine::core::error::StorageFault;
use sealpost_engine::core::link::RowFailure;
use sealpost_engine::core::link::pairing::PairingFailure;
use sealpost_engine::link::{
    LinkEnd, LinkFailure, LinkTrouble, LinksError, LinksOpenError, RelayUrlError,
};
use sealpost_protocol::link::code::CodeError;

use super::key_store_error;
use crate::failure::{Exit, Failure};

/// Links that can't be opened.
pub(crate) fn links_open_error(error: LinksOpenError) -> Failure {
    match error {
        LinksOpenError::KeyStore(error) => key_store_error(error),
        LinksOpenError::KeyMissing => Failure::new(
            "links-key-missing",
            Exit::Keys,
            "The key of the links is gone.",
            "Their data is here, but the keychain or the key file has no key for it.",
            "Restore the keychain or the key file from a backup. No new key was made.",
        ),
        LinksOpenError::Storage(fault) => storage_fault(fault),
        LinksOpenError::StoreTooNew { found, known } => Failure::new(
            "links-too-new",
            Exit::Data,
            "The data of the links was written by a newer version of Sealpost.",
            format!("Its version is {found}; this program knows up to {known}."),
            "Update this program. Nothing was changed.",
        ),
    }
}

/// A call that was refused.
pub(crate) fn links_error(error: LinksError) -> Failure {
    match error {
        LinksError::Storage(fault) => storage_fault(fault),
        LinksError::Closed => Failure::bug("The links are closed.", "They were used after that"),
        LinksError::Code(error) => code_error(error),
        LinksError::RelayUrl(error) => relay_url_error(error),
        LinksError::UnknownLink => unknown(),
        LinksError::StillPairing => link(
            "link-pairing",
            "The link isn't there yet.",
            "Its pairing is not complete.",
            "Compare the digits on both devices first.",
        ),
        LinksError::NotPairing | LinksError::NoDigits => link(
            "link-not-pairing",
            "There are no digits to confirm.",
            "The link is paired already, or the pairing is over.",
            "`sealpost link list` shows how it stands.",
        ),
        LinksError::NotEnded => link(
            "link-not-ended",
            "The link has not ended.",
            "It still works, or waits for the other device.",
            "End it with `sealpost link unpair`.",
        ),
        LinksError::Ended => link(
            "link-ended",
            "The link has ended.",
            "The other device has unpaired, or the pairing came to nothing.",
            "Pair the devices again with `sealpost link new`.",
        ),
        LinksError::OutboxFull { max } => Failure::new(
            "link-outbox-full",
            Exit::Group,
            "Too much waits for the other device already.",
            format!("{max} messages wait to be collected by it."),
            "Open the link on the other device, and send again then. Nothing was sent.",
        ),
        LinksError::TooMany { max } => Failure::new(
            "link-too-many",
            Exit::Group,
            "There are too many links.",
            format!("A profile has at most {max}."),
            "Unpair one first: `sealpost link unpair`.",
        ),
        LinksError::TooLarge { max } => Failure::new(
            "text-too-large",
            Exit::Input,
            "The text is too long.",
            format!("A message has at most {max} bytes."),
            "Send it in parts. Nothing was sent.",
        ),
        LinksError::NameEmpty => Failure::new(
            "name-empty",
            Exit::Input,
            "This is no name for a device.",
            "Nothing of it can be seen.",
            "Choose a name with letters or digits.",
        ),
    }
}

/// A pairing code that can't be read.
pub(crate) fn code_error(error: CodeError) -> Failure {
    let code = |code, why: &str| {
        Failure::new(
            code,
            Exit::Input,
            "This is no pairing code that can be used.",
            why,
            "Scan the code again, or copy the whole address. Nothing was changed on this device.",
        )
    };
    match error {
        CodeError::Empty => code("link-code-empty", "The text is empty."),
        CodeError::Address => code(
            "link-code-address",
            "It is no web address that begins with http:// or https://.",
        ),
        CodeError::Page => code("link-code-page", "The address leads to another page."),
        CodeError::NoFragment => code(
            "link-code-no-fragment",
            "The part after the # is missing: programs that pass an address on tend to drop it.",
        ),
        CodeError::Version => Failure {
            action: "Update whichever of the two programs is older. Nothing was changed on this \
                     device."
                .to_owned(),
            ..code("link-code-version", "It is of another version.")
        },
        CodeError::Id => code("link-code-id", "The id in it is not complete."),
        CodeError::Key => code("link-code-key", "The key in it is not complete."),
        CodeError::Expiry => code("link-code-expiry", "The time in it is none."),
        CodeError::Repeated => code("link-code-repeated", "A part of it stands there twice."),
    }
}

/// An address of a web door that can't be read.
pub(crate) fn relay_url_error(error: RelayUrlError) -> Failure {
    let why = match error {
        RelayUrlError::TooLong => "It is too long.",
        RelayUrlError::Scheme => "It begins with neither http:// nor https://.",
        RelayUrlError::Host => "The host in it can't be one.",
        RelayUrlError::Port => "The port in it is no number from 1 to 65535.",
        RelayUrlError::Path => "There is something after host and port that doesn't belong there.",
    };
    Failure::new(
        "relay-url",
        Exit::Input,
        "This is no address of a relay's web door.",
        why,
        "Give it as http://HOST:PORT, as `sealpost relay run --web-port` prints it. Nothing was \
         changed.",
    )
}

/// A relay's web door that gives no answer.
pub(crate) fn link_failure(failure: LinkFailure) -> Failure {
    match failure {
        LinkFailure::NameNotFound => relay(
            "relay-name-not-found",
            "The relay's name is not known.",
            "Looking its host name up gave no address.",
            "Check this computer's network, and the name in the relay's address.",
        ),
        LinkFailure::Refused => relay(
            "relay-refused",
            "No relay runs at this address.",
            "The computer is there, but nothing listens on that port.",
            "Start the relay with its web door, or check the port in its address.",
        ),
        LinkFailure::NoAnswer => relay(
            "relay-no-answer",
            "The relay doesn't answer.",
            "Its computer is off, on another network, or behind a firewall.",
            "Check this computer's network and whether the relay runs.",
        ),
        LinkFailure::Lost => relay(
            "relay-lost",
            "The connection to the relay broke off.",
            "The network or the relay went away.",
            "Nothing needs to be done: it is tried again by itself.",
        ),
        LinkFailure::Certificate => relay(
            "relay-certificate",
            "The relay's certificate is not trusted.",
            "It is for another name, has expired, or comes from nobody whom this computer trusts.",
            "Check the name in the address, or install the certificate authority of whoever \
             runs the relay. Nothing was sent to it.",
        ),
        LinkFailure::SomethingElse => relay(
            "relay-something-else",
            "What answers there is no relay.",
            "The answer is not that of a relay's web door: the port may belong to another program.",
            "Check the host and the port in the relay's address.",
        ),
        LinkFailure::RelayOff => relay(
            "relay-off",
            "The relay in this program doesn't run.",
            "It was never started, or was stopped.",
            "Start it.",
        ),
    }
}

/// A pairing that came to nothing.
pub(crate) fn pairing_failure(failure: PairingFailure) -> Failure {
    let pairing = |code, exit, what: &str, why: &str, action: &str| {
        Failure::new(code, exit, what, why, action)
    };
    match failure {
        PairingFailure::Expired => pairing(
            "link-code-expired",
            Exit::InVain,
            "The pairing code is no longer good.",
            "It is good for 5 minutes, or the device that showed it has taken it back.",
            "Show a new one: `sealpost link new`. Nothing is kept of this one.",
        ),
        PairingFailure::Cancelled => pairing(
            "link-cancelled",
            Exit::Refused,
            "The pairing is cancelled.",
            "It was ended on this device.",
            "Begin again with `sealpost link new`. Nothing is kept of this one.",
        ),
        PairingFailure::PeerCancelled => pairing(
            "link-peer-cancelled",
            Exit::Refused,
            "The other device has ended the pairing.",
            "It was cancelled there, or the digits were said to differ.",
            "Begin again with `sealpost link new`, and compare the digits.",
        ),
        PairingFailure::TwoDevices => pairing(
            "link-two-devices",
            Exit::Refused,
            "Two devices used this code.",
            "Somebody else may have seen or photographed it. Nothing was sent to either of them.",
            "Begin again with `sealpost link new`, where nobody looks at the screen.",
        ),
        PairingFailure::Mismatch => pairing(
            "link-mismatch",
            Exit::Refused,
            "The other device does not follow the rules of pairing.",
            "Somebody may stand between the two devices, or one of the programs is faulty.",
            "Begin again with `sealpost link new` on a network that you trust.",
        ),
        PairingFailure::WrongToken => wrong_token(),
        PairingFailure::Refused => refused("It refused what a pairing needs.".to_owned()),
    }
}

/// A link that ended by itself.
pub(crate) fn link_ended(end: LinkEnd) -> Failure {
    match end {
        LinkEnd::ByPeer => link(
            "link-ended",
            "The other device has unpaired.",
            "The link was ended there; its keys are gone on both sides.",
            "Pair the devices again with `sealpost link new` if that was not meant.",
        ),
        LinkEnd::Pairing(failure) => pairing_failure(failure),
        LinkEnd::ClaimsClosed => claims_closed(),
        LinkEnd::Storage(fault) => storage_fault(fault),
    }
}

/// The relay has no mailbox for the link and makes none.
pub(crate) fn link_lost() -> Failure {
    link(
        "link-lost",
        "The relay no longer has a mailbox for this link.",
        "The other device unpaired while this one was away, or nothing was sent for 30 days.",
        "Pair the devices again with `sealpost link new`, and take this link off the list with \
         `sealpost link unpair`. What waits here is kept until then.",
    )
}

/// The relay had lost the mailbox of the link.
pub(crate) fn link_unconfirmed() -> Failure {
    link(
        "link-unconfirmed",
        "The relay had lost the mailbox of this link, and the other device was not heard of since.",
        "Nothing was sent for 30 days, the relay lost its data, or the other device unpaired.",
        "Nothing needs to be done: what waits is sent again. If the other device is not heard of \
         within 7 days, it has probably unpaired: `sealpost link unpair`.",
    )
}

/// The pairing is complete, and the other device has said nothing in the link yet.
pub(crate) fn link_unheard() -> Failure {
    link(
        "link-unheard",
        "The other device was not heard of in this link yet.",
        "The pairing is complete here; the other device tells so as soon as it runs.",
        "Nothing needs to be done: what is sent waits for it.",
    )
}

/// What keeps a link from working.
pub(crate) fn link_trouble(trouble: LinkTrouble) -> Failure {
    match trouble {
        LinkTrouble::NotReached(failure) => link_failure(failure),
        LinkTrouble::Blocked => link(
            "link-blocked",
            "The mailbox is full.",
            "The other device has not collected for a while: 64 envelopes wait at the relay.",
            "Open the link on the other device. What waits here goes out by itself then; nothing \
             is lost.",
        ),
        LinkTrouble::Misbehaves => relay(
            "relay-misbehaves",
            "The relay answers with what makes no sense.",
            "Something else may answer at its address, or the relay is faulty.",
            "Check the address. If it stays, tell whoever runs the relay.",
        ),
        LinkTrouble::Misconfigured => relay(
            "relay-misconfigured",
            "The relay does not know itself by this address.",
            "It takes only requests for the names that its operator listed.",
            "Use the address that its operator gave you, or have this one added.",
        ),
        LinkTrouble::Refused => refused("It refused a request that it should take.".to_owned()),
        LinkTrouble::WrongToken => wrong_token(),
        LinkTrouble::Storage(fault) => storage_fault(fault),
        LinkTrouble::NewerPeer => link(
            "link-newer-peer",
            "The other device is newer than this program.",
            "Some of what it sent is in a form that this program doesn't know; that was passed over.",
            "Update this program, and have it sent again.",
        ),
    }
}

/// Something that will never arrive.
pub(crate) fn row_failure(reason: RowFailure) -> Failure {
    let why = match reason {
        RowFailure::TooLarge => "The relay takes nothing so large.",
        RowFailure::Malformed => "The relay refused it for good.",
        RowFailure::Expired => "The other device has not collected it for 30 days.",
    };
    Failure::new(
        "send-failed",
        Exit::Relay,
        "The message will not arrive.",
        why,
        "`sealpost link outbox` shows it; `--dismiss` takes it off the list.",
    )
}

/// There is no such link.
pub(crate) fn unknown() -> Failure {
    link(
        "link-unknown",
        "There is no such link.",
        "No link of this profile has this name.",
        "`sealpost link list` shows the links.",
    )
}

fn claims_closed() -> Failure {
    relay(
        "relay-claims-closed",
        "The relay makes no mailboxes for devices from outside.",
        "It is set up so that only the computer that it runs on may make them.",
        "Show the code on that computer, or have its operator set `web.claims` to `open`.",
    )
}

fn wrong_token() -> Failure {
    relay(
        "link-wrong-token",
        "The relay says that the mailbox belongs to somebody else.",
        "Another token owns it. With a code that was read right this does not happen by chance.",
        "Pair the devices again with `sealpost link new`.",
    )
}

fn refused(why: String) -> Failure {
    relay(
        "relay-refuses",
        "The relay refuses the request.",
        why,
        "Update whichever of the two programs is older. If it stays, tell whoever runs the relay.",
    )
}

fn storage_fault(fault: StorageFault) -> Failure {
    let (code, what, why, action) = match fault {
        StorageFault::Full => (
            "links-full",
            "The disk is full.",
            "The data of the links can't grow.",
            "Make room and try again. Nothing was lost.",
        ),
        StorageFault::Damaged => (
            "links-damaged",
            "The data of the links is damaged.",
            "What the disk gives back is not what was written.",
            "Restore the data directory from a backup, or move links.db away and pair again. \
             Nothing was changed.",
        ),
        StorageFault::InUse => (
            "links-in-use",
            "The data of the links is in use.",
            "Another program has its file open.",
            "Close that program and try again. Nothing was changed.",
        ),
        StorageFault::Unavailable | StorageFault::SequenceExhausted => (
            "links-unavailable",
            "The data of the links can't be read or written.",
            "The system refused, or the disk failed.",
            "Check the rights and the disk of the data directory.",
        ),
    };
    Failure::new(code, Exit::Data, what, why, action)
}

fn link(code: &'static str, what: &str, why: &str, action: &str) -> Failure {
    Failure::new(code, Exit::Group, what, why, action)
}

fn relay(code: &'static str, what: &str, why: impl Into<String>, action: &str) -> Failure {
    Failure::new(code, Exit::Relay, what, why, action)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_situation_has_a_code_and_sentences_of_its_own() {
        let mut all = vec![
            link_lost(),
            link_unconfirmed(),
            link_unheard(),
            unknown(),
            claims_closed(),
        ];
        all.extend(
            [
                CodeError::Empty,
                CodeError::Address,
                CodeError::Page,
                CodeError::NoFragment,
                CodeError::Version,
                CodeError::Id,
                CodeError::Key,
                CodeError::Expiry,
                CodeError::Repeated,
            ]
            .map(code_error),
        );
        all.extend(
            [
                PairingFailure::Expired,
                PairingFailure::Cancelled,
                PairingFailure::PeerCancelled,
                PairingFailure::TwoDevices,
                PairingFailure::Mismatch,
                PairingFailure::WrongToken,
            ]
            .map(pairing_failure),
        );
        all.extend(
            [
                LinkFailure::NameNotFound,
                LinkFailure::Refused,
                LinkFailure::NoAnswer,
                LinkFailure::Lost,
                LinkFailure::Certificate,
                LinkFailure::SomethingElse,
                LinkFailure::RelayOff,
            ]
            .map(link_failure),
        );
        all.extend(
            [
                LinkTrouble::Blocked,
                LinkTrouble::Misbehaves,
                LinkTrouble::Misconfigured,
                LinkTrouble::Refused,
                LinkTrouble::NewerPeer,
            ]
            .map(link_trouble),
        );
        let mut codes = BTreeMap::new();
        for failure in all {
            for part in [&failure.what, &failure.why, &failure.action] {
                assert!(part.ends_with('.'), "{part}");
            }
            let code = failure.code;
            assert_eq!(codes.insert(code, failure), None, "{code} twice");
        }
    }
}
