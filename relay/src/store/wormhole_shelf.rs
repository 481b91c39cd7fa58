//! The rows of wormhole mailboxes in an open transaction.
//!
//! Owns: the SQL of nameplates, mailboxes, sides, messages, acknowledgements and records of
//! use. Never does: decide anything (that is [`crate::wormhole`]), or commit.
//!
//! Invariant: `messages` and `bytes` of a mailbox's row are the count and sum of its messages.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension, Result, Row, ToSql, Transaction, params};

use super::inboxes::SharedInboxes;
use super::whole::Whole;
use super::wormhole_table::Counters;
use crate::wormhole::{
    AppId, Body, CommandId, MailboxName, MailboxRow, MailboxSide, Message, Mood, Nameplate,
    NameplateRow, NameplateSide, Phase, Seqnum, Shelf, Side, Times, Usage,
};

/// The tables, as the transaction sees them.
pub(super) struct SqlShelf<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) counters: &'a mut Counters,
    pub(super) inboxes: &'a SharedInboxes,
}

impl SqlShelf<'_> {
    fn run(&self, sql: &str, values: &[&dyn ToSql]) -> Result<usize> {
        self.transaction.prepare_cached(sql)?.execute(values)
    }

    fn one<T>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        statement.query_row(values, read).optional()
    }

    fn all<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<C> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        statement.query_map(values, read)?.collect()
    }

    /// Takes what was deleted off the mailbox's sums.
    fn deleted(&mut self, mailbox: u64, sizes: &[u64]) -> Result<()> {
        let bytes = sizes
            .iter()
            .fold(0, |sum: u64, size| sum.saturating_add(*size));
        let messages = sizes.len() as u64;
        if messages > 0 {
            let sql = "UPDATE wormhole_mailboxes
                SET messages = messages - ?2, bytes = bytes - ?3 WHERE id = ?1";
            let values = params![Whole(mailbox), Whole(messages), Whole(bytes)];
            self.run(sql, values)?;
        }
        self.counters.remove(messages, bytes);
        Ok(())
    }
}

const MAILBOX: &str = "SELECT id, app, name, for_nameplate, touched_ms, messages, bytes
    FROM wormhole_mailboxes WHERE";

fn mailbox_of(row: &Row<'_>) -> Result<MailboxRow> {
    Ok(MailboxRow {
        number: whole(row, 0)?,
        app: AppId::new(row.get::<_, String>(1)?),
        name: MailboxName::new(row.get::<_, String>(2)?),
        for_nameplate: row.get(3)?,
        touched_ms: whole(row, 4)?,
        messages: whole(row, 5)?,
        bytes: whole(row, 6)?,
    })
}

/// The columns that [`message_of`] reads.
pub(super) const MESSAGE_COLUMNS: &str = "side, phase, body, command, received_ms, seqnum";

/// Reads a message from the first columns of a row.
pub(super) fn message_of(row: &Row<'_>) -> Result<Message> {
    Ok(Message {
        side: side_of(row, 0)?,
        phase: Phase::new(row.get::<_, String>(1)?),
        body: Body::new(row.get::<_, String>(2)?),
        id: CommandId::new(row.get::<_, String>(3)?),
        received_ms: whole(row, 4)?,
        seqnum: row.get::<_, Option<Whole>>(5)?.map(seqnum_of).transpose()?,
    })
}

fn whole(row: &Row<'_>, column: usize) -> Result<u64> {
    row.get::<_, Whole>(column).map(|whole| whole.0)
}

fn side_of(row: &Row<'_>, column: usize) -> Result<Side> {
    row.get::<_, String>(column).map(Side::new)
}

fn seqnum_of(whole: Whole) -> Result<Seqnum> {
    Seqnum::new(whole.0).ok_or(rusqlite::Error::IntegralValueOutOfRange(0, i64::MAX))
}

/// Reads a nameplate from the first column of a row.
pub(super) fn nameplate_of(row: &Row<'_>) -> Result<Nameplate> {
    let digits: String = row.get(0)?;
    let unreadable = || rusqlite::Error::InvalidColumnName("name".to_owned());
    Nameplate::parse(&digits).ok_or_else(unreadable)
}

fn side_and_seqnum(row: &Row<'_>) -> Result<(Side, Seqnum)> {
    Ok((side_of(row, 0)?, seqnum_of(row.get(1)?)?))
}

