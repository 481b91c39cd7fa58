//! The numbers for Prometheus, read the way Prometheus reads them.

use std::collections::BTreeMap;

use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::link::key::{LinkToken, MailboxId};
use sealpost_relay::WebConfig;
use tokio::io::AsyncWriteExt;

use crate::client::{Said, Session, device, envelope};
use crate::raw_client::{connect, read_to_end};
use crate::test_relay::{TestRelay, wait_until};

/// A page as a scraper understands it.
struct Page {
    /// Type of each family; each has an explanation too.
    types: BTreeMap<String, String>,
    /// Value by name and labels as they stand in the text.
    samples: BTreeMap<String, f64>,
}

impl Page {
    /// Panics where the text breaks a rule of the format.
    fn parse(text: &str) -> Self {
        let (mut types, mut samples) = (BTreeMap::new(), BTreeMap::new());
        let mut explained = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap();
                assert!(help.ends_with('.'), "{line}");
                explained = name.to_owned();
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert_eq!(name, explained, "the explanation stands before the type");
                let known = types.insert(name.to_owned(), kind.to_owned());
                assert!(known.is_none(), "{name} stands twice");
            } else {
                let (sample, value) = line.rsplit_once(' ').unwrap();
                assert!(
                    sample.starts_with(&explained),
                    "{line} belongs to its family"
                );
                let known = samples.insert(sample.to_owned(), value.parse().unwrap());
                assert!(known.is_none(), "{sample} stands twice");
            }
        }
        Self { types, samples }
    }

    fn value(&self, sample: &str) -> f64 {
        let name = format!("sealpost_relay_{sample}");
        *self
            .samples
            .get(&name)
            .unwrap_or_else(|| panic!("{name} is missing"))
    }
}

