//! `send`: queues a text and hands it to the relay where that is possible now.
//!
//! The Message ID is printed as soon as the text is stored, which is when the promise of
//! delivery begins. What follows is only impatience: a relay that can be reached gets the
//! text before the program ends, one that can't gets it the next time.

use std::io::Read as _;
use std::time::Duration;

use sealpost_engine::core::message::DeliveryState;
use sealpost_engine::history::StoredMessage;
use sealpost_protocol::message_id::MessageId;
use tokio::time::Instant;

use crate::arguments::{Global, Send};
use crate::device::Device;
use crate::explanation::{connect_failure, engine_error};
use crate::failure::{Exit, Failure};
use crate::interrupt::interrupted;
use crate::open_group::{LOOK_INTERVAL, OpenGroup};
use crate::output::Output;
use crate::report::Report;

/// How long a text without `--wait` may take to reach a relay that answers.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most bytes that are read from the input.
const INPUT_BYTES_MAX: u64 = 1024 * 1024;

/// Where a message is, over all its recipients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Progress {
    on_relay: usize,
    failed: usize,
    of: usize,
}

impl Progress {
    const fn is_done(self) -> bool {
        self.on_relay + self.failed == self.of
    }
}

pub(super) async fn run(global: &Global, send: &Send, output: Output) -> Result<(), Failure> {
    let text = text(&send.text)?;
    let device = Device::open(global)?;
    let mut group = OpenGroup::find(&device, send.group.group.as_deref()).await?;
    let outcome = queue_and_push(&mut group, &text, send.wait, output).await;
    group.close().await;
    outcome
}

async fn queue_and_push(
    group: &mut OpenGroup,
    text: &str,
    wait_s: Option<u32>,
    output: Output,
) -> Result<(), Failure> {
    let id = queue(group, text, output).await?;
    if group.holds_texts() {
        return held(wait_s, output);
    }
    let end = interrupted();
    tokio::pin!(end);
    let patience = wait_s.map_or(PATIENCE, |seconds| Duration::from_secs(seconds.into()));
    let deadline = Instant::now() + patience;
    loop {
        let progress = progress(group, id).await?;
        let failure = group.engine.push_failure();
        let give_up = Instant::now() >= deadline || (wait_s.is_none() && failure.is_some());
        if progress.is_done() {
            return finish(id, progress, output);
        }
        if give_up {
            let failure = failure.map(connect_failure);
            return unfinished(failure.as_ref(), wait_s, output);
        }
        tokio::select! {
            _ = group.next() => {}
            () = tokio::time::sleep(LOOK_INTERVAL) => {}
            () = &mut end => return Err(still_queued(Exit::Interrupted, "It was interrupted.")),
        }
    }
}

/// Stores the text for delivery and says its Message ID.
pub(super) async fn queue(
    group: &OpenGroup,
    text: &str,
    output: Output,
) -> Result<MessageId, Failure> {
    let id = group.engine.send_text(text).await.map_err(engine_error)?;
    output.say(&Report::Queued {
        message_id: id.to_text(),
    })?;
    Ok(id)
}

async fn progress(group: &OpenGroup, id: MessageId) -> Result<Progress, Failure> {
    let message = group.message(id).await?;
    let count = |wanted: fn(&DeliveryState) -> bool| {
        let deliveries = |message: &StoredMessage| {
            message
                .deliveries
                .iter()
                .filter(|delivery| wanted(&delivery.state))
                .count()
        };
        message.as_ref().map_or(0, deliveries)
    };
    Ok(Progress {
        on_relay: count(|state| matches!(state, DeliveryState::OnRelay { .. })),
        failed: count(|state| matches!(state, DeliveryState::Failed(_) | DeliveryState::Withdrawn)),
        of: count(|_| true),
    })
}

fn finish(id: MessageId, progress: Progress, output: Output) -> Result<(), Failure> {
    let Progress {
        on_relay,
        failed,
        of,
    } = progress;
    output.say(&Report::Delivery {
        message_id: id.to_text(),
        on_relay,
        failed,
        of,
    })?;
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::new(
        "send-failed",
        Exit::Relay,
        format!("The message will not reach {failed} of {of} devices."),
        "The relay refused it for good, or they have left the group.",
        "`sealpost messages` shows which and why.",
    ))
}

fn unfinished(
    failure: Option<&Failure>,
    wait_s: Option<u32>,
    output: Output,
) -> Result<(), Failure> {
    let why = failure.map_or_else(
        || "The relay has not confirmed it yet.".to_owned(),
        |failure| format!("{} {}", failure.what, failure.why),
    );
    if wait_s.is_some() {
        return Err(still_queued(Exit::InVain, &why));
    }
    let code = failure.map_or("relay-slow", |failure| failure.code);
    output.note(code, &format!("Stored, and waiting for the relay: {why}"));
    Ok(())
}

/// Why a text is held before the words are compared, and what to do about it.
const HELD_WHY: &str = "This device holds it until the four words of its join are compared.";
const HELD_ACTION: &str =
    "Don't send it again: it is stored. Run `sealpost join` and compare the words.";

/// Says that texts are held.
pub(super) fn note_held(output: Output) {
    output.note("words-open", &format!("{HELD_WHY} {HELD_ACTION}"));
}

/// The words were not compared yet, so that nothing but that can bring the text further.
fn held(wait_s: Option<u32>, output: Output) -> Result<(), Failure> {
    if wait_s.is_some() {
        let what = "The message is not on the relay yet.";
        return Err(Failure::new(
            "words-open",
            Exit::InVain,
            what,
            HELD_WHY,
            HELD_ACTION,
        ));
    }
    note_held(output);
    Ok(())
}

fn still_queued(exit: Exit, why: &str) -> Failure {
    Failure::new(
        "still-waiting",
        exit,
        "The message is not on the relay yet.",
        why,
        "Don't send it again: it is stored, and goes out with the next `sealpost send` or \
         `sealpost tail` that reaches the relay.",
    )
}

pub(super) fn text(argument: &str) -> Result<String, Failure> {
    let text = if argument == "-" {
        input()?
    } else {
        argument.to_owned()
    };
    if text.trim().is_empty() {
        return Err(Failure::new(
            "text-empty",
            Exit::Input,
            "There is nothing to send.",
            "The text is empty.",
            "Give a text, or - to read it from the input. Nothing was sent.",
        ));
    }
    Ok(text)
}

fn input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(INPUT_BYTES_MAX)
        .read_to_end(&mut bytes);
    let text = read.ok().and_then(|_| String::from_utf8(bytes).ok());
    let text = text.ok_or_else(|| {
        Failure::new(
            "text-not-utf8",
            Exit::Input,
            "The input can't be sent.",
            "It is no text in UTF-8.",
            "Convert it first. Nothing was sent.",
        )
    })?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}
