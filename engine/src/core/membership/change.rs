//! What the membership machine gives out: durable changes and effects.
//!
//! A [`MembershipChange`] is one row to write; the rows add up to a
//! [`MembershipSnapshot`](super::MembershipSnapshot), from which the machine is restored.
//! A [`MembershipEffect`] is something to do or to tell once these rows are durable.

use sealpost_protocol::key::{DeviceKeys, SigningPublic};
use sealpost_protocol::manifest::{ManifestHash, Member, SignedManifest};
use sealpost_protocol::name::DeviceName;

/// One durable change; all changes of a step are committed in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembershipChange {
    /// The first manifest held, once per group.
    RootSet {
        /// Its hash; the manifest itself is stored by [`Self::ManifestStored`].
        hash: ManifestHash,
    },
    /// Inserts a known manifest, or marks a known one as trusted.
    ManifestStored {
        /// The manifest.
        manifest: SignedManifest,
        /// True for history received from the admitter.
        trusted: bool,
    },
    /// Deletes a known manifest.
    ManifestDeleted {
        /// Its hash.
        hash: ManifestHash,
    },
    /// Adds a removal to a key's tomb. Tombs are never deleted.
    RemovalStored {
        /// The removed key.
        key: SigningPublic,
        /// The manifest that removed it.
        removal: ManifestHash,
        /// When this device first saw the key removed, Unix ms.
        since_ms: u64,
    },
    /// Sets the first manifest that a device sent and that admitted it.
    HelloStored {
        /// The device.
        key: SigningPublic,
        /// The manifest.
        manifest: ManifestHash,
    },
    /// Deletes a hello whose manifest is gone.
    HelloDeleted {
        /// The device.
        key: SigningPublic,
    },
    /// Sets the last manifest from a device that lists it and this device.
    SeenStored {
        /// The device.
        key: SigningPublic,
        /// The manifest.
        manifest: ManifestHash,
    },
    /// Deletes a seen entry whose manifest is gone.
    SeenDeleted {
        /// The device.
        key: SigningPublic,
    },
    /// A key was found in limbo.
    LimboStarted {
        /// The key.
        key: SigningPublic,
        /// When, Unix ms.
        since_ms: u64,
    },
    /// A key is no longer in limbo.
    LimboEnded {
        /// The key.
        key: SigningPublic,
    },
    /// Inserts or replaces a member folded in by a compaction.
    BaseMemberStored {
        /// The member.
        member: Member,
    },
    /// This key was greeted, asked or answered.
    HelloSent {
        /// The key.
        key: SigningPublic,
    },
    /// A manifest held lists this key, so it may revoke the group.
    KeyHeld {
        /// The key.
        key: SigningPublic,
    },
}

/// Something to do, or to tell, after the step's changes are durable.
///
/// The order is the order to act in; for one recipient it is the order on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembershipEffect {
    /// Queue this manifest for that device.
    Send {
        /// The recipient.
        to: DeviceKeys,
        /// What to send.
        manifest: SignedManifest,
    },
    /// The members or their records changed.
    ViewChanged,
    /// A key entered the view. For the membership history.
    MemberAdded {
        /// Who.
        member: Member,
        /// By whom; nothing where this device can't know it.
        by: Option<Attribution>,
        /// When this device saw it, Unix ms.
        seen_ms: u64,
    },
    /// A key left the view. For the membership history.
    MemberRemoved {
        /// Who.
        member: Member,
        /// By whom; nothing where no manifest removed it and its admission became void.
        by: Option<Attribution>,
        /// When this device saw it, Unix ms.
        seen_ms: u64,
    },
    /// Somebody removed this device: push the queued manifests, then wipe. Once.
    Removed,
    /// An admission issued here gave way.
    AdmissionDropped {
        /// The name of the device that was admitted.
        name: DeviceName,
        /// Why.
        reason: AdmissionDropReason,
    },
}

/// Who changed the membership, and with which manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    /// The issuer.
    pub issuer: SigningPublic,
    /// The issuer's name, where a known manifest lists it.
    pub name: Option<DeviceName>,
    /// The version of the manifest.
    pub version: u64,
}

/// Why an admission gave way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionDropReason {
    /// Admissions at the same time exceeded the 32 members of a group.
    GroupFull,
}
