//! Messages as a phone gets them: as many of the newest as fit.

use sealpost_protocol::link::feed::{
    Delivery as FeedDelivery, DeliveryState as FeedState, FromDesktop, Message,
};
use sealpost_protocol::link::payload::PayloadId;

use super::{BODY_BYTES_MAX, HISTORY_MESSAGES_MAX, TEXT_BYTES_MAX};
use crate::core::message::{AppMessageId, DeliveryState};
use crate::history::{Progress, StoredMessage};

/// The most messages in the tail of a group.
pub const TAIL_MESSAGES_MAX: usize = 20;

/// What the JSON around the messages of a body takes at most: names of fields, a group, an id.
const FRAME_BYTES: usize = 512;

/// The newest messages of a group. `rows` are its newest ones, oldest first, one more than
/// [`TAIL_MESSAGES_MAX`] where there are so many.
#[must_use]
pub fn tail(group: &str, rows: &[StoredMessage]) -> FromDesktop {
    let (messages, before) = newest(rows, TAIL_MESSAGES_MAX);
    FromDesktop::Tail {
        group: group.to_owned(),
        from: before.map(|row| row.position),
        messages,
    }
}

/// The answer to a request for older messages. `rows` are those before the place that the
/// phone named, oldest first, one more than [`HISTORY_MESSAGES_MAX`] where there are so many.
#[must_use]
pub fn history(group: &str, request: &str, rows: &[StoredMessage]) -> FromDesktop {
    let (messages, before) = newest(rows, HISTORY_MESSAGES_MAX);
    FromDesktop::Page {
        group: group.to_owned(),
        request: request.to_owned(),
        messages,
        more: before.is_some(),
    }
}

/// Older messages that moved on, oldest first: as many of the newest as fit.
#[must_use]
pub fn changed(group: &str, messages: &[Message]) -> FromDesktop {
    let mut room = BODY_BYTES_MAX - FRAME_BYTES;
    let fitting = messages.iter().rev().map_while(|message| {
        room = room.checked_sub(size(message))?;
        Some(message.clone())
    });
    let mut messages: Vec<_> = fitting.collect();
    messages.reverse();
    FromDesktop::Changed {
        group: group.to_owned(),
        messages,
    }
}

/// The newest messages that fit, oldest first, and the one before them.
fn newest(rows: &[StoredMessage], most: usize) -> (Vec<Message>, Option<&StoredMessage>) {
    let mut room = BODY_BYTES_MAX - FRAME_BYTES;
    let mut messages = Vec::new();
    let mut before = None;
    for row in rows.iter().rev() {
        let message = message(row);
        let left = room.checked_sub(size(&message));
        let Some(left) = left.filter(|_| messages.len() < most) else {
            before = Some(row);
            break;
        };
        room = left;
        messages.push(message);
    }
    messages.reverse();
    (messages, before)
}

/// A message as a phone gets it.
#[must_use]
pub fn message(row: &StoredMessage) -> Message {
    let (text, cut) = match row.content.text().map(begin) {
        Some((text, cut)) => (Some(text.to_owned()), cut),
        None => (None, false),
    };
    Message {
        position: row.position,
        id: PayloadId::from_bytes(id_of(row)).to_text(),
        author: row.author_name.clone(),
        own: row.own,
        via: row.via.clone(),
        text,
        cut,
        at: row.stored_at_ms,
        delivery: Progress::of(&row.deliveries)
            .filter(|_| row.own)
            .map(delivery),
    }
}

/// The id in the body; of a body that can't be read, the beginning of the Message ID.
fn id_of(row: &StoredMessage) -> AppMessageId {
    row.app_id.unwrap_or_else(|| {
        let mut id = AppMessageId::default();
        id.copy_from_slice(row.id.as_bytes().first_chunk::<16>().unwrap_or(&[0; 16]));
        id
    })
}

fn delivery(progress: Progress) -> FeedDelivery {
    let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
    FeedDelivery {
        state: match progress.state {
            DeliveryState::Waiting => FeedState::Waiting,
            DeliveryState::Sending => FeedState::Sending,
            DeliveryState::OnRelay { .. } | DeliveryState::Withdrawn => FeedState::OnRelay,
            DeliveryState::Failed(_) => FeedState::Failed,
        },
        on_relay: count(progress.on_relay),
        total: count(progress.total),
        reason: progress.failure.map(|failure| failure.code().to_owned()),
    }
}

/// The beginning of a text that takes no more than [`TEXT_BYTES_MAX`] as JSON, and whether that
/// isn't all of it.
fn begin(text: &str) -> (&str, bool) {
    let mut size = 0_usize;
    for (at, character) in text.char_indices() {
        size = size.saturating_add(json_bytes(character));
        if size > TEXT_BYTES_MAX {
            return (text.get(..at).unwrap_or_default(), true);
        }
    }
    (text, false)
}

/// What a character takes in a JSON text.
const fn json_bytes(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        character => character.len_utf8(),
    }
}

/// What a message takes in a body, its comma included.
fn size(message: &Message) -> usize {
    serde_json::to_vec(message).map_or(usize::MAX, |bytes| bytes.len().saturating_add(1))
}
