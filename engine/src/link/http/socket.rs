//! The WebSocket of a watch.
//!
//! Owns the opening with the token in the Authorization header, the 75 s of silence after
//! which the other side counts as gone, and the look at whether the network has changed.
//! Sends nothing of its own; pings are answered. Reads no frame that is larger than any that
//! a door sends.

use futures_util::{SinkExt as _, StreamExt as _};
use hyper::header::HeaderValue;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{ClientRequestBuilder, Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::super::relay_url::RelayUrl;
use super::super::transport::LinkFailure;
use super::line::{self, Stream};
use super::timing::{FRAME_BYTES_MAX, REQUEST_MAX, WATCH_SILENCE_MAX};
use crate::session::dial::{Way, moved};

/// Why a watch could not be opened.
pub(super) enum NotOpen {
    /// There was no answer.
    Failed(LinkFailure),
    /// The door refused; a request tells why.
    Refused,
}

/// What a watch brought.
pub(super) enum Heard {
    /// A text.
    Text(String),
    /// The door closed it, with a code and a reason.
    Closed { code: u16, reason: String },
    /// It broke, or was silent for too long.
    Lost,
}

/// An open watch.
pub(super) struct Socket {
    stream: WebSocketStream<Box<dyn Stream>>,
    way: Option<Way>,
}

impl Socket {
    /// Opens the watch at `path`.
    pub(super) async fn open(
        url: &RelayUrl,
        path: &str,
        authorization: &HeaderValue,
    ) -> Result<Self, NotOpen> {
        let line = line::open(url).await.map_err(NotOpen::Failed)?;
        let opening = Self::upgrade(url, path, authorization, line.stream);
        let stream = timeout(REQUEST_MAX, opening)
            .await
            .unwrap_or(Err(NotOpen::Failed(LinkFailure::NoAnswer)))?;
        let way = line.way;
        Ok(Self { stream, way })
    }

    async fn upgrade(
        url: &RelayUrl,
        path: &str,
        authorization: &HeaderValue,
        stream: Box<dyn Stream>,
    ) -> Result<WebSocketStream<Box<dyn Stream>>, NotOpen> {
        let scheme = if url.is_tls() { "wss" } else { "ws" };
        let address = format!("{scheme}://{}{}{path}", url.authority(), url.path());
        let broken = NotOpen::Failed(LinkFailure::SomethingElse);
        let (Ok(address), Ok(authorization)) = (address.parse(), authorization.to_str()) else {
            return Err(broken);
        };
        let request =
            ClientRequestBuilder::new(address).with_header("Authorization", authorization);
        let config = WebSocketConfig::default()
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        match client_async_with_config(request, stream, Some(config)).await {
            Ok((stream, _)) => Ok(stream),
            Err(Error::Http(_)) => Err(NotOpen::Refused),
            Err(Error::Io(_)) => Err(NotOpen::Failed(LinkFailure::Lost)),
            Err(_) => Err(broken),
        }
    }

    /// A watch that is open over what a test plays.
    #[cfg(test)]
    pub(super) async fn over(stream: Box<dyn Stream>) -> Self {
        let role = tokio_tungstenite::tungstenite::protocol::Role::Client;
        Self {
            stream: WebSocketStream::from_raw_socket(stream, role, None).await,
            way: None,
        }
    }

    /// What the watch brings next.
    pub(super) async fn next(&mut self) -> Heard {
        let way = self.way;
        tokio::select! {
            heard = self.read() => heard,
            () = moved(way) => Heard::Lost,
        }
    }

    async fn read(&mut self) -> Heard {
        loop {
            let Ok(Some(Ok(message))) = timeout(WATCH_SILENCE_MAX, self.stream.next()).await else {
                return Heard::Lost;
            };
            match message {
                Message::Text(text) => return Heard::Text(text.as_str().to_owned()),
                Message::Close(Some(frame)) => {
                    return Heard::Closed {
                        code: frame.code.into(),
                        reason: frame.reason.as_str().to_owned(),
                    };
                }
                Message::Close(None) => return Heard::Lost,
                // A ping is answered by the stream itself, once something is written.
                Message::Ping(_) if self.stream.flush().await.is_err() => return Heard::Lost,
                _ => {}
            }
        }
    }
}
