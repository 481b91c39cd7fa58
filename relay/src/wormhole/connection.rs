//! What one connection may say, and when (sections 2 to 6).
//!
//! Owns: the state of a connection, the order of the checks and the words of the refusals.
//! A command that passes them becomes a [`Request`] to the rules; what they answer comes back
//! through [`Connection::answered`].

use serde_json::Value;

use super::ack::{AckCommand, SEQNUMS, seqnum_of};
use super::frame::{Fields, Frame, given, name, string};
use super::reply::{Reply, ack_text};
use super::rules::{Answer, Opening, Refusal};
use super::{
    AppId, Body, Client, CommandId, MailboxName, Message, Mood, NAME_BYTES_MAX, Nameplate, Phase,
    Retire, Side,
};

/// What a connection is bound to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bound {
    /// The application.
    pub app: AppId,
    /// The client.
    pub side: Side,
    /// Whether it wants to be told `opened`.
    wants_opened: bool,
}

/// What the rules are asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Request {
    /// To note a client's version.
    Bind(Client),
    /// To list nameplates.
    List,
    /// To find a free nameplate.
    Allocate,
    /// To claim one.
    Claim(Nameplate),
    /// To take a claim back.
    Release(Nameplate),
    /// To open a mailbox.
    Open(MailboxName),
    /// To add a message to an open mailbox.
    Add(u64, Message),
    /// To forget messages of an open mailbox.
    Retire(u64, Retire),
    /// To close a mailbox, which this connection has open under a number or not at all.
    Close(MailboxName, Option<u64>, Option<Mood>),
}

/// What the rules have answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It is done, and there is nothing to say.
    Done,
    /// To [`Request::List`].
    Listed(Vec<Nameplate>),
    /// To [`Request::Allocate`].
    Allocated(Nameplate),
    /// To [`Request::Claim`].
    Claimed(MailboxName),
    /// To [`Request::Release`].
    Released,
    /// To [`Request::Open`].
    Opened(Opening),
    /// To [`Request::Close`].
    Closed,
}

/// What is to happen because of a frame: first the ack is sent, then the rest is done.
#[derive(Debug)]
pub struct Reaction {
    /// The frame to send first. A frame without a type gets none.
    pub ack: Option<String>,
    /// What comes after it.
    pub then: Then,
}

/// What comes after the ack.
#[derive(Debug)]
pub enum Then {
    /// Nothing.
    Nothing,
    /// An answer.
    Say(Reply),
    /// A refusal, with these words.
    Refuse(String),
    /// Asking the rules, then [`Connection::answered`].
    Ask(Request),
}

/// The state of one connection.
#[derive(Debug)]
pub struct Connection {
    is_listing: bool,
    bound: Option<Bound>,
    has_allocated: bool,
    /// The nameplate of the one claim, whether it succeeded or not.
    claimed: Option<Nameplate>,
    has_released: bool,
    /// The mailbox of the last open, whether it succeeded or not.
    named: Option<MailboxName>,
    /// The number of the open mailbox.
    opened: Option<u64>,
    has_closed: bool,
}

/// A command's end before the rules.
type Checked = Result<Then, String>;

impl Connection {
    /// A connection that has said nothing. Without listing, `list` finds nothing.
    pub fn new(is_listing: bool) -> Self {
        Self {
            is_listing,
            bound: None,
            has_allocated: false,
            claimed: None,
            has_released: false,
            named: None,
            opened: None,
            has_closed: false,
        }
    }

    /// The application and side, once bound.
    pub fn bound(&self) -> Option<&Bound> {
        self.bound.as_ref()
    }

    /// The number of the mailbox that it has open.
    pub fn opened(&self) -> Option<u64> {
        self.opened
    }

    /// Takes a frame in.
    pub fn handle(&mut self, frame: &Frame, now_ms: u64) -> Reaction {
        let refused = |ack, error: &str| Reaction {
            ack,
            then: Then::Refuse(error.to_owned()),
        };
        let Some(fields) = frame.fields() else {
            return refused(None, "the command can't be read");
        };
        let Some(kind) = fields.get("type") else {
            return refused(None, "missing 'type'");
        };
        let ack = Some(ack_text(fields.get("id"), now_ms));
        let checked = self.check(kind.as_str().unwrap_or_default(), fields, now_ms);
        Reaction {
            ack,
            then: checked.unwrap_or_else(Then::Refuse),
        }
    }

