//! Relays that can't be reached, and a relay of one's own that can't be started.

use std::io::ErrorKind;

use sealpost_engine::core::status::ConnectFailure;
use sealpost_engine::relay_test::{RelayStep, RelayStepFailure};
use sealpost_protocol::frame::Refusal;
use sealpost_relay::key_file::KeyFileError;
use sealpost_relay::{StartError, StoreOpenError};

use crate::failure::{Exit, Failure};

/// A relay that can't be reached, by the reason of the last attempt.
pub(crate) fn connect_failure(failure: ConnectFailure) -> Failure {
    match failure {
        ConnectFailure::NameNotFound => relay(
            "relay-name-not-found",
            "The relay's name is not known.",
            "Looking its host name up gave no address.",
            "Check this computer's network, and the name in the relay's address.",
        ),
        ConnectFailure::Refused => relay(
            "relay-refused",
            "No relay runs at this address.",
            "The computer is there, but nothing listens on the relay's port.",
            "Start the relay, or check the ports in its address.",
        ),
        ConnectFailure::NoAnswer => relay(
            "relay-no-answer",
            "The relay doesn't answer.",
            "Its computer is off, on another network, or behind a firewall.",
            "Check this computer's network and whether the relay runs.",
        ),
        ConnectFailure::SomethingElse => relay(
            "relay-something-else",
            "What answers there is no relay.",
            "The answer is not that of a relay: the port may belong to another program.",
            "Check the host and the ports in the relay's address.",
        ),
        ConnectFailure::WrongKey => relay(
            "relay-wrong-key",
            "This is not the relay that the address names.",
            "A relay answers there, but it doesn't hold the key in the address. The address \
             may be mistyped, the relay newly set up, or somebody may be in between.",
            "Ask whoever runs the relay for its address. Nothing was sent to this relay.",
        ),
        ConnectFailure::Unavailable => relay(
            "relay-unavailable",
            "The relay takes no more devices at the moment.",
            "It answers, but refuses new connections for now.",
            "Wait a moment; it is tried again by itself.",
        ),
        ConnectFailure::Lost => relay(
            "relay-lost",
            "The connection to the relay broke off.",
            "The network or the relay went away.",
            "Nothing needs to be done: it is tried again by itself.",
        ),
        ConnectFailure::NoRelay => relay(
            "relay-none",
            "This group has no relay.",
            "No address was ever given.",
            "Join again with an invitation that names a relay.",
        ),
        ConnectFailure::NoHandler => Failure::bug(
            "The relay is not asked for messages.",
            "Nothing in this program takes messages",
        ),
    }
}

/// A relay that speaks only other versions of the protocol.
pub(crate) fn unsupported_version(min: u16, max: u16) -> Failure {
    relay(
        "relay-version",
        "The relay speaks another version of the protocol.",
        format!("It speaks Transport {min} to {max}."),
        "Update whichever of the two is older.",
    )
}

/// A step of a relay's test that failed.
pub(crate) fn relay_step_failure(step: RelayStep, failure: RelayStepFailure) -> Failure {
    let port = if step == RelayStep::Push {
        "push"
    } else {
        "receive"
    };
    match (step, failure) {
        (_, RelayStepFailure::VersionUnsupported { min, max }) => unsupported_version(min, max),
        (RelayStep::Push, RelayStepFailure::NotReached(ConnectFailure::Refused)) => relay(
            "relay-push-refused",
            "Nothing listens on the relay's push port.",
            "Its receive port answered, and is the right relay's.",
            "Check the push port in the relay's address, and the relay's firewall.",
        ),
        (RelayStep::Push, RelayStepFailure::NotReached(ConnectFailure::NoAnswer)) => relay(
            "relay-push-no-answer",
            "The relay's push port doesn't answer.",
            "Its receive port answered, so a firewall may let only one of the two through.",
            "Let both ports through, and check the push port in the relay's address.",
        ),
        (_, RelayStepFailure::NotReached(failure)) => connect_failure(failure),
        (_, RelayStepFailure::Refused(refusal)) => relay(
            "relay-takes-nothing",
            "The relay takes no messages now.",
            format!("On its {port} port it answered: {}.", refusal_text(refusal)),
            "Wait a moment and test again. If it stays, tell whoever runs the relay.",
        ),
        (_, RelayStepFailure::NotDelivered) => relay(
            "relay-delivers-nothing",
            "The relay took a message and doesn't deliver it.",
            "What this test sent to itself did not come back in time.",
            "Test again. If it stays, tell whoever runs the relay.",
        ),
    }
}

