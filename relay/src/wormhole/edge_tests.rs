//! Sections 2 to 8, and in [`acks`] the rows of 12.8, against a whole server in memory.

mod acks;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};

use super::{MemoryServer, Usage, UsageResult};

/// A server and short ways to talk to it.
struct Server(MemoryServer<ChaCha20Rng>);

impl Server {
    fn new() -> Self {
        Self(MemoryServer::new(ChaCha20Rng::seed_from_u64(1)))
    }

    /// A connection that is bound.
    fn bound(&mut self, app: &str, side: &str) -> u32 {
        let client = self.0.connect();
        let sent = self.send(client, json!({"type": "bind", "appid": app, "side": side}));
        assert!(sent.is_empty());
        client
    }

    /// A connection that has a mailbox open, and what it was sent for that.
    fn opened(&mut self, side: &str, mailbox: &str) -> (u32, Vec<Value>) {
        let client = self.bound("app", side);
        let sent = self.send(client, json!({"type": "open", "mailbox": mailbox}));
        (client, sent)
    }

    /// Sends a command and returns what comes back after its ack, which has to be the first.
    fn send(&mut self, client: u32, command: Value) -> Vec<Value> {
        let mut command = command;
        command["id"] = json!("c7");
        let unheard = self.heard(client);
        assert!(unheard.is_empty(), "{unheard:?}");
        assert!(self.0.handle(client, command.to_string().as_bytes()));
        let mut heard = self.heard(client);
        let ack = heard.remove(0);
        assert_eq!((&ack["type"], &ack["id"]), (&json!("ack"), &json!("c7")));
        heard
    }

    /// Sends a command that is refused and returns the words.
    fn refused(&mut self, client: u32, command: Value) -> String {
        let heard = self.send(client, command.clone());
        let [error] = heard.as_slice() else {
            panic!("{command}: {heard:?}");
        };
        assert_eq!(error["type"], "error", "{command}");
        let mut orig = command;
        orig["id"] = json!("c7");
        assert_eq!(error["orig"], orig);
        error["error"].as_str().unwrap().to_owned()
    }

    fn heard(&mut self, client: u32) -> Vec<Value> {
        let texts = self.0.take(client);
        let read = |text: &String| serde_json::from_str(text).unwrap();
        texts.iter().map(read).collect()
    }

    fn add(&mut self, client: u32, phase: &str, seqnum: Option<u64>) -> Vec<Value> {
        let body = format!("body of {phase}");
        let mut add = json!({"type": "add", "phase": phase, "body": body});
        if let Some(seqnum) = seqnum {
            add["seqnum"] = seqnum.into();
        }
        self.send(client, add)
    }

    fn ack(&mut self, client: u32, side: &str, seqnum: u64) {
        let ack = json!({"type": "message-ack", "side": side, "seqnum": seqnum});
        assert!(self.send(client, ack).is_empty());
    }

    fn delete(&mut self, client: u32, side: &str, phase: &str) {
        let delete = json!({"type": "delete", "their-side": side, "their-phase": phase});
        assert!(self.send(client, delete).is_empty());
    }

    /// The phases that a fresh connection of a side gets at once.
    fn replayed(&mut self, side: &str, mailbox: &str) -> Vec<String> {
        let (client, sent) = self.opened(side, mailbox);
        self.0.disconnect(client);
        phases(&sent)
    }

    /// What a fresh connection of a side is told of the numbers.
    fn told(&mut self, side: &str, mailbox: &str) -> (Value, Value) {
        let client = self.0.connect();
        let abilities = json!(["message-seqnum-v1"]);
        let bind = json!({
            "type": "bind", "appid": "app", "side": side, "mailbox-abilities": abilities,
        });
        self.send(client, bind);
        let sent = self.send(client, json!({"type": "open", "mailbox": mailbox}));
        self.0.disconnect(client);
        assert_eq!(
            (&sent[0]["type"], &sent[0]["mailbox"]),
            (&json!("opened"), &json!(mailbox))
        );
        (sent[0]["seqnums"].clone(), sent[0]["acked"].clone())
    }

    fn close(&mut self, client: u32) {
        let closed = self.send(client, json!({"type": "close", "mood": "happy"}));
        assert_eq!(closed[0]["type"], "closed");
    }
}

