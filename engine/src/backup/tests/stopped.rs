//! A restore that ends before its end, or is given half a file.

use super::super::restore::{Plan, Staging};
use super::*;
use crate::durable_file;
use crate::keys::{KeyItem, KeyStoreError};

/// Two groups in a file.
async fn backup() -> (Home, std::path::PathBuf) {
    let home = Home::new();
    let profile = home.profile();
    make_group(&home, &profile, "Family", 300);
    make_group(&home, &profile, "Work", 3);
    let file = home.folder.path().join("a.sealpost-backup");
    back_up(&home, &profile, &file).await.unwrap();
    (home, file)
}

/// A key store that refuses after so many items.
struct Refusing<'a>(&'a MemoryStore, std::sync::atomic::AtomicI32);

impl KeyStore for Refusing<'static> {
    fn load(&self, name: &KeyItemName) -> Result<Option<KeyItem>, KeyStoreError> {
        self.0.load(name)
    }

    fn save(&self, name: &KeyItemName, item: &KeyItem) -> Result<(), KeyStoreError> {
        if self.1.fetch_sub(1, Ordering::Relaxed) <= 0 {
            return Err(KeyStoreError::Locked);
        }
        self.0.save(name, item)
    }

    fn remove(&self, name: &KeyItemName) -> Result<(), KeyStoreError> {
        self.0.remove(name)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_fails_leaves_nothing() {
    let (_home, file) = backup().await;
    let whole = fs::read(&file).unwrap();
    let new = Home::new();
    let profile = new.profile();
    let cut = new.folder.path().join("cut");
    // In the head, in the first record, in a group, and just before the end.
    for length in [30, 90, whole.len() / 2, whole.len() - 1] {
        fs::write(&cut, &whole[..length]).unwrap();
        let outcome = restore_into(&new, &profile, &cut).err();
        assert_eq!(outcome, Some(BackupError::Truncated), "{length}");
        assert_eq!(new.rest(), Vec::<String>::new(), "{length}");
        assert!(new.keys.is_empty());
    }
    let keys: &'static MemoryStore = Box::leak(Box::default());
    let refusing = Refusing(keys, 1.into());
    let outcome = restore(
        &profile,
        &refusing,
        &file,
        PASSPHRASE,
        |_| ShellSettings::new(),
        &Progress::default(),
        &mut rand_core::OsRng,
    );
    assert_eq!(
        outcome.err(),
        Some(BackupError::KeyStore(KeyStoreError::Locked))
    );
    assert_eq!(new.rest(), Vec::<String>::new());
    assert!(keys.is_empty(), "the key of the first group is gone, too");
    assert_eq!(profile.device_name(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_is_killed_before_it_counts_leaves_nothing_at_the_next_start() {
    let (_home, file) = backup().await;
    let new = Home::new();
    let profile = new.profile();
    let staging = Staging::start(&profile, &*new.keys).unwrap();
    let opener = super::super::seal::Opener::start(fs::File::open(&file).unwrap(), PASSPHRASE);
    let progress = Progress::default();
    staging
        .fill(opener.unwrap(), &progress, &mut rand_core::OsRng)
        .unwrap();
    assert_eq!(progress.so_far(), (301, Some(301)));
    // No destructor runs in a program that is killed.
    std::mem::forget(staging);
    drop(profile);
    assert_eq!(new.rest(), ["restore.new"]);
    assert!(!new.keys.is_empty());
    let profile = new.profile();
    assert!(profile.namespaces().unwrap().is_empty());
    clear_unfinished(&profile, &*new.keys).unwrap();
    assert_eq!(new.rest(), Vec::<String>::new());
    assert!(new.keys.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_is_killed_once_it_counts_is_whole_at_the_next_start() {
    let (_home, file) = backup().await;
    for step in 0..4 {
        let new = Home::new();
        let profile = new.profile();
        let staging = Staging::start(&profile, &*new.keys).unwrap();
        let opener = super::super::seal::Opener::start(fs::File::open(&file).unwrap(), PASSPHRASE);
        let progress = Progress::default();
        let filled = staging.fill(opener.unwrap(), &progress, &mut rand_core::OsRng);
        let (restored, device_name) = filled.unwrap();
        let plan = Plan {
            device_name,
            settings: ShellSettings::new(),
        };
        let folder = profile.directory().join("restore.new");
        let ready = profile.directory().join("restore.ready");
        let bytes = serde_json::to_vec(&plan).unwrap();
        durable_file::replace(&folder.join("plan.json"), &bytes).unwrap();
        durable_file::rename(&folder, &ready).unwrap();
        std::mem::forget(staging);
        // So many of the databases are in place already; at last the plan is gone as well.
        for namespace in restored.groups.iter().take(step) {
            let in_place = database_path(profile.directory(), namespace);
            fs::rename(database_path(&ready, namespace), in_place).unwrap();
        }
        if step == 3 {
            profile.set_device_name("Laptop").unwrap();
            fs::remove_file(ready.join("plan.json")).unwrap();
        }
        drop(profile);
        let profile = new.profile();
        clear_unfinished(&profile, &*new.keys).unwrap();
        assert_eq!(profile.namespaces().unwrap(), restored.groups, "{step}");
        assert_eq!(profile.device_name().as_deref(), Some("Laptop"));
        assert!(new.rest().iter().all(|name| !name.starts_with("restore")));
        let group = new.open(&profile, &restored.groups[0]).await;
        assert_eq!(group.message_count().await.unwrap(), 299);
        group.close().await;
    }
}