const fn refusal_text(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::TooLarge => "too large",
        Refusal::Malformed => "malformed",
        Refusal::InboxFull => "inbox full",
        Refusal::RateLimited => "too many at once",
        Refusal::Unavailable => "full, or it can't store now",
        Refusal::InternalError => "an error of its own",
    }
}

/// A relay that can't be started in this process.
pub(crate) fn relay_start_error(error: StartError) -> Failure {
    match error {
        StartError::PortInUse { port, number } => start(
            "port-in-use",
            format!("The relay can't start: port {number} is in use."),
            format!("Another program listens on its {port} port."),
            format!("End that program, or choose another port with --{port}-port."),
        ),
        StartError::PortForbidden { port, number } => start(
            "port-forbidden",
            format!("The relay can't start: port {number} is not allowed."),
            "The system keeps this port for others.",
            format!("Choose a port above 1023 with --{port}-port."),
        ),
        StartError::AddressUnavailable { port } | StartError::Listen { port, .. } => start(
            "port-unavailable",
            format!("The relay can't start: its {port} port can't be opened."),
            format!("{error}."),
            format!("Choose another port with --{port}-port."),
        ),
        StartError::Store(error) => relay_store_error(error),
        StartError::Config(_) | StartError::Certificate(_) | StartError::WebOpen => {
            Failure::bug("The relay can't start.", error)
        }
    }
}

fn relay_store_error(error: StoreOpenError) -> Failure {
    let (code, why, action) = match error {
        StoreOpenError::NotWritable(_) => return relay_not_writable(),
        StoreOpenError::InUse => (
            "relay-running",
            "Another relay uses the same data.".to_owned(),
            "Stop that relay, or use another profile with --profile.",
        ),
        StoreOpenError::Newer { .. } => (
            "relay-store-too-new",
            format!("{error}."),
            "Update this program. Nothing was changed.",
        ),
        _ => (
            "relay-store",
            format!("{error}."),
            "Move the relay's inbox.db away; what waits in it for devices is then lost.",
        ),
    };
    start(
        code,
        "The relay can't start: its data can't be used.",
        why,
        action,
    )
}

/// The relay's key can't be read or made.
pub(crate) fn relay_key_error(error: KeyFileError) -> Failure {
    match error {
        KeyFileError::Write(_) => relay_not_writable(),
        KeyFileError::Read(ErrorKind::NotADirectory) => relay_not_writable(),
        _ => start(
            "relay-key",
            "The relay can't start: its key can't be used.",
            format!("{error}."),
            "Restore the relay's keypair.hex from a backup: with a new key, no device knows it.",
        ),
    }
}

fn relay_not_writable() -> Failure {
    Failure::new(
        "data-not-writable",
        Exit::Data,
        "The data directory can't be written.",
        "The relay keeps its key and what waits for devices there.",
        "Make it writable for you, or name another one with --data-dir. Nothing was changed.",
    )
}

fn start(
    code: &'static str,
    what: impl Into<String>,
    why: impl Into<String>,
    action: impl Into<String>,
) -> Failure {
    Failure::new(code, Exit::Relay, what, why, action)
}

fn relay(
    code: &'static str,
    what: &'static str,
    why: impl Into<String>,
    action: &'static str,
) -> Failure {
    Failure::new(code, Exit::Relay, what, why, action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_that_no_relay_is_reached_has_texts_of_its_own() {
        let failures = [
            ConnectFailure::NameNotFound,
            ConnectFailure::Refused,
            ConnectFailure::NoAnswer,
            ConnectFailure::SomethingElse,
            ConnectFailure::WrongKey,
        ]
        .map(connect_failure);
        for (place, failure) in failures.iter().enumerate() {
            for other in failures.iter().skip(place + 1) {
                assert_ne!(failure.code, other.code);
                assert_ne!(failure.what, other.what);
                assert_ne!(failure.why, other.why);
                assert_ne!(failure.action, other.action);
            }
        }
    }
}