async fn ask(relay: &TestRelay, method: &str) -> String {
    let mut stream = connect(relay.relay.ports().health.unwrap()).await;
    let request = format!("{method} /metrics HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    String::from_utf8(read_to_end(&mut stream).await).unwrap()
}

async fn page(relay: &TestRelay) -> Page {
    let answer = ask(relay, "GET").await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let form = "content-type: text/plain; version=0.0.4";
    assert!(head.to_lowercase().contains(form), "{head}");
    Page::parse(body)
}

/// Every family and its type. Whoever changes one breaks somebody's dashboard.
const FAMILIES: [(&str, &str); 31] = [
    ("build_info", "gauge"),
    ("commit_duration_seconds", "histogram"),
    ("commit_failures_total", "counter"),
    ("commit_pushes", "histogram"),
    ("connections_closed_total", "counter"),
    ("connections_open", "gauge"),
    ("connections_total", "counter"),
    ("deliveries_total", "counter"),
    ("delivery_acks_total", "counter"),
    ("expired_blobs_total", "counter"),
    ("mailbox_bytes", "gauge"),
    ("mailbox_envelopes", "gauge"),
    ("mailboxes", "gauge"),
    ("pushes_total", "counter"),
    ("read_failures_total", "counter"),
    ("receive_sessions_open", "gauge"),
    ("sessions_total", "counter"),
    ("start_time_seconds", "gauge"),
    ("store_file_bytes", "gauge"),
    ("stored_blobs", "gauge"),
    ("stored_bytes", "gauge"),
    ("stored_inboxes", "gauge"),
    ("watches_open", "gauge"),
    ("web_answers_total", "counter"),
    ("web_connections_open", "gauge"),
    ("web_connections_total", "counter"),
    ("web_connections_turned_away_total", "counter"),
    ("wormhole_bytes", "gauge"),
    ("wormhole_mailboxes", "gauge"),
    ("wormhole_messages", "gauge"),
    ("wormhole_openings", "gauge"),
];

/// Every value that a label may have, but for the bounds of buckets and the version.
const WORDS: &str = "acked channel_failed closed database disconnected handshake_deadline \
    handshake_failed idle inbox_full internal_error log malformed malformed_frames \
    malformed_record push push_session_deadline rate_limited receive stopping store_failed \
    too_large too_many_connections too_many_sessions unavailable unsupported_version";

#[tokio::test]
async fn names_and_types_stay_and_labels_are_fixed_words() {
    let relay = TestRelay::start().await;
    exchange(&relay).await;
    let page = page(&relay).await;
    let families = FAMILIES.map(|(name, kind)| (format!("sealpost_relay_{name}"), kind.to_owned()));
    assert_eq!(page.types, families.into());
    let document = include_str!("../../../docs/operating.md");
    for (name, _) in FAMILIES {
        assert!(
            document.contains(&format!("`{name}`")),
            "{name} isn't explained"
        );
    }
    for sample in page.samples.keys() {
        let labels = sample.split_once('{').map_or("", |(_, labels)| labels);
        for label in labels
            .trim_end_matches('}')
            .split(',')
            .filter(|one| !one.is_empty())
        {
            let (name, value) = label.split_once('=').unwrap();
            let value = value.trim_matches('"');
            match name {
                "le" => assert!(value == "+Inf" || value.parse::<f64>().is_ok(), "{sample}"),
                "version" => assert_eq!(value, env!("CARGO_PKG_VERSION")),
                "status" => assert!((100..600).contains(&value.parse().unwrap()), "{sample}"),
                _ => assert!(WORDS.split(' ').any(|word| word == value), "{sample}"),
            }
        }
    }
}

/// Two pushes stored, one refused, one delivered and acknowledged.
async fn exchange(relay: &TestRelay) {
    let mut sender = Session::push(relay).await;
    let to = device(1).public();
    assert_eq!(sender.store(to, &envelope(1, 100)).await, Said::Ack);
    assert_eq!(sender.store(to, &envelope(2, 200)).await, Said::Ack);
    let refused = sender.store(to, &envelope(3, 61_905)).await;
    assert_eq!(refused, Said::Error(Refusal::TooLarge));
    sender.say(&Frame::Heartbeat).await.unwrap();
    assert_eq!(
        sender.hear().await.unwrap(),
        Said::Error(Refusal::Malformed)
    );
    drop(sender);
    let mut receiver = Session::receive(relay, &device(1)).await;
    let (first, _) = receiver.hear_blob().await;
    receiver.hear_blob().await;
    receiver.acknowledge(first).await;
    receiver.assert_nothing_waits().await;
    drop(receiver);
    wait_until("both have left", || relay.relay.numbers().connections == 0).await;
}

#[tokio::test]
async fn a_known_history_is_counted_exactly() {
    let relay = TestRelay::start().await;
    exchange(&relay).await;
    let page = page(&relay).await;
    for (sample, expected) in [
        ("pushes_total{result=\"acked\"}", 2.0),
        ("pushes_total{result=\"too_large\"}", 1.0),
        ("pushes_total{result=\"malformed\"}", 1.0),
        ("pushes_total{result=\"inbox_full\"}", 0.0),
        ("sessions_total{kind=\"push\"}", 1.0),
        ("sessions_total{kind=\"receive\"}", 1.0),
        ("connections_total{port=\"push\"}", 1.0),
        ("connections_total{port=\"receive\"}", 1.0),
        ("connections_open{port=\"push\"}", 0.0),
        ("receive_sessions_open", 0.0),
        ("deliveries_total", 2.0),
        ("delivery_acks_total", 1.0),
        ("stored_blobs", 1.0),
        ("stored_bytes", 200.0),
        ("stored_inboxes", 1.0),
        ("commit_pushes_sum", 2.0),
        ("commit_failures_total", 0.0),
        ("read_failures_total", 0.0),
    ] {
        assert_eq!(page.value(sample), expected, "{sample}");
    }
    for port in ["push", "receive"] {
        let of_port = format!("sealpost_relay_connections_closed_total{{port=\"{port}\"");
        let closed = page
            .samples
            .iter()
            .filter(|(name, _)| name.starts_with(&of_port));
        assert_eq!(closed.map(|(_, count)| count).sum::<f64>(), 1.0, "{port}");
    }
    assert!(page.value("commit_duration_seconds_sum") > 0.0);
    assert!(page.value("start_time_seconds") > 1_700_000_000.0);
    assert!(page.value("store_file_bytes{file=\"database\"}") > 0.0);
}

/// A claim, an envelope, one that is refused, and somebody without a token.
#[tokio::test]
async fn the_web_door_is_counted_exactly() {
    let relay = TestRelay::start().await;
    let port = relay
        .relay
        .open_web(WebConfig::server("127.0.0.1:0".parse().unwrap()));
    let port = port.unwrap();
    let token = LinkToken::from_bytes([7; 32]);
    let mailbox = MailboxId::from_bytes([9; 16]);
    let path = format!("/v1/mailboxes/{}", mailbox.to_hex());
    let bearer = format!("Authorization: Bearer {}\r\n", *token.to_text());
    let put = |path: &str, bytes: usize| {
        let body = "x".repeat(bytes);
        format!("PUT {path} HTTP/1.1\r\n{bearer}Content-Length: {bytes}\r\n\r\n{body}")
    };
    for request in [
        put(&path, 0),
        put(&format!("{path}/a2b/1"), 400),
        put(&format!("{path}/a2b/2"), 7),
        format!("GET {path}/a2b HTTP/1.1\r\n\r\n"),
    ] {
        let request = request.replacen("HTTP/1.1\r\n", "HTTP/1.1\r\nConnection: close\r\n", 1);
        let mut stream = connect(port).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        read_to_end(&mut stream).await;
    }
    let direction = sealpost_protocol::link::key::Direction::AToB;
    let watch = relay.relay.mailboxes().watch(&mailbox, &token, direction);
    wait_until("all have left", || {
        relay.relay.numbers().web_connections == 0
    })
    .await;
    let page = page(&relay).await;
    for (sample, expected) in [
        ("web_connections_total", 4.0),
        ("web_connections_open", 0.0),
        ("web_connections_turned_away_total", 0.0),
        ("web_answers_total{status=\"201\"}", 2.0),
        ("web_answers_total{status=\"400\"}", 1.0),
        ("web_answers_total{status=\"401\"}", 1.0),
        ("web_answers_total{status=\"204\"}", 0.0),
        ("mailboxes", 1.0),
        ("mailbox_envelopes", 1.0),
        ("mailbox_bytes", 400.0),
        ("watches_open", 1.0),
    ] {
        assert_eq!(page.value(sample), expected, "{sample}");
    }
    drop(watch);
}

#[tokio::test]
async fn buckets_are_cumulative_and_end_in_the_count() {
    let relay = TestRelay::start().await;
    exchange(&relay).await;
    let page = page(&relay).await;
    for name in ["commit_pushes", "commit_duration_seconds"] {
        let prefix = format!("sealpost_relay_{name}_bucket{{le=\"");
        let mut buckets: Vec<(f64, f64)> = page
            .samples
            .iter()
            .filter_map(|(sample, count)| Some((sample.strip_prefix(&prefix)?, *count)))
            .map(|(rest, count)| (rest.trim_end_matches("\"}").parse().unwrap(), count))
            .collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(
            buckets.len() > 10 && buckets.is_sorted_by(|a, b| a.1 <= b.1),
            "{name}"
        );
        let (bound, count) = *buckets.last().unwrap();
        assert!(bound.is_infinite() && count > 0.0);
        assert_eq!(count, page.value(&format!("{name}_count")));
    }
}

#[tokio::test]
async fn connections_over_the_cap_are_counted() {
    let relay = TestRelay::start_with(|config| config.sessions.connections_max = 1).await;
    let _first = Session::push(&relay).await;
    let mut second = connect(relay.push_port()).await;
    let _ = read_to_end(&mut second).await;
    let page = page(&relay).await;
    let refused = "connections_closed_total{port=\"push\",ending=\"too_many_connections\"}";
    assert_eq!(page.value(refused), 1.0);
    assert_eq!(page.value("connections_total{port=\"push\"}"), 2.0);
    assert_eq!(page.value("connections_open{port=\"push\"}"), 1.0);
}

#[tokio::test]
async fn numbers_can_be_read_and_nothing_else() {
    let relay = TestRelay::start().await;
    let head = ask(&relay, "HEAD").await;
    assert!(
        head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let answer = ask(&relay, method).await;
        assert!(answer.starts_with("HTTP/1.1 405 "), "{method}: {answer}");
    }
}
