//! The commands, one module each: they open what they need, say what happens and close.

mod backup;
mod compare;
mod destroy;
mod export;
mod group;
mod init;
mod issues;
mod join;
mod leave;
mod link;
mod members;
mod messages;
mod pair;
mod relay;
mod remove;
mod restore;
mod send;
mod status;
mod tail;
mod typed_code;
mod wormhole;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::output::Output;

/// Runs the command that was typed.
pub(crate) async fn run(arguments: Arguments, output: Output) -> Result<(), Failure> {
    let global = &arguments.global;
    match arguments.command {
        Command::Init(init) => init::run(global, &init, output),
        Command::Group(group) => group::run(global, &group, output).await,
        Command::Pair(pair) => pair::run(global, &pair, output).await,
        Command::Join(join) => join::run(global, &join, output).await,
        Command::Send(send) => send::run(global, &send, output).await,
        Command::Tail(tail) => tail::run(global, &tail, output).await,
        Command::Messages(messages) => messages::run(global, &messages, output).await,
        Command::Members(members) => members::run(global, &members, output).await,
        Command::Compare(group) => compare::run(global, &group, output).await,
        Command::Remove(remove) => remove::run(global, &remove, output).await,
        Command::Leave(leave) => leave::run(global, &leave, output).await,
        Command::Forget(forget) => leave::forget(global, &forget, output).await,
        Command::Status(group) => status::run(global, &group, output).await,
        Command::Issues(issues) => issues::run(global, &issues, output).await,
        Command::Backup(backup) => backup::run(global, &backup, output).await,
        Command::Restore(restore) => restore::run(global, restore, output).await,
        Command::Export(group) => export::run(global, group, output).await,
        Command::Link(link) => link::run(global, &link, output).await,
        Command::Wormhole(wormhole) => wormhole::run(&wormhole, output).await,
        Command::Relay(relay) => relay::run(global, &relay, output).await,
    }
}