    /// Takes the answer to a [`Then::Ask`] in; what it says to the client, if anything.
    ///
    /// # Errors
    ///
    /// Passes a refusal on.
    pub fn answered(&mut self, outcome: Answer<Outcome>) -> Answer<Option<Reply>> {
        let reply = match outcome? {
            Outcome::Done => return Ok(None),
            Outcome::Listed(nameplates) => Reply::Nameplates(nameplates),
            Outcome::Allocated(nameplate) => {
                self.has_allocated = true;
                Reply::Allocated(nameplate)
            }
            Outcome::Claimed(mailbox) => Reply::Claimed(mailbox),
            Outcome::Released => Reply::Released,
            Outcome::Opened(opening) => {
                self.opened = Some(opening.number);
                let wants_opened = self.bound.as_ref().is_some_and(|bound| bound.wants_opened);
                let named = self.named.clone().filter(|_| wants_opened);
                return Ok(named.map(|mailbox| Reply::Opened {
                    mailbox,
                    seqnums: opening.seqnums,
                    acked: opening.acked,
                }));
            }
            Outcome::Closed => {
                self.has_closed = true;
                self.opened = None;
                Reply::Closed
            }
        };
        Ok(Some(reply))
    }

    fn check(&mut self, kind: &str, fields: &Fields, now_ms: u64) -> Checked {
        match kind {
            "ping" => return ping(fields),
            "bind" => return self.bind(fields),
            _ => {}
        }
        let Some(bound) = self.bound.as_ref() else {
            return Err("must bind first".to_owned());
        };
        if let Some(command) = AckCommand::of(kind) {
            let opened = self.opened.ok_or_else(|| command.not_open().to_owned())?;
            let retire = command.read(fields, &bound.side)?;
            let ask = |retire| Then::Ask(Request::Retire(opened, retire));
            return Ok(retire.map_or(Then::Nothing, ask));
        }
        match kind {
            "list" if self.is_listing => Ok(Then::Ask(Request::List)),
            "list" => Ok(Then::Say(Reply::Nameplates(Vec::new()))),
            "allocate" => self.allocate(),
            "claim" => self.claim(fields),
            "release" => self.release(fields),
            "open" => self.open(fields),
            "add" => self.add(fields, now_ms),
            "close" => self.close(fields),
            _ => Err("unknown type".to_owned()),
        }
    }

    fn bind(&mut self, fields: &Fields) -> Checked {
        if self.bound.is_some() {
            return Err("already bound".to_owned());
        }
        let required = |key| fields.get(key).ok_or(format!("bind requires '{key}'"));
        let (app, side) = (required("appid")?, required("side")?);
        let (app, side) = (name("appid", app)?, name("side", side)?);
        let client = client_of(fields)?;
        let wants_opened = abilities_of(fields)?.contains(&SEQNUMS);
        self.bound = Some(Bound {
            app: AppId::new(app),
            side: Side::new(side),
            wants_opened,
        });
        Ok(Then::Ask(Request::Bind(client)))
    }

    fn allocate(&self) -> Checked {
        if self.has_allocated {
            return Err("you already allocated one, don't be greedy".to_owned());
        }
        Ok(Then::Ask(Request::Allocate))
    }

    fn claim(&mut self, fields: &Fields) -> Checked {
        let nameplate = fields.get("nameplate");
        let nameplate = nameplate.ok_or("claim requires 'nameplate'")?;
        if self.claimed.is_some() {
            return Err("only one claim per connection".to_owned());
        }
        let nameplate = nameplate_of(nameplate)?;
        self.claimed = Some(nameplate.clone());
        Ok(Then::Ask(Request::Claim(nameplate)))
    }

    fn release(&mut self, fields: &Fields) -> Checked {
        if self.has_released {
            return Err("only one release per connection".to_owned());
        }
        let nameplate = match (given(fields, "nameplate"), &self.claimed) {
            (Some(given), claimed) => {
                let given = nameplate_of(given)?;
                if claimed.as_ref().is_some_and(|claimed| *claimed != given) {
                    return Err("release and claim must use same nameplate".to_owned());
                }
                given
            }
            (None, Some(claimed)) => claimed.clone(),
            (None, None) => {
                return Err("release without nameplate must follow claim".to_owned());
            }
        };
        self.has_released = true;
        Ok(Then::Ask(Request::Release(nameplate)))
    }

