//! One connection of a client, plain or over TLS, with what is read and what is to be sent.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// Room that a read has at least: one large message.
const READ_BYTES: usize = 65_536;

/// A connection with its buffers.
pub(super) struct Line {
    stream: Stream,
    /// What the next [`Self::flush`] sends.
    pub(super) out: Vec<u8>,
    input: Vec<u8>,
    taken: usize,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Line {
    pub(super) async fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: Stream::Plain(stream),
            out: Vec::new(),
            input: Vec::new(),
            taken: 0,
        })
    }

    /// Connects, over TLS from the first byte on if there is a configuration.
    pub(super) async fn open(port: u16, tls: Option<&Arc<ClientConfig>>) -> io::Result<Self> {
        let line = Self::connect(port).await?;
        match tls {
            Some(config) => line.secured(config).await,
            None => Ok(line),
        }
    }

    /// Goes over to TLS, after whatever the protocol says in the clear before.
    pub(super) async fn secured(self, config: &Arc<ClientConfig>) -> io::Result<Self> {
        let Stream::Plain(stream) = self.stream else {
            return Err(io::Error::other("TLS within TLS"));
        };
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let stream = TlsConnector::from(Arc::clone(config))
            .connect(name, stream)
            .await?;
        Ok(Self {
            stream: Stream::Tls(Box::new(stream)),
            out: self.out,
            input: Vec::new(),
            taken: 0,
        })
    }

    /// Sends what is waiting.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        match &mut self.stream {
            Stream::Plain(stream) => stream.write_all(&self.out).await?,
            Stream::Tls(stream) => {
                stream.write_all(&self.out).await?;
                stream.flush().await?;
            }
        }
        self.out.clear();
        Ok(())
    }

    /// What has arrived and isn't taken yet.
    pub(super) fn arrived(&self) -> &[u8] {
        self.input.get(self.taken..).unwrap_or_default()
    }

    /// Forgets the first bytes of what has arrived.
    pub(super) fn take(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes).min(self.input.len());
    }

    /// Waits for more to arrive. May be dropped half way without losing anything.
    pub(super) async fn fill(&mut self) -> io::Result<()> {
        if self.taken > 0 {
            self.input.drain(..self.taken);
            self.taken = 0;
        }
        self.input.reserve(READ_BYTES);
        let count = match &mut self.stream {
            Stream::Plain(stream) => stream.read_buf(&mut self.input).await?,
            Stream::Tls(stream) => stream.read_buf(&mut self.input).await?,
        };
        if count == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok(())
    }

    /// The next line of text, without its end.
    pub(super) async fn next_text(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = find_line_end(self.arrived()) {
                let text = self.arrived().get(..end).unwrap_or_default();
                let text = String::from_utf8_lossy(text).into_owned();
                self.take(end + 2);
                return Ok(text);
            }
            self.fill().await?;
        }
    }
}

/// Where the first line ends that CR LF closes.
pub(super) fn find_line_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|pair| pair == b"\r\n")
}
