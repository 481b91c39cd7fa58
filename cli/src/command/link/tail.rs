//! `link tail`: prints what arrived over a link, and then what comes.
//!
//! Invariant: what is printed is forgotten right after; a stop in between prints it once more
//! the next time, and nothing is ever passed over.

use sealpost_engine::link::{Arrived, LinkContent, LinkInfo, LinkName, LinkState};

use super::sending::queue;
use super::{row, say};
use crate::arguments::LinkTail;
use crate::explanation::{link_ended, links_error};
use crate::failure::Failure;
use crate::interrupt::interrupted;
use crate::open_links::{OpenLinks, called, trouble};
use crate::output::Output;
use crate::question::Lines;
use crate::report::{ArrivedReport, BodyReport, LinkReport, Report};

/// How much is read at a time.
const PAGE_ROWS: usize = 100;

pub(super) async fn follow(
    links: &mut OpenLinks,
    tail: &LinkTail,
    output: Output,
) -> Result<(), Failure> {
    let name = links.find(tail.link.link.as_deref())?.name;
    let mut lines = tail.stdin.then(Lines::of_input);
    let mut told = None;
    let end = interrupted();
    tokio::pin!(end);
    loop {
        print_arrived(links, &name, output).await?;
        let link = links.look(&name)?;
        say_state(&link, &mut told, output)?;
        if let LinkState::Ended(reason) = link.state {
            say(
                output,
                LinkReport::LinkEnded {
                    link: name.as_str().to_owned(),
                    name: called(&link),
                    reason: reason.code(),
                },
            )?;
            return Err(link_ended(reason));
        }
        tokio::select! {
            event = links.next() => if event.is_none() {
                return Ok(());
            },
            line = next_line(&mut lines) => match line {
                Some(line) if !line.trim().is_empty() => {
                    queue(links, &name, (&line, None), output).await?;
                }
                Some(_) => {}
                None => lines = None,
            },
            () = &mut end => return Ok(()),
        }
    }
}

/// Prints what is there, and forgets it once it is printed.
pub(super) async fn print_arrived(
    links: &OpenLinks,
    name: &LinkName,
    output: Output,
) -> Result<(), Failure> {
    loop {
        let page = links.links.arrived(name, 0, PAGE_ROWS).await;
        let page = page.map_err(links_error)?;
        if page.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = page.iter().map(|arrived| arrived.id).collect();
        let reports: Vec<_> = page
            .into_iter()
            .map(|arrived| Report::Link(LinkReport::LinkMessage(report(name, arrived))))
            .collect();
        output.say_all(&reports)?;
        for id in ids {
            links.links.handled(name, id).await.map_err(links_error)?;
        }
    }
}

fn report(name: &LinkName, arrived: Arrived) -> ArrivedReport {
    let key = match arrived.content {
        LinkContent::Message => None,
        LinkContent::State { key } => Some(key),
    };
    ArrivedReport {
        link: name.as_str().to_owned(),
        position: arrived.position,
        message_id: arrived.id.to_text(),
        body: BodyReport::new(key, arrived.body),
        sealed_at_ms: arrived.sealed_at_ms,
    }
}

/// Tells how the link stands, once and whenever that changes.
fn say_state(
    link: &LinkInfo,
    told: &mut Option<&'static str>,
    output: Output,
) -> Result<(), Failure> {
    let failure = trouble(link);
    let code = failure.as_ref().map_or("", |failure| failure.code);
    if told.replace(code) == Some(code) {
        return Ok(());
    }
    if output.is_json() {
        return say(output, LinkReport::Link(row(link)));
    }
    if let Some(failure) = failure
        && !matches!(link.state, LinkState::Ended(_))
    {
        output.note(failure.code, &format!("{} {}", failure.what, failure.why));
    }
    Ok(())
}

/// The next line to send; waits for ever where there is no input, or no more of it.
async fn next_line(lines: &mut Option<Lines>) -> Option<String> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}
