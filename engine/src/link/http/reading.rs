//! What a door answered, as the machine takes it.
//!
//! Owns the names of the headers and the JSON of a page and of a frame. What makes no sense is
//! [`Answer::Unreadable`]: a door that answers so isn't one, or is broken.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use sealpost_protocol::limit::LINK_ENVELOPE_BYTES_MAX;
use serde::Deserialize;

use super::exchange::Reply;
use crate::core::link::{
    Answer, Done, PageEnvelope, Refused, RefusedError, RelayHeaders, WatchEvent,
};

/// The longest envelope in base64.
const DATA_CHARS_MAX: usize = LINK_ENVELOPE_BYTES_MAX.div_ceil(3) * 4;

/// Reads a reply; that to a page has envelopes in it.
pub(super) fn answer(reply: &Reply, is_page: bool) -> Answer {
    if !reply.status.is_success() {
        return Answer::Refused(refused(reply.status, &reply.headers));
    }
    let Some(headers) = relay_headers(&reply.headers) else {
        return Answer::Unreadable;
    };
    let envelopes = if is_page {
        match page(&reply.body) {
            Some(envelopes) => envelopes,
            None => return Answer::Unreadable,
        }
    } else {
        Vec::new()
    };
    Answer::Done(Done {
        is_new: reply.status == StatusCode::CREATED,
        headers,
        envelopes,
    })
}

fn refused(status: StatusCode, headers: &HeaderMap) -> Refused {
    let error = text(headers, "x-relay-error");
    Refused {
        status: status.as_u16(),
        error: RefusedError::parse(error.unwrap_or_default()),
        last: number(headers, "x-relay-last").ok().flatten(),
        retry_after_s: number(headers, "retry-after").ok().flatten(),
    }
}

/// The headers, unless one of them isn't a number.
fn relay_headers(headers: &HeaderMap) -> Option<RelayHeaders> {
    let number = |name| number(headers, name).ok();
    Some(RelayHeaders {
        last: number("x-relay-last")?,
        more: number("x-relay-more")?,
        count: number("x-relay-count")?,
        oldest: number("x-relay-oldest")?,
        created_ms: number("x-relay-created")?,
        expires_s: number("x-relay-expires")?,
    })
}

/// A header that is there and isn't what it should be.
struct NotANumber;

fn number(headers: &HeaderMap, name: &str) -> Result<Option<u64>, NotANumber> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    let text = value.to_str().map_err(|_| NotANumber)?;
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_plain);
    number.map(Some).ok_or(NotANumber)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[derive(Deserialize)]
struct WirePage<'a> {
    #[serde(borrow)]
    envelopes: Vec<WireEnvelope<'a>>,
}

#[derive(Deserialize)]
struct WireEnvelope<'a> {
    seq: u64,
    #[serde(borrow)]
    data: &'a str,
}

