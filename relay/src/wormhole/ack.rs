//! Acknowledgement: three forms on the wire, one operation inside (section 12).
//!
//! Owns: the one table of its names, keys and refusals. If upstream settles on other words, a
//! row of it changes. The rules know only [`Retire`].

use serde_json::Value;

use super::frame::{Fields, given, string};
use super::{Phase, Seqnum, Side};

/// What a server lists in its welcome, and a client in its bind.
pub const ABILITIES: [&str; 2] = ["message-delete-v1", SEQNUMS];

/// The ability that makes a client be told `opened`.
pub const SEQNUMS: &str = "message-seqnum-v1";

/// A side's word that it needs messages no longer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Retire {
    /// Those of a side and a phase.
    Phase(Side, Phase),
    /// The numbered ones of a side, up to a number.
    Through(Side, Seqnum),
}

impl Retire {
    /// Whose messages they are.
    pub fn author(&self) -> &Side {
        match self {
            Self::Phase(author, _) | Self::Through(author, _) => author,
        }
    }
}

/// A command that acknowledges.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum AckCommand {
    /// The name in upstream's open pull request; it has the phase form only.
    Delete,
    /// The name in the proposal.
    MessageAck,
}

impl AckCommand {
    /// The command of a name.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "delete" => Some(Self::Delete),
            "message-ack" => Some(Self::MessageAck),
            _ => None,
        }
    }

    /// What it is refused with while no mailbox is open.
    pub(super) fn not_open(self) -> &'static str {
        match self {
            Self::Delete => "must open mailbox before DELETE-ing",
            Self::MessageAck => "must open mailbox before acking",
        }
    }

    /// Reads what it asks for; nothing if it cites its own side and that is to be ignored.
    pub(super) fn read(self, fields: &Fields, own: &Side) -> Result<Option<Retire>, String> {
        let retire = match self {
            Self::Delete => read_delete(fields)?,
            Self::MessageAck => read_message_ack(fields)?,
        };
        if retire.author() != own {
            return Ok(Some(retire));
        }
        match self {
            Self::Delete => Ok(None),
            Self::MessageAck => Err("cannot ack your own messages".to_owned()),
        }
    }
}

const THEIR_PHASE: &str = "their-phase";
const THEIR_SIDE: &str = "their-side";
const SIDE: &str = "side";
const SEQNUM: &str = "seqnum";

fn read_delete(fields: &Fields) -> Result<Retire, String> {
    let argument =
        |name| given(fields, name).ok_or_else(|| format!("delete is missing argument '{name}'"));
    phase_form(argument(THEIR_PHASE)?, argument(THEIR_SIDE)?)
}

fn read_message_ack(fields: &Fields) -> Result<Retire, String> {
    let [phase, their_side] = [THEIR_PHASE, THEIR_SIDE].map(|name| given(fields, name));
    let [seqnum, side] = [SEQNUM, SIDE].map(|name| given(fields, name));
    match (phase, seqnum) {
        (Some(_), Some(_)) => Err("message-ack cannot cite both a phase and a seqnum".to_owned()),
        (Some(phase), None) => phase_form(phase, their_side.ok_or_else(neither_form)?),
        (None, Some(seqnum)) => {
            let side = string(SIDE, side.ok_or_else(neither_form)?)?;
            Ok(Retire::Through(Side::new(side), read_seqnum(seqnum)?))
        }
        (None, None) => Err(neither_form()),
    }
}

fn neither_form() -> String {
    "message-ack requires 'their-phase' and 'their-side', or 'side' and 'seqnum'".to_owned()
}

fn phase_form(phase: &Value, side: &Value) -> Result<Retire, String> {
    let side = string(THEIR_SIDE, side)?;
    let phase = string(THEIR_PHASE, phase)?;
    Ok(Retire::Phase(Side::new(side), Phase::new(phase)))
}

/// The number of an added message; null counts as none.
pub(super) fn seqnum_of(fields: &Fields) -> Result<Option<Seqnum>, String> {
    given(fields, SEQNUM).map(read_seqnum).transpose()
}

