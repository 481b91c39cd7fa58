//! The phone's page, out of the relay's own binary (specification "paired-mailbox/1" 9).
//!
//! Owns: which files there are and the headers that they go out with. Never does: read a file
//! at run time, or load anything from elsewhere.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, Method, Response};

use super::link::Problem;

/// The path of the page.
pub(super) const PATH: &str = "/p";

/// The page may talk to this relay and to nobody else, and runs nothing but its own script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

/// A file of the page: its path below [`PATH`], its kind, its bytes.
type File = (&'static str, &'static str, &'static [u8]);

include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// Answers a request for the page or one of its files.
pub(super) fn answer(method: &Method, path: &str) -> Result<Response<Body>, Problem> {
    let rest = path.strip_prefix(PATH).ok_or(Problem::NotFound)?;
    let name = match rest {
        "" => "index.html",
        rest => rest.strip_prefix('/').ok_or(Problem::NotFound)?,
    };
    let file = FILES.iter().find(|(path, ..)| *path == name);
    let (_, kind, bytes) = file.ok_or(Problem::NotFound)?;
    if method != Method::GET && method != Method::HEAD {
        return Err(Problem::MethodNotAllowed("GET, HEAD"));
    }
    let mut answer = Response::new(Body::from(*bytes));
    let headers = answer.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, *kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-cache"),
        (PERMISSIONS, "camera=(), microphone=(), geolocation=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(answer)
}
