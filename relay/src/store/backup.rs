//! A copy of a store, made while its relay runs.
//!
//! Owns: reading one snapshot through SQLite's backup interface, checking the copy, and
//! putting it in place. Never does: write to the store, replace a file, leave half a copy
//! under the copy's name.
//!
//! The snapshot is held for as long as the copying takes. The relay goes on storing and
//! delivering; its log only can't start over, which `log` bounds.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rand_core::{OsRng, RngCore};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::schema::{
    self, APPLICATION_ID, BUSY_TIMEOUT, PAGE_BYTES, STORE_VERSION, STORE_VERSION_MIN,
    StoreOpenError, beside, log_path, private_file_new,
};
use crate::folder::{folder_of, sync_folder};

/// Pages that are copied between two reports.
const PAGES_PER_STEP: i32 = 1_024;

/// Why there is no copy. The store is unchanged, and so is every file that was there.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BackupError {
    /// There is nothing to copy.
    #[error("there is no store yet")]
    Missing,
    /// The copy's name is taken.
    #[error("there is a file of that name already")]
    Exists,
    /// The store can't be read, or isn't one that this release knows.
    #[error("{0}")]
    Store(#[from] StoreOpenError),
    /// The store can't be read at the moment.
    #[error("the store can't be read ({0})")]
    NotReadable(io::ErrorKind),
    /// The copy can't be written.
    #[error("the copy can't be written ({0})")]
    NotWritable(io::ErrorKind),
    /// What was copied isn't a sound store.
    #[error("the store is damaged")]
    Damaged,
}

/// How far a backup is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BackupProgress {
    /// Bytes that are copied.
    pub bytes: u64,
    /// Bytes of the whole store.
    pub bytes_total: u64,
}

/// Copies the store of `store` to `copy`, whether its relay runs or not, and tells `progress`
/// now and then. The copy is whole, checked and on the disk when this returns.
///
/// The store's file is opened through SQLite only. On Unix, a process that closes any other
/// descriptor of it loses the locks that all its connections hold.
///
/// # Errors
///
/// Tells what keeps it from that.
pub fn back_up(
    store: &Path,
    copy: &Path,
    progress: impl FnMut(BackupProgress),
) -> Result<BackupProgress, BackupError> {
    if copy.symlink_metadata().is_ok() {
        return Err(BackupError::Exists);
    }
    let source = open_source(store)?;
    let draft = Draft::create(copy)?;
    let copied = copy_pages(&source, &draft.path, progress)?;
    drop(source);
    draft.publish(copy)?;
    Ok(copied)
}

/// Opens the store for reading and takes its snapshot.
fn open_source(store: &Path) -> Result<Connection, BackupError> {
    match fs::metadata(store) {
        Ok(file) if file.len() == 0 => return Err(BackupError::Missing),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(BackupError::Missing),
        Err(error) => return Err(BackupError::NotReadable(error.kind())),
    }
    let source = schema::open_reader(store).map_err(not_readable)?;
    source.execute_batch("BEGIN").map_err(not_readable)?;
    let number = |pragma: &str| {
        let number = source.query_row(pragma, [], |row| row.get::<_, u32>(0));
        number.map_err(not_readable)
    };
    // A crash between making the file and its tables leaves both numbers at nought.
    let marks = (
        number("PRAGMA application_id")?,
        number("PRAGMA user_version")?,
    );
    if !matches!(marks, (APPLICATION_ID, _) | (0, 0)) {
        return Err(StoreOpenError::Foreign.into());
    }
    match schema::recorded_version(&source).map_err(not_readable)? {
        Some(version) => check_version(version)?,
        // Its first transaction is still to come.
        None => return Err(BackupError::Missing),
    }
    Ok(source)
}

fn not_readable(error: rusqlite::Error) -> BackupError {
    match StoreOpenError::from(error) {
        StoreOpenError::NotWritable(kind) => BackupError::NotReadable(kind),
        other => other.into(),
    }
}

fn check_version(found: u32) -> Result<(), StoreOpenError> {
    let supported = STORE_VERSION;
    match found {
        STORE_VERSION_MIN..=STORE_VERSION => Ok(()),
        0..STORE_VERSION_MIN => Err(StoreOpenError::Outdated { found, supported }),
        _ => Err(StoreOpenError::Newer { found, supported }),
    }
}

fn copy_pages(
    source: &Connection,
    draft: &Path,
    mut progress: impl FnMut(BackupProgress),
) -> Result<BackupProgress, BackupError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = Connection::open_with_flags(draft, flags).map_err(not_writable)?;
    // Nobody else opens the draft, and it is synchronised once, when it is whole.
    copy.execute_batch("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF;")
        .map_err(not_writable)?;
    let copied = {
        let backup = Backup::new(source, &mut copy).map_err(not_writable)?;
        loop {
            let step = backup.step(PAGES_PER_STEP).map_err(not_writable)?;
            let told = told(backup.progress());
            progress(told);
            match step {
                StepResult::Done => break told,
                // The snapshot is held and the draft is ours, so neither lasts.
                StepResult::Busy | StepResult::Locked => std::thread::sleep(BUSY_TIMEOUT / 100),
                _ => {}
            }
        }
    };
    check_copy(&copy)?;
    copy.close().map_err(|(_, error)| not_writable(error))?;
    Ok(copied)
}

