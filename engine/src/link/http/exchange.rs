//! One request and its answer over HTTP/1.1.
//!
//! Owns the connections that stay open between requests. A request that fails on one of
//! these is made once more on a new one: the other side may have closed it meanwhile, and
//! every operation of the door is safe to repeat.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use super::super::relay_url::RelayUrl;
use super::super::transport::LinkFailure;
use super::line;
use super::timing::{ANSWER_BYTES_MAX, IDLE_CONNECTIONS_MAX, REQUEST_MAX};

type Sender = SendRequest<Full<Bytes>>;

/// What is asked of a door.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) method: Method,
    /// From `/v1` on.
    pub(super) path: String,
    /// The value of the Authorization header.
    pub(super) authorization: HeaderValue,
    pub(super) body: Bytes,
}

/// What a door answered.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The connections to one door.
pub(super) struct Connections {
    url: RelayUrl,
    idle: Arc<Mutex<Vec<Sender>>>,
}

impl Connections {
    pub(super) fn new(url: RelayUrl) -> Self {
        Self {
            url,
            idle: Arc::default(),
        }
    }

    /// Asks, within the time of a whole request.
    pub(super) async fn ask(&self, question: Question) -> Result<Reply, LinkFailure> {
        if let Some(sender) = self.take_idle() {
            match timeout(REQUEST_MAX, self.exchange(sender, &question)).await {
                Ok(Ok(reply)) => return Ok(reply),
                Ok(Err(_)) => {}
                Err(_) => {
                    // Silence says nothing good of the others either.
                    self.forget();
                    return Err(LinkFailure::NoAnswer);
                }
            }
        }
        let sender = self.connect().await?;
        timeout(REQUEST_MAX, self.exchange(sender, &question))
            .await
            .unwrap_or(Err(LinkFailure::NoAnswer))
    }

    /// Lets every idle connection go: the network has changed.
    pub(super) fn forget(&self) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn take_idle(&self) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(sender) = idle.pop() {
            if sender.is_ready() {
                return Some(sender);
            }
        }
        None
    }

    fn keep(&self, sender: Sender) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_CONNECTIONS_MAX && !sender.is_closed() {
            idle.push(sender);
        }
    }

    async fn connect(&self) -> Result<Sender, LinkFailure> {
        let line = line::open(&self.url).await?;
        let (sender, connection) = handshake(TokioIo::new(line.stream))
            .await
            .map_err(|_| LinkFailure::Lost)?;
        // It ends with the sender, or with the other side.
        tokio::spawn(connection);
        Ok(sender)
    }

    async fn exchange(
        &self,
        mut sender: Sender,
        question: &Question,
    ) -> Result<Reply, LinkFailure> {
        let request = self.request(question)?;
        sender.ready().await.map_err(|_| LinkFailure::Lost)?;
        let response = sender.send_request(request).await;
        let (head, body) = response.map_err(|error| not_http(&error))?.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|_| LinkFailure::Lost)?.to_bytes();
        self.keep(sender);
        Ok(Reply {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

    fn request(&self, question: &Question) -> Result<Request<Full<Bytes>>, LinkFailure> {
        let mut request = Request::builder()
            .method(&question.method)
            .uri(format!("{}{}", self.url.path(), question.path))
            .header(HOST, self.url.authority())
            .header(AUTHORIZATION, &question.authorization);
        if !question.body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/octet-stream");
        }
        let request = request.body(Full::new(question.body.clone()));
        request.map_err(|_| LinkFailure::SomethingElse)
    }
}

/// Tells an answer that isn't HTTP from a connection that broke.
fn not_http(error: &hyper::Error) -> LinkFailure {
    if error.is_parse() {
        LinkFailure::SomethingElse
    } else {
        LinkFailure::Lost
    }
}
