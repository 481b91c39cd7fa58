//! The version prefix in front of every handshake, and a relay's answer to one it can't serve.
//!
//! Owns those bytes. The answer isn't authenticated: whoever is on the path can forge it, so
//! it may change what is shown and how often is retried, and nothing else. Specification
//! section 2.1.

use thiserror::Error;

use crate::limit::TRANSPORT_VERSION;

/// Bytes of the prefix.
pub const PREFIX_BYTES: usize = 6;

/// What a device sends first, and the Noise prologue of both handshakes.
pub const PREFIX: [u8; PREFIX_BYTES] = {
    let [high, low] = TRANSPORT_VERSION.to_be_bytes();
    let [a, b, c, d] = MAGIC;
    [a, b, c, d, high, low]
};

/// The longest answer that a client reads.
pub const UNSUPPORTED_BYTES_MAX: usize = 64;

const MAGIC: [u8; 4] = *b"TSRL";
const UNSUPPORTED_WORD: &str = "unsupported ";

/// Checks the first bytes that a device sent.
///
/// # Errors
///
/// They aren't the prefix of the version spoken here. Either case is answered with
/// [`Unsupported::HERE`].
pub fn check_prefix(prefix: &[u8; PREFIX_BYTES]) -> Result<(), PrefixError> {
    let [a, b, c, d, high, low] = *prefix;
    let version = u16::from_be_bytes([high, low]);
    if [a, b, c, d] != MAGIC {
        Err(PrefixError::Foreign)
    } else if version != TRANSPORT_VERSION {
        Err(PrefixError::Unsupported { version })
    } else {
        Ok(())
    }
}

/// Why a connection isn't served.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PrefixError {
    /// The first bytes are no prefix at all, as with clients from before there were versions.
    #[error("no version prefix")]
    Foreign,
    /// A Transport Version that isn't spoken here.
    #[error("transport version {version} isn't spoken here")]
    Unsupported {
        /// The version asked for.
        version: u16,
    },
}

/// A relay's answer to a version that it doesn't speak: the versions it does speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The lowest Transport Version spoken.
    pub min: u16,
    /// The highest Transport Version spoken.
    pub max: u16,
}

impl Unsupported {
    /// The answer of this build.
    pub const HERE: Self = Self {
        min: TRANSPORT_VERSION,
        max: TRANSPORT_VERSION,
    };

    /// The answer as bytes, with the line feed that ends it.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        format!("{UNSUPPORTED_WORD}{}..{}\n", self.min, self.max).into_bytes()
    }

    /// Reads an answer, with or without its line feed; any other text gives `None`.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > UNSUPPORTED_BYTES_MAX {
            return None;
        }
        let text = core::str::from_utf8(bytes.strip_suffix(b"\n").unwrap_or(bytes)).ok()?;
        let (min, max) = text.strip_prefix(UNSUPPORTED_WORD)?.split_once("..")?;
        let (min, max) = (version_number(min)?, version_number(max)?);
        (min <= max).then_some(Self { min, max })
    }
}

/// A version in plain decimal: no sign, no leading zero, not zero.
fn version_number(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;

    #[test]
    fn the_prefix_is_the_magic_and_the_version() {
        assert_eq!(PREFIX, vectors::array("/version/prefix"));
        assert_eq!(check_prefix(&PREFIX), Ok(()));
        assert_eq!(
            check_prefix(b"TSRL\0\x02"),
            Err(PrefixError::Unsupported { version: 2 })
        );
        assert_eq!(
            check_prefix(b"TSRL\0\0"),
            Err(PrefixError::Unsupported { version: 0 })
        );
        assert_eq!(check_prefix(b"\0\x20abcd"), Err(PrefixError::Foreign));
    }

    #[test]
    fn the_answer_has_one_form() {
        assert_eq!(
            Unsupported::HERE.encode(),
            vectors::bytes("/version/unsupported")
        );
        assert_eq!(
            Unsupported::parse(b"unsupported 1..1\n"),
            Some(Unsupported::HERE)
        );
        assert_eq!(
            Unsupported::parse(b"unsupported 2..65535"),
            Some(Unsupported {
                min: 2,
                max: 65_535
            })
        );
        for wrong in [
            "",
            "unsupported",
            "unsupported 0..1",
            "unsupported 2..1",
            "unsupported 01..1",
            "unsupported +1..1",
            "unsupported 1..65536",
            "unsupported 1..1\r\n",
            "unsupported 1..1\n\n",
            "unsupported 1..1 ",
            "unsupported  1..1",
            "unsupported 1...1",
            "Unsupported 1..1",
        ] {
            assert_eq!(Unsupported::parse(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
