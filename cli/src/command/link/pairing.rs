//! `link new` and `link join`: from a code to a link.
//!
//! Nothing is connected before the person has seen which relay that is. The pairing ends with
//! the command, whatever ends that, unless both sides have confirmed.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use sealpost_engine::clock::{Clock as _, SystemClock};
use sealpost_engine::core::link::pairing::PairingPhase;
use sealpost_engine::link::{
    LinkEnd, LinkInfo, LinkName, LinkPlace, LinkProgress, LinkState, LinkTrouble, PairingInfo,
    PairingOptions, RelayUrl,
};
use sealpost_protocol::link::code::PairingCode;
use tokio::time::{Instant, sleep};

use super::{ask, say};
use crate::arguments::{LinkJoin, LinkNew};
use crate::device::Device;
use crate::explanation::{
    code_error, link_ended, link_failure, links_error, pairing_failure, relay_url_error,
};
use crate::failure::{Exit, Failure};
use crate::interrupt::interrupted;
use crate::open_group::LOOK_INTERVAL;
use crate::open_links::{OpenLinks, called};
use crate::output::Output;
use crate::qr_code;
use crate::question::{Answer, Lines, Question};
use crate::report::LinkReport;

/// How often the countdown moves.
const TICK: Duration = Duration::from_secs(1);

/// How long the first words of a new link may take to reach its relay.
const PATIENCE: Duration = Duration::from_secs(10);

const RELAY: Question = Question {
    code: "relay",
    text: "Connect to this relay?",
    yes: "yes",
    no: "no",
};
const DIGITS: Question = Question {
    code: "digits",
    text: "Does the other device show the same six digits?",
    yes: "yes",
    no: "no",
};

/// A pairing while its command runs.
struct Pairing<'a> {
    links: &'a mut OpenLinks,
    name: LinkName,
    output: Output,
    takes_all: bool,
    draws: bool,
    lines: Option<Lines>,
    /// The phase that was told last.
    told: Option<PairingPhase>,
    is_code_told: bool,
    is_asking: bool,
    has_countdown: bool,
}

/// Shows a code.
pub(super) async fn show(
    links: &mut OpenLinks,
    device: &Device,
    new: &LinkNew,
    output: Output,
) -> Result<(), Failure> {
    let relay = RelayUrl::parse(&new.relay).map_err(relay_url_error)?;
    let options = PairingOptions {
        place: LinkPlace::At(relay.clone()),
        shown_url: relay,
        my_name: device.name(),
    };
    let started = links.links.start_pairing(options).await;
    let name = started.map_err(links_error)?.name;
    Pairing::new(links, name, (new.yes, !new.no_qr), output)
        .go_on()
        .await
}

/// Joins with a code.
pub(super) async fn join(
    links: &mut OpenLinks,
    device: &Device,
    join: &LinkJoin,
    output: Output,
) -> Result<(), Failure> {
    let url = url(&join.url)?;
    let code = PairingCode::parse(&url).map_err(code_error)?;
    let relay = RelayUrl::parse(code.base_url()).map_err(relay_url_error)?;
    say(
        output,
        LinkReport::LinkRelay {
            relay: relay.to_text(),
            name: code.name().unwrap_or("The other device").to_owned(),
        },
    )?;
    let mut lines = (!join.yes).then(Lines::of_input);
    if let Some(lines) = &mut lines {
        ask(&RELAY, lines, output).await?;
    }
    let joined = links.links.join(&url, &device.name()).await;
    let name = joined.map_err(links_error)?;
    let mut pairing = Pairing::new(links, name, (join.yes, false), output);
    pairing.lines = lines;
    pairing.go_on().await
}

/// The code, as it was given or as it stands in the input.
fn url(argument: &str) -> Result<zeroize::Zeroizing<String>, Failure> {
    if argument != "-" {
        return Ok(zeroize::Zeroizing::new(argument.to_owned()));
    }
    let mut line = zeroize::Zeroizing::new(String::new());
    let read = std::io::stdin().read_line(&mut line);
    read.map(|_| line)
        .map_err(|_| code_error(sealpost_protocol::link::code::CodeError::Empty))
}

impl<'a> Pairing<'a> {
    fn new(
        links: &'a mut OpenLinks,
        name: LinkName,
        (takes_all, draws): (bool, bool),
        output: Output,
    ) -> Self {
        Self {
            links,
            name,
            output,
            takes_all,
            draws,
            lines: None,
            told: None,
            is_code_told: false,
            is_asking: false,
            has_countdown: false,
        }
    }

    /// Goes on to the end of the pairing, and cleans up behind one that came to nothing.
    async fn go_on(mut self) -> Result<(), Failure> {
        let outcome = self.follow().await;
        self.end_countdown();
        if outcome.is_err() {
            // What it failed with says more than what became of the rest.
            let _ = self.links.links.cancel_pairing(&self.name).await;
        }
        // A relay that isn't reached isn't waited for: the mailbox is erased another time.
        let is_reached = outcome
            .as_ref()
            .err()
            .is_none_or(|failure| failure.exit != Exit::Relay);
        if is_reached {
            let _ = self.links.erase().await;
        }
        outcome
    }

    async fn follow(&mut self) -> Result<(), Failure> {
        let end = interrupted();
        tokio::pin!(end);
        loop {
            let link = self.links.look(&self.name)?;
            match &link.state {
                LinkState::Pairing(pairing) => self.look_at(&link, pairing).await?,
                LinkState::Ended(reason) => return Err(ended(*reason)),
                _ => return self.paired(&link).await,
            }
            let is_asking = self.is_asking;
            let lines = &mut self.lines;
            tokio::select! {
                _ = self.links.next() => {}
                line = next_answer(lines, is_asking) => self.understand(line).await?,
                () = sleep(TICK) => {}
                () = &mut end => return Err(interrupted_here()),
            }
        }
    }

