//! A key store in a file: with a passphrase, or for programs that run unattended, without.
//!
//! Owns the format of the file. With a passphrase the items are sealed by
//! ChaCha20-Poly1305 under a key that Argon2id derives from it (64 MiB, three passes, one
//! lane); the derived key stays in memory while the store is open. Without one the items
//! stand in the file as they are and only its permissions (0600) protect them, so a file
//! that others may read is refused.
//!
//! Layout: `"SPKF"` · format `u8` · protection `u8` · (memory in KiB, passes, lanes `u32`
//! each · salt `[16]` · nonce `[12]`, with a passphrase only) · body · check `[8]`.
//! The check covers all that stands before it and is no secret: it tells a damaged file
//! from a wrong passphrase. The body is (name length `u16` · name · item length `u32` ·
//! item) per item, in the order of names. Integers are big-endian.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use rand_core::{OsRng, RngCore};
use zeroize::Zeroizing;

use super::layout::{check, checked, take, take_slice, take_u32};
use super::passphrase::{self, Cost, NoKey};
use super::{KeyItem, KeyItemName, KeyStore, KeyStoreError};
use crate::durable_file;

const MAGIC: &[u8; 4] = b"SPKF";
const FORMAT: u8 = 1;
const OPEN: u8 = 0;
const SEALED: u8 = 1;
const CHECK_LABEL: &[u8] = b"sealpost key file check v1";

/// What a file may ask for at most: a damaged or planted one must not stop the computer.
const COST_MAX: Cost = Cost {
    memory_kib: 1024 * 1024,
    passes: 16,
    lanes: 4,
};

/// Largest file that is read: far more than any number of groups needs.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A key file that a passphrase protects.
pub struct PassphraseFileStore {
    file: Mutex<ItemFile>,
}

/// A key file that only its permissions protect, for programs that run unattended.
pub struct KeyFileStore {
    file: Mutex<ItemFile>,
}

impl PassphraseFileStore {
    /// Makes a new, empty key file. Takes about a second and 64 MiB.
    ///
    /// # Errors
    ///
    /// [`KeyStoreError::AlreadyThere`] when `path` exists, [`KeyStoreError::Io`] when it
    /// can't be written.
    pub fn create(path: &Path, passphrase: &str) -> Result<Self, KeyStoreError> {
        ItemFile::create(path, Protection::new(passphrase)?).map(Self::from)
    }

    /// Opens a key file. Takes about a second and 64 MiB.
    ///
    /// # Errors
    ///
    /// [`KeyStoreError::WrongPassphrase`], [`KeyStoreError::Damaged`],
    /// [`KeyStoreError::TooNew`], or [`KeyStoreError::Io`].
    pub fn open(path: &Path, passphrase: &str) -> Result<Self, KeyStoreError> {
        ItemFile::open(path, Some(passphrase)).map(Self::from)
    }

    /// Protects the file with another passphrase from now on; the old one opens it no more.
    /// Takes about a second and 64 MiB.
    ///
    /// # Errors
    ///
    /// [`KeyStoreError::Io`] when it can't be written; then the old one still opens it.
    pub fn change_passphrase(&self, passphrase: &str) -> Result<(), KeyStoreError> {
        let protection = Protection::new(passphrase)?;
        let mut file = lock(&self.file);
        let before = std::mem::replace(&mut file.protection, protection);
        let written = file.write(&file.items);
        if written.is_err() {
            file.protection = before;
        }
        written
    }
}

impl KeyFileStore {
    /// Makes a new, empty key file.
    ///
    /// # Errors
    ///
    /// [`KeyStoreError::AlreadyThere`] when `path` exists, [`KeyStoreError::Io`] when it
    /// can't be written.
    pub fn create(path: &Path) -> Result<Self, KeyStoreError> {
        ItemFile::create(path, Protection::None).map(Self::from)
    }

