//! The way to a relay's web door over HTTP (paired mailbox, sections 4 and 5).
//!
//! Owns how a request and its answer look on the wire, http and https, the limits of section 2
//! and the frames of a watch. Decides nothing: what an answer means is the machine's business.
//!
//! - [`exchange`]: one request, and the connections between requests;
//! - [`socket`]: the WebSocket of a watch;
//! - [`line`]: from an address to a connection.
//!
//! Invariant: neither token nor mailbox reach a log, and the token stands in a header only.

mod exchange;
pub(crate) mod line;
mod reading;
mod socket;
#[cfg(test)]
mod tests;
mod timing;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use hyper::Method;
use hyper::header::HeaderValue;
use sealpost_protocol::limit::LINK_PAGE_ENVELOPES_MAX;
use sealpost_protocol::link::key::{Direction, LinkToken};
use zeroize::Zeroizing;

use self::exchange::{Connections, Question};
use self::reading::{answer, frame};
use self::socket::{Heard, NotOpen, Socket};
use super::relay_url::RelayUrl;
use super::transport::{LinkAddress, LinkFailure, LinkTransport, WatchSink};
use crate::core::link::{Answer, LinkRequest, WatchClose, WatchEvent};
use crate::engine::BoxFuture;

/// Reaches one relay over HTTP.
pub struct HttpTransport {
    url: RelayUrl,
    connections: Arc<Connections>,
}

impl HttpTransport {
    /// Nothing is connected before the first request.
    #[must_use]
    pub fn new(url: RelayUrl) -> Self {
        let connections = Arc::new(Connections::new(url.clone()));
        Self { url, connections }
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpTransport")
    }
}

impl LinkTransport for HttpTransport {
    fn perform(
        &self,
        address: LinkAddress,
        request: LinkRequest,
    ) -> BoxFuture<Result<Answer, LinkFailure>> {
        let connections = Arc::clone(&self.connections);
        Box::pin(async move {
            let is_page = matches!(request, LinkRequest::Page { .. });
            let reply = connections.ask(question(&address, request)?).await?;
            Ok(answer(&reply, is_page))
        })
    }

    fn watch(&self, address: LinkAddress, direction: Direction, sink: WatchSink) -> BoxFuture<()> {
        let url = self.url.clone();
        let connections = Arc::clone(&self.connections);
        Box::pin(async move {
            let close = match watch(&url, &address, direction, &sink).await {
                Ok(close) => close,
                Err(failure) => {
                    tracing::debug!(code = failure.code(), "no watch");
                    // What broke the watch, a network that changed say, broke the others too.
                    connections.forget();
                    WatchClose::Other
                }
            };
            sink(WatchEvent::Closed(close));
        })
    }

    fn renew(&self) {
        self.connections.forget();
    }
}

/// Watches until the watch ends, and says how it was closed.
async fn watch(
    url: &RelayUrl,
    address: &LinkAddress,
    direction: Direction,
    sink: &WatchSink,
) -> Result<WatchClose, LinkFailure> {
    let path = format!("{}/watch", direction_path(address, direction));
    let authorization = bearer(&address.token)?;
    let mut socket = match Socket::open(url, &path, &authorization).await {
        Ok(socket) => socket,
        Err(NotOpen::Failed(failure)) => return Err(failure),
        Err(NotOpen::Refused) => return Ok(WatchClose::Other),
    };
    loop {
        match socket.next().await {
            Heard::Text(text) => sink(frame(&text)),
            Heard::Closed { code, reason } => return Ok(WatchClose::parse(code, &reason)),
            Heard::Lost => return Err(LinkFailure::Lost),
        }
    }
}

fn question(address: &LinkAddress, request: LinkRequest) -> Result<Question, LinkFailure> {
    let mailbox = mailbox_path(address);
    let mut body = Bytes::new();
    let (method, path) = match request {
        LinkRequest::Claim => (Method::PUT, mailbox),
        LinkRequest::Erase => (Method::DELETE, mailbox),
        LinkRequest::Head(direction) => (Method::HEAD, direction_path(address, direction)),
        LinkRequest::Page { direction, after } => {
            let path = direction_path(address, direction);
            let query = format!("?after={after}&limit={LINK_PAGE_ENVELOPES_MAX}");
            (Method::GET, path + &query)
        }
        LinkRequest::Put {
            direction,
            sequence,
            envelope,
        } => {
            body = Bytes::from(envelope);
            let path = direction_path(address, direction);
            (Method::PUT, format!("{path}/{sequence}"))
        }
        LinkRequest::Prune { direction, through } => {
            let path = direction_path(address, direction);
            (Method::DELETE, format!("{path}?through={through}"))
        }
    };
    Ok(Question {
        method,
        path,
        authorization: bearer(&address.token)?,
        body,
    })
}

fn mailbox_path(address: &LinkAddress) -> String {
    format!("/v1/mailboxes/{}", address.mailbox.to_hex())
}

fn direction_path(address: &LinkAddress, direction: Direction) -> String {
    format!("{}/{}", mailbox_path(address), direction.as_str())
}

fn bearer(token: &LinkToken) -> Result<HeaderValue, LinkFailure> {
    let text = Zeroizing::new(format!("Bearer {}", *token.to_text()));
    let mut value = HeaderValue::from_str(&text).map_err(|_| LinkFailure::SomethingElse)?;
    value.set_sensitive(true);
    Ok(value)
}
