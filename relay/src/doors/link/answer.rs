//! What the door of links says: status, headers, bodies (specification "paired-mailbox/1"
//! 4.1 and 4.10).

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use sealpost_protocol::limit;
use serde::Serialize;

use super::page_body::PageBody;
use super::route::RouteError;
use crate::config::Claims;
use crate::doors::web::BodyError;
use crate::mailbox::{Claimed, DirectionHead, Refusal, Stored};
use crate::store::{MailboxError, StoreError};

const LAST: HeaderName = HeaderName::from_static("x-relay-last");
const MORE: HeaderName = HeaderName::from_static("x-relay-more");
const COUNT: HeaderName = HeaderName::from_static("x-relay-count");
const OLDEST: HeaderName = HeaderName::from_static("x-relay-oldest");
const CREATED: HeaderName = HeaderName::from_static("x-relay-created");
const EXPIRES: HeaderName = HeaderName::from_static("x-relay-expires");
const ERROR: HeaderName = HeaderName::from_static("x-relay-error");

/// The headers that a page of another site may read.
pub(crate) const EXPOSED: &str = "X-Relay-Last, X-Relay-More, X-Relay-Count, X-Relay-Oldest, \
     X-Relay-Created, X-Relay-Expires, X-Relay-Error, Retry-After";

/// The pause after which a store that couldn't write may be asked again.
const STORE_PAUSE: Duration = Duration::from_secs(30);

/// The pause after which there may be room for another mailbox.
const FULL_PAUSE: Duration = Duration::from_secs(3_600);

/// Why a request isn't done, in the words of the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Problem {
    BadHost,
    OriginDenied,
    RateLimited(Duration),
    NotFound,
    MethodNotAllowed(&'static str),
    BadRequest,
    Unauthorized,
    TooLarge,
    /// The body ended before its length was reached, or couldn't be read.
    BodyCut,
    Mailbox(Refusal),
    Store(StoreError),
    NoClock,
}

impl From<RouteError> for Problem {
    fn from(error: RouteError) -> Self {
        match error {
            RouteError::NotFound => Self::NotFound,
            RouteError::MethodNotAllowed { allow } => Self::MethodNotAllowed(allow),
            RouteError::BadRequest => Self::BadRequest,
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::Mailbox(refusal)
    }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::TooLarge,
            BodyError::Cut => Self::BodyCut,
        }
    }
}

impl From<MailboxError> for Problem {
    fn from(error: MailboxError) -> Self {
        match error {
            MailboxError::Refused(refusal) => Self::Mailbox(refusal),
            MailboxError::Store(error) => Self::Store(error),
            MailboxError::NoClock => Self::NoClock,
        }
    }
}

