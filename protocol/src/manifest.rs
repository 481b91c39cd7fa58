//! The group manifest: the signed list of a group's members.
//!
//! Owns its bytes, its hash, its signature and its shape. Which manifest wins, and who may
//! issue one, is decided elsewhere. Specification section 5.1.
//!
//! Invariants of a [`SignedManifest`]: its signature is its issuer's; it lists 1 to 32
//! members, sorted by signing key, no key twice, every key usable; its version is 1 or higher
//! and fits a database; its names are at most 255 bytes as they came and 64 as they are shown.

use core::fmt;
use std::sync::Arc;

use prost::Message as _;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::key::{DeviceKeys, NoisePublic, SigningPublic, SigningSecret};
use crate::label;
use crate::limit::{
    END_TO_END_VERSION, GROUP_MEMBERS_MAX, HASH_BYTES, KEY_BYTES, MANIFEST_VERSION_MAX,
    NAME_BYTES_MAX, SIGNATURE_BYTES,
};
use crate::name::DeviceName;

/// The longest signing input with names of the usual length, to allocate once.
const SIGNING_INPUT_BYTES_MAX: usize =
    256 + GROUP_MEMBERS_MAX * (2 * KEY_BYTES + 1 + NAME_BYTES_MAX);

/// Implements a 32-byte identifier that prints nothing of itself.
macro_rules! opaque_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; HASH_BYTES]);

        impl $name {
            /// Takes 32 bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; HASH_BYTES]) -> Self {
                Self(bytes)
            }

            /// The 32 bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; HASH_BYTES] {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

opaque_id! {
    /// Identifies a group; 32 random bytes, drawn by the device that created it.
    GroupId
}

opaque_id! {
    /// Identifies a manifest by everything but its signature. On equal versions the lower
    /// hash wins, so the order of this type matters.
    ManifestHash
}

impl GroupId {
    /// Draws the id of a new group.
    #[must_use]
    pub fn generate(rng: &mut (impl rand_core::RngCore + rand_core::CryptoRng)) -> Self {
        let mut id = [0; HASH_BYTES];
        rng.fill_bytes(&mut id);
        Self(id)
    }
}

/// One member of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// Its keys.
    pub keys: DeviceKeys,
    /// Its name, cleaned.
    pub name: DeviceName,
}

/// A manifest before it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    group_id: GroupId,
    version: u64,
    parent: Option<ManifestHash>,
    members: Vec<Member>,
}

impl Manifest {
    /// Makes a manifest; the members may come in any order.
    ///
    /// # Errors
    ///
    /// Version or members break an invariant.
    pub fn new(
        group_id: GroupId,
        version: u64,
        parent: Option<ManifestHash>,
        mut members: Vec<Member>,
    ) -> Result<Self, ManifestError> {
        members.sort_by_key(|member| member.keys.signing);
        let manifest = Self {
            group_id,
            version,
            parent,
            members,
        };
        manifest.check()?;
        Ok(manifest)
    }

    /// Signs the manifest.
    #[must_use]
    pub fn sign(self, issuer: &SigningSecret) -> SignedManifest {
        let names: Vec<Vec<u8>> = self
            .members
            .iter()
            .map(|member| member.name.as_str().as_bytes().to_vec())
            .collect();
        let signer = issuer.signer();
        let issued_by = signer.public();
        let input = self.signing_input(&issued_by, &names);
        SignedManifest(Arc::new(Signed {
            hash: hash(&input),
            signature: signer.sign(&input),
            manifest: self,
            issuer: issued_by,
            wire_names: names,
        }))
    }

    fn check(&self) -> Result<(), ManifestError> {
        if !(1..=MANIFEST_VERSION_MAX).contains(&self.version) {
            return Err(ManifestError::Version {
                version: self.version,
            });
        }
        let count = self.members.len();
        if !(1..=GROUP_MEMBERS_MAX).contains(&count) {
            return Err(ManifestError::MemberCount { members: count });
        }
        if !self
            .members
            .is_sorted_by(|a, b| a.keys.signing < b.keys.signing)
        {
            return Err(ManifestError::Order);
        }
        let mut noise: Vec<_> = self
            .members
            .iter()
            .map(|member| member.keys.noise)
            .collect();
        noise.sort_unstable();
        if !noise.is_sorted_by(|a, b| a < b) {
            return Err(ManifestError::NoiseKeyTwice);
        }
        if noise.iter().any(NoisePublic::is_low_order) {
            return Err(ManifestError::WeakKey);
        }
        Ok(())
    }