fn page(body: &[u8]) -> Option<Vec<PageEnvelope>> {
    let page: WirePage<'_> = serde_json::from_slice(body).ok()?;
    let envelopes = page.envelopes.iter();
    envelopes
        .map(|wire| {
            let is_short = wire.data.len() <= DATA_CHARS_MAX;
            let envelope = is_short.then(|| URL_SAFE_NO_PAD.decode(wire.data).ok())??;
            Some(PageEnvelope {
                sequence: wire.seq,
                envelope,
            })
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum WireFrame {
    State {
        last: Option<u64>,
        #[serde(default)]
        count: u64,
        created: Option<u64>,
    },
    Stored {
        last: u64,
    },
    Pruned,
    #[serde(other)]
    Unknown,
}

/// Reads a frame. One that isn't understood says at least that the door is there.
pub(super) fn frame(text: &str) -> WatchEvent {
    match serde_json::from_str(text) {
        Ok(WireFrame::State {
            last,
            count,
            created,
        }) => WatchEvent::State {
            last,
            count,
            created_ms: created,
        },
        Ok(WireFrame::Stored { last }) => WatchEvent::Stored { last },
        Ok(WireFrame::Pruned) => WatchEvent::Pruned,
        Ok(WireFrame::Unknown) | Err(_) => WatchEvent::Beat,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn reply(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Reply {
        let headers = headers.iter().map(|(name, value)| {
            let value = value.parse().unwrap();
            (hyper::header::HeaderName::from_static(name), value)
        });
        Reply {
            status: StatusCode::from_u16(status).unwrap(),
            headers: headers.collect(),
            body: Bytes::from(body.to_owned()),
        }
    }

    #[test]
    fn a_page_is_read_with_its_headers() {
        let body = r#"{"envelopes":[{"seq":41,"data":"AQAA"},{"seq":44,"data":"","new":1}]}"#;
        let headers = [
            ("x-relay-last", "44"),
            ("x-relay-more", "0"),
            ("x-relay-count", "2"),
            ("x-relay-oldest", "41"),
            ("x-relay-created", "1795000000000"),
            ("x-relay-expires", "1797592000"),
        ];
        let Answer::Done(done) = answer(&reply(200, &headers, body), true) else {
            panic!("it is one");
        };
        assert!(!done.is_new);
        let slots: Vec<_> = done.envelopes.iter().map(|one| one.sequence).collect();
        assert_eq!(slots, [41, 44]);
        assert_eq!(done.envelopes[0].envelope, [1, 0, 0]);
        let expected = RelayHeaders {
            last: Some(44),
            more: Some(0),
            count: Some(2),
            oldest: Some(41),
            created_ms: Some(1_795_000_000_000),
            expires_s: Some(1_797_592_000),
        };
        assert_eq!(done.headers, expected);
    }

    #[test]
    fn what_makes_no_sense_is_unreadable_and_never_half_of_an_answer() {
        for body in [
            "",
            "[]",
            r#"{"envelopes":[{"seq":-1,"data":""}]}"#,
            r#"{"envelopes":[{"seq":1,"data":"AQ=="}]}"#,
            r#"{"envelopes":[{"seq":1,"data":"AQAA"},{"seq":2}]}"#,
        ] {
            assert_eq!(
                answer(&reply(200, &[], body), true),
                Answer::Unreadable,
                "{body}"
            );
        }
        let long = format!(
            r#"{{"envelopes":[{{"seq":1,"data":"{}"}}]}}"#,
            "A".repeat(DATA_CHARS_MAX + 1)
        );
        assert_eq!(answer(&reply(200, &[], &long), true), Answer::Unreadable);
        for wrong in ["", "-1", "+1", "1.5", "x", "99999999999999999999"] {
            let reply = reply(204, &[("x-relay-last", wrong)], "");
            assert_eq!(answer(&reply, false), Answer::Unreadable, "{wrong}");
        }
    }

    #[test]
    fn a_refusal_has_its_status_and_what_the_headers_say() {
        let headers = [
            ("x-relay-error", "claims_closed"),
            ("x-relay-last", "nine"),
            ("retry-after", "30"),
        ];
        let expected = Refused {
            status: 404,
            error: RefusedError::ClaimsClosed,
            last: None,
            retry_after_s: Some(30),
        };
        let found = answer(&reply(404, &headers, "<html>"), false);
        assert_eq!(found, Answer::Refused(expected));
    }

    #[test]
    fn frames_are_read_and_unknown_ones_only_show_that_somebody_is_there() {
        let state = r#"{"type":"state","last":null,"count":0,"created":1795000000000}"#;
        let expected = WatchEvent::State {
            last: None,
            count: 0,
            created_ms: Some(1_795_000_000_000),
        };
        assert_eq!(frame(state), expected);
        let stored = r#"{"type":"stored","last":42,"count":3}"#;
        assert_eq!(frame(stored), WatchEvent::Stored { last: 42 });
        let pruned = r#"{"type":"pruned","count":0}"#;
        assert_eq!(frame(pruned), WatchEvent::Pruned);
        for beat in [r#"{"type":"beat"}"#, r#"{"type":"wave","x":1}"#, "", "{}"] {
            assert_eq!(frame(beat), WatchEvent::Beat, "{beat}");
        }
    }
}