fn phases(sent: &[Value]) -> Vec<String> {
    let phase = |message: &Value| {
        assert_eq!(message["type"], "message");
        message["phase"].as_str().unwrap().to_owned()
    };
    sent.iter().map(phase).collect()
}

/// Two sides with a mailbox open.
fn pair() -> (Server, u32, u32) {
    let mut server = Server::new();
    let (author, _) = server.opened("a", "box");
    let (acker, _) = server.opened("b", "box");
    (server, author, acker)
}

#[test]
fn every_command_is_acked_first_refused_and_unknown_ones_too() {
    let mut server = Server::new();
    let client = server.0.connect();
    for kind in [
        "list",
        "add",
        "nonsense",
        "message-ack",
        "submit-permission",
    ] {
        assert_eq!(
            server.refused(client, json!({"type": kind})),
            "must bind first"
        );
    }
    assert_eq!(
        server.refused(client, json!({"type": 4})),
        "must bind first"
    );
    let pong = server.send(client, json!({"type": "ping", "ping": {"a": [1]}}));
    assert_eq!(
        (&pong[0]["type"], &pong[0]["pong"]),
        (&json!("pong"), &json!({"a": [1]}))
    );
    let bound = server.bound("app", "a");
    assert_eq!(
        server.refused(bound, json!({"type": "nonsense"})),
        "unknown type"
    );
    assert!(server.0.handle(bound, b"{\"id\":1}"));
    let heard = server.heard(bound);
    assert_eq!(heard.len(), 1, "no ack without a type");
    assert_eq!(heard[0]["error"], "missing 'type'");
    assert!(server.0.handle(bound, b"{\"type\":\"list\"}"));
    assert_eq!(server.heard(bound)[0]["id"], Value::Null);
}

#[test]
fn every_refusal_of_the_table_has_its_words() {
    let mut server = Server::new();
    let client = server.0.connect();
    let refusals = [
        (json!({"type": "ping"}), "ping requires 'ping'"),
        (
            json!({"type": "bind", "side": "a"}),
            "bind requires 'appid'",
        ),
        (
            json!({"type": "bind", "appid": "a"}),
            "bind requires 'side'",
        ),
    ];
    for (command, words) in refusals {
        assert_eq!(server.refused(client, command), words);
    }
    let client = server.bound("app", "a");
    let bind = json!({"type": "bind"});
    assert_eq!(server.refused(client, bind), "already bound");
    let refusals = [
        (json!({"type": "claim"}), "claim requires 'nameplate'"),
        (
            json!({"type": "release"}),
            "release without nameplate must follow claim",
        ),
        (json!({"type": "open"}), "open requires 'mailbox'"),
        (json!({"type": "add"}), "must open mailbox before adding"),
        (
            json!({"type": "close"}),
            "close without mailbox must follow open",
        ),
    ];
    for (command, words) in refusals {
        assert_eq!(server.refused(client, command), words);
    }
}

#[test]
fn what_may_be_said_once_is_refused_the_second_time() {
    let mut server = Server::new();
    let client = server.bound("app", "a");
    server.send(client, json!({"type": "allocate"}));
    let allocate = json!({"type": "allocate"});
    assert_eq!(
        server.refused(client, allocate),
        "you already allocated one, don't be greedy"
    );
    server.send(client, json!({"type": "claim", "nameplate": "77"}));
    server.send(client, json!({"type": "open", "mailbox": "m"}));
    let refusals = [
        (
            json!({"type": "claim", "nameplate": "78"}),
            "only one claim per connection",
        ),
        (
            json!({"type": "release", "nameplate": "78"}),
            "release and claim must use same nameplate",
        ),
        (json!({"type": "open"}), "only one open per connection"),
        (json!({"type": "add", "body": ""}), "missing 'phase'"),
        (json!({"type": "add", "phase": ""}), "missing 'body'"),
        (
            json!({"type": "close", "mailbox": "n"}),
            "open and close must use same mailbox",
        ),
    ];
    for (command, words) in refusals {
        assert_eq!(server.refused(client, command), words);
    }
    server.send(client, json!({"type": "release"}));
    let release = json!({"type": "release"});
    assert_eq!(
        server.refused(client, release),
        "only one release per connection"
    );
    server.close(client);
    assert_eq!(
        server.refused(client, json!({"type": "close"})),
        "only one close per connection"
    );
    let add = json!({"type": "add", "phase": "p", "body": ""});
    assert_eq!(
        server.refused(client, add),
        "must open mailbox before adding"
    );
}