    /// What the signature covers; the names as they are on the wire.
    fn signing_input(&self, issued_by: &SigningPublic, names: &[Vec<u8>]) -> Vec<u8> {
        let mut input = Vec::with_capacity(SIGNING_INPUT_BYTES_MAX);
        input.extend_from_slice(label::MANIFEST_SIGNATURE);
        input.extend_from_slice(&END_TO_END_VERSION.to_be_bytes());
        input.extend_from_slice(self.group_id.as_bytes());
        input.extend_from_slice(&self.version.to_be_bytes());
        match &self.parent {
            None => input.push(0),
            Some(parent) => {
                input.push(1);
                input.extend_from_slice(parent.as_bytes());
            }
        }
        input.extend_from_slice(issued_by.as_bytes());
        input.push(byte(self.members.len()));
        for (member, name) in self.members.iter().zip(names) {
            input.extend_from_slice(&member.keys.to_bytes());
            input.push(byte(name.len()));
            input.extend_from_slice(name);
        }
        input
    }
}

/// A manifest whose signature and shape have been checked. Copies share its content.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedManifest(Arc<Signed>);

#[derive(PartialEq, Eq)]
struct Signed {
    manifest: Manifest,
    issuer: SigningPublic,
    signature: [u8; SIGNATURE_BYTES],
    hash: ManifestHash,
    /// The names as they were sent: hash and signature cover these bytes, also where cleaning
    /// changed them. One per member, in the members' order.
    wire_names: Vec<Vec<u8>>,
}

impl SignedManifest {
    /// Reads a manifest and checks shape and signature.
    ///
    /// # Errors
    ///
    /// The bytes aren't a manifest, break an invariant, or weren't signed by the issuer named.
    pub fn decode(bytes: &[u8]) -> Result<Self, ManifestError> {
        let wire = WireManifest::decode(bytes).map_err(|_| ManifestError::Protobuf)?;
        let issuer = SigningPublic::from_bytes(exact(&wire.issued_by)?);
        let signature = exact(&wire.signature)?;
        let mut members = Vec::with_capacity(wire.members.len().min(GROUP_MEMBERS_MAX));
        let mut wire_names = Vec::with_capacity(members.capacity());
        for member in wire.members {
            members.push(member.read()?);
            wire_names.push(member.name);
        }
        let manifest = Manifest {
            group_id: GroupId(exact(&wire.group_id)?),
            version: wire.version,
            parent: wire
                .parent
                .as_deref()
                .map(exact)
                .transpose()?
                .map(ManifestHash),
            members,
        };
        manifest.check()?;
        let input = manifest.signing_input(&issuer, &wire_names);
        if !issuer.is_signed(&input, &signature) {
            return Err(ManifestError::Signature);
        }
        Ok(Self(Arc::new(Signed {
            hash: hash(&input),
            manifest,
            issuer,
            signature,
            wire_names,
        })))
    }

    /// The manifest as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let members = self.0.manifest.members.iter().zip(&self.0.wire_names);
        WireManifest {
            group_id: self.group_id().as_bytes().to_vec(),
            version: self.version(),
            members: members
                .map(|(member, name)| WireMember::new(&member.keys, name))
                .collect(),
            issued_by: self.0.issuer.as_bytes().to_vec(),
            signature: self.0.signature.to_vec(),
            parent: self.parent().map(|parent| parent.as_bytes().to_vec()),
        }
        .encode_to_vec()
    }

    /// The manifest's hash.
    #[must_use]
    pub fn hash(&self) -> ManifestHash {
        self.0.hash
    }

    /// Who signed it.
    #[must_use]
    pub fn issuer(&self) -> &SigningPublic {
        &self.0.issuer
    }

    /// The group.
    #[must_use]
    pub fn group_id(&self) -> GroupId {
        self.0.manifest.group_id
    }

    /// The version: one higher than the manifest it was made from.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.0.manifest.version
    }

    /// The manifest it was made from; none for a group's first.
    #[must_use]
    pub fn parent(&self) -> Option<ManifestHash> {
        self.0.manifest.parent
    }

    /// The members, sorted by signing key.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.0.manifest.members
    }

    /// Whether the holder of this signing key is a member.
    #[must_use]
    pub fn lists(&self, signing: &SigningPublic) -> bool {
        self.member(signing).is_some()
    }

    /// The member with this signing key.
    #[must_use]
    pub fn member(&self, signing: &SigningPublic) -> Option<&Member> {
        let members = self.members();
        let at = members
            .binary_search_by_key(signing, |member| member.keys.signing)
            .ok()?;
        members.get(at)
    }
}

