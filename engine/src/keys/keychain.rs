//! The keychain of the operating system.
//!
//! Owns the way to it and the sorting of its failures into *missing*, *locked* and
//! *dismissed*. On Linux and the BSDs that is the Secret Service on the session bus, through
//! `keyring-core` and its store, built anew whenever it isn't there yet: a keychain that
//! starts after this program is found. Elsewhere it is `keyring`'s own choice, Keychain
//! Services or the Credential Manager. The kernel's key ring is never used.
//!
//! Invariants:
//! - an item is written only to a collection that lasts: a Secret Service whose default
//!   collection is the one of the session counts as missing;
//! - a keychain that ends while its answer is awaited ends the wait; a person who reads its
//!   question is waited for however long that takes;
//! - errors of the platform, whose text may tell anything, are dropped here.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::{KeyItem, KeyItemName, KeyStore, KeyStoreError};

/// The service name under which the items stand.
const SERVICE: &str = "sealpost";

/// Keeps items in the keychain of the operating system.
pub struct KeychainStore {
    platform: Arc<Platform>,
}

impl KeychainStore {
    /// Makes the store. Nothing is asked of the keychain before the first call.
    #[must_use]
    pub fn new() -> Self {
        Self {
            platform: Arc::new(Platform::new()),
        }
    }

    /// Asks whether the keychain can be used at all, without reading or writing an item.
    ///
    /// # Errors
    ///
    /// [`KeyStoreError::Missing`], [`KeyStoreError::Locked`],
    /// [`KeyStoreError::Dismissed`] or [`KeyStoreError::Failed`].
    pub fn check(&self) -> Result<(), KeyStoreError> {
        self.ask(Platform::check)
    }
}

impl Default for KeychainStore {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyStore for KeychainStore {
    fn load(&self, name: &KeyItemName) -> Result<Option<KeyItem>, KeyStoreError> {
        let name = name.clone();
        self.ask(move |platform| match platform.entry(&name)?.get_secret() {
            Ok(secret) => Ok(Some(KeyItem::from_bytes(secret))),
            Err(keyring_core::Error::NoEntry) => Ok(None),
            Err(error) => Err(platform.sort(error)),
        })
    }

    fn save(&self, name: &KeyItemName, item: &KeyItem) -> Result<(), KeyStoreError> {
        self.check()?;
        let (name, item) = (name.clone(), item.clone());
        self.ask(move |platform| {
            let saved = platform.entry(&name)?.set_secret(item.as_bytes());
            saved.map_err(|error| platform.sort(error))
        })
    }

