//! A shelf in memory, for tests and models.
//!
//! It keeps plain lists and looks through all of them: it is there to be compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use super::shelf::{MailboxRow, MailboxSide, NameplateRow, NameplateSide, Shelf};
use super::{AppId, MailboxName, Message, Nameplate, Phase, Seqnum, Side, Usage};

/// One nameplate with its sides.
#[derive(Clone, Debug)]
struct KeptNameplate {
    app: AppId,
    nameplate: Nameplate,
    row: NameplateRow,
    sides: Vec<NameplateSide>,
}

/// One mailbox with what is in it.
#[derive(Clone, Debug)]
struct KeptMailbox {
    row: MailboxRow,
    sides: Vec<MailboxSide>,
    messages: Vec<(u64, Message)>,
    acks: BTreeMap<Side, Seqnum>,
}

/// Rows in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryShelf {
    nameplates: Vec<KeptNameplate>,
    mailboxes: Vec<KeptMailbox>,
    usage: Vec<Usage>,
    next: u64,
    /// Bytes that may be added from now on, if that is bounded.
    pub room: Option<u64>,
}

impl MemoryShelf {
    /// The stored messages of a mailbox below a count of arrivals, in their order.
    pub fn messages(&self, mailbox: u64, below: u64) -> Vec<Message> {
        let found = self.mailboxes.iter().find(|one| one.row.number == mailbox);
        let messages = found.map_or(&[][..], |found| found.messages.as_slice());
        let early = messages.iter().filter(|(arrival, _)| *arrival < below);
        early.map(|(_, message)| message.clone()).collect()
    }

    /// The records of use.
    pub fn usage(&self) -> &[Usage] {
        &self.usage
    }

    /// How many mailboxes there are, and how many nameplates.
    pub fn counts(&self) -> (usize, usize) {
        (self.mailboxes.len(), self.nameplates.len())
    }

    fn take_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn kept(&mut self, mailbox: u64) -> Option<&mut KeptMailbox> {
        let mut all = self.mailboxes.iter_mut();
        all.find(|one| one.row.number == mailbox)
    }

    fn retain(&mut self, mailbox: u64, keep: impl Fn(&Message) -> bool) {
        if let Some(kept) = self.kept(mailbox) {
            kept.messages.retain(|(_, message)| keep(message));
            let bytes = kept.messages.iter().map(|(_, message)| message.bytes());
            kept.row.bytes = bytes.sum();
            kept.row.messages = kept.messages.len() as u64;
        }
    }
}

impl Shelf for MemoryShelf {
    type Error = Infallible;

    fn nameplate(
        &mut self,
        app: &AppId,
        nameplate: &Nameplate,
    ) -> Result<Option<NameplateRow>, Infallible> {
        let mut all = self.nameplates.iter();
        let found = all.find(|one| one.app == *app && one.nameplate == *nameplate);
        Ok(found.map(|one| one.row))
    }

    fn nameplates(&mut self, app: &AppId) -> Result<Vec<Nameplate>, Infallible> {
        let of_app = self.nameplates.iter().filter(|one| one.app == *app);
        let names: BTreeSet<_> = of_app.map(|one| one.nameplate.clone()).collect();
        Ok(names.into_iter().collect())
    }

    fn nameplates_of_length(
        &mut self,
        app: &AppId,
        digits: usize,
    ) -> Result<BTreeSet<Nameplate>, Infallible> {
        let names = self.nameplates(app)?.into_iter();
        Ok(names.filter(|one| one.digits() == digits).collect())
    }

    fn add_nameplate(
        &mut self,
        app: &AppId,
        nameplate: &Nameplate,
        mailbox: u64,
    ) -> Result<u64, Infallible> {
        let number = self.take_number();
        self.nameplates.push(KeptNameplate {
            app: app.clone(),
            nameplate: nameplate.clone(),
            row: NameplateRow { number, mailbox },
            sides: Vec::new(),
        });
        Ok(number)
    }

    fn nameplate_sides(&mut self, nameplate: u64) -> Result<Vec<NameplateSide>, Infallible> {
        let mut all = self.nameplates.iter();
        let found = all.find(|one| one.row.number == nameplate);
        Ok(found.map(|one| one.sides.clone()).unwrap_or_default())
    }

    fn put_nameplate_side(
        &mut self,
        nameplate: u64,
        side: &NameplateSide,
    ) -> Result<(), Infallible> {
        let mut all = self.nameplates.iter_mut();
        if let Some(found) = all.find(|one| one.row.number == nameplate) {
            found.sides.retain(|one| one.side != side.side);
            found.sides.push(side.clone());
        }
        Ok(())
    }

    fn remove_nameplate(&mut self, nameplate: u64) -> Result<(), Infallible> {
        self.nameplates.retain(|one| one.row.number != nameplate);
        Ok(())
    }

    fn nameplates_of(&mut self, mailbox: u64) -> Result<Vec<u64>, Infallible> {
        let rows = self.nameplates.iter().map(|one| one.row);
        let of_mailbox = rows.filter(|row| row.mailbox == mailbox);
        Ok(of_mailbox.map(|row| row.number).collect())
    }

    fn mailbox_count(&mut self) -> Result<u64, Infallible> {
        Ok(self.mailboxes.len() as u64)
    }

