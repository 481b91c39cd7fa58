//! Tests of the frames.

use super::*;

fn side(text: &str) -> Side {
    Side::parse(text).unwrap()
}

fn fields(frame: &ClientFrame) -> Value {
    serde_json::from_str(&frame.encode(26)).unwrap()
}

#[test]
fn client_frames_have_the_keys_that_servers_read() {
    let nameplate = Nameplate::parse("4").unwrap();
    let mailbox = WormholeMailbox::parse("mb").unwrap();
    let add = |seqnum| ClientFrame::Add {
        phase: Phase::Number(0),
        body: vec![0, 255],
        seqnum,
    };
    let cases = [
        (
            ClientFrame::Allocate,
            json!({"type": "allocate", "id": "1a"}),
        ),
        (
            ClientFrame::Claim(nameplate.clone()),
            json!({"type": "claim", "id": "1a", "nameplate": "4"}),
        ),
        (
            ClientFrame::Release(nameplate),
            json!({"type": "release", "id": "1a", "nameplate": "4"}),
        ),
        (
            ClientFrame::Open(mailbox.clone()),
            json!({"type": "open", "id": "1a", "mailbox": "mb"}),
        ),
        (
            add(None),
            json!({"type": "add", "id": "1a", "phase": "0", "body": "00ff"}),
        ),
        (
            add(Some(3)),
            json!({"type": "add", "id": "1a", "phase": "0", "body": "00ff", "seqnum": 3}),
        ),
        (
            ClientFrame::Delete {
                side: side("s"),
                phase: Phase::Pake,
            },
            json!({"type": "delete", "id": "1a", "their-side": "s", "their-phase": "pake"}),
        ),
        (
            ClientFrame::Acknowledge {
                side: side("s"),
                seqnum: 9,
            },
            json!({"type": "message-ack", "id": "1a", "side": "s", "seqnum": 9}),
        ),
        (
            ClientFrame::Close {
                mailbox,
                mood: Mood::Scary,
            },
            json!({"type": "close", "id": "1a", "mailbox": "mb", "mood": "scary"}),
        ),
        (
            ClientFrame::Ping(5),
            json!({"type": "ping", "id": "1a", "ping": 5}),
        ),
    ];
    for (frame, expected) in cases {
        assert_eq!(fields(&frame), expected);
    }
    let bind = ClientFrame::Bind {
        app: Application::Transfer,
        side: side("ab"),
    };
    let bind = fields(&bind);
    assert_eq!(bind["appid"], Application::Transfer.id());
    assert_eq!(bind["side"], "ab");
    assert_eq!(bind["client_version"].as_array().unwrap().len(), 2);
    assert_eq!(bind["mailbox-abilities"], json!(["message-seqnum-v1"]));
}

#[test]
fn a_welcome_says_what_the_server_can_do() {
    let read = |inner: Value| {
        let text = json!({"type": "welcome", "welcome": inner, "server_tx": 1.5});
        match ServerFrame::decode(&text.to_string()) {
            Ok(ServerFrame::Welcome(welcome)) => welcome,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(read(json!({"motd": "hi"})), Welcome::default());
    let ours = read(json!({"mailbox-abilities": ["message-delete-v1", "message-seqnum-v1", 7]}));
    assert!(ours.deletes && ours.numbers);
    assert!(!read(json!({"mailbox-abilities": ["message-delete-v1"]})).numbers);
    assert_eq!(read(json!({"error": "no"})).error.as_deref(), Some("no"));
    assert!(read(json!({"permission-required": {"hashcash": {}}})).wants_permission);
    let soft = json!({"permission-required": {"none": {}, "hashcash": {}}});
    assert!(!read(soft).wants_permission);
}

#[test]
fn server_frames_are_read() {
    let message = r#"{"type":"message","side":"s","phase":"pake","body":"0aff","seqnum":2,"x":1}"#;
    let expected = MailboxMessage {
        side: side("s"),
        phase: Phase::Pake,
        body: Some(vec![10, 255]),
        seqnum: Some(2),
    };
    let read = |text: &str| ServerFrame::decode(text).unwrap();
    assert_eq!(read(message), ServerFrame::Message(expected));
    let opened = r#"{"type":"opened","mailbox":"m","seqnums":{"s":4},"acked":{"t":0,"u":"x"}}"#;
    let expected = ServerFrame::Opened {
        seqnums: [(side("s"), 4)].into(),
        acked: [(side("t"), 0)].into(),
    };
    assert_eq!(read(opened), expected);
    assert_eq!(
        read(r#"{"type":"error","error":"crowded","orig":{}}"#),
        ServerFrame::Refused(Refusal::Crowded)
    );
    assert_eq!(
        read(r#"{"type":"error","error":"so"}"#),
        ServerFrame::Refused(Refusal::Other)
    );
    assert_eq!(
        read(r#"{"type":"pong","pong":7}"#),
        ServerFrame::Pong(Some(7))
    );
    for ignored in [r#"{"type":"ack","id":"1"}"#, r#"{"type":"news"}"#] {
        assert_eq!(read(ignored), ServerFrame::Other);
    }
}

#[test]
fn what_is_no_frame_is_refused_with_what_is_wrong() {
    for text in ["", "[]", "7", "{}", r#"{"type":7}"#, "{"] {
        assert_eq!(ServerFrame::decode(text), Err(FrameError::Shape), "{text}");
    }
    for text in [
        r#"{"type":"welcome"}"#,
        r#"{"type":"allocated","nameplate":4}"#,
        r#"{"type":"allocated","nameplate":"four"}"#,
        r#"{"type":"claimed","mailbox":""}"#,
        r#"{"type":"message","side":"s","phase":4,"body":""}"#,
        r#"{"type":"message","side":"","phase":"4","body":""}"#,
        r#"{"type":"error"}"#,
    ] {
        assert_eq!(ServerFrame::decode(text), Err(FrameError::Part), "{text}");
    }
}

#[test]
fn nothing_is_printed() {
    let frame = ServerFrame::decode(
        r#"{"type":"message","side":"secretside","phase":"secretphase","body":"00"}"#,
    );
    assert!(!format!("{frame:?}").contains("secret"));
    let claim = ClientFrame::Claim(Nameplate::parse("4711").unwrap());
    assert_eq!(format!("{claim:?}"), "claim");
}