    fn remove(&self, name: &KeyItemName) -> Result<(), KeyStoreError> {
        let name = name.clone();
        self.ask(
            move |platform| match platform.entry(&name)?.delete_credential() {
                Ok(()) | Err(keyring_core::Error::NoEntry) => Ok(()),
                Err(error) => Err(platform.sort(error)),
            },
        )
    }
}

/// How often it is looked whether the keychain is still there, while its answer is awaited.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How many looks may find no keychain at all: one that is being started takes a while.
const ABSENT_LOOKS_MAX: u32 = 30;

impl KeychainStore {
    /// Asks the keychain on a thread of its own, as the answer to a question that nobody shows
    /// any more never comes. Such a thread is left behind.
    fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Platform) -> Result<T, KeyStoreError> + Send + 'static,
    ) -> Result<T, KeyStoreError> {
        let platform = Arc::clone(&self.platform);
        let (sender, answer) = channel();
        std::thread::Builder::new()
            .name("keychain".to_owned())
            .spawn(move || sender.send(timed(|| call(&platform))))
            .map_err(|_| KeyStoreError::Failed)?;
        let mut watch = Watch::default();
        loop {
            match answer.recv_timeout(LOOK_INTERVAL) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => return Err(KeyStoreError::Failed),
                Err(RecvTimeoutError::Timeout) if watch.is_gone(Platform::holder()) => {
                    tracing::debug!("the keychain ended while its answer was awaited");
                    self.platform.forget();
                    return Err(KeyStoreError::Missing);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Tells a keychain that has ended from one that takes its time.
#[derive(Debug, Default)]
struct Watch {
    holder: Option<String>,
    absent: u32,
}

impl Watch {
    /// Whether the keychain that was asked is there no more, given who holds its name now.
    fn is_gone(&mut self, holder: Option<String>) -> bool {
        let Some(now) = holder else {
            self.absent += 1;
            return self.holder.is_some() || self.absent > ABSENT_LOOKS_MAX;
        };
        let before = self.holder.get_or_insert_with(|| now.clone());
        *before != now
    }
}

/// A question that is gone sooner than this was seen by nobody: where no prompt can be shown,
/// the Secret Service says that it was dismissed, too.
const SEEN: Duration = Duration::from_millis(400);

/// Tells a question that a person dismissed from one that could not be asked.
fn timed<T>(call: impl FnOnce() -> Result<T, KeyStoreError>) -> Result<T, KeyStoreError> {
    let began = Instant::now();
    match call() {
        Err(KeyStoreError::Dismissed) if began.elapsed() < SEEN => Err(KeyStoreError::Locked),
        result => result,
    }
}

use platform::Platform;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keychain_that_ended_or_was_replaced_is_gone_and_one_that_waits_is_not() {
        let held = |by: &str| Some(by.to_owned());
        let mut watch = Watch::default();
        for _ in 0..10_000 {
            assert!(!watch.is_gone(held(":1.7")));
        }
        assert!(watch.is_gone(None));
        assert!(watch.is_gone(held(":1.8")));
        let mut watch = Watch::default();
        let absent = (0..).take_while(|_| !watch.is_gone(None)).count();
        assert_eq!(u32::try_from(absent), Ok(ABSENT_LOOKS_MAX));
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
mod platform {
    //! The Secret Service.

    use std::collections::HashMap;
    use std::sync::{Arc, Mutex, PoisonError};

    use keyring_core::api::CredentialStoreApi;
    use keyring_core::{Entry, Error};
    use secret_service::EncryptionType;
    use secret_service::blocking::SecretService;
    use zbus::names::BusName;
    use zbus_secret_service_keyring_store::Store;

    use super::{KeyItemName, KeyStoreError, SERVICE};

    /// The label that a keychain program shows.
    const LABEL: &str = "Sealpost keys";

    /// The name of the Secret Service on the bus.
    const SECRETS: &str = "org.freedesktop.secrets";

    /// The connection to the Secret Service, once there was one.
    pub(super) struct Platform {
        store: Mutex<Option<Arc<Store>>>,
    }

    impl Platform {
        pub(super) const fn new() -> Self {
            Self {
                store: Mutex::new(None),
            }
        }

        pub(super) fn entry(&self, name: &KeyItemName) -> Result<Entry, KeyStoreError> {
            let label = HashMap::from([("label", LABEL)]);
            let built = self.store()?.build(SERVICE, name.as_str(), Some(&label));
            built.map_err(|error| self.sort(error))
        }

        /// Makes sure that there is an unlocked default collection that lasts.
        pub(super) fn check(&self) -> Result<(), KeyStoreError> {
            let service = SecretService::connect(EncryptionType::Dh).map_err(|e| sort(&e))?;
            let collection = match service.get_default_collection() {
                Err(secret_service::Error::NoResult) => return Err(KeyStoreError::Missing),
                found => found.map_err(|e| sort(&e))?,
            };
            if collection.collection_path.ends_with("/session") {
                return Err(KeyStoreError::Missing);
            }
            if collection.is_locked().map_err(|e| sort(&e))? {
                collection.unlock().map_err(|e| sort(&e))?;
            }
            Ok(())
        }

        /// Sorts a failure, and forgets the connection if it is of no use any more.
        pub(super) fn sort(&self, error: Error) -> KeyStoreError {
            let sorted = match error {
                Error::NoStorageAccess(cause) | Error::PlatformFailure(cause) => {
                    cause.downcast_ref().map_or(KeyStoreError::Failed, sort)
                }
                // Two items under one name, or one that isn't in the store's own format.
                Error::Ambiguous(_) | Error::BadEncoding(_) | Error::BadDataFormat(..) => {
                    KeyStoreError::Damaged
                }
                _ => KeyStoreError::Failed,
            };
            if matches!(sorted, KeyStoreError::Missing | KeyStoreError::Failed) {
                self.forget();
            }
            tracing::debug!(code = sorted.code(), "the keychain refused");
            sorted
        }

        /// Forgets the connection.
        pub(super) fn forget(&self) {
            *self.store.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }

        /// Who holds the name of the Secret Service on the session bus.
        pub(super) fn holder() -> Option<String> {
            let bus = zbus::blocking::Connection::session().ok()?;
            let bus = zbus::blocking::fdo::DBusProxy::new(&bus).ok()?;
            let name = BusName::try_from(SECRETS).ok()?;
            bus.get_name_owner(name).ok().map(|owner| owner.to_string())
        }

        fn store(&self) -> Result<Arc<Store>, KeyStoreError> {
            let mut held = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(store) = &*held {
                return Ok(Arc::clone(store));
            }
            let store = Store::new().map_err(|error| match error {
                Error::PlatformFailure(cause) => {
                    cause.downcast_ref().map_or(KeyStoreError::Missing, sort)
                }
                _ => KeyStoreError::Missing,
            })?;
            *held = Some(Arc::clone(&store));
            Ok(store)
        }
    }

    /// Sorts a failure of the Secret Service.
    fn sort(error: &secret_service::Error) -> KeyStoreError {
        use secret_service::Error as E;
        match error {
            E::Unavailable | E::NoResult => KeyStoreError::Missing,
            E::Locked | E::PromptDisconnected => KeyStoreError::Locked,
            E::Prompt => KeyStoreError::Dismissed,
            E::Crypto(_) => KeyStoreError::Damaged,
            E::Zbus(error) => sort_bus(error),
            E::ZbusFdo(error) => sort_fdo(error),
            _ => KeyStoreError::Failed,
        }
    }

    fn sort_bus(error: &zbus::Error) -> KeyStoreError {
        use zbus::Error as E;
        match error {
            E::MethodError(name, ..) => sort_name(name.as_str()),
            E::FDO(error) => sort_fdo(error),
            E::Address(_)
            | E::Connection(..)
            | E::Handshake(_)
            | E::InputOutput(_)
            | E::InterfaceNotFound => KeyStoreError::Missing,
            _ => KeyStoreError::Failed,
        }
    }

    fn sort_fdo(error: &zbus::fdo::Error) -> KeyStoreError {
        use zbus::DBusError;
        match error {
            zbus::fdo::Error::ZBus(error) => sort_bus(error),
            error => sort_name(error.name().as_str()),
        }
    }

    /// Sorts an error reply by its name. A sandbox that keeps the Secret Service away answers
    /// that access is denied: for this program there is none.
    fn sort_name(name: &str) -> KeyStoreError {
        match name {
            "org.freedesktop.Secret.Error.IsLocked" => KeyStoreError::Locked,
            "org.freedesktop.DBus.Error.AccessDenied"
            | "org.freedesktop.DBus.Error.Disconnected"
            | "org.freedesktop.DBus.Error.NameHasNoOwner"
            | "org.freedesktop.DBus.Error.NoServer"
            | "org.freedesktop.DBus.Error.ServiceUnknown"
            | "org.freedesktop.DBus.Error.UnknownInterface"
            | "org.freedesktop.DBus.Error.UnknownMethod"
            | "org.freedesktop.DBus.Error.UnknownObject" => KeyStoreError::Missing,
            name if name.starts_with("org.freedesktop.DBus.Error.Spawn.") => KeyStoreError::Missing,
            _ => KeyStoreError::Failed,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn an_absent_and_a_blocked_service_count_as_missing() {
            for name in ["ServiceUnknown", "AccessDenied", "Spawn.ExecFailed"] {
                let name = format!("org.freedesktop.DBus.Error.{name}");
                assert_eq!(sort_name(&name), KeyStoreError::Missing, "{name}");
            }
            assert_eq!(
                sort_name("org.freedesktop.Secret.Error.IsLocked"),
                KeyStoreError::Locked
            );
            assert_eq!(sort_name("org.example.Anything"), KeyStoreError::Failed);
        }

        #[test]
        fn a_dismissed_prompt_is_not_a_locked_keychain() {
            assert_eq!(
                sort(&secret_service::Error::Prompt),
                KeyStoreError::Dismissed
            );
            assert_eq!(sort(&secret_service::Error::Locked), KeyStoreError::Locked);
            assert_eq!(
                sort(&secret_service::Error::Unavailable),
                KeyStoreError::Missing
            );
        }
    }
}

#[cfg(any(target_os = "macos", windows))]
mod platform {
    //! Keychain Services and the Credential Manager, as `keyring` chooses them.

    use keyring::Entry as Chosen;
    use keyring_core::{Entry, Error};

    use super::{KeyItemName, KeyStoreError, SERVICE};

    /// Nothing to hold: `keyring` keeps its store for the process.
    pub(super) struct Platform;

    impl Platform {
        pub(super) const fn new() -> Self {
            Self
        }

        pub(super) fn entry(&self, name: &KeyItemName) -> Result<Entry, KeyStoreError> {
            let chosen = Chosen::new(SERVICE, name.as_str()).map_err(|error| self.sort(error))?;
            Ok(chosen.inner)
        }

        pub(super) fn check(&self) -> Result<(), KeyStoreError> {
            match Chosen::store_status() {
                Ok(()) => Ok(()),
                Err(_) => Err(KeyStoreError::Missing),
            }
        }

        #[expect(
            clippy::unused_self,
            reason = "the Secret Service has something to forget"
        )]
        pub(super) const fn forget(&self) {}

        /// The system's own keychain is always there.
        pub(super) fn holder() -> Option<String> {
            Some(String::new())
        }

        #[expect(
            clippy::unused_self,
            reason = "the Secret Service has something to forget"
        )]
        pub(super) fn sort(&self, error: Error) -> KeyStoreError {
            match error {
                Error::NoStorageAccess(_) => KeyStoreError::Locked,
                Error::NoDefaultStore => KeyStoreError::Missing,
                Error::Ambiguous(_) | Error::BadEncoding(_) | Error::BadDataFormat(..) => {
                    KeyStoreError::Damaged
                }
                _ => KeyStoreError::Failed,
            }
        }
    }
}
