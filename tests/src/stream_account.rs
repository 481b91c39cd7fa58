//! The account of a soak: what a relay acknowledged and what it delivered, stream by stream.
//!
//! Owns: the meaning of *lost*, *foreign* and *reordered*. It knows nothing of programs.
//!
//! A stream is everything that one sender pushes to one recipient, numbered from zero. A
//! sender that loses its connection pushes what wasn't answered again, in the same order, so a
//! blob may be stored twice and delivered twice. Therefore only a blob's first delivery counts:
//!
//! - *lost*: acknowledged and never delivered;
//! - *foreign*: delivered to somebody else than its recipient, never sent, or altered;
//! - *reordered*: delivered for the first time after a later blob of its stream.

use std::collections::BTreeMap;
use std::fmt;

/// One sender and one recipient, by their numbers.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct StreamId {
    /// Who pushed.
    pub sender: u32,
    /// For whom.
    pub recipient: u32,
}

#[derive(Debug, Default)]
struct Stream {
    sent: u64,
    acknowledged: Vec<bool>,
    delivered: Vec<bool>,
    latest: Option<u64>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct StreamAccount {
    streams: BTreeMap<StreamId, Stream>,
    acknowledged: u64,
    deliveries: u64,
    foreign: u64,
    reordered: u64,
}

/// How the account ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct StreamTally {
    /// Blobs that the relay acknowledged.
    pub acknowledged: u64,
    /// Those of them that were delivered.
    pub delivered: u64,
    /// Those that weren't.
    pub lost: u64,
    /// Deliveries that should never have been.
    pub foreign: u64,
    /// First deliveries after a later one of the stream.
    pub reordered: u64,
}

impl StreamAccount {
    /// Numbers the next blob of a stream.
    pub fn send(&mut self, id: StreamId) -> u64 {
        let stream = self.streams.entry(id).or_default();
        let number = stream.sent;
        stream.sent += 1;
        number
    }

    /// Notes the relay's acknowledgement.
    pub fn acknowledge(&mut self, id: StreamId, number: u64) {
        let stream = self.streams.entry(id).or_default();
        if note(&mut stream.acknowledged, number) {
            self.acknowledged += 1;
        }
    }

    /// Notes a delivery.
    pub fn deliver(&mut self, id: StreamId, number: u64) {
        let Some(stream) = self.streams.get_mut(&id).filter(|one| number < one.sent) else {
            self.foreign += 1;
            return;
        };
        self.deliveries += 1;
        if note(&mut stream.delivered, number) && stream.latest > Some(number) {
            self.reordered += 1;
        }
        stream.latest = stream.latest.max(Some(number));
    }

    /// Notes a delivery that is nobody's.
    pub fn deliver_foreign(&mut self) {
        self.foreign += 1;
    }

    /// Deliveries so far, repeated ones included, and blobs acknowledged so far.
    #[must_use]
    pub const fn progress(&self) -> (u64, u64) {
        (self.deliveries, self.acknowledged)
    }

    /// Compares the two sides.
    #[must_use]
    pub fn tally(&self) -> StreamTally {
        let delivered = |stream: &Stream| {
            let both = stream.acknowledged.iter().zip(&stream.delivered);
            both.filter(|(acknowledged, delivered)| **acknowledged && **delivered)
                .count() as u64
        };
        let delivered = self.streams.values().map(delivered).sum();
        StreamTally {
            acknowledged: self.acknowledged,
            delivered,
            lost: self.acknowledged - delivered,
            foreign: self.foreign,
            reordered: self.reordered,
        }
    }
}

/// Sets the place of `number`; whether it wasn't set before.
fn note(places: &mut Vec<bool>, number: u64) -> bool {
    let place = usize::try_from(number).unwrap_or(usize::MAX);
    if places.len() <= place {
        places.resize(place + 1, false);
    }
    places
        .get_mut(place)
        .is_some_and(|place| !std::mem::replace(place, true))
}

impl StreamTally {
    /// Whether something was acknowledged and nothing went wrong.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.acknowledged > 0 && self.lost + self.foreign + self.reordered == 0
    }
}

impl fmt::Display for StreamTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            acknowledged,
            delivered,
            lost,
            foreign,
            reordered,
        } = self;
        write!(
            f,
            "{acknowledged} acknowledged, {delivered} delivered, {lost} lost, {foreign} foreign, \
             {reordered} reordered"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: StreamId = StreamId {
        sender: 1,
        recipient: 2,
    };

    fn tally(acknowledged: &[u64], delivered: &[u64]) -> StreamTally {
        let mut account = StreamAccount::default();
        for expected in 0..3 {
            assert_eq!(account.send(ID), expected);
        }
        acknowledged
            .iter()
            .for_each(|number| account.acknowledge(ID, *number));
        delivered
            .iter()
            .for_each(|number| account.deliver(ID, *number));
        account.tally()
    }

    #[test]
    fn repeated_deliveries_are_no_fault() {
        let tally = tally(&[0, 1, 2], &[0, 1, 0, 1, 2]);
        assert!(tally.is_exact());
        let text = "3 acknowledged, 3 delivered, 0 lost, 0 foreign, 0 reordered";
        assert_eq!(tally.to_string(), text);
    }

    #[test]
    fn each_fault_is_counted_as_itself() {
        let lost = tally(&[0, 1, 2], &[0, 2]);
        assert_eq!((lost.lost, lost.foreign, lost.reordered), (1, 0, 0));
        let foreign = tally(&[0], &[0, 3]);
        assert_eq!(
            (foreign.lost, foreign.foreign, foreign.reordered),
            (0, 1, 0)
        );
        let reordered = tally(&[0, 1], &[1, 0]);
        assert_eq!(
            (reordered.lost, reordered.foreign, reordered.reordered),
            (0, 0, 1)
        );
        for tally in [lost, foreign, reordered, tally(&[], &[])] {
            assert!(!tally.is_exact(), "{tally}");
        }
    }

    #[test]
    fn what_was_stored_without_an_answer_may_come() {
        assert!(tally(&[0], &[0, 1]).is_exact());
    }
}
