//! What the web door reads of a request before it knows who asks: method, path, query, token,
//! host and origin ("paired-mailbox/1" 4.1 to 4.3 and 9.6). The bytes are a method, a target,
//! a token, subprotocols and a host, each on a line.
//!
//! Whatever is there, it fits one route or is refused in one way, and what was read can be
//! written and read again.

use sealpost_protocol::limit::{LINK_PAGE_ENVELOPES_MAX, LINK_SEQUENCE_MAX};
use sealpost_relay::{
    Authority, DirectionRequest, MailboxRequest, Route, RouteError, bearer_of_header,
    bearer_of_protocols,
};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let (method, target) = (line(), line());
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    route(method, path, query);
    if let Some(token) = bearer_of_header(line()) {
        let again = format!("Bearer {}", *token.to_text());
        assert!(bearer_of_header(&again).is_some_and(|again| again == token));
    }
    let protocols = line();
    if let Some(token) = bearer_of_protocols(protocols.split(';')) {
        let text = token.to_text();
        assert!(protocols.contains(text.as_str()));
    }
    let host = line();
    if let Some(authority) = Authority::parse(host) {
        let lower = Authority::parse(&host.to_ascii_lowercase());
        assert_eq!(lower, Some(authority), "names have no upper case");
        assert!(!host.contains(['/', '@', '?', '#', ' ']));
    }
}

fn route(method: &str, path: &str, query: Option<&str>) {
    match Route::find(method, path, query) {
        Ok(route) => {
            let (again_path, again_query) = written(&route);
            let again = Route::find(method, &again_path, again_query.as_deref());
            assert_eq!(again, Ok(route));
        }
        // Another method of the same path is no other mistake.
        Err(RouteError::MethodNotAllowed { allow }) => {
            for allowed in allow.split(", ") {
                let other = Route::find(allowed, path, query);
                assert!(!matches!(
                    other,
                    Err(RouteError::MethodNotAllowed { .. } | RouteError::NotFound)
                ));
            }
        }
        Err(RouteError::NotFound) => {
            let other = Route::find("GET", path, query);
            assert_eq!(other, Err(RouteError::NotFound));
        }
        Err(RouteError::BadRequest) => {}
    }
}

/// The path and the query that lead to a route.
fn written(route: &Route) -> (String, Option<String>) {
    let Route::Mailbox(mailbox, request) = route else {
        return ("/v1/info".to_owned(), None);
    };
    let mailbox = format!("/v1/mailboxes/{}", mailbox.to_hex());
    let MailboxRequest::Direction(direction, request) = request else {
        return (mailbox, None);
    };
    let path = format!("{mailbox}/{}", direction.as_str());
    match request {
        DirectionRequest::Head => (path, None),
        DirectionRequest::Watch => (format!("{path}/watch"), None),
        DirectionRequest::Page { after, limit } => {
            assert!(*after <= LINK_SEQUENCE_MAX);
            assert!((1..=LINK_PAGE_ENVELOPES_MAX).contains(limit));
            (path, Some(format!("limit={limit}&after={after}")))
        }
        DirectionRequest::Store(sequence) => {
            assert!((1..=LINK_SEQUENCE_MAX).contains(sequence));
            (format!("{path}/{sequence}"), None)
        }
        DirectionRequest::Prune(through) => {
            assert!((1..=LINK_SEQUENCE_MAX).contains(through));
            (path, Some(format!("through={through}")))
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mailbox = "/v1/mailboxes/000102030405060708090a0b0c0d0e0f";
    let token = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";
    let rest = format!("Bearer {token}\nmailbox.watch.v1, bearer.{token}\nrelay.test:7703");
    let requests = [
        format!("PUT\n{mailbox}"),
        format!("DELETE\n{mailbox}"),
        format!("HEAD\n{mailbox}/a2b"),
        format!("GET\n{mailbox}/b2a?after=41&limit=16"),
        format!("PUT\n{mailbox}/a2b/9007199254740991"),
        format!("DELETE\n{mailbox}/a2b?through=42"),
        format!("GET\n{mailbox}/b2a/watch"),
        "GET\n/v1/info".to_owned(),
        "POST\n/v1".to_owned(),
    ];
    let hosts = [
        "[::1]:80",
        "192.0.2.1",
        "a.local.",
        "localhost:99999",
        "[::1",
    ];
    let requests = requests.iter().map(|request| format!("{request}\n{rest}"));
    let hosts = hosts.iter().map(|host| format!("GET\n/\n\n\n{host}"));
    requests.chain(hosts).map(String::into_bytes).collect()
}
