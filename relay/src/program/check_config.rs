//! `check-config`: whether `run` would accept the configuration.

use sealpost_relay::{check_certificate, effective_toml};

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
    let web = setup.config.web.as_ref();
    if let Some(tls) = web.and_then(|web| web.tls.as_ref()) {
        check_certificate(tls).map_err(Explanation::certificate)?;
    }
    let source = match &setup.config_path {
        Some(path) => format!("The configuration in {} can be used.", path.display()),
        None => "No configuration file; the environment and the defaults can be used.".to_owned(),
    };
    print(source)?;
    let settings = effective_toml(&setup.config, &setup.key_path);
    print(format!("It comes to:\n\n{}", settings.trim_end()))?;
    if setup.config.dev_mode {
        print("\nDevelopment mode is on.")?;
    }
    if setup.config.reset_store {
        print("\nA store of a release that is too old to be read will be emptied.")?;
    }
    Ok(())
}
