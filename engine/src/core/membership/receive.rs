//! What becomes of a manifest that arrived, and whom a new member greets.
//!
//! The issuer decides about a manifest, never the Envelope's author; the author only tells
//! that the device that sent it is alive and what it holds.
//! Spec: membership rule, section 3.5.

use std::collections::BTreeSet;

use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{ManifestHash, SignedManifest};

use super::bound::{
    BUFFERED_BY_ADMITTER_MAX, BUFFERED_MANIFESTS_MAX, PARKED_MAX, REMOVED_ISSUER_GRACE_MS,
    VERSION_JUMP_MAX,
};
use super::view::{self, Standing};
use super::{KnownManifest, Membership, MembershipChange};

/// Why a manifest was refused loudly; all others that aren't taken are dropped in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestRefused {
    /// It belongs to another group.
    #[error("the manifest belongs to another group")]
    OtherGroup,
    /// Its version lies too far above the highest accepted one.
    #[error("manifest version {version} lies too far above {accepted}")]
    VersionJump {
        /// The version.
        version: u64,
        /// The highest accepted version.
        accepted: u64,
    },
}

impl Membership {
    /// Takes, parks or drops a manifest. Acknowledge its Envelope in every case.
    ///
    /// # Errors
    ///
    /// If it is worth a delivery issue (`unauthorized`). Nothing has changed then.
    pub fn handle_manifest(
        &mut self,
        author: &SigningPublic,
        manifest: SignedManifest,
        now_ms: u64,
    ) -> Result<(), ManifestRefused> {
        self.check_place(&manifest, self.standing.version)?;
        if self.is_welcome(author, &manifest, now_ms) {
            let hash = manifest.hash();
            let is_news = self.take(author, manifest);
            if is_news {
                self.settle(now_ms);
            } else {
                // Who sent a known manifest can still matter: it may greet, or end a wait.
                let before = self.standing.clone();
                self.greet_newcomers(&before);
                self.follow_merge_need(now_ms);
            }
            self.answer(author, &hash, is_news);
        }
        Ok(())
    }

    /// Checks group and version, the latter against the highest accepted one.
    fn check_place(&self, manifest: &SignedManifest, accepted: u64) -> Result<(), ManifestRefused> {
        if manifest.group_id() != self.group_id() {
            return Err(ManifestRefused::OtherGroup);
        }
        let version = manifest.version();
        if version > accepted.saturating_add(VERSION_JUMP_MAX) {
            return Err(ManifestRefused::VersionJump { version, accepted });
        }
        Ok(())
    }

    fn is_welcome(&self, author: &SigningPublic, manifest: &SignedManifest, now_ms: u64) -> bool {
        if self.known.manifests.contains_key(&manifest.hash()) {
            return true;
        }
        // What this device issued it holds, unless it was folded away or forged with its key.
        let is_mine = *manifest.issuer() == self.me.signing;
        !is_mine && self.is_heard(manifest.issuer(), now_ms) && !self.is_flooding(author, manifest)
    }

    /// Whether the grace of an issuer lasts, or that of whoever brought it in.
    ///
    /// A key without authority has no grace of its own: a removed device could have one puppet
    /// bring in the next, and each of them remove members for another thirty days. One that
    /// nobody is known to have brought in is judged by its manifests alone.
    fn is_heard(&self, issuer: &SigningPublic, now_ms: u64) -> bool {
        if self.is_over(issuer, now_ms) {
            return false;
        }
        let authority = &self.standing.authority;
        let (ended, lasting): (Vec<_>, Vec<_>) =
            authority.iter().partition(|key| self.is_over(key, now_ms));
        authority.contains(issuer)
            || ended.is_empty()
            || self
                .brought_in_by(lasting, |key| !self.is_over(key, now_ms))
                .contains(issuer)
            || !self.brought_in_by(ended, |_| true).contains(issuer)
    }

