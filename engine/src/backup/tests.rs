//! A backup there and back, stopped anywhere, and files that are none.

mod place;
mod seal;
mod stopped;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::*;
use crate::clock::SystemClock;
use crate::core::event::Member;
use crate::core::group_name::GroupName;
use crate::core::issue::{DeliveryIssue, SendFailure};
use crate::core::message::{DeliveryState, NewMessage};
use crate::core::status::Status;
use crate::core::step::Change;
use crate::engine::{Engine, OpenOptions};
use crate::keys::{GroupKeys, KeyItemName, KeyStore, MemoryStore};
use crate::namespace::Namespace;
use crate::profile::{Profile, database_path};
use crate::store::Store;

const PASSPHRASE: &str = "correct horse";

/// A profile in a folder of its own.
struct Home {
    folder: TempDir,
    keys: Arc<MemoryStore>,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            keys: Arc::new(MemoryStore::default()),
        }
    }

    fn profile(&self) -> Profile {
        Profile::open(self.folder.path(), "default").unwrap()
    }

    async fn open(&self, profile: &Profile, namespace: &Namespace) -> Engine {
        Engine::open(OpenOptions {
            directory: profile.directory().to_owned(),
            namespace: namespace.clone(),
            profile_id: profile.id(),
            relay: None,
            device_name: "Laptop".to_owned(),
            key_store: Arc::<MemoryStore>::clone(&self.keys),
            clock: Arc::new(SystemClock),
            max_payload_bytes: None,
        })
        .await
        .unwrap()
    }

    /// What lies in the profile's folder, but for what is always there.
    fn rest(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path().join("default")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut rest: Vec<_> = names
            .filter(|name| name != "lock" && name != "profile.json")
            .collect();
        rest.sort();
        rest
    }
}

fn member(seed: u64, name: &str) -> Member {
    let keys = DeviceSecrets::generate(&mut ChaCha20Rng::seed_from_u64(seed)).keys();
    Member {
        id: keys.signing.member_id(),
        name: DeviceName::clean(name, &keys.signing),
        keys,
    }
}

