//! Small files that are either the old one or the new one, never half of each.
//!
//! Owns how this crate writes a file that must survive a crash: a temporary file beside it
//! (0600), synced, renamed over the old one, and the directory synced. Never appends and
//! never writes in place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to `path`, readable by the owner only. Durable on return.
///
/// # Errors
///
/// Any IO error; the earlier file, if there was one, is then still in place.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("new");
    let written = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Whatever stands there is ours: a half-written file of this or of an earlier try.
        drop(fs::remove_file(&temporary));
    }
    written?;
    sync_directory_of(path)
}

/// Puts a file, complete and synced, in the place of another one in its directory.
///
/// # Errors
///
/// Any IO error.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_directory_of(to)
}

/// Removes a file that may be there. Durable on return.
///
/// # Errors
///
/// Any IO error.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => sync_directory_of(path),
    }
}

/// Makes what was written to a file durable.
///
/// # Errors
///
/// Any IO error.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_data()
}

/// Makes a directory, and those above it, that only their owner may enter.
///
/// # Errors
///
/// Any IO error.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    if fs::metadata(path)?.is_dir() {
        Ok(())
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}

/// Options that open a file for its owner only when they create it.
#[must_use]
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A temporary file that a crash left behind may have other permissions: start afresh.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_directory_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_directory)
}

/// Makes the names in a directory durable.
///
/// # Errors
///
/// Any IO error.
#[cfg(unix)]
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

// Directories can't be opened for syncing elsewhere; there the rename is as durable as the
// platform makes it.
#[cfg(not(unix))]
pub(crate) fn sync_directory(_directory: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_content_replaces_the_old_and_is_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.json");
        fs::write(directory.path().join("file.new"), "left over").unwrap();
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.json");
        replace(&path, b"one").unwrap();
        fs::create_dir(directory.path().join("file.new")).unwrap();
        replace(&path, b"two").unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }
}
