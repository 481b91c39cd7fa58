//! `link send`: queues a text and hands it to the relay where that is possible now.

use std::time::Duration;

use sealpost_engine::link::{LinkContent, LinkName, LinkProgress, LinkState, SentRow};
use sealpost_protocol::link::payload::PayloadId;
use tokio::time::{Instant, sleep};

use super::say;
use crate::arguments::LinkSend;
use crate::command::send::text;
use crate::explanation::{links_error, row_failure};
use crate::failure::{Exit, Failure};
use crate::interrupt::interrupted;
use crate::open_group::LOOK_INTERVAL;
use crate::open_links::{OpenLinks, trouble};
use crate::output::Output;
use crate::report::{BodyReport, LinkReport, SentReport};

/// How long a text without `--wait` may take to reach a relay that answers.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a text is.
enum Standing {
    /// The other device has it.
    Received,
    /// Still on the list of what was sent.
    Row(SentRow),
}

pub(super) async fn send(
    links: &mut OpenLinks,
    send: &LinkSend,
    output: Output,
) -> Result<(), Failure> {
    let text = text(&send.text)?;
    let name = links.find(send.link.link.as_deref())?.name;
    let id = queue(links, &name, (&text, send.key.clone()), output).await?;
    let patience = send
        .wait
        .map_or(PATIENCE, |seconds| Duration::from_secs(seconds.into()));
    let deadline = Instant::now() + patience;
    let end = interrupted();
    tokio::pin!(end);
    loop {
        match standing(links, &name, id).await? {
            Standing::Received => return say(output, received(&name, id, &text, send)),
            Standing::Row(row) => {
                if let LinkProgress::Failed(reason) = row.progress {
                    say(output, LinkReport::LinkSent(sent(&name, row)))?;
                    return Err(row_failure(reason));
                }
                let is_there = !matches!(row.progress, LinkProgress::Waiting);
                if is_there && send.wait.is_none() {
                    return say(output, LinkReport::LinkSent(sent(&name, row)));
                }
                if Instant::now() >= deadline || (send.wait.is_none() && stands(links, &name)?) {
                    return unfinished(links, &name, send.wait, output);
                }
            }
        }
        tokio::select! {
            _ = links.next() => {}
            () = sleep(LOOK_INTERVAL) => {}
            () = &mut end => return Err(waiting(Exit::Interrupted, "It was interrupted.")),
        }
    }
}

/// Stores the text for delivery and says its id.
pub(super) async fn queue(
    links: &OpenLinks,
    name: &LinkName,
    (text, key): (&str, Option<String>),
    output: Output,
) -> Result<PayloadId, Failure> {
    let content = key.map_or(LinkContent::Message, |key| LinkContent::State { key });
    let body = text.as_bytes().to_vec();
    let id = links.links.send(name, content, body, None).await;
    let id = id.map_err(links_error)?;
    say(
        output,
        LinkReport::LinkQueued {
            link: name.as_str().to_owned(),
            message_id: id.to_text(),
        },
    )?;
    Ok(id)
}

/// Something that was sent, as it is reported.
pub(super) fn sent(name: &LinkName, row: SentRow) -> SentReport {
    let key = match row.content {
        LinkContent::Message => None,
        LinkContent::State { key } => Some(key),
    };
    let (state, reason) = match row.progress {
        LinkProgress::Waiting => ("waiting", None),
        LinkProgress::OnRelay => ("on_relay", None),
        LinkProgress::Collected => ("collected", None),
        LinkProgress::Failed(reason) => ("failed", Some(reason.code())),
    };
    SentReport {
        link: name.as_str().to_owned(),
        message_id: row.id.to_text(),
        state,
        reason,
        body: BodyReport::new(key, row.body),
        queued_at_ms: row.queued_at_ms,
    }
}

fn received(name: &LinkName, id: PayloadId, text: &str, send: &LinkSend) -> LinkReport {
    LinkReport::LinkReceived {
        link: name.as_str().to_owned(),
        message_id: id.to_text(),
        body: BodyReport::new(send.key.clone(), text.as_bytes().to_vec()),
    }
}

async fn standing(links: &OpenLinks, name: &LinkName, id: PayloadId) -> Result<Standing, Failure> {
    let rows = links.links.outbox(name).await.map_err(links_error)?;
    let row = rows.into_iter().find(|row| row.id == id);
    Ok(row.map_or(Standing::Received, Standing::Row))
}

/// Whether nothing brings the text further for now.
fn stands(links: &OpenLinks, name: &LinkName) -> Result<bool, Failure> {
    let link = links.look(name)?;
    Ok(link.trouble.is_some() || matches!(link.state, LinkState::Lost | LinkState::Ended(_)))
}

fn unfinished(
    links: &OpenLinks,
    name: &LinkName,
    wait_s: Option<u32>,
    output: Output,
) -> Result<(), Failure> {
    let failure = trouble(&links.look(name)?);
    let why = failure.as_ref().map_or_else(
        || "The other device has not confirmed it yet.".to_owned(),
        |failure| format!("{} {}", failure.what, failure.why),
    );
    if wait_s.is_some() {
        return Err(waiting(Exit::InVain, &why));
    }
    let code = failure.map_or("relay-slow", |failure| failure.code);
    output.note(code, &format!("Stored, and waiting: {why}"));
    Ok(())
}

fn waiting(exit: Exit, why: &str) -> Failure {
    Failure::new(
        "still-waiting",
        exit,
        "The other device does not have the message yet.",
        why,
        "Don't send it again: it is stored, and goes out while any `sealpost link` command runs \
         and reaches the relay. `sealpost link outbox` shows how far it is.",
    )
}
