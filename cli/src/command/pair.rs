//! `pair`: opens a pairing window, shows the invitation and lets one device in.
//!
//! The window closes when a device was accepted, when nobody came for as long as the app
//! keeps it open, and whenever this command ends.

use std::collections::BTreeSet;
use std::time::Duration;

use sealpost_engine::core::event::{Event, JoinRequest, JoinRequestId};
use sealpost_engine::core::status::{ConnectFailure, Connection};
use sealpost_protocol::invitation::Invitation;
use tokio::time::{Instant, sleep, sleep_until};

use crate::arguments::{Global, Pair};
use crate::device::Device;
use crate::explanation::{connect_failure, engine_error};
use crate::failure::{Exit, Failure};
use crate::interrupt::interrupted;
use crate::open_group::{Happening, LOOK_INTERVAL, OpenGroup, is_hopeless, trouble};
use crate::output::Output;
use crate::qr_code;
use crate::question::{Answer, Lines, Question};
use crate::report::Report;

/// How long an invitation is good for, as in the app.
const WINDOW_MINUTES: u64 = 10;
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
    lines: Option<Lines>,
    asked: Option<JoinRequest>,
    seen: BTreeSet<JoinRequestId>,
}

pub(super) async fn run(global: &Global, pair: &Pair, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let mut group = OpenGroup::find(&device, pair.group.group.as_deref()).await?;
    let outcome = invite(&mut group, pair, output).await;
    // It closes with this program anyhow; a failure here has nothing to add.
    let _ = group.engine.cancel_pairing().await;
    group.close().await;
    outcome
}

async fn invite(group: &mut OpenGroup, pair: &Pair, output: Output) -> Result<(), Failure> {
    let relay = group.engine.relay();
    if relay.is_none() {
        return Err(connect_failure(ConnectFailure::NoRelay));
    }
    group.receive()?;
    let token = group.engine.start_pairing().await.map_err(engine_error)?;
    let invitation = Invitation { relay, token };
    let link = invitation.to_link().unwrap_or_default();
    if !pair.no_qr {
        output.draw(&qr_code::draw(&link).unwrap_or_default())?;
    }
    output.say(&Report::Invitation {
        link,
        minutes: WINDOW_MINUTES,
    })?;
    let window = Window {
        group,
        output,
        accepts_all: pair.accept,
        lines: (!pair.accept).then(Lines::of_input),
        asked: None,
        seen: BTreeSet::new(),
    };
    window.answer_requests().await
}

impl Window<'_> {
    async fn answer_requests(mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + Duration::from_secs(WINDOW_MINUTES * 60);
        let end = interrupted();
        tokio::pin!(end);
        loop {
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
                ..
            } = &mut self;
            tokio::select! {
                happening = group.next() => self.look_at(happening)?,
                line = next_answer(lines, asked.is_some()) => {
                    if let Some(accepted) = self.understand(line).await? {
                        return self.accept(accepted).await;
                    }
                }
                () = sleep_until(deadline) => return Err(nobody_came()),
                () = &mut end => return Err(interrupted_here()),
            }
        }
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
            })?;
        }
        Ok(new)
    }

    fn look_at(&self, happening: Option<Happening>) -> Result<(), Failure> {
        let Some(Happening::Event(Event::ConnectionChanged(connection))) = happening else {
            return Ok(());
        };
        self.look_at_connection(connection)
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

    async fn accept(self, request: JoinRequest) -> Result<(), Failure> {
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
        format!("No device was let in within {WINDOW_MINUTES} minutes."),
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
