//! What is kept in a key store: its name and its bytes.
//!
//! One item per group holds the key of that group's database and up to two identities, each
//! with an id (amendment 11); the database names the identity in use. One item holds the
//! key of the relay inside the app, and one the key of the database with the links. Every item
//! names the profile that it belongs to and carries a check, so that a damaged item and one of
//! another profile are told apart.
//!
//! Layout: `"SPK"` · format `u8` · kind `u8` · profile id `[16]` · payload · check `[8]`.
//! The payload of a group is database key `[32]` · marker of the last run `[16]`, zero if there
//! was none (not in format 1) · count `u8` · (id `[16]` · noise secret
//! `[32]` · signing seed `[32]`) per identity; that of a relay is its secret `[32]`, that of the
//! links their database key `[32]`.

use std::fmt;

use rand_core::{CryptoRng, RngCore};
use sealpost_protocol::key::{DeviceSecrets, NoiseSecret, SigningSecret};
use zeroize::Zeroizing;

use super::KeyStoreError;
use super::layout::{CHECK_BYTES, check, checked, take};
use crate::core::run_marker::RunMarker;
use crate::namespace::Namespace;
use crate::profile::ProfileId;

const MAGIC: &[u8; 3] = b"SPK";
const FORMAT: u8 = 2;
/// The first format whose items of groups name the last run.
const FORMAT_WITH_RUN: u8 = 2;
const KIND_GROUP: u8 = 1;
const KIND_RELAY: u8 = 2;
const KIND_LINKS: u8 = 3;
const CHECK_LABEL: &[u8] = b"sealpost key item check v1";

/// Two during a change of identity, one otherwise.
const IDENTITIES_MAX: usize = 2;

/// The name of a key item. It is built from random ids only.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyItemName(String);

impl KeyItemName {
    /// The item of the group in `namespace`.
    #[must_use]
    pub fn group(profile: &ProfileId, namespace: &Namespace) -> Self {
        Self(format!(
            "{}/group/{}",
            profile.to_text(),
            namespace.as_str()
        ))
    }

    /// The item of the relay inside the app.
    #[must_use]
    pub fn relay(profile: &ProfileId) -> Self {
        Self(format!("{}/relay", profile.to_text()))
    }

    /// The item of the links to phones and other paired devices.
    #[must_use]
    pub fn links(profile: &ProfileId) -> Self {
        Self(format!("{}/links", profile.to_text()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeyItemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyItemName")
    }
}

/// The secret bytes of one item, erased from memory when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyItem(Zeroizing<Vec<u8>>);

impl KeyItem {
    /// Takes over what a key store returned.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Packs the key of a relay.
    #[must_use]
    pub fn from_relay_key(profile: &ProfileId, key: &NoiseSecret) -> Self {
        Self::seal(KIND_RELAY, profile, key.as_bytes())
    }

    /// Unpacks the key of a relay.
    ///
    /// # Errors
    ///
    /// [`KeyStoreError::Damaged`], [`KeyStoreError::OtherProfile`] or
    /// [`KeyStoreError::TooNew`].
    pub fn relay_key(&self, profile: &ProfileId) -> Result<NoiseSecret, KeyStoreError> {
        let key = self.only_key(KIND_RELAY, profile)?;
        Ok(NoiseSecret::from_bytes(*key))
    }

    /// Packs the key of the database with the links.
    #[must_use]
    pub fn from_links_key(profile: &ProfileId, key: &[u8; 32]) -> Self {
        Self::seal(KIND_LINKS, profile, key)
    }

    /// Unpacks the key of the database with the links.
    ///
    /// # Errors
    ///
    /// As for [`Self::relay_key`].
    pub fn links_key(&self, profile: &ProfileId) -> Result<Zeroizing<[u8; 32]>, KeyStoreError> {
        self.only_key(KIND_LINKS, profile)
    }

    /// The payload of an item that holds nothing but one key.
    fn only_key(
        &self,
        kind: u8,
        profile: &ProfileId,
    ) -> Result<Zeroizing<[u8; 32]>, KeyStoreError> {
        let (_, mut payload) = self.payload(kind, profile)?;
        let key = Zeroizing::new(*take::<32>(&mut payload)?);
        if payload.is_empty() {
            Ok(key)
        } else {
            Err(KeyStoreError::Damaged)
        }
    }

    /// The bytes to hand to a key store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn seal(kind: u8, profile: &ProfileId, payload: &[u8]) -> Self {
        // The exact capacity, so that growing never leaves a copy of a key behind.
        let capacity = MAGIC.len() + 2 + 16 + payload.len() + CHECK_BYTES;
        let mut bytes = Zeroizing::new(Vec::with_capacity(capacity));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[FORMAT, kind]);
        bytes.extend_from_slice(profile.as_bytes());
        bytes.extend_from_slice(payload);
        let check = check(CHECK_LABEL, &bytes);
        bytes.extend_from_slice(&check);
        Self(bytes)
    }

