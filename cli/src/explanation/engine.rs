//! Groups that can't be opened, and calls that they refuse.

use sealpost_engine::OpenError;
use sealpost_engine::core::error::{EngineError, StorageFault};
use sealpost_engine::core::status::Status;

use super::key_store_error;
use crate::failure::{Exit, Failure};

/// A group that can't be opened.
pub(crate) fn open_error(error: OpenError) -> Failure {
    match error {
        OpenError::KeyStore(error) => key_store_error(error),
        OpenError::KeysMissing => Failure::new(
            "keys-missing",
            Exit::Keys,
            "The keys of this group are gone.",
            "Its data is here, but the keychain or the key file has no keys for it.",
            "Restore the keychain or the key file from a backup. No new keys were made.",
        ),
        OpenError::Storage(fault) => storage_fault(fault),
        OpenError::StoreTooNew { found, known } => Failure::new(
            "store-too-new",
            Exit::Data,
            "The data of this group was written by a newer version of Sealpost.",
            format!("Its version is {found}; this program knows up to {known}."),
            "Update this program. Nothing was changed.",
        ),
    }
}

/// A call that a group refused.
pub(crate) fn engine_error(error: EngineError) -> Failure {
    match error {
        EngineError::Storage(fault) => storage_fault(fault),
        EngineError::NotMember { status } => not_member(status),
        EngineError::AlreadyInGroup => group(
            "already-in-group",
            "This device is in the group already.",
            "A device joins once.",
            "Nothing needs to be done.",
        ),
        EngineError::InvalidPairingToken => Failure::new(
            "code-own",
            Exit::Input,
            "This is an invitation of this device itself.",
            "It carries this device's own keys.",
            "Use it on the other device. Nothing was changed on this one.",
        ),
        EngineError::PairingClosed => group(
            "pairing-closed",
            "The invitation is no longer open.",
            "Somebody was let in with it, or it was cancelled.",
            "Run `sealpost pair` again for a new one.",
        ),
        EngineError::RemovedBefore | EngineError::KeysMismatch => keys_error(error),
        EngineError::GroupFull { max } => Failure::new(
            "group-full",
            Exit::Group,
            "The group is full.",
            format!("A group has at most {max} devices."),
            "Remove a device first: `sealpost remove`.",
        ),
        EngineError::GroupWornOut { .. }
        | EngineError::NotListed
        | EngineError::ManifestAwaited
        | EngineError::VersionsExhausted
        | EngineError::GroupNameEmpty
        | EngineError::MemberNotFound => member_error(error),
        EngineError::PayloadTooLarge { max } => Failure::new(
            "text-too-large",
            Exit::Input,
            "The text is too long.",
            format!("With what is sent along, a message has at most {max} bytes."),
            "Send it in parts. Nothing was sent.",
        ),
        EngineError::StoreTooNew => group(
            "store-too-new",
            "The data of this group was written by a newer version of Sealpost.",
            "This program can't read it.",
            "Update this program. Nothing was changed.",
        ),
        EngineError::InvalidRelayAddress
        | EngineError::InvalidNamespace
        | EngineError::Closed
        | EngineError::MessageHandlerAlreadySet => {
            Failure::bug("The program met a state that it doesn't expect.", error)
        }
    }
}

/// A device that asks with keys that the group doesn't take.
fn keys_error(error: EngineError) -> Failure {
    const ANEW: &str = "On that device, give the join up with `sealpost join --cancel`, then ask \
                        again with a new invitation: it has new keys then.";
    if error == EngineError::RemovedBefore {
        group(
            "removed-before",
            "This device was removed from the group before.",
            "The group never takes the keys of a removed device back.",
            ANEW,
        )
    } else {
        group(
            "keys-mismatch",
            "This device can't be let in with these keys.",
            "One of them belongs to a member of the group.",
            ANEW,
        )
    }
}

