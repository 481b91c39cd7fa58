//! The end of a group's data on this computer.
//!
//! Owns the one place in the app that deletes messages for good. The data goes first and the
//! key after it: a crash between the two leaves a key of nothing, never data without a key.

use sealpost_engine::core::status::Status;
use sealpost_engine::keys::KeyItemName;
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::database_path;

use super::group::GROUPS_ON_RELAY_HERE;
use super::{Controller, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::settings::Settings as _;
use crate::view::InGroup;

/// What SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

impl Controller {
    /// Deletes all that this computer keeps of a group that is over.
    ///
    /// # Errors
    ///
    /// `group-unknown`; `group-not-over` while this device is in the group; `storage`.
    pub async fn delete_group_history(&self, args: InGroup) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, keys) = self.opened()?;
        let engine = self.engine(&args.group)?;
        if engine.status() != Status::NotJoined {
            return Err(AppError::new(AppErrorCode::GroupNotOver)
                .with_word("status", engine.status().code()));
        }
        let namespace = Namespace::parse(&args.group).map_err(|_| AppErrorCode::GroupUnknown)?;
        engine.close().await;
        let removed = self.state().groups.remove(&args.group);
        drop(removed);
        self.state().unkept_ends.remove(&args.group);
        self.forget_subject(&args.group);
        let group = args.group.clone();
        blocking(move || -> Result<(), AppError> {
            let database = database_path(profile.directory(), &namespace);
            for end in BESIDE {
                let mut path = database.clone().into_os_string();
                path.push(end);
                remove_file(path.as_ref())?;
            }
            remove_file(&database)?;
            keys.remove(&KeyItemName::group(&profile.id(), &namespace))?;
            profile.set_group_end(&group, None)?;
            profile.unlist(GROUPS_ON_RELAY_HERE, &group)?;
            Ok(())
        })
        .await??;
        self.changed();
        Ok(())
    }
}

fn remove_file(path: &std::path::Path) -> Result<(), AppError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(AppError::new(AppErrorCode::Storage).with_word("kind", "unavailable"))
        }
        _ => Ok(()),
    }
}