    /// The keys without authority that these list, that those list, and so on, through keys
    /// that may hand on. Those with authority stand on their own.
    fn brought_in_by(
        &self,
        first: Vec<&SigningPublic>,
        hands_on: impl Fn(&SigningPublic) -> bool,
    ) -> BTreeSet<SigningPublic> {
        let mut listing: BTreeSet<_> = first.into_iter().copied().collect();
        let mut brought = BTreeSet::new();
        loop {
            let before = brought.len();
            for known in self.accepted() {
                // Whoever history lists was brought in by the device that sent it.
                let is_history = known.trusted && listing.contains(self.root.issuer());
                if is_history || listing.contains(known.manifest.issuer()) {
                    let listed = known.manifest.members().iter().map(|m| m.keys.signing);
                    brought.extend(listed.filter(|key| !self.standing.authority.contains(key)));
                }
            }
            if brought.len() == before {
                return brought;
            }
            listing.extend(brought.iter().filter(|key| hands_on(key)));
        }
    }

    fn is_tombed(&self, key: &SigningPublic) -> bool {
        self.known.tombs.contains_key(key)
    }

    /// Whether a key was removed so long ago that nothing by it is taken any more.
    fn is_over(&self, key: &SigningPublic, now_ms: u64) -> bool {
        let tomb = self.known.tombs.get(key);
        tomb.is_some_and(|tomb| now_ms.saturating_sub(tomb.since_ms) > REMOVED_ISSUER_GRACE_MS)
    }

    fn accepted(&self) -> impl Iterator<Item = &KnownManifest> {
        let accepted = self.standing.accepted.iter();
        accepted.filter_map(|hash| self.known.manifests.get(hash))
    }

    /// Whether a device outside the view sends one more manifest that can't be judged.
    ///
    /// One that can be judged is taken from anybody, so that a full table can't keep out the
    /// greeting of a member that this device hasn't heard of.
    fn is_flooding(&self, author: &SigningPublic, manifest: &SignedManifest) -> bool {
        if self.parked() < PARKED_MAX || self.view().contains_key(author) {
            return false;
        }
        let mut trial = self.known.clone();
        trial.apply(&MembershipChange::ManifestStored {
            manifest: manifest.clone(),
            trusted: self.is_history(author, manifest),
        });
        let (standing, _) = view::compute(&trial, &self.me.signing);
        !standing.accepted.contains(&manifest.hash())
    }

    fn parked(&self) -> usize {
        let known = self.known.manifests.len();
        known.saturating_sub(self.standing.accepted.len())
    }

    /// Takes what arrived before the anchor, as if it arrived now.
    pub(super) fn take_buffered(&mut self, buffered: Vec<(SigningPublic, SignedManifest)>) {
        let accepted = self.root.version();
        let most = BUFFERED_MANIFESTS_MAX.saturating_add(BUFFERED_BY_ADMITTER_MAX);
        for (author, manifest) in buffered.into_iter().take(most) {
            let is_mine = *manifest.issuer() == self.me.signing;
            if !is_mine && self.check_place(&manifest, accepted).is_ok() {
                self.take(&author, manifest);
            }
        }
    }

    /// Writes down a manifest and who sent it. Returns whether the manifest itself is news.
    fn take(&mut self, author: &SigningPublic, manifest: SignedManifest) -> bool {
        let hash = manifest.hash();
        let trusted = self.is_history(author, &manifest);
        let known = self.known.manifests.get(&hash);
        let is_news = known.is_none_or(|known| trusted && !known.trusted);
        let letters = self.letters(author, &hash, &manifest);
        if is_news {
            self.record(MembershipChange::ManifestStored { manifest, trusted });
        }
        for letter in letters {
            self.record(letter);
        }
        is_news
    }