    /// Opens a key file.
    ///
    /// # Errors
    ///
    /// [`KeyStoreError::Exposed`] when others may read it, [`KeyStoreError::Damaged`],
    /// [`KeyStoreError::TooNew`], [`KeyStoreError::WrongPassphrase`] when it has a
    /// passphrase, or [`KeyStoreError::Io`].
    pub fn open(path: &Path) -> Result<Self, KeyStoreError> {
        refuse_exposed(path)?;
        ItemFile::open(path, None).map(Self::from)
    }
}

impl From<ItemFile> for PassphraseFileStore {
    fn from(file: ItemFile) -> Self {
        Self {
            file: Mutex::new(file),
        }
    }
}

impl From<ItemFile> for KeyFileStore {
    fn from(file: ItemFile) -> Self {
        Self {
            file: Mutex::new(file),
        }
    }
}

impl KeyStore for PassphraseFileStore {
    fn load(&self, name: &KeyItemName) -> Result<Option<KeyItem>, KeyStoreError> {
        Ok(lock(&self.file).load(name))
    }

    fn save(&self, name: &KeyItemName, item: &KeyItem) -> Result<(), KeyStoreError> {
        lock(&self.file).change(|items| items.insert(name.as_str().to_owned(), item.clone()))
    }

    fn remove(&self, name: &KeyItemName) -> Result<(), KeyStoreError> {
        lock(&self.file).change(|items| items.remove(name.as_str()))
    }
}

impl KeyStore for KeyFileStore {
    fn load(&self, name: &KeyItemName) -> Result<Option<KeyItem>, KeyStoreError> {
        Ok(lock(&self.file).load(name))
    }

    fn save(&self, name: &KeyItemName, item: &KeyItem) -> Result<(), KeyStoreError> {
        lock(&self.file).change(|items| items.insert(name.as_str().to_owned(), item.clone()))
    }

    fn remove(&self, name: &KeyItemName) -> Result<(), KeyStoreError> {
        lock(&self.file).change(|items| items.remove(name.as_str()))
    }
}

type Items = BTreeMap<String, KeyItem>;

fn lock(file: &Mutex<ItemFile>) -> MutexGuard<'_, ItemFile> {
    file.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file and what is in it.
struct ItemFile {
    path: PathBuf,
    protection: Protection,
    items: Items,
}

impl ItemFile {
    fn create(path: &Path, protection: Protection) -> Result<Self, KeyStoreError> {
        if fs::exists(path)? {
            return Err(KeyStoreError::AlreadyThere);
        }
        let file = Self {
            path: path.to_owned(),
            protection,
            items: Items::new(),
        };
        file.write(&file.items)?;
        Ok(file)
    }

    fn open(path: &Path, passphrase: Option<&str>) -> Result<Self, KeyStoreError> {
        if fs::metadata(path)?.len() > FILE_BYTES_MAX {
            return Err(KeyStoreError::Damaged);
        }
        let bytes = Zeroizing::new(fs::read(path)?);
        let (head, body) = Head::parse(&bytes)?;
        let protection = head.unlock(passphrase)?;
        let body = match (&protection, &head.sealing) {
            (Protection::Passphrase { key, .. }, Some(sealing)) => {
                let payload = Payload {
                    msg: body,
                    aad: head.bytes,
                };
                let opened = cipher(key).decrypt(Nonce::from_slice(&sealing.nonce), payload);
                Zeroizing::new(opened.map_err(|_| KeyStoreError::WrongPassphrase)?)
            }
            _ => Zeroizing::new(body.to_vec()),
        };
        let items = decode_items(&body)?;
        Ok(Self {
            path: path.to_owned(),
            protection,
            items,
        })
    }

    fn load(&self, name: &KeyItemName) -> Option<KeyItem> {
        self.items.get(name.as_str()).cloned()
    }

    /// Makes a change in the file first and in memory when that has worked.
    fn change<T>(&mut self, change: impl FnOnce(&mut Items) -> T) -> Result<(), KeyStoreError> {
        let mut items = self.items.clone();
        change(&mut items);
        self.write(&items)?;
        self.items = items;
        Ok(())
    }

