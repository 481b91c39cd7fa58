//! The version prefix in front of every handshake (specification 2.1).
//!
//! Owns: reading it, and the answer to everything that isn't the version spoken here. Nothing
//! after an unknown prefix is ever decoded.

use sealpost_protocol::version::{PREFIX, PREFIX_BYTES, Unsupported, check_prefix};
use tokio::net::TcpStream;

use super::ending::Ending;
use super::record_reader::RecordReader;
use super::wire;

/// Bytes of the prefix that are the same in every version.
const MAGIC_BYTES: usize = 4;

/// Reads the prefix; what arrived behind it is in the reader.
pub(super) async fn greet(stream: &TcpStream) -> Result<RecordReader<'_>, Ending> {
    let mut bytes = Vec::new();
    while bytes.len() < PREFIX_BYTES {
        let count = wire::read(stream, |arrived| bytes.extend_from_slice(arrived)).await?;
        if count == 0 && bytes.is_empty() {
            return Err(Ending::Closed);
        }
        if count == 0 || !starts_like_a_prefix(&bytes) {
            return refuse(stream).await;
        }
    }
    match bytes.split_first_chunk::<PREFIX_BYTES>() {
        Some((prefix, rest)) if check_prefix(prefix).is_ok() => Ok(RecordReader::new(stream, rest)),
        _ => refuse(stream).await,
    }
}

/// Whether the bytes so far may become a prefix. Those of an older client never do, and it
/// mustn't wait for the deadline to learn that.
fn starts_like_a_prefix(bytes: &[u8]) -> bool {
    let seen = bytes.len().min(MAGIC_BYTES);
    bytes.get(..seen) == PREFIX.get(..seen)
}

async fn refuse<T>(stream: &TcpStream) -> Result<T, Ending> {
    wire::write(stream, &Unsupported::HERE.encode()).await?;
    wire::close_softly(stream).await;
    Err(Ending::Unsupported)
}