#[test]
fn wrong_types_in_a_bind_are_refused_and_the_connection_lives() {
    let mut server = Server::new();
    let long = "x".repeat(257);
    let unbound = server.0.connect();
    for (command, words) in [
        (
            json!({"type": "bind", "appid": 1, "side": "s"}),
            "'appid' must be a string",
        ),
        (
            json!({"type": "bind", "appid": "a", "side": null}),
            "'side' must be a string",
        ),
        (
            json!({"type": "bind", "appid": "a", "side": "s", "client_version": ["py"]}),
            "'client_version' must be a list of two strings",
        ),
        (
            json!({"type": "bind", "appid": "a", "side": "s", "client_version": {"a": 1}}),
            "'client_version' must be a list of two strings",
        ),
        (
            json!({"type": "bind", "appid": "a", "side": "s", "mailbox-abilities": "x"}),
            "'mailbox-abilities' must be a list of strings",
        ),
        (
            json!({"type": "bind", "appid": "a", "side": long}),
            "'side' must be at most 256 bytes",
        ),
    ] {
        assert_eq!(server.refused(unbound, command), words);
    }
    let bind = json!({
        "type": "bind", "appid": "a", "side": "s", "client_version": ["py", null, "more"],
    });
    assert!(server.send(unbound, bind).is_empty());
}

#[test]
fn wrong_types_after_the_bind_are_refused_too() {
    let mut server = Server::new();
    let (client, _) = server.opened("a", "box");
    for (command, words) in [
        (
            json!({"type": "claim", "nameplate": 4}),
            "'nameplate' must be a string",
        ),
        (
            json!({"type": "claim", "nameplate": "4a"}),
            "nameplate must be 1 to 40 digits",
        ),
        (
            json!({"type": "release", "nameplate": "٤"}),
            "nameplate must be 1 to 40 digits",
        ),
        (
            json!({"type": "close", "mood": {}}),
            "'mood' must be a string",
        ),
        (
            json!({"type": "close", "mailbox": 7}),
            "'mailbox' must be a string",
        ),
        (
            json!({"type": "add", "phase": 0, "body": ""}),
            "'phase' must be a string",
        ),
        (
            json!({"type": "add", "phase": "0", "body": {}}),
            "'body' must be a string",
        ),
        (
            json!({"type": "add", "phase": "0", "body": "", "seqnum": 1.0}),
            "'seqnum' must be an integer from 0 to 9007199254740991",
        ),
    ] {
        assert_eq!(server.refused(client, command), words);
    }
    let beyond = b"{\"type\":\"ping\",\"ping\":1e999}";
    assert!(server.0.handle(client, beyond));
    let error = server.0.take(client).concat();
    assert!(error.contains("\"the command can't be read\""), "{error}");
    assert!(
        error.contains("\"orig\":{\"type\":\"ping\",\"ping\":1e999}"),
        "{error}"
    );
    let null = json!({"type": "add", "phase": "0", "body": "", "seqnum": null});
    assert_eq!(server.send(client, null)[0]["type"], "message");
    assert!(!server.0.handle(client, b"[]"));
}

#[test]
fn nameplates_are_allocated_claimed_listed_and_released() {
    let mut server = Server::new();
    let a = server.bound("app", "a");
    let allocated = server.send(a, json!({"type": "allocate"}));
    let nameplate = allocated[0]["nameplate"].clone();
    let claim = json!({"type": "claim", "nameplate": nameplate});
    let mailbox = server.send(a, claim.clone())[0]["mailbox"].clone();
    assert_eq!(mailbox.as_str().unwrap().len(), 13);
    let again = server.bound("app", "a");
    assert_eq!(server.send(again, claim.clone())[0]["mailbox"], mailbox);
    let b = server.bound("app", "b");
    assert_eq!(server.send(b, claim.clone())[0]["mailbox"], mailbox);
    let other = server.bound("other app", "b");
    let list = json!({"type": "list"});
    assert_eq!(server.send(other, list.clone())[0]["nameplates"], json!([]));
    assert_eq!(
        server.send(b, list.clone())[0]["nameplates"],
        json!([{"id": nameplate}])
    );
    assert_eq!(
        server.send(a, json!({"type": "release"}))[0]["type"],
        "released"
    );
    let late = server.bound("app", "a");
    assert_eq!(server.refused(late, claim.clone()), "reclaimed");
    assert_eq!(server.refused(late, claim), "only one claim per connection");
    let never = json!({"type": "release", "nameplate": "123"});
    assert_eq!(server.send(other, never)[0]["type"], "released");
    server.send(b, json!({"type": "release"}));
    assert_eq!(server.send(b, list)[0]["nameplates"], json!([]));
    assert_eq!(server.0.shelf.counts(), (1, 0), "the mailbox stays");
}

