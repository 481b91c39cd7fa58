//! Writes a backup.
//!
//! Owns the order of the records and the file they go to. It reads through the groups that are
//! open, page by page, between which messages come and go as always: a history is taken up to
//! the message that was its newest at the begin, and what stands there doesn't change, so that
//! the pages together are what stood there at one moment, less what is deleted meanwhile.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

use rand_core::{CryptoRng, RngCore};
use tokio::runtime::Handle;

use super::record::{EndPart, GroupPart, Kind, ProfilePart, write};
use super::seal::Sealer;
use super::{BackupError, Counts, Progress, ShellSettings};
use crate::Engine;
use crate::durable_file;

/// Ends the name of a backup that isn't whole yet.
const UNFINISHED: &str = ".part";

/// What a backup of this program begins with, whole or not.
const BEGIN: &[u8] = b"SPBACKUP";

/// What goes into a backup.
pub struct Contents {
    /// The groups, open.
    pub groups: Vec<Engine>,
    /// The name of this device.
    pub device_name: Option<String>,
    /// Settings of the shell that make sense on another computer.
    pub settings: ShellSettings,
    /// The time.
    pub now_ms: u64,
}

/// Writes a backup to `path`, in place of a file of that name. On an error that one stays.
/// Blocks, and takes about a second and 64 MiB for the passphrase; needs the runtime that the
/// groups run in.
///
/// # Errors
///
/// [`BackupError::Full`], [`BackupError::Unwritable`], [`BackupError::Storage`],
/// [`BackupError::Closed`], [`BackupError::NoMemory`] or [`BackupError::Cancelled`].
pub fn make(
    contents: &Contents,
    path: &Path,
    passphrase: &str,
    progress: &Progress,
    runtime: &Handle,
    rng: &mut (impl RngCore + CryptoRng),
) -> Result<Counts, BackupError> {
    // Its folder is synced, which has no name where the path is relative.
    let path = &std::path::absolute(path).map_err(|error| BackupError::of_writing(&error))?;
    let unfinished = unfinished_of(path)?;
    let written = clear_way(&unfinished).and_then(|()| {
        let file = durable_file::private()
            .write(true)
            .create_new(true)
            .open(&unfinished)
            .map_err(|error| BackupError::of_writing(&error))?;
        let sealer = Sealer::start(BufWriter::new(file), passphrase, rng)?;
        let counts = write_all(contents, sealer, progress, runtime)?;
        durable_file::rename(&unfinished, path).map_err(|error| BackupError::of_writing(&error))?;
        Ok(counts)
    });
    if written.is_err() && is_ours(&unfinished) {
        // What can't be removed is removed before the next one.
        drop(fs::remove_file(&unfinished));
    }
    written
}

fn write_all(
    contents: &Contents,
    mut sealer: Sealer<BufWriter<File>>,
    progress: &Progress,
    runtime: &Handle,
) -> Result<Counts, BackupError> {
    let mut heads = Vec::new();
    let mut messages = 0_u64;
    for group in &contents.groups {
        let head = runtime.block_on(group.backup_head())?;
        messages = messages.saturating_add(head.messages);
        heads.push(head);
    }
    progress.expect(messages);
    let settings = serde_json::to_string(&contents.settings).unwrap_or_default();
    let profile = ProfilePart {
        made_at_ms: contents.now_ms,
        device_name: contents.device_name.clone(),
        settings,
        messages,
    };
    write(&mut sealer, Kind::Profile(profile))?;
    let mut counts = Counts::default();
    for (group, head) in contents.groups.iter().zip(heads) {
        let part = GroupPart {
            name: head.name.clone(),
            read_position: head.read_position,
        };
        write(&mut sealer, Kind::Group(part))?;
        let mut sink = |kind: Kind| write(&mut sealer, kind);
        let written = write_group(group, head.last_position, progress, runtime, &mut sink)?;
        counts.messages = counts.messages.saturating_add(written);
        counts.groups = counts.groups.saturating_add(1);
    }
    let end = EndPart {
        groups: counts.groups,
    };
    write(&mut sealer, Kind::End(end))?;
    let mut file = sealer.finish()?;
    file.flush()
        .and_then(|()| file.get_ref().sync_all())
        .map_err(|error| BackupError::of_writing(&error))?;
    progress.check()?;
    Ok(counts)
}

fn write_group(
    group: &Engine,
    last: u64,
    progress: &Progress,
    runtime: &Handle,
    sink: &mut impl FnMut(Kind) -> Result<(), BackupError>,
) -> Result<u64, BackupError> {
    let (mut after, mut count) = (0, 0_u64);
    loop {
        progress.check()?;
        let page = runtime.block_on(group.backup_messages(after, last))?;
        let Some(newest) = page.last() else { break };
        after = newest.position;
        let rows = u64::try_from(page.len()).unwrap_or(u64::MAX);
        count = count.saturating_add(rows);
        for message in page {
            sink(Kind::Message(message))?;
        }
        progress.add(rows);
    }
    let mut after = 0;
    loop {
        let page = runtime.block_on(group.backup_issues(after))?;
        let Some((newest, _)) = page.last() else {
            break;
        };
        after = *newest;
        page.into_iter()
            .try_for_each(|(_, issue)| sink(Kind::Issue(issue)))?;
    }
    let mut after = 0;
    loop {
        let page = runtime.block_on(group.backup_notes(after))?;
        let Some((newest, _)) = page.last() else {
            break;
        };
        after = *newest;
        page.into_iter()
            .try_for_each(|(_, note)| sink(Kind::Note(note)))?;
    }
    Ok(count)
}

fn unfinished_of(path: &Path) -> Result<PathBuf, BackupError> {
    let mut name: OsString = path
        .file_name()
        .ok_or(BackupError::Unwritable(io::ErrorKind::InvalidInput))?
        .to_owned();
    name.push(UNFINISHED);
    Ok(path.with_file_name(name))
}

/// Removes what an earlier attempt left. A file of somebody else is left alone.
fn clear_way(unfinished: &Path) -> Result<(), BackupError> {
    match unfinished.try_exists() {
        Ok(false) => Ok(()),
        Ok(true) if is_ours(unfinished) => {
            fs::remove_file(unfinished).map_err(|error| BackupError::of_writing(&error))
        }
        Ok(true) => Err(BackupError::Unwritable(io::ErrorKind::AlreadyExists)),
        Err(error) => Err(BackupError::of_writing(&error)),
    }
}

fn is_ours(unfinished: &Path) -> bool {
    let mut begin = Vec::new();
    let read = File::open(unfinished)
        .and_then(|file| file.take(BEGIN.len() as u64).read_to_end(&mut begin));
    // One of which nothing was written yet, because the disk was full.
    read.is_ok() && (begin.is_empty() || begin == BEGIN)
}