    /// The format and the payload, once shape, check, kind and profile are found right, in this order.
    fn payload(&self, kind: u8, profile: &ProfileId) -> Result<(u8, &[u8]), KeyStoreError> {
        let body = checked(CHECK_LABEL, &self.0)?;
        let mut body = body.strip_prefix(MAGIC).ok_or(KeyStoreError::Damaged)?;
        let [format, found] = *take::<2>(&mut body)?;
        if format == 0 || format > FORMAT {
            return Err(KeyStoreError::TooNew);
        }
        if found != kind {
            return Err(KeyStoreError::Damaged);
        }
        if take::<16>(&mut body)? != profile.as_bytes() {
            return Err(KeyStoreError::OtherProfile);
        }
        Ok((format, body))
    }
}

impl fmt::Debug for KeyItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyItem")
    }
}

/// Names one identity of a group, so that its database can say which one is in use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct IdentityId([u8; 16]);

impl IdentityId {
    /// Draws a fresh id.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut id = [0; 16];
        rng.fill_bytes(&mut id);
        Self(id)
    }

    /// The id that was stored as `bytes`.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The id as bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for IdentityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdentityId")
    }
}

/// The private keys of one device in one group, with the id the database knows them by.
pub struct Identity {
    /// Which one this is.
    pub id: IdentityId,
    /// The keys themselves.
    pub secrets: DeviceSecrets,
}

impl Identity {
    /// Makes a fresh identity.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        Self {
            id: IdentityId::generate(rng),
            secrets: DeviceSecrets::generate(rng),
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

/// Everything secret that one group needs at its start.
///
/// Invariant: one or two identities, with distinct ids.
pub struct GroupKeys {
    database_key: Zeroizing<[u8; 32]>,
    last_run: Option<RunMarker>,
    identities: Vec<Identity>,
}

impl GroupKeys {
    /// Makes the keys of a new group: a database key and one identity.
    #[must_use]
    pub fn generate(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let mut database_key = Zeroizing::new([0; 32]);
        rng.fill_bytes(database_key.as_mut());
        Self {
            database_key,
            last_run: None,
            identities: vec![Identity::generate(rng)],
        }
    }

    /// Unpacks the item of a group.
    ///
    /// # Errors
    ///
    /// [`KeyStoreError::Damaged`], [`KeyStoreError::OtherProfile`] or
    /// [`KeyStoreError::TooNew`].
    pub fn decode(item: &KeyItem, profile: &ProfileId) -> Result<Self, KeyStoreError> {
        let (format, mut payload) = item.payload(KIND_GROUP, profile)?;
        let database_key = Zeroizing::new(*take::<32>(&mut payload)?);
        let last_run = if format >= FORMAT_WITH_RUN {
            Some(*take::<16>(&mut payload)?).filter(|marker| *marker != [0; 16])
        } else {
            None
        };
        let [count] = *take::<1>(&mut payload)?;
        let mut identities: Vec<Identity> = Vec::with_capacity(IDENTITIES_MAX);
        for _ in 0..count {
            let identity = take_identity(&mut payload)?;
            if identities.iter().any(|known| known.id == identity.id) {
                return Err(KeyStoreError::Damaged);
            }
            identities.push(identity);
        }
        let whole = payload.is_empty() && (1..=IDENTITIES_MAX).contains(&identities.len());
        if whole {
            Ok(Self {
                database_key,
                last_run: last_run.map(RunMarker::from_bytes),
                identities,
            })
        } else {
            Err(KeyStoreError::Damaged)
        }
    }

