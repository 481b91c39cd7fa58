//! Everything the app does, without a window.
//!
//! Owns the profile, the choice of the key store, the engine of each group and the relay on
//! this computer; turns what they say into an [`AppView`] and what the person wants into
//! calls of them. It holds no rule of delivery, pairing, membership or storage: those are
//! the engine's and the relay's. What it does to the screen goes through [`Window`].
//!
//! Invariants:
//! - the lock of [`State`] is never held across an await, and nothing under it blocks;
//! - what opens, closes or replaces something (profile, keys, groups, relay) holds
//!   `lifecycle`, so that two of them never interleave;
//! - a fresh identity is never made over an existing profile: an unreadable key store leads
//!   to the screen that says so;
//! - nothing is said to be so before the engine has committed it.

mod attention;
mod auto_lock;
mod backup;
mod clock;
mod data_work;
mod emission;
mod failure;
mod group;
mod group_end;
mod group_relay;
mod issues;
mod keys;
mod links;
mod membership;
mod messages;
mod pairing;
mod passphrase;
mod phones;
mod preferences;
mod relay;
mod relay_test;
mod reopening;
mod search;
mod snapshot;
mod start;
mod support;
#[cfg(test)]
mod tests;
mod upkeep;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sealpost_engine::clock::Clock;
use sealpost_engine::keys::KeyStore;
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::Profile;
use tokio::sync::Notify;

use crate::app_error::{AppError, AppErrorCode};
use crate::catalogue::CurrentCatalogue;
use crate::notification::Notifications;
use crate::settings::{Preferences, Settings as _};
use crate::view::{AppView, CopyText, KeychainTrouble, StatusReason};
use crate::window::{Closing, TrayStatus, Window};

use attention::Destinations;
use data_work::DataDesk;
use emission::ChangedRows;
use group::Group;
use phones::PhonesSlot;
use relay::RelaySlot;

pub use keys::Keychain;

/// How long quitting waits for what opens or closes something.
const QUIT_PATIENCE: Duration = Duration::from_secs(5);

/// What a controller needs to be given.
pub struct Setup {
    /// The folder of the profiles.
    pub data_dir: PathBuf,
    /// The name of the profile.
    pub profile: String,
    /// What invitations name as this computer; the best address of its network if nothing.
    pub relay_host: Option<String>,
    /// Finds the addresses at which other devices can reach this computer, best first.
    pub local_addresses: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    /// The receive and push ports that the relay on this computer takes at first, if no other
    /// program has them; zero for free ones.
    pub usual_ports: (u16, u16),
    /// What to fill into an empty name field.
    pub suggested_device_name: String,
    /// The keychain of the system.
    pub keychain: Arc<dyn Keychain>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The words for what Rust itself puts on the screen.
    pub catalogue: Arc<CurrentCatalogue>,
    /// What the controller does to the screen.
    pub window: Arc<dyn Window>,
    /// How long the end of the app waits for what says that it ends.
    pub notice_patience: Duration,
}

/// The app. Clones share one state.
#[derive(Clone)]
pub struct Controller {
    shared: Arc<Shared>,
}

struct Shared {
    setup: Setup,
    state: Mutex<State>,
    /// Wakes the task that tells the window.
    changed: Notify,
    /// Wakes the task that shows notifications.
    rang: Notify,
    /// Wakes the task that shows the phones what they see.
    phones_rang: Arc<Notify>,
    /// Held by what opens, closes or replaces something.
    lifecycle: tokio::sync::Mutex<()>,
}

/// What there is at the moment.
#[derive(Default)]
struct State {
    stage: Stage,
    profile: Option<Arc<Profile>>,
    key_store: Option<Arc<dyn KeyStore>>,
    /// By namespace, which sorts in the order of creation.
    groups: BTreeMap<String, Group>,
    relay: RelaySlot,
    phones: PhonesSlot,
    /// What went wrong at the start without ending it.
    failure: Option<AppError>,
    /// The groups whose database another program holds.
    held_elsewhere: BTreeSet<Namespace>,
    has_tray: bool,
    changed_rows: BTreeMap<String, ChangedRows>,
    /// How groups ended, or that they go on, as far as it isn't on disk yet.
    unkept_ends: BTreeMap<String, Option<StatusReason>>,
    /// What the person chose, of the profile that is open.
    preferences: Preferences,
    /// What the window shows while the keys move, and all groups are closed for it.
    kept_view: Option<AppView>,
    notifications: Notifications,
    destinations: Destinations,
    /// The group whose newest messages the window shows.
    shown_group: Option<String>,
    /// Whether the window shows the delivery issues.
    shows_issues: bool,
    /// Whether the window has the keyboard.
    is_focused: bool,
    /// Whether the window has shown its first picture.
    is_window_alive: bool,
    /// How many tests of a relay were begun.
    relay_tests: u32,
    /// When the person last used the window.
    used_at_ms: u64,
    data: DataDesk,
}

/// How far the app has come.
#[derive(Default)]
enum Stage {
    /// The profile and the keys are being opened.
    #[default]
    Starting,
    /// The keychain can't be used.
    Keychain(KeychainTrouble),
    /// The passphrase of the key file is wanted.
    Passphrase,
    /// Everything is open.
    Open,
    /// Nothing can be opened.
    Failed(AppError),
    /// Everything is closed; the program is about to end.
    Closed,
}

