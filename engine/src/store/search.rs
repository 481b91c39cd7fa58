//! Search in the message history.
//!
//! Owns the table `search`: the three-letter pieces of every folded text (`folding.rs`). It
//! only says which messages are worth a look; each is folded again and compared, so what is
//! answered never rests on it. Terms of one or two letters have no such piece: for them the
//! messages themselves are looked at.
//!
//! A text is added after its message, in steps while nothing else goes on. Neither `send` nor a
//! full inbox pays for it, and an old store is taken up the same way. A search writes nothing, so
//! that a full disk doesn't keep it: messages behind the index are looked at themselves.

use std::collections::BTreeSet;

use rusqlite::{Row, params};

use super::fault::fault;
use super::history::{COLUMNS, read_message};
use super::{Store, integer, number};
use crate::core::error::StorageFault;
use crate::folding::Folded;
use crate::history::{Content, PAGE_ROWS_MAX, SearchHit};

/// How many texts one step adds, and how many bytes of them: what a step takes is what a
/// question of the window may have to wait.
const STEP_ROWS_MAX: i64 = 200;
const STEP_BYTES_MAX: usize = 256 * 1_024;

/// How many messages one step of a search looks at.
const LOOK_ROWS_MAX: i64 = 500;

/// How much of a question is taken: bytes, terms, and pieces that the index is asked for.
const QUERY_BYTES_MAX: usize = 1_024;
const TERMS_MAX: usize = 16;
const PIECES_MAX: usize = 24;

/// How many places of each term are named in a text.
const PLACES_MAX: usize = 100;

/// Letters in a piece.
const PIECE: usize = 3;

/// What is looked for: messages that hold every term.
pub(crate) struct Query {
    terms: Vec<String>,
    /// For the index; `None` where no term is long enough.
    pieces: Option<String>,
}

/// What one step of a search found.
pub(crate) struct Found {
    /// Newest first.
    pub(crate) hits: Vec<SearchHit>,
    /// Before which position the next step looks on; `None` at the end.
    pub(crate) rest: Option<u64>,
}

impl Query {
    /// Reads a question; `None` where it holds nothing to look for.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let end = text.floor_char_boundary(QUERY_BYTES_MAX);
        let folded = Folded::of(text.get(..end)?);
        let terms: BTreeSet<&str> = folded.text().split_whitespace().take(TERMS_MAX).collect();
        let terms: Vec<String> = terms.into_iter().map(str::to_owned).collect();
        let pieces: BTreeSet<String> = terms.iter().flat_map(|term| pieces_of(term)).collect();
        let pieces: Vec<String> = pieces.into_iter().take(PIECES_MAX).collect();
        let is_any = !terms.is_empty();
        is_any.then(|| Self {
            terms,
            pieces: (!pieces.is_empty()).then(|| pieces.join(" AND ")),
        })
    }

    /// Where the terms stand in a text that holds all of them, in order.
    fn places(&self, text: &str) -> Option<Vec<std::ops::Range<usize>>> {
        let folded = Folded::of(text);
        let mut places = Vec::new();
        for term in &self.terms {
            let found = folded.find(term, PLACES_MAX);
            if found.is_empty() {
                return None;
            }
            places.extend(found);
        }
        places.sort_by_key(|place| (place.start, place.end));
        // Terms may overlap; what is marked may not.
        places.dedup_by(|next, last| {
            let is_joined = next.start <= last.end;
            if is_joined {
                last.end = last.end.max(next.end);
            }
            is_joined
        });
        Some(places)
    }
}

/// The pieces of a term as the index is asked for them.
fn pieces_of(term: &str) -> Vec<String> {
    let letters: Vec<char> = term.chars().collect();
    letters
        .windows(PIECE)
        // It would end the question.
        .filter(|piece| !piece.contains(&'\0'))
        .map(|piece| {
            let piece: String = piece.iter().collect();
            format!("\"{}\"", piece.replace('"', "\"\""))
        })
        .collect()
}

impl Store {
    /// Adds the next texts to the index. Returns whether it holds all of them now.
    pub(crate) fn index_step(&self) -> Result<bool, StorageFault> {
        let next = self.unindexed()?;
        if next.is_empty() {
            return Ok(true);
        }
        let transaction = self.connection.unchecked_transaction().map_err(fault)?;
        let mut insert = transaction
            .prepare_cached("INSERT INTO search (rowid, text) VALUES (?1, ?2)")
            .map_err(fault)?;
        for (position, body) in next {
            let content = Content::of(&body);
            let folded = Folded::of(content.text().unwrap_or_default());
            insert
                .execute(params![position, folded.text()])
                .map_err(fault)?;
        }
        drop(insert);
        transaction.commit().map_err(fault)?;
        Ok(false)
    }