fn told(progress: rusqlite::backup::Progress) -> BackupProgress {
    let bytes = |pages: i32| u64::from(pages.unsigned_abs()).saturating_mul(PAGE_BYTES.into());
    BackupProgress {
        bytes: bytes(progress.pagecount.saturating_sub(progress.remaining)),
        bytes_total: bytes(progress.pagecount),
    }
}

/// A backup interface reports what went wrong on either side at the copy.
fn not_writable(error: rusqlite::Error) -> BackupError {
    match StoreOpenError::from(error) {
        StoreOpenError::NotWritable(kind) => BackupError::NotWritable(kind),
        StoreOpenError::Damaged | StoreOpenError::Foreign => BackupError::Damaged,
        other => BackupError::Store(other),
    }
}

/// A copy of a damaged store would be found out only when it is needed.
fn check_copy(copy: &Connection) -> Result<(), BackupError> {
    let checks = || -> rusqlite::Result<bool> {
        let text = |query: &str| copy.query_row(query, [], |row| row.get::<_, String>(0));
        let number = |query: &str| copy.query_row(query, [], |row| row.get::<_, u32>(0));
        Ok(text("PRAGMA quick_check(1)")? == "ok"
            && number("PRAGMA application_id")? == APPLICATION_ID
            && number("PRAGMA user_version")? == number("SELECT store_version FROM meta")?)
    };
    match checks() {
        Ok(true) => Ok(()),
        Ok(false) => Err(BackupError::Damaged),
        Err(error) => Err(not_writable(error)),
    }
}

/// A copy on its way. Dropped before it is published, it leaves nothing.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn create(copy: &Path) -> Result<Self, BackupError> {
        // Process numbers come again, in a container at every start.
        let path = beside(copy, &format!(".{:016x}.part", OsRng.next_u64()));
        match private_file_new(&path) {
            Ok(_) => Ok(Self { path }),
            Err(error) => Err(BackupError::NotWritable(error.kind())),
        }
    }

    /// Makes it durable and gives it its name, unless somebody took that meanwhile.
    fn publish(self, copy: &Path) -> Result<(), BackupError> {
        let publish = || {
            File::options().write(true).open(&self.path)?.sync_all()?;
            if let Err(error) = fs::hard_link(&self.path, copy) {
                if error.kind() == io::ErrorKind::AlreadyExists || copy.symlink_metadata().is_ok() {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                // A file system without links, such as those of memory sticks.
                rename_to_new(&self.path, copy)?;
            }
            sync_folder(folder_of(copy))
        };
        publish().map_err(|error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => BackupError::Exists,
            kind => BackupError::NotWritable(kind),
        })
    }
}

/// Gives `draft` a name that nobody has. A rename replaces what it finds, so the name is taken
/// first, which only one can.
fn rename_to_new(draft: &Path, copy: &Path) -> io::Result<()> {
    private_file_new(copy)?;
    fs::rename(draft, copy).inspect_err(|_| {
        // Ours, and empty.
        let _ = fs::remove_file(copy);
    })
}

