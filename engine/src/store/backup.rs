//! The history of a group on its way into a backup, and out of one into a new store.
//!
//! Owns what of the rows is kept and which of it a store takes: a backup may come from
//! anywhere, so ids, names and codes are checked as if they came from a stranger. A restored
//! history is that of a device that sends nothing any more: what waited is withdrawn.

use std::path::Path;

use rusqlite::{OptionalExtension, Row, params};
use sealpost_protocol::key::{MemberId, SigningPublic};
use sealpost_protocol::limit::BODY_BYTES_MAX;
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::{self, DeviceName};

use super::fault::fault;
use super::history::delivery_state;
use super::{OpenFault, Store, integer, number};
use crate::backup::{DeliveryPart, IssuePart, MessagePart, NotePart};
use crate::core::error::StorageFault;
use crate::core::group_name::GroupName;
use crate::core::issue::{DeliveryIssue, HandlerError};
use crate::core::message::DeliveryState;
use crate::durable_file;
use crate::keys::IdentityId;

/// How many rows a page has, and how many bytes of bodies: it is what a question of the window
/// may have to wait, and what a backup holds in memory.
const PAGE_ROWS: i64 = 500;
const PAGE_BODY_BYTES: usize = 1024 * 1024;

/// How many rows share a commit of a restore, and how many bytes of bodies.
const COMMIT_ROWS: usize = 1_000;
const COMMIT_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The last moment that a calendar has, in Unix ms. A file may say anything of its times, and
/// those who show them count on a date.
pub(crate) const TIME_MS_MAX: u64 = 8_640_000_000_000_000;

/// How many characters of an id stand for a name of which nothing can be seen.
const NAME_OF_ID_CHARS: usize = 8;

/// Where a history begins and ends.
pub(crate) struct BackupHead {
    /// What the group is called.
    pub(crate) name: Option<String>,
    /// Up to where it was read.
    pub(crate) read_position: u64,
    /// The position of the newest message, 0 if there is none.
    pub(crate) last_position: u64,
    /// How many messages there are.
    pub(crate) messages: u64,
}

impl Store {
    /// What the group is called; nothing where that can't be read any more.
    pub(crate) fn label(&self) -> Result<Option<String>, StorageFault> {
        let label = self
            .connection
            .query_row("SELECT label FROM device", [], |row| row.get(0))
            .optional();
        Ok(label.map_err(fault)?.flatten())
    }