    /// Packs the keys for the key store of `profile`.
    #[must_use]
    pub fn encode(&self, profile: &ProfileId) -> KeyItem {
        let mut payload = Zeroizing::new(Vec::with_capacity(49 + self.identities.len() * 80));
        payload.extend_from_slice(self.database_key.as_ref());
        let last_run = self.last_run.map_or([0; 16], |run| *run.as_bytes());
        payload.extend_from_slice(&last_run);
        payload.push(u8::try_from(self.identities.len()).unwrap_or(u8::MAX));
        for identity in &self.identities {
            payload.extend_from_slice(identity.id.as_bytes());
            payload.extend_from_slice(identity.secrets.noise.as_bytes());
            payload.extend_from_slice(identity.secrets.signing.as_bytes());
        }
        KeyItem::seal(KIND_GROUP, profile, &payload)
    }

    /// The raw key of the group's database.
    #[must_use]
    pub fn database_key(&self) -> &[u8; 32] {
        &self.database_key
    }

    /// The marker of the last run on these keys, whichever store it was on.
    #[must_use]
    pub(crate) const fn last_run(&self) -> Option<RunMarker> {
        self.last_run
    }

    /// Notes a run.
    pub(crate) const fn set_last_run(&mut self, run: RunMarker) {
        self.last_run = Some(run);
    }

    /// Forgets the last run: what the store knew of it is gone.
    pub(crate) const fn forget_last_run(&mut self) {
        self.last_run = None;
    }

    /// The identities held, oldest first.
    #[must_use]
    pub fn identities(&self) -> &[Identity] {
        &self.identities
    }

    /// The identity that a store is made with: the only one, or the older one.
    #[must_use]
    pub(crate) fn first_identity(&self) -> Option<&Identity> {
        self.identities.first()
    }

    /// The identity called `id`.
    #[must_use]
    pub fn identity(&self, id: &IdentityId) -> Option<&Identity> {
        self.identities.iter().find(|identity| identity.id == *id)
    }

    /// Adds an identity beside the one in use and names it: the first of the three steps of
    /// a change. With two held already, the one that isn't `in_use` makes room.
    pub fn add_identity(
        &mut self,
        in_use: &IdentityId,
        secrets: DeviceSecrets,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> IdentityId {
        self.keep_only(in_use);
        let id = IdentityId::generate(rng);
        self.identities.push(Identity { id, secrets });
        id
    }

    /// Drops every identity but `in_use`: the last step of a change. Says whether any went.
    pub fn keep_only(&mut self, in_use: &IdentityId) -> bool {
        let before = self.identities.len();
        self.identities.retain(|identity| identity.id == *in_use);
        self.identities.len() != before
    }
}

impl fmt::Debug for GroupKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GroupKeys")
    }
}

