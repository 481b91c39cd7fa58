//! Where what a command says goes: results to the output, the rest to the error output.
//!
//! For a person, questions, notes and failures stand on the error output, so that the output
//! can be kept apart. For a script, a question is an object on the output like any other,
//! because the answer depends on what was said before it.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::question::Question;
use crate::report::Report;

/// The code of the failure that is none: a reader like `head` has read enough.
pub(crate) const OUTPUT_CLOSED: &str = "output-closed";

/// A question in JSON.
#[derive(Serialize)]
struct QuestionObject {
    r#type: &'static str,
    question: &'static str,
    answers: [&'static str; 2],
}

/// A note in JSON.
#[derive(Serialize)]
struct NoteObject<'a> {
    r#type: &'static str,
    code: &'static str,
    text: &'a str,
}

/// How far something is, in JSON.
#[derive(Serialize)]
struct ProgressObject {
    r#type: &'static str,
    messages: u64,
    of: u64,
}

/// The two outputs of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    /// Outputs in one of the two shapes.
    pub(crate) const fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether a script reads this.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Says one thing.
    pub(crate) fn say(self, report: &Report) -> Result<(), Failure> {
        self.say_all(std::slice::from_ref(report))
    }

    /// Says several things, flushed once, and only when all of them are written.
    pub(crate) fn say_all(self, reports: &[Report]) -> Result<(), Failure> {
        let mut text = String::new();
        for report in reports {
            let line = if self.json {
                to_json(report)?
            } else {
                report.to_text()
            };
            text.push_str(&line);
            text.push('\n');
        }
        write_out(&text)
    }

    /// Draws something for people only.
    pub(crate) fn draw(self, drawing: &str) -> Result<(), Failure> {
        if self.json || !io::stdout().is_terminal() {
            return Ok(());
        }
        write_out(drawing)
    }

    /// Asks a question; the answer comes from the input.
    pub(crate) fn ask(self, question: &Question) -> Result<(), Failure> {
        if self.json {
            let answers = [question.yes, question.no];
            let object = QuestionObject {
                r#type: "question",
                question: question.code,
                answers,
            };
            return write_out(&format!("{}\n", to_json(&object)?));
        }
        let mut error_output = io::stderr().lock();
        let _ = write!(error_output, "{}", question.prompt());
        let _ = error_output.flush();
        Ok(())
    }

    /// Tells something that is no result.
    pub(crate) fn note(self, code: &'static str, text: &str) {
        let line = if self.json {
            to_json(&NoteObject {
                r#type: "note",
                code,
                text,
            })
            .unwrap_or_default()
        } else {
            text.to_owned()
        };
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Shows how far something is, once it is known of how many messages; whether it did. For
    /// a person the line is written over, and only where one looks on.
    pub(crate) fn progress(self, (messages, of): (u64, Option<u64>)) -> bool {
        let Some(of) = of else { return false };
        let mut error_output = io::stderr().lock();
        if self.json {
            let object = ProgressObject {
                r#type: "progress",
                messages,
                of,
            };
            let line = to_json(&object).unwrap_or_default();
            return writeln!(error_output, "{line}").is_ok();
        }
        if !error_output.is_terminal() {
            return false;
        }
        let written = write!(error_output, "\r{messages} of {of} messages");
        written.and_then(|()| error_output.flush()).is_ok()
    }

    /// Ends the line that was written over.
    pub(crate) fn end_progress(self) {
        if !self.json {
            let _ = writeln!(io::stderr().lock());
        }
    }

    /// Tells that the command failed.
    pub(crate) fn fail(self, failure: &Failure) {
        let line = if self.json {
            failure.to_json()
        } else {
            failure.to_string()
        };
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}

fn write_out(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::new(
            OUTPUT_CLOSED,
            Exit::Other,
            "Nobody reads the output any more.",
            "The program that read it has ended.",
            "Nothing needs to be done.",
        ),
        kind => Failure::new(
            "output",
            Exit::Other,
            "The output can't be written.",
            format!("The system says: {kind}."),
            "Look at the program or the file that the output goes to.",
        ),
    })
}

fn to_json(object: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(object).map_err(|_| {
        Failure::bug(
            "The result can't be written as JSON.",
            "It has no JSON form",
        )
    })
}
