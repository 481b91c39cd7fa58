//! What a command does to the rows (sections 4, 5, 7, 9 and 12.5).
//!
//! A command that is refused may have changed something all the same: the third side of a
//! mailbox is remembered. So both are returned inside one result of the shelf, and committed.

use std::collections::{BTreeMap, BTreeSet};

use rand_core::RngCore;

use super::connection::{Outcome, Request};
use super::shelf::{MailboxRow, MailboxSide, NameplateSide, Shelf};
use super::usage::{self, Client, Usage};
use super::{AppId, MailboxName, Message, Mood, Nameplate, Retire, Seqnum, Side, nameplate};
use crate::limits::{BLOB_OVERHEAD_BYTES, WormholeLimits};

/// Sides of a mailbox and of a nameplate.
const SIDES_MAX: usize = 2;

/// How the rules are set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// How long a mailbox lives without activity.
    pub life_ms: u64,
    /// Whether records of use are kept, and to which multiple moments are rounded down.
    pub usage_blur_ms: Option<u64>,
    /// Bounds.
    pub limits: WormholeLimits,
}

/// The life of a mailbox that upstream's server gives.
const LIFE_MS: u64 = 11 * 60_000;

impl Default for Rules {
    fn default() -> Self {
        Self {
            life_ms: LIFE_MS,
            usage_blur_ms: None,
            limits: WormholeLimits::default(),
        }
    }
}

/// Why a command isn't done.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// More than two sides have asked.
    #[error("crowded")]
    Crowded,
    /// This side has released the nameplate.
    #[error("reclaimed")]
    Reclaimed,
    /// Every nameplate is taken.
    #[error("no free nameplate")]
    NoNameplate,
    /// The mailbox was closed by both sides meanwhile, or pruned.
    #[error("the mailbox is gone")]
    Gone,
    /// As many messages or bytes as a mailbox may hold.
    #[error("mailbox full")]
    MailboxFull,
    /// Another message of this side has that number.
    #[error("seqnum already used")]
    SeqnumUsed,
    /// As many mailboxes or bytes as the relay may hold.
    #[error("relay full")]
    RelayFull,
}

/// What a command is answered once the shelf has done it.
pub type Answer<T> = Result<T, Refusal>;

/// Whom a message goes to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Audience {
    /// Every connection that has the mailbox open.
    Everybody,
    /// Those of the author only: the other side has it, or has declared it done.
    Author,
}

/// What became of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Added {
    /// The number of its mailbox.
    pub mailbox: u64,
    /// The message as it is to be sent.
    pub message: Message,
    /// To whom.
    pub audience: Audience,
}

/// A mailbox that was opened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Opening {
    /// Its number.
    pub number: u64,
    /// Messages below this count of arrivals are to be replayed; the others come by themselves.
    pub replay_below: u64,
    /// The highest number that the mailbox knows of each side, stored or acknowledged.
    pub seqnums: BTreeMap<Side, Seqnum>,
    /// What was acknowledged of each side.
    pub acked: BTreeMap<Side, Seqnum>,
}

impl Rules {
    /// Does what a bound connection asks for. Besides the answer there may be a message to send.
    ///
    /// # Errors
    ///
    /// The shelf can't be read or written.
    pub fn run<S: Shelf>(
        &self,
        shelf: &mut S,
        who: (&AppId, &Side),
        request: Request,
        now_ms: u64,
        rng: &mut impl RngCore,
    ) -> Result<(Answer<Outcome>, Option<Added>), S::Error> {
        let outcome = match request {
            Request::Bind(client) => {
                self.bind(shelf, who, &client, now_ms)?;
                Ok(Outcome::Done)
            }
            Request::List => Ok(Outcome::Listed(shelf.nameplates(who.0)?)),
            Request::Allocate => self
                .allocate(shelf, who, now_ms, rng)?
                .map(Outcome::Allocated),
            Request::Claim(nameplate) => self
                .claim(shelf, who, &nameplate, now_ms, rng)?
                .map(Outcome::Claimed),
            Request::Release(nameplate) => {
                self.release(shelf, who, &nameplate, now_ms)?;
                Ok(Outcome::Released)
            }
            Request::Open(name) => self.open(shelf, who, &name, now_ms)?.map(Outcome::Opened),
            Request::Add(mailbox, message) => {
                return Ok(match self.add(shelf, mailbox, message)? {
                    Ok(added) => (Ok(Outcome::Done), Some(added)),
                    Err(refusal) => (Err(refusal), None),
                });
            }
            Request::Retire(mailbox, retire) => self
                .retire(shelf, mailbox, &retire)?
                .map(|()| Outcome::Done),
            Request::Close(name, opened, mood) => self
                .close(shelf, who, (&name, opened), mood, now_ms)?
                .map(|()| Outcome::Closed),
        };
        Ok((outcome, None))
    }

