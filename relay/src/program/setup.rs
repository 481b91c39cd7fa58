//! From options, file and environment to settings, a key and paths.

use std::io;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use sealpost_protocol::key::NoiseSecret;
use sealpost_relay::{Config, Settings, SuppliedKey, key_file};

use super::arguments::Place;
use super::explanation::Explanation;

/// The file that is read when none is named.
const CONFIG_FILE: &str = "relay.toml";

/// Everything a subcommand needs to know.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) config: Config,
    pub(super) config_path: Option<PathBuf>,
    pub(super) key_path: PathBuf,
    supplied_key: Option<SuppliedKey>,
}

impl Setup {
    /// Reads file and environment; `options` are applied last.
    pub(super) fn load(
        place: &Place,
        options: &[(&'static str, &str, Option<&str>)],
    ) -> Result<Self, Explanation> {
        let mut settings = Settings::default();
        let config_path = config_path(place);
        if let Some(path) = &config_path {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Explanation::config_file(path, &error))?;
            settings
                .read_file(&text)
                .map_err(|error| Explanation::config(&error))?;
        }
        settings
            .read_environment(std::env::vars_os())
            .map_err(|error| Explanation::config(&error))?;
        for (option, key, value) in options {
            if let Some(value) = value {
                settings
                    .read_option(option, key, value)
                    .map_err(|error| Explanation::config(&error))?;
            }
        }
        Self::place_files(place, settings, config_path)
    }

    fn place_files(
        place: &Place,
        settings: Settings,
        config_path: Option<PathBuf>,
    ) -> Result<Self, Explanation> {
        let Settings {
            mut config,
            store_path_is_set,
            key_path,
            supplied_key,
            ..
        } = settings;
        if store_path_is_set && let Some(key_path) = key_path {
            // Whoever names a folder to get away from a damaged store must not get that store.
            if place.data_dir.is_some() {
                return Err(Explanation::data_folder_is_of_no_use());
            }
            return Ok(Self {
                config,
                config_path,
                key_path,
                supplied_key,
            });
        }
        let folder = data_folder(place)?;
        if !store_path_is_set {
            config.store_path = folder.join("inbox.db");
        }
        let key_path = key_path.unwrap_or_else(|| folder.join("keypair.hex"));
        Ok(Self {
            config,
            config_path,
            key_path,
            supplied_key,
        })
    }

    /// The relay's key, made on the first start.
    pub(super) fn key(&self) -> Result<NoiseSecret, Explanation> {
        let loaded = match &self.supplied_key {
            Some(SuppliedKey(supplied)) => key_file::load_or_supply(&self.key_path, supplied),
            None => key_file::load_or_create(&self.key_path),
        };
        loaded.map_err(|error| Explanation::key_file(&self.key_path, error))
    }
}

fn config_path(place: &Place) -> Option<PathBuf> {
    if place.no_config {
        return None;
    }
    let default = || {
        Path::new(CONFIG_FILE)
            .exists()
            .then(|| PathBuf::from(CONFIG_FILE))
    };
    place.config.clone().or_else(default)
}

/// An absolute path, so that what is printed can be found again.
fn data_folder(place: &Place) -> Result<PathBuf, Explanation> {
    match &place.data_dir {
        Some(folder) => {
            std::path::absolute(folder).map_err(|error: io::Error| Explanation::runtime(&error))
        }
        None => ProjectDirs::from("", "", "sealpost-relay")
            .map(|folders| folders.data_dir().to_owned())
            .ok_or_else(Explanation::no_data_folder),
    }
}
