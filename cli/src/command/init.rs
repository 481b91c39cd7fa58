//! `init`: makes the profile.

use crate::arguments::{Global, Init};
use crate::device::Device;
use crate::failure::Failure;
use crate::output::Output;
use crate::report::Report;

pub(super) fn run(global: &Global, init: &Init, output: Output) -> Result<(), Failure> {
    let device = Device::create(global, init.name.as_deref(), init.key_store)?;
    output.say(&Report::Profile {
        profile: global.profile.clone(),
        device_name: device.name(),
        key_store: device.key_store_name(),
    })
}