    fn write(&self, items: &Items) -> Result<(), KeyStoreError> {
        let body = encode_items(items);
        let mut bytes = Zeroizing::new(Vec::with_capacity(body.len() + 96));
        bytes.extend_from_slice(MAGIC);
        match &self.protection {
            Protection::None => {
                bytes.extend_from_slice(&[FORMAT, OPEN]);
                bytes.extend_from_slice(&body);
            }
            Protection::Passphrase { cost, salt, key } => {
                let mut nonce = [0; 12];
                OsRng.fill_bytes(&mut nonce);
                bytes.extend_from_slice(&[FORMAT, SEALED]);
                for number in [cost.memory_kib, cost.passes, cost.lanes] {
                    bytes.extend_from_slice(&number.to_be_bytes());
                }
                bytes.extend_from_slice(salt);
                bytes.extend_from_slice(&nonce);
                let payload = Payload {
                    msg: &body,
                    aad: &bytes,
                };
                let sealed = cipher(key).encrypt(Nonce::from_slice(&nonce), payload);
                bytes.extend_from_slice(&sealed.map_err(|_| KeyStoreError::Failed)?);
            }
        }
        let check = check(CHECK_LABEL, &bytes);
        bytes.extend_from_slice(&check);
        if bytes.len() as u64 > FILE_BYTES_MAX {
            // What is longer is never read again, and all the keys with it.
            return Err(KeyStoreError::Io(io::ErrorKind::FileTooLarge));
        }
        durable_file::replace(&self.path, &bytes)?;
        Ok(())
    }
}

enum Protection {
    None,
    Passphrase {
        cost: Cost,
        salt: [u8; 16],
        key: Zeroizing<[u8; 32]>,
    },
}

impl Protection {
    /// The protection of a file that is written today.
    fn new(passphrase: &str) -> Result<Self, KeyStoreError> {
        let mut salt = [0; 16];
        OsRng.fill_bytes(&mut salt);
        Ok(Self::Passphrase {
            cost: Cost::USUAL,
            salt,
            key: derive(passphrase, Cost::USUAL, &salt)?,
        })
    }
}

/// The part of a file that stands before its body.
struct Head<'a> {
    bytes: &'a [u8],
    sealing: Option<Sealing>,
}

struct Sealing {
    cost: Cost,
    salt: [u8; 16],
    nonce: [u8; 12],
}

impl<'a> Head<'a> {
    /// Splits a file into head and body, once its check is found right.
    fn parse(file: &'a [u8]) -> Result<(Self, &'a [u8]), KeyStoreError> {
        let covered = checked(CHECK_LABEL, file)?;
        let mut rest = covered.strip_prefix(MAGIC).ok_or(KeyStoreError::Damaged)?;
        let [format, protection] = *take::<2>(&mut rest)?;
        if format != FORMAT {
            return Err(KeyStoreError::TooNew);
        }
        let sealing = match protection {
            OPEN => None,
            SEALED => Some(Sealing {
                cost: Cost {
                    memory_kib: take_u32(&mut rest)?,
                    passes: take_u32(&mut rest)?,
                    lanes: take_u32(&mut rest)?,
                },
                salt: *take(&mut rest)?,
                nonce: *take(&mut rest)?,
            }),
            _ => return Err(KeyStoreError::Damaged),
        };
        let bytes = covered
            .get(..covered.len() - rest.len())
            .ok_or(KeyStoreError::Damaged)?;
        Ok((Self { bytes, sealing }, rest))
    }

    fn unlock(&self, passphrase: Option<&str>) -> Result<Protection, KeyStoreError> {
        match (&self.sealing, passphrase) {
            (None, None) => Ok(Protection::None),
            (Some(sealing), Some(passphrase)) => Ok(Protection::Passphrase {
                cost: sealing.cost,
                salt: sealing.salt,
                key: derive(passphrase, sealing.cost, &sealing.salt)?,
            }),
            // One kind of file was given for the other.
            _ => Err(KeyStoreError::WrongPassphrase),
        }
    }
}

