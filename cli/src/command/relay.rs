//! `relay run`: the stand-alone relay's library in this process; `relay test`: how one answers.
//!
//! The relay that runs keeps its key and its store in the profile's folder, apart from the groups, and needs
//! neither the profile's keys nor its lock: a device and its relay can run side by side.

use std::path::Path;
use std::sync::Arc;

use sealpost_engine::core::status::ConnectFailure;
use sealpost_engine::test_relay;
use sealpost_protocol::address::RelayAddress;
use sealpost_relay::{Config, Relay, SystemClock, WebConfig, everywhere, key_file};

use crate::arguments::{Global, Relay as RelayCommand, RelayRun, RelayTest};
use crate::device::{Device, computer_name, profile_dir};
use crate::explanation::{
    address_error, connect_failure, relay_key_error, relay_start_error, relay_step_failure,
};
use crate::failure::Failure;
use crate::interrupt::interrupted;
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::report::{RelayStepReport, Report};

/// The folder of the relay in that of the profile, as in the app.
const FOLDER: &str = "relay";
/// The relay's key in its folder.
const KEY_FILE: &str = "keypair.hex";
/// The relay's store in its folder.
const STORE_FILE: &str = "inbox.db";

pub(super) async fn run(
    global: &Global,
    relay: &RelayCommand,
    output: Output,
) -> Result<(), Failure> {
    match relay {
        RelayCommand::Run(run) => run_until_interrupted(global, run, output).await,
        RelayCommand::Test(test) => self::test(global, test, output).await,
    }
}

async fn run_until_interrupted(
    global: &Global,
    run: &RelayRun,
    output: Output,
) -> Result<(), Failure> {
    let relay = start(&profile_dir(global)?.join(FOLDER), run).await?;
    let host = run.host.clone().unwrap_or_else(computer_name);
    let address = match relay.address(&host) {
        Ok(address) => address.to_text(),
        Err(error) => {
            relay.stop().await;
            return Err(address_error(error));
        }
    };
    let ports = relay.ports();
    let running = output.say(&Report::RelayRunning {
        address,
        receive_port: ports.receive,
        push_port: ports.push,
        health_port: ports.health,
        web_port: ports.web,
        web_url: ports.web.map(|port| web_url(&host, port)),
    });
    if running.is_ok() {
        interrupted().await;
    }
    relay.stop().await;
    running.and_then(|()| output.say(&Report::RelayStopped))
}

/// The address of the web door. An IPv6 address stands in brackets.
fn web_url(host: &str, port: u16) -> String {
    let brackets = if host.contains(':') {
        ("[", "]")
    } else {
        ("", "")
    };
    format!("http://{}{host}{}:{port}", brackets.0, brackets.1)
}

/// Says each step as it ends.
async fn test(global: &Global, test: &RelayTest, output: Output) -> Result<(), Failure> {
    let address = match &test.address {
        Some(address) => RelayAddress::parse(address).map_err(address_error)?,
        None => address_of_group(global, test.group.as_deref()).await?,
    };
    let mut said = Ok(());
    let tested = test_relay(&address, |report| {
        if said.is_ok() {
            let ended = RelayStepReport::new(report.step, report.state);
            said = ended.map_or(Ok(()), |step| output.say(&Report::RelayStep(step)));
        }
    })
    .await;
    said?;
    tested.map_err(|(step, failure)| relay_step_failure(step, failure))
}

/// The relay that the group uses; its data stays closed during the test.
async fn address_of_group(global: &Global, group: Option<&str>) -> Result<RelayAddress, Failure> {
    let group = OpenGroup::find(&Device::open(global)?, group).await?;
    let relay = group.engine.relay();
    group.close().await;
    relay.ok_or_else(|| connect_failure(ConnectFailure::NoRelay))
}

async fn start(folder: &Path, run: &RelayRun) -> Result<Relay, Failure> {
    let key = key_file::load_or_create(&folder.join(KEY_FILE)).map_err(relay_key_error)?;
    let config = Config {
        store_path: folder.join(STORE_FILE),
        listen_receive: everywhere(run.receive_port),
        listen_push: everywhere(run.push_port),
        listen_health: run.health_port.map(everywhere),
        web: run.web_port.map(|port| WebConfig {
            page: run.web_page,
            ..WebConfig::server(everywhere(port))
        }),
        ..Config::default()
    };
    Relay::start(config, key, Arc::new(SystemClock))
        .await
        .map_err(relay_start_error)
}
