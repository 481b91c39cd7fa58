//! Folders that hold the relay's files.
//!
//! Owns: which folder a file lies in, making one that only its owner can look into, and making
//! the names in it durable.

use std::fs;
use std::io;
use std::path::Path;

/// The folder that `path` lies in. A bare file name lies in the current one, which the
/// standard library calls an empty path and the system doesn't find.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Makes a folder, and its parents, for its owner only; one that exists is left as it is.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes the names that files of a folder were given last as durable as the files. Other systems
/// than Unix have nothing to ask for it.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_lies_in_a_folder_that_can_be_asked() {
        for (path, folder) in [
            ("inbox.db", "."),
            ("./inbox.db", "."),
            ("data/inbox.db", "data"),
            ("/data/inbox.db", "/data"),
            ("/inbox.db", "/"),
        ] {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder), "{path}");
        }
        assert!(folder_of(Path::new("inbox.db")).is_dir());
    }
}
