//! Acknowledgement, section 12.8 row by row.

use serde_json::json;

use super::{Server, pair, phases};

#[test]
fn an_ack_needs_an_open_mailbox() {
    let mut server = Server::new();
    let (author, _) = server.opened("a", "box");
    server.add(author, "pake", Some(0));
    let client = server.bound("app", "b");
    let seqnum = json!({"type": "message-ack", "side": "a", "seqnum": 0});
    let phase = json!({"type": "message-ack", "their-side": "a", "their-phase": "pake"});
    let delete = json!({"type": "delete", "their-side": "a", "their-phase": "pake"});
    let refuse_all = |server: &mut Server| {
        let before = "must open mailbox before";
        assert_eq!(
            server.refused(client, seqnum.clone()),
            format!("{before} acking")
        );
        assert_eq!(
            server.refused(client, phase.clone()),
            format!("{before} acking")
        );
        assert_eq!(
            server.refused(client, delete.clone()),
            format!("{before} DELETE-ing")
        );
    };
    refuse_all(&mut server);
    server.send(client, json!({"type": "open", "mailbox": "box"}));
    server.close(client);
    refuse_all(&mut server);
    assert_eq!(server.replayed("a", "box"), ["pake"]);
}

#[test]
fn ones_own_messages_stay() {
    let (mut server, author, _) = pair();
    server.add(author, "pake", Some(0));
    let own = "cannot ack your own messages";
    let seqnum = json!({"type": "message-ack", "side": "a", "seqnum": 0});
    assert_eq!(server.refused(author, seqnum), own);
    let phase = json!({"type": "message-ack", "their-side": "a", "their-phase": "pake"});
    assert_eq!(server.refused(author, phase), own);
    server.delete(author, "a", "pake");
    assert_eq!(server.replayed("b", "box"), ["pake"]);
}

#[test]
fn a_guessed_side_of_another_mailbox_is_out_of_reach() {
    let (mut server, author, _) = pair();
    server.add(author, "pake", Some(0));
    let (stranger, _) = server.opened("x", "another box");
    server.ack(stranger, "a", 5);
    server.delete(stranger, "a", "pake");
    assert_eq!(server.replayed("b", "box"), ["pake"]);
    let (seqnums, acked) = server.told("x", "another box");
    assert_eq!(
        (seqnums, acked),
        (json!({}), json!({})),
        "nothing is remembered"
    );
}

#[test]
fn the_same_side_and_phase_in_another_mailbox_are_untouched() {
    let (mut server, author, acker) = pair();
    let (elsewhere, _) = server.opened("a", "another box");
    for client in [author, elsewhere] {
        server.add(client, "pake", Some(0));
        server.add(client, "0", Some(1));
    }
    server.heard(acker);
    server.ack(acker, "a", 0);
    server.delete(acker, "a", "0");
    assert!(server.replayed("b", "box").is_empty());
    assert_eq!(server.replayed("a", "another box"), ["pake", "0"]);
}

#[test]
fn an_ack_again_or_lower_changes_nothing() {
    let (mut server, author, acker) = pair();
    for number in 0..7 {
        server.add(author, &number.to_string(), Some(number));
    }
    server.heard(acker);
    for seqnum in [4, 4, 2] {
        server.ack(acker, "a", seqnum);
        assert_eq!(server.told("b", "box").1, json!({"a": 4}));
    }
    assert_eq!(server.replayed("b", "box"), ["5", "6"]);
}

#[test]
fn what_arrives_below_an_ack_is_echoed_to_its_author_only() {
    let (mut server, author, acker) = pair();
    server.add(author, "5", Some(5));
    server.heard(acker);
    server.ack(acker, "a", 5);
    let (second, _) = server.opened("a", "box");
    for (phase, seqnum) in [("late", 3), ("5", 5)] {
        assert_eq!(phases(&server.add(author, phase, Some(seqnum))), [phase]);
        assert_eq!(
            phases(&server.heard(second)),
            [phase],
            "on all of its connections"
        );
        assert!(server.heard(acker).is_empty());
    }
    assert!(server.replayed("b", "box").is_empty());
    assert_eq!(phases(&server.add(author, "6", Some(6))), ["6"]);
    let heard = server.heard(acker);
    assert_eq!(phases(&heard), ["6"]);
    assert_eq!(heard[0]["seqnum"], 6);
    assert_eq!(server.replayed("b", "box"), ["6"]);
}

#[test]
fn an_ack_takes_the_numbered_ones_up_to_it_and_no_others() {
    let (mut server, author, acker) = pair();
    for (phase, seqnum) in [
        ("1", Some(1)),
        ("3", Some(3)),
        ("old", None),
        ("7", Some(7)),
    ] {
        server.add(author, phase, seqnum);
    }
    server.heard(acker);
    server.ack(acker, "a", 5);
    assert_eq!(server.replayed("b", "box"), ["old", "7"]);
}

