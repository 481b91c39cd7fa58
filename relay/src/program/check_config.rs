//! `check-config`: whether `run` would accept the configuration.

use super::arguments::Place;
use super::explanation::Explanation;
use super::print;
use super::setup::Setup;

/// Reads everything `run` reads, and starts and makes nothing.
pub(crate) fn check(place: &Place) -> Result<(), Explanation> {
    let setup = Setup::load(place, &[])?;
    setup
        .config
        .check()
        .map_err(|error| Explanation::config(&error))?;
    let source = match &setup.config_path {
        Some(path) => format!("The configuration in {} can be used.", path.display()),
        None => "No configuration file; the environment and the defaults can be used.".to_owned(),
    };
    print(source)?;
    print(format!("  Key file: {}", setup.key_path.display()))?;
    print(format!("  Data:     {}", setup.config.store_path.display()))
}
