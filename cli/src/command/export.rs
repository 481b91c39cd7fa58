//! `export`: prints what can be read of the messages, also of a group that doesn't open.

use rand_core::OsRng;
use sealpost_engine::clock::{Clock as _, SystemClock};
use sealpost_engine::export::{Export, Scratch};
use sealpost_engine::namespace::Namespace;

use super::messages;
use crate::arguments::{Global, InGroup};
use crate::data_work;
use crate::device::Device;
use crate::explanation::{backup_error, open_error};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::report::Report;

/// Messages printed at a time.
const PRINTED_AT_ONCE: usize = 200;

pub(super) async fn run(global: &Global, wanted: InGroup, output: Output) -> Result<(), Failure> {
    let (device, profile) = (Device::open(global)?, global.profile.clone());
    data_work::run(output, move |progress| {
        let stop = || {
            progress
                .check()
                .map_err(|error| backup_error(error, &profile))
        };
        export(&device, &wanted, output, &stop)
    })
    .await?
}

/// `stop` fails once the program was told to end.
fn export(
    device: &Device,
    wanted: &InGroup,
    output: Output,
    stop: &impl Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let wanted = wanted.group.as_deref();
    let (mut is_found, mut failed) = (false, None);
    for namespace in device.namespaces()? {
        stop()?;
        let scratch = scratch()?;
        let read = read(device, &namespace, &scratch);
        let is_meant = wanted.is_none_or(|wanted| {
            let name = read.as_ref().ok().and_then(|read| read.name.as_deref());
            is_called(&namespace, wanted) || name == Some(wanted)
        });
        if !is_meant {
            continue;
        }
        is_found = true;
        // One that can't be read doesn't keep the others.
        match read.and_then(|read| print(&namespace, &read, output, stop)) {
            Err(failure) if matches!(failure.exit, Exit::Other | Exit::Interrupted) => {
                return Err(failure);
            }
            Err(failure) => {
                if let Some(earlier) = failed.replace(failure) {
                    output.fail(&earlier);
                }
            }
            Ok(()) => {}
        }
    }
    match failed {
        Some(failure) => Err(failure),
        None if is_found || wanted.is_none() => Ok(()),
        None => Err(crate::open_group::group_unknown()),
    }
}

fn is_called(namespace: &Namespace, wanted: &str) -> bool {
    let number = wanted.parse().ok();
    namespace.as_str() == wanted || (number.is_some() && namespace.place() == number)
}

fn read(device: &Device, namespace: &Namespace, scratch: &Scratch) -> Result<Export, Failure> {
    let now_ms = SystemClock.now_ms();
    let (profile, keys) = (device.profile(), device.key_store());
    Export::read(profile, keys, namespace, scratch.path(), now_ms).map_err(open_error)
}

fn print(
    namespace: &Namespace,
    read: &Export,
    output: Output,
    stop: &impl Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    output.say(&Report::Export {
        number: namespace.place().unwrap_or_default(),
        group: namespace.as_str().to_owned(),
        name: read.name.clone().unwrap_or_default(),
        messages: read.messages,
        complete: !read.is_damaged,
    })?;
    let mut position = 0;
    loop {
        let page = read.messages_after(position).map_err(open_error)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        position = last.position;
        let reports: Vec<Report> = page
            .iter()
            .map(|message| Report::Message(messages::report(message)))
            .collect();
        for some in reports.chunks(PRINTED_AT_ONCE) {
            stop()?;
            output.say_all(some)?;
        }
    }
}

fn scratch() -> Result<Scratch, Failure> {
    Scratch::make(&mut OsRng).map_err(|error| {
        Failure::new(
            "scratch",
            Exit::Data,
            "There is no place to read the data in.",
            format!("The system says: {}.", error.kind()),
            "Name a folder with room in it by the variable TMPDIR. Nothing was changed.",
        )
    })
}
