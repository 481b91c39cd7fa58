//! The published rule, beside which the product's is measured; the product doesn't use it.
//!
//! Sections 5.3, 5.4 and 5.6 of the specification as printed, without the fixes of 5.5: the
//! greatest manifest by a member of the current one is the current one; a change is kept until
//! a manifest states it or descends from one that stated it, and is issued again on every
//! other. Everything is durable, and nothing takes time.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use sealpost_protocol::key::{DeviceKeys, SigningPublic, SigningSecret};
use sealpost_protocol::limit::GROUP_MEMBERS_MAX;
use sealpost_protocol::manifest::{Manifest, ManifestHash, Member, SignedManifest};

use super::machine::{Machine, Outcome, View};

/// The version of an accepted manifest lies at most so far above the current one's.
const VERSION_JUMP_MAX: u64 = 10_000;

/// One device under the published rule.
pub(crate) struct Published {
    me: DeviceKeys,
    current: SignedManifest,
    view: View,
    /// Manifests that were current, and those issued here: what is known of ancestry.
    held: BTreeMap<ManifestHash, SignedManifest>,
    pending: Vec<PendingChange>,
    outcomes: Vec<Outcome>,
}

/// A change made here that isn't known to stand.
struct PendingChange {
    intent: Intent,
    /// The manifests that carried it.
    carriers: Vec<ManifestHash>,
}

enum Intent {
    Admit(Member),
    Remove(SigningPublic),
}

impl Intent {
    fn is_stated(&self, manifest: &SignedManifest) -> bool {
        match self {
            Self::Admit(member) => manifest.lists(&member.keys.signing),
            Self::Remove(key) => !manifest.lists(key),
        }
    }

    fn apply(&self, members: &mut View) {
        match self {
            Self::Admit(member) => {
                members.insert(member.keys.signing, member.clone());
            }
            Self::Remove(key) => {
                members.remove(key);
            }
        }
    }
}

impl Published {
    fn is_accepted(&self, manifest: &SignedManifest) -> bool {
        let rank = |manifest: &SignedManifest| (manifest.version(), Reverse(manifest.hash()));
        let current = &self.current;
        manifest.group_id() == current.group_id()
            && current.lists(manifest.issuer())
            && rank(manifest) > rank(current)
            && manifest.version() <= current.version().saturating_add(VERSION_JUMP_MAX)
    }

    fn make_current(&mut self, manifest: SignedManifest) {
        let members = manifest.members().iter();
        self.view = members.map(|m| (m.keys.signing, m.clone())).collect();
        self.held.insert(manifest.hash(), manifest.clone());
        self.current = manifest;
    }

    /// Whether a manifest descends from one that carried a change; unknown ancestry doesn't.
    fn descends(&self, manifest: &SignedManifest, carriers: &[ManifestHash]) -> bool {
        let mut next = Some(manifest.hash());
        while let Some(hash) = next {
            if carriers.contains(&hash) {
                return true;
            }
            next = self.held.get(&hash).and_then(SignedManifest::parent);
        }
        false
    }

    /// Issues a manifest on the current one; sends it to everybody in either.
    fn issue(&mut self, members: View, secret: &SigningSecret) -> Option<ManifestHash> {
        let version = self.current.version().checked_add(1)?;
        let listed = self.view.values().chain(members.values());
        let recipients: BTreeMap<_, _> = listed.map(|m| (m.keys.signing, m.keys)).collect();
        let members = members.into_values().collect();
        let parent = Some(self.current.hash());
        let manifest = Manifest::new(self.current.group_id(), version, parent, members).ok()?;
        let manifest = manifest.sign(secret);
        let others = recipients.into_values();
        for to in others.filter(|keys| *keys != self.me) {
            let manifest = manifest.clone();
            self.outcomes.push(Outcome::Send { to, manifest });
        }
        let hash = manifest.hash();
        self.make_current(manifest);
        Some(hash)
    }

