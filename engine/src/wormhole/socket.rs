//! The WebSocket of a mailbox server: text frames in both directions.

use futures_util::{SinkExt as _, StreamExt as _};
use sealpost_protocol::limit::WORMHOLE_FRAME_BYTES_MAX;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{ClientRequestBuilder, Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::link::line::{self, Stream};
use crate::link::{LinkFailure, RelayUrl};
use crate::session::dial::{Way, moved};

/// The path of the mailbox server at a relay's web door.
const PATH: &str = "/v1";

/// An open connection.
pub(super) struct Socket {
    stream: WebSocketStream<Box<dyn Stream>>,
    way: Option<Way>,
}

impl Socket {
    /// Opens a connection.
    pub(super) async fn open(url: &RelayUrl) -> Result<Self, LinkFailure> {
        let line = line::open(url).await?;
        let way = line.way;
        let upgrade = Self::upgrade(url, line.stream);
        let stream = timeout(line::OPENING_MAX, upgrade)
            .await
            .unwrap_or(Err(LinkFailure::NoAnswer))?;
        Ok(Self { stream, way })
    }

    async fn upgrade(
        url: &RelayUrl,
        stream: Box<dyn Stream>,
    ) -> Result<WebSocketStream<Box<dyn Stream>>, LinkFailure> {
        let scheme = if url.is_tls() { "wss" } else { "ws" };
        let address = format!("{scheme}://{}{}{PATH}", url.authority(), url.path());
        let address = address.parse().map_err(|_| LinkFailure::SomethingElse)?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(WORMHOLE_FRAME_BYTES_MAX))
            .max_frame_size(Some(WORMHOLE_FRAME_BYTES_MAX));
        let request = ClientRequestBuilder::new(address);
        match client_async_with_config(request, stream, Some(config)).await {
            Ok((stream, _)) => Ok(stream),
            Err(Error::Io(_)) => Err(LinkFailure::Lost),
            Err(_) => Err(LinkFailure::SomethingElse),
        }
    }

    /// Sends a frame; false when the connection is gone.
    pub(super) async fn send(&mut self, text: String) -> bool {
        let sending = self.stream.send(Message::text(text));
        matches!(timeout(line::OPENING_MAX, sending).await, Ok(Ok(())))
    }

    /// The next frame; nothing when the connection is gone. Loses nothing when dropped early.
    pub(super) async fn next(&mut self) -> Option<String> {
        let way = self.way;
        tokio::select! {
            text = self.read() => text,
            () = moved(way) => None,
        }
    }

    async fn read(&mut self) -> Option<String> {
        loop {
            match self.stream.next().await?.ok()? {
                Message::Text(text) => return Some(text.as_str().to_owned()),
                Message::Close(_) => return None,
                // A ping is answered by the stream itself, once something is written.
                Message::Ping(_) => self.stream.flush().await.ok()?,
                _ => {}
            }
        }
    }

    /// Says goodbye, without waiting for long.
    pub(super) async fn close(mut self) {
        let _ = timeout(line::GOODBYE_MAX, self.stream.close(None)).await;
    }
}
