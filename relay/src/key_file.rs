//! The relay's long-term key on disk.
//!
//! Owns: the file of 64 hex digits, readable by its owner only (specification 1.3). Never
//! does: replace a key that exists, print or log one.
//!
//! Invariant: the file appears complete or not at all, whenever the power fails; of two relays
//! that start at once on an empty folder, both use the key that stands there afterwards.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rand_core::{OsRng, RngCore};
use sealpost_protocol::key::NoiseSecret;
use zeroize::Zeroizing;

use crate::folder::{create_private_folder, folder_of};

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
    match load(path) {
        Err(KeyFileError::Missing) => create(path, &NoiseSecret::generate(&mut OsRng)),
        other => other,
    }
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
    let written = write_private(&draft, key).and_then(|()| settle(&draft, path));
    let _ = fs::remove_file(&draft);
    written.map_err(failed)?;
    sync_folder(folder).map_err(failed)?;
    load(path)
}

fn draft_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}.draft", OsRng.next_u64()));
    path.with_file_name(name)
}

fn write_private(path: &Path, key: &NoiseSecret) -> io::Result<()> {
    let mut text = Zeroizing::new(hex::encode(key.as_bytes()));
    text.push('\n');
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Gives the draft its name unless another process was faster. Where the file system has no
/// hard links, a rename does, and the caller loads whichever came last.
fn settle(draft: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(draft, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(_) => fs::rename(draft, path),
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
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
    fn a_folder_in_the_place_of_the_file_is_a_read_error() {
        let (_folder, path) = place();
        fs::create_dir_all(&path).unwrap();
        assert!(matches!(load_or_create(&path), Err(KeyFileError::Read(_))));
    }
}