    fn change(&mut self, intent: Intent, secret: &SigningSecret) -> bool {
        let mut members = self.view.clone();
        if members.remove(&self.me.signing).is_none() {
            return false;
        }
        members.clone_from(&self.view);
        intent.apply(&mut members);
        let Some(carrier) = self.issue(members, secret) else {
            return false;
        };
        let carriers = vec![carrier];
        self.pending.push(PendingChange { intent, carriers });
        true
    }

    /// Clears the changes that the current manifest settles, and issues the others again.
    fn follow_pending(&mut self, secret: &SigningSecret) {
        if !self.view.contains_key(&self.me.signing) {
            self.pending.clear();
            return;
        }
        let current = self.current.clone();
        let pending = std::mem::take(&mut self.pending);
        let mut unsettled: Vec<_> = pending
            .into_iter()
            .filter(|change| {
                let is_stated = change.intent.is_stated(&current);
                !is_stated && !self.descends(&current, &change.carriers)
            })
            .collect();
        let mut members = self.view.clone();
        unsettled.retain(|change| {
            let is_admission = matches!(change.intent, Intent::Admit(_));
            let fits = !is_admission || members.len() < GROUP_MEMBERS_MAX;
            if fits {
                change.intent.apply(&mut members);
            }
            fits
        });
        if unsettled.is_empty() {
            return;
        }
        let carrier = self.issue(members, secret);
        for change in &mut unsettled {
            change.carriers.extend(carrier);
        }
        self.pending = unsettled;
    }
}

impl Machine for Published {
    fn has_room<'a>(
        _: impl Iterator<Item = &'a SigningPublic>,
        _: &SigningPublic,
        _: &SigningPublic,
    ) -> bool {
        false
    }

    fn anchored(
        me: DeviceKeys,
        anchor: SignedManifest,
        _: Vec<(SigningPublic, SignedManifest)>,
        _: u64,
    ) -> Self {
        let mut device = Self {
            me,
            current: anchor.clone(),
            view: View::new(),
            held: BTreeMap::new(),
            pending: Vec::new(),
            outcomes: Vec::new(),
        };
        device.make_current(anchor);
        device
    }

    fn take(
        &mut self,
        _: &SigningPublic,
        manifest: &SignedManifest,
        secret: &SigningSecret,
        _: u64,
    ) {
        if !self.is_accepted(manifest) {
            return;
        }
        let parent = manifest.parent().and_then(|hash| self.held.get(&hash));
        let was_listed = parent.is_some_and(|parent| parent.lists(&self.me.signing));
        if was_listed && !manifest.lists(&self.me.signing) {
            self.outcomes.push(Outcome::Removed);
            return;
        }
        self.make_current(manifest.clone());
        self.follow_pending(secret);
    }

    fn admit(&mut self, newcomer: &Member, secret: &SigningSecret, _: u64) -> bool {
        let is_full = self.view.len() >= GROUP_MEMBERS_MAX;
        !is_full && self.change(Intent::Admit(newcomer.clone()), secret)
    }

    fn remove(&mut self, key: &SigningPublic, secret: &SigningSecret, _: u64) -> bool {
        self.view.contains_key(key) && self.change(Intent::Remove(*key), secret)
    }

    fn leave(&mut self, secret: &SigningSecret, _: u64) -> bool {
        let mut members = self.view.clone();
        let was_listed = members.remove(&self.me.signing).is_some();
        if was_listed && !members.is_empty() {
            self.issue(members, secret);
        }
        was_listed
    }

    fn tick(&mut self, _: u64, _: bool, _: &SigningSecret, _: &mut ChaCha8Rng) {}

    fn due_ms(&self) -> Option<u64> {
        None
    }

    fn view(&self) -> &View {
        &self.view
    }

    fn current(&self) -> &SignedManifest {
        &self.current
    }

    fn held(&self) -> Vec<SignedManifest> {
        self.held.values().cloned().collect()
    }

    fn knows_removed(&self, key: &SigningPublic) -> bool {
        !self.view.contains_key(key)
    }

    fn has_folded(&self) -> bool {
        false
    }

    fn commit(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.outcomes)
    }

    fn crash(&mut self, _: u64) {}
}