#[test]
fn a_list_is_sorted_as_strings() {
    let mut server = Server::new();
    for nameplate in ["10", "9", "1", "100"] {
        let client = server.bound("app", "a");
        server.send(client, json!({"type": "claim", "nameplate": nameplate}));
    }
    let client = server.bound("app", "a");
    let listed = server.send(client, json!({"type": "list"}));
    let expected = json!([{"id": "1"}, {"id": "10"}, {"id": "100"}, {"id": "9"}]);
    assert_eq!(listed[0]["nameplates"], expected);
}

#[test]
fn a_crowd_stays_crowded_and_the_third_neither_reads_nor_writes() {
    let mut server = Server::new();
    let claim = json!({"type": "claim", "nameplate": "4"});
    let mut mailbox = Value::Null;
    for side in ["a", "b"] {
        let client = server.bound("app", side);
        mailbox = server.send(client, claim.clone())[0]["mailbox"].clone();
    }
    let name = mailbox.as_str().unwrap();
    let (first, _) = server.opened("a", name);
    server.add(first, "pake", None);
    let third = server.bound("app", "c");
    assert_eq!(server.refused(third, claim.clone()), "crowded");
    let open = json!({"type": "open", "mailbox": name});
    assert_eq!(server.refused(third, open.clone()), "crowded");
    let add = json!({"type": "add", "phase": "x", "body": ""});
    assert_eq!(
        server.refused(third, add),
        "must open mailbox before adding"
    );
    let ack = json!({"type": "message-ack", "side": "a", "seqnum": 1});
    assert_eq!(
        server.refused(third, ack),
        "must open mailbox before acking"
    );
    assert_eq!(server.refused(third, json!({"type": "close"})), "crowded");
    for side in ["a", "b", "d"] {
        let client = server.bound("app", side);
        assert_eq!(server.refused(client, claim.clone()), "crowded");
        assert_eq!(server.refused(client, open.clone()), "crowded");
    }
    assert_eq!(
        phases(&server.add(first, "more", None)),
        ["more"],
        "who is in goes on"
    );
    server.close(first);
}

#[test]
fn two_applications_share_nothing() {
    let mut server = Server::new();
    let (one, _) = server.opened("a", "box");
    let other = server.bound("other app", "a");
    assert!(
        server
            .send(other, json!({"type": "open", "mailbox": "box"}))
            .is_empty()
    );
    server.add(one, "pake", None);
    assert!(server.heard(other).is_empty());
    server.close(one);
    server.add(other, "mine", None);
}

#[test]
fn both_claim_none_releases_both_close_and_nothing_is_left() {
    let mut server = Server::new();
    for nameplate in ["4", "5"] {
        let mut clients = Vec::new();
        for side in ["a", "b"] {
            let client = server.bound("app", side);
            let claim = json!({"type": "claim", "nameplate": nameplate});
            let mailbox = server.send(client, claim)[0]["mailbox"].clone();
            server.send(client, json!({"type": "open", "mailbox": mailbox}));
            clients.push(client);
        }
        if nameplate == "5" {
            for client in clients {
                server.close(client);
            }
        }
    }
    assert_eq!(server.0.shelf.counts(), (1, 1), "the other nameplate stays");
}

