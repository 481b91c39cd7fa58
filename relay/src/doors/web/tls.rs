//! TLS with the operator's certificate.
//!
//! Owns: reading the two files, and reading them again when they change: certificates are
//! renewed while a relay runs. Never does: say anything of their content.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::config::TlsFiles;

/// How often the files are looked at.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_secs(60);

/// Why a certificate can't be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CertificateError {
    /// The file of the chain can't be read.
    #[error("the file of web.tls_cert can't be read ({0})")]
    CertUnreadable(io::ErrorKind),
    /// It has no certificate.
    #[error("the file of web.tls_cert has no certificate in PEM")]
    NoCert,
    /// The file of the key can't be read.
    #[error("the file of web.tls_key can't be read ({0})")]
    KeyUnreadable(io::ErrorKind),
    /// It has no key.
    #[error("the file of web.tls_key has no private key in PEM")]
    NoKey,
    /// The two don't belong together, or are of a kind that isn't known.
    #[error("the key of web.tls_key doesn't belong to the certificate of web.tls_cert")]
    NoPair,
}

type Moments = [Option<SystemTime>; 2];

/// The certificate in use.
pub(super) struct Tls {
    files: TlsFiles,
    current: Mutex<(Arc<ServerConfig>, Moments)>,
}

impl Tls {
    /// Reads the files.
    pub(super) fn open(files: TlsFiles) -> Result<Self, CertificateError> {
        let moments = moments(&files);
        let current = Mutex::new((Arc::new(read(&files)?), moments));
        Ok(Self { files, current })
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&current.0))
    }

    /// Reads the files again if they have changed; goes on with what it has if they are of no
    /// use, such as halfway through a renewal.
    pub(super) fn renew(&self) {
        let moments = moments(&self.files);
        let known = {
            let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            current.1
        };
        if moments == known {
            return;
        }
        match read(&self.files) {
            Ok(config) => {
                let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
                *current = (Arc::new(config), moments);
                tracing::info!("the certificate of the web port was renewed");
            }
            Err(error) => tracing::warn!(%error, "the certificate of the web port stays as it is"),
        }
    }
}

fn moments(files: &TlsFiles) -> Moments {
    let moment = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    [moment(&files.cert), moment(&files.key)]
}

fn read(files: &TlsFiles) -> Result<ServerConfig, CertificateError> {
    let chain = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| match error {
            pem::Error::Io(error) => CertificateError::CertUnreadable(error.kind()),
            _ => CertificateError::NoCert,
        })?;
    if chain.is_empty() {
        return Err(CertificateError::NoCert);
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| match error {
        pem::Error::Io(error) => CertificateError::KeyUnreadable(error.kind()),
        _ => CertificateError::NoKey,
    })?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| CertificateError::NoPair)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|_| CertificateError::NoPair)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