    /// Whether it is what came before the anchor: what the admitter sends of that kind, and
    /// whatever the anchor descends from, for that it names itself, whoever sends it.
    ///
    /// An admitter that was removed could have strangers accepted with it, for ever: what it
    /// still sends is judged like anybody's. Authority never rests on history.
    fn is_history(&self, author: &SigningPublic, manifest: &SignedManifest) -> bool {
        let is_earlier = manifest.version() < self.root.version();
        let is_told = author == self.root.issuer() && !self.is_tombed(author);
        is_earlier && (is_told || self.is_ancestor_of_root(manifest))
    }

    fn is_ancestor_of_root(&self, manifest: &SignedManifest) -> bool {
        let hash = manifest.hash();
        self.known.lineage(&self.root.hash()).contains(&hash)
    }

    /// What a manifest tells about the device that sent it: see `hello` and `seen`.
    fn letters(
        &self,
        author: &SigningPublic,
        hash: &ManifestHash,
        manifest: &SignedManifest,
    ) -> Vec<MembershipChange> {
        let mut letters = Vec::new();
        if !manifest.lists(author) || *author == self.me.signing {
            return letters;
        }
        if manifest.issuer() != author && !self.known.hello.contains_key(author) {
            letters.push(MembershipChange::HelloStored {
                key: *author,
                manifest: *hash,
            });
        }
        if manifest.lists(&self.me.signing) && self.known.seen.get(author) != Some(hash) {
            letters.push(MembershipChange::SeenStored {
                key: *author,
                manifest: *hash,
            });
        }
        letters
    }

    /// Sends the own anchor, once, to members that may not know of this device.
    ///
    /// Those are the members that the anchor lists, but for the admitter; later every new
    /// member whose admission didn't list this device, and every member whose own anchor
    /// doesn't. The outbox keeps the order per recipient, so the greeting arrives before any
    /// message.
    pub(super) fn greet_newcomers(&mut self, before: &Standing) {
        if self.root.parent().is_none() || self.is_removed() {
            return;
        }
        let ungreeted = self.view().iter().filter(|(key, _)| {
            **key != self.me.signing
                && *key != self.root.issuer()
                && !self.known.hello_sent.contains(key)
                && (self.is_anchored_without_me(key) || self.is_news_to(key, before))
        });
        let ungreeted: Vec<_> = ungreeted.map(|(_, member)| member.keys).collect();
        for keys in ungreeted {
            self.send(keys, self.root.clone());
            self.record(MembershipChange::HelloSent { key: keys.signing });
        }
    }

    /// Whether a member is new here, and not by a manifest that told it of this device.
    fn is_news_to(&self, key: &SigningPublic, before: &Standing) -> bool {
        let is_new = !before.view.contains_key(key);
        is_new && (self.root.lists(key) || !self.was_admitted_beside_me(key))
    }

    /// Whether a member greeted with an anchor that doesn't list this device.
    fn is_anchored_without_me(&self, key: &SigningPublic) -> bool {
        let hello = self.known.hello.get(key);
        let anchor = hello.and_then(|hash| self.known.manifest(hash));
        anchor.is_some_and(|anchor| !anchor.lists(&self.me.signing))
    }

    /// Whether a known manifest that lists this device added the key.
    fn was_admitted_beside_me(&self, key: &SigningPublic) -> bool {
        self.admissions(key)
            .any(|(_, manifest)| manifest.lists(&self.me.signing))
    }

    /// The accepted manifests that list a key which their parent, known, does not.
    pub(super) fn admissions(
        &self,
        key: &SigningPublic,
    ) -> impl Iterator<Item = (&ManifestHash, &SignedManifest)> {
        let accepted = self.standing.accepted.iter();
        accepted
            .filter_map(|hash| Some((hash, self.known.manifest(hash)?)))
            .filter(|(_, manifest)| manifest.lists(key))
            .filter(|(_, manifest)| match manifest.parent() {
                Some(parent) => self.known.manifest(&parent).is_some_and(|p| !p.lists(key)),
                None => true,
            })
    }
}
