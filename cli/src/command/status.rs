//! `status`: where this device stands in its groups, and how their relays answer.

use sealpost_engine::core::status::Connection;
use sealpost_engine::probe_relay;

use crate::arguments::{Global, InGroup};
use crate::device::Device;
use crate::explanation::engine_error;
use crate::failure::Failure;
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::report::{Report, StatusReport};

pub(super) async fn run(global: &Global, group: &InGroup, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    if group.group.is_some() {
        let group = OpenGroup::find(&device, group.group.as_deref()).await?;
        return say(group, output).await;
    }
    for namespace in device.namespaces()? {
        say(OpenGroup::open(&device, &namespace, None).await?, output).await?;
    }
    Ok(())
}

async fn say(group: OpenGroup, output: Output) -> Result<(), Failure> {
    let report = report(&group).await;
    group.close().await;
    output.say(&Report::GroupStatus(report?))
}

async fn report(group: &OpenGroup) -> Result<StatusReport, Failure> {
    let engine = &group.engine;
    let unread = engine.unread().await.map_err(engine_error)?;
    let outbox = engine.outbox_copies().await.map_err(engine_error)?;
    let issues = engine.issue_count().await.map_err(engine_error)?;
    let relay = engine.relay();
    // Asked without showing a key: a status must not take messages out of the inbox.
    let connection = match &relay {
        Some(relay) => Some(probe_relay(relay).await),
        None => None,
    };
    let reason = match connection {
        Some(Connection::Disconnected(failure)) => failure.map(|failure| failure.code()),
        _ => None,
    };
    Ok(StatusReport {
        number: group.number(),
        group: group.namespace.as_str().to_owned(),
        name: group.name(),
        status: engine.status().code(),
        members: engine.members().len() + 1,
        unread,
        outbox_copies: outbox,
        issues,
        holds_texts: group.holds_texts(),
        relay_host: relay.map(|relay| relay.host().to_owned()),
        relay: connection.map_or("none", relay_state),
        relay_reason: reason,
    })
}

const fn relay_state(connection: Connection) -> &'static str {
    match connection {
        Connection::Connected => "answers",
        Connection::RelayVersionUnsupported { .. } => "relayVersionUnsupported",
        Connection::Connecting | Connection::Disconnected(_) => "unreachable",
    }
}
