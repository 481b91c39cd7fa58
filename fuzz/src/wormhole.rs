//! What clients send to the wormhole door: frames, one on each line, the first byte of which says
//! which of four connections sends it.
//!
//! Whatever comes, every object with a type is acked first and every frame out is one JSON
//! object; and what the mailboxes hold stays within its bounds.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sealpost_relay::wormhole::MemoryServer;
use serde_json::Value;

/// Messages that one mailbox may hold here.
const MESSAGES_MAX: u64 = 20;

pub(crate) fn run(bytes: &[u8]) {
    let mut server = MemoryServer::new(ChaCha20Rng::seed_from_u64(1));
    server.rules.limits.messages_max = MESSAGES_MAX;
    server.rules.limits.mailboxes_max = 4;
    let mut clients = [0_u32; 4].map(|_| server.connect());
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some((which, frame)) = line.split_first() else {
            continue;
        };
        let Some(client) = clients.get_mut(usize::from(which % 4)) else {
            continue;
        };
        let lives = server.handle(*client, frame);
        let sent = server.take(*client);
        if lives {
            check(frame, &sent);
        } else {
            assert!(serde_json::from_slice::<serde_json::Map<_, _>>(frame).is_err());
            *client = server.connect();
        }
    }
    let (mailboxes, _) = server.shelf.counts();
    assert!(mailboxes <= 4);
}

fn check(frame: &[u8], sent: &[String]) {
    let Ok(command) = serde_json::from_slice::<Value>(frame) else {
        // Held letter for letter, but not as a value: refused without an ack.
        assert!(sent.iter().any(|text| text.contains(r#""type":"error""#)));
        return;
    };
    let replies = sent.iter().map(|text| serde_json::from_str::<Value>(text));
    let Ok(replies) = replies.collect::<Result<Vec<_>, _>>() else {
        panic!("every frame out is JSON");
    };
    for reply in &replies {
        assert!(reply["type"].is_string() && reply["server_tx"].is_number());
    }
    // Messages of others may have come before.
    let own = replies.iter().find(|reply| reply["type"] != "message");
    let own = own.map(|reply| (&reply["type"], &reply["id"]));
    let expected = if command.get("type").is_some() {
        ("ack", &command["id"])
    } else {
        ("error", &Value::Null)
    };
    assert_eq!(
        own.map(|(kind, id)| (kind.as_str(), id)),
        Some((Some(expected.0), expected.1))
    );
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let two = r#"0{"type":"bind","appid":"a","side":"x","id":"1"}
1{"type":"bind","appid":"a","side":"y","mailbox-abilities":["message-seqnum-v1"]}
0{"type":"allocate"}
0{"type":"claim","nameplate":"4"}
1{"type":"claim","nameplate":"4"}
0{"type":"open","mailbox":"m"}
1{"type":"open","mailbox":"m"}
0{"type":"add","phase":"pake","body":"00","seqnum":0}
1{"type":"message-ack","side":"x","seqnum":0}
0{"type":"add","phase":"pake","body":"00","seqnum":0}
1{"type":"delete","their-side":"x","their-phase":"pake"}
2{"type":"bind","appid":"a","side":"z"}
2{"type":"open","mailbox":"m"}
1{"type":"list"}
0{"type":"release"}
0{"type":"close","mood":"happy"}
1{"type":"close","mood":"scary"}
1{"type":"ping","ping":1e999}"#;
    let odd = [
        "0[]",
        "0{\"type\":\"ping\",\"ping\":\"\\ud800\"}",
        "0{\"type\":7}\n0{\"id\":1}\n0{}",
        "0{\"type\":\"bind\",\"appid\":\"a\",\"side\":\"s\",\"client_version\":[]}",
        "0{\"type\":\"message-ack\",\"seqnum\":-0,\"side\":\"\"}",
    ];
    let odd = odd.iter().map(|text| text.as_bytes().to_vec());
    odd.chain([two.as_bytes().to_vec()]).collect()
}