#[test]
fn messages_come_in_order_of_arrival_live_and_again_with_an_echo() {
    let (mut server, author, acker) = pair();
    server.0.now_ms += 5;
    for phase in ["pake", "version", "0"] {
        let echo = server.add(author, phase, None);
        assert_eq!(phases(&echo), [phase]);
        assert_eq!(echo[0]["id"], "c7");
        assert!(echo[0].get("seqnum").is_none());
        server.0.now_ms -= 1;
    }
    assert_eq!(phases(&server.heard(acker)), ["pake", "version", "0"]);
    assert_eq!(server.replayed("b", "box"), ["pake", "version", "0"]);
    assert_eq!(server.replayed("a", "box"), ["pake", "version", "0"]);
    let twice = server.add(acker, "0", None);
    assert_eq!(phases(&twice), ["0"]);
    server.add(acker, "0", None);
    server.heard(author);
    assert_eq!(
        server.replayed("a", "box").len(),
        5,
        "two adds are two messages"
    );
}

#[test]
fn a_close_without_an_open_opens_and_closes() {
    let mut server = Server::new();
    let client = server.bound("app", "a");
    let closed = server.send(
        client,
        json!({"type": "close", "mailbox": "new", "mood": null}),
    );
    assert_eq!(closed[0]["type"], "closed");
    assert_eq!(server.0.shelf.counts(), (0, 0));
    let (first, _) = server.opened("a", "box");
    server.opened("b", "box");
    server.0.disconnect(first);
    let again = server.bound("app", "a");
    server.send(again, json!({"type": "close", "mailbox": "box"}));
    assert_eq!(
        server.0.shelf.counts(),
        (1, 0),
        "the other side has it open"
    );
    let last = server.bound("app", "b");
    server.send(last, json!({"type": "close", "mailbox": "box"}));
    assert_eq!(server.0.shelf.counts(), (0, 0));
}

#[test]
fn after_a_close_a_connection_may_open_again_but_not_close_again() {
    let (mut server, author, _) = pair();
    server.close(author);
    assert!(
        server
            .send(author, json!({"type": "open", "mailbox": "box"}))
            .is_empty()
    );
    assert_eq!(phases(&server.add(author, "x", None)), ["x"]);
    assert_eq!(
        server.refused(author, json!({"type": "close"})),
        "only one close per connection"
    );
}

#[test]
fn a_connection_whose_mailbox_went_is_told_so_and_is_not_in_the_next_one() {
    let mut server = Server::new();
    let (old, _) = server.opened("a", "box");
    let (new, _) = server.opened("a", "box");
    server.close(new);
    let add = json!({"type": "add", "phase": "x", "body": ""});
    assert_eq!(server.refused(old, add.clone()), "the mailbox is gone");
    let (fresh, _) = server.opened("b", "box");
    assert_eq!(server.refused(old, add), "the mailbox is gone");
    let delete = json!({"type": "delete", "their-side": "b", "their-phase": "x"});
    assert_eq!(server.refused(old, delete), "the mailbox is gone");
    server.add(fresh, "x", None);
    assert!(server.heard(old).is_empty());
    server.close(old);
    assert_eq!(
        server.replayed("b", "box"),
        ["x"],
        "closing the old one is no matter"
    );
}

#[test]
fn an_old_mailbox_goes_at_eleven_minutes_with_its_nameplate() {
    let mut server = Server::new();
    let client = server.bound("app", "a");
    server.send(client, json!({"type": "claim", "nameplate": "4"}));
    server.0.now_ms += 11 * 60_000 - 1;
    server.0.prune();
    assert_eq!(server.0.shelf.counts(), (1, 1));
    server.0.now_ms += 1;
    server.0.prune();
    assert_eq!(server.0.shelf.counts(), (0, 0));
}

#[test]
fn a_mailbox_that_somebody_has_open_stays_and_counts_as_active() {
    let mut server = Server::new();
    let (client, _) = server.opened("a", "box");
    server.0.now_ms += 60 * 60_000;
    server.0.prune();
    server.0.disconnect(client);
    server.0.now_ms += 11 * 60_000 - 1;
    server.0.prune();
    assert_eq!(server.0.shelf.counts(), (1, 0));
    server.0.now_ms += 1;
    server.0.prune();
    assert_eq!(server.0.shelf.counts(), (0, 0));
}

#[test]
fn release_ack_and_ping_are_no_activity() {
    let (mut server, author, acker) = pair();
    let claimer = server.bound("app", "a");
    server.send(claimer, json!({"type": "claim", "nameplate": "4"}));
    server.add(author, "x", Some(0));
    server.heard(acker);
    server.0.now_ms += 10 * 60_000;
    server.send(claimer, json!({"type": "release"}));
    server.ack(acker, "a", 0);
    server.send(acker, json!({"type": "ping", "ping": 1}));
    for client in [author, acker, claimer] {
        server.0.disconnect(client);
    }
    server.0.now_ms += 60_000;
    server.0.prune();
    assert_eq!(server.0.shelf.counts(), (0, 0));
}