impl Drop for Draft {
    fn drop(&mut self) {
        for file in [
            self.path.clone(),
            log_path(&self.path),
            beside(&self.path, "-shm"),
            beside(&self.path, "-journal"),
        ] {
            // Most of them don't exist.
            let _ = fs::remove_file(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store with some rows, and the folder it lies in.
    fn store() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let (connection, _lock) = schema::open(&path, false).unwrap();
        schema::settle(&connection).unwrap();
        let rows = "INSERT INTO recipients VALUES (7, zeroblob(32), 1, 60000);
            INSERT INTO blobs VALUES (1, 7, 10, randomblob(60000));";
        connection.execute_batch(rows).unwrap();
        (folder, path)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn quiet(store: &Path, copy: &Path) -> Result<BackupProgress, BackupError> {
        back_up(store, copy, |_| {})
    }

    #[test]
    fn a_copy_is_a_store_for_its_owner_only_and_alone_in_its_folder() {
        let (_folder, path) = store();
        let place = tempfile::tempdir().unwrap();
        let copy = place.path().join("copy.db");
        let mut last = None;
        let copied = back_up(&path, &copy, |told| last = Some(told)).unwrap();
        assert_eq!(last, Some(copied));
        assert_eq!(copied.bytes, copied.bytes_total);
        assert_eq!(copied.bytes, fs::metadata(&copy).unwrap().len());
        assert_eq!(names(place.path()), ["copy.db"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&copy).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let (restored, _lock) = schema::open(&copy, false).unwrap();
        let bytes: u32 = restored
            .query_row("SELECT length(envelope) FROM blobs", [], |row| row.get(0))
            .unwrap();
        assert_eq!(bytes, 60_000);
    }

    #[test]
    fn no_file_is_replaced() {
        let (folder, path) = store();
        let copy = folder.path().join("copy.db");
        fs::write(&copy, b"a letter").unwrap();
        assert_eq!(quiet(&path, &copy), Err(BackupError::Exists));
        assert_eq!(quiet(&path, &path), Err(BackupError::Exists));
        assert_eq!(fs::read(&copy).unwrap(), b"a letter");
        let draft = Draft::create(&folder.path().join("other.db")).unwrap();
        assert_eq!(draft.publish(&copy), Err(BackupError::Exists));
        assert_eq!(fs::read(&copy).unwrap(), b"a letter");
        assert!(
            !names(folder.path())
                .iter()
                .any(|name| name.ends_with(".part"))
        );
    }

    #[test]
    fn no_file_is_replaced_where_there_are_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let (draft, copy) = (folder.path().join("draft"), folder.path().join("copy.db"));
        fs::write(&draft, b"pages").unwrap();
        fs::write(&copy, b"a letter").unwrap();
        let refused = rename_to_new(&draft, &copy).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&copy).unwrap(), b"a letter");
        fs::remove_file(&copy).unwrap();
        rename_to_new(&draft, &copy).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), b"pages");
        rename_to_new(&draft, &folder.path().join("other.db")).unwrap_err();
        assert_eq!(names(folder.path()), ["copy.db"]);
    }

    /// Of a backup that was killed, with the same process number or another.
    #[test]
    fn a_draft_that_was_left_is_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.db");
        let left = Draft::create(&copy).unwrap();
        let draft = Draft::create(&copy).unwrap();
        assert_ne!(draft.path, left.path);
    }

    /// The system drops them all when a process closes any descriptor of the file.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_backup_in_the_relays_own_process_leaves_it_its_locks() {
        use std::os::unix::fs::MetadataExt;
        let (folder, path) = store();
        let (connection, _lock) = schema::open(&path, false).unwrap();
        connection
            .execute_batch("BEGIN; SELECT * FROM meta")
            .unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        let process = std::process::id();
        let locks = || {
            let all = fs::read_to_string("/proc/locks").unwrap();
            let ours = all.lines().filter(|lock| {
                let is_here = lock.contains(&format!(":{inode} "));
                is_here && lock.contains("POSIX") && lock.contains(&format!(" {process} "))
            });
            ours.count()
        };
        let before = locks();
        assert_ne!(before, 0);
        quiet(&path, &folder.path().join("copy.db")).unwrap();
        assert_eq!(locks(), before);
    }

    #[test]
    fn nothing_comes_of_what_is_no_sound_store_of_this_release() {
        let (folder, path) = store();
        let copy = folder.path().join("copy.db");
        let missing = folder.path().join("missing.db");
        assert_eq!(quiet(&missing, &copy), Err(BackupError::Missing));
        assert!(!missing.exists());
        let foreign = folder.path().join("letter");
        fs::write(&foreign, b"hello, this is a letter").unwrap();
        let refused = Err(BackupError::Store(StoreOpenError::Foreign));
        assert_eq!(quiet(&foreign, &copy), refused);
        let newer = folder.path().join("newer.db");
        fs::copy(&path, &newer).unwrap();
        let connection = Connection::open(&newer).unwrap();
        connection.pragma_update(None, "user_version", 9).unwrap();
        drop(connection);
        let (found, supported) = (9, STORE_VERSION);
        let refused = Err(StoreOpenError::Newer { found, supported }.into());
        assert_eq!(quiet(&newer, &copy), refused);
        let mut content = fs::read(&path).unwrap();
        for byte in content.iter_mut().skip(PAGE_BYTES as usize) {
            *byte ^= 0xa5;
        }
        fs::write(&path, content).unwrap();
        // What is damaged may be the rows, or the list of tables already.
        let list_of_tables = StoreOpenError::Damaged.into();
        let damaged = [Err(BackupError::Damaged), Err(list_of_tables)];
        assert!(damaged.contains(&quiet(&path, &copy)));
        assert!(
            !names(folder.path())
                .iter()
                .any(|name| name.starts_with("copy.db"))
        );
    }

    #[test]
    fn a_folder_that_is_not_there_is_said_so() {
        let (folder, path) = store();
        let copy = folder.path().join("nowhere").join("copy.db");
        let refused = Err(BackupError::NotWritable(io::ErrorKind::NotFound));
        assert_eq!(quiet(&path, &copy), refused);
    }
}
