//! The mark in a profile's folder that an invitation is open.
//!
//! Another program can't reach the window of a running `pair`: it lives in that program's
//! memory. So `pair` leaves a mark, `pair --cancel` takes it away, and `pair` closes its window
//! when the mark is gone. The mark holds nothing. One that a killed program left says nothing
//! either: the window has ended with the program.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::arguments::Global;
use crate::device::{is_free, profile_dir};
use crate::failure::{Exit, Failure};

/// The name of the mark.
const MARK: &str = "invitation-open";
/// How often the mark is looked at, and how often the profile of a program that ends.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// How long a running `pair` may take to end.
const LOOKS_MAX: u32 = 100;

/// The mark of an invitation that this program holds open. Dropping it takes it away.
pub(crate) struct OpenInvitation {
    path: PathBuf,
}

impl OpenInvitation {
    /// Leaves the mark in the folder of a profile.
    pub(crate) fn mark(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(MARK);
        fs::write(&path, []).map_err(|error| not_marked(error.kind()))?;
        Ok(Self { path })
    }

    /// Whether somebody took the mark away.
    pub(crate) fn is_withdrawn(&self) -> bool {
        matches!(self.path.try_exists(), Ok(false))
    }
}

impl Drop for OpenInvitation {
    fn drop(&mut self) {
        // Gone already, or to be found by whoever cancels it: nothing is open any more.
        let _ = fs::remove_file(&self.path);
    }
}

/// Takes the mark away and waits until the program that left it has ended.
pub(crate) async fn withdraw(global: &Global) -> Result<(), Failure> {
    let path = profile_dir(global)?.join(MARK);
    match fs::remove_file(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(none_open()),
        Err(error) => return Err(not_marked(error.kind())),
    }
    for _ in 0..LOOKS_MAX {
        if is_free(global)? {
            return Ok(());
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
    Err(still_open())
}

fn none_open() -> Failure {
    Failure::new(
        "no-invitation-open",
        Exit::Group,
        "No invitation is open.",
        "No `sealpost pair` runs for this profile; an invitation closes with the command that \
         shows it.",
        "Nothing needs to be done. An invitation that the app shows is closed there.",
    )
}

fn still_open() -> Failure {
    Failure::new(
        "invitation-still-open",
        Exit::InVain,
        "The invitation may still be open.",
        "The program that shows it doesn't answer.",
        "End the running `sealpost pair`; the invitation closes with it.",
    )
}

fn not_marked(kind: ErrorKind) -> Failure {
    Failure::new(
        "invitation-mark",
        Exit::Data,
        "The profile's folder can't be written.",
        format!("The system says: {kind}."),
        "Check the rights and the disk of the data directory.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(folder: &Path) -> Global {
        Global {
            data_dir: Some(folder.to_owned()),
            profile: "p".to_owned(),
            json: true,
            log_level: crate::arguments::LogLevel::Off,
        }
    }

    #[tokio::test]
    async fn an_invitation_is_withdrawn_once() {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("p");
        fs::create_dir(&profile).unwrap();
        let code = |outcome: Result<(), Failure>| outcome.map_err(|failure| failure.code);
        let global = global(folder.path());
        assert_eq!(code(withdraw(&global).await), Err("no-invitation-open"));
        let open = OpenInvitation::mark(&profile).unwrap();
        assert!(!open.is_withdrawn());
        assert_eq!(code(withdraw(&global).await), Ok(()));
        assert!(open.is_withdrawn());
        drop(open);
        assert_eq!(code(withdraw(&global).await), Err("no-invitation-open"));
        // The mark goes with its program also where nobody withdrew it.
        drop(OpenInvitation::mark(&profile).unwrap());
        assert_eq!(code(withdraw(&global).await), Err("no-invitation-open"));
    }
}
