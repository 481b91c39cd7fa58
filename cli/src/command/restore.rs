//! `restore`: brings the groups of a backup back, beside those that are here.

use rand_core::OsRng;
use sealpost_engine::backup::restore;

use crate::arguments::{Global, Restore};
use crate::backup_passphrase;
use crate::data_work;
use crate::device::Device;
use crate::explanation::backup_error;
use crate::failure::Failure;
use crate::output::Output;
use crate::report::Report;

pub(super) async fn run(global: &Global, given: Restore, output: Output) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let passphrase = backup_passphrase::of_existing(&given.passphrase)?;
    let restored = data_work::run(output, move |progress| {
        let (profile, keys) = (device.profile(), device.key_store());
        let rng = &mut OsRng;
        restore(profile, keys, &given.file, &passphrase, progress, rng)
    })
    .await?
    .map_err(|error| backup_error(error, &global.profile))?;
    let numbers = restored.groups.iter();
    output.say(&Report::Restored {
        groups: numbers.filter_map(|group| group.place()).collect(),
        messages: restored.counts.messages,
        made_at_ms: restored.made_at_ms,
    })
}
