//! The relay's long-term key on disk.
//!
//! Owns: the file of 64 hex digits, readable by its owner only (specification 1.3). Never
//! does: replace a key that exists, print or log one.
//!
//! Invariants:
//! - the file appears complete or not at all, whenever the power fails, where the file system
//!   has hard links; elsewhere half a file is refused as damaged;
//! - of two relays that start at once on an empty folder, none replaces the key of the other;
//! - no copy of a key lies beside it after a start.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rand_core::{OsRng, RngCore};
use sealpost_protocol::key::NoiseSecret;
use zeroize::Zeroizing;

use crate::folder::{create_private_folder, folder_of, sync_folder};

/// Why there is no key. Paths are not repeated; the caller knows which one it gave.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum KeyFileError {
    /// There is no such file.
    #[error("the key file doesn't exist")]
    Missing,
    /// The file isn't 64 hex digits.
    #[error("the key file doesn't hold 64 hex digits")]
    Damaged,
    /// A key was supplied and the file holds another one.
    #[error("the key file holds another key than the one supplied")]
    Different,
    /// The file can't be read.
    #[error("the key file can't be read ({0})")]
    Read(io::ErrorKind),
    /// The file can't be written.
    #[error("the key file can't be written ({0})")]
    Write(io::ErrorKind),
}

/// The longest file that is read: 64 digits with room for white space.
const FILE_BYTES_MAX: u64 = 256;

/// Loads the key of `path`, or makes one there if the file doesn't exist.
///
/// # Errors
///
/// See [`KeyFileError`]; a damaged file is never overwritten.
pub fn load_or_create(path: &Path) -> Result<NoiseSecret, KeyFileError> {
    let key = match load(path) {
        Err(KeyFileError::Missing) => create(path, &NoiseSecret::generate(&mut OsRng)),
        other => other,
    }?;
    remove_drafts(path);
    Ok(key)
}

/// Loads the key of `path`.
///
/// # Errors
///
/// See [`KeyFileError`].
pub fn load(path: &Path) -> Result<NoiseSecret, KeyFileError> {
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => KeyFileError::Missing,
        kind => KeyFileError::Read(kind),
    })?;
    warn_if_shared(&file);
    let mut text = Zeroizing::new(String::new());
    match file.take(FILE_BYTES_MAX).read_to_string(&mut text) {
        Ok(_) => parse(&text).ok_or(KeyFileError::Damaged),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(KeyFileError::Damaged),
        Err(error) => Err(KeyFileError::Read(error.kind())),
    }
}

/// Whoever can read the key can pose as this relay. Some ways of handing out secrets leave no
/// choice of the mode, so this isn't an error.
#[cfg(unix)]
fn warn_if_shared(file: &File) {
    use std::os::unix::fs::MetadataExt;
    if file
        .metadata()
        .is_ok_and(|metadata| metadata.mode() & 0o077 != 0)
    {
        tracing::warn!("other users of this computer can read the relay's key file");
    }
}

#[cfg(not(unix))]
fn warn_if_shared(_file: &File) {}

/// Uses a key that the operator supplies: writes it where no file exists, and refuses a file
/// that holds another one, because a relay with a new key is unknown to every device.
///
/// # Errors
///
/// See [`KeyFileError`].
pub fn load_or_supply(path: &Path, supplied: &NoiseSecret) -> Result<NoiseSecret, KeyFileError> {
    let stored = match load(path) {
        Err(KeyFileError::Missing) => create(path, supplied)?,
        other => other?,
    };
    remove_drafts(path);
    if stored.public() == supplied.public() {
        Ok(stored)
    } else {
        Err(KeyFileError::Different)
    }
}

/// Reads 64 hex digits with white space around them.
pub(crate) fn parse(text: &str) -> Option<NoiseSecret> {
    let mut bytes = Zeroizing::new([0; 32]);
    hex::decode_to_slice(text.trim(), bytes.as_mut()).ok()?;
    Some(NoiseSecret::from_bytes(*bytes))
}

/// Writes the key beside its place and links it in, then loads what stands there.
fn create(path: &Path, key: &NoiseSecret) -> Result<NoiseSecret, KeyFileError> {
    let failed = |error: io::Error| KeyFileError::Write(error.kind());
    let folder = folder_of(path);
    create_private_folder(folder).map_err(failed)?;
    let draft = draft_path(path);
    let settled = write_private(&draft, key).and_then(|()| {
        let linked = fs::hard_link(&draft, path);
        settle(linked, path, key)
    });
    let _ = fs::remove_file(&draft);
    settled.map_err(failed)?;
    sync_folder(folder).map_err(failed)?;
    load(path)
}

fn draft_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}{DRAFT_SUFFIX}", OsRng.next_u64()));
    path.with_file_name(name)
}

const DRAFT_SUFFIX: &str = ".draft";

/// Removes what a start that was cut off has left; what can't be removed is tried again.
/// Another start in progress gets along without its draft.
fn remove_drafts(path: &Path) {
    let Ok(files) = fs::read_dir(folder_of(path)) else {
        return;
    };
    for file in files.flatten() {
        if is_draft(&file.file_name(), path) {
            let _ = fs::remove_file(file.path());
        }
    }
}

