//! `restore`: brings the groups of a backup back, beside those that are here.

use rand_core::OsRng;
use sealpost_engine::backup::{Progress, restore};

use crate::arguments::{Global, Restore};
use crate::backup_passphrase;
use crate::device::Device;
use crate::explanation::backup_error;
use crate::failure::Failure;
use crate::output::Output;
use crate::report::Report;

pub(super) async fn run(global: &Global, given: Restore, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let passphrase = backup_passphrase::of_existing(&given.passphrase)?;
    let restored = tokio::task::spawn_blocking(move || {
        let profile = device.profile();
        restore(
            profile,
            device.key_store(),
            &given.file,
            &passphrase,
            &Progress::default(),
            &mut OsRng,
        )
    })
    .await
    .map_err(|_| Failure::bug("The restore ended early.", "A thread broke off"))?
    .map_err(|error| backup_error(error, &global.profile))?;
    let numbers = restored.groups.iter();
    output.say(&Report::Restored {
        groups: numbers.filter_map(|group| group.place()).collect(),
        messages: restored.counts.messages,
        made_at_ms: restored.made_at_ms,
    })
}
