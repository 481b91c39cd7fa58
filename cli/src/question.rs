//! Questions to the person at the terminal, and lines typed by them or by a script.
//!
//! The input is read on a thread of its own, so that an unanswered question never stops
//! anything else; the thread ends with the process.

use std::io::BufRead as _;

use tokio::sync::mpsc;

/// Lines waiting to be taken; typing further ahead waits.
const LINES_WAITING_MAX: usize = 64;

/// The lines of the input.
pub(crate) struct Lines {
    receiver: mpsc::Receiver<String>,
}

impl Lines {
    /// Starts to read the input.
    pub(crate) fn of_input() -> Self {
        let (sender, receiver) = mpsc::channel(LINES_WAITING_MAX);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Self { receiver }
    }

    /// The next line; `None` once the input has ended. Loses nothing when dropped early.
    pub(crate) async fn next(&mut self) -> Option<String> {
        self.receiver.recv().await
    }
}

/// What the person said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The first of the two answers.
    Yes,
    /// The second.
    No,
    /// Something else; the question is asked again.
    Unclear,
}

/// A question with two answers, each named by a word that its first letter stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// Stable name, for scripts.
    pub(crate) code: &'static str,
    /// The question itself.
    pub(crate) text: &'static str,
    /// The answer that goes on.
    pub(crate) yes: &'static str,
    /// The answer that doesn't.
    pub(crate) no: &'static str,
}

impl Question {
    /// Understands a typed line.
    pub(crate) fn understand(&self, line: &str) -> Answer {
        let line = line.trim().to_lowercase();
        let is = |word: &str| {
            let first = word.chars().next().map(String::from).unwrap_or_default();
            line == word || line == first
        };
        if is(self.yes) {
            Answer::Yes
        } else if is(self.no) {
            Answer::No
        } else {
            Answer::Unclear
        }
    }

    /// The question as a prompt.
    pub(crate) fn prompt(&self) -> String {
        format!("{} [{}/{}] ", self.text, self.yes, self.no)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_word_or_its_first_letter() {
        let question = Question {
            code: "words",
            text: "The same?",
            yes: "same",
            no: "different",
        };
        assert_eq!(question.understand("Same\n"), Answer::Yes);
        assert_eq!(question.understand(" d "), Answer::No);
        // Enter alone must never be a yes.
        assert_eq!(question.understand(""), Answer::Unclear);
        assert_eq!(question.understand("sa"), Answer::Unclear);
        assert_eq!(question.prompt(), "The same? [same/different] ");
    }
}
