//! `group`: makes a group, lists the groups, gives one another name.

use sealpost_engine::core::status::Connection;
use sealpost_engine::probe_relay;
use sealpost_protocol::address::RelayAddress;

use super::pair::push_out;
use crate::arguments::{Global, Group, GroupNew, GroupRename};
use crate::device::Device;
use crate::explanation::{address_error, engine_error};
use crate::failure::{Exit, Failure};
use crate::open_group::{OpenGroup, is_hopeless, trouble};
use crate::output::Output;
use crate::report::Report;

pub(super) async fn run(global: &Global, group: &Group, output: Output) -> Result<(), Failure> {
    match group {
        Group::New(new) => make(global, new, output).await,
        Group::List => list(&Device::open(global)?, output).await,
        Group::Rename(rename) => rename_group(global, rename, output).await,
        Group::Destroy(destroy) => super::destroy::run(global, destroy, output).await,
    }
}

async fn make(global: &Global, new: &GroupNew, output: Output) -> Result<(), Failure> {
    let relay = RelayAddress::parse(&new.relay).map_err(address_error)?;
    let name = sealpost_protocol::name::clean(&new.name).ok_or_else(name_empty)?;
    let device = Device::open(global)?;
    check_relay(&relay, output).await?;
    let group = OpenGroup::open_new(&device, relay).await?;
    if let Err(error) = group.engine.rename_group(name).await {
        let _ = group.abandon(&device).await;
        return Err(engine_error(error));
    }
    let report = report(&group).await?;
    group.close().await;
    output.say(&report)
}

async fn list(device: &Device, output: Output) -> Result<(), Failure> {
    for namespace in device.namespaces()? {
        let group = OpenGroup::open(device, &namespace, None).await?;
        let report = report(&group).await?;
        group.close().await;
        output.say(&report)?;
    }
    Ok(())
}

async fn rename_group(
    global: &Global,
    rename: &GroupRename,
    output: Output,
) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, rename.group.group.as_deref()).await?;
    let renamed = group.engine.rename_group(rename.name.clone()).await;
    let outcome = match renamed {
        Ok(()) => Ok(Report::Renamed {
            group: group.namespace.as_str().to_owned(),
            name: group.name(),
            told: push_out(&group).await,
        }),
        Err(error) => Err(engine_error(error)),
    };
    group.close().await;
    output.say(&outcome?)
}

async fn report(group: &OpenGroup) -> Result<Report, Failure> {
    Ok(Report::Group {
        number: group.number(),
        group: group.namespace.as_str().to_owned(),
        name: group.name(),
        status: group.engine.status().code(),
        members: group.engine.members().len() + 1,
        unread: group.engine.unread().await.map_err(engine_error)?,
    })
}

/// Refuses a relay that is not the one meant; one that can't be reached only gets a note.
pub(super) async fn check_relay(relay: &RelayAddress, output: Output) -> Result<(), Failure> {
    let connection: Connection = probe_relay(relay).await;
    match trouble(connection) {
        Some(failure) if is_hopeless(connection) => Err(failure),
        Some(failure) => {
            let text = format!("{} {} It is tried again later.", failure.what, failure.why);
            output.note(failure.code, &text);
            Ok(())
        }
        None => Ok(()),
    }
}

fn name_empty() -> Failure {
    Failure::new(
        "group-name-empty",
        Exit::Input,
        "This is no name for a group.",
        "Nothing of it can be seen.",
        "Choose a name with letters or digits. Nothing was made.",
    )
}
