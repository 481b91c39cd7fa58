//! `tail`: prints what is stored after a position, and then what comes.
//!
//! Invariant: each message is printed once, in the order of its position, because it is
//! read from the store by the position of the last one printed, whatever the events say. A
//! reader that starts again after its last position misses nothing and sees nothing twice.

use sealpost_engine::core::event::Event;
use sealpost_engine::core::status::Connection;
use tokio::time::sleep;

use super::members::membership;
use super::messages::print_after;
use super::pair::say_of_pairing;
use super::send::{note_held, queue};
use crate::arguments::{Global, Tail};
use crate::device::Device;
use crate::explanation::engine_error;
use crate::failure::Failure;
use crate::interrupt::interrupted;
use crate::open_group::{Happening, LOOK_INTERVAL, OpenGroup, trouble};
use crate::output::Output;
use crate::question::Lines;
use crate::report::{MembershipReport, Report};

pub(super) async fn run(global: &Global, tail: &Tail, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let mut group = OpenGroup::find(&device, tail.group.group.as_deref()).await?;
    let outcome = follow(&mut group, tail, output).await;
    group.close().await;
    outcome
}

async fn follow(group: &mut OpenGroup, tail: &Tail, output: Output) -> Result<(), Failure> {
    group.receive()?;
    let mut lines = tail.stdin.then(Lines::of_input);
    let mut printed = tail.after;
    let mut has_new = true;
    let mut is_hold_said = false;
    let mut told = None;
    let end = interrupted();
    tokio::pin!(end);
    loop {
        if tail.members {
            say_members(group, &mut told, output).await?;
        }
        if std::mem::take(&mut has_new) {
            let last = print_after(&group.engine, printed, output).await?;
            // Nobody has read what was skipped over with `--after`.
            if last > printed {
                printed = last;
                let marked = group.engine.mark_read(printed).await;
                marked.map_err(engine_error)?;
            }
        }
        tokio::select! {
            happening = group.next() => match happening {
                Some(Happening::Event(Event::MessageStored { .. })) => has_new = true,
                Some(happening) => say(happening, output)?,
                None => return Ok(()),
            },
            line = next_line(&mut lines) => match line {
                Some(line) => {
                    send_line(group, &line, output).await?;
                    if group.holds_texts() && !std::mem::replace(&mut is_hold_said, true) {
                        note_held(output);
                    }
                }
                None => lines = None,
            },
            // No event tells that the same members stand in another list.
            () = sleep(LOOK_INTERVAL), if tail.members => {}
            () = &mut end => return Ok(()),
        }
    }
}

/// Prints the list of members if it isn't the one that was told last.
async fn say_members(
    group: &OpenGroup,
    told: &mut Option<MembershipReport>,
    output: Output,
) -> Result<(), Failure> {
    let list = membership(group).await?;
    if *told != list {
        if let Some(list) = &list {
            output.say(&Report::Membership(list.clone()))?;
        }
        *told = list;
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

/// Queues one line. A line that can't be sent is reported and the next one goes on.
async fn send_line(group: &OpenGroup, line: &str, output: Output) -> Result<(), Failure> {
    if line.trim().is_empty() {
        return Ok(());
    }
    match queue(group, line, output).await {
        Ok(_) => Ok(()),
        Err(failure) if failure.code == "text-too-large" => {
            output.fail(&failure);
            Ok(())
        }
        Err(failure) => Err(failure),
    }
}

fn say(happening: Happening, output: Output) -> Result<(), Failure> {
    match happening {
        Happening::Issue(issue) => output.say(&Report::Issue {
            issue: issue.code(),
            message_id: issue.message().map(|id| id.to_text()),
        }),
        Happening::Event(Event::ConnectionChanged(connection)) => {
            say_connection(connection, output)
        }
        Happening::Event(Event::StatusChanged { status, reason }) => output.say(&Report::Status {
            status: status.code(),
            reason: reason.map(|reason| reason.code()),
        }),
        Happening::Event(event) => say_of_pairing(&event, output),
    }
}

/// A person gets only what needs attention, and not on the output; a script gets all of it.
fn say_connection(connection: Connection, output: Output) -> Result<(), Failure> {
    if output.is_json() {
        let reason = match connection {
            Connection::Disconnected(reason) => reason.map(|reason| reason.code()),
            _ => None,
        };
        return output.say(&Report::Connection {
            state: connection.code(),
            reason,
        });
    }
    if let Some(failure) = trouble(connection) {
        output.note(failure.code, &format!("{} {}", failure.what, failure.why));
    }
    Ok(())
}
