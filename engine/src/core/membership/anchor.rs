//! The anchor: the first manifest that a joining device takes.
//!
//! Spec: TrueSeal 4.5, membership rule 3.5 (1).

use sealpost_protocol::key::{DeviceKeys, SigningPublic};
use sealpost_protocol::manifest::SignedManifest;

/// Whether a pending joiner takes this manifest as its anchor.
///
/// It must be signed and sent by the device whose token was scanned, and list this device
/// under both of its keys. Group and version are free.
#[must_use]
pub fn is_anchor(
    manifest: &SignedManifest,
    author: &SigningPublic,
    me: &DeviceKeys,
    admitter: &SigningPublic,
) -> bool {
    let lists_me = manifest
        .member(&me.signing)
        .is_some_and(|member| member.keys == *me);
    author == admitter && manifest.issuer() == admitter && lists_me
}