impl Problem {
    fn status(self) -> StatusCode {
        match self {
            Self::BadHost => StatusCode::MISDIRECTED_REQUEST,
            Self::OriginDenied | Self::Mailbox(Refusal::WrongToken) => StatusCode::FORBIDDEN,
            Self::RateLimited(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::NotFound | Self::Mailbox(Refusal::NoMailbox | Refusal::ClaimsClosed) => {
                StatusCode::NOT_FOUND
            }
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::BadRequest
            | Self::BodyCut
            | Self::Mailbox(Refusal::BadEnvelope | Refusal::BadSequence | Refusal::SequenceJump) => {
                StatusCode::BAD_REQUEST
            }
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::TooLarge | Self::Mailbox(Refusal::EnvelopeTooLarge) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            Self::Mailbox(Refusal::SequenceTaken(_)) => StatusCode::CONFLICT,
            Self::Mailbox(Refusal::DirectionFull(_)) => StatusCode::INSUFFICIENT_STORAGE,
            Self::Store(StoreError::Damaged | StoreError::Database(_)) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Self::Mailbox(Refusal::RelayFull | Refusal::NoRoom | Refusal::Ended)
            | Self::Store(_)
            | Self::NoClock => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// What clients switch on, beside the status.
    fn code(self) -> &'static str {
        match self {
            Self::BadHost => "bad_host",
            Self::OriginDenied => "origin_denied",
            Self::RateLimited(_) => "rate_limited",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed(_) => "method_not_allowed",
            Self::BadRequest | Self::BodyCut | Self::Mailbox(Refusal::BadSequence) => "bad_request",
            Self::Unauthorized => "unauthorized",
            Self::TooLarge | Self::Mailbox(Refusal::EnvelopeTooLarge) => "envelope_too_large",
            Self::Mailbox(Refusal::NoMailbox) => "no_mailbox",
            Self::Mailbox(Refusal::ClaimsClosed) => "claims_closed",
            Self::Mailbox(Refusal::WrongToken) => "wrong_token",
            Self::Mailbox(Refusal::RelayFull) => "relay_full",
            Self::Mailbox(Refusal::BadEnvelope) => "bad_envelope",
            Self::Mailbox(Refusal::SequenceTaken(_)) => "sequence_taken",
            Self::Mailbox(Refusal::SequenceJump) => "sequence_jump",
            Self::Mailbox(Refusal::DirectionFull(_)) => "direction_full",
            Self::Store(StoreError::Damaged | StoreError::Database(_)) => "internal",
            Self::Mailbox(Refusal::NoRoom | Refusal::Ended) | Self::Store(_) | Self::NoClock => {
                "unavailable"
            }
        }
    }

    /// For somebody who reads a log.
    fn detail(self) -> String {
        match self {
            Self::BadHost => "the Host header names another server".to_owned(),
            Self::OriginDenied => "pages of other sites may not use this relay".to_owned(),
            Self::RateLimited(_) => "too many requests".to_owned(),
            Self::NotFound => "there is no such route".to_owned(),
            Self::MethodNotAllowed(_) => "the route has other methods".to_owned(),
            Self::BadRequest => "an id, a number or a parameter can't be read".to_owned(),
            Self::BodyCut => "the body can't be read to its end".to_owned(),
            Self::Unauthorized => "a bearer token of 43 characters is expected".to_owned(),
            Self::TooLarge => Refusal::EnvelopeTooLarge.to_string(),
            Self::Mailbox(refusal) => refusal.to_string(),
            Self::Store(error) => error.to_string(),
            Self::NoClock => MailboxError::NoClock.to_string(),
        }
    }

    fn head(self) -> Option<DirectionHead> {
        match self {
            Self::Mailbox(Refusal::SequenceTaken(head) | Refusal::DirectionFull(head)) => {
                Some(head)
            }
            _ => None,
        }
    }

    fn retry_after(self) -> Option<Duration> {
        match self {
            Self::RateLimited(pause) => Some(pause),
            Self::Mailbox(Refusal::RelayFull) => Some(FULL_PAUSE),
            _ if self.status() == StatusCode::SERVICE_UNAVAILABLE => Some(STORE_PAUSE),
            _ => None,
        }
    }

    /// Whether somebody who guesses tokens or ids would get this answer.
    pub(crate) fn is_failure(self) -> bool {
        let guessed = [
            StatusCode::UNAUTHORIZED,
            StatusCode::FORBIDDEN,
            StatusCode::NOT_FOUND,
        ];
        guessed.contains(&self.status())
    }

    /// The answer itself.
    pub(crate) fn answer(self) -> Response<Body> {
        let report = Report {
            error: self.code(),
            detail: self.detail(),
            last: self.head().and_then(|head| head.last),
        };
        let mut answer = json(self.status(), &report);
        let headers = answer.headers_mut();
        headers.insert(ERROR, HeaderValue::from_static(self.code()));
        if let Some(head) = self.head() {
            add_head(headers, &head);
        }
        if let Some(pause) = self.retry_after() {
            let seconds = pause.as_millis().div_ceil(1_000).max(1);
            let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        match self {
            Self::MethodNotAllowed(allow) => {
                headers.insert(ALLOW, HeaderValue::from_static(allow));
            }
            Self::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        answer
    }
}

#[derive(Serialize)]
struct Report {
    error: &'static str,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<u64>,
}

fn add_head(headers: &mut HeaderMap, head: &DirectionHead) {
    let numbers = [
        (LAST, head.last),
        (COUNT, Some(head.count.into())),
        (OLDEST, head.oldest),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            headers.insert(name, HeaderValue::from(number));
        }
    }
    add_life(headers, head.created_ms, head.expires_s);
}

fn add_life(headers: &mut HeaderMap, created_ms: u64, expires_s: u64) {
    headers.insert(CREATED, HeaderValue::from(created_ms));
    headers.insert(EXPIRES, HeaderValue::from(expires_s));
}

fn json(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    // Our own types have nothing that can't be written.
    let body = serde_json::to_vec(value).unwrap_or_default();
    let mut answer = empty(status);
    *answer.body_mut() = Body::from(body);
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// An answer of this door that has no body.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = status;
    let no_store = HeaderValue::from_static("no-store");
    answer.headers_mut().insert(CACHE_CONTROL, no_store);
    answer
}

pub(super) fn claimed(claimed: &Claimed) -> Response<Body> {
    let mut answer = empty(made(claimed.is_new));
    add_life(answer.headers_mut(), claimed.created_ms, claimed.expires_s);
    answer
}

pub(super) fn stored(stored: &Stored) -> Response<Body> {
    with_head(made(stored.is_new), &stored.head)
}

fn made(is_new: bool) -> StatusCode {
    if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::NO_CONTENT
    }
}

pub(super) fn with_head(status: StatusCode, head: &DirectionHead) -> Response<Body> {
    let mut answer = empty(status);
    add_head(answer.headers_mut(), head);
    answer
}

pub(super) fn page(body: PageBody, head: &DirectionHead, more: u32) -> Response<Body> {
    let mut answer = empty(StatusCode::OK);
    *answer.body_mut() = Body::new(body);
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    let headers = answer.headers_mut();
    add_head(headers, head);
    headers.insert(MORE, HeaderValue::from(more));
    answer
}

/// What `/v1/info` tells.
#[derive(Serialize)]
struct Info {
    protocol: &'static str,
    claims: &'static str,
    slots: usize,
    page: usize,
    envelope_bytes_min: usize,
    envelope_bytes_max: usize,
    sequence_max: u64,
    sequence_jump_max: u64,
    life_seconds: u64,
}

/// The protocol's name, as it stands in its key derivation.
const PROTOCOL: &str = "paired-mailbox/1";

pub(super) fn info(claims: Claims) -> Response<Body> {
    let info = Info {
        protocol: PROTOCOL,
        claims: claims.as_str(),
        slots: limit::LINK_SLOTS,
        page: limit::LINK_PAGE_ENVELOPES_MAX,
        envelope_bytes_min: limit::LINK_ENVELOPE_BYTES_MIN,
        envelope_bytes_max: limit::LINK_ENVELOPE_BYTES_MAX,
        sequence_max: limit::LINK_SEQUENCE_MAX,
        sequence_jump_max: limit::LINK_JUMP_MAX,
        life_seconds: limit::LINK_MAILBOX_LIFE_MS / 1_000,
    };
    json(StatusCode::OK, &info)
}
