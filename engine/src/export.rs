//! Reads out what can be read of a group, also of one that doesn't open any more.
//!
//! Owns the way of a history to a person who wants it in the clear. Never opens the group's
//! own database: what it reads is a copy in a folder that the caller gives and removes, so
//! that nothing of a damaged store changes, and the disk that it lies on may be full.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rand_core::{CryptoRng, OsRng, RngCore};

use crate::backup::{BackupError, Place, Progress, Unfinished};

use crate::engine::OpenError;
use crate::history::{PAGE_ROWS_MAX, StoredMessage};
use crate::keys::{GroupKeys, IdentityId, KeyItemName, KeyStore};
use crate::namespace::Namespace;
use crate::profile::{Profile, database_path};
use crate::store::{OpenFault, Store, salvage};
use crate::utc;

/// What could be read of a group.
pub struct Export {
    store: Store,
    /// What the group is called, where that can be read.
    pub name: Option<String>,
    /// How many messages can be read.
    pub messages: u64,
    /// Whether a part of the store can't be read.
    pub is_damaged: bool,
}

impl Export {
    /// Reads the group in `namespace` into `scratch`, an empty folder for its owner only.
    /// Blocks.
    ///
    /// # Errors
    ///
    /// Any [`OpenError`]: without the keys, or where the very begin of the store is damaged,
    /// nothing can be read.
    pub fn read(
        profile: &Profile,
        key_store: &dyn KeyStore,
        namespace: &Namespace,
        scratch: &Path,
        now_ms: u64,
    ) -> Result<Self, OpenError> {
        let id = profile.id();
        let item = key_store.load(&KeyItemName::group(&id, namespace))?;
        let item = item.ok_or(OpenError::KeysMissing)?;
        let keys = GroupKeys::decode(&item, &id)?;
        let path = database_path(profile.directory(), namespace);
        let key = keys.database_key();
        let nobody = IdentityId::generate(&mut OsRng);
        let (store, is_damaged) =
            salvage::read_out(&path, key, &nobody, scratch, now_ms).map_err(open_error)?;
        Ok(Self {
            name: store.label()?,
            messages: store.message_count()?,
            store,
            is_damaged,
        })
    }

    /// Up to a page of messages after `position`, oldest first; empty at the end.
    ///
    /// # Errors
    ///
    /// [`OpenError::Storage`].
    pub fn messages_after(&self, position: u64) -> Result<Vec<StoredMessage>, OpenError> {
        Ok(self.store.messages_after(position, PAGE_ROWS_MAX)?)
    }
}

/// A folder for what is read, for its owner only; removed when dropped. Not on the disk of the
/// data, which may be full or broken. What is written there is encrypted as the data itself.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes it in the system's folder for such things.
    ///
    /// # Errors
    ///
    /// Any IO error.
    pub fn make(rng: &mut (impl RngCore + CryptoRng)) -> io::Result<Self> {
        let name = format!("sealpost-export-{:016x}", rng.next_u64());
        let path = std::env::temp_dir().join(name);
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        Ok(Self(path))
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system clears its folder for such things.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// What is in a text of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readable {
    /// Groups of which something could be read.
    pub groups: u64,
    /// Messages.
    pub messages: u64,
    /// Groups of which a part, or all, can't be read any more.
    pub damaged: u64,
}

/// Writes what can be read of `groups` to `path` as text, in the clear, for its owner only. A
/// line begins with its time in UTC and the author; those that a message has more are indented,
/// so that none of them looks like another message. Blocks.
///
/// # Errors
///
/// [`BackupError::Full`], [`BackupError::Unwritable`], [`BackupError::NotSynced`] or
/// [`BackupError::Cancelled`]. A group that can't be read is none.
pub fn write_text(
    profile: &Profile,
    key_store: &dyn KeyStore,
    groups: &[Namespace],
    path: &Path,
    progress: &Progress,
    now_ms: u64,
) -> Result<Readable, BackupError> {
    let place = Place::of(path)?;
    place.check_text()?;
    let unfinished = Unfinished::start(&place, &mut OsRng)?;
    let mut file = BufWriter::new(unfinished.file()?);
    let mut done = Readable::default();
    for namespace in groups {
        progress.check()?;
        let scratch = Scratch::make(&mut OsRng).map_err(|error| BackupError::of_writing(&error))?;
        let Ok(read) = Export::read(profile, key_store, namespace, scratch.path(), now_ms) else {
            done.damaged = done.damaged.saturating_add(1);
            continue;
        };
        let is_whole = write_group(&read, namespace, &mut file, progress, &mut done)?;
        done.groups = done.groups.saturating_add(1);
        done.damaged = done
            .damaged
            .saturating_add(u64::from(read.is_damaged || !is_whole));
    }
    file.flush()
        .and_then(|()| file.get_ref().sync_all())
        .map_err(|error| BackupError::of_writing(&error))?;
    progress.check()?;
    place.check_text()?;
    unfinished.put_in_place(&place)?;
    Ok(done)
}

/// Whether all of it could be read.
fn write_group(
    read: &Export,
    namespace: &Namespace,
    to: &mut impl Write,
    progress: &Progress,
    done: &mut Readable,
) -> Result<bool, BackupError> {
    let name = read.name.as_deref().unwrap_or(namespace.as_str());
    writeln!(to, "# {name}\n").map_err(|error| BackupError::of_writing(&error))?;
    let mut position = 0;
    loop {
        progress.check()?;
        let Ok(page) = read.messages_after(position) else {
            return Ok(false);
        };
        let Some(last) = page.last() else {
            writeln!(to).map_err(|error| BackupError::of_writing(&error))?;
            return Ok(true);
        };
        position = last.position;
        for message in &page {
            writeln!(to, "{}", line(message)).map_err(|error| BackupError::of_writing(&error))?;
        }
        let rows = page.len() as u64;
        done.messages = done.messages.saturating_add(rows);
        progress.add(rows);
    }
}

fn line(message: &StoredMessage) -> String {
    let text = message.content.text().unwrap_or("…");
    let text: Vec<_> = text.lines().collect();
    let at = utc::to_text(message.sent_at_ms);
    let via = message.via.as_ref();
    let via = via.map_or_else(String::new, |phone| format!(" · from {phone}"));
    format!(
        "{at}  {}{via}: {}",
        message.author_name,
        text.join("\n    ")
    )
}

fn open_error(fault: OpenFault) -> OpenError {
    match fault {
        OpenFault::Storage(fault) => fault.into(),
        OpenFault::TooNew { found, known } => OpenError::StoreTooNew { found, known },
        OpenFault::Outdated { .. } => crate::core::error::StorageFault::Unavailable.into(),
    }
}

#[cfg(test)]
mod tests {
    use sealpost_protocol::key::MemberId;
    use sealpost_protocol::message_id::MessageId;

    use super::*;
    use crate::history::Content;

    #[test]
    fn no_line_of_a_message_looks_like_another_message() {
        let text = "one\n1970-01-01 00:00:00Z  Anna: two\r\nthree";
        let message = StoredMessage {
            position: 1,
            id: MessageId::from_bytes([1; 32]),
            own: false,
            author: MemberId::parse(&"A".repeat(43)).unwrap(),
            author_name: "Bob".to_owned(),
            app_id: None,
            via: Some("Moto".to_owned()),
            content: Content::Text(text.to_owned()),
            sent_at_ms: 0,
            stored_at_ms: 0,
            deliveries: Vec::new(),
        };
        let written = "1970-01-01 00:00:00Z  Bob · from Moto: one\n    1970-01-01 00:00:00Z  Anna: two\n    three";
        assert_eq!(line(&message), written);
    }
}
