//! `join`: asks to be let into a group, and waits for it.
//!
//! Nothing is stored, and the relay of the invitation is not contacted, before the invitation
//! was understood and the person has said yes to that relay. (The groups that this device is
//! in are opened to compare keys, and may push what waits in them.) From then on the request is durable: an
//! interrupted join stays pending and goes on with `sealpost join`.

use std::time::Duration;

use sealpost_engine::core::error::EngineError;
use sealpost_engine::core::event::{Event, JoinProgress, Member, PairingJoin};
use sealpost_engine::core::status::{ConnectFailure, Status, StatusReason};
use sealpost_engine::namespace::Namespace;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::invitation::Invitation;
use sealpost_protocol::token::PairingToken;
use tokio::time::{sleep, timeout};

use super::group::check_relay;
use super::leave::left;
use super::pair::{next_answer, no_answer, push_out};
use super::typed_code;
use crate::arguments::{Global, Join};
use crate::device::Device;
use crate::explanation::{address_error, engine_error, invitation_error};
use crate::failure::{Exit, Failure};
use crate::interrupt::interrupted;
use crate::open_group::{Happening, LOOK_INTERVAL, OpenGroup, is_hopeless, trouble};
use crate::output::Output;
use crate::question::{Answer, Lines, Question};
use crate::report::Report;

/// Digits of the relay's key that are shown to compare.
const FINGERPRINT_DIGITS: usize = 16;
/// How long the computing of the words may take.
const WORDS_PATIENCE: Duration = Duration::from_secs(30);
/// How long it is waited for the reason of an end that has come.
const REASON_PATIENCE: Duration = Duration::from_secs(2);

const RELAY: Question = Question {
    code: "relay",
    text: "Connect to this relay?",
    yes: "yes",
    no: "no",
};
const WORDS: Question = Question {
    code: "words",
    text: "Are they the same four words as on the other screen?",
    yes: "same",
    no: "different",
};

pub(super) async fn run(global: &Global, join: &Join, output: Output) -> Result<(), Failure> {
    let named = named(join, output).await?;
    let device = Device::open(global)?;
    let mut lines = (!join.yes).then(Lines::of_input);
    let mut group = match named {
        Some(named) => begin(&device, named, &mut lines, output).await?,
        None => find_waiting(&device, join.group.as_deref()).await?,
    };
    let outcome = if join.cancel {
        cancel(&group, output).await
    } else {
        Waiting {
            group: &mut group,
            join,
            lines,
            output,
            is_asking: false,
            told: None,
            reason: None,
        }
        .go_on()
        .await
    };
    // How the join ended says more than what became of its place.
    outcome.and(close(&device, group).await)
}

/// The relay and the token that were given, behind a typed code or at once.
async fn named(
    join: &Join,
    output: Output,
) -> Result<Option<(RelayAddress, PairingToken)>, Failure> {
    let Some(text) = join.invitation.as_deref() else {
        return Ok(None);
    };
    let relay = join.relay.as_deref();
    if typed_code::is_typed_code(text) {
        let invitation = typed_code::take(text, join.web.as_deref(), output).await?;
        return read(&invitation, relay).map(Some);
    }
    read(text, relay).map(Some)
}

/// Closes the group, and keeps its place for another one where nothing came of the join.
async fn close(device: &Device, group: OpenGroup) -> Result<(), Failure> {
    if is_unused(&group).await {
        return group.abandon(device).await;
    }
    group.close().await;
    Ok(())
}

/// Whether the join was given up before anything came of it.
async fn is_unused(group: &OpenGroup) -> bool {
    let messages = group.engine.messages_after(0, 1).await;
    messages.is_ok_and(|found| found.is_empty()) && group.engine.status() == Status::NotJoined
}

/// Refuses an invitation by a device that is this one, or in a group with it: a device has
/// other keys in each of its groups, so it is that very group. Returns the join that waits for
/// the same device, which a new invitation of it replaces.
async fn check_inviter(
    device: &Device,
    token: &PairingToken,
) -> Result<Option<Namespace>, Failure> {
    let mut waiting = None;
    for namespace in device.namespaces()? {
        let group = OpenGroup::open(device, &namespace, None).await?;
        let is_own = group.engine.me().keys == token.keys();
        let is_member = |member: &Member| member.keys == token.keys();
        let is_in = group.engine.members().iter().any(is_member);
        let join = group.engine.pairing().join;
        if group.engine.status() == Status::PendingJoin
            && join.is_some_and(|join| join.admitter == token.keys())
        {
            waiting = Some(namespace.clone());
        }
        group.close().await;
        if is_own {
            return Err(engine_error(EngineError::InvalidPairingToken));
        }
        if is_in {
            return Err(engine_error(EngineError::AlreadyInGroup));
        }
    }
    Ok(waiting)
}

