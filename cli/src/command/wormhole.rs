//! `wormhole`: hands a text over by a code, to or from every magic-wormhole client.
//!
//! Needs no profile and stores nothing: a text that was received is printed, and only then is
//! the other side told that it has arrived.

use std::sync::Arc;
use std::time::Duration;

use sealpost_engine::clock::SystemClock;
use sealpost_engine::core::wormhole::{Start, WormholeEnd, WormholeEvent};
use sealpost_engine::link::RelayUrl;
use sealpost_engine::wormhole::{Meeting, MeetingEvent};
use sealpost_protocol::wormhole::body::Transfer;
use sealpost_protocol::wormhole::{Application, WormholeCode};
use zeroize::Zeroizing;

use super::send;
use crate::arguments::{AtServer, WormholeCommand, WormholeReceive, WormholeSend};
use crate::explanation::{
    link_failure, relay_url_error, wormhole_code_error, wormhole_end, wormhole_no_text,
    wormhole_refused_by_peer, wormhole_send_error,
};
use crate::failure::Failure;
use crate::interrupt::interrupted;
use crate::output::Output;
use crate::report::{Report, WormholeReport};

/// What the other side is told when it offers something else than a text.
const TEXTS_ONLY: &str = "only texts are received here";

pub(super) async fn run(command: &WormholeCommand, output: Output) -> Result<(), Failure> {
    match command {
        WormholeCommand::Send(send) => self::send(send, output).await,
        WormholeCommand::Receive(receive) => self::receive(receive, output).await,
    }
}

async fn send(send: &WormholeSend, output: Output) -> Result<(), Failure> {
    let text = Zeroizing::new(send::text(&send.text)?);
    let offer = Transfer::Offer(text);
    let mut meeting = begin(&send.server, Start::Allocate)?;
    let outcome = offer_until_received(&mut meeting, &offer, output).await;
    leave(meeting, outcome).await
}

async fn offer_until_received(
    meeting: &mut Meeting,
    offer: &Transfer,
    output: Output,
) -> Result<(), Failure> {
    let end = interrupted();
    tokio::pin!(end);
    loop {
        let event = tokio::select! {
            event = next(meeting, output) => event?,
            () = &mut end => return Err(wormhole_end(WormholeEnd::Cancelled)),
        };
        match event {
            WormholeEvent::Code(code) => {
                let code = code.to_text().to_string();
                say(output, WormholeReport::WormholeCode { code })?;
            }
            WormholeEvent::Confirmed => {
                say(output, WormholeReport::WormholeConfirmed)?;
                let sent = meeting.send(offer.encode()).await;
                sent.map_err(wormhole_send_error)?;
            }
            WormholeEvent::Arrived { plaintext, .. } => match Transfer::decode(&plaintext) {
                Some(Transfer::Received) => {
                    return say(output, WormholeReport::WormholeReceived);
                }
                Some(Transfer::Refused(_)) => return Err(wormhole_refused_by_peer()),
                _ => {}
            },
            _ => {}
        }
    }
}

async fn receive(receive: &WormholeReceive, output: Output) -> Result<(), Failure> {
    let code = read_code(&receive.code, output)?;
    let mut meeting = begin(&receive.server, Start::Code(code))?;
    let outcome = wait_for_text(&mut meeting, output).await;
    leave(meeting, outcome).await
}

/// A code of another client is taken as it is; one with blanks in it can only be of our words.
fn read_code(typed: &str, output: Output) -> Result<WormholeCode, Failure> {
    if let Ok(code) = WormholeCode::parse(typed) {
        return Ok(code);
    }
    typed_code(typed, output)
}

/// Reads a code of our words, and says so when it had to be put right.
pub(super) fn typed_code(typed: &str, output: Output) -> Result<WormholeCode, Failure> {
    let read = WormholeCode::read_typed(typed);
    let typed = read.map_err(|error| wormhole_code_error(&error))?;
    if !typed.corrected.is_empty() {
        let code = typed.code.to_text().to_string();
        say(output, WormholeReport::CodeCorrected { code })?;
    }
    Ok(typed.code)
}

async fn wait_for_text(meeting: &mut Meeting, output: Output) -> Result<(), Failure> {
    let end = interrupted();
    tokio::pin!(end);
    loop {
        let event = tokio::select! {
            event = next(meeting, output) => event?,
            () = &mut end => return Err(wormhole_end(WormholeEnd::Cancelled)),
        };
        let WormholeEvent::Arrived { plaintext, .. } = event else {
            continue;
        };
        match Transfer::decode(&plaintext) {
            Some(Transfer::Offer(text)) => {
                let text = text.to_string();
                say(output, WormholeReport::WormholeText { text })?;
                return answer(meeting, &Transfer::Received).await;
            }
            Some(Transfer::OfferOfFiles) => {
                answer(meeting, &Transfer::Refused(TEXTS_ONLY.to_owned())).await?;
                return Err(wormhole_no_text());
            }
            Some(Transfer::Refused(_)) => return Err(wormhole_refused_by_peer()),
            _ => {}
        }
    }
}

async fn answer(meeting: &Meeting, answer: &Transfer) -> Result<(), Failure> {
    let sent = meeting.send(answer.encode()).await;
    sent.map(|_| ()).map_err(wormhole_send_error)
}

fn begin(server: &AtServer, start: Start) -> Result<Meeting, Failure> {
    let url = RelayUrl::parse(&server.relay).map_err(relay_url_error)?;
    let life = server.wait.map(|s| Duration::from_secs(s.into()));
    let life_ms = life.map(|life| u64::try_from(life.as_millis()).unwrap_or(u64::MAX));
    let clock = Arc::new(SystemClock);
    let app = Application::Transfer;
    Ok(Meeting::begin(url, app, start, life_ms, clock))
}

/// The next event that isn't an end; an end is a failure here.
pub(super) async fn next(meeting: &mut Meeting, output: Output) -> Result<WormholeEvent, Failure> {
    loop {
        match meeting.next().await {
            Some(MeetingEvent::Said(WormholeEvent::Ended(end))) => return Err(wormhole_end(end)),
            Some(MeetingEvent::Said(event)) => return Ok(event),
            Some(MeetingEvent::Unreached(failure)) => {
                let failure = link_failure(failure);
                output.note(failure.code, &format!("{} {}", failure.what, failure.why));
            }
            None => return Err(wormhole_end(WormholeEnd::Done)),
        }
    }
}

/// Leaves the mailbox, in the mood that fits.
pub(super) async fn leave<T>(meeting: Meeting, outcome: Result<T, Failure>) -> Result<T, Failure> {
    let end = if outcome.is_ok() {
        WormholeEnd::Done
    } else {
        WormholeEnd::Cancelled
    };
    meeting.close(end).await;
    outcome
}

pub(super) fn say(output: Output, report: WormholeReport) -> Result<(), Failure> {
    output.say(&Report::Wormhole(report))
}
