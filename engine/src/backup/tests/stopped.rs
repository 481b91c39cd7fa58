//! A restore that ends before its end, or is given half a file.

use super::super::record::{self, EndPart, GroupPart, Kind, ProfilePart};
use super::super::restore::Staging;
use super::super::seal::Sealer;
use super::*;
use crate::keys::passphrase::Cost;
use crate::keys::{KeyItem, KeyStoreError};
use crate::profile::ProfileError;
use crate::store::TIME_MS_MAX;
use sealpost_protocol::limit::NAME_BYTES_MAX;

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
        let (restored, plan) = filled.unwrap();
        let ready = staging.make_ready(&plan).unwrap();
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

/// A restore of the file that came up to the point from which on it counts.
fn made_ready(home: &Home, profile: &Profile, file: &Path) -> Restored {
    let staging = Staging::start(profile, &*home.keys).unwrap();
    let opener = super::super::seal::Opener::start(fs::File::open(file).unwrap(), PASSPHRASE);
    let filled = staging.fill(opener.unwrap(), &Progress::default(), &mut rand_core::OsRng);
    let (restored, plan) = filled.unwrap();
    staging.make_ready(&plan).unwrap();
    std::mem::forget(staging);
    restored
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_first_puts_in_place_what_an_earlier_one_left_ready() {
    let (_home, file) = backup().await;
    let new = Home::new();
    let profile = new.profile();
    let earlier = made_ready(&new, &profile, &file);
    let later = restore_into(&new, &profile, &file).unwrap();
    let all = [earlier.groups.clone(), later.groups].concat();
    assert_eq!(profile.namespaces().unwrap(), all);
    let group = new.open(&profile, &earlier.groups[0]).await;
    assert_eq!(group.message_count().await.unwrap(), 299);
    group.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_beside_one_that_waits_fails_and_touches_nothing_of_it() {
    let (_home, file) = backup().await;
    let new = Home::new();
    let profile = new.profile();
    let earlier = made_ready(&new, &profile, &file);
    let keys = new.keys.len();
    let staging = Staging::start(&profile, &*new.keys).unwrap();
    let opener = super::super::seal::Opener::start(fs::File::open(&file).unwrap(), PASSPHRASE);
    let filled = staging.fill(opener.unwrap(), &Progress::default(), &mut rand_core::OsRng);
    let (restored, plan) = filled.unwrap();
    let outcome = staging.commit(&restored.groups, &plan);
    assert!(matches!(outcome, Err(BackupError::Unwritable(_))));
    assert_eq!(new.rest(), ["restore.ready"]);
    assert_eq!(new.keys.len(), keys, "the new keys are gone, and only they");
    // Something is in the way of the earlier one: nothing is restored before it.
    let in_the_way = database_path(profile.directory(), &earlier.groups[0]);
    fs::create_dir(&in_the_way).unwrap();
    let outcome = restore_into(&new, &profile, &file).err();
    assert_eq!(outcome, Some(BackupError::Profile(ProfileError::Damaged)));
    fs::remove_dir(&in_the_way).unwrap();
    drop(profile);
    assert_eq!(new.profile().namespaces().unwrap(), earlier.groups);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_wait_for_the_databases_and_never_replace_newer_ones() {
    let (_home, file) = backup().await;
    let new = Home::new();
    let profile = new.profile();
    let earlier = made_ready(&new, &profile, &file);
    let in_the_way = database_path(profile.directory(), &earlier.groups[1]);
    fs::create_dir(&in_the_way).unwrap();
    assert_eq!(profile.finish_restore(), Err(ProfileError::Damaged));
    assert_eq!(profile.setting("endedGroups"), None);
    assert_eq!(profile.device_name(), None);
    // Meanwhile the person goes on.
    profile.set_device_name("Desk").unwrap();
    let ended = serde_json::json!({"g": "left"});
    profile.set_setting("endedGroups", Some(ended)).unwrap();
    fs::remove_dir(&in_the_way).unwrap();
    profile.finish_restore().unwrap();
    assert_eq!(profile.device_name().as_deref(), Some("Desk"));
    let ended = serde_json::json!({
        "g": "left",
        earlier.groups[0].as_str(): "restored",
        earlier.groups[1].as_str(): "restored",
    });
    assert_eq!(profile.setting("endedGroups"), Some(ended));
}

/// A file of records that somebody made who knows the passphrase.
fn made_by_hand(kinds: Vec<Kind>) -> Vec<u8> {
    let cheap = Cost {
        memory_kib: 8,
        passes: 1,
        lanes: 1,
    };
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut sealer = Sealer::start_at(cheap, Vec::new(), PASSPHRASE, &mut rng).unwrap();
    for kind in kinds {
        record::write(&mut sealer, kind).unwrap();
    }
    sealer.finish().unwrap()
}

fn message_part(position: u64) -> MessagePart {
    let stored = text(u32::try_from(position % 1_000).unwrap(), false);
    MessagePart {
        position,
        id: stored.id.as_bytes().to_vec(),
        own: false,
        author: stored.author.as_str().to_owned(),
        author_name: "Phone".to_owned(),
        app_id: None,
        body: stored.body,
        sent_at_ms: 1,
        stored_at_ms: 2,
        deliveries: Vec::new(),
        resent: Vec::new(),
    }
}

/// A line of the membership history of somebody with this name.
fn note_part(name: &str) -> NotePart {
    let keys = member(2, "Phone").keys;
    NotePart {
        seen_ms: u64::MAX,
        is_added: true,
        member: keys.signing.as_bytes().to_vec(),
        noise: keys.noise.as_bytes().to_vec(),
        name: name.to_owned(),
        issuer: Some(keys.signing.as_bytes().to_vec()),
        issuer_name: Some("An\u{202e}na\u{7}".to_owned()),
        version: Some(2),
        ..NotePart::default()
    }
}

#[test]
fn more_groups_than_a_backup_has_are_refused_and_leave_nothing() {
    let new = Home::new();
    let profile = new.profile();
    let file = new.folder.path().join("made");
    let mut kinds = vec![Kind::Profile(ProfilePart::default())];
    kinds.extend((0..=GROUPS_MAX).map(|_| Kind::Group(GroupPart::default())));
    kinds.push(Kind::End(EndPart {
        groups: GROUPS_MAX as u64 + 1,
    }));
    fs::write(&file, made_by_hand(kinds)).unwrap();
    let outcome = restore_into(&new, &profile, &file).err();
    assert_eq!(outcome, Some(BackupError::Damaged));
    assert_eq!(new.rest(), Vec::<String>::new());
    assert!(new.keys.is_empty());
}

#[test]
fn records_that_this_program_never_writes_are_refused_and_leave_nothing() {
    let new = Home::new();
    let profile = new.profile();
    let file = new.folder.path().join("made");
    let head = || Kind::Profile(ProfilePart::default());
    let group = || Kind::Group(GroupPart::default());
    let end = |groups| Kind::End(EndPart { groups });
    let good = || message_part(1);
    let bad_messages = [
        MessagePart {
            id: vec![0; 31],
            ..good()
        },
        MessagePart {
            author: "nobody".to_owned(),
            ..good()
        },
        MessagePart {
            app_id: Some(vec![0; 17]),
            ..good()
        },
        MessagePart {
            body: vec![0; 61_441],
            ..good()
        },
        MessagePart {
            position: 0,
            ..good()
        },
        MessagePart {
            resent: vec![Vec::new()],
            ..good()
        },
        MessagePart {
            deliveries: vec![DeliveryPart {
                member: good().author,
                state: "elsewhere".to_owned(),
                ..DeliveryPart::default()
            }],
            ..good()
        },
    ];
    let mut files: Vec<Vec<Kind>> = bad_messages
        .into_iter()
        .map(|message| vec![head(), group(), Kind::Message(message), end(1)])
        .collect();
    files.extend([
        vec![],
        vec![end(0)],
        vec![head(), Kind::Message(good()), end(0)],
        vec![head(), head(), end(0)],
        vec![head(), group()],
        vec![head(), group(), end(2)],
        vec![head(), group(), end(1), end(1)],
        vec![
            head(),
            group(),
            Kind::Message(message_part(9)),
            Kind::Message(good()),
            end(1),
        ],
        vec![head(), group(), Kind::Note(NotePart::default()), end(1)],
    ]);
    for (number, kinds) in files.into_iter().enumerate() {
        fs::write(&file, made_by_hand(kinds)).unwrap();
        let outcome = restore_into(&new, &profile, &file).err();
        assert_eq!(outcome, Some(BackupError::Damaged), "{number}");
        assert_eq!(new.rest(), Vec::<String>::new(), "{number}");
        assert!(new.keys.is_empty());
    }
}

/// Names that play tricks, times beyond the calendar, long texts.
fn made_up() -> Vec<Kind> {
    let last = MessagePart {
        author_name: "An\u{202e}na\u{7}".to_owned(),
        sent_at_ms: u64::MAX,
        position: u64::MAX,
        ..message_part(7)
    };
    let head = ProfilePart {
        device_name: Some("\u{200b}".to_owned()),
        settings: format!(r#"{{"preferences":{}1{}}}"#, "[".repeat(90), "]".repeat(90)),
        made_at_ms: u64::MAX,
        messages: u64::MAX,
    };
    vec![
        Kind::Profile(head),
        Kind::Group(GroupPart {
            name: Some("\u{202e}ylimaF".to_owned()),
            read_position: 1,
        }),
        Kind::Message(message_part(1)),
        Kind::Message(last),
        // An issue that a later version may have.
        Kind::Issue(IssuePart {
            code: "somethingNew".to_owned(),
            ..IssuePart::default()
        }),
        Kind::Issue(IssuePart {
            at_ms: u64::MAX,
            code: "awayTooLong".to_owned(),
            detail: Some(u64::MAX.to_string()),
            ..IssuePart::default()
        }),
        Kind::Issue(IssuePart {
            at_ms: 1,
            code: "handlerGaveUp".to_owned(),
            message: Some(vec![1; 32]),
            detail: Some(format!("\u{202e}{}", "x".repeat(5_000))),
            ..IssuePart::default()
        }),
        Kind::Note(note_part(&"x".repeat(50_000))),
        Kind::Note(note_part("\u{200b}")),
        Kind::End(EndPart { groups: 1 }),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_numbers_from_a_file_are_tamed() {
    let new = Home::new();
    let profile = new.profile();
    let file = new.folder.path().join("made");
    fs::write(&file, made_by_hand(made_up())).unwrap();
    let restored = restore_into(&new, &profile, &file).unwrap();
    assert_eq!(profile.device_name(), None, "nothing of it could be seen");
    let group = new.open(&profile, &restored.groups[0]).await;
    assert_eq!(group.group_name().as_deref(), Some("ylimaF"));
    let messages = group.messages_after(0, 9).await.unwrap();
    let found: Vec<_> = messages
        .iter()
        .map(|message| (message.position, message.author_name.as_str()))
        .collect();
    assert_eq!(found, [(1, "Phone"), (2, "Anna")], "room is left for more");
    assert_eq!(messages[1].sent_at_ms, TIME_MS_MAX);
    assert_eq!(group.unread().await.unwrap(), 1);
    let issues = group.delivery_issues(9).await.unwrap();
    let found: Vec<_> = issues
        .iter()
        .map(|listed| (listed.at_ms, listed.issue.detail().unwrap().into_owned()))
        .collect();
    let since = TIME_MS_MAX.to_string();
    let said = "x".repeat(NAME_BYTES_MAX);
    assert!(found.contains(&(TIME_MS_MAX, since)));
    assert!(found.contains(&(1, said)));
    let notes = group.membership_history(None, 9).await.unwrap();
    assert_eq!(notes.len(), 2);
    for note in notes {
        let (note, name) = (&note.note, note.note.member.name.as_str());
        assert_eq!(note.seen_ms, TIME_MS_MAX);
        assert!(!name.is_empty() && name.len() <= NAME_BYTES_MAX);
        let by = note.by.as_ref().unwrap();
        assert_eq!(by.name.as_ref().unwrap().as_str(), "Anna");
    }
    group.close().await;
    assert_eq!(restored.made_at_ms, TIME_MS_MAX);
    // What is no setting of the app that goes along is left out.
    assert_eq!(profile.setting("preferences"), None);
}