/// Asks about the relay and stores the request.
async fn begin(
    device: &Device,
    (relay, token): (RelayAddress, PairingToken),
    lines: &mut Option<Lines>,
    output: Output,
) -> Result<OpenGroup, Failure> {
    let waiting = check_inviter(device, &token).await?;
    output.say(&Report::Relay {
        host: relay.host().to_owned(),
        receive_port: relay.receive_port(),
        push_port: relay.push_port(),
        fingerprint: fingerprint(&relay),
    })?;
    if lines.is_some() && !agrees(lines, output).await? {
        return Err(relay_refused());
    }
    check_relay(&relay, output).await?;
    let group = match waiting {
        Some(namespace) => reopen(device, &namespace, relay).await?,
        None => OpenGroup::open_new(device, relay).await?,
    };
    if let Err(error) = group.engine.join(token).await {
        let _ = close(device, group).await;
        return Err(engine_error(error));
    }
    Ok(group)
}

/// Opens the place of a join that waits, on the relay of the new invitation.
async fn reopen(
    device: &Device,
    namespace: &Namespace,
    relay: RelayAddress,
) -> Result<OpenGroup, Failure> {
    let group = OpenGroup::open(device, namespace, None).await?;
    if let Err(error) = group.engine.set_relay(relay).await {
        group.close().await;
        return Err(engine_error(error));
    }
    Ok(group)
}

/// The relay and the token that an invitation and `--relay` name together.
fn read(text: &str, given: Option<&str>) -> Result<(RelayAddress, PairingToken), Failure> {
    let Invitation { relay, token } = Invitation::parse(text).map_err(invitation_error)?;
    let given = given
        .map(RelayAddress::parse)
        .transpose()
        .map_err(address_error)?;
    match (relay, given) {
        (Some(named), Some(given)) if named != given => Err(two_relays()),
        (Some(relay), _) | (None, Some(relay)) => Ok((relay, token)),
        (None, None) => Err(relay_needed()),
    }
}

fn fingerprint(relay: &RelayAddress) -> String {
    let digits = relay
        .public_key()
        .as_bytes()
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
    digits.take(FINGERPRINT_DIGITS).collect()
}

async fn agrees(lines: &mut Option<Lines>, output: Output) -> Result<bool, Failure> {
    loop {
        output.ask(&RELAY)?;
        let line = next_answer(lines, true).await.ok_or_else(no_answer)?;
        match RELAY.understand(&line) {
            Answer::Yes => return Ok(true),
            Answer::No => return Ok(false),
            Answer::Unclear => {}
        }
    }
}

/// The join that isn't finished: not let in yet, or its words not compared.
async fn find_waiting(device: &Device, wanted: Option<&str>) -> Result<OpenGroup, Failure> {
    if wanted.is_some() {
        let group = OpenGroup::find(device, wanted).await?;
        if is_waiting(&group) {
            return Ok(group);
        }
        group.close().await;
        return Err(no_join_waiting());
    }
    let mut found: Option<OpenGroup> = None;
    for namespace in device.namespaces()? {
        let group = OpenGroup::open(device, &namespace, None).await?;
        if !is_waiting(&group) {
            group.close().await;
        } else if let Some(earlier) = found.replace(group) {
            earlier.close().await;
            if let Some(later) = found {
                later.close().await;
            }
            return Err(several_joins());
        }
    }
    found.ok_or_else(no_join_waiting)
}

fn is_waiting(group: &OpenGroup) -> bool {
    group.engine.status() == Status::PendingJoin || group.engine.pairing().join.is_some()
}

/// Gives the join up: takes the request back, or leaves the group that it has led to before
/// the words were compared.
async fn cancel(group: &OpenGroup, output: Output) -> Result<(), Failure> {
    output.say(&give_up(group).await?)
}

async fn give_up(group: &OpenGroup) -> Result<Report, Failure> {
    let was_in = group.engine.status() == Status::Member;
    group.engine.refuse_words().await.map_err(engine_error)?;
    if group.engine.status() == Status::Member {
        // Let in at this moment, with words that were compared: nothing was given up.
        return Err(no_join_waiting());
    }
    if was_in || group.engine.status() == Status::Leaving {
        let told = push_out(group).await;
        return Ok(left(group, told));
    }
    let group = group.namespace.as_str().to_owned();
    Ok(Report::Cancelled { group })
}

/// A request that is stored, until this device is in and the words are compared.
struct Waiting<'a> {
    group: &'a mut OpenGroup,
    join: &'a Join,
    lines: Option<Lines>,
    output: Output,
    is_asking: bool,
    /// How far the join was when that was last told.
    told: Option<(JoinProgress, Option<&'static str>)>,
    /// What ended the join, where that was said.
    reason: Option<StatusReason>,
}

