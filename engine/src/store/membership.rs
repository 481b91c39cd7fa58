//! The tables of the membership rule: one row per fact, as the core counts them.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use sealpost_protocol::key::{DeviceKeys, MemberId, NoisePublic, SigningPublic};
use sealpost_protocol::manifest::{ManifestHash, Member, SignedManifest};
use sealpost_protocol::name::DeviceName;

use super::fault::fault;
use super::{Store, integer, number};
use crate::core::error::StorageFault;
use crate::core::membership::{
    Attribution, KnownManifest, MembershipChange, MembershipSnapshot, Tomb,
};
use crate::core::step::MembershipNote;
use crate::history::{PAGE_ROWS_MAX, StoredNote};

pub(super) fn write(
    transaction: &Transaction<'_>,
    change: &MembershipChange,
) -> rusqlite::Result<()> {
    use MembershipChange as M;
    let run = |sql, values: &[&dyn rusqlite::ToSql]| {
        transaction.prepare_cached(sql)?.execute(values).map(drop)
    };
    match change {
        M::RootSet { hash } => run(
            "INSERT OR REPLACE INTO membership_root (one, hash) VALUES (1, ?1)",
            &[hash.as_bytes()],
        ),
        M::ManifestStored { manifest, trusted } => run(
            "INSERT INTO manifest (hash, encoded, trusted) VALUES (?1, ?2, ?3)
             ON CONFLICT (hash) DO UPDATE SET trusted = max(trusted, ?3)",
            &[manifest.hash().as_bytes(), &manifest.encode(), trusted],
        ),
        M::ManifestDeleted { hash } => {
            run("DELETE FROM manifest WHERE hash = ?1", &[hash.as_bytes()])
        }
        M::RemovalStored {
            key,
            removal,
            since_ms,
        } => run(
            "INSERT OR IGNORE INTO membership_removal (member, manifest, since_ms)
             VALUES (?1, ?2, ?3)",
            &[key.as_bytes(), removal.as_bytes(), &integer(*since_ms)],
        ),
        M::HelloStored { key, manifest } => run(
            "INSERT OR REPLACE INTO membership_hello (member, manifest) VALUES (?1, ?2)",
            &[key.as_bytes(), manifest.as_bytes()],
        ),
        M::HelloDeleted { key } => run(
            "DELETE FROM membership_hello WHERE member = ?1",
            &[key.as_bytes()],
        ),
        M::SeenStored { key, manifest } => run(
            "INSERT OR REPLACE INTO membership_seen (member, manifest) VALUES (?1, ?2)",
            &[key.as_bytes(), manifest.as_bytes()],
        ),
        M::SeenDeleted { key } => run(
            "DELETE FROM membership_seen WHERE member = ?1",
            &[key.as_bytes()],
        ),
        M::LimboStarted { key, since_ms } => run(
            "INSERT OR REPLACE INTO membership_limbo (member, since_ms) VALUES (?1, ?2)",
            &[key.as_bytes(), &integer(*since_ms)],
        ),
        M::LimboEnded { key } => run(
            "DELETE FROM membership_limbo WHERE member = ?1",
            &[key.as_bytes()],
        ),
        M::BaseMemberStored { member } => run(
            "INSERT OR REPLACE INTO membership_base (member, noise, name) VALUES (?1, ?2, ?3)",
            &[
                member.keys.signing.as_bytes(),
                member.keys.noise.as_bytes(),
                &member.name.as_str(),
            ],
        ),
        M::HelloSent { key } => run(
            "INSERT OR IGNORE INTO membership_hello_sent (member) VALUES (?1)",
            &[key.as_bytes()],
        ),
        M::KeyHeld { key } => run(
            "INSERT OR IGNORE INTO membership_held (member) VALUES (?1)",
            &[key.as_bytes()],
        ),
    }
}

/// How many lines of the membership history are kept: the oldest go first. A member can make
/// others come and go as often as it likes.
pub(super) const NOTES_MAX: i64 = 10_000;

