//! Backups that can't be written or restored.

use sealpost_engine::backup::{BackupError, GROUPS_MAX};

use super::{engine_error, key_store_error, profile_error};
use crate::failure::{Exit, Failure};

/// A backup that can't be written or restored.
pub(crate) fn backup_error(error: BackupError, profile: &str) -> Failure {
    match error {
        BackupError::NotABackup
        | BackupError::TooNew { .. }
        | BackupError::WrongPassphrase
        | BackupError::Damaged
        | BackupError::Truncated
        | BackupError::Reordered
        | BackupError::Appended => file_error(error),
        BackupError::Occupied => place(
            "backup-occupied",
            "A file of that name is there already.",
            "It is no backup, and only a backup is replaced by one.",
        ),
        BackupError::WouldReplaceWhole => place(
            "backup-would-replace",
            "This backup would be incomplete, and a file of that name is there already.",
            "Groups that can't be opened are missing in it; see above.",
        ),
        BackupError::TooManyGroups => data(
            "backup-too-many-groups",
            "There are more groups than a backup holds.",
            format!("It holds up to {GROUPS_MAX}."),
            "Forget restored groups that you don't need: `sealpost forget`.",
        ),
        BackupError::NotSynced(kind) => data(
            "backup-not-synced",
            "The backup is written, but perhaps not durably.",
            format!("The folder can't be synced. The system says: {kind}."),
            "The file is complete. Check that it is there after the next start, or make another \
             one on another disk.",
        ),
        BackupError::Full => data(
            "disk-full",
            "The disk is full.",
            "There is no room for all of it.".to_owned(),
            "Make room, or use another disk. Nothing was changed; an earlier backup is still \
             there.",
        ),
        BackupError::Unwritable(kind) => data(
            "backup-unwritable",
            "The file can't be written.",
            format!("The system says: {kind}."),
            "Choose another place. Nothing was changed; an earlier backup is still there.",
        ),
        BackupError::Unreadable(kind) => Failure::new(
            "backup-unreadable",
            Exit::Input,
            "The backup can't be read.",
            format!("The system says: {kind}."),
            "Check the name of the file and whether you may read it. Nothing was changed.",
        ),
        BackupError::NoMemory => data(
            "memory",
            "There is too little memory at the moment.",
            "A key from a passphrase needs 64 MiB for a second.".to_owned(),
            "Close other programs and try again. Nothing was changed.",
        ),
        BackupError::Storage(fault) => engine_error(fault.into()),
        BackupError::Closed => Failure::bug("A group was closed meanwhile.", error),
        BackupError::KeyStore(error) => key_store_error(error),
        BackupError::Profile(error) => profile_error(error, profile),
        BackupError::Cancelled => Failure::new(
            "interrupted",
            Exit::Interrupted,
            "Interrupted.",
            "You asked for it.",
            "Nothing was changed.",
        ),
    }
}

/// A file that is no backup that can be read.
fn file_error(error: BackupError) -> Failure {
    match error {
        BackupError::NotABackup => input(
            "backup-foreign",
            "This file is no backup.",
            "It was made by something else.",
        ),
        BackupError::TooNew { found, known } => Failure::new(
            "backup-too-new",
            Exit::Input,
            "The backup was written by a newer version of Sealpost.",
            format!("Its format is {found}; this version knows up to {known}."),
            "Update this program. Nothing was changed.",
        ),
        BackupError::WrongPassphrase => Failure::new(
            "backup-passphrase",
            Exit::Input,
            "This passphrase doesn't open the backup.",
            "It is not the one that the backup was made with.",
            "Try again; mind capital letters and the keyboard. Nothing was changed.",
        ),
        BackupError::Damaged => input(
            "backup-damaged",
            "The backup is damaged.",
            "A part of it is not what was written.",
        ),
        BackupError::Truncated => input(
            "backup-cut-off",
            "The backup is cut off.",
            "The file ends before its end; it was perhaps not copied to the end.",
        ),
        BackupError::Reordered => input(
            "backup-reordered",
            "The backup was changed.",
            "Its parts are in another order than they were written in.",
        ),
        BackupError::Appended => input(
            "backup-appended",
            "The backup was changed.",
            "Something stands behind its end.",
        ),
        error => Failure::bug("The program met a state that it doesn't expect.", error),
    }
}

fn input(code: &'static str, what: &'static str, why: &'static str) -> Failure {
    let action = "Use another copy of it. Nothing was changed.";
    Failure::new(code, Exit::Input, what, why, action)
}

fn place(code: &'static str, what: &'static str, why: &'static str) -> Failure {
    let action = "Choose another name. Nothing was written.";
    Failure::new(code, Exit::Input, what, why, action)
}

fn data(code: &'static str, what: &'static str, why: String, action: &'static str) -> Failure {
    Failure::new(code, Exit::Data, what, why, action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_backup_names_both_versions() {
        let newer = BackupError::TooNew {
            found: 71,
            known: 42,
        };
        let failure = backup_error(newer, "cli");
        assert!(failure.why.contains("71") && failure.why.contains("42"));
    }

    #[test]
    fn what_is_wrong_with_a_file_has_a_code_of_its_own() {
        let mut codes: Vec<_> = [
            BackupError::NotABackup,
            BackupError::WrongPassphrase,
            BackupError::Damaged,
            BackupError::Truncated,
            BackupError::Reordered,
            BackupError::Appended,
            BackupError::Full,
        ]
        .map(|error| backup_error(error, "cli").code)
        .to_vec();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), 7);
    }
}