    /// Notes a client's version, where records are kept.
    ///
    /// # Errors
    ///
    /// The shelf can't be read or written; so for every rule.
    pub fn bind<S: Shelf>(
        &self,
        shelf: &mut S,
        (app, side): (&AppId, &Side),
        client: &Client,
        now_ms: u64,
    ) -> Result<(), S::Error> {
        let Some(blur_ms) = self.usage_blur_ms else {
            return Ok(());
        };
        shelf.record(&Usage::Bind {
            app: app.clone(),
            side: side.clone(),
            at_ms: usage::blurred(now_ms, blur_ms),
            client: client.clone(),
        })
    }

    /// Finds a free nameplate and claims it.
    ///
    /// # Errors
    ///
    /// See [`Self::bind`].
    pub fn allocate<S: Shelf>(
        &self,
        shelf: &mut S,
        (app, side): (&AppId, &Side),
        now_ms: u64,
        rng: &mut impl RngCore,
    ) -> Result<Answer<Nameplate>, S::Error> {
        let picked = nameplate::pick(
            shelf,
            rng,
            |shelf, digits| shelf.nameplates_of_length(app, digits),
            |shelf, nameplate| Ok(shelf.nameplate(app, nameplate)?.is_some()),
        )?;
        let Some(nameplate) = picked else {
            return Ok(Err(Refusal::NoNameplate));
        };
        let claimed = self.claim(shelf, (app, side), &nameplate, now_ms, rng)?;
        Ok(claimed.map(|_| nameplate))
    }

    /// Claims a nameplate; where there is none, makes it with a mailbox of its own.
    ///
    /// # Errors
    ///
    /// See [`Self::bind`].
    pub fn claim<S: Shelf>(
        &self,
        shelf: &mut S,
        (app, side): (&AppId, &Side),
        nameplate: &Nameplate,
        now_ms: u64,
        rng: &mut impl RngCore,
    ) -> Result<Answer<MailboxName>, S::Error> {
        let (number, mailbox) = match shelf.nameplate(app, nameplate)? {
            Some(row) => (row.number, row.mailbox),
            None => {
                let name = random_name(rng);
                let row = match self.make(shelf, app, &name, true, now_ms)? {
                    Ok(row) => row,
                    Err(refusal) => return Ok(Err(refusal)),
                };
                (shelf.add_nameplate(app, nameplate, row.number)?, row.number)
            }
        };
        let sides = shelf.nameplate_sides(number)?;
        match sides.iter().find(|one| one.side == *side) {
            Some(known) if !known.is_claimed => return Ok(Err(Refusal::Reclaimed)),
            Some(_) => {}
            // One too many is remembered; more need not be.
            None if sides.len() <= SIDES_MAX => shelf.put_nameplate_side(
                number,
                &NameplateSide {
                    side: side.clone(),
                    claimed_ms: now_ms,
                    is_claimed: true,
                },
            )?,
            None => {}
        }
        if !enter(shelf, mailbox, side, now_ms)? {
            return Ok(Err(Refusal::Crowded));
        }
        let row = shelf.mailbox_at(mailbox)?;
        Ok(row.map(|row| row.name).ok_or(Refusal::Gone))
    }

    /// Takes a side's claim back. A nameplate that nobody claims any more is gone.
    ///
    /// # Errors
    ///
    /// See [`Self::bind`].
    pub fn release<S: Shelf>(
        &self,
        shelf: &mut S,
        (app, side): (&AppId, &Side),
        nameplate: &Nameplate,
        now_ms: u64,
    ) -> Result<(), S::Error> {
        let Some(row) = shelf.nameplate(app, nameplate)? else {
            return Ok(());
        };
        let mut sides = shelf.nameplate_sides(row.number)?;
        let Some(known) = sides.iter_mut().find(|one| one.side == *side) else {
            return Ok(());
        };
        known.is_claimed = false;
        shelf.put_nameplate_side(row.number, known)?;
        if sides.iter().any(|one| one.is_claimed) {
            return Ok(());
        }
        self.forget_nameplate(shelf, app, row.number, false, now_ms)
    }

