//! The anchor: the first manifest that a joining device takes, and what it keeps until then.
//!
//! Spec: TrueSeal 4.5, membership rule 3.5 (1).

use sealpost_protocol::key::{DeviceKeys, SigningPublic};
use sealpost_protocol::manifest::SignedManifest;

use super::bound::{BUFFERED_BY_ADMITTER_MAX, BUFFERED_MANIFESTS_MAX, BUFFERED_PER_AUTHOR_MAX};

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

/// Whether a pending joiner keeps one more manifest for when its anchor arrives. `kept` are the
/// Envelope authors of those it keeps.
///
/// Until then it knows nobody but its admitter, whose manifests have room of their own. Of all
/// others each has the same little room, so that one that sends without end, a device that was
/// removed, doesn't crowd out what the members send.
#[must_use]
pub fn has_room_before_anchor<'a>(
    kept: impl Iterator<Item = &'a SigningPublic>,
    author: &SigningPublic,
    admitter: &SigningPublic,
) -> bool {
    let (mut by_author, mut by_others) = (0_usize, 0_usize);
    for kept in kept {
        by_author = by_author.saturating_add(usize::from(kept == author));
        by_others = by_others.saturating_add(usize::from(kept != admitter));
    }
    if author == admitter {
        by_author < BUFFERED_BY_ADMITTER_MAX
    } else {
        by_author < BUFFERED_PER_AUTHOR_MAX && by_others < BUFFERED_MANIFESTS_MAX
    }
}
