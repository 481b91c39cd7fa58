//! Texts that were written on a phone of a device, as its engine sends them.

use sealpost_engine::core::error::EngineError;

use crate::devices::{Home, TestRelay, pair};

const ID: [u8; 16] = [7; 16];

#[tokio::test(flavor = "multi_thread")]
async fn a_phones_text_is_sent_once_and_names_the_phone_everywhere() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Tower"));
    let a = home_a.start(Some(relay.address())).await;
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    let send = |text: &str| {
        a.engine
            .send_phone_text(ID, "Mo\u{202e}to\n", text.to_owned())
    };
    let first = send("from the sofa").await.unwrap();
    // The program stopped before it had said that the phone's message was handled.
    assert_eq!(send("from the sofa").await, Ok(first));
    a.engine.send_text("from the desk").await.unwrap();
    b.until_received(2).await;
    for device in [&a, &b] {
        let rows = device.engine.messages_before(None, 10).await.unwrap();
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.content.text().unwrap_or(""), row.via.as_deref()))
            .collect();
        assert_eq!(
            told,
            [("from the sofa", Some("Moto")), ("from the desk", None)]
        );
    }
    // And not after a restart either.
    a.engine.close().await;
    let again = home_a.start(Some(relay.address())).await;
    let sent = again
        .engine
        .send_phone_text(ID, "Moto", "from the sofa".to_owned());
    assert_eq!(sent.await, Ok(first));
    assert_eq!(again.engine.outbox_copies().await, Ok(0));
    assert_eq!(again.engine.message_count().await, Ok(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phones_text_is_refused_like_one_of_the_device() {
    let relay = TestRelay::start().await;
    let (home_a, home_b) = (Home::new("Laptop"), Home::new("Tower"));
    let a = home_a.start(Some(relay.address())).await;
    let alone = a.engine.send_phone_text(ID, "Moto", "hello?".to_owned());
    assert!(matches!(alone.await, Err(EngineError::NotMember { .. })));
    let b = home_b.start(Some(relay.address())).await;
    pair(&a, &b).await;
    let max = a.engine.max_payload_bytes();
    // The id and the name take room too.
    let long = a.engine.send_phone_text(ID, "Moto", "x".repeat(max - 24));
    assert_eq!(long.await, Err(EngineError::PayloadTooLarge { max }));
    let fits = a.engine.send_phone_text(ID, "Moto", "x".repeat(max - 28));
    assert!(fits.await.is_ok());
}
