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

/// Whether the two files can be used, without opening a port.
///
/// # Errors
///
/// Tells which of them can't, and why.
pub fn check_certificate(files: &TlsFiles) -> Result<(), CertificateError> {
    read(files).map(drop)
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

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: [&str; 2] = [
        include_str!("../../../tests/link/certificate/cert.pem"),
        include_str!("../../../tests/link/certificate/key.pem"),
    ];
    const SECOND: [&str; 2] = [
        include_str!("../../../tests/link/certificate/renewed_cert.pem"),
        include_str!("../../../tests/link/certificate/renewed_key.pem"),
    ];

    /// Writes both files, at a moment that no earlier ones have.
    fn write(files: &TlsFiles, texts: [&str; 2], second: u64) {
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + second);
        for (path, text) in [(&files.cert, texts[0]), (&files.key, texts[1])] {
            fs::write(path, text).unwrap();
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(moment).unwrap();
        }
    }

    #[test]
    fn a_renewed_certificate_is_taken_and_half_of_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let files = TlsFiles {
            cert: folder.path().join("cert.pem"),
            key: folder.path().join("key.pem"),
        };
        write(&files, FIRST, 0);
        assert_eq!(check_certificate(&files), Ok(()));
        let tls = Tls::open(files.clone()).unwrap();
        let in_use = || Arc::as_ptr(tls.acceptor().config());
        let first = in_use();
        tls.renew();
        assert_eq!(in_use(), first, "nothing has changed");
        write(&files, [SECOND[0], FIRST[1]], 60);
        tls.renew();
        assert_eq!(in_use(), first, "halfway through a renewal");
        assert_eq!(check_certificate(&files), Err(CertificateError::NoPair));
        write(&files, SECOND, 120);
        tls.renew();
        assert_ne!(in_use(), first);
        fs::remove_file(&files.key).unwrap();
        let second = in_use();
        tls.renew();
        assert_eq!(in_use(), second);
    }
}
