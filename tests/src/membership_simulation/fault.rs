//! Faults planted around the machine to show that the checker can fail.
//!
//! The machine itself has no switch: what it is told, what it says and when it is asked is
//! changed on the way, so that it does what a machine with that fault would. Each stands for
//! one kind of failure, and but for one of them the world still comes to rest.

use sealpost_protocol::key::{SigningPublic, SigningSecret};
use sealpost_protocol::manifest::{Manifest, ManifestHash, Member, SignedManifest};

use super::device::Phase;
use super::machine::Machine;
use super::world::World;

/// What is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// The merge timers never fire: a fork.
    NobodyMerges,
    /// A removal reaches the others without the parent that makes it one: no end.
    NoRemovalEdges,
    /// One device hears of no removal, and never merges: an undone removal.
    DeafToRemovals,
    /// One device hears of no leave, and never merges: a ghost.
    DeafToLeaves,
    /// One device wipes although nobody removed it: a wrong wipe.
    UnaskedWipe,
    /// One joiner never gets its anchor, and nobody but its admitter hears of it: a lost
    /// admission.
    AnchorLost,
    /// Nobody but its admitter hears of one joiner, which lives: it is unlisted.
    AdmissionUnheard,
    /// What a removed device signs counts as if a member had signed it: a puppet.
    RemovedIssuersCount,
    /// Manifests that remove somebody are never sent: undone removals.
    SilentRemovals,
    /// At the end one device forgets one member: a fork.
    ForgottenMember,
}

/// The device that is deaf.
const DEAF: usize = 0;

/// The device that wipes unasked, and the manifests that it takes in before.
const WIPING: (usize, usize) = (1, 4);

impl Fault {
    /// Whether the timers of a device fire.
    pub(crate) const fn has_timer(self, device: usize) -> bool {
        match self {
            Self::NobodyMerges => false,
            Self::DeafToRemovals | Self::DeafToLeaves => device != DEAF,
            _ => true,
        }
    }

    /// Whether a device wipes now, which took in so many manifests.
    pub(crate) const fn wipes(self, device: usize, received: usize) -> bool {
        matches!(self, Self::UnaskedWipe) && device == WIPING.0 && received >= WIPING.1
    }
}

impl<M: Machine> World<M> {
    /// What arrives of a manifest that is sent.
    pub(crate) fn distorted(&self, to: usize, manifest: SignedManifest) -> Option<SignedManifest> {
        match self.weather.fault {
            Fault::SilentRemovals if self.gone_with(&manifest).next().is_some() => None,
            Fault::NoRemovalEdges if self.gone_with(&manifest).next().is_some() => {
                self.without_parent(&manifest)
            }
            Fault::DeafToRemovals if to == DEAF => self.without_going(manifest, false),
            Fault::DeafToLeaves if to == DEAF => self.without_going(manifest, true),
            Fault::AnchorLost => self.without_joiner(to, manifest, true),
            Fault::AdmissionUnheard => self.without_joiner(to, manifest, false),
            _ => Some(manifest),
        }
    }

    /// Whom a manifest's parent lists and the manifest doesn't.
    fn gone_with<'a>(
        &'a self,
        manifest: &'a SignedManifest,
    ) -> impl Iterator<Item = SigningPublic> + 'a {
        let parent = manifest.parent().and_then(|hash| self.issued.get(&hash));
        let listed = parent.into_iter().flat_map(SignedManifest::members);
        let keys = listed.map(|member| member.keys.signing);
        keys.filter(|key| !manifest.lists(key))
    }

    /// Nothing of those that left, or of those that others removed.
    fn without_going(&self, manifest: SignedManifest, leavers: bool) -> Option<SignedManifest> {
        let is_leaver = |key: &SigningPublic| {
            let device = self.index_of(key).map(|at| &self.devices[at]);
            let has_left = device.is_some_and(|device| matches!(device.phase, Phase::Left));
            key == manifest.issuer() || has_left
        };
        let mut gone = self.gone_with(&manifest);
        if !gone.any(|key| is_leaver(&key) == leavers) {
            drop(gone);
            return Some(manifest);
        }
        manifest.lists(manifest.issuer()).then_some(())?;
        self.without_parent(&manifest)
    }

    /// Nothing of the first joiner, but for itself and its admitter.
    fn without_joiner(
        &self,
        to: usize,
        manifest: SignedManifest,
        is_anchor_lost: bool,
    ) -> Option<SignedManifest> {
        let joiner = self.devices.iter().position(|device| !device.is_founder);
        let Some(joiner) = joiner else {
            return Some(manifest);
        };
        let device = &self.devices[joiner];
        if to == joiner {
            return (!is_anchor_lost).then_some(manifest);
        }
        if self.admitter_of(joiner) == Some(to) || !manifest.lists(&device.key()) {
            return Some(manifest);
        }
        let members = manifest.members().iter();
        let others = members.filter(|member| member.keys.signing != device.key());
        let secret = self.secret_of(manifest.issuer())?;
        let is_its_own = *manifest.issuer() == device.key();
        (!is_its_own).then(|| {
            let others = others.cloned().collect();
            signed_with(&manifest, manifest.parent(), others, secret)
        })
    }

    fn without_parent(&self, manifest: &SignedManifest) -> Option<SignedManifest> {
        let secret = self.secret_of(manifest.issuer())?;
        let members = manifest.members().to_vec();
        Some(signed_with(manifest, None, members, secret))
    }

    /// The fault in which removed issuers count: a member signs for them.
    pub(crate) fn lend_authority(&self, to: usize, manifest: SignedManifest) -> SignedManifest {
        let is_planted = self.weather.fault == Fault::RemovedIssuersCount;
        let machine = self.devices[to].machine();
        let Some(machine) =
            machine.filter(|machine| is_planted && machine.knows_removed(manifest.issuer()))
        else {
            return manifest;
        };
        let me = self.devices[to].key();
        let mut others = machine.view().keys().filter(|key| **key != me);
        let secret = others.find_map(|key| self.secret_of(key));
        let members = manifest.members().to_vec();
        secret.map_or(manifest.clone(), |secret| {
            signed_with(&manifest, manifest.parent(), members, secret)
        })
    }

    fn secret_of(&self, key: &SigningPublic) -> Option<&'static SigningSecret> {
        Some(self.devices[self.index_of(key)?].secret())
    }
}

/// The same version with another parent, other members, or by another hand.
fn signed_with(
    manifest: &SignedManifest,
    parent: Option<ManifestHash>,
    members: Vec<Member>,
    secret: &SigningSecret,
) -> SignedManifest {
    let anew = Manifest::new(manifest.group_id(), manifest.version(), parent, members);
    anew.expect("it was valid").sign(secret)
}
