use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::*;

#[test]
fn a_profile_is_made_once_and_found_again() {
    let data = tempfile::tempdir().unwrap();
    let profile = Profile::open(data.path(), "default").unwrap();
    let id = profile.id();
    profile.set_device_name("Küche").unwrap();
    profile.set_key_store(KeyStoreKind::KeyFile).unwrap();
    profile.set_setting("theme", Some("dark".into())).unwrap();
    drop(profile);

    let profile = Profile::open(data.path(), "default").unwrap();
    assert_eq!(profile.id(), id);
    assert_eq!(profile.device_name().as_deref(), Some("Küche"));
    assert_eq!(profile.key_store(), Some(KeyStoreKind::KeyFile));
    assert_eq!(profile.setting("theme"), Some("dark".into()));
    profile.set_setting("theme", None).unwrap();
    assert_eq!(profile.setting("theme"), None);
    assert_ne!(Profile::open(data.path(), "other").unwrap().id(), id);
}

#[test]
fn a_second_opener_is_told_who_has_it() {
    let data = tempfile::tempdir().unwrap();
    let first = Profile::open(data.path(), "default").unwrap();
    let refused = Profile::open(data.path(), "default").unwrap_err();
    assert_eq!(
        refused,
        ProfileError::InUse {
            pid: Some(std::process::id())
        }
    );
    drop(first);
    Profile::open(data.path(), "default").unwrap();
}

#[test]
fn names_that_are_paths_are_refused_and_make_nothing() {
    let data = tempfile::tempdir().unwrap();
    for name in ["", "..", "a/b", "ä", "a b", &"x".repeat(65)] {
        assert_eq!(
            Profile::open(data.path(), name).unwrap_err(),
            ProfileError::InvalidName
        );
    }
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
}

#[test]
fn a_newer_or_damaged_record_is_refused_and_stays_as_it_is() {
    let data = tempfile::tempdir().unwrap();
    drop(Profile::open(data.path(), "default").unwrap());
    let path = data.path().join("default/profile.json");
    let good = fs::read_to_string(&path).unwrap();
    let newer = good.replace("\"format\": 1", "\"format\": 2");
    let short_id = good.replace("\"id\": \"", "\"id\": \"0");
    let cases = [
        (newer.as_str(), ProfileError::TooNew { found: 2, known: 1 }),
        (short_id.as_str(), ProfileError::Damaged),
        ("{\"format\": 1}", ProfileError::Damaged),
        ("", ProfileError::Damaged),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).unwrap();
        assert_eq!(Profile::open(data.path(), "default").unwrap_err(), expected);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn databases_without_a_record_are_not_taken_for_a_new_profile() {
    let data = tempfile::tempdir().unwrap();
    for (name, database) in [("default", "trueseal_a.db"), ("other", "links.db")] {
        let directory = data.path().join(name);
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join(database), "x").unwrap();
        assert_eq!(
            Profile::open(data.path(), name).unwrap_err(),
            ProfileError::Damaged
        );
        assert!(!directory.join("profile.json").exists());
    }
}

#[test]
fn a_data_directory_that_is_a_file_is_named_as_such() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("file");
    fs::write(&file, "kept").unwrap();
    let refused = Profile::open(&file, "default").unwrap_err();
    assert_eq!(
        refused,
        ProfileError::NotWritable(NotWritable::NotADirectory)
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn every_reason_for_not_writing_has_its_own_name() {
    let kinds = [
        (io::ErrorKind::PermissionDenied, "permissionDenied"),
        (io::ErrorKind::ReadOnlyFilesystem, "readOnly"),
        (io::ErrorKind::NotADirectory, "notADirectory"),
        (io::ErrorKind::StorageFull, "full"),
        (io::ErrorKind::NotFound, "other"),
    ];
    for (kind, code) in kinds {
        assert_eq!(NotWritable::from(io::Error::from(kind)).code(), code);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_directory_is_refused() {
    // Not even root may make a directory here.
    let refused = Profile::open(Path::new("/proc/self"), "default").unwrap_err();
    assert_eq!(refused.code(), "profileNotWritable");
}

#[test]
fn groups_are_listed_in_the_order_they_were_made() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let data = tempfile::tempdir().unwrap();
    let profile = Profile::open(data.path(), "default").unwrap();
    let made: Vec<_> = (0..12)
        .map(|_| profile.new_namespace(&mut rng).unwrap())
        .collect();
    assert!(
        profile.namespaces().unwrap().is_empty(),
        "a name alone is not a group"
    );
    for namespace in made.iter().rev() {
        fs::write(database_path(profile.directory(), namespace), "x").unwrap();
    }
    fs::write(profile.directory().join("trueseal_a b.db"), "x").unwrap();
    fs::write(profile.directory().join("trueseal_unfinished.db"), "").unwrap();
    fs::write(profile.directory().join("trueseal_x.db-wal"), "x").unwrap();
    assert_eq!(profile.namespaces().unwrap(), made);
    drop(profile);
    let profile = Profile::open(data.path(), "default").unwrap();
    assert!(profile.new_namespace(&mut rng).unwrap() > *made.last().unwrap());
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_look_inside() {
    use std::os::unix::fs::PermissionsExt;
    let data = tempfile::tempdir().unwrap();
    let profile = Profile::open(data.path(), "default").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(profile.directory()), 0o700);
    assert_eq!(mode(&profile.directory().join("profile.json")), 0o600);
}

#[test]
fn a_profile_id_is_read_back_and_never_printed() {
    let id = ProfileId::generate(&mut ChaCha20Rng::seed_from_u64(1));
    assert_eq!(ProfileId::parse(&id.to_text()), Some(id));
    assert_eq!(ProfileId::parse(id.to_text().get(1..).unwrap()), None);
    assert_eq!(ProfileId::parse(&"+".repeat(32)), None);
    assert_eq!(format!("{id:?}"), "ProfileId");
}

#[test]
fn a_record_that_could_never_be_read_again_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let profile = Profile::open(directory.path(), "default").unwrap();
    profile.set_setting("kept", Some(1.into())).unwrap();
    let long = "x".repeat(1024 * 1024);
    let refused = profile.set_setting("long", Some(long.into()));
    let too_large = NotWritable::Other(io::ErrorKind::FileTooLarge);
    assert_eq!(refused, Err(ProfileError::NotWritable(too_large)));
    assert_eq!(profile.setting("long"), None);
    drop(profile);
    let profile = Profile::open(directory.path(), "default").unwrap();
    assert_eq!(profile.setting("kept"), Some(1.into()));
}
