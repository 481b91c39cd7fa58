//! HTTPS with the operator's certificate, and a renewed one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sealpost_relay::{CertificateError, StartError, TlsFiles, WebConfig};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::client::Request;
use crate::door::{Door, MAILBOX, TOKEN, at, config};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/link/certificate")
        .join(name)
}

fn files() -> TlsFiles {
    TlsFiles {
        cert: file("cert.pem"),
        key: file("key.pem"),
    }
}

async fn connect(port: u16) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(file("cert.pem")).unwrap();
    roots.add(certificate).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let name = ServerName::try_from("relay.test").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

#[tokio::test]
async fn the_door_speaks_tls_with_the_operators_certificate() {
    let door = Door::open_with(|web| web.tls = Some(files())).await;
    let mut stream = connect(door.port).await.unwrap();
    let info = Request::new("GET", "/v1/info").send_on(&mut stream).await;
    assert_eq!(info.said(), (200, ""));
    let again = Request::new("GET", "/v1/info").send_on(&mut stream).await;
    assert_eq!(again.status, 200);
}

/// A watch behind TLS is one, too.
#[tokio::test]
async fn a_watch_goes_through_tls() {
    use futures_util::StreamExt as _;
    use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
    let door = Door::open_with(|web| web.tls = Some(files())).await;
    let mut stream = connect(door.port).await.unwrap();
    assert_eq!(at(&[]).put().send_on(&mut stream).await.status, 201);
    let url = format!("wss://relay.test/v1/mailboxes/{MAILBOX}/a2b/watch");
    let mut request = url.into_client_request().unwrap();
    let bearer = format!("Bearer {TOKEN}").parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    let stream = connect(door.port).await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async(request, stream)
        .await
        .unwrap();
    let frame = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(frame.contains(r#""type":"state""#), "{frame}");
}

/// Whoever doesn't speak TLS, or says nothing, is let go.
#[tokio::test]
async fn a_handshake_that_does_not_come_is_not_waited_for() {
    let door = Door::open_with(|web| {
        web.tls = Some(files());
        web.limits.header_read = Duration::from_millis(50);
    })
    .await;
    for said in ["", "GET /v1/info HTTP/1.1\r\n\r\n"] {
        let mut stream = TcpStream::connect(("127.0.0.1", door.port)).await.unwrap();
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, said.as_bytes()).await;
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut Vec::new()).await;
    }
}

#[tokio::test]
async fn a_certificate_that_is_of_no_use_is_told_and_opens_nothing() {
    let door = Door::open().await;
    door.relay.close_web().await;
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    fs::write(&empty, b"").unwrap();
    let other = folder.path().join("other.pem");
    // A key that belongs to no certificate here, in the same form.
    fs::write(&other, OTHER_KEY).unwrap();
    let missing = folder.path().join("missing.pem");
    let not_found = std::io::ErrorKind::NotFound;
    for (cert, key, expected) in [
        (
            &missing,
            &file("key.pem"),
            CertificateError::CertUnreadable(not_found),
        ),
        (
            &file("cert.pem"),
            &missing,
            CertificateError::KeyUnreadable(not_found),
        ),
        (&empty, &file("key.pem"), CertificateError::NoCert),
        (&file("cert.pem"), &empty, CertificateError::NoKey),
        (
            &file("cert.pem"),
            &file("cert.pem"),
            CertificateError::NoKey,
        ),
        (&file("cert.pem"), &other, CertificateError::NoPair),
    ] {
        let tls = Some(TlsFiles {
            cert: cert.clone(),
            key: key.clone(),
        });
        let opened = door.relay.open_web(WebConfig { tls, ..config() });
        assert_eq!(opened, Err(StartError::Certificate(expected)));
    }
    assert_eq!(door.relay.ports().web, None);
}

const OTHER_KEY: &str = include_str!("certificate/other_key.pem");
