//! Nothing identifying reaches the log, at the most verbose level.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::devices::{Home, TestRelay, pair, until};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The longest run of characters that `is_one` of them.
fn longest_run(text: &str, is_one: impl Fn(char) -> bool) -> usize {
    text.split(|character| !is_one(character))
        .map(str::len)
        .max()
        .unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_tells_no_text_name_key_token_or_address() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    // For the whole process: sessions and actors run on threads of their own, and what the
    // other tests of this program log meanwhile is held to the same rule.
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let mut relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("CanaryLaptop"), Home::new("CanaryPhone"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    a.engine
        .rename_group("CanaryLabel".to_owned())
        .await
        .unwrap();
    let id = a.engine.send_text("CanaryText").await.unwrap();
    b.until_received(1).await;
    relay.stop().await;
    let offline =
        |device: &crate::devices::Device| device.engine.connection().code() != "connected";
    until("both lose the relay", || offline(&a) && offline(&b)).await;
    a.engine.send_text("CanaryText").await.unwrap();
    until("the push fails", || a.engine.push_failure().is_some()).await;
    a.engine.close().await;
    b.engine.close().await;

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(
        text.contains("receive session up"),
        "something is logged at all"
    );
    assert!(text.contains("no push session"));
    let (receive, push) = (relay.address().receive_port(), relay.address().push_port());
    let me = a.engine.me();
    let database = home_a.database();
    let planted = [
        "Canary",
        "127.0.0.1",
        &receive.to_string(),
        &push.to_string(),
        me.id.as_str(),
        &id.to_text(),
        "tsp1_",
        "trueseal",
        database.parent().unwrap().to_str().unwrap(),
    ];
    // Times are digits too, and stand in front of every line.
    let lines: Vec<_> = text
        .lines()
        .map(|line| line.split_once(' ').unwrap().1)
        .collect();
    for line in &lines {
        for (place, canary) in planted.iter().enumerate() {
            assert!(!line.contains(canary), "canary {place} in: {line}");
        }
        assert!(
            longest_run(line, |c| c.is_ascii_hexdigit()) < 32,
            "a key in: {line}"
        );
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || "-_+/".contains(c);
        assert!(longest_run(line, is_base64) < 40, "a key in: {line}");
    }
}
