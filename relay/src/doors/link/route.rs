//! Which request this is: method, path and query of the door of links.
//!
//! Owns: the table of routes (specification "paired-mailbox/1" 4.2) and the order in which a
//! request that fits none is refused (amendment 19): not found, then the method, then the
//! syntax. Pure.

use sealpost_protocol::limit;
use sealpost_protocol::link::key::{Direction, LinkToken, MailboxId};

/// A request to the door of links, before anybody has looked at its token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Route {
    /// Protocol and limits.
    Info,
    /// Something about one mailbox.
    Mailbox(MailboxId, MailboxRequest),
}

/// What is asked of a mailbox.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MailboxRequest {
    /// Claim it.
    Claim,
    /// Erase it.
    Erase,
    /// Something about one direction.
    Direction(Direction, DirectionRequest),
}

/// What is asked of a direction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DirectionRequest {
    /// Its state.
    Head,
    /// Envelopes.
    Page {
        /// All of them above this sequence.
        after: u64,
        /// At most so many.
        limit: usize,
    },
    /// Store the body under this sequence.
    Store(u64),
    /// Free the slots up to this sequence.
    Prune(u64),
    /// Tell what happens.
    Watch,
}

/// Why a request fits no route.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RouteError {
    /// No such path.
    NotFound,
    /// The path has other methods.
    MethodNotAllowed {
        /// For the `Allow` header.
        allow: &'static str,
    },
    /// An id, a direction, a number or a parameter that can't be one.
    BadRequest,
}

/// The first part of every path of this door.
pub(crate) const BASE: &str = "/v1/";

impl Route {
    /// Finds the route of a request.
    ///
    /// # Errors
    ///
    /// Tells how it fits none.
    pub fn find(method: &str, path: &str, query: Option<&str>) -> Result<Self, RouteError> {
        let rest = path.strip_prefix(BASE).ok_or(RouteError::NotFound)?;
        let parts: Vec<&str> = rest.split('/').take(6).collect();
        match parts.as_slice() {
            ["info"] => match method {
                "GET" => Ok(Self::Info),
                _ => not_allowed("GET"),
            },
            ["mailboxes", mailbox] => {
                let request = match method {
                    "PUT" => MailboxRequest::Claim,
                    "DELETE" => MailboxRequest::Erase,
                    _ => return not_allowed("PUT, DELETE"),
                };
                of_mailbox(mailbox, request)
            }
            ["mailboxes", mailbox, direction] => {
                let read: fn(&str) -> Result<DirectionRequest, RouteError> = match method {
                    "HEAD" => |_| Ok(DirectionRequest::Head),
                    "GET" => page,
                    "DELETE" => prune,
                    _ => return not_allowed("HEAD, GET, DELETE"),
                };
                of_direction(mailbox, direction, read(query.unwrap_or_default()))
            }
            ["mailboxes", mailbox, direction, "watch"] => match method {
                "GET" => of_direction(mailbox, direction, Ok(DirectionRequest::Watch)),
                _ => not_allowed("GET"),
            },
            ["mailboxes", mailbox, direction, sequence] => match method {
                "PUT" => {
                    let store = number(sequence, 1).map(DirectionRequest::Store);
                    of_direction(mailbox, direction, store)
                }
                _ => not_allowed("PUT"),
            },
            _ => Err(RouteError::NotFound),
        }
    }
}

fn not_allowed(allow: &'static str) -> Result<Route, RouteError> {
    Err(RouteError::MethodNotAllowed { allow })
}

fn of_mailbox(mailbox: &str, request: MailboxRequest) -> Result<Route, RouteError> {
    let mailbox = MailboxId::parse(mailbox).ok_or(RouteError::BadRequest)?;
    Ok(Route::Mailbox(mailbox, request))
}

fn of_direction(
    mailbox: &str,
    direction: &str,
    request: Result<DirectionRequest, RouteError>,
) -> Result<Route, RouteError> {
    let direction = Direction::parse(direction).ok_or(RouteError::BadRequest)?;
    of_mailbox(mailbox, MailboxRequest::Direction(direction, request?))
}

fn page(query: &str) -> Result<DirectionRequest, RouteError> {
    let after = parameter(query, "after")?.map_or(Ok(0), |text| number(text, 0))?;
    let most = limit::LINK_PAGE_ENVELOPES_MAX as u64;
    let limit = parameter(query, "limit")?.map_or(Ok(most), |text| number(text, 1))?;
    let limit = usize::try_from(limit.min(most)).map_err(|_| RouteError::BadRequest)?;
    Ok(DirectionRequest::Page { after, limit })
}

fn prune(query: &str) -> Result<DirectionRequest, RouteError> {
    let through = parameter(query, "through")?.ok_or(RouteError::BadRequest)?;
    number(through, 1).map(DirectionRequest::Prune)
}

/// The value of a parameter, if it is there; other parameters are none of our business.
fn parameter<'a>(query: &'a str, name: &str) -> Result<Option<&'a str>, RouteError> {
    let mut values = query.split('&').filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    });
    let value = values.next();
    match values.next() {
        Some(_) => Err(RouteError::BadRequest),
        None => Ok(value),
    }
}

/// A decimal number without leading noughts that JavaScript counts exactly.
fn number(text: &str, min: u64) -> Result<u64, RouteError> {
    let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = text == "0" || !text.starts_with('0');
    let value = text.parse().map_err(|_| RouteError::BadRequest)?;
    if is_decimal && is_plain && (min..=limit::LINK_SEQUENCE_MAX).contains(&value) {
        Ok(value)
    } else {
        Err(RouteError::BadRequest)
    }
}

/// The token of an `Authorization` header.
pub fn bearer_of_header(value: &str) -> Option<LinkToken> {
    let (scheme, token) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        LinkToken::parse(token.trim_matches(' '))
    } else {
        None
    }
}

/// The subprotocol of a watch.
pub const WATCH_PROTOCOL: &str = "mailbox.watch.v1";

/// The token among the subprotocols that a browser offers: it can't set another header.
pub fn bearer_of_protocols<'a>(values: impl Iterator<Item = &'a str>) -> Option<LinkToken> {
    let mut tokens = values
        .flat_map(|value| value.split(','))
        .filter_map(|protocol| protocol.trim().strip_prefix("bearer."));
    let token = tokens.next()?;
    match tokens.next() {
        Some(_) => None,
        None => LinkToken::parse(token),
    }
}
