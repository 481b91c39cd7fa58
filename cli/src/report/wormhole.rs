//! What a command says about wormholes and typed codes.

use serde::Serialize;

use crate::terminal_text::lines;

/// One thing that is said of a wormhole. The JSON has the variant's name as `type`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum WormholeReport {
    /// The code for the other side.
    WormholeCode { code: String },
    /// The code that was typed had to be put right.
    CodeCorrected { code: String },
    /// The other side has the same code.
    WormholeConfirmed,
    /// A text has come.
    WormholeText { text: String },
    /// The other side has the text.
    WormholeReceived,
    /// The other side has the invitation, and will ask to be let in.
    CodeUsed,
}

impl WormholeReport {
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::WormholeCode { code } => format!("Code: {code}"),
            Self::CodeCorrected { code } => format!("Understood as {code}."),
            Self::WormholeConfirmed => "The other side is there.".to_owned(),
            Self::WormholeText { text } => lines(text),
            Self::WormholeReceived => "The other side has the text.".to_owned(),
            Self::CodeUsed => "The code was used: the other device has the invitation.".to_owned(),
        }
    }
}