impl Shelf for SqlShelf<'_> {
    type Error = rusqlite::Error;

    fn nameplate(&mut self, app: &AppId, nameplate: &Nameplate) -> Result<Option<NameplateRow>> {
        let sql = "SELECT id, mailbox FROM wormhole_nameplates
            WHERE app = ?1 AND digits = ?2 AND name = ?3";
        let values = params![
            app.as_str(),
            count_of(nameplate.digits()),
            nameplate.as_str()
        ];
        self.one(sql, values, |row| {
            Ok(NameplateRow {
                number: whole(row, 0)?,
                mailbox: whole(row, 1)?,
            })
        })
    }

    fn nameplates(&mut self, app: &AppId) -> Result<Vec<Nameplate>> {
        let sql = "SELECT name FROM wormhole_nameplates WHERE app = ?1 ORDER BY name";
        self.all(sql, params![app.as_str()], nameplate_of)
    }

    fn nameplates_of_length(&mut self, app: &AppId, digits: usize) -> Result<BTreeSet<Nameplate>> {
        let sql = "SELECT name FROM wormhole_nameplates WHERE app = ?1 AND digits = ?2";
        self.all(sql, params![app.as_str(), count_of(digits)], nameplate_of)
    }

    fn add_nameplate(&mut self, app: &AppId, nameplate: &Nameplate, mailbox: u64) -> Result<u64> {
        let number = self.counters.take_number();
        let sql = "INSERT INTO wormhole_nameplates (id, app, digits, name, mailbox)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run(
            sql,
            params![
                Whole(number),
                app.as_str(),
                count_of(nameplate.digits()),
                nameplate.as_str(),
                Whole(mailbox)
            ],
        )?;
        Ok(number)
    }

    fn nameplate_sides(&mut self, nameplate: u64) -> Result<Vec<NameplateSide>> {
        let sql = "SELECT side, claimed_ms, is_claimed FROM wormhole_nameplate_sides
            WHERE nameplate = ?1";
        self.all(sql, params![Whole(nameplate)], |row| {
            Ok(NameplateSide {
                side: side_of(row, 0)?,
                claimed_ms: whole(row, 1)?,
                is_claimed: row.get(2)?,
            })
        })
    }

    fn put_nameplate_side(&mut self, nameplate: u64, side: &NameplateSide) -> Result<()> {
        let sql = "INSERT INTO wormhole_nameplate_sides (nameplate, side, claimed_ms, is_claimed)
            VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET is_claimed = excluded.is_claimed";
        let values = params![
            Whole(nameplate),
            side.side.as_str(),
            Whole(side.claimed_ms),
            side.is_claimed
        ];
        self.run(sql, values).map(drop)
    }

    fn remove_nameplate(&mut self, nameplate: u64) -> Result<()> {
        for sql in [
            "DELETE FROM wormhole_nameplate_sides WHERE nameplate = ?1",
            "DELETE FROM wormhole_nameplates WHERE id = ?1",
        ] {
            self.run(sql, params![Whole(nameplate)])?;
        }
        Ok(())
    }

    fn nameplates_of(&mut self, mailbox: u64) -> Result<Vec<u64>> {
        let sql = "SELECT id FROM wormhole_nameplates WHERE mailbox = ?1";
        self.all(sql, params![Whole(mailbox)], |row| whole(row, 0))
    }

    fn mailbox_count(&mut self) -> Result<u64> {
        Ok(self.counters.sums.mailboxes)
    }

    fn mailbox(&mut self, app: &AppId, name: &MailboxName) -> Result<Option<MailboxRow>> {
        let sql = format!("{MAILBOX} app = ?1 AND name = ?2");
        self.one(&sql, params![app.as_str(), name.as_str()], mailbox_of)
    }

    fn mailbox_at(&mut self, mailbox: u64) -> Result<Option<MailboxRow>> {
        let sql = format!("{MAILBOX} id = ?1");
        self.one(&sql, params![Whole(mailbox)], mailbox_of)
    }

    fn add_mailbox(
        &mut self,
        app: &AppId,
        name: &MailboxName,
        for_nameplate: bool,
        touched_ms: u64,
    ) -> Result<MailboxRow> {
        let number = self.counters.take_number();
        let sql = "INSERT INTO wormhole_mailboxes
            (id, app, name, for_nameplate, touched_ms, messages, bytes)
            VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)";
        self.run(
            sql,
            params![
                Whole(number),
                app.as_str(),
                name.as_str(),
                for_nameplate,
                Whole(touched_ms)
            ],
        )?;
        self.counters.add_mailbox();
        Ok(MailboxRow {
            number,
            app: app.clone(),
            name: name.clone(),
            for_nameplate,
            touched_ms,
            messages: 0,
            bytes: 0,
        })
    }

    fn touch(&mut self, mailbox: u64, at_ms: u64) -> Result<()> {
        let sql = "UPDATE wormhole_mailboxes SET touched_ms = ?2 WHERE id = ?1";
        self.run(sql, params![Whole(mailbox), Whole(at_ms)])
            .map(drop)
    }

    fn untouched_since(&mut self, until_ms: u64, count: usize) -> Result<Vec<u64>> {
        let sql = "SELECT id FROM wormhole_mailboxes WHERE touched_ms <= ?1 LIMIT ?2";
        self.all(sql, params![Whole(until_ms), count_of(count)], |row| {
            whole(row, 0)
        })
    }

    fn remove_mailbox(&mut self, mailbox: u64) -> Result<()> {
        let Some(row) = self.mailbox_at(mailbox)? else {
            return Ok(());
        };
        for sql in [
            "DELETE FROM wormhole_messages WHERE mailbox = ?1",
            "DELETE FROM mailbox_message_acks WHERE mailbox = ?1",
            "DELETE FROM wormhole_sides WHERE mailbox = ?1",
            "DELETE FROM wormhole_mailboxes WHERE id = ?1",
        ] {
            self.run(sql, params![Whole(mailbox)])?;
        }
        self.counters.remove(row.messages, row.bytes);
        self.counters.remove_mailbox();
        Ok(())
    }

    fn sides(&mut self, mailbox: u64) -> Result<Vec<MailboxSide>> {
        let sql = "SELECT side, opened_ms, is_open, mood FROM wormhole_sides WHERE mailbox = ?1";
        self.all(sql, params![Whole(mailbox)], |row| {
            Ok(MailboxSide {
                side: side_of(row, 0)?,
                opened_ms: whole(row, 1)?,
                is_open: row.get(2)?,
                mood: row.get::<_, Option<String>>(3)?.map(Mood::new),
            })
        })
    }

    fn put_side(&mut self, mailbox: u64, side: &MailboxSide) -> Result<()> {
        let sql = "INSERT INTO wormhole_sides (mailbox, side, opened_ms, is_open, mood)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET is_open = excluded.is_open, mood = excluded.mood";
        let values = params![
            Whole(mailbox),
            side.side.as_str(),
            Whole(side.opened_ms),
            side.is_open,
            side.mood.as_ref().map(Mood::as_str)
        ];
        self.run(sql, values).map(drop)
    }

    fn take_room(&mut self, bytes: u64) -> bool {
        self.inboxes.lock().take_wormhole_room(bytes)
    }

    fn add_message(&mut self, mailbox: u64, message: &Message) -> Result<()> {
        let arrival = self.counters.take_arrival();
        let sql = "INSERT INTO wormhole_messages
            (arrival, mailbox, side, phase, body, command, received_ms, seqnum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.run(
            sql,
            params![
                Whole(arrival),
                Whole(mailbox),
                message.side.as_str(),
                message.phase.as_str(),
                message.body.as_str(),
                message.id.as_str(),
                Whole(message.received_ms),
                message.seqnum.map(|seqnum| Whole(seqnum.as_u64()))
            ],
        )?;
        let sql = "UPDATE wormhole_mailboxes
            SET messages = messages + 1, bytes = bytes + ?2 WHERE id = ?1";
        self.run(sql, params![Whole(mailbox), Whole(message.bytes())])?;
        self.counters.add_message(message.bytes());
        Ok(())
    }

    fn next_arrival(&self) -> u64 {
        self.counters.next_arrival
    }

    fn numbered(&mut self, mailbox: u64, side: &Side, seqnum: Seqnum) -> Result<Option<Message>> {
        let sql = format!(
            "SELECT {MESSAGE_COLUMNS} FROM wormhole_messages
             WHERE mailbox = ?1 AND side = ?2 AND seqnum = ?3"
        );
        let values = params![Whole(mailbox), side.as_str(), Whole(seqnum.as_u64())];
        self.one(&sql, values, message_of)
    }

    fn highest(&mut self, mailbox: u64) -> Result<BTreeMap<Side, Seqnum>> {
        let sql = "SELECT side, max(seqnum) FROM wormhole_messages
            WHERE mailbox = ?1 AND seqnum IS NOT NULL GROUP BY side";
        self.all(sql, params![Whole(mailbox)], side_and_seqnum)
    }

    fn remove_phase(&mut self, mailbox: u64, side: &Side, phase: &Phase) -> Result<()> {
        let sql = format!(
            "DELETE FROM wormhole_messages WHERE mailbox = ?1 AND side = ?2 AND phase = ?3
             RETURNING {MESSAGE_COLUMNS}"
        );
        let values = params![Whole(mailbox), side.as_str(), phase.as_str()];
        let sizes: Vec<_> = self.all(&sql, values, |row| Ok(message_of(row)?.bytes()))?;
        self.deleted(mailbox, &sizes)
    }

    fn remove_through(&mut self, mailbox: u64, side: &Side, seqnum: Seqnum) -> Result<()> {
        let sql = format!(
            "DELETE FROM wormhole_messages
             WHERE mailbox = ?1 AND side = ?2 AND seqnum IS NOT NULL AND seqnum <= ?3
             RETURNING {MESSAGE_COLUMNS}"
        );
        let values = params![Whole(mailbox), side.as_str(), Whole(seqnum.as_u64())];
        let sizes: Vec<_> = self.all(&sql, values, |row| Ok(message_of(row)?.bytes()))?;
        self.deleted(mailbox, &sizes)
    }

    fn acks(&mut self, mailbox: u64) -> Result<BTreeMap<Side, Seqnum>> {
        let sql = "SELECT side, seqnum FROM mailbox_message_acks WHERE mailbox = ?1";
        self.all(sql, params![Whole(mailbox)], side_and_seqnum)
    }

    fn ack(&mut self, mailbox: u64, author: &Side) -> Result<Option<Seqnum>> {
        let sql = "SELECT seqnum FROM mailbox_message_acks WHERE mailbox = ?1 AND side = ?2";
        let values = params![Whole(mailbox), author.as_str()];
        self.one(sql, values, |row| seqnum_of(row.get(0)?))
    }

    fn put_ack(&mut self, mailbox: u64, author: &Side, seqnum: Seqnum) -> Result<()> {
        let sql = "INSERT INTO mailbox_message_acks (mailbox, side, seqnum) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET seqnum = excluded.seqnum";
        let values = params![Whole(mailbox), author.as_str(), Whole(seqnum.as_u64())];
        self.run(sql, values).map(drop)
    }

    fn record(&mut self, usage: &Usage) -> Result<()> {
        match usage {
            Usage::Nameplate(app, times, result) => {
                let sql = "INSERT INTO wormhole_usage_nameplates
                    (app, started_ms, waiting_ms, total_ms, result) VALUES (?1, ?2, ?3, ?4, ?5)";
                let [started, waiting, total] = columns_of(times);
                let values = params![app.as_str(), started, waiting, total, result.as_str()];
                self.run(sql, values)
            }
            Usage::Mailbox {
                app,
                for_nameplate,
                times,
                result,
            } => {
                let sql = "INSERT INTO wormhole_usage_mailboxes
                    (app, for_nameplate, started_ms, waiting_ms, total_ms, result)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                let [started, waiting, total] = columns_of(times);
                let result = result.as_str();
                let values = params![app.as_str(), for_nameplate, started, waiting, total, result];
                self.run(sql, values)
            }
            Usage::Bind {
                app,
                side,
                at_ms,
                client,
            } => {
                let sql = "INSERT INTO wormhole_usage_clients
                    (app, side, at_ms, implementation, version) VALUES (?1, ?2, ?3, ?4, ?5)";
                let (implementation, version) = (&client.implementation, &client.version);
                let (app, side) = (app.as_str(), side.as_str());
                self.run(
                    sql,
                    params![app, side, Whole(*at_ms), implementation, version],
                )
            }
        }
        .map(drop)
    }
}

fn count_of(count: usize) -> Whole {
    Whole(count as u64)
}

fn columns_of(times: &Times) -> [Option<Whole>; 3] {
    let some = |ms| Some(Whole(ms));
    [
        some(times.started_ms),
        times.waiting_ms.and_then(some),
        some(times.total_ms),
    ]
}
