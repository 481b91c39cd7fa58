//! The certificate that `scripts/bench-peers` makes, and clients that trust exactly that one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

/// Where certificate and key are.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

impl Certificate {
    pub(super) fn of(tools: &Path) -> Self {
        Self {
            certificate: tools.join("certificate.pem"),
            key: tools.join("key.pem"),
        }
    }

    /// A client that trusts it.
    pub(super) fn client(&self) -> anyhow::Result<Arc<ClientConfig>> {
        let certificate = CertificateDer::from_pem_file(&self.certificate)
            .context("no certificate; scripts/bench-peers makes it")?;
        let mut roots = RootCertStore::empty();
        roots.add(certificate)?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }
}