/// A line of the membership history.
pub(super) fn note(transaction: &Transaction<'_>, note: &MembershipNote) -> rusqlite::Result<()> {
    let by = note.by.as_ref();
    transaction
        .prepare_cached(
            "INSERT INTO membership_note
                 (seen_ms, is_added, member, noise, name, issuer, issuer_name, version, is_me, by_me)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            integer(note.seen_ms),
            note.is_added,
            note.member.keys.signing.as_bytes(),
            note.member.keys.noise.as_bytes(),
            note.member.name.as_str(),
            by.map(|by| by.issuer.as_bytes()),
            by.and_then(|by| by.name.as_ref()).map(DeviceName::as_str),
            by.map(|by| integer(by.version)),
            note.is_me,
            note.by_me,
        ])?;
    let oldest = transaction.last_insert_rowid().saturating_sub(NOTES_MAX);
    transaction
        .prepare_cached("DELETE FROM membership_note WHERE id <= ?1")?
        .execute([oldest])
        .map(drop)
}

impl Store {
    /// Up to `limit` lines of the membership history before `before` (`None`: the newest),
    /// newest first.
    pub(crate) fn membership_history(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredNote>, StorageFault> {
        let limit = limit.min(PAGE_ROWS_MAX);
        let mut statement = self
            .connection
            .prepare_cached(&format!(
                "SELECT seen_ms, is_added, member, noise, name, issuer, issuer_name, version,
                     is_me, by_me, id
                 FROM membership_note WHERE id < ?1 ORDER BY id DESC LIMIT {limit}"
            ))
            .map_err(fault)?;
        let before = before.map_or(i64::MAX, integer);
        let mut rows = statement.query([before]).map_err(fault)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(fault)? {
            found.push(read_note(row)?);
        }
        Ok(found)
    }
}

impl Store {
    /// The newest line that says who let somebody in, unless it is older.
    pub(crate) fn last_admission_since(
        &self,
        since_ms: u64,
    ) -> Result<Option<MembershipNote>, StorageFault> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT seen_ms, is_added, member, noise, name, issuer, issuer_name, version,
                     is_me, by_me, id
                 FROM membership_note
                 WHERE is_added = 1 AND issuer <> member AND seen_ms >= ?1
                 ORDER BY id DESC LIMIT 1",
            )
            .map_err(fault)?;
        let mut rows = statement.query([integer(since_ms)]).map_err(fault)?;
        let row = rows.next().map_err(fault)?;
        row.map(|row| Ok(read_note(row)?.note)).transpose()
    }

    /// Whether the history holds a message of a member.
    pub(crate) fn has_message_of(&self, member: &MemberId) -> Result<bool, StorageFault> {
        self.connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM message WHERE author = ?1)")
            .and_then(|mut statement| statement.query_row([member.as_str()], |row| row.get(0)))
            .map_err(fault)
    }
}

fn read_note(row: &Row<'_>) -> Result<StoredNote, StorageFault> {
    let keys = DeviceKeys {
        signing: signing(row.get(2).map_err(fault)?),
        noise: NoisePublic::from_bytes(row.get(3).map_err(fault)?),
    };
    let name: String = row.get(4).map_err(fault)?;
    let issuer: Option<[u8; 32]> = row.get(5).map_err(fault)?;
    let issuer_name: Option<String> = row.get(6).map_err(fault)?;
    let version: Option<i64> = row.get(7).map_err(fault)?;
    let by = match (issuer.map(signing), version) {
        (Some(issuer), Some(version)) => Some(Attribution {
            issuer,
            name: issuer_name.map(|name| DeviceName::clean(&name, &issuer)),
            version: number(version)?,
        }),
        _ => None,
    };
    let note = MembershipNote {
        is_added: row.get(1).map_err(fault)?,
        member: Member {
            keys,
            name: DeviceName::clean(&name, &keys.signing),
        },
        is_me: row.get(8).map_err(fault)?,
        by,
        by_me: row.get(9).map_err(fault)?,
        seen_ms: number(row.get(0).map_err(fault)?)?,
    };
    let position = number(row.get(10).map_err(fault)?)?;
    Ok(StoredNote { position, note })
}

pub(super) fn wipe(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DELETE FROM membership_root;
         DELETE FROM manifest;
         DELETE FROM membership_removal;
         DELETE FROM membership_hello;
         DELETE FROM membership_seen;
         DELETE FROM membership_limbo;
         DELETE FROM membership_base;
         DELETE FROM membership_hello_sent;
         DELETE FROM membership_held;",
    )
}

