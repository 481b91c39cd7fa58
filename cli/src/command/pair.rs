//! `pair`: opens a pairing window, shows the invitation and lets one device in.
//!
//! The window closes when a device was accepted, when nobody came for as long as the app
//! keeps it open, when `pair --cancel` says so, and whenever this command ends.

use std::collections::BTreeSet;
use std::time::Duration;

use sealpost_engine::clock::{Clock as _, SystemClock};
use sealpost_engine::core::event::{Event, JoinRequest, JoinRequestId, PairingWindow};
use sealpost_engine::core::status::{ConnectFailure, Connection};
use sealpost_engine::core::wormhole::WormholeEnd;
use sealpost_protocol::invitation::Invitation;
use tokio::time::{Instant, sleep};

use super::typed_code::HandOver;
use crate::arguments::{Global, Pair};
use crate::device::Device;
use crate::explanation::{connect_failure, engine_error};
use crate::failure::{Exit, Failure};
use crate::interrupt::interrupted;
use crate::open_group::{Happening, LOOK_INTERVAL, OpenGroup, is_hopeless, trouble};
use crate::open_invitation::{self, OpenInvitation};
use crate::output::Output;
use crate::qr_code;
use crate::question::{Answer, Lines, Question};
use crate::report::Report;

/// How long the admission may take to reach a relay that answers.
const PATIENCE: Duration = Duration::from_secs(10);

const ACCEPT: Question = Question {
    code: "accept",
    text: "Does the other device show the same four words?",
    yes: "yes",
    no: "no",
};

/// A window that is open, and the request that the person is asked about.
struct Window<'a> {
    group: &'a mut OpenGroup,
    output: Output,
    accepts_all: bool,
    good_for_ms: u64,
    mark: OpenInvitation,
    lines: Option<Lines>,
    asked: Option<JoinRequest>,
    seen: BTreeSet<JoinRequestId>,
    code: Option<HandOver>,
}

pub(super) async fn run(global: &Global, pair: &Pair, output: Output) -> Result<(), Failure> {
    if pair.cancel {
        open_invitation::withdraw(global).await?;
        return output.say(&Report::InvitationCancelled);
    }
    let device = Device::open(global)?;
    let mut group = OpenGroup::find(&device, pair.group.group.as_deref()).await?;
    let outcome = match OpenInvitation::mark(device.folder()) {
        Ok(mark) => invite(&mut group, mark, pair, output).await,
        Err(failure) => Err(failure),
    };
    // It closes with this program anyhow; a failure here has nothing to add.
    let _ = group.engine.cancel_pairing().await;
    group.close().await;
    outcome
}

async fn invite(
    group: &mut OpenGroup,
    mark: OpenInvitation,
    pair: &Pair,
    output: Output,
) -> Result<(), Failure> {
    let Some(relay) = group.engine.relay() else {
        return Err(connect_failure(ConnectFailure::NoRelay));
    };
    group.receive()?;
    let token = group.engine.start_pairing().await.map_err(engine_error)?;
    let invitation = Invitation {
        relay: Some(relay.clone()),
        token,
    };
    let link = invitation.to_link().unwrap_or_default();
    let code = pair
        .code
        .then(|| HandOver::begin(&relay, pair.web.as_deref(), &link, output));
    let code = code.transpose()?;
    if !pair.no_qr {
        output.draw(&qr_code::draw(&link).unwrap_or_default())?;
    }
    output.say(&Report::Invitation {
        link,
        minutes: pair.good_for.div_ceil(60),
        seconds: pair.good_for,
    })?;
    let window = Window {
        group,
        output,
        accepts_all: pair.accept,
        good_for_ms: pair.good_for.saturating_mul(1_000),
        mark,
        lines: (!pair.accept).then(Lines::of_input),
        asked: None,
        seen: BTreeSet::new(),
        code,
    };
    window.run().await
}