fn is_draft(name: &OsStr, path: &Path) -> bool {
    let Some((name, key)) = name.to_str().zip(path.file_name().and_then(OsStr::to_str)) else {
        return false;
    };
    name.strip_prefix(key)
        .and_then(|rest| rest.strip_prefix('.')?.strip_suffix(DRAFT_SUFFIX))
        .is_some_and(|random| {
            random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

/// Writes a file that must not exist yet.
fn write_private(path: &Path, key: &NoiseSecret) -> io::Result<()> {
    let mut text = Zeroizing::new(hex::encode(key.as_bytes()));
    text.push('\n');
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    // It is this call's own file, and half of it would be in the way of the next attempt.
    written.inspect_err(|_| drop(fs::remove_file(path)))
}

/// Sees to it that a key stands at `path` after the attempt to link the draft in. Where the
/// file system has no hard links, the file is written in place: a rename would replace the key
/// of a relay that was faster.
fn settle(linked: io::Result<()>, path: &Path, key: &NoiseSecret) -> io::Result<()> {
    let exists = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    match linked {
        Err(error) if !exists(&error) => match write_private(path, key) {
            Err(error) if exists(&error) => Ok(()),
            other => other,
        },
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data").join("keypair.hex");
        (folder, path)
    }

    #[test]
    fn the_first_start_makes_a_key_and_the_next_loads_it() {
        let (_folder, path) = place();
        let first = load_or_create(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.trim_end().len(), 64);
        assert!(text.ends_with('\n'));
        assert_eq!(load_or_create(&path).unwrap().public(), first.public());
        assert_eq!(load(&path).unwrap().public(), first.public());
        let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(names.len(), 1, "no draft stays behind");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, path) = place();
        load_or_create(&path).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let folder = fs::metadata(path.parent().unwrap()).unwrap();
        assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn white_space_and_upper_case_are_tolerated() {
        let (_folder, path) = place();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("  {}\r\n\n", "AB".repeat(32))).unwrap();
        let expected = NoiseSecret::from_bytes([0xab; 32]).public();
        assert_eq!(load(&path).unwrap().public(), expected);
    }

    #[test]
    fn a_damaged_file_is_refused_and_left_alone() {
        let (_folder, path) = place();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for damaged in [
            &b""[..],
            b"ab",
            &[b'a'; 63],
            &[b'a'; 65],
            &[b'g'; 64],
            &[0xff; 64],
        ] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(load_or_create(&path).unwrap_err(), KeyFileError::Damaged);
            assert_eq!(fs::read(&path).unwrap(), damaged);
        }
    }

    #[test]
    fn a_missing_file_is_only_made_when_asked() {
        let (_folder, path) = place();
        assert_eq!(load(&path).unwrap_err(), KeyFileError::Missing);
        assert!(!path.exists());
    }

    #[test]
    fn a_supplied_key_is_written_once_and_never_replaces_another() {
        let (_folder, path) = place();
        let supplied = NoiseSecret::from_bytes([7; 32]);
        assert_eq!(
            load_or_supply(&path, &supplied).unwrap().public(),
            supplied.public()
        );
        assert_eq!(
            load_or_supply(&path, &supplied).unwrap().public(),
            supplied.public()
        );
        let other = NoiseSecret::from_bytes([8; 32]);
        assert_eq!(
            load_or_supply(&path, &other).unwrap_err(),
            KeyFileError::Different
        );
        assert_eq!(load(&path).unwrap().public(), supplied.public());
    }

    #[test]
    fn without_hard_links_a_key_is_written_and_none_is_replaced() {
        let (_folder, path) = place();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let no_links = || Err(io::ErrorKind::Unsupported.into());
        let (first, second) = ([1; 32], [2; 32]);
        for key in [first, second] {
            settle(no_links(), &path, &NoiseSecret::from_bytes(key)).unwrap();
            let expected = NoiseSecret::from_bytes(first).public();
            assert_eq!(load(&path).unwrap().public(), expected);
        }
    }

    #[test]
    fn drafts_of_starts_that_were_cut_off_are_removed_and_nothing_else_is() {
        let (_folder, path) = place();
        let folder = path.parent().unwrap().to_owned();
        fs::create_dir_all(&folder).unwrap();
        let supplied = NoiseSecret::from_bytes([7; 32]);
        let others = [
            "keypair.hex.draft",
            "keypair.hex.0123456789abcdef.draft.old",
            "keypair.hex.mine-not-yours-00.draft",
            "other.hex.0123456789abcdef.draft",
        ];
        for name in others {
            fs::write(folder.join(name), b"").unwrap();
        }
        for start in [&|| load_or_supply(&path, &supplied), &|| {
            load_or_create(&path)
        }] as [&dyn Fn() -> Result<NoiseSecret, KeyFileError>; 2]
        {
            fs::write(draft_path(&path), b"a key").unwrap();
            start().unwrap();
            let mut names: Vec<_> = fs::read_dir(&folder)
                .unwrap()
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            let mut expected: Vec<&str> = [&others[..], &["keypair.hex"]].concat();
            expected.sort_unstable();
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn a_folder_in_the_place_of_the_file_is_a_read_error() {
        let (_folder, path) = place();
        fs::create_dir_all(&path).unwrap();
        assert!(matches!(load_or_create(&path), Err(KeyFileError::Read(_))));
    }
}
