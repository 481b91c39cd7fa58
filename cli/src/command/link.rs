//! `link`: links to phones and other paired devices.
//!
//! Each command opens the links of the profile, which go on with what was going on: what waits
//! is sent, what is there is fetched, mailboxes are erased, for as long as the command runs.

mod pairing;
mod sending;
mod tail;

use sealpost_engine::link::{LinkInfo, LinkPlace, LinkState, Links};
use sealpost_protocol::link::key::Role;

use crate::arguments::{Global, Link, LinkOutbox, LinkRename, LinkUnpair, OnLink};
use crate::device::Device;
use crate::explanation::links_error;
use crate::failure::{Exit, Failure};
use crate::open_links::{OpenLinks, called, trouble};
use crate::output::Output;
use crate::question::{Answer, Lines, Question};
use crate::report::{LinkReport, LinkRow, Report};

const UNPAIR: Question = Question {
    code: "unpair",
    text: "End this link? Its keys go, and what waits in it.",
    yes: "yes",
    no: "no",
};

pub(super) async fn run(global: &Global, link: &Link, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    if let Link::List = link
        && !Links::exist(device.folder())
    {
        return Ok(());
    }
    let mut links = OpenLinks::open(&device).await?;
    let outcome = match link {
        Link::New(new) => pairing::show(&mut links, &device, new, output).await,
        Link::Join(join) => pairing::join(&mut links, &device, join, output).await,
        Link::List => list(&links, output),
        Link::Rename(rename) => self::rename(&links, rename, output).await,
        Link::Unpair(unpair) => self::unpair(&links, unpair, output).await,
        Link::Send(send) => sending::send(&mut links, send, output).await,
        Link::Outbox(outbox) => self::outbox(&links, outbox, output).await,
        Link::Tail(tail) => tail::follow(&mut links, tail, output).await,
        Link::Messages(on) => messages(&links, on, output).await,
    };
    links.close().await;
    outcome
}

/// Says one thing of a link.
fn say(output: Output, report: LinkReport) -> Result<(), Failure> {
    output.say(&Report::Link(report))
}

fn list(links: &OpenLinks, output: Output) -> Result<(), Failure> {
    let rows = links.links.list();
    let reports: Vec<_> = rows
        .iter()
        .map(row)
        .map(LinkReport::Link)
        .map(Report::Link)
        .collect();
    output.say_all(&reports)
}

/// A link, as it is listed.
fn row(link: &LinkInfo) -> LinkRow {
    let reason = match &link.state {
        LinkState::Ended(end) => Some(end.code()),
        LinkState::Pairing(_) | LinkState::Active => None,
        LinkState::Unconfirmed { .. } | LinkState::Lost => None,
    };
    let explained = trouble(link).map_or_else(|| works(&link.state), |failure| failure.what);
    LinkRow {
        link: link.name.as_str().to_owned(),
        name: called(link),
        role: match link.role {
            Role::A => "a",
            Role::B => "b",
        },
        state: link.state.code(),
        reason,
        trouble: link.trouble.map(|trouble| trouble.code()),
        relay: match &link.place {
            LinkPlace::Here => None,
            LinkPlace::At(url) => Some(url.to_text()),
        },
        last_contact_ms: link.last_contact_ms,
        waiting: link.waiting,
        arrived: link.arrived,
        explained,
    }
}

fn works(state: &LinkState) -> String {
    match state {
        LinkState::Pairing(_) => "is being paired".to_owned(),
        _ => "works".to_owned(),
    }
}

async fn rename(links: &OpenLinks, rename: &LinkRename, output: Output) -> Result<(), Failure> {
    let found = links.find(rename.link.link.as_deref())?;
    let renamed = links.links.rename(&found.name, &rename.name).await;
    renamed.map_err(links_error)?;
    let now = links.look(&found.name)?;
    say(
        output,
        LinkReport::LinkRenamed {
            link: found.name.as_str().to_owned(),
            name: called(&now),
        },
    )
}

async fn unpair(links: &OpenLinks, unpair: &LinkUnpair, output: Output) -> Result<(), Failure> {
    let found = links.find(unpair.link.link.as_deref())?;
    if !unpair.yes {
        say(output, LinkReport::Link(row(&found)))?;
        ask(&UNPAIR, &mut Lines::of_input(), output).await?;
    }
    links.links.unpair(&found.name).await.map_err(links_error)?;
    say(
        output,
        LinkReport::LinkUnpaired {
            link: found.name.as_str().to_owned(),
            name: called(&found),
            erased: links.erase().await,
        },
    )
}

/// Asks until the answer is clear; a no is a failure.
async fn ask(question: &Question, lines: &mut Lines, output: Output) -> Result<(), Failure> {
    loop {
        output.ask(question)?;
        let Some(line) = lines.next().await else {
            return Err(refused("The input has ended."));
        };
        match question.understand(&line) {
            Answer::Yes => return Ok(()),
            Answer::No => return Err(refused("The answer was no.")),
            Answer::Unclear => {}
        }
    }
}

fn refused(why: &str) -> Failure {
    Failure::new(
        "not-confirmed",
        Exit::Refused,
        "Nothing was done.",
        why,
        "Run it again and answer with yes, or with --yes.",
    )
}

async fn outbox(links: &OpenLinks, outbox: &LinkOutbox, output: Output) -> Result<(), Failure> {
    let found = links.find(outbox.link.link.as_deref())?;
    let rows = links.links.outbox(&found.name).await.map_err(links_error)?;
    for row in rows {
        let id = row.id;
        let report = sending::sent(&found.name, row);
        let has_failed = report.reason.is_some();
        say(output, LinkReport::LinkSent(report))?;
        if outbox.dismiss && has_failed {
            let dismissed = links.links.dismiss_failed(&found.name, id).await;
            dismissed.map_err(links_error)?;
        }
    }
    Ok(())
}

/// Prints what is there, and forgets it once it is printed.
async fn messages(links: &OpenLinks, on: &OnLink, output: Output) -> Result<(), Failure> {
    let found = links.find(on.link.as_deref())?;
    tail::print_arrived(links, &found.name, output).await
}
