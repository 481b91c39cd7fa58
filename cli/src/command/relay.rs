//! `relay run`: the stand-alone relay's library in this process.
//!
//! It keeps its key and its store in the profile's folder, apart from the groups, and needs
//! neither the profile's keys nor its lock: a device and its relay can run side by side.

use std::path::Path;
use std::sync::Arc;

use sealpost_relay::{Config, Relay, SystemClock, everywhere, key_file};

use crate::arguments::{Global, Relay as RelayCommand, RelayRun};
use crate::device::{computer_name, profile_dir};
use crate::explanation::{address_error, relay_key_error, relay_start_error};
use crate::failure::Failure;
use crate::interrupt::interrupted;
use crate::output::Output;
use crate::report::Report;

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
    let RelayCommand::Run(run) = relay;
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
    });
    if running.is_ok() {
        interrupted().await;
    }
    relay.stop().await;
    running.and_then(|()| output.say(&Report::RelayStopped))
}

async fn start(folder: &Path, run: &RelayRun) -> Result<Relay, Failure> {
    let key = key_file::load_or_create(&folder.join(KEY_FILE)).map_err(relay_key_error)?;
    let config = Config {
        store_path: folder.join(STORE_FILE),
        listen_receive: everywhere(run.receive_port),
        listen_push: everywhere(run.push_port),
        listen_health: run.health_port.map(everywhere),
        ..Config::default()
    };
    Relay::start(config, key, Arc::new(SystemClock))
        .await
        .map_err(relay_start_error)
}
