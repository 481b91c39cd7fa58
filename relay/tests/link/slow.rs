//! Whoever is slow ends in time and holds nobody up (specification 4.11).
//!
//! The times are configured short, and nothing here measures how long something took.

use std::time::Duration;

use sealpost_protocol::link::key::Direction;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Request, read_answer};
use crate::door::{Door, TOKEN, at, mailbox, token};

const SHORT: Duration = Duration::from_millis(50);

async fn connect(door: &Door) -> TcpStream {
    TcpStream::connect(("127.0.0.1", door.port)).await.unwrap()
}

/// However it ends, it ends.
async fn ends(mut stream: TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

#[tokio::test]
async fn whoever_says_nothing_or_half_a_header_is_let_go() {
    let door = Door::open_with(|web| web.limits.header_read = SHORT).await;
    for said in [
        "",
        "GET /v1/in",
        "GET /v1/info HTTP/1.1\r\nHost: relay.test\r\n",
    ] {
        let mut stream = connect(&door).await;
        stream.write_all(said.as_bytes()).await.unwrap();
        ends(stream).await;
    }
}

/// One byte now and then doesn't buy more time.
#[tokio::test]
async fn a_header_that_trickles_in_has_one_time_for_all_of_it() {
    let door = Door::open_with(|web| web.limits.header_read = 4 * SHORT).await;
    let mut stream = connect(&door).await;
    let mut end = [0; 1];
    loop {
        if stream.write_all(b"G").await.is_err() {
            return;
        }
        let heard = tokio::time::timeout(SHORT / 5, stream.read(&mut end)).await;
        if matches!(heard, Ok(Ok(0) | Err(_))) {
            return;
        }
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let door = Door::open_with(|web| web.limits.body_read = SHORT).await;
    // A commit may take longer than that on a busy disk; the relay's process waits.
    let mailboxes = door.relay.mailboxes();
    mailboxes.claim(&mailbox(), &token()).await.unwrap();
    let path = at(&["a2b", "1"]).0;
    let mut stream = connect(&door).await;
    let head = format!(
        "PUT {path} HTTP/1.1\r\nHost: relay.test\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Length: 1000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&[7; 500]).await.unwrap();
    ends(stream).await;
    let head = mailboxes.head(&mailbox(), &token(), Direction::AToB);
    assert_eq!(head.unwrap().last, None);
}

#[tokio::test]
async fn a_connection_stays_for_the_next_request_and_not_for_ever() {
    let door = Door::open_with(|web| {
        web.limits.idle = 4 * SHORT;
        web.limits.header_read = SHORT;
    })
    .await;
    let mut stream = connect(&door).await;
    let info = Request::new("GET", "/v1/info");
    assert_eq!(info.send_on(&mut stream).await.status, 200);
    // Longer than a header may take: the time between two requests is another one.
    tokio::time::sleep(2 * SHORT).await;
    assert_eq!(info.send_on(&mut stream).await.status, 200);
    ends(stream).await;
}

/// A connection that doesn't read its answers keeps neither a place nor the relay.
#[tokio::test]
async fn whoever_does_not_read_is_let_go_and_others_are_served_meanwhile() {
    let door = Door::open_with(|web| {
        web.limits.idle = 4 * SHORT;
        web.limits.body_read = 4 * SHORT;
        web.limits.connections_max = 1;
    })
    .await;
    door.claim().await;
    let mut deaf = connect(&door).await;
    for sequence in 1..=16 {
        let put = at(&["a2b", &sequence.to_string()])
            .put()
            .body(&vec![7; 65_536]);
        assert_eq!(put.send_on(&mut deaf).await.status, 201);
    }
    // Hundreds of pages of more than a megabyte, none of which is read.
    let get = at(&["a2b"]).get().head().repeat(100);
    let _ = tokio::time::timeout(SHORT, deaf.write_all(get.as_bytes())).await;
    // The only place comes free without a word of that connection.
    loop {
        let mut stream = connect(&door).await;
        let _ = stream
            .write_all(at(&["a2b"]).head().head().as_bytes())
            .await;
        if read_answer(&mut stream, true)
            .await
            .is_some_and(|answer| answer.status == 200)
        {
            break;
        }
        tokio::time::sleep(SHORT / 5).await;
    }
    drop(deaf);
}

/// The relay reads a page as fast as it is taken, and keeps none in memory: of one that isn't
/// read, the rest isn't there any more once it was pruned, and the answer is cut.
#[tokio::test]
async fn a_page_that_is_not_read_is_not_in_memory() {
    let door = Door::claimed().await;
    let mut last = 0;
    // Where a page happens to end just then, nothing is cut, and another try finds the next.
    for _ in 0..12 {
        for sequence in last + 1..=last + 16 {
            let put = at(&["a2b", &sequence.to_string()])
                .put()
                .body(&vec![7; 65_536]);
            assert_eq!(put.send(door.port).await.status, 201);
        }
        last += 16;
        if is_cut_by_pruning(&door, last).await {
            return;
        }
    }
    panic!("every page was whole, so all of it was in memory");
}

/// Asks for more pages than the system's buffers hold, prunes what is in them before they are
/// read, and says whether one was announced and not sent to its end.
async fn is_cut_by_pruning(door: &Door, last: u64) -> bool {
    const PAGES: usize = 20;
    let mut slow = connect(door).await;
    let get = at(&["a2b"]).get().head();
    slow.write_all(get.repeat(PAGES).as_bytes()).await.unwrap();
    until_nothing_more_comes(&mut slow).await;
    let prune = format!("a2b?through={last}");
    let pruned = at(&[&prune]).delete().send(door.port).await;
    assert_eq!(pruned.status, 204);
    for _ in 0..PAGES {
        match read_answer(&mut slow, false).await {
            Some(answer) => assert_eq!(answer.status, 200),
            None => return true,
        }
    }
    false
}

/// Waits until the system's buffers are full. Nothing is taken out of them.
async fn until_nothing_more_comes(stream: &mut TcpStream) {
    let mut waiting = vec![0; 1 << 24];
    let (mut before, mut repeats) = (0, 0);
    while repeats < 4 {
        tokio::time::sleep(SHORT / 2).await;
        let bytes = stream.peek(&mut waiting).await.unwrap();
        repeats = if bytes == before { repeats + 1 } else { 0 };
        before = bytes;
    }
}

#[tokio::test]
async fn slow_bodies_of_many_hold_up_nobody_else() {
    let door = Door::claimed().await;
    let path = |sequence: usize| at(&["b2a", &sequence.to_string()]).0;
    let mut slow = Vec::new();
    for sequence in 1..=60 {
        let mut stream = connect(&door).await;
        let head = format!(
            "PUT {} HTTP/1.1\r\nHost: relay.test\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Length: 60000\r\n\r\n",
            path(sequence)
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&[7; 59_999]).await.unwrap();
        slow.push(stream);
    }
    for sequence in 1..=5 {
        assert_eq!(door.store("a2b", sequence).await.status, 201);
    }
    for (number, stream) in slow.iter_mut().enumerate() {
        stream.write_all(&[7]).await.unwrap();
        let answer = read_answer(stream, false).await.unwrap();
        assert_eq!(answer.status, 201, "{number}");
    }
}

#[tokio::test]
async fn a_header_block_has_a_size() {
    let door = Door::open().await;
    let mut stream = connect(&door).await;
    let head = format!(
        "GET /v1/info HTTP/1.1\r\nHost: relay.test\r\nX: {}\r\n\r\n",
        "x".repeat(20_000)
    );
    let _ = stream.write_all(head.as_bytes()).await;
    // Hyper's own answer, or the end.
    let answer = read_answer(&mut stream, false).await;
    assert!(answer.is_none_or(|answer| answer.status == 431));
    let within = Request::new("GET", "/v1/info").header("X", &"x".repeat(12_000));
    assert_eq!(within.send(door.port).await.status, 200);
}