    async fn look_at(&mut self, link: &LinkInfo, pairing: &PairingInfo) -> Result<(), Failure> {
        if pairing.phase == PairingPhase::Claiming
            && let Some(LinkTrouble::NotReached(failure)) = link.trouble
        {
            // Nothing was shown or sent yet: the person can do something about it at once.
            return Err(link_failure(failure));
        }
        self.show_code(pairing)?;
        if self.told.replace(pairing.phase) == Some(pairing.phase) {
            self.count_down(pairing);
            return Ok(());
        }
        let link_name = self.name.as_str().to_owned();
        match pairing.phase {
            PairingPhase::Exchanging => {
                self.end_countdown();
                say(self.output, LinkReport::LinkContact { link: link_name })
            }
            PairingPhase::Comparing => {
                self.end_countdown();
                say(
                    self.output,
                    LinkReport::LinkDigits {
                        link: link_name,
                        name: called(link),
                        digits: pairing.digits.clone().unwrap_or_default(),
                    },
                )?;
                self.ask_about_digits().await
            }
            PairingPhase::Finishing => {
                say(self.output, LinkReport::LinkConfirmed { link: link_name })
            }
            _ => Ok(()),
        }
    }

    fn show_code(&mut self, pairing: &PairingInfo) -> Result<(), Failure> {
        let Some(url) = pairing.url.as_ref().filter(|_| !self.is_code_told) else {
            return Ok(());
        };
        self.is_code_told = true;
        if self.draws {
            let drawing = qr_code::draw(url.as_str()).unwrap_or_default();
            self.output.draw(&drawing)?;
        }
        say(
            self.output,
            LinkReport::LinkCode {
                link: self.name.as_str().to_owned(),
                url: url.as_str().to_owned(),
                expires_at_ms: pairing.expires_at_ms,
                seconds: seconds_left(pairing),
            },
        )
    }

    async fn ask_about_digits(&mut self) -> Result<(), Failure> {
        if self.takes_all {
            return self.confirm().await;
        }
        self.lines.get_or_insert_with(Lines::of_input);
        self.is_asking = true;
        self.output.ask(&DIGITS)
    }

    async fn understand(&mut self, line: Option<String>) -> Result<(), Failure> {
        let answer = line.map(|line| DIGITS.understand(&line));
        match answer {
            Some(Answer::Yes) => {
                self.is_asking = false;
                self.confirm().await
            }
            Some(Answer::Unclear) => self.output.ask(&DIGITS),
            Some(Answer::No) => Err(digits_differ()),
            None => Err(no_answer()),
        }
    }

    async fn confirm(&self) -> Result<(), Failure> {
        let confirmed = self.links.links.confirm_digits(&self.name).await;
        confirmed.map_err(links_error)
    }

    /// The link is there. The other device learns it from the first thing that is sent in it.
    async fn paired(&mut self, link: &LinkInfo) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let rows = self.links.links.outbox(&self.name).await;
            let rows = rows.map_err(links_error)?;
            let waits = rows
                .iter()
                .any(|row| matches!(row.progress, LinkProgress::Waiting));
            if !waits || Instant::now() >= deadline {
                break;
            }
            sleep(LOOK_INTERVAL).await;
        }
        say(
            self.output,
            LinkReport::LinkPaired {
                link: self.name.as_str().to_owned(),
                name: called(link),
            },
        )
    }

    /// Shows how long the code is good for, where a person looks on.
    fn count_down(&mut self, pairing: &PairingInfo) {
        let mut error_output = std::io::stderr().lock();
        let is_shown = pairing.phase == PairingPhase::Waiting && self.is_code_told;
        if self.output.is_json() || !is_shown || !error_output.is_terminal() {
            return;
        }
        let left = seconds_left(pairing);
        let _ = write!(error_output, "\rGood for {}:{:02} ", left / 60, left % 60);
        let _ = error_output.flush();
        self.has_countdown = true;
    }

    fn end_countdown(&mut self) {
        if std::mem::take(&mut self.has_countdown) {
            let _ = writeln!(std::io::stderr().lock());
        }
    }
}

fn seconds_left(pairing: &PairingInfo) -> u64 {
    let left_ms = pairing.expires_at_ms.saturating_sub(SystemClock.now_ms());
    left_ms.div_ceil(1_000)
}

/// The next typed line, while a question is open.
async fn next_answer(lines: &mut Option<Lines>, is_open: bool) -> Option<String> {
    match lines {
        Some(lines) if is_open => lines.next().await,
        _ => std::future::pending().await,
    }
}

fn ended(reason: LinkEnd) -> Failure {
    match reason {
        LinkEnd::Pairing(failure) => pairing_failure(failure),
        reason => link_ended(reason),
    }
}

fn digits_differ() -> Failure {
    Failure::new(
        "link-digits-differ",
        Exit::Refused,
        "The digits differ, so the devices were not paired.",
        "Somebody may stand between the two devices, or the other screen shows another pairing.",
        "Begin again with `sealpost link new` on a network that you trust. Nothing is kept.",
    )
}

fn no_answer() -> Failure {
    Failure::new(
        "no-answer",
        Exit::Refused,
        "Nobody answered the question.",
        "The input has ended.",
        "Run this in a terminal and compare the six digits with the other screen.",
    )
}

fn interrupted_here() -> Failure {
    Failure::new(
        "link-cancelled",
        Exit::Interrupted,
        "The pairing is cancelled.",
        "This command was interrupted.",
        "Begin again with `sealpost link new`. Nothing is kept of this one.",
    )
}
