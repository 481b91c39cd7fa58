//! The body of a request, which may be on its way when the request is answered already.
//!
//! Owns: reading it to its end or to its bound. Invariant: a body of a size that is taken is
//! read even if nobody wants it. A connection closed with unread bytes is reset, and the other
//! side may lose the answer that it was to learn from.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use sealpost_protocol::limit::LINK_ENVELOPE_BYTES_MAX;

/// Why a body isn't read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::doors) enum BodyError {
    /// It is larger than any that is taken.
    TooLarge,
    /// It ended before its length was reached, or can't be read.
    Cut,
}

/// A body that wasn't read yet.
pub(in crate::doors) struct RequestBody(Option<Incoming>);

impl RequestBody {
    pub(super) fn new(body: Incoming) -> Self {
        Self(Some(body))
    }

    /// Reads it whole; no further than the largest one, however long it is.
    pub(in crate::doors) async fn read(mut self) -> Result<Bytes, BodyError> {
        match self.0.take() {
            Some(body) => read(body).await,
            None => Ok(Bytes::new()),
        }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let body = self.0.take().filter(|body| !body.is_end_stream());
        if let (Some(body), Ok(runtime)) = (body, tokio::runtime::Handle::try_current()) {
            // It ends with the connection, which has its time.
            runtime.spawn(discard(body));
        }
    }
}

fn is_too_large(body: &Incoming) -> bool {
    body.size_hint().lower() > LINK_ENVELOPE_BYTES_MAX as u64
}

async fn read(mut body: Incoming) -> Result<Bytes, BodyError> {
    if is_too_large(&body) {
        return Err(BodyError::TooLarge);
    }
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| BodyError::Cut)?;
        if let Some(data) = frame.data_ref() {
            if read.len().saturating_add(data.len()) > LINK_ENVELOPE_BYTES_MAX {
                return Err(BodyError::TooLarge);
            }
            read.extend_from_slice(data);
        }
    }
    Ok(read.freeze())
}

async fn discard(mut body: Incoming) {
    if is_too_large(&body) {
        return;
    }
    let mut bytes = 0_usize;
    while let Some(Ok(frame)) = body.frame().await {
        bytes = bytes.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        if bytes > LINK_ENVELOPE_BYTES_MAX {
            return;
        }
    }
}
