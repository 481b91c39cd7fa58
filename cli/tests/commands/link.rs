//! Links between two command-line clients, on a relay that is a program of its own.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that can't go on has failed"
)]

use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::program::{Ended, Running};

const RELAY: [&str; 7] = [
    "relay",
    "run",
    "--host",
    "127.0.0.1",
    "--receive-port",
    "0",
    "--push-port",
];

/// A relay with a web door, and where that is.
fn relay(folder: &Path, web_port: &str) -> (Running, String) {
    let arguments = [&RELAY[..], &["0", "--web-port", web_port]].concat();
    let mut relay = Running::start(folder, "relay", &arguments);
    let url = relay.wait_for_type("relay_running")["web_url"].clone();
    (relay, url.as_str().unwrap().to_owned())
}

fn init(folder: &Path, profile: &str, name: &str) {
    let init = ["init", "--name", name, "--key-store", "file"];
    assert_eq!(Ended::run(folder, profile, &init).exit, 0);
}

fn answer(running: &mut Running, line: &str) {
    let input = running.child.stdin.as_mut().unwrap();
    input.write_all(line.as_bytes()).unwrap();
    input.flush().unwrap();
}

/// Both sides compare the digits, as two persons would.
fn pair(folder: &Path, relay: &str) {
    let mut new = Running::start(folder, "desk", &["link", "new", "--relay", relay]);
    let code = new.wait_for_type("link_code");
    let url = code["url"].as_str().unwrap();
    assert!(code["seconds"].as_u64().unwrap() > 290);
    let mut join = Running::start(folder, "phone", &["link", "join", url]);
    assert_eq!(join.wait_for_type("link_relay")["name"], "Desk");
    assert_eq!(join.wait_for_type("question")["question"], "relay");
    answer(&mut join, "yes\n");
    let digits = |running: &mut Running| {
        let digits = running.wait_for_type("link_digits")["digits"].clone();
        assert_eq!(running.wait_for_type("question")["question"], "digits");
        digits.as_str().unwrap().to_owned()
    };
    assert_eq!(digits(&mut new), digits(&mut join));
    answer(&mut join, "yes\n");
    answer(&mut new, "yes\n");
    assert_eq!(join.wait_for_type("link_paired")["name"], "Desk");
    assert_eq!(new.wait_for_type("link_paired")["name"], "Phone");
    assert!(new.child.wait().unwrap().success());
    assert!(join.child.wait().unwrap().success());
}

/// The next message that a `tail` prints.
fn next_text(tail: &mut Running) -> String {
    let message = tail.wait_for_type("link_message");
    message["text"].as_str().unwrap().to_owned()
}

fn row(folder: &Path, profile: &str) -> Value {
    let list = Ended::run(folder, profile, &["link", "list"]);
    assert_eq!((list.exit, list.said.len()), (0, 1), "{list:?}");
    list.said[0].clone()
}

