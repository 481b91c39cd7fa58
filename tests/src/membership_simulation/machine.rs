//! What a simulated device asks of its membership rule, and the product's own answer.
//!
//! [`Product`] is a thin shell around the engine's machine, as the device is in the product:
//! it commits what the machine drains and restores it from what was committed. It decides
//! nothing.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use sealpost_engine::core::membership::{
    Leave, Membership, MembershipEffect, MembershipSnapshot, has_room_before_anchor,
};
use sealpost_protocol::key::{DeviceKeys, SigningPublic, SigningSecret};
use sealpost_protocol::manifest::{Member, SignedManifest};

/// The members as a device sees them.
pub(crate) type View = BTreeMap<SigningPublic, Member>;

/// What a machine wants done once its changes are durable.
pub(crate) enum Outcome {
    /// Send a manifest.
    Send {
        to: DeviceKeys,
        manifest: SignedManifest,
    },
    /// This device was removed.
    Removed,
}

/// A membership rule, as one device follows it.
pub(crate) trait Machine: Sized {
    /// Whether a joiner keeps one more manifest until its anchor arrives.
    fn has_room<'a>(
        kept: impl Iterator<Item = &'a SigningPublic>,
        author: &SigningPublic,
        admitter: &SigningPublic,
    ) -> bool;
    fn anchored(
        me: DeviceKeys,
        anchor: SignedManifest,
        buffered: Vec<(SigningPublic, SignedManifest)>,
        now_ms: u64,
    ) -> Self;
    fn take(
        &mut self,
        author: &SigningPublic,
        manifest: &SignedManifest,
        secret: &SigningSecret,
        now_ms: u64,
    );
    fn admit(&mut self, newcomer: &Member, secret: &SigningSecret, now_ms: u64) -> bool;
    fn remove(&mut self, key: &SigningPublic, secret: &SigningSecret, now_ms: u64) -> bool;
    fn leave(&mut self, secret: &SigningSecret, now_ms: u64) -> bool;
    fn tick(&mut self, now_ms: u64, online: bool, secret: &SigningSecret, rng: &mut ChaCha8Rng);
    /// When it wants to be told the time.
    fn due_ms(&self) -> Option<u64>;
    fn view(&self) -> &View;
    fn current(&self) -> &SignedManifest;
    /// Every manifest it holds.
    fn held(&self) -> Vec<SignedManifest>;
    /// Whom it holds for neither members nor removed.
    fn limbo(&self) -> Vec<SigningPublic> {
        Vec::new()
    }
    /// Whether it knows that this key was removed.
    fn knows_removed(&self, key: &SigningPublic) -> bool;
    /// Whether it has folded old manifests away.
    fn has_folded(&self) -> bool;
    /// Makes durable what changed; hands out what is to be done.
    fn commit(&mut self) -> Vec<Outcome>;
    /// Loses everything that isn't durable.
    fn crash(&mut self, now_ms: u64);
}

/// The product's machine with the rows that survive a crash.
pub(crate) struct Product {
    me: DeviceKeys,
    machine: Membership,
    rows: MembershipSnapshot,
}

impl Machine for Product {
    fn has_room<'a>(
        kept: impl Iterator<Item = &'a SigningPublic>,
        author: &SigningPublic,
        admitter: &SigningPublic,
    ) -> bool {
        has_room_before_anchor(kept, author, admitter)
    }

    fn anchored(
        me: DeviceKeys,
        anchor: SignedManifest,
        buffered: Vec<(SigningPublic, SignedManifest)>,
        now_ms: u64,
    ) -> Self {
        Self {
            me,
            machine: Membership::anchored(me, anchor, buffered, now_ms),
            rows: MembershipSnapshot::default(),
        }
    }

    /// What is refused changes nothing; strangers and rogues send that.
    fn take(
        &mut self,
        author: &SigningPublic,
        manifest: &SignedManifest,
        _: &SigningSecret,
        now_ms: u64,
    ) {
        let _ = self
            .machine
            .handle_manifest(author, manifest.clone(), now_ms);
    }

    fn admit(&mut self, newcomer: &Member, secret: &SigningSecret, now_ms: u64) -> bool {
        let Member { keys, name } = newcomer;
        self.machine
            .issue_admission(keys, name, secret, now_ms)
            .is_ok()
    }

    fn remove(&mut self, key: &SigningPublic, secret: &SigningSecret, now_ms: u64) -> bool {
        self.machine.issue_removal(key, secret, now_ms).is_ok()
    }

    fn leave(&mut self, secret: &SigningSecret, now_ms: u64) -> bool {
        let left = self.machine.issue_leave(secret, now_ms);
        matches!(left, Ok(Leave::Issued | Leave::Alone))
    }

    fn tick(&mut self, now_ms: u64, online: bool, secret: &SigningSecret, rng: &mut ChaCha8Rng) {
        self.machine.handle_timer(now_ms, online, secret, rng);
    }

    fn due_ms(&self) -> Option<u64> {
        self.machine.next_timer()
    }

    fn view(&self) -> &View {
        self.machine.view()
    }

    fn current(&self) -> &SignedManifest {
        self.machine.current()
    }

    fn held(&self) -> Vec<SignedManifest> {
        let known = self.machine.snapshot().manifests.values();
        known.map(|known| known.manifest.clone()).collect()
    }

    fn limbo(&self) -> Vec<SigningPublic> {
        self.machine.limbo().iter().copied().collect()
    }

    fn knows_removed(&self, key: &SigningPublic) -> bool {
        self.machine.snapshot().tombs.contains_key(key)
    }

    fn has_folded(&self) -> bool {
        !self.machine.snapshot().base.is_empty()
    }

    fn commit(&mut self) -> Vec<Outcome> {
        let (changes, effects) = self.machine.drain();
        for change in &changes {
            self.rows.apply(change);
        }
        let outcomes = effects.into_iter().filter_map(|effect| match effect {
            MembershipEffect::Send { to, manifest } => Some(Outcome::Send { to, manifest }),
            MembershipEffect::Removed => Some(Outcome::Removed),
            _ => None,
        });
        outcomes.collect()
    }

    fn crash(&mut self, now_ms: u64) {
        assert_eq!(
            *self.machine.snapshot(),
            self.rows,
            "the rows are the machine"
        );
        let restored = Membership::restore(self.me, self.rows.clone(), now_ms).expect("a root");
        assert_eq!(restored.view(), self.machine.view(), "the same members");
        assert_eq!(
            restored.current(),
            self.machine.current(),
            "the same current manifest"
        );
        self.machine = restored;
    }
}