    fn open(&mut self, fields: &Fields) -> Checked {
        if self.opened.is_some() {
            return Err("only one open per connection".to_owned());
        }
        let mailbox = fields.get("mailbox").ok_or("open requires 'mailbox'")?;
        let mailbox = MailboxName::new(name("mailbox", mailbox)?);
        self.named = Some(mailbox.clone());
        Ok(Then::Ask(Request::Open(mailbox)))
    }

    fn add(&self, fields: &Fields, now_ms: u64) -> Checked {
        let (Some(bound), Some(opened)) = (&self.bound, self.opened) else {
            return Err("must open mailbox before adding".to_owned());
        };
        let phase = fields.get("phase").ok_or("missing 'phase'")?;
        let body = fields.get("body").ok_or("missing 'body'")?;
        let (phase, body) = (name("phase", phase)?, string("body", body)?);
        let seqnum = seqnum_of(fields)?;
        let id = fields.get("id").unwrap_or(&Value::Null).to_string();
        if id.len() > NAME_BYTES_MAX {
            return Err(format!("'id' must be at most {NAME_BYTES_MAX} bytes"));
        }
        let message = Message {
            side: bound.side.clone(),
            phase: Phase::new(phase),
            body: Body::new(body),
            id: CommandId::new(id),
            received_ms: now_ms,
            seqnum,
        };
        Ok(Then::Ask(Request::Add(opened, message)))
    }

    fn close(&self, fields: &Fields) -> Checked {
        if self.has_closed {
            return Err("only one close per connection".to_owned());
        }
        let mailbox = match (given(fields, "mailbox"), &self.named) {
            (Some(given), named) => {
                let given = MailboxName::new(name("mailbox", given)?);
                if named.as_ref().is_some_and(|named| *named != given) {
                    return Err("open and close must use same mailbox".to_owned());
                }
                given
            }
            (None, Some(named)) => named.clone(),
            (None, None) => return Err("close without mailbox must follow open".to_owned()),
        };
        let mood = given(fields, "mood").map(|mood| name("mood", mood));
        let mood = mood.transpose()?.map(Mood::new);
        Ok(Then::Ask(Request::Close(mailbox, self.opened, mood)))
    }
}

fn ping(fields: &Fields) -> Checked {
    let ping = fields.get("ping").ok_or("ping requires 'ping'")?;
    Ok(Then::Say(Reply::Pong(ping.clone())))
}

fn nameplate_of(value: &Value) -> Result<Nameplate, String> {
    let digits = string("nameplate", value)?;
    Nameplate::parse(digits).ok_or_else(|| "nameplate must be 1 to 40 digits".to_owned())
}

/// The first two entries of `client_version`; later ones are nobody's.
fn client_of(fields: &Fields) -> Result<Client, String> {
    let odd = || "'client_version' must be a list of two strings".to_owned();
    let Some(version) = given(fields, "client_version") else {
        let (implementation, version) = (None, None);
        return Ok(Client {
            implementation,
            version,
        });
    };
    let [implementation, version, ..] = version.as_array().map_or(&[][..], Vec::as_slice) else {
        return Err(odd());
    };
    let text = |value: &Value| match value {
        Value::Null => Ok(None),
        Value::String(text) if text.len() <= NAME_BYTES_MAX => Ok(Some(text.clone())),
        _ => Err(odd()),
    };
    Ok(Client {
        implementation: text(implementation)?,
        version: text(version)?,
    })
}

fn abilities_of(fields: &Fields) -> Result<Vec<&str>, String> {
    const KEY: &str = "mailbox-abilities";
    let Some(abilities) = given(fields, KEY) else {
        return Ok(Vec::new());
    };
    let texts = abilities.as_array().and_then(|list| {
        let texts = list.iter().map(Value::as_str);
        texts.collect::<Option<Vec<_>>>()
    });
    texts.ok_or_else(|| format!("'{KEY}' must be a list of strings"))
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> Self {
        refusal.to_string()
    }
}