#[test]
fn two_clients_pair_talk_lose_a_process_and_a_relay_and_unpair() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    init(folder, "desk", "Desk");
    init(folder, "phone", "Phone");
    let (running, url) = relay(folder, "0");
    pair(folder, &url);

    // The phone's process is killed while messages come.
    let mut desk = Running::start(folder, "desk", &["link", "tail", "--stdin"]);
    let mut phone = Running::start(folder, "phone", &["link", "tail"]);
    let mut seen = Vec::new();
    for number in 0..6 {
        answer(&mut desk, &format!("a {number}\n"));
    }
    seen.push(next_text(&mut phone));
    let unread = phone.kill().into_iter();
    let texts = unread.filter(|object| object["type"] == "link_message");
    seen.extend(texts.map(|message| message["text"].as_str().unwrap().to_owned()));
    for number in 6..12 {
        answer(&mut desk, &format!("a {number}\n"));
    }
    // The relay goes, and comes back on the same port with what it had.
    running.kill();
    answer(&mut desk, "while it was away\n");
    let port = url.rsplit(':').next().unwrap();
    let (_running, again) = relay(folder, port);
    assert_eq!(again, url);
    let mut phone = Running::start(folder, "phone", &["link", "tail"]);
    while seen.last().map(String::as_str) != Some("while it was away") {
        seen.push(next_text(&mut phone));
    }
    // What was printed and not crossed off at the kill is printed once more, and nothing is
    // left out.
    let mut once: Vec<String> = Vec::new();
    for text in seen {
        if !once.contains(&text) {
            once.push(text);
        }
    }
    let mut expected: Vec<_> = (0..12).map(|number| format!("a {number}")).collect();
    expected.push("while it was away".to_owned());
    assert_eq!(once, expected);
    drop(phone);

    let send = ["link", "send", "to the desk", "--wait", "60"];
    let sent = Ended::run(folder, "phone", &send);
    assert_eq!(sent.exit, 0, "{sent:?}");
    assert_eq!(sent.said[1]["type"], "link_received");
    assert_eq!(next_text(&mut desk), "to the desk");

    assert_eq!(row(folder, "phone")["state"], "active");
    let rename = Ended::run(folder, "phone", &["link", "rename", "My desk"]);
    assert_eq!(rename.said[0]["name"], "My desk");
    let unpair = ["link", "unpair", "--link", "My desk", "--yes"];
    let unpaired = Ended::run(folder, "phone", &unpair);
    assert_eq!(unpaired.said[0]["erased"], true, "{unpaired:?}");
    let ended = desk.wait_for_type("link_ended");
    assert_eq!(
        (&ended["reason"], &ended["name"]),
        (&"byPeer".into(), &"Phone".into())
    );
    assert_eq!(desk.child.wait().unwrap().code(), Some(9));
    assert_eq!(row(folder, "desk")["state"], "ended");
    let gone = Ended::run(folder, "desk", &["link", "unpair", "--yes"]);
    assert_eq!(gone.exit, 0, "{gone:?}");
    assert!(
        Ended::run(folder, "desk", &["link", "list"])
            .said
            .is_empty()
    );
}

#[test]
fn what_can_not_be_used_is_refused_with_a_text_and_a_code_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    init(folder, "desk", "Desk");
    let run = |arguments: &[&str]| {
        let arguments = [&["link"], arguments].concat();
        let ended = Ended::run(folder, "desk", &arguments);
        let error = &ended.errors[0];
        for part in ["what", "why", "action"] {
            assert!(error[part].as_str().unwrap().ends_with('.'), "{error}");
        }
        (ended.exit, ended.only_code().to_owned())
    };
    let code = "http://127.0.0.1:1/p#v=1&i=AAAAAAAAAAAAAAAAAAAAAA\
                &k=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA&x=1";
    let (before, _) = code.split_once('#').unwrap();
    let newer = code.replace("v=1", "v=2");
    for (arguments, exit, expected) in [
        (&["join", before, "--yes"][..], 3, "link-code-no-fragment"),
        (&["join", &newer, "--yes"], 3, "link-code-version"),
        (&["join", "hello", "--yes"], 3, "link-code-address"),
        (&["join", code], 4, "not-confirmed"),
        (&["join", code, "--yes"], 8, "relay-refused"),
        (&["new", "--relay", "relay:7703"], 3, "relay-url"),
        (
            &["new", "--relay", "http://127.0.0.1:1"],
            8,
            "relay-refused",
        ),
        (&["send", "hello"], 9, "link-none"),
        (&["tail", "--link", "nobody"], 9, "link-unknown"),
    ] {
        assert_eq!(run(arguments), (exit, expected.to_owned()), "{arguments:?}");
    }
    assert!(
        Ended::run(folder, "desk", &["link", "list"])
            .said
            .is_empty()
    );
}