impl Window<'_> {
    async fn run(mut self) -> Result<(), Failure> {
        let outcome = self.answer_requests().await;
        if let Some(code) = &mut self.code {
            code.leave(WormholeEnd::Cancelled).await;
        }
        outcome
    }

    async fn answer_requests(&mut self) -> Result<(), Failure> {
        let end = interrupted();
        tokio::pin!(end);
        loop {
            self.check_open()?;
            if let Some(request) = self.next_request()? {
                if self.accepts_all {
                    return self.accept(request).await;
                }
                self.asked = Some(request);
                self.output.ask(&ACCEPT)?;
            }
            let Self {
                group,
                lines,
                asked,
                code,
                ..
            } = self;
            tokio::select! {
                happening = group.next() => self.look_at(happening)?,
                line = next_answer(lines, asked.is_some()) => {
                    if let Some(accepted) = self.understand(line).await? {
                        return self.accept(accepted).await;
                    }
                }
                handed = hand_over(code) => handed?,
                () = sleep(open_invitation::LOOK_INTERVAL) => {}
                () = &mut end => return Err(interrupted_here()),
            }
        }
    }

    /// Fails when the window has to close: its time is over by the time of day, which goes on
    /// while the computer sleeps, or somebody cancelled it.
    fn check_open(&self) -> Result<(), Failure> {
        if self.mark.is_withdrawn() {
            return Err(withdrawn());
        }
        let window = self.group.engine.pairing().window;
        let now_ms = SystemClock.now_ms();
        let is_over = |window: PairingWindow| is_over(&window, self.good_for_ms, now_ms);
        if window.is_none_or(is_over) {
            return Err(nobody_came());
        }
        Ok(())
    }

    /// A request that nobody was told of yet, unless a question is still open.
    fn next_request(&mut self) -> Result<Option<JoinRequest>, Failure> {
        if self.asked.is_some() {
            return Ok(None);
        }
        let window = self.group.engine.pairing().window;
        let requests = window.map(|window| window.requests).unwrap_or_default();
        let new = requests
            .into_iter()
            .find(|request| self.seen.insert(request.id));
        if let Some(request) = &new {
            self.output.say(&Report::JoinRequest {
                name: request.name.as_str().to_owned(),
                words: request.words.clone(),
                looks_like: request.looks_like.as_ref().map(|of| of.as_str().to_owned()),
            })?;
        }
        Ok(new)
    }

    fn look_at(&self, happening: Option<Happening>) -> Result<(), Failure> {
        match happening {
            Some(Happening::Event(Event::ConnectionChanged(connection))) => {
                self.look_at_connection(connection)
            }
            Some(Happening::Event(event)) => say_of_pairing(&event, self.output),
            _ => Ok(()),
        }
    }

    fn look_at_connection(&self, connection: Connection) -> Result<(), Failure> {
        match trouble(connection) {
            Some(failure) if is_hopeless(connection) => Err(failure),
            Some(failure) => {
                self.output
                    .note(failure.code, &format!("{} {}", failure.what, failure.why));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Takes an answer to the open question; the request when it was a yes.
    async fn understand(&mut self, line: Option<String>) -> Result<Option<JoinRequest>, Failure> {
        let Some(line) = line else {
            return Err(no_answer());
        };
        let Some(request) = self.asked.take() else {
            return Ok(None);
        };
        match ACCEPT.understand(&line) {
            Answer::Yes => Ok(Some(request)),
            Answer::No => {
                self.group
                    .engine
                    .dismiss(request.id)
                    .await
                    .map_err(engine_error)?;
                let name = request.name.as_str().to_owned();
                self.output.say(&Report::Dismissed { name })?;
                Ok(None)
            }
            Answer::Unclear => {
                self.asked = Some(request);
                self.output.ask(&ACCEPT)?;
                Ok(None)
            }
        }
    }

    async fn accept(&self, request: JoinRequest) -> Result<(), Failure> {
        self.group
            .engine
            .accept(request.id)
            .await
            .map_err(engine_error)?;
        let delivered = push_out(self.group).await;
        let name = request.name.as_str().to_owned();
        self.output.say(&Report::Accepted { name, delivered })
    }
}

/// Goes on with handing the invitation over by a code, if there is one.
async fn hand_over(code: &mut Option<HandOver>) -> Result<(), Failure> {
    match code {
        Some(code) => code.go_on().await,
        None => std::future::pending().await,
    }
}

/// Whether a window has to close: after ten minutes, or earlier if it was to be.
fn is_over(window: &PairingWindow, good_for_ms: u64, now_ms: u64) -> bool {
    window.is_over(now_ms) || now_ms >= window.opened_at_ms.saturating_add(good_for_ms)
}

/// Tells what an event says of devices that are not let in after all.
pub(super) fn say_of_pairing(event: &Event, output: Output) -> Result<(), Failure> {
    match event {
        Event::StaleRequest { name, spent } => output.say(&Report::StaleRequest {
            name: name.as_str().to_owned(),
            reason: spent.code(),
        }),
        Event::AdmissionDropped { name, reason } => output.say(&Report::AdmissionDropped {
            name: name.as_str().to_owned(),
            reason: reason.code(),
        }),
        _ => Ok(()),
    }
}

/// Waits until nothing waits for the relay any more; false when that takes too long.
pub(super) async fn push_out(group: &OpenGroup) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while group
        .engine
        .outbox_copies()
        .await
        .is_ok_and(|copies| copies > 0)
    {
        if Instant::now() >= deadline || group.engine.push_failure().is_some() {
            return false;
        }
        sleep(LOOK_INTERVAL).await;
    }
    true
}

/// The next typed line, while a question is open.
pub(super) async fn next_answer(lines: &mut Option<Lines>, is_open: bool) -> Option<String> {
    match lines {
        Some(lines) if is_open => lines.next().await,
        _ => std::future::pending().await,
    }
}

/// The input ended before the question was answered.
pub(super) fn no_answer() -> Failure {
    Failure::new(
        "no-answer",
        Exit::Refused,
        "Nobody answered the question.",
        "The input has ended.",
        "Run this in a terminal and compare the four words with the other screen.",
    )
}

fn nobody_came() -> Failure {
    Failure::new(
        "invitation-expired",
        Exit::InVain,
        "The invitation is no longer good.",
        "No device was let in while it was open.",
        "Run `sealpost pair` again for a new one. A device that has asked with this one waits \
         in vain, and needs the new one, too.",
    )
}

fn withdrawn() -> Failure {
    Failure::new(
        "pairing-cancelled",
        Exit::Interrupted,
        "The invitation is cancelled.",
        "`sealpost pair --cancel` was run.",
        "Run `sealpost pair` again for a new one.",
    )
}

fn interrupted_here() -> Failure {
    Failure::new(
        "pairing-cancelled",
        Exit::Interrupted,
        "The invitation is cancelled.",
        "This command was interrupted.",
        "Run `sealpost pair` again for a new one.",
    )
}

#[cfg(test)]
mod tests {
    use sealpost_engine::core::timing::PAIRING_WINDOW_MS;
    use sealpost_protocol::invitation::Invitation;

    use super::*;

    const TOKEN: &str = "tsp1_e06Qm75__kTEZaIgA31gjuNYl9Me-XLwf3SJLLD3PxOgmqX0emdZgC_5VfjcLSoU\
                         pcmdI76X-GQSf_k4NFWk8Lu7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7Y2K1ZA";

    #[test]
    fn a_window_closes_after_ten_minutes_or_when_it_was_to() {
        let opened_at_ms = 1_790_812_800_000;
        let window = PairingWindow {
            token: Invitation::parse(TOKEN).unwrap().token,
            opened_at_ms,
            requests: Vec::new(),
        };
        let closes = |good_for_ms: u64, after_ms: u64| {
            is_over(&window, good_for_ms, opened_at_ms + after_ms)
        };
        assert!(!closes(PAIRING_WINDOW_MS, PAIRING_WINDOW_MS - 1));
        assert!(closes(PAIRING_WINDOW_MS, PAIRING_WINDOW_MS));
        assert!(!closes(20_000, 19_999));
        assert!(closes(20_000, 20_000));
        // Never longer than ten minutes, whatever was asked for.
        assert!(closes(u64::MAX, PAIRING_WINDOW_MS));
    }
}