fn text(number: u32, own: bool) -> NewMessage {
    let mut rng = ChaCha20Rng::seed_from_u64(u64::from(number));
    let author = member(
        if own { 1 } else { 2 },
        if own { "Laptop" } else { "Phone" },
    );
    let message = AppMessage::new(AppMessageKind::Text(format!("text {number}")), &mut rng);
    let mut id = [9; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    NewMessage {
        id: MessageId::from_bytes(id),
        own,
        author: author.id,
        author_name: author.name,
        app_id: Some(message.id),
        body: message.encode(),
        sent_at_ms: u64::from(number),
        stored_at_ms: u64::from(number) + 1,
        recipients: if own {
            vec![member(2, "Phone")]
        } else {
            Vec::new()
        },
    }
}

/// Makes a group with `count` messages, every third an own one, a gap among their positions,
/// an issue, and a name.
fn make_group(home: &Home, profile: &Profile, name: &str, count: u32) -> Namespace {
    let mut rng = ChaCha20Rng::seed_from_u64(u64::from(count));
    let namespace = profile.new_namespace(&mut rand_core::OsRng).unwrap();
    let keys = GroupKeys::generate(&mut rng);
    let item = KeyItemName::group(&profile.id(), &namespace);
    home.keys.save(&item, &keys.encode(&profile.id())).unwrap();
    let first = keys.first_identity().unwrap().id;
    let path = database_path(profile.directory(), &namespace);
    let mut store = Store::open(&path, keys.database_key(), &first).unwrap();
    let name = GroupName::given(name, None).unwrap();
    let mut changes = vec![Change::GroupNamed {
        name,
        is_mine: true,
    }];
    changes.extend((0..count).map(|number| Change::MessageStored(text(number, number % 3 == 0))));
    changes.push(Change::MessageDeleted { position: 2 });
    changes.push(Change::IssueAdded {
        at_ms: 5,
        issue: DeliveryIssue::SendFailed {
            message: text(0, true).id,
            failure: SendFailure::Expired,
        },
    });
    store.apply(&changes, None).unwrap();
    store.mark_read(4).unwrap();
    namespace
}

/// Writes a backup of all groups.
async fn back_up(home: &Home, profile: &Profile, to: &Path) -> Result<Counts, BackupError> {
    back_up_with(home, profile, to, Progress::default()).await
}

async fn back_up_with(
    home: &Home,
    profile: &Profile,
    to: &Path,
    progress: Progress,
) -> Result<Counts, BackupError> {
    let mut groups = Vec::new();
    for namespace in profile.namespaces().unwrap() {
        groups.push(home.open(profile, &namespace).await);
    }
    let settings = portable_settings(profile);
    let contents = Contents {
        groups: groups.clone(),
        left_out: 0,
        device_name: Some("Laptop".to_owned()),
        settings,
        now_ms: 77,
    };
    let (to, runtime) = (to.to_owned(), Handle::current());
    let made = tokio::task::spawn_blocking(move || {
        make(
            &contents,
            &to,
            PASSPHRASE,
            &progress,
            &runtime,
            &mut rand_core::OsRng,
        )
    });
    let made = made.await.unwrap();
    for group in groups {
        group.close().await;
    }
    made
}

fn restore_into(home: &Home, profile: &Profile, from: &Path) -> Result<Restored, BackupError> {
    restore(
        profile,
        &*home.keys,
        from,
        PASSPHRASE,
        &Progress::default(),
        &mut rand_core::OsRng,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_comes_back_whole_under_other_keys_and_as_a_member_of_nothing() {
    let old = Home::new();
    let profile = old.profile();
    let first = make_group(&old, &profile, "Family", 1_200);
    make_group(&old, &profile, "Work", 3);
    let dark = serde_json::json!({"theme": "dark", "startAtLogin": true});
    profile.set_setting("preferences", Some(dark)).unwrap();
    let file = old.folder.path().join("a.sealpost-backup");
    let counts = back_up(&old, &profile, &file).await.unwrap();
    assert_eq!(
        counts,
        Counts {
            groups: 2,
            messages: 1_201
        }
    );

    let new = Home::new();
    let into = new.profile();
    let restored = restore_into(&new, &into, &file).unwrap();
    assert_eq!((restored.counts, restored.made_at_ms), (counts, 77));
    assert_eq!(into.device_name().as_deref(), Some("Laptop"));
    let chosen = serde_json::json!({"theme": "dark"});
    assert_eq!(into.setting("preferences"), Some(chosen));
    let ended = serde_json::json!({
        restored.groups[0].as_str(): "restored",
        restored.groups[1].as_str(): "restored",
    });
    assert_eq!(into.setting("endedGroups"), Some(ended));
    assert_eq!(into.namespaces().unwrap(), restored.groups);
    let (was, is) = (
        old.open(&profile, &first).await,
        new.open(&into, &restored.groups[0]).await,
    );
    assert_eq!(is.status(), Status::NotJoined);
    assert_ne!(was.me().id, is.me().id);
    assert_eq!(is.group_name().as_deref(), Some("Family"));
    let (mut seen, mut after, mut after_here) = (0, 0, 0);
    loop {
        let there = was.messages_after(after, 300).await.unwrap();
        let here = is.messages_after(after_here, 300).await.unwrap();
        assert_eq!(there.len(), here.len());
        let (Some(last), Some(last_here)) = (there.last(), here.last()) else {
            break;
        };
        (after, after_here) = (last.position, last_here.position);
        for (there, here) in there.into_iter().zip(here) {
            seen += 1;
            let mut expected = there;
            // Without gaps, and nothing waits any more.
            expected.position = seen;
            for delivery in &mut expected.deliveries {
                assert_eq!(delivery.state, DeliveryState::Waiting);
                delivery.state = DeliveryState::Withdrawn;
            }
            assert!(expected == here, "message {seen}");
        }
    }
    assert_eq!(seen, 1_199);
    // Position 4 of the old history is the third one here.
    assert_eq!(is.read_position().await.unwrap(), 3);
    let issues = is.delivery_issues(9).await.unwrap();
    assert_eq!(issues.len(), 1);
    assert_eq!(issues[0].issue.code(), "sendFailed.expired");
    is.close().await;
    was.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_there_already_stays_as_it_is() {
    let home = Home::new();
    let profile = home.profile();
    let own = make_group(&home, &profile, "Family", 4);
    profile.set_device_name("Desk").unwrap();
    let file = home.folder.path().join("a.sealpost-backup");
    back_up(&home, &profile, &file).await.unwrap();
    for copies in 1..3 {
        let restored = restore_into(&home, &profile, &file).unwrap();
        assert_eq!(restored.groups.len(), 1);
        let listed = profile.namespaces().unwrap();
        assert_eq!(listed.len(), 1 + copies);
        assert_eq!(listed[0], own);
    }
    assert_eq!(profile.device_name().as_deref(), Some("Desk"));
    let group = home.open(&profile, &own).await;
    assert_eq!(group.message_count().await.unwrap(), 3);
    assert_eq!(group.messages_after(0, 9).await.unwrap()[0].position, 1);
    group.close().await;
}

#[test]
fn what_comes_and_goes_between_the_pages_tears_nothing() {
    let home = Home::new();
    let profile = home.profile();
    let namespace = make_group(&home, &profile, "Family", 1_200);
    let item = KeyItemName::group(&profile.id(), &namespace);
    let item = home.keys.load(&item).unwrap().unwrap();
    let keys = GroupKeys::decode(&item, &profile.id()).unwrap();
    let path = database_path(profile.directory(), &namespace);
    let first = keys.first_identity().unwrap().id;
    let mut store = Store::open(&path, keys.database_key(), &first).unwrap();
    let head = store.backup_head().unwrap();
    let (mut after, mut seen, mut pages) = (0, Vec::new(), 0);
    loop {
        let page = store.backup_messages(after, head.last_position).unwrap();
        let Some(last) = page.last() else { break };
        after = last.position;
        seen.extend(page.iter().map(|message| message.position));
        pages += 1;
        // One that was read, one that is to be read, and a new one.
        let mut changes: Vec<_> = [after - 1, after + 100]
            .map(|position| Change::MessageDeleted { position })
            .into();
        changes.push(Change::MessageStored(text(5_000 + pages, false)));
        store.apply(&changes, None).unwrap();
    }
    assert!(pages > 2, "{pages}");
    assert!(seen.is_sorted() && seen.last() <= Some(&head.last_position));
    // Of those of the begin only what went before its page was read is missing.
    let missing: Vec<_> = (1..=head.last_position)
        .filter(|position| seen.binary_search(position).is_err())
        .collect();
    assert_eq!(missing, [2, 601, 1_102]);
}
