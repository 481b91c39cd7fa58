//! This device: an open profile and the place of its keys.
//!
//! Owns the choice of the key store. Never makes a profile but in [`Device::create`], and
//! never keys but where the engine opens a group; a profile that was misspelt is missing,
//! not new.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand_core::OsRng;
use sealpost_engine::backup::clear_unfinished;
use sealpost_engine::clock::SystemClock;
use sealpost_engine::keys::{
    KeyFileStore, KeyStore, KeyStoreError, KeychainStore, PassphraseFileStore,
};
use sealpost_engine::link::{Links, LinksOptions};
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::{KeyStoreKind, Profile, ProfileError};
use sealpost_engine::{Engine, OpenOptions};
use sealpost_protocol::address::RelayAddress;
use zeroize::Zeroizing;

use crate::arguments::{Global, KeyStoreChoice};
use crate::explanation::{key_store_error, links_open_error, open_error, profile_error};
use crate::failure::{Exit, Failure};

/// The folder of Sealpost's data, the same for the app and the command line.
const DATA_FOLDER: &str = "app.sealpost.desktop";
/// The setting that lists the places of groups that came to nothing, as the app has it.
const SPARE_GROUPS: &str = "spareGroups";
/// What stands in a profile's folder before there is a profile: a relay's data, a lock.
const NO_PROFILE: [&str; 2] = ["relay", "lock"];
/// A passphrase from outside, where nobody can be asked.
const PASSPHRASE_VARIABLE: &str = "SEALPOST_PASSPHRASE";
/// Shorter passphrases are guessed.
pub(crate) const PASSPHRASE_CHARS_MIN: usize = 8;

/// An open profile with its keys at hand.
pub(crate) struct Device {
    profile: Profile,
    profile_name: String,
    key_store: Arc<dyn KeyStore>,
}

impl Device {
    /// Opens the profile, which must be there.
    pub(crate) fn open(global: &Global) -> Result<Self, Failure> {
        let data_dir = data_dir(global)?;
        let name = &global.profile;
        if Namespace::parse(name).is_ok() && !is_made(&data_dir, name) {
            return Err(missing(name));
        }
        let profile = open_profile(&data_dir, name)?;
        let kind = profile.key_store().ok_or_else(|| missing(name))?;
        let key_store = open_key_store(&profile, kind)?;
        // What can't be removed now is removed another time; it is in nobody's way.
        let _ = clear_unfinished(&profile, &*key_store);
        Ok(Self {
            profile,
            profile_name: name.clone(),
            key_store,
        })
    }

    /// The profile itself.
    pub(crate) const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The place of the keys.
    pub(crate) fn key_store(&self) -> &dyn KeyStore {
        &*self.key_store
    }

    /// Makes the profile, or changes the name of one that is there.
    pub(crate) fn create(
        global: &Global,
        name: Option<&str>,
        choice: Option<KeyStoreChoice>,
    ) -> Result<Self, Failure> {
        let profile = open_profile(&data_dir(global)?, &global.profile)?;
        let fail = |error| profile_error(error, &global.profile);
        let key_store = match profile.key_store() {
            Some(kind) if choice.is_some_and(|choice| kind_of(choice) != kind) => {
                return Err(key_store_chosen(&global.profile));
            }
            Some(kind) => open_key_store(&profile, kind)?,
            None => {
                let (kind, key_store) = make_key_store(&profile, choice)?;
                profile.set_key_store(kind).map_err(fail)?;
                key_store
            }
        };
        if name.is_some() || profile.device_name().is_none() {
            let name = name.map_or_else(computer_name, str::to_owned);
            let name = sealpost_protocol::name::clean(&name).ok_or_else(name_empty)?;
            profile.set_device_name(&name).map_err(fail)?;
        }
        Ok(Self {
            profile,
            profile_name: global.profile.clone(),
            key_store,
        })
    }

    /// The name that other devices see.
    pub(crate) fn name(&self) -> String {
        self.profile.device_name().unwrap_or_else(computer_name)
    }

