//! Profiles that can't be opened.

use sealpost_engine::profile::{NotWritable, ProfileError};

use crate::failure::{Exit, Failure};

/// A profile that can't be opened or changed.
pub(crate) fn profile_error(error: ProfileError, profile: &str) -> Failure {
    match error {
        ProfileError::InvalidName => Failure::new(
            "profile-name",
            Exit::Input,
            "This is no name for a profile.",
            "A profile's name has 1 to 64 of the characters A-Z a-z 0-9 _ -.",
            "Choose another name with --profile.",
        ),
        ProfileError::InUse { pid } => Failure::new(
            "profile-in-use",
            Exit::Profile,
            format!("The profile {profile} is in use."),
            in_use_by(pid),
            "Close that program, or use another profile with --profile. Nothing was changed.",
        ),
        ProfileError::NotWritable(reason) => Failure::new(
            "data-not-writable",
            Exit::Data,
            "The data directory can't be written.",
            not_writable(reason),
            "Make it writable for you, or name another one with --data-dir. \
             Nothing was changed.",
        ),
        ProfileError::TooNew { found, known } => Failure::new(
            "profile-too-new",
            Exit::Data,
            format!("The profile {profile} was written by a newer version of Sealpost."),
            format!("Its format is {found}; this version knows up to {known}."),
            "Update this program. Nothing was changed.",
        ),
        ProfileError::Damaged => Failure::new(
            "profile-damaged",
            Exit::Data,
            format!("The profile {profile} is damaged."),
            "Its profile.json can't be understood, or is gone while groups are there.",
            "Restore profile.json from a backup, or use another profile with --profile. \
             Nothing was changed.",
        ),
        ProfileError::Io(kind) => Failure::new(
            "profile-unreadable",
            Exit::Data,
            format!("The profile {profile} can't be read."),
            format!("The system says: {kind}."),
            "Check the rights of the data directory. Nothing was changed.",
        ),
    }
}

fn in_use_by(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("Another program has it open (process {pid})."),
        None => "Another program has it open.".to_owned(),
    }
}

fn not_writable(reason: NotWritable) -> String {
    match reason {
        NotWritable::PermissionDenied => "This user may not write there.".to_owned(),
        NotWritable::ReadOnly => "The disk can only be read.".to_owned(),
        NotWritable::NotADirectory => "A part of its path is not a folder.".to_owned(),
        NotWritable::Full => "The disk is full.".to_owned(),
        NotWritable::Other(kind) => format!("The system says: {kind}."),
    }
}
