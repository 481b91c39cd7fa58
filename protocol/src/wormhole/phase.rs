//! What a message of a mailbox is.

use core::fmt;

/// The place of a message in the conversation, as its name on the wire says. The order of the
/// values is the order in which they are handled.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The message of the key exchange.
    Pake,
    /// The first encrypted message, which shows that both have the same key.
    Version,
    /// A message of the application, counted from 0.
    Number(u64),
    /// Something that this build doesn't know.
    Other(String),
}

impl Phase {
    /// The phase as it stands in frames.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Pake => "pake".to_owned(),
            Self::Version => "version".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Other(text) => text.clone(),
        }
    }

    /// Reads a phase. A number that isn't written the usual way is none.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "pake" => Self::Pake,
            "version" => Self::Version,
            _ => match text.parse::<u64>() {
                Ok(number) if number.to_string() == text => Self::Number(number),
                _ => Self::Other(text.to_owned()),
            },
        }
    }
}

impl fmt::Debug for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pake => f.write_str("Pake"),
            Self::Version => f.write_str("Version"),
            Self::Number(number) => write!(f, "Number({number})"),
            Self::Other(_) => f.write_str("Other"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_read_back_as_it_was_written() {
        for text in [
            "pake", "version", "0", "17", "dilate-0", "", "00", "+1", "-1",
        ] {
            assert_eq!(Phase::parse(text).to_text(), text);
        }
        assert_eq!(
            Phase::parse("18446744073709551615"),
            Phase::Number(u64::MAX)
        );
        for other in ["00", "+1", "18446744073709551616", " 1"] {
            assert_eq!(Phase::parse(other), Phase::Other(other.to_owned()));
        }
        assert!(Phase::Pake < Phase::Version && Phase::Version < Phase::Number(0));
        assert_eq!(format!("{:?}", Phase::parse("dilate-0")), "Other");
    }
}
