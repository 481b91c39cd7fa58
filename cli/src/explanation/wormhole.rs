//! What failed with a wormhole or a typed code, and what to do about it.

use sealpost_engine::core::wormhole::{SendError, WormholeEnd};
use sealpost_protocol::wormhole::code::CodeError;

use crate::failure::{Exit, Failure};

const ANEW: &str = "Begin again with a new code.";

/// A code that can't be read.
pub(crate) fn wormhole_code_error(error: &CodeError) -> Failure {
    let wrong = |code, why: &str| {
        let what = "This is no code that can be used.";
        let action = "Ask for the code again. It was not tried, and is still good.";
        Failure::new(code, Exit::Input, what, why, action)
    };
    match error {
        CodeError::Empty => wrong("code-empty", "The text is empty."),
        CodeError::TooLong => wrong("code-too-long", "It is too long."),
        CodeError::Nameplate => wrong(
            "code-number",
            "It doesn't begin with a number, as in 7-velvet-cottage-abbey.",
        ),
        CodeError::NoWords => wrong("code-no-words", "There are no words behind the number."),
        CodeError::Blanks => wrong("code-blanks", "There are blanks in it."),
        CodeError::WordCount { found } => wrong(
            "code-word-count",
            &format!("There are {found} words behind the number; there have to be three."),
        ),
        CodeError::Word { place, near } => {
            let place = place.saturating_add(1);
            let why = if near.is_empty() {
                format!("Word {place} isn't one that codes are made of.")
            } else {
                let near = near.join(" or ");
                format!("Word {place} isn't one that codes are made of; maybe {near}?")
            };
            wrong("code-word", &why)
        }
    }
}

/// A wormhole that ended otherwise than it was to.
pub(crate) fn wormhole_end(end: WormholeEnd) -> Failure {
    let ended = |code, exit, what: &str, why: &str, action: &str| {
        Failure::new(code, exit, what, why, action)
    };
    match end {
        WormholeEnd::WrongCode => ended(
            "code-wrong",
            Exit::Refused,
            "The two codes were not the same, and the code is spent.",
            "Somebody typed it wrong, or guessed. Nothing was handed over.",
            ANEW,
        ),
        WormholeEnd::Crowded => ended(
            "code-crowded",
            Exit::Refused,
            "The code is spent.",
            "More than two have used it.",
            "Begin again with a new code, and tell it to one person only.",
        ),
        WormholeEnd::TimedOut => ended(
            "code-expired",
            Exit::InVain,
            "The code is no longer good.",
            "Nobody came with it in time.",
            ANEW,
        ),
        WormholeEnd::Cancelled => ended(
            "wormhole-cancelled",
            Exit::Interrupted,
            "The code is cancelled.",
            "This command was interrupted.",
            ANEW,
        ),
        WormholeEnd::Unwelcome => ended(
            "wormhole-unwelcome",
            Exit::Relay,
            "The server is not to be used.",
            "It says so itself, or asks for something that this program doesn't have.",
            "Use another relay.",
        ),
        WormholeEnd::Refused => ended(
            "wormhole-refused",
            Exit::Relay,
            "The server refused.",
            "It is full, or the text is longer than it takes.",
            "Try again later, or with a shorter text.",
        ),
        WormholeEnd::Damaged | WormholeEnd::SetBack => ended(
            "wormhole-damaged",
            Exit::Other,
            "What came from the other side can't be read.",
            "Its program is of another kind or version.",
            ANEW,
        ),
        WormholeEnd::Done => ended(
            "wormhole-left",
            Exit::Other,
            "The other side has gone.",
            "It said goodbye before everything was handed over.",
            ANEW,
        ),
    }
}

/// A text that isn't taken.
pub(crate) fn wormhole_send_error(error: SendError) -> Failure {
    match error {
        SendError::TooLarge => Failure::new(
            "text-too-large",
            Exit::Input,
            "The text is too long.",
            "It doesn't fit into one frame.",
            "Send it in parts. Nothing was sent.",
        ),
        SendError::NotConfirmed | SendError::Full | SendError::Ended => {
            Failure::bug("The text can't be sent now.", error)
        }
    }
}

/// The other side doesn't want what it was offered, or offers something else than a text.
pub(crate) fn wormhole_refused_by_peer() -> Failure {
    Failure::new(
        "wormhole-peer-refused",
        Exit::Refused,
        "The other side refused the text.",
        "Its program said so.",
        ANEW,
    )
}

/// A file was offered.
pub(crate) fn wormhole_no_text() -> Failure {
    Failure::new(
        "wormhole-no-text",
        Exit::Input,
        "This is not a text.",
        "The other side offers a file, and this program takes texts only. It was told so.",
        "Ask for a text, or use another program for files.",
    )
}
