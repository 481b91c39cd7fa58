//! The first bytes of a connection, on either side (specification 2.1).

use sealpost_protocol::channel::reply::{self, Reply};
use sealpost_protocol::version::{PREFIX, Unsupported, check_prefix};

/// As a prefix, and as the answer to one.
pub(crate) fn run(bytes: &[u8]) {
    if let Some(prefix) = bytes.first_chunk() {
        assert_eq!(check_prefix(prefix).is_ok(), *prefix == PREFIX);
    }
    if let Some(versions) = Unsupported::parse(bytes) {
        assert!(1 <= versions.min && versions.min <= versions.max);
        let line = versions.encode();
        assert_eq!(line.strip_suffix(b"\n"), Some(strip_line_feed(bytes)));
    }
    read_in_pieces(bytes);
}

/// A client that reads byte by byte comes to the same end as one that reads all at once.
fn read_in_pieces(bytes: &[u8]) {
    let at_once = reply::parse(bytes, true);
    let mut end = 0;
    let in_pieces = loop {
        let seen = bytes.get(..end).unwrap_or_default();
        match reply::parse(seen, false) {
            Ok(Reply::Incomplete) if end < bytes.len() => end += 1,
            Ok(Reply::Incomplete) => break reply::parse(seen, true),
            decided => break decided,
        }
    };
    assert_eq!(in_pieces, at_once);
}

fn strip_line_feed(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 9] = [
        &PREFIX,
        b"TSRL\x00\x02\x00\x30",
        b"\x00\x20\x07\x07",
        b"GET / HTTP/1.1\r\n",
        b"unsupported 1..1\n",
        b"unsupported 2..65535",
        b"unsupported 01..1\n",
        b"unsupported 3..2\n",
        b"unsupported 1..1\nmore",
    ];
    texts.into_iter().map(<[u8]>::to_vec).collect()
}