    /// Where the history begins and ends.
    pub(crate) fn backup_head(&self) -> Result<BackupHead, StorageFault> {
        let (name, read, last, messages): (_, i64, i64, i64) = self
            .connection
            .query_row(
                "SELECT label, read_position, (SELECT coalesce(max(position), 0) FROM message),
                     (SELECT count(*) FROM message) FROM device",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
            .map_err(fault)?;
        Ok(BackupHead {
            name,
            read_position: number(read)?,
            last_position: number(last)?,
            messages: number(messages)?,
        })
    }

    /// A page of the messages after `after` up to `last`, oldest first; empty at the end.
    pub(crate) fn backup_messages(
        &self,
        after: u64,
        last: u64,
    ) -> Result<Vec<MessagePart>, StorageFault> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT position, id, own, author, author_name, app_id, body, sent_at_ms,
                     stored_at_ms
                 FROM message WHERE position > ?1 AND position <= ?2 ORDER BY position LIMIT ?3",
            )
            .map_err(fault)?;
        let page = params![integer(after), integer(last), PAGE_ROWS];
        let mut rows = statement.query(page).map_err(fault)?;
        let (mut found, mut bytes) = (Vec::new(), 0_usize);
        while bytes < PAGE_BODY_BYTES
            && let Some(row) = rows.next().map_err(fault)?
        {
            let mut message = read_message(row).map_err(fault)?;
            if message.own {
                let position = message.position;
                message.deliveries = self
                    .deliveries(position)?
                    .into_iter()
                    .map(|delivery| delivery_part(&delivery))
                    .collect();
                message.resent = self
                    .resent_ids(position)?
                    .iter()
                    .map(|id| id.as_bytes().to_vec())
                    .collect();
            }
            bytes = bytes.saturating_add(message.body.len());
            found.push(message);
        }
        Ok(found)
    }

    /// A page of the issues after `after`, oldest first; empty at the end.
    pub(crate) fn backup_issues(&self, after: u64) -> Result<Vec<(u64, IssuePart)>, StorageFault> {
        self.backup_page(
            "SELECT id, at_ms, code, message, version, detail
             FROM delivery_issue WHERE id > ?1 ORDER BY id LIMIT ?2",
            after,
            |row| {
                Ok(IssuePart {
                    at_ms: unsigned(row, 1)?,
                    code: row.get(2)?,
                    message: row.get(3)?,
                    version: row.get(4)?,
                    detail: row.get(5)?,
                })
            },
        )
    }

    /// A page of the membership history after `after`, oldest first; empty at the end.
    pub(crate) fn backup_notes(&self, after: u64) -> Result<Vec<(u64, NotePart)>, StorageFault> {
        self.backup_page(
            "SELECT id, seen_ms, is_added, member, noise, name, issuer, issuer_name, version,
                 is_me, by_me
             FROM membership_note WHERE id > ?1 ORDER BY id LIMIT ?2",
            after,
            |row| {
                let version: Option<i64> = row.get(8)?;
                Ok(NotePart {
                    seen_ms: unsigned(row, 1)?,
                    is_added: row.get(2)?,
                    member: row.get(3)?,
                    noise: row.get(4)?,
                    name: row.get(5)?,
                    issuer: row.get(6)?,
                    issuer_name: row.get(7)?,
                    version: version.and_then(|version| u64::try_from(version).ok()),
                    is_me: row.get(9)?,
                    by_me: row.get(10)?,
                })
            },
        )
    }

    fn backup_page<T>(
        &self,
        sql: &str,
        after: u64,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<(u64, T)>, StorageFault> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement
                    .query_map(params![integer(after), PAGE_ROWS], |row| {
                        Ok((unsigned(row, 0)?, read(row)?))
                    })?
                    .collect()
            })
            .map_err(fault)
    }
}

/// A number that is never negative; one that is comes from damage.
fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

fn read_message(row: &Row<'_>) -> rusqlite::Result<MessagePart> {
    Ok(MessagePart {
        position: unsigned(row, 0)?,
        id: row.get(1)?,
        own: row.get(2)?,
        author: row.get(3)?,
        author_name: row.get(4)?,
        app_id: row.get(5)?,
        body: row.get(6)?,
        sent_at_ms: unsigned(row, 7)?,
        stored_at_ms: unsigned(row, 8)?,
        deliveries: Vec::new(),
        resent: Vec::new(),
    })
}

fn delivery_part(delivery: &crate::history::Delivery) -> DeliveryPart {
    let (failure, at_ms) = match delivery.state {
        DeliveryState::Failed(failure) => (Some(failure.code().to_owned()), None),
        DeliveryState::OnRelay { at_ms } => (None, Some(at_ms)),
        DeliveryState::Waiting | DeliveryState::Sending | DeliveryState::Withdrawn => (None, None),
    };
    DeliveryPart {
        member: delivery.member.as_str().to_owned(),
        name: delivery.name.clone(),
        state: delivery.state.code().to_owned(),
        failure,
        at_ms,
    }
}

/// Why a history isn't in its new store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// What was to be written isn't what a backup of this program has.
    Nonsense,
    /// The store can't be written.
    Storage(StorageFault),
}

impl From<StorageFault> for NotTaken {
    fn from(fault: StorageFault) -> Self {
        Self::Storage(fault)
    }
}

/// Writes a history into a new store.
pub(crate) struct HistoryWriter {
    store: Store,
    rows: usize,
    bytes: usize,
    /// Up to where the old device had read, in positions of the backup.
    read_position: u64,
    /// The position of the last message in the backup, and in the new store.
    last: u64,
    last_here: u64,
    read_here: u64,
}