fn derive(
    passphrase: &str,
    cost: Cost,
    salt: &[u8; 16],
) -> Result<Zeroizing<[u8; 32]>, KeyStoreError> {
    if !cost.is_within(COST_MAX) {
        return Err(KeyStoreError::Damaged);
    }
    passphrase::derive(passphrase, cost, salt).map_err(|error| match error {
        NoKey::Cost => KeyStoreError::Damaged,
        NoKey::Memory => KeyStoreError::Failed,
    })
}

fn cipher(key: &[u8; 32]) -> ChaCha20Poly1305 {
    ChaCha20Poly1305::new(Key::from_slice(key))
}

fn encode_items(items: &Items) -> Zeroizing<Vec<u8>> {
    let bytes = items
        .iter()
        .map(|(name, item)| 6 + name.len() + item.as_bytes().len())
        .sum();
    let mut body = Zeroizing::new(Vec::with_capacity(bytes));
    for (name, item) in items {
        // Names are under 200 bytes and items under 400: see `keys::item`.
        body.extend_from_slice(&u16::try_from(name.len()).unwrap_or(u16::MAX).to_be_bytes());
        body.extend_from_slice(name.as_bytes());
        let item = item.as_bytes();
        body.extend_from_slice(&u32::try_from(item.len()).unwrap_or(u32::MAX).to_be_bytes());
        body.extend_from_slice(item);
    }
    body
}

fn decode_items(mut body: &[u8]) -> Result<Items, KeyStoreError> {
    let mut items = Items::new();
    while !body.is_empty() {
        let length = usize::from(u16::from_be_bytes(*take(&mut body)?));
        let name = std::str::from_utf8(take_slice(&mut body, length)?);
        let name = name.map_err(|_| KeyStoreError::Damaged)?.to_owned();
        let length = usize::try_from(take_u32(&mut body)?).map_err(|_| KeyStoreError::Damaged)?;
        let item = KeyItem::from_bytes(take_slice(&mut body, length)?.to_vec());
        items.insert(name, item);
    }
    Ok(items)
}

#[cfg(unix)]
fn refuse_exposed(path: &Path) -> Result<(), KeyStoreError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path)?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        Ok(())
    } else {
        Err(KeyStoreError::Exposed { mode })
    }
}