impl Waiting<'_> {
    async fn go_on(mut self) -> Result<(), Failure> {
        // Who doesn't wait takes no answer either: one that came now would be seen by nobody.
        if !self.join.no_wait {
            self.group.receive()?;
        }
        let end = interrupted();
        tokio::pin!(end);
        let words = self.words().await?;
        if let Some(words) = words {
            self.output.say(&Report::Words { words })?;
        }
        // An empty outbox doesn't mean that the relay has the request: it may have refused it.
        tokio::select! {
            _ = push_out(self.group) => {}
            () = &mut end => return Err(stays_pending()),
        }
        self.say_pending()?;
        if self.join.no_wait {
            return Ok(());
        }
        self.ask_or_confirm().await?;
        loop {
            if self.is_in() {
                return self.say_joined();
            }
            if !is_alive(self.group) {
                let reason = why_over(self.group).await;
                return Err(join_over(self.reason.or(reason)));
            }
            self.say_progress()?;
            let Self {
                group,
                lines,
                is_asking,
                ..
            } = &mut self;
            tokio::select! {
                happening = group.next() => self.look_at(happening)?,
                line = next_answer(lines, *is_asking) => self.understand(line).await?,
                () = &mut end => return Err(stays_pending()),
            }
        }
    }

    fn open_join(&self) -> Option<PairingJoin> {
        self.group.engine.pairing().join
    }

    /// The four words; nothing when they were compared before.
    async fn words(&mut self) -> Result<Option<[String; 4]>, Failure> {
        let deadline = tokio::time::Instant::now() + WORDS_PATIENCE;
        loop {
            match self.open_join() {
                None => return Ok(None),
                Some(PairingJoin {
                    words: Some(words), ..
                }) => return Ok(Some(words)),
                Some(_) if tokio::time::Instant::now() >= deadline => {
                    return Err(Failure::bug(
                        "There are no words to compare.",
                        "It took too long",
                    ));
                }
                Some(_) => sleep(LOOK_INTERVAL).await,
            }
        }
    }

    async fn ask_or_confirm(&mut self) -> Result<(), Failure> {
        if self.open_join().is_none_or(|join| join.confirmed) {
            return Ok(());
        }
        if self.join.yes {
            return self
                .group
                .engine
                .confirm_words()
                .await
                .map_err(engine_error);
        }
        self.is_asking = true;
        self.output.ask(&WORDS)
    }

    async fn understand(&mut self, line: Option<String>) -> Result<(), Failure> {
        let line = line.ok_or_else(no_answer)?;
        match WORDS.understand(&line) {
            Answer::Yes => {
                self.is_asking = false;
                self.group
                    .engine
                    .confirm_words()
                    .await
                    .map_err(engine_error)
            }
            Answer::No => {
                let report = give_up(self.group).await?;
                self.output.say(&report)?;
                Err(words_differ())
            }
            Answer::Unclear => self.output.ask(&WORDS),
        }
    }

    fn look_at(&mut self, happening: Option<Happening>) -> Result<(), Failure> {
        match happening {
            Some(Happening::Event(Event::StatusChanged { reason, .. })) => {
                self.reason = reason.filter(|reason| *reason != StatusReason::Joined);
                Ok(())
            }
            Some(Happening::Event(Event::ConnectionChanged(connection))) => {
                match trouble(connection) {
                    Some(failure) if is_hopeless(connection) => Err(failure),
                    Some(failure) => {
                        let text = format!("{} {}", failure.what, failure.why);
                        self.output.note(failure.code, &text);
                        Ok(())
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Says how far the join is, whenever that changed.
    fn say_progress(&mut self) -> Result<(), Failure> {
        let Some(PairingJoin { progress, .. }) = self.open_join() else {
            return Ok(());
        };
        let failure = self.group.engine.push_failure();
        let reason = failure
            .filter(|_| progress == JoinProgress::Queued)
            .map(ConnectFailure::code);
        let state = (progress, reason);
        if self.told == Some(state) {
            return Ok(());
        }
        self.told = Some(state);
        if progress == JoinProgress::Refused {
            return Err(refused_by_relay());
        }
        // On its way is no news for a person; it comes and goes with each attempt.
        if progress == JoinProgress::Sending && !self.output.is_json() {
            return Ok(());
        }
        self.output.say(&Report::JoinProgress {
            group: self.group.namespace.as_str().to_owned(),
            state: progress.code(),
            reason,
        })
    }

    fn is_in(&self) -> bool {
        let engine = &self.group.engine;
        engine.status() == Status::Member && self.open_join().is_none_or(|join| join.confirmed)
    }

    fn say_joined(&self) -> Result<(), Failure> {
        self.output.say(&Report::Joined {
            group: self.group.namespace.as_str().to_owned(),
            members: self.group.engine.members().len(),
        })
    }

    fn say_pending(&self) -> Result<(), Failure> {
        if self.group.engine.status() != Status::PendingJoin {
            return Ok(());
        }
        let progress = self.open_join().map(|join| join.progress);
        if progress == Some(JoinProgress::Refused) {
            return Err(refused_by_relay());
        }
        let on_relay = progress == Some(JoinProgress::OnRelay);
        let group = self.group.namespace.as_str().to_owned();
        self.output.say(&Report::Pending { group, on_relay })
    }
}

/// Whether the join goes on, or has led into a group that this device is still in.
fn is_alive(group: &OpenGroup) -> bool {
    matches!(group.engine.status(), Status::PendingJoin | Status::Member)
}

/// Why this device isn't in the group any more, where that is said soon. It is said when the
/// others have been told.
async fn why_over(group: &mut OpenGroup) -> Option<StatusReason> {
    let _ = push_out(group).await;
    loop {
        match timeout(REASON_PATIENCE, group.next()).await.ok()?? {
            Happening::Event(Event::StatusChanged {
                reason: Some(reason),
                ..
            }) if reason != StatusReason::Joined => return Some(reason),
            _ => {}
        }
    }
}

/// The join ended, and not with this device in the group.
fn join_over(reason: Option<StatusReason>) -> Failure {
    const ASK_ANEW: &str = "Ask a device that is in the group for a new invitation, and run \
                            `sealpost join` with it.";
    let over = |code, why, action| {
        let what = "This device is not in the group.";
        Failure::new(code, Exit::Group, what, why, action)
    };
    match reason {
        Some(StatusReason::Removed) => over(
            "join-removed",
            "It was let in, and another device has removed it again.",
            ASK_ANEW,
        ),
        Some(StatusReason::AdmissionVoid) => over(
            "join-void",
            "The device that let it in was itself removed at the same time.",
            ASK_ANEW,
        ),
        Some(StatusReason::GroupFull) => over(
            "join-group-full",
            "The group was full: others were let in at the same time.",
            "Let somebody make room first, then ask for a new invitation.",
        ),
        Some(StatusReason::Destroyed) => over(
            "join-destroyed",
            "The group was destroyed.",
            "Nothing needs to be done.",
        ),
        _ => over(
            "join-over",
            "The join was given up, or the group has ended for this device.",
            ASK_ANEW,
        ),
    }
}

fn two_relays() -> Failure {
    Failure::new(
        "relay-two",
        Exit::Input,
        "It isn't clear which relay is meant.",
        "The invitation names one and --relay another.",
        "Leave --relay out. Nothing was changed on this device.",
    )
}

fn relay_needed() -> Failure {
    Failure::new(
        "relay-needed",
        Exit::Input,
        "The pairing code names no relay.",
        "It is a code alone, without a relay's address in front.",
        "Give the address with --relay, or ask for the whole invitation. \
         Nothing was changed on this device.",
    )
}

fn relay_refused() -> Failure {
    Failure::new(
        "relay-refused-by-you",
        Exit::Refused,
        "The join is given up.",
        "The answer to the relay was no.",
        "Nothing needs to be done: nothing was sent, and nothing was changed on this device.",
    )
}

fn words_differ() -> Failure {
    Failure::new(
        "words-different",
        Exit::Refused,
        "The join is given up.",
        "The words were not the same: somebody may have come in between, or another device \
         was let in.",
        "Tell the other person, who should remove a device that they don't know (`sealpost \
         remove`). Then start with a new invitation.",
    )
}

fn refused_by_relay() -> Failure {
    Failure::new(
        "join-refused-by-relay",
        Exit::Relay,
        "The relay refused the request for good.",
        "It says that the request is malformed or too large, which it is not.",
        "Ask whoever runs the relay. Run `sealpost join` with a new invitation to try again, or \
         `sealpost join --cancel` to give it up.",
    )
}

fn stays_pending() -> Failure {
    Failure::new(
        "join-pending",
        Exit::Interrupted,
        "The join stays pending.",
        "This command was interrupted before this device was let in.",
        "Run `sealpost join` to go on, with a new invitation if the old one is closed, or \
         `sealpost join --cancel` to give it up.",
    )
}

fn no_join_waiting() -> Failure {
    Failure::new(
        "no-join-waiting",
        Exit::Group,
        "No join is waiting.",
        "This profile has asked nobody, or is in already.",
        "Give an invitation: `sealpost join INVITATION`. A group that this device is in is \
         left with `sealpost leave`.",
    )
}

fn several_joins() -> Failure {
    Failure::new(
        "join-needed",
        Exit::Input,
        "It isn't clear which join is meant.",
        "More than one is waiting.",
        "Name one with --group; `sealpost group list` shows their numbers.",
    )
}