impl HistoryWriter {
    /// Makes the store.
    pub(crate) fn open(
        path: &Path,
        key: &[u8; 32],
        first: &IdentityId,
        group: Option<&str>,
        read_position: u64,
    ) -> Result<Self, NotTaken> {
        let store = Store::open(path, key, first).map_err(|fault| match fault {
            OpenFault::Storage(fault) => fault,
            OpenFault::TooNew { .. } | OpenFault::Outdated { .. } => StorageFault::Unavailable,
        })?;
        // The file is synced as a whole before it counts.
        store
            .connection
            .pragma_update(None, "synchronous", "OFF")
            .and_then(|()| store.connection.execute_batch("BEGIN IMMEDIATE"))
            .map_err(fault)?;
        let group = group.and_then(|name| GroupName::received(name, 0));
        store
            .connection
            .execute(
                "UPDATE device SET label = ?1",
                [group.map(|group| group.text)],
            )
            .map_err(fault)?;
        Ok(Self {
            store,
            rows: 0,
            bytes: 0,
            read_position,
            last: 0,
            last_here: 0,
            read_here: 0,
        })
    }

    /// Adds a message. They come in the order of their positions and get new ones without
    /// gaps, so that no file can use up the numbers that come after them.
    pub(crate) fn message(&mut self, message: &MessagePart) -> Result<(), NotTaken> {
        let id = id(&message.id)?;
        let author = MemberId::parse(&message.author).ok_or(NotTaken::Nonsense)?;
        let app_id: Option<[u8; 16]> = match &message.app_id {
            Some(bytes) => Some(
                bytes
                    .as_slice()
                    .try_into()
                    .map_err(|_| NotTaken::Nonsense)?,
            ),
            None => None,
        };
        if message.position <= self.last || message.body.len() > BODY_BYTES_MAX {
            return Err(NotTaken::Nonsense);
        }
        self.last = message.position;
        let position = self.last_here.saturating_add(1);
        let added = self
            .store
            .connection
            .prepare_cached(
                "INSERT OR IGNORE INTO message (position, id, own, author, author_name, app_id,
                     body, sent_at_ms, stored_at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    integer(position),
                    id.as_bytes(),
                    message.own,
                    author.as_str(),
                    clean_name(&message.author_name, &author),
                    app_id,
                    message.body,
                    moment(message.sent_at_ms),
                    moment(message.stored_at_ms),
                ])
            })
            .map_err(fault)?;
        if added == 0 {
            // The same message twice.
            return Ok(());
        }
        self.last_here = position;
        if message.position <= self.read_position {
            self.read_here = position;
        }
        for (place, delivery) in message.deliveries.iter().enumerate() {
            self.delivery(position, place, delivery)?;
        }
        for resent in &message.resent {
            let sql = "INSERT OR IGNORE INTO resend (id, position) VALUES (?1, ?2)";
            let resent = id_bytes(resent)?;
            self.store
                .connection
                .execute(sql, params![resent, integer(position)])
                .map_err(fault)?;
        }
        self.bytes = self.bytes.saturating_add(message.body.len());
        self.count_row()
    }

    fn delivery(&self, position: u64, place: usize, part: &DeliveryPart) -> Result<(), NotTaken> {
        let member = MemberId::parse(&part.member).ok_or(NotTaken::Nonsense)?;
        let at_ms = part.at_ms.map(moment);
        let state = delivery_state(&part.state, part.failure.as_deref(), at_ms)
            .map_err(|_| NotTaken::Nonsense)?;
        let state = match state {
            // This device sends nothing of it any more.
            DeliveryState::Waiting | DeliveryState::Sending => DeliveryState::Withdrawn,
            state => state,
        };
        self.store
            .connection
            .prepare_cached(
                "INSERT OR IGNORE INTO delivery (position, member, name, place, state, failure, at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    integer(position),
                    member.as_str(),
                    clean_name(&part.name, &member),
                    i64::try_from(place).unwrap_or(i64::MAX),
                    state.code(),
                    part.failure,
                    at_ms,
                ])
            })
            .map(drop)
            .map_err(|error| fault(error).into())
    }

    /// Adds an issue, as told already. One that this version doesn't know is left out.
    pub(crate) fn issue(&mut self, part: &IssuePart) -> Result<(), NotTaken> {
        let message = part.message.as_deref().map(id).transpose()?;
        let detail = part.detail.as_deref();
        let Some(issue) = DeliveryIssue::from_columns(&part.code, message, part.version, detail)
        else {
            return Ok(());
        };
        let issue = tamed(issue);
        self.store
            .connection
            .prepare_cached(
                "INSERT INTO delivery_issue (at_ms, code, message, version, detail, told)
                 VALUES (?1, ?2, ?3, ?4, ?5, 1)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    moment(part.at_ms),
                    issue.code(),
                    issue.message().map(MessageId::as_bytes),
                    issue.version(),
                    issue.detail(),
                ])
            })
            .map_err(fault)?;
        self.count_row()
    }

    /// Adds a line of the membership history.
    pub(crate) fn note(&mut self, part: &NotePart) -> Result<(), NotTaken> {
        let (member, noise) = (id_bytes(&part.member)?, id_bytes(&part.noise)?);
        let issuer = part.issuer.as_deref().map(id_bytes).transpose()?;
        let name = DeviceName::clean(&part.name, &SigningPublic::from_bytes(member));
        let issuer_name = part.issuer_name.as_deref().and_then(name::clean);
        self.store
            .connection
            .prepare_cached(
                "INSERT INTO membership_note (seen_ms, is_added, member, noise, name, issuer,
                     issuer_name, version, is_me, by_me)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    moment(part.seen_ms),
                    part.is_added,
                    member,
                    noise,
                    name.as_str(),
                    issuer,
                    issuer_name,
                    part.version.map(integer),
                    part.is_me,
                    part.by_me,
                ])
            })
            .map_err(fault)?;
        self.count_row()
    }

    /// Makes the store durable and closes it.
    pub(crate) fn finish(self) -> Result<(), NotTaken> {
        let connection = &self.store.connection;
        connection
            .execute(
                "UPDATE device SET read_position = ?1",
                [integer(self.read_here)],
            )
            .and_then(|_| connection.execute_batch("COMMIT"))
            .map_err(fault)?;
        // All of it is in the one file then, and that is what is synced.
        let blocked: i64 = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(fault)?;
        if blocked != 0 {
            return Err(StorageFault::Unavailable.into());
        }
        let path = self.store.path.clone();
        drop(self.store);
        durable_file::sync(&path).map_err(|error| super::io_fault(&error).into())
    }

    fn count_row(&mut self) -> Result<(), NotTaken> {
        self.rows = self.rows.saturating_add(1);
        if self.rows >= COMMIT_ROWS || self.bytes >= COMMIT_BODY_BYTES {
            (self.rows, self.bytes) = (0, 0);
            self.store
                .connection
                .execute_batch("COMMIT; BEGIN IMMEDIATE")
                .map_err(fault)?;
        }
        Ok(())
    }
}

fn id_bytes(bytes: &[u8]) -> Result<[u8; 32], NotTaken> {
    bytes.try_into().map_err(|_| NotTaken::Nonsense)
}

fn id(bytes: &[u8]) -> Result<MessageId, NotTaken> {
    id_bytes(bytes).map(MessageId::from_bytes)
}

/// A time that has a date.
fn moment(ms: u64) -> i64 {
    integer(ms.min(TIME_MS_MAX))
}

/// An issue whose text can be shown and whose time has a date.
fn tamed(issue: DeliveryIssue) -> DeliveryIssue {
    match issue {
        DeliveryIssue::HandlerGaveUp { message, error } => DeliveryIssue::HandlerGaveUp {
            message,
            error: HandlerError::new(&name::clean(error.as_str()).unwrap_or_default()),
        },
        DeliveryIssue::AwayTooLong { since_ms } => DeliveryIssue::AwayTooLong {
            since_ms: since_ms.min(TIME_MS_MAX),
        },
        issue => issue,
    }
}

/// A name as this program would have stored it.
fn clean_name(raw: &str, owner: &MemberId) -> String {
    let derived = || owner.as_str().chars().take(NAME_OF_ID_CHARS).collect();
    name::clean(raw).unwrap_or_else(derived)
}