fn take_identity(payload: &mut &[u8]) -> Result<Identity, KeyStoreError> {
    let id = IdentityId(*take::<16>(payload)?);
    let noise = NoiseSecret::from_bytes(*take::<32>(payload)?);
    let signing = SigningSecret::from_bytes(*take::<32>(payload)?);
    Ok(Identity {
        id,
        secrets: DeviceSecrets { noise, signing },
    })
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;

    fn rng() -> ChaCha20Rng {
        ChaCha20Rng::seed_from_u64(3)
    }

    fn add_identity(keys: &mut GroupKeys, id: &IdentityId, rng: &mut ChaCha20Rng) -> IdentityId {
        let secrets = DeviceSecrets::generate(rng);
        keys.add_identity(id, secrets, rng)
    }

    #[test]
    fn group_keys_survive_the_round_trip() {
        let mut rng = rng();
        let profile = ProfileId::generate(&mut rng);
        let mut keys = GroupKeys::generate(&mut rng);
        let first = keys.identities()[0].id;
        let second = add_identity(&mut keys, &first, &mut rng);
        let read = GroupKeys::decode(&keys.encode(&profile), &profile).unwrap();
        assert_eq!(read.database_key(), keys.database_key());
        assert_eq!(read.identities().len(), 2);
        for id in [first, second] {
            let (was, is) = (keys.identity(&id).unwrap(), read.identity(&id).unwrap());
            assert_eq!(was.secrets.keys(), is.secrets.keys());
        }
    }

    #[test]
    fn a_change_of_identity_holds_two_and_then_one() {
        let mut rng = rng();
        let mut keys = GroupKeys::generate(&mut rng);
        let first = keys.identities()[0].id;
        let abandoned = add_identity(&mut keys, &first, &mut rng);
        let second = add_identity(&mut keys, &first, &mut rng);
        assert!(
            keys.identity(&abandoned).is_none(),
            "an interrupted change makes room"
        );
        assert!(keys.keep_only(&second));
        assert!(!keys.keep_only(&second));
        assert_eq!(keys.identities().len(), 1);
    }

    #[test]
    fn every_single_damaged_byte_is_noticed() {
        let mut rng = rng();
        let profile = ProfileId::generate(&mut rng);
        let good = GroupKeys::generate(&mut rng).encode(&profile);
        for place in 0..good.as_bytes().len() {
            let mut bytes = good.as_bytes().to_vec();
            bytes[place] ^= 1;
            let found = GroupKeys::decode(&KeyItem::from_bytes(bytes), &profile).unwrap_err();
            assert_eq!(found, KeyStoreError::Damaged, "byte {place}");
        }
        for length in 0..good.as_bytes().len() {
            let cut = KeyItem::from_bytes(good.as_bytes()[..length].to_vec());
            assert_eq!(
                GroupKeys::decode(&cut, &profile).unwrap_err(),
                KeyStoreError::Damaged
            );
        }
    }

    #[test]
    fn another_profile_and_a_newer_format_are_told_apart_from_damage() {
        let mut rng = rng();
        let (mine, other) = (ProfileId::generate(&mut rng), ProfileId::generate(&mut rng));
        let item = GroupKeys::generate(&mut rng).encode(&other);
        assert_eq!(
            GroupKeys::decode(&item, &mine).unwrap_err(),
            KeyStoreError::OtherProfile
        );
        let mut bytes = item.as_bytes().to_vec();
        bytes[3] = FORMAT + 1;
        let body = bytes.len() - CHECK_BYTES;
        let check = check(CHECK_LABEL, &bytes[..body]);
        bytes[body..].copy_from_slice(&check);
        let newer = KeyItem::from_bytes(bytes);
        assert_eq!(
            GroupKeys::decode(&newer, &other).unwrap_err(),
            KeyStoreError::TooNew
        );
    }

    #[test]
    fn a_relay_key_is_not_taken_for_a_group() {
        let mut rng = rng();
        let profile = ProfileId::generate(&mut rng);
        let key = NoiseSecret::generate(&mut rng);
        let item = KeyItem::from_relay_key(&profile, &key);
        assert_eq!(item.relay_key(&profile).unwrap().as_bytes(), key.as_bytes());
        assert_eq!(
            GroupKeys::decode(&item, &profile).unwrap_err(),
            KeyStoreError::Damaged
        );
    }

    #[test]
    fn the_key_of_the_links_is_taken_for_nothing_else() {
        let mut rng = rng();
        let profile = ProfileId::generate(&mut rng);
        let item = KeyItem::from_links_key(&profile, &[7; 32]);
        assert_eq!(*item.links_key(&profile).unwrap(), [7; 32]);
        assert_eq!(item.relay_key(&profile), Err(KeyStoreError::Damaged));
        let relay = KeyItem::from_relay_key(&profile, &NoiseSecret::generate(&mut rng));
        assert_eq!(relay.links_key(&profile), Err(KeyStoreError::Damaged));
        let names = [KeyItemName::relay(&profile), KeyItemName::links(&profile)];
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn nothing_secret_is_printed() {
        let mut rng = rng();
        let profile = ProfileId::generate(&mut rng);
        let keys = GroupKeys::generate(&mut rng);
        let name = KeyItemName::relay(&profile);
        let printed = format!(
            "{keys:?}{:?}{:?}{name:?}",
            keys.identities(),
            keys.encode(&profile)
        );
        assert_eq!(printed, "GroupKeys[Identity]KeyItemKeyItemName");
    }
}
