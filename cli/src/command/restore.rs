//! `restore`: brings the groups of a backup back, beside those that are here.

use std::collections::BTreeMap;

use rand_core::OsRng;
use sealpost_engine::backup::{Progress, Restored, ShellSettings, restore, welcome_settings};
use sealpost_engine::profile::Profile;

use crate::arguments::{Global, Restore};
use crate::backup_passphrase;
use crate::device::Device;
use crate::explanation::backup_error;
use crate::failure::Failure;
use crate::output::Output;
use crate::report::Report;

/// The setting that says what ended each group that this device is not in, as the app has it.
const ENDED_GROUPS: &str = "endedGroups";
/// What it says of a group that came out of a backup.
const RESTORED: &str = "restored";

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
            |restored| settings(profile, restored),
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

fn settings(profile: &Profile, restored: &Restored) -> ShellSettings {
    let mut settings = welcome_settings(profile, restored);
    let known = profile.setting(ENDED_GROUPS);
    let mut ended: BTreeMap<String, serde_json::Value> = known
        .and_then(|known| serde_json::from_value(known).ok())
        .unwrap_or_default();
    for group in &restored.groups {
        ended.insert(group.as_str().to_owned(), RESTORED.into());
    }
    settings.insert(ENDED_GROUPS.to_owned(), ended.into_iter().collect());
    settings
}
