//! A typed code on its way to an invitation: handed over by `pair --code`, taken by `join`.
//!
//! The invitation travels inside a wormhole; what follows is the usual request with its four
//! words. One wrong guess spends the code, and both sides say so.

use std::sync::Arc;

use sealpost_engine::clock::SystemClock;
use sealpost_engine::core::wormhole::{Start, WormholeEnd, WormholeEvent, timing};
use sealpost_engine::link::RelayUrl;
use sealpost_engine::wormhole::Meeting;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::limit::WEB_PORT;
use sealpost_protocol::wormhole::Application;
use sealpost_protocol::wormhole::body::Invite;
use zeroize::Zeroizing;

use super::wormhole::{leave, next, say, typed_code};
use crate::explanation::{relay_url_error, wormhole_end, wormhole_send_error};
use crate::failure::{Exit, Failure};
use crate::interrupt::interrupted;
use crate::output::Output;
use crate::report::WormholeReport;

/// A code that stands for the open invitation.
pub(super) struct HandOver {
    meeting: Option<Meeting>,
    invitation: Zeroizing<String>,
    output: Output,
}

impl HandOver {
    /// Asks for a code, at the relay's own web door unless another one is named.
    pub(super) fn begin(
        relay: &RelayAddress,
        web: Option<&str>,
        link: &str,
        output: Output,
    ) -> Result<Self, Failure> {
        let url = match web {
            Some(web) => RelayUrl::parse(web),
            None => RelayUrl::parse(&web_door(relay)),
        };
        let url = url.map_err(relay_url_error)?;
        Ok(Self {
            meeting: Some(meet(url, Start::Allocate)),
            invitation: Zeroizing::new(link.to_owned()),
            output,
        })
    }

    /// Goes on with the hand-over, for as long as there is something to do. Fails when the code
    /// is spent before the invitation was handed over.
    pub(super) async fn go_on(&mut self) -> Result<(), Failure> {
        let Some(meeting) = &mut self.meeting else {
            return std::future::pending().await;
        };
        match next(meeting, self.output).await? {
            WormholeEvent::Code(code) => {
                let code = code.to_text().to_string();
                say(self.output, WormholeReport::WormholeCode { code })
            }
            WormholeEvent::Confirmed => {
                let invitation = Invite::Invitation(self.invitation.clone());
                let sent = meeting.send(invitation.encode()).await;
                sent.map(|_| ()).map_err(wormhole_send_error)
            }
            WormholeEvent::Arrived { plaintext, .. } => match Invite::decode(&plaintext) {
                Invite::Received => {
                    self.leave(WormholeEnd::Done).await;
                    say(self.output, WormholeReport::CodeUsed)
                }
                Invite::Unusable => Err(unusable_there()),
                Invite::Invitation(_) | Invite::Other => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Leaves the mailbox, if that isn't done yet.
    pub(super) async fn leave(&mut self, end: WormholeEnd) {
        if let Some(meeting) = self.meeting.take() {
            meeting.close(end).await;
        }
    }
}

/// Whether a text is a typed code, and not an invitation or its token.
pub(super) fn is_typed_code(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|first: char| first.is_ascii_digit()) && !text.contains(['#', '@', ':'])
}

/// Exchanges a typed code for the invitation that it stands for.
pub(super) async fn take(
    typed: &str,
    web: Option<&str>,
    output: Output,
) -> Result<Zeroizing<String>, Failure> {
    let code = typed_code(typed, output)?;
    let url = RelayUrl::parse(web.ok_or_else(web_needed)?).map_err(relay_url_error)?;
    let mut meeting = meet(url, Start::Code(code));
    let outcome = wait_for_invitation(&mut meeting, output).await;
    leave(meeting, outcome).await
}

async fn wait_for_invitation(
    meeting: &mut Meeting,
    output: Output,
) -> Result<Zeroizing<String>, Failure> {
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
        if let Invite::Invitation(text) = Invite::decode(&plaintext) {
            let sent = meeting.send(Invite::Received.encode()).await;
            sent.map_err(wormhole_send_error)?;
            return Ok(text);
        }
    }
}

fn meet(url: RelayUrl, start: Start) -> Meeting {
    let life_ms = Some(timing::CODE_LIFE_MS);
    let clock = Arc::new(SystemClock);
    Meeting::begin(url, Application::Invitation, start, life_ms, clock)
}

fn web_door(relay: &RelayAddress) -> String {
    let host = relay.host();
    if host.contains(':') {
        format!("http://[{host}]:{WEB_PORT}")
    } else {
        format!("http://{host}:{WEB_PORT}")
    }
}

fn web_needed() -> Failure {
    Failure::new(
        "web-needed",
        Exit::Input,
        "It isn't known which relay the code is for.",
        "A typed code names none.",
        "Give the relay's web door with --web, as in http://HOST:7703. The code was not tried, \
         and is still good.",
    )
}

fn unusable_there() -> Failure {
    Failure::new(
        "code-unusable",
        Exit::Refused,
        "The other device can't use the invitation.",
        "It said so.",
        "Update whichever of the two programs is older, and begin again with a new code.",
    )
}

#[cfg(test)]
mod tests {
    use super::is_typed_code;

    #[test]
    fn a_typed_code_is_told_from_an_invitation() {
        for code in ["7-velvet-cottage-abbey", " 7 velvet cottage abbey", "12"] {
            assert!(is_typed_code(code), "{code}");
        }
        for other in [
            "",
            "tsp1_abc",
            "sealpost://k@host#tsp1_abc",
            "7k@host:7700#t",
        ] {
            assert!(!is_typed_code(other), "{other}");
        }
    }
}