impl fmt::Debug for SignedManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedManifest")
            .field("version", &self.version())
            .field("members", &self.members().len())
            .finish_non_exhaustive()
    }
}

/// Why something isn't a manifest.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ManifestError {
    /// Not protobuf.
    #[error("a manifest isn't valid protobuf")]
    Protobuf,
    /// A key, hash, id or signature has another length.
    #[error("a manifest field has {bytes} bytes, not {expected}")]
    FieldLength {
        /// The bytes that the field has.
        bytes: usize,
        /// The bytes that it must have.
        expected: usize,
    },
    /// A version that can't occur.
    #[error("manifest version {version} can't occur")]
    Version {
        /// The version.
        version: u64,
    },
    /// No member, or too many.
    #[error("a manifest lists {members} members")]
    MemberCount {
        /// The members listed.
        members: usize,
    },
    /// The members aren't sorted by signing key, or one signing key is there twice.
    #[error("the members of a manifest are out of order")]
    Order,
    /// One noise key is there twice.
    #[error("a manifest lists a noise key twice")]
    NoiseKeyTwice,
    /// One of the keys gives no security.
    #[error("a manifest lists an unusable key")]
    WeakKey,
    /// A name is too long for its length byte.
    #[error("a manifest carries a name of {bytes} bytes")]
    NameLength {
        /// The bytes of the name.
        bytes: usize,
    },
    /// The signature isn't the issuer's.
    #[error("a manifest isn't signed by its issuer")]
    Signature,
}

#[derive(Clone, PartialEq, prost::Message)]
struct WireManifest {
    #[prost(bytes = "vec", tag = "1")]
    group_id: Vec<u8>,
    #[prost(uint64, tag = "2")]
    version: u64,
    #[prost(message, repeated, tag = "3")]
    members: Vec<WireMember>,
    #[prost(bytes = "vec", tag = "4")]
    issued_by: Vec<u8>,
    #[prost(bytes = "vec", tag = "5")]
    signature: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "6")]
    parent: Option<Vec<u8>>,
}

/// The name is bytes here and text in the specification: the same on the wire, and a name that
/// isn't UTF-8 is replaced like any other that can't be shown.
#[derive(Clone, PartialEq, prost::Message)]
struct WireMember {
    #[prost(bytes = "vec", tag = "1")]
    noise_pub: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    signing_pub: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    name: Vec<u8>,
}

impl WireMember {
    fn new(keys: &DeviceKeys, name: &[u8]) -> Self {
        Self {
            noise_pub: keys.noise.as_bytes().to_vec(),
            signing_pub: keys.signing.as_bytes().to_vec(),
            name: name.to_vec(),
        }
    }

    fn read(&self) -> Result<Member, ManifestError> {
        if self.name.len() > usize::from(u8::MAX) {
            return Err(ManifestError::NameLength {
                bytes: self.name.len(),
            });
        }
        let keys = DeviceKeys {
            noise: NoisePublic::from_bytes(exact(&self.noise_pub)?),
            signing: SigningPublic::from_bytes(exact(&self.signing_pub)?),
        };
        let name = core::str::from_utf8(&self.name).unwrap_or_default();
        Ok(Member {
            keys,
            name: DeviceName::clean(name, &keys.signing),
        })
    }
}

fn exact<const N: usize>(bytes: &[u8]) -> Result<[u8; N], ManifestError> {
    bytes.try_into().map_err(|_| ManifestError::FieldLength {
        bytes: bytes.len(),
        expected: N,
    })
}

fn hash(signing_input: &[u8]) -> ManifestHash {
    let hash = Sha256::new()
        .chain_update(label::MANIFEST_HASH)
        .chain_update(signing_input);
    ManifestHash(hash.finalize().into())
}

/// A count that is known to fit one byte.
fn byte(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests;
