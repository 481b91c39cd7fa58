//! What a backup replaces, and what lies beside it meanwhile.

use super::super::place::{Place, Unfinished};
use super::*;

/// The names in the folder that begin with that of the backup.
fn beside(file: &Path) -> Vec<String> {
    let name = file.file_name().unwrap().to_str().unwrap();
    let entries = fs::read_dir(file.parent().unwrap()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut beside: Vec<_> = names
        .filter(|found| found.starts_with(name) && found != name)
        .collect();
    beside.sort();
    beside
}

fn contents(left_out: usize) -> Contents {
    Contents {
        groups: Vec::new(),
        left_out,
        device_name: None,
        settings: ShellSettings::new(),
        now_ms: 77,
    }
}

async fn made(contents: Contents, to: &Path, progress: Progress) -> Result<Counts, BackupError> {
    let (to, runtime) = (to.to_owned(), Handle::current());
    tokio::task::spawn_blocking(move || {
        let rng = &mut rand_core::OsRng;
        make(&contents, &to, PASSPHRASE, &progress, &runtime, rng)
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_replaces_an_older_one_only_when_it_is_whole() {
    let home = Home::new();
    let profile = home.profile();
    make_group(&home, &profile, "Family", 4);
    let file = home.folder.path().join("a.sealpost-backup");
    fs::write(&file, "SPBACKUP the old one").unwrap();
    let cancelled = Progress::default();
    cancelled.cancel();
    let outcome = back_up_with(&home, &profile, &file, cancelled).await;
    assert_eq!(outcome, Err(BackupError::Cancelled));
    assert_eq!(fs::read(&file).unwrap(), b"SPBACKUP the old one");
    assert!(beside(&file).is_empty());
    back_up(&home, &profile, &file).await.unwrap();
    assert_ne!(fs::read(&file).unwrap(), b"SPBACKUP the old one");
    assert!(beside(&file).is_empty());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_in_which_groups_are_missing_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.sealpost-backup");
    made(contents(1), &file, Progress::default()).await.unwrap();
    let first = fs::read(&file).unwrap();
    let outcome = made(contents(1), &file, Progress::default()).await;
    assert_eq!(outcome, Err(BackupError::WouldReplaceWhole));
    assert_eq!(fs::read(&file).unwrap(), first);
    made(contents(0), &file, Progress::default()).await.unwrap();
    assert_ne!(fs::read(&file).unwrap(), first);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_backup_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("thesis"), "of many years").unwrap();
    fs::write(at("short"), "SPBACK").unwrap();
    fs::write(at("empty"), "").unwrap();
    fs::create_dir(at("folder")).unwrap();
    for name in ["thesis", "short", "empty", "folder"] {
        let outcome = made(contents(0), &at(name), Progress::default()).await;
        assert_eq!(outcome, Err(BackupError::Occupied), "{name}");
        assert!(beside(&at(name)).is_empty());
    }
    assert_eq!(fs::read(at("thesis")).unwrap(), b"of many years");
    // Also one that comes while the backup is written.
    let place = Place::of(&at("late")).unwrap();
    place.check(false).unwrap();
    fs::write(at("late"), "new").unwrap();
    assert_eq!(place.check(false), Err(BackupError::Occupied));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_put_beside_it_neither_keeps_a_backup_nor_goes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    let left = "a.0123456789abcdef.part";
    let others = [
        "a.part",
        "a.0123456789abcdeg.part",
        "a.fedcba9876543210.part",
    ];
    for name in others {
        fs::write(folder.path().join(name), "").unwrap();
    }
    // Of these two only one is abandoned, and one isn't a backup.
    fs::write(folder.path().join(left), "SPBACKUP and a bit").unwrap();
    fs::write(folder.path().join(others[2]), "not ours").unwrap();
    #[cfg(unix)]
    let pipe = "a.00000000000000ff.part";
    #[cfg(unix)]
    {
        let made = std::process::Command::new("mkfifo")
            .arg(folder.path().join(pipe))
            .status();
        assert!(made.unwrap().success());
    }
    let place = Place::of(&file).unwrap();
    let working = Unfinished::start(&place, &mut rand_core::OsRng).unwrap();
    made(contents(0), &file, Progress::default()).await.unwrap();
    let names = beside(&file);
    assert!(!names.contains(&left.to_owned()), "it was abandoned");
    for name in others {
        assert!(names.contains(&name.to_owned()), "{name}");
    }
    #[cfg(unix)]
    assert!(names.contains(&pipe.to_owned()));
    // The other one that is on its way comes to its end, too.
    working.put_in_place(&place).unwrap();
}

#[test]
fn a_folder_that_can_not_be_synced_is_not_told_as_nothing_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    let place = Place::of(&file).unwrap();
    let unfinished = Unfinished::start(&place, &mut rand_core::OsRng).unwrap();
    let outcome =
        unfinished.put_in_place_and(&place, |_| Err(io::ErrorKind::PermissionDenied.into()));
    let said = BackupError::NotSynced(io::ErrorKind::PermissionDenied);
    assert_eq!(outcome, Err(said));
    assert!(file.exists());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_link_stays_one_and_its_target_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("a"), other.path().join("b"));
    fs::write(&target, "SPBACKUP the old one").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    made(contents(0), &link, Progress::default()).await.unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_ne!(fs::read(&target).unwrap(), b"SPBACKUP the old one");
    assert_eq!(fs::read(&link).unwrap(), fs::read(&target).unwrap());
}
