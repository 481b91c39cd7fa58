//! From the address of a web door to bytes that go to and fro.
//!
//! Owns TLS: the certificates that the system trusts, so that an operator's own authority
//! counts once it is installed there. Never goes on with a certificate that isn't trusted.

use std::sync::{Arc, OnceLock};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::super::relay_url::RelayUrl;
use super::super::transport::LinkFailure;
use super::timing::CONNECT_MAX;
pub(crate) use super::timing::{GOODBYE_MAX, REQUEST_MAX as OPENING_MAX};
use crate::session::dial::{Way, dial};
use crate::session::timing::Timing;

/// Something that bytes can be read from and written to.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection to a web door.
pub(crate) struct Line {
    pub(crate) stream: Box<dyn Stream>,
    pub(crate) way: Option<Way>,
}

/// Connects within the time that the specification gives.
pub(crate) async fn open(url: &RelayUrl) -> Result<Line, LinkFailure> {
    timeout(CONNECT_MAX, connect(url))
        .await
        .unwrap_or(Err(LinkFailure::NoAnswer))
}

async fn connect(url: &RelayUrl) -> Result<Line, LinkFailure> {
    let timing = Timing {
        dial: CONNECT_MAX,
        ..Timing::default()
    };
    let socket = dial(&timing, url.host(), url.port()).await?;
    let way = Way::of(&socket);
    if !url.is_tls() {
        let stream = Box::new(socket);
        return Ok(Line { stream, way });
    }
    let name =
        ServerName::try_from(url.host().to_owned()).map_err(|_| LinkFailure::NameNotFound)?;
    let connector = TlsConnector::from(trust()?);
    let secured = connector.connect(name, socket).await;
    let stream = Box::new(secured.map_err(|error| tls_failure(&error))?);
    Ok(Line { stream, way })
}

/// What is trusted, read once.
fn trust() -> Result<Arc<ClientConfig>, LinkFailure> {
    static TRUST: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(trust) = TRUST.get() {
        return Ok(Arc::clone(trust));
    }
    let mut roots = RootCertStore::empty();
    // What can't be read of the system's own list is not trusted; the rest is.
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    tracing::debug!(added, "certificates that the system trusts");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| LinkFailure::Certificate)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(TRUST.get_or_init(|| Arc::new(config))))
}

/// Tells a certificate that isn't trusted from a connection that broke.
fn tls_failure(error: &std::io::Error) -> LinkFailure {
    use tokio_rustls::rustls::Error;
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    match cause {
        Some(Error::InvalidCertificate(_) | Error::NoCertificatesPresented) => {
            LinkFailure::Certificate
        }
        Some(_) => LinkFailure::SomethingElse,
        None => LinkFailure::Lost,
    }
}
