//! A whole mailbox server in memory: what tests and models talk to, without sockets.

use std::collections::{BTreeMap, BTreeSet};

use rand_core::RngCore;

use super::{
    Added, Audience, Connection, Frame, MemoryShelf, Outcome, Reply, Request, Rules, Side, Then,
    error_text, message_text,
};

/// One connection and what it was sent.
#[derive(Debug)]
struct Client {
    connection: Connection,
    sent: Vec<String>,
}

/// A server in memory. Its clock is a field that whoever uses it sets.
#[derive(Debug)]
pub struct MemoryServer<R> {
    /// The rules.
    pub rules: Rules,
    /// The rows.
    pub shelf: MemoryShelf,
    /// The moment, in Unix milliseconds.
    pub now_ms: u64,
    rng: R,
    clients: BTreeMap<u32, Client>,
    connected: u32,
}

impl<R: RngCore> MemoryServer<R> {
    /// An empty server.
    pub fn new(rng: R) -> Self {
        Self {
            rules: Rules::default(),
            shelf: MemoryShelf::default(),
            now_ms: 1_700_000_000_000,
            rng,
            clients: BTreeMap::new(),
            connected: 0,
        }
    }

    /// A new connection's number.
    pub fn connect(&mut self) -> u32 {
        self.connected += 1;
        let client = Client {
            connection: Connection::new(true),
            sent: Vec::new(),
        };
        self.clients.insert(self.connected, client);
        self.connected
    }

    /// A connection is gone.
    pub fn disconnect(&mut self, client: u32) {
        self.clients.remove(&client);
    }

    /// The server ends and starts again: every connection is gone, every row is there.
    pub fn restart(&mut self) {
        self.clients.clear();
    }

    /// What a connection was sent since the last time.
    pub fn take(&mut self, client: u32) -> Vec<String> {
        let client = self.clients.get_mut(&client);
        client.map_or_else(Vec::new, |client| std::mem::take(&mut client.sent))
    }

    /// A connection sends a frame. False if it is no frame, which ends the connection.
    pub fn handle(&mut self, client: u32, frame: &[u8]) -> bool {
        let Some(known) = self.clients.get_mut(&client) else {
            return false;
        };
        let Ok(frame) = Frame::read(frame) else {
            known
                .sent
                .push(error_text("not an object", None, self.now_ms));
            self.clients.remove(&client);
            return false;
        };
        let reaction = known.connection.handle(&frame, self.now_ms);
        known.sent.extend(reaction.ack);
        let said = match reaction.then {
            Then::Nothing => None,
            Then::Say(reply) => Some(reply.text(self.now_ms)),
            Then::Refuse(error) => Some(error_text(&error, Some(frame.text()), self.now_ms)),
            Then::Ask(request) => self.ask(client, request, &frame),
        };
        if let Some(known) = self.clients.get_mut(&client) {
            known.sent.extend(said);
        }
        true
    }

    /// One pass of pruning.
    pub fn prune(&mut self) {
        let opened = self.clients.values();
        let opened: BTreeSet<_> = opened.filter_map(|one| one.connection.opened()).collect();
        while self
            .rules
            .prune(&mut self.shelf, &opened, self.now_ms)
            .unwrap_or_else(|never| match never {})
        {}
    }

    /// Asks the rules; what is said to the client at the end.
    fn ask(&mut self, client: u32, request: Request, frame: &Frame) -> Option<String> {
        let known = self.clients.get(&client)?;
        let bound = known.connection.bound()?.clone();
        let who = (&bound.app, &bound.side);
        let run = self
            .rules
            .run(&mut self.shelf, who, request, self.now_ms, &mut self.rng);
        let (answer, added) = run.unwrap_or_else(|never| match never {});
        if let Some(added) = added {
            self.deliver(&added);
        }
        let replay = match &answer {
            Ok(Outcome::Opened(opening)) => {
                self.shelf.messages(opening.number, opening.replay_below)
            }
            _ => Vec::new(),
        };
        let known = self.clients.get_mut(&client)?;
        let said = match known.connection.answered(answer) {
            Ok(reply) => reply.map(|reply: Reply| reply.text(self.now_ms)),
            Err(refusal) => {
                let error = refusal.to_string();
                Some(error_text(&error, Some(frame.text()), self.now_ms))
            }
        };
        known.sent.extend(said);
        let replay = replay.iter();
        known
            .sent
            .extend(replay.map(|message| message_text(message, self.now_ms)));
        None
    }

    fn deliver(&mut self, added: &Added) {
        let text = message_text(&added.message, self.now_ms);
        let is_author = |side: &Side| *side == added.message.side;
        for client in self.clients.values_mut() {
            let connection = &client.connection;
            let side = connection.bound().map(|bound| &bound.side);
            let is_reached = added.audience == Audience::Everybody || side.is_some_and(is_author);
            if connection.opened() == Some(added.mailbox) && is_reached {
                client.sent.push(text.clone());
            }
        }
    }
}
