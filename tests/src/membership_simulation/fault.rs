//! Faults planted around the machine to show that the checker can fail.
//!
//! The machine itself has no switch: what it is told, what it says and when it is asked is
//! changed on the way, so that it does what a machine with that fault would.

use std::collections::BTreeMap;

use sealpost_protocol::key::{SigningPublic, SigningSecret};
use sealpost_protocol::manifest::{Manifest, ManifestHash, SignedManifest};

/// What is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// The merge timers never fire.
    NobodyMerges,
    /// A removal reaches the others without the parent that makes it one.
    NoRemovalEdges,
    /// What a removed device signs counts as if a member had signed it.
    RemovedIssuersCount,
    /// Manifests that remove somebody are never sent.
    SilentRemovals,
    /// At the end one device forgets one member.
    ForgottenMember,
}

impl Fault {
    /// What arrives of a manifest that is sent.
    pub(crate) fn distort(
        self,
        manifest: SignedManifest,
        issued: &BTreeMap<ManifestHash, SignedManifest>,
        secret_of: impl Fn(&SigningPublic) -> Option<&'static SigningSecret>,
    ) -> Option<SignedManifest> {
        match self {
            Self::SilentRemovals if removes(&manifest, issued) => None,
            Self::NoRemovalEdges if removes(&manifest, issued) => {
                let secret = secret_of(manifest.issuer())?;
                Some(signed_anew(&manifest, None, secret))
            }
            _ => Some(manifest),
        }
    }
}

/// The same members and version on another parent, by another hand.
pub(crate) fn signed_anew(
    manifest: &SignedManifest,
    parent: Option<ManifestHash>,
    secret: &SigningSecret,
) -> SignedManifest {
    let members = manifest.members().to_vec();
    let anew = Manifest::new(manifest.group_id(), manifest.version(), parent, members);
    anew.expect("it was valid").sign(secret)
}

fn removes(manifest: &SignedManifest, issued: &BTreeMap<ManifestHash, SignedManifest>) -> bool {
    let parent = manifest.parent().and_then(|parent| issued.get(&parent));
    let listed = parent.into_iter().flat_map(SignedManifest::members);
    let mut gone = listed.filter(|member| !manifest.lists(&member.keys.signing));
    gone.next().is_some()
}
