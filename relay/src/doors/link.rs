//! The door of links: mailboxes of paired devices over HTTP and WebSocket (specification
//! "paired-mailbox/1", sections 4 and 5).
//!
//! Owns: what a request is answered, in the order of 4.3 with amendment 19. Never does: decide
//! about a mailbox (that is [`crate::mailbox`]), log a path, a token or an address.

mod answer;
mod page_body;
mod route;
mod watch;

use axum::RequestPartsExt as _;
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use sealpost_protocol::link::key::{Direction, LinkToken};

use self::page_body::{PageBody, Reading, Slots};
use self::watch::{Close, MESSAGE_BYTES_MAX};
use super::web::{Asked, RequestBody, WebDoor};
use crate::config::Claims;
use crate::mailbox::MailboxAccess;
use crate::store::WatchRefusal;

pub(crate) use answer::{EXPOSED, Problem, empty};
pub(crate) use route::BASE;
pub use route::{
    DirectionRequest, MailboxRequest, Route, RouteError, WATCH_PROTOCOL, bearer_of_header,
    bearer_of_protocols,
};

/// Answers a request whose path begins with [`BASE`] and that has passed the checks of every
/// request.
pub(super) async fn answer(
    door: &WebDoor,
    asked: &Asked,
    parts: Parts,
    body: RequestBody,
) -> Result<Response<Body>, Problem> {
    let (method, uri) = (parts.method.as_str(), &parts.uri);
    match Route::find(method, uri.path(), uri.query())? {
        Route::Info => Ok(answer::info(door.claims())),
        Route::Mailbox(mailbox, request) => {
            let is_watch = matches!(
                request,
                MailboxRequest::Direction(_, DirectionRequest::Watch)
            );
            let token = bearer(&parts.headers, is_watch).ok_or(Problem::Unauthorized)?;
            let access = MailboxAccess::new(&mailbox, &token);
            drop(token);
            match request {
                MailboxRequest::Claim => claim(door, asked, access).await,
                MailboxRequest::Erase => {
                    door.mailboxes().erase_as(access).await?;
                    Ok(empty(StatusCode::NO_CONTENT))
                }
                MailboxRequest::Direction(direction, request) => {
                    let place = (access, direction);
                    match request {
                        DirectionRequest::Store(sequence) => {
                            store(door, place, sequence, body).await
                        }
                        DirectionRequest::Watch => watch(door, asked, place, parts).await,
                        DirectionRequest::Page { after, limit } => {
                            page(door, place, (after, limit)).await
                        }
                        DirectionRequest::Prune(through) => prune(door, place, through).await,
                        DirectionRequest::Head => head(door, place),
                    }
                }
            }
        }
    }
}

/// The mailbox with its token, and one of its sides.
type Place = (MailboxAccess, Direction);

/// The token that a request shows. Browsers can't set the header for a watch, and offer it as
/// a subprotocol.
fn bearer(headers: &HeaderMap, is_watch: bool) -> Option<LinkToken> {
    let texts = |name| {
        let values = headers.get_all(name).into_iter();
        values.filter_map(|value| value.to_str().ok())
    };
    let mut values = headers.get_all(AUTHORIZATION).into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => bearer_of_header(value.to_str().ok()?),
        (None, _) if is_watch => bearer_of_protocols(texts(SEC_WEBSOCKET_PROTOCOL)),
        _ => None,
    }
}

/// Whoever makes too many mailboxes is stopped; whoever claims what is there isn't counted.
async fn claim(
    door: &WebDoor,
    asked: &Asked,
    access: MailboxAccess,
) -> Result<Response<Body>, Problem> {
    let may_make = door.claims() == Claims::Open;
    if may_make && !door.mailboxes().holds(&access.mailbox) {
        let taken = door.addresses().take_creation(asked.address, asked.at_ms);
        taken.map_err(Problem::RateLimited)?;
    }
    let claimed = door.mailboxes().claim_as(access, may_make).await?;
    Ok(answer::claimed(&claimed))
}

fn head(door: &WebDoor, (access, direction): Place) -> Result<Response<Body>, Problem> {
    let head = door.mailboxes().head_as(&access, direction)?;
    Ok(answer::with_head(StatusCode::OK, &head))
}

async fn page(
    door: &WebDoor,
    (access, direction): Place,
    bounds: (u64, usize),
) -> Result<Response<Body>, Problem> {
    let mailboxes = door.mailboxes().clone();
    let index = mailboxes.page_index_as(&access, direction, bounds)?;
    let (head, more) = (index.head, index.more);
    let read = move |slots: &Slots| -> Reading {
        let first = slots.first().map_or(0, |(sequence, _)| *sequence);
        let bounds = (first.saturating_sub(1), slots.len());
        let mailboxes = mailboxes.clone();
        Box::pin(async move {
            let page = mailboxes.page_as(&access, direction, bounds).await?;
            Ok(page.envelopes)
        })
    };
    let body = PageBody::begin(index.slots, read).await?;
    Ok(answer::page(body, &head, more))
}

async fn prune(
    door: &WebDoor,
    (access, direction): Place,
    through: u64,
) -> Result<Response<Body>, Problem> {
    let head = door
        .mailboxes()
        .prune_as(access, direction, through)
        .await?;
    Ok(answer::with_head(StatusCode::NO_CONTENT, &head))
}

/// Looks whether the mailbox is there before it reads the body, which nobody else may send.
async fn store(
    door: &WebDoor,
    (access, direction): Place,
    sequence: u64,
    body: RequestBody,
) -> Result<Response<Body>, Problem> {
    door.mailboxes().head_as(&access, direction)?;
    let place = (access.mailbox, direction);
    let taken = door.addresses().take_put(place, door.now_ms());
    taken.map_err(Problem::RateLimited)?;
    let envelope = body.read().await?;
    let put = (sequence, envelope);
    let stored = door.mailboxes().put_as(access, direction, put).await?;
    Ok(answer::stored(&stored))
}

async fn watch(
    door: &WebDoor,
    asked: &Asked,
    (access, direction): Place,
    mut parts: Parts,
) -> Result<Response<Body>, Problem> {
    // Whoever may not watch is told so before the connection becomes another one.
    door.mailboxes().head_as(&access, direction)?;
    let upgrade = parts.extract::<WebSocketUpgrade>().await;
    let upgrade = upgrade
        .map_err(|_| Problem::BadRequest)?
        .protocols([WATCH_PROTOCOL])
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX);
    let (stopping, beat) = (door.stopping(), door.limits().watch_beat);
    let mailboxes = door.mailboxes().clone();
    let begun = match mailboxes.watch_as(&access, direction) {
        Ok(watch) => Ok(watch),
        Err(WatchRefusal::TooMany) => Err(Close::TooMuch),
        Err(WatchRefusal::Stopping) => Err(Close::Stopping),
        Err(WatchRefusal::Refused(refusal)) => return Err(refusal.into()),
    };
    asked.deadline.watch();
    let served = door.count_watch();
    let answer = upgrade.on_upgrade(move |socket| async move {
        match begun {
            Ok(watch) => {
                let is_over = move || mailboxes.is_over(&access.mailbox);
                watch::serve(socket, watch, beat, stopping, is_over).await;
            }
            Err(close) => watch::refuse(socket, close).await,
        }
        drop(served);
    });
    let mut answer = answer.map(Body::new);
    let no_store = HeaderValue::from_static("no-store");
    answer
        .headers_mut()
        .insert(axum::http::header::CACHE_CONTROL, no_store);
    Ok(answer)
}