    /// The next messages that the index doesn't hold: those behind the last one it does.
    fn unindexed(&self) -> Result<Vec<(i64, Vec<u8>)>, StorageFault> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT position, body FROM message
                 WHERE position > (SELECT coalesce(max(id), 0) FROM search_docsize)
                 ORDER BY position LIMIT ?1",
            )
            .map_err(fault)?;
        let mut rows = statement.query([STEP_ROWS_MAX]).map_err(fault)?;
        let (mut found, mut bytes) = (Vec::new(), 0_usize);
        while bytes < STEP_BYTES_MAX
            && let Some(row) = rows.next().map_err(fault)?
        {
            let body: Vec<u8> = row.get(1).map_err(fault)?;
            bytes = bytes.saturating_add(body.len());
            found.push((row.get(0).map_err(fault)?, body));
        }
        Ok(found)
    }

    /// One step of a search: up to `limit` messages before `before` that hold all of it.
    pub(crate) fn search(
        &self,
        query: &Query,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Found, StorageFault> {
        let before = before.map_or(i64::MAX, integer);
        match &query.pieces {
            Some(pieces) => {
                if let Some(found) = self.search_unindexed(query, before, limit)? {
                    return Ok(found);
                }
                let sql = format!(
                    "SELECT {COLUMNS} FROM message WHERE position IN
                         (SELECT rowid FROM search WHERE search MATCH ?3 AND rowid < ?1
                          ORDER BY rowid DESC LIMIT ?2)
                     ORDER BY position DESC"
                );
                self.look(&sql, &[&before, &LOOK_ROWS_MAX, pieces], query, limit)
            }
            None => {
                let sql = format!(
                    "SELECT {COLUMNS} FROM message WHERE position < ?1
                     ORDER BY position DESC LIMIT ?2"
                );
                self.look(&sql, &[&before, &LOOK_ROWS_MAX], query, limit)
            }
        }
    }

    /// The same among the messages that the index doesn't hold yet; `None` where there are none
    /// before `before`.
    fn search_unindexed(
        &self,
        query: &Query,
        before: i64,
        limit: usize,
    ) -> Result<Option<Found>, StorageFault> {
        let indexed: i64 = self
            .connection
            .prepare_cached("SELECT coalesce(max(id), 0) FROM search_docsize")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(fault)?;
        let is_any: bool = self
            .connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM message WHERE position > ?1 AND position < ?2)",
            )
            .and_then(|mut statement| statement.query_row([indexed, before], |row| row.get(0)))
            .map_err(fault)?;
        if !is_any {
            return Ok(None);
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM message WHERE position < ?1 AND position > ?3
             ORDER BY position DESC LIMIT ?2"
        );
        let mut found = self.look(&sql, &[&before, &LOOK_ROWS_MAX, &indexed], query, limit)?;
        // Then those of the index.
        found.rest = found.rest.or(Some(number(indexed)?.saturating_add(1)));
        Ok(Some(found))
    }

    fn look(
        &self,
        sql: &str,
        values: &[&dyn rusqlite::ToSql],
        query: &Query,
        limit: usize,
    ) -> Result<Found, StorageFault> {
        let limit = limit.min(PAGE_ROWS_MAX);
        let mut statement = self.connection.prepare_cached(sql).map_err(fault)?;
        let mut rows = statement.query(values).map_err(fault)?;
        let (mut hits, mut seen, mut last) = (Vec::new(), 0, None);
        while hits.len() < limit
            && let Some(row) = rows.next().map_err(fault)?
        {
            seen += 1;
            last = Some(number(row.get(0).map_err(fault)?)?);
            hits.extend(self.hit(row, query)?);
        }
        let is_cut = hits.len() >= limit || seen >= LOOK_ROWS_MAX;
        Ok(Found {
            hits,
            rest: last.filter(|_| is_cut),
        })
    }

    fn hit(&self, row: &Row<'_>, query: &Query) -> Result<Option<SearchHit>, StorageFault> {
        let mut message = read_message(row)?;
        let Some(places) = message.content.text().and_then(|text| query.places(text)) else {
            return Ok(None);
        };
        if message.own {
            message.deliveries = self.deliveries(message.position)?;
        }
        Ok(Some(SearchHit { message, places }))
    }
}

#[cfg(test)]
mod tests;
