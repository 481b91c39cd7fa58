//! An app whose disk is full, takes no writes, or holds what can't be opened.
//!
//! The small disk is one in memory, in namespaces of the test's own, so that no rights are
//! needed where the system lets everybody make such: the test starts itself anew inside. It
//! is larger than what the relay leaves free for others.

use std::fs;
use std::io::{Write as _, stderr};
use std::process::Command;

use super::*;
use crate::view::{Mute, Screen};

/// Names the small disk to the test that runs on it.
#[cfg(target_os = "linux")]
const DISK: &str = "SEALPOST_TEST_DISK";

/// Runs a test of this file anew with a small disk; nothing when it does run there.
#[cfg(target_os = "linux")]
fn small_disk(test: &str) -> Option<PathBuf> {
    const NO_DISK: i32 = 99;
    const SCRIPT: &str = r#"mount -t tmpfs -o size=400m,mode=700 tmpfs "$SEALPOST_TEST_DISK" || exit 99
        exec "$0" --exact "$1""#;
    if let Some(disk) = std::env::var_os(DISK) {
        return Some(disk.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", SCRIPT])
        .arg(std::env::current_exe().unwrap())
        .arg(format!("controller::tests::disk::{test}"))
        .env(DISK, folder.path())
        .env("TMPDIR", folder.path())
        .output();
    match ran {
        Ok(ran) if ran.status.success() => {
            let output = String::from_utf8_lossy(&ran.stdout).into_owned();
            assert!(output.contains("1 passed"), "{output}");
        }
        // A test that fails ends with another status than what can't be begun.
        Ok(ran) if ran.status.code() == Some(101) => {
            panic!("{}", String::from_utf8_lossy(&ran.stdout));
        }
        Ok(ran) if ran.status.code() == Some(NO_DISK) => say_not_run(),
        _ => say_not_run(),
    }
    None
}

#[cfg(target_os = "linux")]
fn say_not_run() {
    let skipped = "NOT RUN: this system gives users no mount namespaces, so nothing was shown \
                   about a full disk\n";
    stderr().write_all(skipped.as_bytes()).unwrap();
}

fn texts(messages: &[MessageView]) -> Vec<&str> {
    let texts = messages.iter().filter_map(|one| one.text.as_deref());
    texts.collect()
}

#[cfg(target_os = "linux")]
fn fill(path: &Path) {
    let mut ballast = fs::File::create(path).unwrap();
    for size in [1 << 20, 4_096] {
        while ballast.write_all(&vec![0; size]).is_ok() {}
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_what_it_can_not_keep_and_needs_no_restart() {
    let Some(disk) = small_disk("a_full_disk_refuses_what_it_can_not_keep_and_needs_no_restart")
    else {
        return;
    };
    // All temporary folders are on it.
    let Pair {
        laptop: app,
        phone,
        laptop_group: group,
        _data: data,
        ..
    } = Pair::new().await;
    app.send(&group, "before").await;
    let ballast = disk.join("ballast");
    fill(&ballast);
    let args = SendMessage {
        group: group.clone(),
        text: "x".repeat(60_000),
    };
    let refused = app.controller.send_message(args).await.err();
    let full = AppError::new(AppErrorCode::Storage).with_word("kind", "full");
    assert_eq!(refused, Some(full));
    let mute = Mute {
        until_ms: Some(app.clock.now_ms() + 60_000),
    };
    assert!(app.controller.mute(mute).await.is_err(), "it was not kept");
    let view = app.controller.view().await;
    assert_eq!(view.settings.muted_until_ms, None, "and is not claimed");
    assert_eq!(view.screen, Screen::Ready);
    assert_eq!(texts(&app.messages(&group).await), ["before"]);

    // What can be read is there after a start, too.
    phone.controller.quit().await;
    let app = app.restart(data.path(), "laptop").await;
    assert_eq!(app.controller.view().await.screen, Screen::Ready);
    assert_eq!(texts(&app.messages(&group).await), ["before"]);
    fs::remove_file(&ballast).unwrap();
    app.send(&group, "after").await;
    assert_eq!(texts(&app.messages(&group).await), ["before", "after"]);
    app.controller.quit().await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_takes_no_writes_is_named_and_left_alone() {
    let Some(disk) = small_disk("a_folder_that_takes_no_writes_is_named_and_left_alone") else {
        return;
    };
    let mount_as = |how: &str| {
        let mut command = Command::new("mount");
        command.args(["-o", how]).arg(&disk);
        assert!(command.status().unwrap().success(), "{how}");
    };
    let app = App::fresh(&disk, "default").await;
    let group = app.start_group().await;
    let keychain = Arc::clone(&app.keychain);
    app.controller.quit().await;
    drop(app);
    mount_as("remount,ro");
    let app = App::start(&disk, "default", &keychain).await;
    let view = app.controller.view().await;
    assert_eq!(view.screen, Screen::Failed, "no fresh start");
    let failure = view.failure.expect("it says why");
    assert_eq!(failure.code, AppErrorCode::ProfileNotWritable);
    app.controller.quit().await;
    drop(app);
    mount_as("remount,rw");
    let app = App::start(&disk, "default", &keychain).await;
    assert_eq!(app.group(&group).await.id, group);
    app.controller.quit().await;
}

/// Starts the app on a profile in which a file was changed, and checks that it stays so.
async fn start_with(change: impl Fn(&Path) -> (PathBuf, Vec<u8>)) -> AppError {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.start_group().await;
    let keychain = Arc::clone(&app.keychain);
    app.controller.quit().await;
    drop(app);
    let (path, content) = change(&data.path().join("default"));
    fs::write(&path, &content).unwrap();
    let app = App::start(data.path(), "default", &keychain).await;
    let view = app.controller.view().await;
    assert_eq!(view.screen, Screen::Failed, "no fresh start");
    app.controller.quit().await;
    assert!(fs::read(&path).unwrap() == content, "the file was changed");
    view.failure.expect("it says what is wrong")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_of_a_newer_version_is_refused_with_both_versions() {
    let failure = start_with(|profile| {
        let path = profile.join("profile.json");
        let text = fs::read_to_string(&path).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["format"] = 99.into();
        (path, json.to_string().into_bytes())
    })
    .await;
    assert_eq!(failure.code, AppErrorCode::ProfileTooNew);
    let numbers = serde_json::to_value(&failure).unwrap();
    assert_eq!(numbers["args"]["found"], 99, "{numbers}");
    assert!(numbers["args"]["known"].as_u64() > Some(0), "{numbers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_can_not_be_read_is_no_fresh_start() {
    let failure = start_with(|profile| {
        let path = profile.join("profile.json");
        (path, b"{ \"format\": ".to_vec())
    })
    .await;
    assert_eq!(failure.code, AppErrorCode::ProfileDamaged);
}

#[tokio::test(flavor = "multi_thread")]
async fn group_data_that_can_not_be_read_is_said_and_left_alone() {
    let failure = start_with(|profile| {
        let entries = fs::read_dir(profile)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let is_store = |path: &PathBuf| path.extension().is_some_and(|end| end == "db");
        let store = entries.into_iter().find(is_store).expect("a store");
        let content = vec![0x55; fs::read(&store).unwrap().len()];
        (store, content)
    })
    .await;
    let damaged = AppError::new(AppErrorCode::Storage).with_word("kind", "damaged");
    assert_eq!(failure, damaged);
}