#[test]
fn a_phase_that_was_deleted_is_not_remembered() {
    let (mut server, author, acker) = pair();
    for (phase, seqnum) in [("0", None), ("0", Some(4)), ("1", None)] {
        server.add(author, phase, seqnum);
    }
    server.heard(acker);
    server.delete(acker, "a", "0");
    assert_eq!(server.replayed("b", "box"), ["1"]);
    let (seqnums, acked) = server.told("b", "box");
    assert_eq!(
        (seqnums, acked),
        (json!({}), json!({})),
        "no ack by a phase"
    );
    server.add(author, "0", None);
    assert_eq!(phases(&server.heard(acker)), ["0"]);
    assert_eq!(server.replayed("b", "box"), ["1", "0"]);
    let ack = json!({"type": "message-ack", "their-side": "a", "their-phase": "0"});
    assert!(server.send(acker, ack).is_empty());
    assert_eq!(server.replayed("b", "box"), ["1"]);
}

#[test]
fn a_repeat_is_echoed_to_its_author_and_a_changed_one_refused() {
    let (mut server, author, acker) = pair();
    server.add(author, "pake", Some(0));
    server.heard(acker);
    assert_eq!(phases(&server.add(author, "pake", Some(0))), ["pake"]);
    assert!(server.heard(acker).is_empty());
    let changed = json!({"type": "add", "phase": "pake", "body": "other", "seqnum": 0});
    assert_eq!(server.refused(author, changed), "seqnum already used");
    let renamed = json!({"type": "add", "phase": "x", "body": "body of pake", "seqnum": 0});
    assert_eq!(server.refused(author, renamed), "seqnum already used");
    assert_eq!(server.replayed("b", "box"), ["pake"]);
    for (phase, seqnum) in [("gap", 9), ("falling", 3), ("gap", 10)] {
        assert_eq!(phases(&server.add(author, phase, Some(seqnum))), [phase]);
    }
    server.heard(acker);
    let theirs = server.add(acker, "pake", Some(0));
    assert!(
        phases(&theirs).ends_with(&["pake".to_owned()]),
        "each side counts for itself"
    );
}

#[test]
fn whoever_reconnects_is_told_what_is_done() {
    let (mut server, author, acker) = pair();
    for number in 0..3 {
        server.add(author, &number.to_string(), Some(number));
    }
    server.heard(acker);
    server.add(acker, "theirs", Some(8));
    server.heard(acker);
    server.heard(author);
    server.ack(acker, "a", 1);
    server.0.disconnect(acker);
    server.0.disconnect(author);
    let expected = (json!({"a": 2, "b": 8}), json!({"a": 1}));
    assert_eq!(server.told("b", "box"), expected);
    assert_eq!(server.told("a", "box"), expected);
    assert_eq!(server.replayed("b", "box"), ["2", "theirs"]);
    let (author, _) = server.opened("a", "box");
    assert_eq!(phases(&server.add(author, "1", Some(1))), ["1"]);
    assert_eq!(server.replayed("b", "box"), ["2", "theirs"]);
}

#[test]
fn acks_end_with_the_mailbox_and_not_with_one_side() {
    let (mut server, author, acker) = pair();
    server.add(author, "0", Some(0));
    server.heard(acker);
    server.ack(acker, "a", 5);
    server.close(acker);
    assert_eq!(server.told("b", "box"), (json!({"a": 5}), json!({"a": 5})));
    server.close(author);
    assert_eq!(server.0.shelf.counts(), (0, 0));
    assert_eq!(server.told("b", "box"), (json!({}), json!({})));
    let (author, _) = server.opened("a", "box");
    server.add(author, "0", Some(0));
    assert_eq!(server.replayed("b", "box"), ["0"]);
}

#[test]
fn an_ack_survives_a_restart() {
    let (mut server, author, acker) = pair();
    server.add(author, "0", Some(0));
    server.heard(acker);
    server.ack(acker, "a", 0);
    server.0.restart();
    let (author, sent) = server.opened("a", "box");
    assert!(sent.is_empty());
    assert_eq!(phases(&server.add(author, "0", Some(0))), ["0"]);
    assert!(server.replayed("b", "box").is_empty());
}

#[test]
fn opened_comes_to_those_who_ask_before_the_replay_and_never_with_an_error() {
    let (mut server, author, _) = pair();
    server.add(author, "0", Some(0));
    assert_eq!(server.opened("a", "box").1[0]["type"], "message");
    let client = server.0.connect();
    let abilities = json!(["something else", "message-seqnum-v1"]);
    let bind = json!({
        "type": "bind", "appid": "app", "side": "b", "mailbox-abilities": abilities,
    });
    server.send(client, bind.clone());
    let sent = server.send(client, json!({"type": "open", "mailbox": "box"}));
    let kinds: Vec<_> = sent
        .iter()
        .map(|one| one["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["opened", "message"]);
    let third = server.0.connect();
    let mut bind = bind;
    bind["side"] = json!("c");
    server.send(third, bind);
    assert_eq!(
        server.refused(third, json!({"type": "open", "mailbox": "box"})),
        "crowded"
    );
}
