//! `backup`: writes all groups into one file under a passphrase.

use rand_core::OsRng;
use sealpost_engine::backup::{Contents, make, portable_settings};
use sealpost_engine::clock::{Clock as _, SystemClock};
use tokio::runtime::Handle;

use crate::arguments::{Backup, Global};
use crate::backup_passphrase;
use crate::data_work;
use crate::device::Device;
use crate::explanation::backup_error;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::report::Report;

pub(super) async fn run(global: &Global, backup: &Backup, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let passphrase = backup_passphrase::new(&backup.passphrase)?;
    let (mut groups, mut left_out) = (Vec::new(), 0_usize);
    for namespace in device.namespaces()? {
        match device.open_group(&namespace, None).await {
            Ok(group) => groups.push(group),
            Err(failure) => {
                left_out += 1;
                output.fail(&failure);
            }
        }
    }
    let contents = Contents {
        groups: groups.clone(),
        left_out,
        device_name: Some(device.name()),
        settings: portable_settings(device.profile()),
        now_ms: SystemClock.now_ms(),
    };
    let (file, runtime) = (backup.file.clone(), Handle::current());
    let made = data_work::run(output, move |progress| {
        let rng = &mut OsRng;
        make(&contents, &file, &passphrase, progress, &runtime, rng)
    })
    .await;
    for group in groups {
        group.close().await;
    }
    let made = made?.map_err(|error| backup_error(error, &global.profile))?;
    output.say(&Report::Backup {
        groups: made.groups,
        messages: made.messages,
    })?;
    if left_out > 0 {
        return Err(incomplete(left_out));
    }
    Ok(())
}

fn incomplete(left_out: usize) -> Failure {
    Failure::new(
        "backup-incomplete",
        Exit::Data,
        "The backup doesn't hold every group.",
        format!("Groups that could not be opened: {left_out}; see above."),
        "`sealpost export` prints what can be read of them.",
    )
}