    /// The stable name of the place of the keys.
    pub(crate) fn key_store_name(&self) -> &'static str {
        match self.profile.key_store() {
            Some(KeyStoreKind::Keychain) | None => "keychain",
            Some(KeyStoreKind::PassphraseFile) => "passphrase file",
            Some(KeyStoreKind::KeyFile) => "key file",
        }
    }

    /// The groups of this profile.
    pub(crate) fn namespaces(&self) -> Result<Vec<Namespace>, Failure> {
        let spare = self.spare();
        let all = self
            .profile
            .namespaces()
            .map_err(|error| self.explain(error))?;
        Ok(all
            .into_iter()
            .filter(|namespace| !spare.contains(namespace.as_str()))
            .collect())
    }

    /// A place for a new group: one that was put aside, or a new one.
    pub(crate) fn new_namespace(&self) -> Result<Namespace, Failure> {
        let mut spare = self.spare();
        let all = self
            .profile
            .namespaces()
            .map_err(|error| self.explain(error))?;
        if let Some(namespace) = all.into_iter().find(|one| spare.contains(one.as_str())) {
            spare.remove(namespace.as_str());
            self.set_spare(&spare)?;
            return Ok(namespace);
        }
        self.profile
            .new_namespace(&mut OsRng)
            .map_err(|error| self.explain(error))
    }

    /// Puts the place of a group aside in which nothing ever happened, for the next group.
    pub(crate) fn put_aside(&self, namespace: &Namespace) -> Result<(), Failure> {
        let mut spare = self.spare();
        spare.insert(namespace.as_str().to_owned());
        self.set_spare(&spare)
    }

    fn spare(&self) -> BTreeSet<String> {
        let setting = self.profile.setting(SPARE_GROUPS);
        setting
            .and_then(|value| serde_json::from_value(value).ok())
            .unwrap_or_default()
    }

    fn set_spare(&self, spare: &BTreeSet<String>) -> Result<(), Failure> {
        self.profile
            .set_setting(SPARE_GROUPS, Some(spare.iter().cloned().collect()))
            .map_err(|error| self.explain(error))
    }

    fn explain(&self, error: ProfileError) -> Failure {
        profile_error(error, &self.profile_name)
    }

    /// The folder of the profile.
    pub(crate) fn folder(&self) -> &Path {
        self.profile.directory()
    }

    /// Opens a group, on the relay that its data names or on `relay`.
    pub(crate) async fn open_group(
        &self,
        namespace: &Namespace,
        relay: Option<RelayAddress>,
    ) -> Result<Engine, Failure> {
        Engine::open(OpenOptions {
            directory: self.profile.directory().to_owned(),
            namespace: namespace.clone(),
            profile_id: self.profile.id(),
            relay,
            device_name: self.name(),
            key_store: Arc::clone(&self.key_store),
            clock: Arc::new(SystemClock),
            max_payload_bytes: None,
        })
        .await
        .map_err(open_error)
    }
}

impl Device {
    /// Opens the links of the profile.
    pub(crate) async fn open_links(&self) -> Result<Links, Failure> {
        Links::open(LinksOptions {
            directory: self.profile.directory().to_owned(),
            profile_id: self.profile.id(),
            key_store: Arc::clone(&self.key_store),
            clock: Arc::new(SystemClock),
        })
        .await
        .map_err(links_open_error)
    }
}

/// The folder with the data of all profiles.
fn data_dir(global: &Global) -> Result<PathBuf, Failure> {
    global
        .data_dir
        .clone()
        .or_else(|| {
            let directories = directories::BaseDirs::new()?;
            Some(directories.data_local_dir().join(DATA_FOLDER))
        })
        .ok_or_else(|| {
            Failure::new(
                "data-dir-unknown",
                Exit::Data,
                "There is no place for the data.",
                "This user has no home folder.",
                "Name a folder with --data-dir.",
            )
        })
}

/// The folder of the profile, whether or not it was made; its name is checked.
pub(crate) fn profile_dir(global: &Global) -> Result<PathBuf, Failure> {
    let name = &global.profile;
    Namespace::parse(name).map_err(|_| profile_error(ProfileError::InvalidName, name))?;
    Ok(data_dir(global)?.join(name))
}

