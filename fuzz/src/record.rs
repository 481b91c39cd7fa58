//! Cutting a stream into Noise messages (specification 2.2). The first byte says in pieces of
//! which size the rest arrives.

use sealpost_protocol::channel::RecordBuffer;

/// However the stream arrives, the same messages come out, and no byte appears or is lost.
pub(crate) fn run(bytes: &[u8]) {
    let Some((size, stream)) = bytes.split_first() else {
        return;
    };
    let at_once = cut(stream, stream.len().max(1));
    let in_pieces = cut(stream, usize::from(*size).max(1));
    assert_eq!(at_once, in_pieces);
    let (messages, is_broken) = at_once;
    let taken: usize = messages.iter().map(|message| message.len() + 2).sum();
    let rest = stream.get(taken..).unwrap_or_default();
    assert!(!messages.iter().any(Vec::is_empty));
    assert_eq!(is_broken, rest.starts_with(&[0, 0]));
}

fn cut(stream: &[u8], piece_bytes: usize) -> (Vec<Vec<u8>>, bool) {
    let mut buffer = RecordBuffer::new();
    let mut messages = Vec::new();
    for piece in stream.chunks(piece_bytes) {
        buffer.push(piece);
        loop {
            match buffer.next_record() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(_) => return (messages, true),
            }
        }
    }
    (messages, false)
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    vec![
        vec![1, 0, 1, 7],
        vec![2, 0, 5, 1, 2, 3, 4, 5, 0, 1, 9],
        vec![3, 0, 0],
        vec![7, 0, 1, 7, 0, 0, 0, 1, 7],
        vec![255, 0xff, 0xff, 1, 2, 3],
    ]
}