#[test]
fn more_old_mailboxes_than_one_pass_removes_go_in_several() {
    let mut server = Server::new();
    for number in 0..1_100 {
        let (client, _) = server.opened("a", &format!("box {number}"));
        server.0.disconnect(client);
    }
    server.0.now_ms += 11 * 60_000;
    server.0.prune();
    assert_eq!(server.0.shelf.counts(), (0, 0));
}

#[test]
fn a_mailbox_and_the_relay_have_ends() {
    let (mut server, author, acker) = pair();
    server.0.rules.limits.messages_max = 2;
    server.add(author, "1", Some(0));
    server.add(author, "2", None);
    let add = json!({"type": "add", "phase": "3", "body": "", "seqnum": 1});
    assert_eq!(server.refused(author, add.clone()), "mailbox full");
    let repeat = server.add(author, "1", Some(0));
    assert_eq!(phases(&repeat), ["1"], "a repeat needs no room");
    server.heard(acker);
    server.ack(acker, "a", 0);
    assert_eq!(phases(&server.send(author, add)), ["3"]);
    server.0.rules.limits.messages_max = 9;
    server.0.rules.limits.bytes_max = 60;
    let large = json!({"type": "add", "phase": "4", "body": "x".repeat(60)});
    assert_eq!(server.refused(author, large), "mailbox full");
    server.0.rules.limits.bytes_max = 1_000;
    server.0.shelf.room = Some(0);
    let small = json!({"type": "add", "phase": "5", "body": ""});
    assert_eq!(server.refused(author, small), "relay full");
    let third = server.bound("app", "a");
    assert_eq!(
        server.refused(third, json!({"type": "open", "mailbox": "n"})),
        "relay full"
    );
    server.0.shelf.room = None;
    server.0.rules.limits.mailboxes_max = 1;
    assert_eq!(
        server.refused(third, json!({"type": "open", "mailbox": "n"})),
        "relay full"
    );
    let full = server.refused(third, json!({"type": "allocate"}));
    assert_eq!(full, "relay full");
    let again = json!({"type": "open", "mailbox": "box"});
    assert_eq!(
        server.send(third, again).len(),
        2,
        "one that is there needs no room"
    );
}

#[test]
fn records_of_use_are_kept_only_where_asked_for_and_blurred() {
    let run = |blur_ms| {
        let mut server = Server::new();
        server.0.rules.usage_blur_ms = blur_ms;
        server.0.now_ms = 10_007_000;
        let a = server.bound("app", "a");
        let mailbox =
            server.send(a, json!({"type": "claim", "nameplate": "4"}))[0]["mailbox"].clone();
        server.0.now_ms += 2_000;
        let b = server.bound("app", "b");
        server.send(b, json!({"type": "claim", "nameplate": "4"}));
        for (client, mood) in [(a, "happy"), (b, "scary")] {
            server.send(client, json!({"type": "release"}));
            let close = json!({"type": "close", "mailbox": mailbox, "mood": mood});
            server.send(client, close);
        }
        server.0.shelf.usage().to_vec()
    };
    assert!(run(None).is_empty());
    let usage = run(Some(10_000));
    let of_bind = |one: &Usage| match one {
        Usage::Bind { at_ms, .. } => Some(*at_ms),
        _ => None,
    };
    let binds: Vec<_> = usage.iter().filter_map(of_bind).collect();
    assert_eq!(binds, [10_000_000, 10_000_000]);
    let of_end = |one: &Usage| match one {
        Usage::Nameplate(_, times, result) | Usage::Mailbox { times, result, .. } => {
            Some((times.started_ms, times.waiting_ms, times.total_ms, *result))
        }
        Usage::Bind { .. } => None,
    };
    let ends: Vec<_> = usage.iter().filter_map(of_end).collect();
    let started = 10_000_000;
    assert_eq!(
        ends,
        [
            (started, Some(2_000), 2_000, UsageResult::Happy),
            (started, Some(2_000), 2_000, UsageResult::Scary),
        ]
    );
}
