//! From a scanned code to a link (specification section 8, amendment 18).

pub mod step;

pub use step::{
    PairingEffect, PairingFailure, PairingMailbox, PairingPhase, PairingStep, PairingView,
};