    /// Opens a mailbox, and makes it where there is none.
    ///
    /// # Errors
    ///
    /// See [`Self::bind`].
    pub fn open<S: Shelf>(
        &self,
        shelf: &mut S,
        (app, side): (&AppId, &Side),
        name: &MailboxName,
        now_ms: u64,
    ) -> Result<Answer<Opening>, S::Error> {
        let row = match self.find_or_make(shelf, app, name, now_ms)? {
            Ok(row) => row,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let number = row.number;
        if !enter(shelf, number, side, now_ms)? {
            return Ok(Err(Refusal::Crowded));
        }
        let acked = shelf.acks(number)?;
        let mut seqnums = shelf.highest(number)?;
        for (side, seqnum) in &acked {
            let highest = seqnums.entry(side.clone()).or_insert(*seqnum);
            *highest = (*highest).max(*seqnum);
        }
        Ok(Ok(Opening {
            number,
            replay_below: shelf.next_arrival(),
            seqnums,
            acked,
        }))
    }

    /// Adds a message to an open mailbox (sections 5 and 12.5).
    ///
    /// # Errors
    ///
    /// See [`Self::bind`].
    pub fn add<S: Shelf>(
        &self,
        shelf: &mut S,
        mailbox: u64,
        message: Message,
    ) -> Result<Answer<Added>, S::Error> {
        let Some(row) = shelf.mailbox_at(mailbox)? else {
            return Ok(Err(Refusal::Gone));
        };
        let mut audience = Audience::Everybody;
        if let Some(seqnum) = message.seqnum {
            if shelf.ack(mailbox, &message.side)? >= Some(seqnum) {
                audience = Audience::Author;
            } else if let Some(stored) = shelf.numbered(mailbox, &message.side, seqnum)? {
                if stored.phase != message.phase || stored.body != message.body {
                    return Ok(Err(Refusal::SeqnumUsed));
                }
                audience = Audience::Author;
            }
        }
        if audience == Audience::Everybody {
            if let Err(refusal) = self.make_room(shelf, &row, &message) {
                return Ok(Err(refusal));
            }
            shelf.add_message(mailbox, &message)?;
        }
        shelf.touch(mailbox, message.received_ms)?;
        Ok(Ok(Added {
            mailbox,
            message,
            audience,
        }))
    }

    fn make_room<S: Shelf>(
        &self,
        shelf: &mut S,
        row: &MailboxRow,
        message: &Message,
    ) -> Answer<()> {
        let bytes = row.bytes.saturating_add(message.bytes());
        if row.messages >= self.limits.messages_max || bytes > self.limits.bytes_max {
            return Err(Refusal::MailboxFull);
        }
        let charge = message.bytes().saturating_add(BLOB_OVERHEAD_BYTES);
        if shelf.take_room(charge) {
            Ok(())
        } else {
            Err(Refusal::RelayFull)
        }
    }

    /// Forgets what the other side has said is done (section 12.5). Not an activity.
    ///
    /// # Errors
    ///
    /// See [`Self::bind`].
    pub fn retire<S: Shelf>(
        &self,
        shelf: &mut S,
        mailbox: u64,
        retire: &Retire,
    ) -> Result<Answer<()>, S::Error> {
        if shelf.mailbox_at(mailbox)?.is_none() {
            return Ok(Err(Refusal::Gone));
        }
        let author = retire.author();
        // Remembering a side that never came would let anybody grow the table without bound.
        let sides = shelf.sides(mailbox)?;
        if !sides.iter().any(|one| one.side == *author) {
            return Ok(Ok(()));
        }
        match retire {
            Retire::Phase(author, phase) => shelf.remove_phase(mailbox, author, phase)?,
            Retire::Through(author, seqnum) => {
                if shelf.ack(mailbox, author)? < Some(*seqnum) {
                    shelf.put_ack(mailbox, author, *seqnum)?;
                    shelf.remove_through(mailbox, author, *seqnum)?;
                }
            }
        }
        Ok(Ok(()))
    }

    /// Closes a mailbox for a side. `opened` is the number under which the connection has it
    /// open; without one it is opened first. With the last side goes everything.
    ///
    /// # Errors
    ///
    /// See [`Self::bind`].
    pub fn close<S: Shelf>(
        &self,
        shelf: &mut S,
        (app, side): (&AppId, &Side),
        (name, opened): (&MailboxName, Option<u64>),
        mood: Option<Mood>,
        now_ms: u64,
    ) -> Result<Answer<()>, S::Error> {
        let number = match opened {
            Some(number) => number,
            None => match self.find_or_make(shelf, app, name, now_ms)? {
                Ok(row) if enter(shelf, row.number, side, now_ms)? => row.number,
                Ok(_) => return Ok(Err(Refusal::Crowded)),
                Err(refusal) => return Ok(Err(refusal)),
            },
        };
        let mut sides = shelf.sides(number)?;
        let Some(known) = sides.iter_mut().find(|one| one.side == *side) else {
            // Both sides have closed it before, or it was pruned.
            return Ok(Ok(()));
        };
        known.is_open = false;
        known.mood = mood;
        shelf.put_side(number, known)?;
        if !sides.iter().any(|one| one.is_open) {
            self.forget_mailbox(shelf, number, false, now_ms)?;
        }
        Ok(Ok(()))
    }

    /// Removes some of the mailboxes whose time is over, and tells whether there may be more.
    /// Those that somebody has open count as active now (section 7).
    ///
    /// # Errors
    ///
    /// See [`Self::bind`].
    pub fn prune<S: Shelf>(
        &self,
        shelf: &mut S,
        opened: &BTreeSet<u64>,
        now_ms: u64,
    ) -> Result<bool, S::Error> {
        for mailbox in opened {
            shelf.touch(*mailbox, now_ms)?;
        }
        let Some(until_ms) = now_ms.checked_sub(self.life_ms) else {
            return Ok(false);
        };
        let old = shelf.untouched_since(until_ms, PRUNED_AT_ONCE)?;
        for mailbox in &old {
            self.forget_mailbox(shelf, *mailbox, true, now_ms)?;
        }
        Ok(old.len() == PRUNED_AT_ONCE)
    }

    fn find_or_make<S: Shelf>(
        &self,
        shelf: &mut S,
        app: &AppId,
        name: &MailboxName,
        now_ms: u64,
    ) -> Result<Answer<MailboxRow>, S::Error> {
        match shelf.mailbox(app, name)? {
            Some(row) => Ok(Ok(row)),
            None => self.make(shelf, app, name, false, now_ms),
        }
    }

    fn make<S: Shelf>(
        &self,
        shelf: &mut S,
        app: &AppId,
        name: &MailboxName,
        for_nameplate: bool,
        now_ms: u64,
    ) -> Result<Answer<MailboxRow>, S::Error> {
        let is_full = shelf.mailbox_count()? >= self.limits.mailboxes_max;
        if is_full || !shelf.take_room(BLOB_OVERHEAD_BYTES) {
            return Ok(Err(Refusal::RelayFull));
        }
        shelf.add_mailbox(app, name, for_nameplate, now_ms).map(Ok)
    }

    fn forget_nameplate<S: Shelf>(
        &self,
        shelf: &mut S,
        app: &AppId,
        nameplate: u64,
        is_pruned: bool,
        now_ms: u64,
    ) -> Result<(), S::Error> {
        if let Some(blur_ms) = self.usage_blur_ms {
            let sides = shelf.nameplate_sides(nameplate)?;
            let record = usage::of_nameplate(app, &sides, is_pruned, (now_ms, blur_ms));
            shelf.record(&record)?;
        }
        shelf.remove_nameplate(nameplate)
    }

    fn forget_mailbox<S: Shelf>(
        &self,
        shelf: &mut S,
        mailbox: u64,
        is_pruned: bool,
        now_ms: u64,
    ) -> Result<(), S::Error> {
        let Some(row) = shelf.mailbox_at(mailbox)? else {
            return Ok(());
        };
        for nameplate in shelf.nameplates_of(mailbox)? {
            self.forget_nameplate(shelf, &row.app, nameplate, is_pruned, now_ms)?;
        }
        if let Some(blur_ms) = self.usage_blur_ms {
            let sides = shelf.sides(mailbox)?;
            let about = (&row.app, row.for_nameplate);
            let record = usage::of_mailbox(about, &sides, is_pruned, (now_ms, blur_ms));
            shelf.record(&record)?;
        }
        shelf.remove_mailbox(mailbox)
    }
}

/// Mailboxes that one pass of pruning removes, so that no commit takes long.
const PRUNED_AT_ONCE: usize = 500;

/// Counts a side among those that have entered a mailbox, and tells whether it may.
fn enter<S: Shelf>(
    shelf: &mut S,
    mailbox: u64,
    side: &Side,
    now_ms: u64,
) -> Result<bool, S::Error> {
    shelf.touch(mailbox, now_ms)?;
    let mut count = shelf.sides(mailbox)?;
    if !count.iter().any(|one| one.side == *side) {
        let newcomer = MailboxSide {
            side: side.clone(),
            opened_ms: now_ms,
            is_open: true,
            mood: None,
        };
        // One too many is remembered; more need not be.
        if count.len() <= SIDES_MAX {
            shelf.put_side(mailbox, &newcomer)?;
        }
        count.push(newcomer);
    }
    Ok(count.len() <= SIDES_MAX)
}

/// A mailbox name that nobody guesses: 13 letters and digits of base32.
fn random_name(rng: &mut impl RngCore) -> MailboxName {
    const LETTERS: [char; 32] = [
        'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r',
        's', 't', 'u', 'v', 'w', 'x', 'y', 'z', '2', '3', '4', '5', '6', '7',
    ];
    let bits = rng.next_u64();
    let letter = |place: u32| LETTERS.get((bits >> (5 * place) & 31) as usize);
    let name: String = (0..13).filter_map(letter).collect();
    MailboxName::new(name)
}