/// Adds the rows up to the state they stand for.
pub(super) fn read(connection: &Connection) -> Result<MembershipSnapshot, StorageFault> {
    let root: Option<[u8; 32]> = connection
        .query_row("SELECT hash FROM membership_root", [], |row| row.get(0))
        .optional()
        .map_err(fault)?;
    let hash_of =
        |(key, hash): ([u8; 32], [u8; 32])| (signing(key), ManifestHash::from_bytes(hash));
    let hello = rows(connection, "SELECT member, manifest FROM membership_hello")?;
    let seen = rows(connection, "SELECT member, manifest FROM membership_seen")?;
    let mut limbo_since = BTreeMap::new();
    for (key, since) in
        rows::<[u8; 32], i64>(connection, "SELECT member, since_ms FROM membership_limbo")?
    {
        limbo_since.insert(signing(key), number(since)?);
    }
    Ok(MembershipSnapshot {
        root: root.map(ManifestHash::from_bytes),
        manifests: manifests(connection)?,
        tombs: tombs(connection)?,
        hello: hello.into_iter().map(hash_of).collect(),
        seen: seen.into_iter().map(hash_of).collect(),
        limbo_since,
        base: base(connection)?,
        hello_sent: keys(connection, "SELECT member FROM membership_hello_sent")?,
        held: keys(connection, "SELECT member FROM membership_held")?,
    })
}

fn manifests(
    connection: &Connection,
) -> Result<BTreeMap<ManifestHash, KnownManifest>, StorageFault> {
    let mut known = BTreeMap::new();
    for (encoded, trusted) in
        rows::<Vec<u8>, bool>(connection, "SELECT encoded, trusted FROM manifest")?
    {
        let manifest = SignedManifest::decode(&encoded).map_err(|_| StorageFault::Damaged)?;
        known.insert(manifest.hash(), KnownManifest { manifest, trusted });
    }
    Ok(known)
}

fn tombs(connection: &Connection) -> Result<BTreeMap<SigningPublic, Tomb>, StorageFault> {
    let mut statement = connection
        .prepare("SELECT member, manifest, since_ms FROM membership_removal")
        .map_err(fault)?;
    let found = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .and_then(Iterator::collect::<rusqlite::Result<Vec<([u8; 32], [u8; 32], i64)>>>)
        .map_err(fault)?;
    let mut tombs: BTreeMap<_, Tomb> = BTreeMap::new();
    for (key, removal, since) in found {
        let since_ms = number(since)?;
        let tomb = tombs.entry(signing(key)).or_insert_with(|| Tomb {
            since_ms,
            removals: BTreeSet::new(),
        });
        tomb.since_ms = tomb.since_ms.min(since_ms);
        tomb.removals.insert(ManifestHash::from_bytes(removal));
    }
    Ok(tombs)
}

fn base(connection: &Connection) -> Result<BTreeMap<SigningPublic, Member>, StorageFault> {
    let mut statement = connection
        .prepare("SELECT member, noise, name FROM membership_base")
        .map_err(fault)?;
    let found = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .and_then(Iterator::collect::<rusqlite::Result<Vec<([u8; 32], [u8; 32], String)>>>)
        .map_err(fault)?;
    let member = |(key, noise, name): ([u8; 32], [u8; 32], String)| {
        let keys = DeviceKeys {
            noise: NoisePublic::from_bytes(noise),
            signing: signing(key),
        };
        (
            keys.signing,
            Member {
                keys,
                name: DeviceName::clean(&name, &keys.signing),
            },
        )
    };
    Ok(found.into_iter().map(member).collect())
}

fn keys(connection: &Connection, sql: &str) -> Result<BTreeSet<SigningPublic>, StorageFault> {
    let mut statement = connection.prepare(sql).map_err(fault)?;
    let found = statement
        .query_map([], |row| row.get(0).map(signing))
        .and_then(Iterator::collect::<rusqlite::Result<_>>)
        .map_err(fault)?;
    Ok(found)
}

fn rows<A: FromSql, B: FromSql>(
    connection: &Connection,
    sql: &str,
) -> Result<Vec<(A, B)>, StorageFault> {
    let mut statement = connection.prepare(sql).map_err(fault)?;
    let found = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect::<rusqlite::Result<_>>)
        .map_err(fault)?;
    Ok(found)
}

fn signing(key: [u8; 32]) -> SigningPublic {
    SigningPublic::from_bytes(key)
}
