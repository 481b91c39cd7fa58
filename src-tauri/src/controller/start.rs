//! Opening everything at the start.
//!
//! Owns the order: profile, key store, relay, groups. Files, keychain and databases are
//! opened off the threads that serve the window, which is on the screen meanwhile.

use std::sync::Arc;

use rand_core::OsRng;
use sealpost_engine::backup::clear_unfinished;
use sealpost_engine::engine::{Engine, OpenError, OpenOptions};
use sealpost_engine::keys::KeyStore;
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::Profile;
use sealpost_protocol::address::RelayAddress;

use super::failure::keychain_trouble;
use super::group::{Group, SPARE_GROUPS};
use super::{Controller, Stage, blocking};
use crate::app_error::AppError;
use crate::settings::Settings as _;
use crate::view::KeychainTrouble;

impl Controller {
    /// Opens the profile and all that is in it, or shows the screen that says why not.
    pub async fn start(&self) {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let setup = &self.shared.setup;
        let (data_dir, name) = (setup.data_dir.clone(), setup.profile.clone());
        let opened = blocking(move || Profile::open(&data_dir, &name)).await;
        match opened.and_then(|opened| Ok(Arc::new(opened?))) {
            Ok(profile) => {
                self.state().profile = Some(Arc::clone(&profile));
                self.apply_preferences(profile.preferences());
                self.mend_login_entry(Arc::clone(&profile)).await;
                self.open_key_store(profile).await;
            }
            Err(error) => self.set_stage(Stage::Failed(error)),
        }
    }

    /// Opens the relay, if it is switched on, and every group.
    pub(super) async fn open_groups(&self, profile: Arc<Profile>, keys: Arc<dyn KeyStore>) {
        let namespaces = match profile.namespaces() {
            Ok(namespaces) => namespaces,
            Err(error) => return self.set_stage(Stage::Failed(error.into())),
        };
        self.note_use();
        let (cleared, store) = (Arc::clone(&profile), Arc::clone(&keys));
        // What a restore left that was stopped. What can't be removed now is in nobody's way.
        let _ = blocking(move || clear_unfinished(&cleared, &*store).is_ok()).await;
        self.state().key_store = Some(Arc::clone(&keys));
        self.state().held_elsewhere.clear();
        self.resume_relay(&profile, &keys).await;
        let spare = profile.listed(SPARE_GROUPS);
        for namespace in namespaces {
            if spare.contains(namespace.as_str()) {
                continue;
            }
            match self
                .open_group(&profile, &keys, namespace.clone(), None)
                .await
            {
                Ok(_) => {}
                Err(error) => {
                    if let Some(trouble) = key_trouble(&error) {
                        return self.give_up_groups(trouble).await;
                    }
                    self.note_unopened(namespace, error);
                }
            }
        }
        self.finish_start();
        self.open_links(&profile, &keys).await;
        self.follow_address().await;
    }

    /// Without its keys no group is usable, and a part of them is worse than none.
    async fn give_up_groups(&self, trouble: KeychainTrouble) {
        self.shut_groups(Stage::Keychain(trouble)).await;
        self.stop_relay().await;
    }

    /// Everything is open, unless there is nothing but a failure to show.
    pub(super) fn finish_start(&self) {
        let mut state = self.state();
        state.stage = match state.failure.take() {
            Some(failure) if state.groups.is_empty() => Stage::Failed(failure),
            failure => {
                state.failure = failure;
                Stage::Open
            }
        };
        drop(state);
        self.changed();
    }

    /// Opens one group and lists it.
    pub(super) async fn open_group(
        &self,
        profile: &Profile,
        keys: &Arc<dyn KeyStore>,
        namespace: Namespace,
        relay: Option<RelayAddress>,
    ) -> Result<Engine, OpenError> {
        let setup = &self.shared.setup;
        let engine = Engine::open(OpenOptions {
            directory: profile.directory().to_owned(),
            namespace: namespace.clone(),
            profile_id: profile.id(),
            relay,
            device_name: profile.device_name().unwrap_or_default(),
            key_store: Arc::clone(keys),
            clock: Arc::clone(&setup.clock),
            max_payload_bytes: None,
        })
        .await?;
        let name = namespace.as_str().to_owned();
        let group = Group::new(engine.clone(), profile.group_end(&name));
        self.state().groups.insert(name.clone(), group);
        self.listen(&name, &engine);
        self.count_issues(&name, &engine).await;
        self.take_draft(&name, &engine).await;
        self.changed();
        Ok(engine)
    }

    /// Goes to a stage in which nothing of the groups is shown, and closes them. What is
    /// shown of them ends first, because closing them takes a while.
    pub(super) async fn shut_groups(&self, stage: Stage) {
        self.show_nothing(stage);
        self.withdraw_notifications();
        self.close_groups().await;
    }

    fn show_nothing(&self, stage: Stage) {
        let mut state = self.state();
        state.stage = stage;
        state.key_store = None;
        state.kept_view = None;
    }

    /// Closes every group; all that they hold is on disk then.
    pub(super) async fn close_groups(&self) {
        self.close_links().await;
        let groups = std::mem::take(&mut self.state().groups);
        for group in groups.into_values() {
            group.engine.close().await;
        }
        self.changed();
    }

    /// The namespace for a new group: one whose join was taken back, or a fresh one.
    pub(super) fn take_namespace(&self, profile: &Profile) -> Result<Namespace, AppError> {
        let spare = profile.listed(SPARE_GROUPS);
        let kept = spare.iter().find_map(|name| Namespace::parse(name).ok());
        match kept {
            Some(namespace) => {
                profile.unlist(SPARE_GROUPS, namespace.as_str())?;
                Ok(namespace)
            }
            None => Ok(profile.new_namespace(&mut OsRng)?),
        }
    }
}

/// The keychain screen that an error leads to.
fn key_trouble(error: &OpenError) -> Option<KeychainTrouble> {
    match error {
        OpenError::KeyStore(error) => Some(keychain_trouble(*error)),
        OpenError::KeysMissing => Some(KeychainTrouble::Damaged),
        OpenError::Storage(_) | OpenError::StoreTooNew { .. } => None,
    }
}