/// A change of the members that can't be made.
fn member_error(error: EngineError) -> Failure {
    match error {
        EngineError::GroupWornOut { max } => Failure::new(
            "group-worn-out",
            Exit::Group,
            "The group lets nobody in any more.",
            format!("It has removed {max} devices, and remembers each of them for good."),
            "Make a new group, and invite the devices to that one.",
        ),
        EngineError::NotListed => group(
            "not-listed",
            "The group doesn't list this device at the moment.",
            "Devices made changes at the same time, and not all of them have met yet.",
            "Run `sealpost tail` until the others are connected, then try again.",
        ),
        EngineError::ManifestAwaited => group(
            "manifest-awaited",
            "This device lacks news of the group that the change needs.",
            "Another device's change is still on its way.",
            "Run `sealpost tail` for a while, then try again.",
        ),
        EngineError::VersionsExhausted => group(
            "versions-exhausted",
            "The members of this group can't change any more.",
            "Its list has had the last version that there is.",
            "Make a new group, and invite the devices to that one.",
        ),
        EngineError::GroupNameEmpty => Failure::new(
            "group-name-empty",
            Exit::Input,
            "This is no name for a group.",
            "Nothing of it can be seen.",
            "Choose a name with letters or digits.",
        ),
        EngineError::MemberNotFound => group(
            "member-unknown",
            "There is no such member.",
            "Nobody else in the group has this id or name.",
            "`sealpost members` shows the members. Nothing was changed.",
        ),
        error => Failure::bug("The program met a state that it doesn't expect.", error),
    }
}

fn not_member(status: Status) -> Failure {
    let (why, action) = match status {
        Status::NotJoined | Status::Member => (
            "Nobody is in the group with this device yet.",
            "Invite a device with `sealpost pair`, or join with `sealpost join`.",
        ),
        Status::PendingJoin => (
            "The other device hasn't let this one in yet.",
            "Ask for that, and run `sealpost join` to wait for it.",
        ),
        Status::Leaving | Status::Destroying => (
            "This device is about to leave the group.",
            "`sealpost leave` goes on with that; then join a group again.",
        ),
    };
    group(
        "not-a-member",
        "This device is not in the group.",
        why,
        action,
    )
}

fn storage_fault(fault: StorageFault) -> Failure {
    match fault {
        StorageFault::Unavailable => data(
            "data-unavailable",
            "The data of this group can't be read or written.",
            "The system refused, or the disk failed.",
            "Check the rights and the disk of the data directory.",
        ),
        StorageFault::Full => data(
            "data-full",
            "The disk is full.",
            "The data of this group can't grow.",
            "Make room and try again. Nothing was lost.",
        ),
        StorageFault::Damaged => data(
            "data-damaged",
            "The data of this group is damaged.",
            "What the disk gives back is not what was written.",
            "Restore the data directory from a backup. Nothing was changed.",
        ),
        StorageFault::InUse => data(
            "data-in-use",
            "The data of this group is in use.",
            "Another program has its file open.",
            "Close that program and try again. Nothing was changed.",
        ),
        StorageFault::SequenceExhausted => data(
            "sequence-exhausted",
            "This device can't send any more.",
            "It has used the last number that a message can have.",
            "Join the group again with a new device.",
        ),
    }
}

fn group(
    code: &'static str,
    what: &'static str,
    why: &'static str,
    action: &'static str,
) -> Failure {
    Failure::new(code, Exit::Group, what, why, action)
}

fn data(
    code: &'static str,
    what: &'static str,
    why: &'static str,
    action: &'static str,
) -> Failure {
    Failure::new(code, Exit::Data, what, why, action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_too_new_names_both_versions() {
        let failure = open_error(OpenError::StoreTooNew {
            found: 71,
            known: 42,
        });
        assert_eq!(failure.code, "store-too-new");
        assert!(failure.why.contains("71") && failure.why.contains("42"));
    }
}
