//! A failed command, in three parts: what happened, why, and what to do now.
//!
//! Owns the exit codes and how a failure is printed. The sentences stand where the error of
//! a library is understood, in [`crate::explanation`] and in the commands.

use std::fmt;
use std::process::ExitCode;

use serde::Serialize;

/// What a script learns from the exit code. The numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Something failed that has no code of its own.
    Other = 1,
    /// The command line was not understood.
    Usage = 2,
    /// What was given can't be used.
    Input = 3,
    /// The answer was no, or nobody was there to answer.
    Refused = 4,
    /// The profile is missing or in use.
    Profile = 5,
    /// The data can't be read or written.
    Data = 6,
    /// The keys can't be reached.
    Keys = 7,
    /// The relay can't be used.
    Relay = 8,
    /// The group can't do this now.
    Group = 9,
    /// Waited in vain.
    InVain = 10,
    /// Interrupted by the person.
    Interrupted = 130,
}

/// A failed command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Stable name, for scripts and for support.
    pub(crate) code: &'static str,
    /// Exit code of the program.
    pub(crate) exit: Exit,
    /// What happened.
    pub(crate) what: String,
    /// Why it happened.
    pub(crate) why: String,
    /// What to do now.
    pub(crate) action: String,
}

/// The JSON form of a failure.
#[derive(Serialize)]
struct FailureObject<'a> {
    r#type: &'static str,
    code: &'static str,
    what: &'a str,
    why: &'a str,
    action: &'a str,
}

impl Failure {
    /// A failure with its three sentences.
    pub(crate) fn new(
        code: &'static str,
        exit: Exit,
        what: impl Into<String>,
        why: impl Into<String>,
        action: impl Into<String>,
    ) -> Self {
        Self {
            code,
            exit,
            what: what.into(),
            why: why.into(),
            action: action.into(),
        }
    }

    /// A fault of this program itself.
    pub(crate) fn bug(what: &'static str, why: impl fmt::Display) -> Self {
        Self::new(
            "internal",
            Exit::Other,
            what,
            format!("{why}."),
            "Try again. If it happens again, it is a fault of this program: please report it.",
        )
    }

    /// The exit code of the program.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit as u8)
    }

    /// One line of JSON.
    pub(crate) fn to_json(&self) -> String {
        let object = FailureObject {
            r#type: "error",
            code: self.code,
            what: &self.what,
            why: &self.why,
            action: &self.action,
        };
        serde_json::to_string(&object).unwrap_or_default()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code,
            what,
            why,
            action,
            ..
        } = self;
        write!(
            f,
            "Error: {what}\nWhy:   {why}\nTo do: {action}\n       ({code})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> Failure {
        Failure::new(
            "no-tea",
            Exit::Input,
            "There is no tea.",
            "It is gone.",
            "Buy some.",
        )
    }

    #[test]
    fn a_person_reads_three_parts_and_a_code() {
        let text = failure().to_string();
        assert_eq!(
            text,
            "Error: There is no tea.\nWhy:   It is gone.\nTo do: Buy some.\n       (no-tea)"
        );
    }

    #[test]
    fn a_script_reads_one_line_of_json() {
        assert_eq!(
            failure().to_json(),
            r#"{"type":"error","code":"no-tea","what":"There is no tea.","why":"It is gone.","action":"Buy some."}"#
        );
    }
}
