//! Where the rows of nameplates and mailboxes are kept.
//!
//! Invariants of every shelf: what one method has changed, the next one sees; a number is never
//! given twice while the process lives; rows of a mailbox come in order of their arrival, by a
//! counter and not by a clock.

use std::collections::{BTreeMap, BTreeSet};

use super::{AppId, MailboxName, Message, Mood, Nameplate, Phase, Seqnum, Side, Usage};

/// A nameplate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NameplateRow {
    /// Its name on the shelf.
    pub number: u64,
    /// The mailbox that it leads to.
    pub mailbox: u64,
}

/// A side that has ever claimed a nameplate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NameplateSide {
    /// Who.
    pub side: Side,
    /// When it claimed first, in Unix milliseconds.
    pub claimed_ms: u64,
    /// Whether it hasn't released it since.
    pub is_claimed: bool,
}

/// A mailbox.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MailboxRow {
    /// Its name on the shelf. A mailbox that is made again gets another.
    pub number: u64,
    /// Its application.
    pub app: AppId,
    /// Its name on the wire.
    pub name: MailboxName,
    /// Whether a claim has made it.
    pub for_nameplate: bool,
    /// The last activity, in Unix milliseconds.
    pub touched_ms: u64,
    /// Messages stored now.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// A side that has ever opened a mailbox, or claimed its nameplate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MailboxSide {
    /// Who.
    pub side: Side,
    /// When it did so first, in Unix milliseconds.
    pub opened_ms: u64,
    /// Whether it has never closed it.
    pub is_open: bool,
    /// How it fared, if it has closed it and said so.
    pub mood: Option<Mood>,
}

/// What the rules need of whatever keeps the rows.
pub trait Shelf {
    /// Why rows can't be read or written.
    type Error;

    /// Finds a nameplate.
    ///
    /// # Errors
    ///
    /// The shelf can't be read. The same holds for every method: it can't be read, or not be
    /// written.
    fn nameplate(
        &mut self,
        app: &AppId,
        nameplate: &Nameplate,
    ) -> Result<Option<NameplateRow>, Self::Error>;

    /// All nameplates of an application, sorted as strings.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn nameplates(&mut self, app: &AppId) -> Result<Vec<Nameplate>, Self::Error>;

    /// The nameplates of an application that have so many digits.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn nameplates_of_length(
        &mut self,
        app: &AppId,
        digits: usize,
    ) -> Result<BTreeSet<Nameplate>, Self::Error>;

    /// Adds a nameplate and gives it a number.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn add_nameplate(
        &mut self,
        app: &AppId,
        nameplate: &Nameplate,
        mailbox: u64,
    ) -> Result<u64, Self::Error>;

    /// Whoever has ever claimed a nameplate.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn nameplate_sides(&mut self, nameplate: u64) -> Result<Vec<NameplateSide>, Self::Error>;

    /// Adds a side, or changes it.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn put_nameplate_side(
        &mut self,
        nameplate: u64,
        side: &NameplateSide,
    ) -> Result<(), Self::Error>;

    /// Removes a nameplate with its sides.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn remove_nameplate(&mut self, nameplate: u64) -> Result<(), Self::Error>;

    /// The nameplates that lead to a mailbox.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn nameplates_of(&mut self, mailbox: u64) -> Result<Vec<u64>, Self::Error>;

    /// How many mailboxes there are, of all applications.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn mailbox_count(&mut self) -> Result<u64, Self::Error>;

    /// Finds a mailbox by its name.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn mailbox(
        &mut self,
        app: &AppId,
        name: &MailboxName,
    ) -> Result<Option<MailboxRow>, Self::Error>;

    /// Finds a mailbox by its number.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn mailbox_at(&mut self, mailbox: u64) -> Result<Option<MailboxRow>, Self::Error>;

    /// Adds a mailbox and gives it a number.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn add_mailbox(
        &mut self,
        app: &AppId,
        name: &MailboxName,
        for_nameplate: bool,
        touched_ms: u64,
    ) -> Result<MailboxRow, Self::Error>;

    /// Notes an activity.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn touch(&mut self, mailbox: u64, at_ms: u64) -> Result<(), Self::Error>;

    /// At most `count` mailboxes whose last activity was at `until_ms` or earlier.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn untouched_since(&mut self, until_ms: u64, count: usize) -> Result<Vec<u64>, Self::Error>;

    /// Removes a mailbox with its sides, messages and acknowledgements.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn remove_mailbox(&mut self, mailbox: u64) -> Result<(), Self::Error>;

    /// Whoever has ever opened a mailbox.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn sides(&mut self, mailbox: u64) -> Result<Vec<MailboxSide>, Self::Error>;

    /// Adds a side, or changes it.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn put_side(&mut self, mailbox: u64, side: &MailboxSide) -> Result<(), Self::Error>;

    /// Whether the relay may hold so many bytes more.
    fn take_room(&mut self, bytes: u64) -> bool;

    /// Appends a message.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn add_message(&mut self, mailbox: u64, message: &Message) -> Result<(), Self::Error>;

    /// The counter of arrivals: messages so far are below it, later ones are not.
    fn next_arrival(&self) -> u64;

    /// The stored message of a side that has this number.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn numbered(
        &mut self,
        mailbox: u64,
        side: &Side,
        seqnum: Seqnum,
    ) -> Result<Option<Message>, Self::Error>;

    /// The highest number of each side that has one, among stored messages.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn highest(&mut self, mailbox: u64) -> Result<BTreeMap<Side, Seqnum>, Self::Error>;

    /// Removes every message of a side and a phase, numbered or not.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn remove_phase(&mut self, mailbox: u64, side: &Side, phase: &Phase)
    -> Result<(), Self::Error>;

    /// Removes the numbered messages of a side up to this number.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn remove_through(
        &mut self,
        mailbox: u64,
        side: &Side,
        seqnum: Seqnum,
    ) -> Result<(), Self::Error>;

    /// The highest numbers that were acknowledged, by the author of the messages.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn acks(&mut self, mailbox: u64) -> Result<BTreeMap<Side, Seqnum>, Self::Error>;

    /// The same of one author.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn ack(&mut self, mailbox: u64, author: &Side) -> Result<Option<Seqnum>, Self::Error>;

    /// Remembers an acknowledgement.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn put_ack(&mut self, mailbox: u64, author: &Side, seqnum: Seqnum) -> Result<(), Self::Error>;

    /// Keeps a record of use.
    ///
    /// # Errors
    ///
    /// See [`Self::nameplate`].
    fn record(&mut self, usage: &Usage) -> Result<(), Self::Error>;
}