#[test]
fn digits_that_differ_end_it_on_both_sides_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    init(folder, "desk", "Desk");
    init(folder, "phone", "Phone");
    let (_running, url) = relay(folder, "0");
    let mut new = Running::start(folder, "desk", &["link", "new", "--relay", &url]);
    let code = new.wait_for_type("link_code")["url"].clone();
    let code = code.as_str().unwrap();
    let mut join = Running::start(folder, "phone", &["link", "join", code, "--yes"]);
    new.wait_for_type("question");
    answer(&mut new, "no\n");
    assert_eq!(new.child.wait().unwrap().code(), Some(4));
    assert_eq!(join.child.wait().unwrap().code(), Some(4));
    for profile in ["desk", "phone"] {
        assert!(
            Ended::run(folder, profile, &["link", "list"])
                .said
                .is_empty()
        );
    }
    // The code is worthless now.
    let late = Ended::run(folder, "phone", &["link", "join", code, "--yes"]);
    assert_eq!((late.exit, late.only_code()), (10, "link-code-expired"));
}

#[test]
fn a_relay_that_is_away_keeps_nothing_from_being_queued_or_unpaired() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    init(folder, "desk", "Desk");
    init(folder, "phone", "Phone");
    let (running, url) = relay(folder, "0");
    pair(folder, &url);
    drop(running);
    let sent = Ended::run(folder, "desk", &["link", "send", "later"]);
    assert_eq!((sent.exit, sent.only_code()), (0, "relay-refused"));
    let waits = Ended::run(folder, "desk", &["link", "send", "later", "--wait", "0"]);
    assert_eq!((waits.exit, waits.only_code()), (10, "still-waiting"));
    let outbox = Ended::run(folder, "desk", &["link", "outbox"]);
    let states: Vec<_> = outbox.said.iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["waiting", "waiting"]);
    let unpaired = Ended::run(folder, "phone", &["link", "unpair", "--yes"]);
    assert_eq!(unpaired.said[0]["erased"], false, "{unpaired:?}");
    assert!(
        Ended::run(folder, "phone", &["link", "list"])
            .said
            .is_empty()
    );
}

/// A relay in this process that speaks TLS with a certificate of nobody's.
async fn tls_relay(folder: &Path) -> (sealpost_relay::Relay, String) {
    let files = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../relay/tests/link/certificate"
    );
    let local = || ([127, 0, 0, 1], 0).into();
    let config = sealpost_relay::Config {
        store_path: folder.join("relay.db"),
        listen_receive: local(),
        listen_push: local(),
        listen_health: None,
        web: Some(sealpost_relay::WebConfig {
            tls: Some(sealpost_relay::TlsFiles {
                cert: Path::new(files).join("cert.pem"),
                key: Path::new(files).join("key.pem"),
            }),
            ..sealpost_relay::WebConfig::server(local())
        }),
        ..sealpost_relay::Config::default()
    };
    let key = sealpost_protocol::key::NoiseSecret::generate(&mut rand_core::OsRng);
    let clock = std::sync::Arc::new(sealpost_relay::SystemClock);
    let relay = sealpost_relay::Relay::start(config, key, clock).await;
    let relay = relay.expect("it starts");
    let url = format!("https://127.0.0.1:{}", relay.ports().web.unwrap());
    (relay, url)
}

#[test]
fn over_https_only_a_relay_whose_certificate_is_trusted_is_told_anything() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    init(folder, "desk", "Desk");
    init(folder, "phone", "Phone");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (relay, url) = runtime.block_on(tls_relay(folder));
    let refused = Ended::run(folder, "desk", &["link", "new", "--relay", &url]);
    assert_eq!(
        (refused.exit, refused.only_code()),
        (8, "relay-certificate")
    );
    assert_eq!(relay.numbers().mailboxes, 0);
    let certificate = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../relay/tests/link/certificate/cert.pem"
    );
    let trusting = ("SSL_CERT_FILE", certificate);
    let new = ["link", "new", "--relay", &url, "--yes"];
    let mut new = Running::start_with(folder, "desk", &new, &[trusting]);
    let code = new.wait_for_type("link_code")["url"].clone();
    let join = ["link", "join", code.as_str().unwrap(), "--yes"];
    let mut join = Running::start_with(folder, "phone", &join, &[trusting]);
    join.wait_for_type("link_paired");
    // The watch goes over TLS, too.
    new.wait_for_type("link_paired");
    runtime.block_on(relay.stop());
}