/// A number written any other way than as a JSON integer is refused and never rounded.
fn read_seqnum(value: &Value) -> Result<Seqnum, String> {
    let number = value.as_number().and_then(serde_json::Number::as_u64);
    number.and_then(Seqnum::new).ok_or_else(|| {
        format!(
            "'{SEQNUM}' must be an integer from 0 to {}",
            Seqnum::MAX.as_u64()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: &str, json: &str) -> Result<Option<Retire>, String> {
        let fields = serde_json::from_str(json).unwrap();
        AckCommand::of(command)
            .unwrap()
            .read(&fields, &Side::new("me"))
    }

    fn phase(side: &str, phase: &str) -> Result<Option<Retire>, String> {
        Ok(Some(Retire::Phase(Side::new(side), Phase::new(phase))))
    }

    fn through(side: &str, seqnum: u64) -> Result<Option<Retire>, String> {
        let seqnum = Seqnum::new(seqnum).unwrap();
        Ok(Some(Retire::Through(Side::new(side), seqnum)))
    }

    #[test]
    fn both_names_and_both_forms_are_one_operation() {
        let pake = r#"{"their-phase":"pake","their-side":"s"}"#;
        assert_eq!(read("delete", pake), phase("s", "pake"));
        assert_eq!(read("message-ack", pake), phase("s", "pake"));
        assert_eq!(
            read("message-ack", r#"{"side":"s","seqnum":5}"#),
            through("s", 5)
        );
        let with_null = r#"{"side":"s","seqnum":0,"their-phase":null}"#;
        assert_eq!(read("message-ack", with_null), through("s", 0));
        let numbered = r#"{"their-phase":"0","their-side":"s","seqnum":4}"#;
        assert_eq!(read("delete", numbered), phase("s", "0"));
    }

    #[test]
    fn every_refusal_has_its_words() {
        let neither = "message-ack requires 'their-phase' and 'their-side', or 'side' and 'seqnum'";
        let both = "message-ack cannot cite both a phase and a seqnum";
        for (command, json, expected) in [
            ("message-ack", r#"{}"#, neither),
            ("message-ack", r#"{"side":"s"}"#, neither),
            ("message-ack", r#"{"seqnum":1}"#, neither),
            ("message-ack", r#"{"their-phase":"p"}"#, neither),
            ("message-ack", r#"{"their-phase":"p","side":"s"}"#, neither),
            ("message-ack", r#"{"side":"s","seqnum":null}"#, neither),
            (
                "message-ack",
                r#"{"their-phase":"p","their-side":"s","side":"s","seqnum":1}"#,
                both,
            ),
            (
                "message-ack",
                r#"{"their-phase":4,"their-side":"s"}"#,
                "'their-phase' must be a string",
            ),
            (
                "message-ack",
                r#"{"their-phase":"p","their-side":{}}"#,
                "'their-side' must be a string",
            ),
            (
                "message-ack",
                r#"{"side":7,"seqnum":1}"#,
                "'side' must be a string",
            ),
            (
                "message-ack",
                r#"{"side":"me","seqnum":1}"#,
                "cannot ack your own messages",
            ),
            (
                "message-ack",
                r#"{"their-phase":"p","their-side":"me"}"#,
                "cannot ack your own messages",
            ),
        ] {
            assert_eq!(read(command, json), Err(expected.to_owned()), "{json}");
        }
    }

    #[test]
    fn every_refusal_of_a_delete_and_of_a_number_has_its_words() {
        let range = "'seqnum' must be an integer from 0 to 9007199254740991";
        for (command, json, expected) in [
            (
                "delete",
                r#"{"their-side":"s"}"#,
                "delete is missing argument 'their-phase'",
            ),
            (
                "delete",
                r#"{"their-phase":"p","side":"s"}"#,
                "delete is missing argument 'their-side'",
            ),
            (
                "delete",
                r#"{"their-phase":0,"their-side":"s"}"#,
                "'their-phase' must be a string",
            ),
            ("message-ack", r#"{"side":"s","seqnum":-1}"#, range),
            ("message-ack", r#"{"side":"s","seqnum":-0}"#, range),
            ("message-ack", r#"{"side":"s","seqnum":3.0}"#, range),
            ("message-ack", r#"{"side":"s","seqnum":3e0}"#, range),
            ("message-ack", r#"{"side":"s","seqnum":"3"}"#, range),
            ("message-ack", r#"{"side":"s","seqnum":true}"#, range),
            ("message-ack", r#"{"side":"s","seqnum":[3]}"#, range),
            (
                "message-ack",
                r#"{"side":"s","seqnum":9007199254740992}"#,
                range,
            ),
            (
                "message-ack",
                r#"{"side":"s","seqnum":36893488147419103232}"#,
                range,
            ),
        ] {
            assert_eq!(read(command, json), Err(expected.to_owned()), "{json}");
        }
    }

    #[test]
    fn a_delete_of_ones_own_messages_is_ignored() {
        let own = r#"{"their-phase":"p","their-side":"me"}"#;
        assert_eq!(read("delete", own), Ok(None));
    }

    #[test]
    fn the_largest_number_is_the_largest_that_javascript_counts() {
        let largest = r#"{"side":"s","seqnum":9007199254740991}"#;
        assert_eq!(
            read("message-ack", largest),
            through("s", 9_007_199_254_740_991)
        );
    }
}