impl State {
    /// Whether what is in the groups may be shown: not before the keys are there, and not
    /// once the app locks or ends.
    fn is_unlocked(&self) -> bool {
        self.key_store.is_some() && !matches!(self.stage, Stage::Closed)
    }
}

impl Controller {
    /// Makes a controller that has opened nothing yet. To be called inside a runtime, which
    /// the engines and the relay then use too.
    pub fn new(setup: Setup) -> Self {
        let shared = Arc::new(Shared {
            setup,
            state: Mutex::new(State::default()),
            changed: Notify::new(),
            rang: Notify::new(),
            phones_rang: Arc::default(),
            lifecycle: tokio::sync::Mutex::new(()),
        });
        tokio::spawn(attention::run(Arc::downgrade(&shared)));
        tokio::spawn(emission::run(Arc::downgrade(&shared)));
        tokio::spawn(reopening::run(Arc::downgrade(&shared)));
        tokio::spawn(upkeep::run(Arc::downgrade(&shared)));
        Self { shared }
    }

    /// The whole state of the window, but for the messages.
    pub async fn view(&self) -> AppView {
        self.snapshot().await
    }

    /// Whether the app can't go on without the person.
    pub async fn needs_attention(&self) -> bool {
        self.view().await.tray().status == TrayStatus::NeedsAttention
    }

    /// Brings the window to the front.
    pub fn show(&self) {
        self.window().show();
    }

    /// Handles that the person closed the window: with a tray it is hidden, because the app
    /// goes on there, and the first time that is said; without one it could never be found
    /// again, so the app ends.
    pub async fn handle_window_closed(&self) {
        if self.ask_for_tray().await {
            self.window().hide();
            let profile = self.state().profile.clone();
            self.tell_closed(profile, Closing::Hidden).await;
        } else {
            let profile = self.state().profile.clone();
            // Everything is closed before anything waits for whoever shows notifications.
            self.close().await;
            let told = self.tell_closed(profile, Closing::Ended);
            let _ = tokio::time::timeout(self.shared.setup.notice_patience, told).await;
            self.window().exit();
        }
    }

    async fn tell_closed(&self, profile: Option<Arc<Profile>>, what: Closing) {
        let Some(profile) = profile else { return };
        let window = Arc::clone(&self.shared.setup.window);
        // A notice that can't be shown is not worth more than trying.
        let _ = blocking(move || {
            if profile.closing_is_news(what) {
                window.tell_closed(what);
            }
        })
        .await;
    }

    /// Asks whether there is a tray, which on some systems comes and goes.
    pub async fn ask_for_tray(&self) -> bool {
        let window = Arc::clone(&self.shared.setup.window);
        let has_tray = blocking(move || window.has_tray()).await.unwrap_or(false);
        self.state().has_tray = has_tray;
        self.changed();
        has_tray
    }

    /// Puts a text on the clipboard.
    ///
    /// # Errors
    ///
    /// `clipboard-unavailable`.
    pub async fn copy_text(&self, args: CopyText) -> Result<(), AppError> {
        let window = Arc::clone(&self.shared.setup.window);
        blocking(move || window.copy_text(&args.text)).await?
    }

    /// Handles that the window has shown its first picture.
    ///
    /// # Errors
    ///
    /// None; a command like the others.
    pub fn ready(&self) -> Result<(), AppError> {
        self.state().is_window_alive = true;
        Ok(())
    }

    /// Whether the window has shown its first picture.
    pub fn is_window_alive(&self) -> bool {
        self.state().is_window_alive
    }

    /// Closes everything, so that all of it is on disk, and ends the program.
    pub async fn quit(&self) {
        self.close().await;
        self.window().exit();
    }

    /// Closes everything, so that all of it is on disk.
    pub async fn close(&self) {
        self.state().cancel_data_work();
        // Somebody may be asked for the keychain's password just now; nothing is open then.
        let lifecycle = self.shared.lifecycle.lock();
        let _lifecycle = tokio::time::timeout(QUIT_PATIENCE, lifecycle).await;
        self.shut_groups(Stage::Closed).await;
        self.stop_relay().await;
        self.keep_group_ends().await;
        self.state().profile = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle that doesn't keep the app alive, for what the engines call back.
    fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.shared)
    }

    fn window(&self) -> &dyn Window {
        self.shared.setup.window.as_ref()
    }

    fn now_ms(&self) -> u64 {
        self.shared.setup.clock.now_ms()
    }

    /// Says that the window's state is old.
    fn changed(&self) {
        self.shared.changed.notify_one();
    }

    fn set_stage(&self, stage: Stage) {
        self.state().stage = stage;
        self.changed();
    }

    /// The profile and the key store, once everything is open.
    fn opened(&self) -> Result<(Arc<Profile>, Arc<dyn KeyStore>), AppError> {
        let state = self.state();
        match (&state.stage, &state.profile, &state.key_store) {
            (Stage::Open, Some(profile), Some(keys)) => Ok((Arc::clone(profile), Arc::clone(keys))),
            _ => Err(AppErrorCode::Closed.into()),
        }
    }
}

/// Runs what blocks (files, the keychain, the bus) where it disturbs nobody.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, AppError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| AppErrorCode::Internal.into())
}
