//! Why a relay doesn't start.

use std::io;

use crate::config::ConfigError;
use crate::doors::web::CertificateError;
use crate::listener::Port;
use crate::store::StoreOpenError;

/// See the module. Names ports and reasons, never a path or an address.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum StartError {
    /// A setting is out of its range.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// Another program has the port.
    #[error("the {port} port {number} is in use by another program")]
    PortInUse {
        /// Which of the relay's ports.
        port: Port,
        /// Its number.
        number: u16,
    },
    /// The port is reserved for others.
    #[error("this user may not open the {port} port {number}")]
    PortForbidden {
        /// Which of the relay's ports.
        port: Port,
        /// Its number.
        number: u16,
    },
    /// The address to listen on isn't this machine's.
    #[error("the address of the {port} port doesn't belong to this machine")]
    AddressUnavailable {
        /// Which of the relay's ports.
        port: Port,
    },
    /// Anything else about a port.
    #[error("the {port} port can't be opened ({kind})")]
    Listen {
        /// Which of the relay's ports.
        port: Port,
        /// What the system says.
        kind: io::ErrorKind,
    },
    /// The certificate of the web port can't be used.
    #[error("{0}")]
    Certificate(#[from] CertificateError),
    /// The web port is open already.
    #[error("the web port is open already")]
    WebOpen,
    /// The store can't be opened.
    #[error("{0}")]
    Store(#[from] StoreOpenError),
}
