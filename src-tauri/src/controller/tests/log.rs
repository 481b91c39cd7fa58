use std::io;

use tracing_subscriber::fmt::MakeWriter;

use super::*;

/// Everything that is logged while the tests run.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Pairs a phone and lets it write. Returns what the link to it is called, and the key in a
/// code that was taken back.
async fn write_from_phone(pair: &Pair, text: &str) -> (String, String) {
    let (app, group) = (&pair.laptop, &pair.laptop_group);
    let code = app.phone_code().await;
    let (_, secret) = code.split_once("&k=").unwrap();
    let secret = secret.get(..43).unwrap().to_owned();
    app.controller.cancel_phone_pairing().await.unwrap();
    // Or the phone might scan the code that the window shows no more.
    app.until_phones("no code", |phones| phones.pairing.is_none())
        .await;
    let phone = app.pair_phone("canary-moto").await;
    phone.write(group, text).await;
    app.until_messages(group, "the phone's", |messages| messages.len() == 2)
        .await;
    (app.phones().await.phones[0].id.clone(), secret)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_identifies_anybody_is_logged_at_the_most_verbose_level() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(crate::log::filter(crate::options::LogLevel::Trace))
        .with_writer(log.clone())
        .with_ansi(false)
        .finish();
    tracing::subscriber::set_global_default(subscriber).expect("no other test sets one");
    let pair = Pair::new().await;
    let canary = "canary-7c1f";
    pair.laptop.send(&pair.laptop_group, canary).await;
    pair.phone
        .until_messages(&pair.phone_group, "the canary", |messages| {
            messages.len() == 1
        })
        .await;
    pair.laptop
        .controller
        .start_pairing(in_group(&pair.laptop_group))
        .await
        .unwrap();
    let link = pair.laptop.link(&pair.laptop_group).await;
    let (phone_id, secret) = write_from_phone(&pair, canary).await;
    let (address, token) = link.split_once('#').unwrap();
    let key = address
        .split('@')
        .next()
        .unwrap()
        .trim_start_matches("trueseal://");
    let me = pair.laptop.group(&pair.laptop_group).await.me;
    let folder = pair._data.path().to_string_lossy().into_owned();
    let port = pair
        .laptop
        .controller
        .view()
        .await
        .relay
        .receive_port
        .to_string();
    pair.laptop.controller.quit().await;
    pair.phone.controller.quit().await;

    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(
        logged.contains("sealpost_"),
        "something is logged: {logged}"
    );
    let forbidden = [
        canary,
        "canary-moto",
        &phone_id,
        &secret,
        token,
        key,
        &me.id,
        &me.name,
        "Phone",
        "127.0.0",
        &folder,
        &pair.laptop_group,
    ];
    for text in forbidden {
        assert!(!logged.contains(text), "{text} was logged");
    }
    let with_port = [format!(":{port}"), format!("={port}")];
    assert!(
        !with_port.iter().any(|text| logged.contains(text)),
        "the port was logged"
    );
}
