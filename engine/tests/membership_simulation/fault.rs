//! Faults planted to show that the checker can fail.

use std::collections::BTreeMap;

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{ManifestHash, SignedManifest};

/// What is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The merge timers never fire.
    NobodyMerges,
    /// New members don't send their anchor to anybody.
    NoHello,
    /// Manifests that remove somebody are never sent.
    SilentRemovals,
    /// At the end one device forgets one member.
    ForgottenMember,
}

impl Fault {
    /// Whether this manifest, sent by `from`, is lost.
    pub(crate) fn loses(
        self,
        manifest: &SignedManifest,
        from: &SigningPublic,
        issued: &BTreeMap<ManifestHash, SignedManifest>,
    ) -> bool {
        match self {
            Self::NoHello => manifest.issuer() != from && manifest.lists(from),
            Self::SilentRemovals => {
                let parent = manifest.parent().and_then(|parent| issued.get(&parent));
                parent.is_some_and(|parent| {
                    parent
                        .members()
                        .iter()
                        .any(|m| !manifest.lists(&m.keys.signing))
                })
            }
            Self::None | Self::NobodyMerges | Self::ForgottenMember => false,
        }
    }
}