    fn mailbox(
        &mut self,
        app: &AppId,
        name: &MailboxName,
    ) -> Result<Option<MailboxRow>, Infallible> {
        let mut rows = self.mailboxes.iter().map(|one| &one.row);
        Ok(rows
            .find(|row| row.app == *app && row.name == *name)
            .cloned())
    }

    fn mailbox_at(&mut self, mailbox: u64) -> Result<Option<MailboxRow>, Infallible> {
        Ok(self.kept(mailbox).map(|kept| kept.row.clone()))
    }

    fn add_mailbox(
        &mut self,
        app: &AppId,
        name: &MailboxName,
        for_nameplate: bool,
        touched_ms: u64,
    ) -> Result<MailboxRow, Infallible> {
        let row = MailboxRow {
            number: self.take_number(),
            app: app.clone(),
            name: name.clone(),
            for_nameplate,
            touched_ms,
            messages: 0,
            bytes: 0,
        };
        self.mailboxes.push(KeptMailbox {
            row: row.clone(),
            sides: Vec::new(),
            messages: Vec::new(),
            acks: BTreeMap::new(),
        });
        Ok(row)
    }

    fn touch(&mut self, mailbox: u64, at_ms: u64) -> Result<(), Infallible> {
        if let Some(kept) = self.kept(mailbox) {
            kept.row.touched_ms = at_ms;
        }
        Ok(())
    }

    fn untouched_since(&mut self, until_ms: u64, count: usize) -> Result<Vec<u64>, Infallible> {
        let rows = self.mailboxes.iter().map(|one| &one.row);
        let old = rows.filter(|row| row.touched_ms <= until_ms);
        Ok(old.map(|row| row.number).take(count).collect())
    }

    fn remove_mailbox(&mut self, mailbox: u64) -> Result<(), Infallible> {
        self.mailboxes.retain(|one| one.row.number != mailbox);
        Ok(())
    }

    fn sides(&mut self, mailbox: u64) -> Result<Vec<MailboxSide>, Infallible> {
        let sides = self.kept(mailbox).map(|kept| kept.sides.clone());
        Ok(sides.unwrap_or_default())
    }

    fn put_side(&mut self, mailbox: u64, side: &MailboxSide) -> Result<(), Infallible> {
        if let Some(kept) = self.kept(mailbox) {
            kept.sides.retain(|one| one.side != side.side);
            kept.sides.push(side.clone());
        }
        Ok(())
    }

    fn take_room(&mut self, bytes: u64) -> bool {
        match self.room {
            None => true,
            Some(room) => {
                self.room = room.checked_sub(bytes).or(Some(room));
                room >= bytes
            }
        }
    }

    fn add_message(&mut self, mailbox: u64, message: &Message) -> Result<(), Infallible> {
        let arrival = self.take_number();
        if let Some(kept) = self.kept(mailbox) {
            kept.messages.push((arrival, message.clone()));
            kept.row.messages += 1;
            kept.row.bytes += message.bytes();
        }
        Ok(())
    }

    fn next_arrival(&self) -> u64 {
        self.next + 1
    }

    fn numbered(
        &mut self,
        mailbox: u64,
        side: &Side,
        seqnum: Seqnum,
    ) -> Result<Option<Message>, Infallible> {
        let messages = self.messages(mailbox, u64::MAX).into_iter();
        let mut of_side = messages.filter(|message| message.side == *side);
        Ok(of_side.find(|message| message.seqnum == Some(seqnum)))
    }

    fn highest(&mut self, mailbox: u64) -> Result<BTreeMap<Side, Seqnum>, Infallible> {
        let mut highest = BTreeMap::new();
        for message in self.messages(mailbox, u64::MAX) {
            if let Some(seqnum) = message.seqnum {
                let known = highest.entry(message.side).or_insert(seqnum);
                *known = (*known).max(seqnum);
            }
        }
        Ok(highest)
    }

    fn remove_phase(&mut self, mailbox: u64, side: &Side, phase: &Phase) -> Result<(), Infallible> {
        self.retain(mailbox, |one| one.side != *side || one.phase != *phase);
        Ok(())
    }

    fn remove_through(
        &mut self,
        mailbox: u64,
        side: &Side,
        seqnum: Seqnum,
    ) -> Result<(), Infallible> {
        self.retain(mailbox, |one| {
            one.side != *side || one.seqnum.is_none_or(|number| number > seqnum)
        });
        Ok(())
    }

    fn acks(&mut self, mailbox: u64) -> Result<BTreeMap<Side, Seqnum>, Infallible> {
        let acks = self.kept(mailbox).map(|kept| kept.acks.clone());
        Ok(acks.unwrap_or_default())
    }

    fn ack(&mut self, mailbox: u64, author: &Side) -> Result<Option<Seqnum>, Infallible> {
        Ok(self.acks(mailbox)?.get(author).copied())
    }

    fn put_ack(&mut self, mailbox: u64, author: &Side, seqnum: Seqnum) -> Result<(), Infallible> {
        if let Some(kept) = self.kept(mailbox) {
            kept.acks.insert(author.clone(), seqnum);
        }
        Ok(())
    }

    fn record(&mut self, usage: &Usage) -> Result<(), Infallible> {
        self.usage.push(usage.clone());
        Ok(())
    }
}