/// Whether no program has the profile open.
pub(crate) fn is_free(global: &Global) -> Result<bool, Failure> {
    match Profile::open(&data_dir(global)?, &global.profile) {
        Ok(_) => Ok(true),
        Err(ProfileError::InUse { .. }) => Ok(false),
        Err(error) => Err(profile_error(error, &global.profile)),
    }
}

/// The name of this computer, as a device's name to begin with.
pub(crate) fn computer_name() -> String {
    let name = gethostname::gethostname().to_string_lossy().into_owned();
    sealpost_protocol::name::clean(&name).unwrap_or_else(|| "computer".to_owned())
}

/// Whether there is something to open. What can't be looked at is, so that opening it tells.
fn is_made(data_dir: &Path, profile: &str) -> bool {
    match std::fs::read_dir(data_dir.join(profile)) {
        Ok(mut entries) => entries.any(|entry| {
            entry.map_or(true, |entry| {
                let name = entry.file_name();
                !NO_PROFILE.iter().any(|other| name == *other)
            })
        }),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

fn open_profile(data_dir: &Path, name: &str) -> Result<Profile, Failure> {
    Profile::open(data_dir, name).map_err(|error| profile_error(error, name))
}

fn open_key_store(profile: &Profile, kind: KeyStoreKind) -> Result<Arc<dyn KeyStore>, Failure> {
    let path = profile.key_file_path();
    match kind {
        KeyStoreKind::Keychain => open_keychain(),
        KeyStoreKind::KeyFile => KeyFileStore::open(&path).map(|store| Arc::new(store) as _),
        KeyStoreKind::PassphraseFile => {
            let passphrase = passphrase("Passphrase of the key file: ")?;
            PassphraseFileStore::open(&path, &passphrase).map(|store| Arc::new(store) as _)
        }
    }
    .map_err(key_store_error)
}

/// Makes the key store that was chosen, or the best that there is.
fn make_key_store(
    profile: &Profile,
    choice: Option<KeyStoreChoice>,
) -> Result<(KeyStoreKind, Arc<dyn KeyStore>), Failure> {
    let kind = match choice {
        Some(choice) => kind_of(choice),
        None => match open_keychain() {
            Ok(store) => return Ok((KeyStoreKind::Keychain, store)),
            // Only where there is none at all, as under cron. One that is locked or was
            // dismissed is the person's own, and a file beside it would not be their choice.
            Err(KeyStoreError::Missing) => KeyStoreKind::KeyFile,
            Err(error) => return Err(key_store_error(error)),
        },
    };
    Ok((kind, make_key_store_of(profile, kind)?))
}

/// Makes a key store of this kind. A key file that is there already was made by an `init`
/// that ended before the profile could say so: it is opened.
fn make_key_store_of(profile: &Profile, kind: KeyStoreKind) -> Result<Arc<dyn KeyStore>, Failure> {
    let path = profile.key_file_path();
    if kind == KeyStoreKind::Keychain || path.try_exists().unwrap_or(true) {
        return open_key_store(profile, kind);
    }
    match kind {
        KeyStoreKind::Keychain => open_keychain(),
        KeyStoreKind::KeyFile => KeyFileStore::create(&path).map(|store| Arc::new(store) as _),
        KeyStoreKind::PassphraseFile => {
            let passphrase = new_passphrase()?;
            PassphraseFileStore::create(&path, &passphrase).map(|store| Arc::new(store) as _)
        }
    }
    .map_err(key_store_error)
}

/// Opens the keychain once it says that it can be used.
fn open_keychain() -> Result<Arc<dyn KeyStore>, KeyStoreError> {
    let store = KeychainStore::new();
    store.check()?;
    Ok(Arc::new(store))
}

const fn kind_of(choice: KeyStoreChoice) -> KeyStoreKind {
    match choice {
        KeyStoreChoice::Keychain => KeyStoreKind::Keychain,
        KeyStoreChoice::Passphrase => KeyStoreKind::PassphraseFile,
        KeyStoreChoice::File => KeyStoreKind::KeyFile,
    }
}

fn passphrase_from_outside() -> Option<Zeroizing<String>> {
    std::env::var(PASSPHRASE_VARIABLE).ok().map(Zeroizing::new)
}

fn passphrase(prompt: &str) -> Result<Zeroizing<String>, Failure> {
    passphrase_from_outside().map_or_else(|| typed_passphrase(prompt), Ok)
}

fn typed_passphrase(prompt: &str) -> Result<Zeroizing<String>, Failure> {
    let typed = rpassword::prompt_password(prompt).map_err(|_| {
        Failure::new(
            "passphrase-missing",
            Exit::Refused,
            "The key file needs its passphrase.",
            "There is no terminal to ask at, and SEALPOST_PASSPHRASE is not set.",
            "Run this in a terminal, or set SEALPOST_PASSPHRASE.",
        )
    })?;
    Ok(Zeroizing::new(typed))
}

fn new_passphrase() -> Result<Zeroizing<String>, Failure> {
    choose_passphrase(passphrase_from_outside(), typed_passphrase)
}

/// A new passphrase that was given from outside or typed twice: what nobody sees while
/// typing it is easily mistyped, and nothing opens the file then.
fn choose_passphrase(
    given: Option<Zeroizing<String>>,
    mut ask: impl FnMut(&str) -> Result<Zeroizing<String>, Failure>,
) -> Result<Zeroizing<String>, Failure> {
    let is_typed = given.is_none();
    let passphrase = given.map_or_else(|| ask("New passphrase for the key file: "), Ok)?;
    if passphrase.chars().count() < PASSPHRASE_CHARS_MIN {
        return Err(Failure::new(
            "passphrase-short",
            Exit::Input,
            "This passphrase is too short.",
            format!("It needs {PASSPHRASE_CHARS_MIN} characters or more."),
            "Choose a longer one; several words are good. Nothing was made.",
        ));
    }
    if is_typed && ask("The same passphrase again: ")? != passphrase {
        return Err(Failure::new(
            "passphrase-differs",
            Exit::Input,
            "The two passphrases are not the same.",
            "At least one of them was mistyped.",
            "Run `sealpost init` again. No key file was made.",
        ));
    }
    Ok(passphrase)
}

fn missing(profile: &str) -> Failure {
    Failure::new(
        "profile-missing",
        Exit::Profile,
        format!("There is no profile called {profile}."),
        "None was made in this data directory.",
        "Make it with `sealpost init`, or check --profile and --data-dir.",
    )
}

fn key_store_chosen(profile: &str) -> Failure {
    Failure::new(
        "key-store-chosen",
        Exit::Profile,
        format!("The profile {profile} keeps its keys elsewhere already."),
        "The place of the keys is chosen once.",
        "Leave --key-store out, or make another profile with --profile. Nothing was changed.",
    )
}

fn name_empty() -> Failure {
    Failure::new(
        "name-empty",
        Exit::Input,
        "This is no name for a device.",
        "Nothing of it can be seen.",
        "Choose a name with letters or digits.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(given: Option<&str>, typed: &[&str]) -> Result<String, &'static str> {
        let mut typed = typed.iter();
        let ask = |_: &str| Ok(Zeroizing::new((*typed.next().unwrap()).to_owned()));
        let given = given.map(|given| Zeroizing::new(given.to_owned()));
        choose_passphrase(given, ask)
            .map(|chosen| chosen.to_string())
            .map_err(|failure| failure.code)
    }

    #[test]
    fn a_new_passphrase_is_typed_twice() {
        assert_eq!(
            choose(None, &["long enough", "long enough"]).unwrap(),
            "long enough"
        );
        assert_eq!(
            choose(None, &["long enough", "long enoguh"]),
            Err("passphrase-differs")
        );
        assert_eq!(choose(None, &["short"]), Err("passphrase-short"));
        assert_eq!(choose(Some("from outside"), &[]).unwrap(), "from outside");
    }

    #[test]
    fn a_folder_with_a_relay_only_is_no_profile() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_made(folder.path(), "p"));
        std::fs::create_dir_all(folder.path().join("p/relay")).unwrap();
        assert!(!is_made(folder.path(), "p"));
        std::fs::write(folder.path().join("p/profile.json"), "").unwrap();
        assert!(is_made(folder.path(), "p"));
    }
}
