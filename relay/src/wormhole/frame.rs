//! Incoming frames: one JSON object each, as text or as bytes.
//!
//! Invariant: whatever bytes come, they are an object or refused; nothing is read from them by
//! index.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::NAME_BYTES_MAX;

/// The fields of a command.
pub type Fields = Map<String, Value>;

/// A frame that can't even be refused by quoting it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a frame must be one JSON object")]
pub struct NotAnObject;

/// A frame that is a JSON object.
#[derive(Clone)]
pub struct Frame {
    /// Nothing if it is JSON that can't be held: a number such as 1e999, half a surrogate pair,
    /// or arrays in arrays without end.
    fields: Option<Fields>,
    text: String,
}

impl Frame {
    /// Reads a frame.
    ///
    /// # Errors
    ///
    /// It isn't UTF-8, not JSON, or not an object.
    pub fn read(bytes: &[u8]) -> Result<Self, NotAnObject> {
        let text = std::str::from_utf8(bytes).map_err(|_| NotAnObject)?.trim();
        let fields = serde_json::from_str::<Fields>(text).ok();
        let is_object = text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok();
        if fields.is_none() && !is_object {
            return Err(NotAnObject);
        }
        let text = text.to_owned();
        Ok(Self { fields, text })
    }

    /// What it says, letter for letter.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn fields(&self) -> Option<&Fields> {
        self.fields.as_ref()
    }
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Frame(..)")
    }
}

/// A field that has to be a string.
pub(super) fn string<'a>(name: &str, value: &'a Value) -> Result<&'a str, String> {
    value
        .as_str()
        .ok_or_else(|| format!("'{name}' must be a string"))
}

/// A field that has to be a string of a name's length.
pub(super) fn name<'a>(name: &str, value: &'a Value) -> Result<&'a str, String> {
    let text = string(name, value)?;
    if text.len() > NAME_BYTES_MAX {
        return Err(format!("'{name}' must be at most {NAME_BYTES_MAX} bytes"));
    }
    Ok(text)
}

/// A field that is there and not null.
pub(super) fn given<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_is_a_frame() {
        for bad in [
            &b""[..],
            b"{",
            b"[]",
            b"7",
            b"null",
            b"\"type\"",
            b"{} {}",
            b"{\"type\":}",
            b"{\"type\":\"\xff\"}",
        ] {
            assert!(Frame::read(bad).is_err(), "{bad:?}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
        for good in [
            "{}",
            " {\"type\": \"ping\"}\n",
            "{\"a\":1e999}",
            "{\"a\":\"\\ud800\"}",
            &deep,
        ] {
            assert_eq!(Frame::read(good.as_bytes()).unwrap().text(), good.trim());
        }
    }
}
