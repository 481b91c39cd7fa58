//! Nothing identifying reaches the log, at the most verbose level.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::rig::{Pair, TestRelay, send, trouble, until};

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

#[tokio::test(flavor = "multi_thread")]
async fn the_log_tells_no_text_name_mailbox_token_or_address_of_a_link() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    // For the whole process: requests and the links run on threads of their own.
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let mut relay = TestRelay::start().await;
    let pair = Pair::make(&relay).await;
    let mailbox = pair.mailbox();
    send(&pair.a, &pair.on_a, "CanaryText").await;
    pair.received_by_b(1).await;
    pair.a.rename(&pair.on_a, "CanaryName").await.unwrap();
    let url = relay.url();
    relay.stop().await;
    send(&pair.a, &pair.on_a, "CanaryText").await;
    until("A sees that it is away", || {
        trouble(&pair.a, &pair.on_a) == "refused"
    })
    .await;
    pair.a.unpair(&pair.on_a).await.unwrap();
    pair.close().await;

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("store opened"), "something is logged at all");
    let token = mailbox.token.to_text();
    let id = mailbox.mailbox.to_hex();
    let port = url.port().to_string();
    // The begins are enough.
    let (short_id, short_token) = (id.get(..8).unwrap(), token.get(..10).unwrap());
    let folder = pair.homes.0.directory.path().to_str().unwrap();
    let planted = [
        "Canary",
        "127.0.0.1",
        short_id,
        short_token,
        &port,
        pair.on_a.as_str(),
        folder,
    ];
    for line in text.lines() {
        // A time stands in front of every line.
        let line = line.split_once(' ').unwrap().1;
        for (place, canary) in planted.iter().enumerate() {
            assert!(!line.contains(canary), "canary {place} in: {line}");
        }
    }
}
