//! The first bytes that a client reads: a handshake, or that its version isn't spoken.
//!
//! Every handshake answer starts with a zero byte, the high half of its length; the other
//! answer starts with a letter. Specification section 2.1.

use thiserror::Error;

use crate::version::{UNSUPPORTED_BYTES_MAX, Unsupported};

/// What the first bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It can't be told yet; read on and ask again with everything.
    Incomplete,
    /// A handshake: everything goes into a record buffer.
    Handshake,
    /// The relay doesn't speak this version.
    Unsupported(Unsupported),
}

/// Tells what the bytes are that have arrived so far.
///
/// # Errors
///
/// They are neither; the handshake failed.
pub fn parse(bytes: &[u8], is_end_of_stream: bool) -> Result<Reply, ReplyError> {
    match bytes.first() {
        None if is_end_of_stream => Err(ReplyError::Closed),
        None => Ok(Reply::Incomplete),
        Some(0) => Ok(Reply::Handshake),
        Some(b'u') => parse_unsupported(bytes, is_end_of_stream),
        Some(_) => Err(ReplyError::Foreign),
    }
}

/// Reads to the line feed or the end, at most 64 bytes.
fn parse_unsupported(bytes: &[u8], is_end_of_stream: bool) -> Result<Reply, ReplyError> {
    let line = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .next()
        .unwrap_or(bytes);
    if line.len() > UNSUPPORTED_BYTES_MAX {
        return Err(ReplyError::Foreign);
    }
    let is_whole = line.ends_with(b"\n") || is_end_of_stream;
    if !is_whole {
        return Ok(Reply::Incomplete);
    }
    Unsupported::parse(line)
        .map(Reply::Unsupported)
        .ok_or(ReplyError::Foreign)
}

/// Why there is no handshake.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ReplyError {
    /// The connection ended without a byte.
    #[error("the connection ended before an answer")]
    Closed,
    /// Neither a handshake nor an answer about versions.
    #[error("the answer isn't a relay's")]
    Foreign,
}
