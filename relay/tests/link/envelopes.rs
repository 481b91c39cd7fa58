//! Bodies: their lengths, how they come, and that a 201 means the disk.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::client::{Request, read_answer};
use crate::door::{Door, OTHER_TOKEN, TOKEN, at, envelope};

#[tokio::test]
async fn the_shortest_and_the_longest_envelope_come_back_as_they_were() {
    let door = Door::claimed().await;
    for (sequence, bytes) in [(1, 306), (2, 65_536)] {
        let put = at(&["a2b", &sequence.to_string()])
            .put()
            .body(&vec![0xfb; bytes]);
        assert_eq!(put.send(door.port).await.status, 201);
    }
    let page = at(&["a2b"]).get().send(door.port).await.json();
    let data = |place: usize| {
        page["envelopes"][place]["data"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(data(0), "-_v7".repeat(102));
    assert_eq!(data(1).len(), 87_382);
    assert!(data(1).starts_with("-_v7-_v7"));
}

#[tokio::test]
async fn lengths_outside_of_the_bounds_store_nothing() {
    let door = Door::claimed().await;
    for (bytes, expected) in [
        (0, (400, "bad_envelope")),
        (305, (400, "bad_envelope")),
        (65_537, (413, "envelope_too_large")),
        (200_000, (413, "envelope_too_large")),
    ] {
        let put = at(&["a2b", "1"]).put().body(&vec![7; bytes]);
        assert_eq!(put.send(door.port).await.said(), expected, "{bytes}");
    }
    assert_eq!(door.head("a2b").await.header("x-relay-last"), None);
}

/// A length that is too large is refused without the body; a body without a length as soon as
/// it has grown too large.
/// A body that is on its way when its request is refused is read to its end, so that the answer
/// arrives and the connection goes on.
#[tokio::test]
async fn whoever_is_refused_in_the_middle_of_a_body_hears_why_and_may_go_on() {
    let one = sealpost_relay::Rate {
        count: 1,
        period: std::time::Duration::from_secs(60),
        burst: 1,
    };
    let door = Door::open_with(|web| web.limits.put_rate = one).await;
    let path = at(&["a2b", "1"]).0;
    let mut stream = TcpStream::connect(("127.0.0.1", door.port)).await.unwrap();
    let start = |token: &str| {
        format!(
            "PUT {path} HTTP/1.1\r\nHost: relay.test\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: 60000\r\n\r\n"
        )
    };
    let refusals = [
        (TOKEN, 404, "no_mailbox"),
        (OTHER_TOKEN, 403, "wrong_token"),
        ("short", 401, "unauthorized"),
        (TOKEN, 429, "rate_limited"),
    ];
    for (token, status, word) in refusals {
        if status == 403 {
            door.claim().await;
            assert_eq!(door.store("a2b", 9).await.status, 201);
        }
        stream.write_all(start(token).as_bytes()).await.unwrap();
        stream.write_all(&[7; 30_000]).await.unwrap();
        let answer = read_answer(&mut stream, false).await.unwrap();
        assert_eq!(answer.said(), (status, word));
        stream.write_all(&[7; 30_000]).await.unwrap();
    }
    let head = at(&["a2b"]).head().send_on(&mut stream).await;
    assert_eq!(
        head.number("x-relay-last"),
        Some(9),
        "on the same connection"
    );
}

#[tokio::test]
async fn nobody_has_to_send_what_is_too_large_to_be_told_so() {
    let door = Door::claimed().await;
    let path = at(&["a2b", "1"]).0;
    let start =
        format!("PUT {path} HTTP/1.1\r\nHost: relay.test\r\nAuthorization: Bearer {TOKEN}\r\n");
    let mut stream = TcpStream::connect(("127.0.0.1", door.port)).await.unwrap();
    let head = format!("{start}Content-Length: 1000000000\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = read_answer(&mut stream, false).await.unwrap();
    assert_eq!(answer.said(), (413, "envelope_too_large"));

    let mut stream = TcpStream::connect(("127.0.0.1", door.port)).await.unwrap();
    let head = format!("{start}Transfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("8000\r\n{}\r\n", "x".repeat(0x8000));
    for _ in 0..2 {
        stream.write_all(chunk.as_bytes()).await.unwrap();
    }
    stream.write_all(b"1\r\nx\r\n").await.unwrap();
    let answer = read_answer(&mut stream, false).await.unwrap();
    assert_eq!(answer.said(), (413, "envelope_too_large"));
}

#[tokio::test]
async fn a_body_in_chunks_is_a_body() {
    let door = Door::claimed().await;
    let mut stream = TcpStream::connect(("127.0.0.1", door.port)).await.unwrap();
    let path = at(&["a2b", "1"]).0;
    let head = format!(
        "PUT {path} HTTP/1.1\r\nHost: relay.test\r\nAuthorization: Bearer {TOKEN}\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    for part in envelope(1).chunks(100) {
        let size = format!("{:x}\r\n", part.len());
        stream.write_all(size.as_bytes()).await.unwrap();
        stream.write_all(part).await.unwrap();
        stream.write_all(b"\r\n").await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    assert_eq!(read_answer(&mut stream, false).await.unwrap().status, 201);
    assert_eq!(door.store("a2b", 1).await.status, 204, "the same bytes");
}

/// The program, with its web port.
struct Program {
    child: Child,
    port: u16,
}

impl Program {
    fn start(folder: &std::path::Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealpost-relay"));
        command.current_dir(folder).env_clear().env("HOME", folder);
        command.args(["run", "--data-dir", "data", "--listen-health", "off"]);
        for option in ["--listen-receive", "--listen-push", "--listen-web"] {
            command.args([option, "127.0.0.1:0"]);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            let port = line.contains("Web port:").then(|| line.rsplit(' ').next());
            port.flatten().map(|port| port.parse().unwrap())
        });
        // It may go on printing.
        std::thread::spawn(move || lines.for_each(drop));
        let port = port.unwrap();
        Self { child, port }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Killed at once after the answer, as often as that costs nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_envelope_that_was_answered_is_lost_when_the_relay_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::start(folder.path());
    let claimed = at(&[]).put().send(program.port).await;
    assert_eq!(claimed.status, 201);
    for round in 0..4_u64 {
        let mut answered = Vec::new();
        let (sender, mut answers) = tokio::sync::mpsc::unbounded_channel();
        for direction in ["a2b", "b2a"] {
            let (sender, port) = (sender.clone(), program.port);
            tokio::spawn(async move {
                for sequence in round * 15 + 1..=round * 15 + 15 {
                    let put = at(&[direction, &sequence.to_string()]).put();
                    let put = put.body(&envelope(sequence));
                    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)).await else {
                        return;
                    };
                    let _ = stream.write_all(put.head().as_bytes()).await;
                    let _ = stream.write_all(&envelope(sequence)).await;
                    match read_answer(&mut stream, false).await {
                        Some(answer) => assert_eq!(answer.status, 201),
                        None => return,
                    }
                    let _ = sender.send((direction, sequence));
                }
            });
        }
        drop(sender);
        while answered.len() < 20
            && let Some(one) = answers.recv().await
        {
            answered.push(one);
        }
        program.child.kill().unwrap();
        program.child.wait().unwrap();
        while let Some(one) = answers.recv().await {
            answered.push(one);
        }
        drop(program);
        program = Program::start(folder.path());
        for (direction, sequence) in answered {
            let again = at(&[direction, &sequence.to_string()]).put();
            let again = again.body(&envelope(sequence)).send(program.port).await;
            assert_eq!(again.status, 204, "{direction} {sequence}");
        }
        let head = at(&["a2b"]).head().send(program.port).await;
        assert!(head.number("x-relay-count").is_some());
    }
    let _ = Request::new("GET", "/v1/info").send(program.port).await;
}
