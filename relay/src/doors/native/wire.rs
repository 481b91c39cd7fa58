//! Bytes in and out of a socket, holding no buffer while nothing moves.
//!
//! Owns: reading what is available through one buffer per thread, writing everything, and
//! closing so that the last bytes arrive.

use std::cell::RefCell;
use std::io;
use std::net::Shutdown;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::TcpStream;

/// Bytes taken from a socket at a time: a Noise message and its length.
const READ_BYTES: usize = 65_537;

thread_local! {
    /// What arrives is copied out of here before the thread turns to another session.
    static READ_BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_BYTES]);
}

/// Waits until something can be read and hands it to `take`. Zero is the end of the stream.
pub(super) async fn read(stream: &TcpStream, mut take: impl FnMut(&[u8])) -> io::Result<usize> {
    loop {
        // A device that never pauses must not keep the thread from the others.
        tokio::task::coop::consume_budget().await;
        stream.readable().await?;
        let read = READ_BUFFER.with_borrow_mut(|buffer| {
            let count = stream.try_read(buffer)?;
            take(buffer.get(..count).unwrap_or_default());
            Ok(count)
        });
        match read {
            Err(error) if is_not_yet(&error) => {}
            read => return read,
        }
    }
}

/// Writes everything, waiting for as long as the device doesn't read.
pub(super) async fn write(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if is_not_yet(&error) => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_not_yet(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Bytes that are read and thrown away before a close.
const DISCARD_BYTES_MAX: usize = 256;

/// The longest that a close waits for them.
const DISCARD_MAX: Duration = Duration::from_secs(1);

/// Half-closes and reads a little, so that a reset for unread bytes doesn't destroy what was
/// written last.
pub(super) async fn close_softly(stream: &TcpStream) {
    if SockRef::from(stream).shutdown(Shutdown::Write).is_err() {
        return;
    }
    let discard = async {
        let mut discarded = 0;
        while discarded < DISCARD_BYTES_MAX {
            match read(stream, |_| ()).await {
                Ok(0) | Err(_) => return,
                Ok(count) => discarded = discarded.saturating_add(count),
            }
        }
    };
    let _ = tokio::time::timeout(DISCARD_MAX, discard).await;
}
