//! Reads back everything that the machine needs to go on.

use rusqlite::{Connection, OptionalExtension};
use sealpost_protocol::key::{DeviceKeys, DeviceSecrets, NoisePublic, SigningPublic};
use sealpost_protocol::manifest::SignedManifest;
use sealpost_protocol::name::DeviceName;
use sealpost_protocol::token::PairingSecret;

use super::apply::{KIND_GROUP_MANIFEST, KIND_PAIR, KIND_REVOKE, KIND_SYNC};
use super::fault::fault;
use super::{Store, membership, number};
use crate::core::error::StorageFault;
use crate::core::group_name::GroupName;
use crate::core::issue::SendFailure;
use crate::core::status::Phase;
use crate::core::step::{
    BufferedManifest, HeldBlob, JoinRecord, OutboxEntry, OutboxKind, OutboxMessage, Snapshot,
};

impl Store {
    /// Reads the state of the group. `secrets` are those of [`Store::identity`].
    pub(crate) fn snapshot(
        &self,
        secrets: DeviceSecrets,
        name: DeviceName,
    ) -> Result<Snapshot, StorageFault> {
        let connection = &self.connection;
        let (phase, wants_leave, seen, last): (String, bool, Option<i64>, i64) = connection
            .query_row(
                "SELECT phase, wants_leave, seen_ms, last_sequence FROM device",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
            .map_err(fault)?;
        let (group_name, gave_name) = group_name(connection)?;
        let phase = Phase::from_code(&phase).ok_or(StorageFault::Damaged)?;
        let membership = match phase {
            Phase::Member | Phase::Ending(_) => Some(membership::read(connection)?),
            Phase::NotJoined | Phase::PendingJoin => None,
        };
        let last_sequence = number(last)?;
        let mut snapshot = Snapshot {
            secrets,
            name,
            group_name,
            gave_name,
            phase,
            wants_leave,
            seen_ms: seen.map(number).transpose()?,
            last_sequence,
            join: join(connection)?,
            buffered: buffered(connection)?,
            outbox_messages: outbox_messages(connection)?,
            outbox_entries: outbox_entries(connection)?,
            held: held(connection)?,
            membership,
        };
        self.add_sends_left(&mut snapshot)?;
        Ok(snapshot)
    }
}

/// The group's name, and whether it was given on this device.
fn group_name(connection: &Connection) -> Result<(Option<GroupName>, bool), StorageFault> {
    let (text, version, is_mine): (Option<String>, i64, bool) = connection
        .query_row(
            "SELECT label, label_version, label_is_mine FROM device",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .map_err(fault)?;
    let version = number(version)?;
    Ok((text.map(|text| GroupName { version, text }), is_mine))
}

fn join(connection: &Connection) -> Result<Option<JoinRecord>, StorageFault> {
    connection
        .query_row(
            "SELECT admitter_noise, admitter_signing, secret, confirmed, refused
             FROM pending_join",
            [],
            |row| {
                Ok(JoinRecord {
                    admitter: device_keys(row.get(0)?, row.get(1)?),
                    secret: PairingSecret::from_bytes(row.get(2)?),
                    confirmed: row.get(3)?,
                    is_refused: row.get(4)?,
                })
            },
        )
        .optional()
        .map_err(fault)
}

fn buffered(connection: &Connection) -> Result<Vec<BufferedManifest>, StorageFault> {
    let mut statement = connection
        .prepare("SELECT author, encoded FROM buffered_manifest ORDER BY place")
        .map_err(fault)?;
    let found = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect::<rusqlite::Result<Vec<([u8; 32], Vec<u8>)>>>)
        .map_err(fault)?;
    let manifest = |(author, encoded): ([u8; 32], Vec<u8>)| {
        let manifest = SignedManifest::decode(&encoded).map_err(|_| StorageFault::Damaged)?;
        Ok(BufferedManifest {
            author: SigningPublic::from_bytes(author),
            manifest,
        })
    };
    found.into_iter().map(manifest).collect()
}

fn outbox_messages(connection: &Connection) -> Result<Vec<OutboxMessage>, StorageFault> {
    let mut statement = connection
        .prepare(
            "SELECT sequence, kind, sent_at_ms, first, reported FROM outbox_message ORDER BY 1",
        )
        .map_err(fault)?;
    let mut rows = statement.query([]).map_err(fault)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        let (kind, sent_at): (u8, i64) = (row.get(1).map_err(fault)?, row.get(2).map_err(fault)?);
        let first: Option<[u8; 32]> = row.get(3).map_err(fault)?;
        let reported: String = row.get(4).map_err(fault)?;
        let reported = reported.split_whitespace().map(SendFailure::from_code);
        found.push(OutboxMessage {
            sequence: number(row.get(0).map_err(fault)?)?,
            kind: outbox_kind(kind, sent_at)?,
            first: first.map(NoisePublic::from_bytes),
            reported: reported
                .collect::<Option<_>>()
                .ok_or(StorageFault::Damaged)?,
        });
    }
    Ok(found)
}

fn outbox_kind(kind: u8, sent_at: i64) -> Result<OutboxKind, StorageFault> {
    match kind {
        KIND_PAIR => Ok(OutboxKind::Pair),
        KIND_SYNC => Ok(OutboxKind::Sync {
            sent_at_ms: number(sent_at)?,
        }),
        KIND_REVOKE => Ok(OutboxKind::Revoke),
        KIND_GROUP_MANIFEST => Ok(OutboxKind::GroupManifest),
        _ => Err(StorageFault::Damaged),
    }
}

fn outbox_entries(connection: &Connection) -> Result<Vec<OutboxEntry>, StorageFault> {
    let mut statement = connection
        .prepare(
            "SELECT sequence, recipient_noise, recipient_signing FROM outbox_entry ORDER BY 1, 2",
        )
        .map_err(fault)?;
    let found = statement
        .query_map([], |row| {
            Ok((row.get(0)?, device_keys(row.get(1)?, row.get(2)?)))
        })
        .and_then(Iterator::collect::<rusqlite::Result<Vec<(i64, DeviceKeys)>>>)
        .map_err(fault)?;
    let entry = |(sequence, recipient)| {
        Ok(OutboxEntry {
            sequence: number(sequence)?,
            recipient,
        })
    };
    found.into_iter().map(entry).collect()
}

fn held(connection: &Connection) -> Result<Vec<HeldBlob>, StorageFault> {
    let mut statement = connection
        .prepare("SELECT digest, version, place, first_seen_ms FROM held_blob ORDER BY place")
        .map_err(fault)?;
    let found = statement
        .query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .and_then(Iterator::collect::<rusqlite::Result<Vec<([u8; 32], u32, i64, i64)>>>)
        .map_err(fault)?;
    found
        .into_iter()
        .map(|(digest, version, order, first_seen)| {
            let (order, first_seen_ms) = (number(order)?, number(first_seen)?);
            Ok(HeldBlob {
                digest,
                version,
                order,
                first_seen_ms,
            })
        })
        .collect()
}

fn device_keys(noise: [u8; 32], signing: [u8; 32]) -> DeviceKeys {
    DeviceKeys {
        noise: NoisePublic::from_bytes(noise),
        signing: SigningPublic::from_bytes(signing),
    }
}

#[cfg(test)]
mod tests;
