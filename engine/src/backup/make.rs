//! Writes a backup.
//!
//! Owns the order of the records and the file they go to. It reads through the groups that are
//! open, page by page, between which messages come and go as always: a history is taken up to
//! the message that was its newest at the begin, and what stands there doesn't change, so that
//! the pages together are what stood there at one moment, less what is deleted meanwhile.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rand_core::{CryptoRng, RngCore};
use tokio::runtime::Handle;

use super::place::{Place, Unfinished};
use super::record::{EndPart, GroupPart, Kind, ProfilePart, write};
use super::seal::Sealer;
use super::{BackupError, Counts, GROUPS_MAX, Progress, ShellSettings};
use crate::Engine;

/// What goes into a backup.
pub struct Contents {
    /// The groups, open.
    pub groups: Vec<Engine>,
    /// How many groups can't be opened, and are missing for that.
    pub left_out: usize,
    /// The name of this device.
    pub device_name: Option<String>,
    /// Settings of the shell that make sense on another computer.
    pub settings: ShellSettings,
    /// The time.
    pub now_ms: u64,
}

/// Writes a backup to `path`, in place of a backup of that name. On an error that one stays.
/// Nothing else is ever replaced, and nothing by a backup in which groups are missing. Blocks,
/// and takes about a second and 64 MiB for the passphrase; needs the runtime that the groups
/// run in.
///
/// # Errors
///
/// [`BackupError::Occupied`], [`BackupError::WouldReplaceWhole`], [`BackupError::TooManyGroups`],
/// [`BackupError::Full`], [`BackupError::Unwritable`], [`BackupError::Storage`],
/// [`BackupError::Closed`], [`BackupError::NoMemory`] or [`BackupError::Cancelled`];
/// [`BackupError::NotSynced`] when the backup stands there all the same.
pub fn make(
    contents: &Contents,
    path: &Path,
    passphrase: &str,
    progress: &Progress,
    runtime: &Handle,
    rng: &mut (impl RngCore + CryptoRng),
) -> Result<Counts, BackupError> {
    if contents.groups.len() > GROUPS_MAX {
        return Err(BackupError::TooManyGroups);
    }
    let place = Place::of(path)?;
    place.check(contents.left_out > 0)?;
    place.clear_left_over();
    let unfinished = Unfinished::start(&place, rng)?;
    let sealer = Sealer::start(BufWriter::new(unfinished.file()?), passphrase, rng)?;
    let counts = write_all(contents, sealer, progress, runtime)?;
    // It took its time: something else may stand there by now.
    place.check(contents.left_out > 0)?;
    unfinished.put_in_place(&place)?;
    Ok(counts)
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
        progress.check()?;
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
        progress.check()?;
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