// Elsewhere the user's own directory is what keeps others out.
#[cfg(not(unix))]
fn refuse_exposed(path: &Path) -> Result<(), KeyStoreError> {
    fs::metadata(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::namespace::Namespace;
    use crate::profile::ProfileId;

    fn name(namespace: &str) -> KeyItemName {
        let profile = ProfileId::generate(&mut ChaCha20Rng::seed_from_u64(1));
        KeyItemName::group(&profile, &Namespace::parse(namespace).unwrap())
    }

    fn item(text: &str) -> KeyItem {
        KeyItem::from_bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn a_file_that_could_never_be_read_again_is_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let store = KeyFileStore::create(&path).unwrap();
        store.save(&name("a"), &item("one")).unwrap();
        let long = item(&"x".repeat(FILE_BYTES_MAX as usize));
        let refused = store.save(&name("b"), &long).unwrap_err();
        assert_eq!(refused, KeyStoreError::Io(io::ErrorKind::FileTooLarge));
        drop(store);
        let store = KeyFileStore::open(&path).unwrap();
        assert!(store.load(&name("a")).unwrap().is_some());
        assert!(store.load(&name("b")).unwrap().is_none());
    }

    #[test]
    fn items_survive_under_the_right_passphrase_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let store = PassphraseFileStore::create(&path, "correct horse").unwrap();
        store.save(&name("a"), &item("canary-one")).unwrap();
        store.save(&name("b"), &item("two")).unwrap();
        store.save(&name("b"), &item("three")).unwrap();
        store.remove(&name("c")).unwrap();
        drop(store);

        let raw = fs::read(&path).unwrap();
        assert!(
            !raw.windows(6).any(|window| window == b"canary"),
            "sealed at rest"
        );
        let wrong = PassphraseFileStore::open(&path, "correct horsf").err();
        assert_eq!(wrong, Some(KeyStoreError::WrongPassphrase));
        let none = KeyFileStore::open(&path).err();
        assert_eq!(none, Some(KeyStoreError::WrongPassphrase));
        let store = PassphraseFileStore::open(&path, "correct horse").unwrap();
        assert_eq!(store.load(&name("a")).unwrap(), Some(item("canary-one")));
        assert_eq!(store.load(&name("b")).unwrap(), Some(item("three")));
        assert_eq!(store.load(&name("c")).unwrap(), None);
    }

    #[test]
    fn a_changed_passphrase_is_the_only_one_that_opens_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let store = PassphraseFileStore::create(&path, "the old one").unwrap();
        store.save(&name("a"), &item("one")).unwrap();
        store.change_passphrase("the new one").unwrap();
        // What the open store writes afterwards is under the new one too.
        store.save(&name("b"), &item("two")).unwrap();
        drop(store);
        let old = PassphraseFileStore::open(&path, "the old one").err();
        assert_eq!(old, Some(KeyStoreError::WrongPassphrase));
        let store = PassphraseFileStore::open(&path, "the new one").unwrap();
        assert_eq!(store.load(&name("a")).unwrap(), Some(item("one")));
        assert_eq!(store.load(&name("b")).unwrap(), Some(item("two")));
    }

    #[test]
    fn a_passphrase_that_can_not_be_written_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let store = PassphraseFileStore::create(&path, "the old one").unwrap();
        let aside = directory.path().join("aside");
        fs::rename(&path, &aside).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("in the way"), "").unwrap();
        assert!(store.change_passphrase("the new one").is_err());
        fs::remove_dir_all(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
        store.save(&name("a"), &item("one")).unwrap();
        drop(store);
        let store = PassphraseFileStore::open(&path, "the old one").unwrap();
        assert_eq!(store.load(&name("a")).unwrap(), Some(item("one")));
    }

    #[test]
    fn damage_is_not_taken_for_a_wrong_passphrase() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let store = KeyFileStore::create(&path).unwrap();
        store.save(&name("a"), &item("secret")).unwrap();
        let good = fs::read(&path).unwrap();
        for place in 0..good.len() {
            let mut bytes = good.clone();
            bytes[place] ^= 0x20;
            fs::write(&path, &bytes).unwrap();
            assert_eq!(
                KeyFileStore::open(&path).err(),
                Some(KeyStoreError::Damaged),
                "{place}"
            );
        }
        for length in 0..good.len() {
            fs::write(&path, &good[..length]).unwrap();
            assert_eq!(
                KeyFileStore::open(&path).err(),
                Some(KeyStoreError::Damaged)
            );
        }
    }

    #[test]
    fn a_planted_cost_is_refused_before_it_is_paid() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&[FORMAT, SEALED]);
        bytes.extend_from_slice(&u32::MAX.to_be_bytes());
        bytes.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 1]);
        bytes.extend_from_slice(&[7; 28 + 16]);
        let check = check(CHECK_LABEL, &bytes);
        bytes.extend_from_slice(&check);
        fs::write(&path, &bytes).unwrap();
        let refused = PassphraseFileStore::open(&path, "x").err();
        assert_eq!(refused, Some(KeyStoreError::Damaged));
    }

    #[test]
    fn an_existing_file_is_never_replaced_by_a_new_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        KeyFileStore::create(&path)
            .unwrap()
            .save(&name("a"), &item("kept"))
            .unwrap();
        assert_eq!(
            KeyFileStore::create(&path).err(),
            Some(KeyStoreError::AlreadyThere)
        );
        let store = KeyFileStore::open(&path).unwrap();
        assert_eq!(store.load(&name("a")).unwrap(), Some(item("kept")));
    }

    #[test]
    fn a_missing_file_is_not_made_by_opening() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let missing = Some(KeyStoreError::Io(io::ErrorKind::NotFound));
        assert_eq!(KeyFileStore::open(&path).err(), missing);
        assert_eq!(PassphraseFileStore::open(&path, "x").err(), missing);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn an_open_key_file_is_private_and_refused_when_it_is_not() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        KeyFileStore::create(&path).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = KeyFileStore::open(&path).err();
        assert_eq!(refused, Some(KeyStoreError::Exposed { mode: 0o640 }));
    }
}
