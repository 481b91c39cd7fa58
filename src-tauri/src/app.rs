//! Putting the app together and running it.
//!
//! Owns the order at the start: log, renderer, runtime, single instance, window, controller.
//! The window is on the screen before anything is opened, and its thread never waits for a
//! file, a key or a socket.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use sealpost_engine::clock::SystemClock;
use sealpost_engine::keys::KeychainStore;
use sealpost_protocol::{limit, name};
use sha2::{Digest as _, Sha256};
use tauri::{AppHandle, Manager as _, RunEvent, WindowEvent};

use crate::catalogue::{Catalogue, Language};
use crate::commands;
use crate::controller::{Controller, Setup};
use crate::desktop::{Desktop, PRODUCT_NAME};
use crate::options::{IDENTIFIER, Options};
use crate::tray::TrayChoice;
use crate::view::{RelayState, SetRelayRunning};
use crate::{local_address, log, rendering};

/// Runs the app until it is quit.
///
/// # Errors
///
/// What keeps the window from being made at all. Everything else has a screen.
pub fn run(options: Options) -> anyhow::Result<()> {
    log::start(options.log_level);
    rendering::prepare();
    let data_dir = options
        .data_dir()
        .context("this user has no home folder: use --data-dir")?;
    let data_dir = std::path::absolute(data_dir).context("the data folder has no name")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("no threads could be started")?;
    tauri::async_runtime::set(runtime.handle().clone());
    let instance = instance_id(&data_dir, &options.profile);
    let app = tauri::Builder::default()
        .plugin(single_instance(&instance))
        .plugin(tauri_plugin_clipboard_manager::init())
        .invoke_handler(commands::handler())
        .setup(move |app| Ok(set_up(app.handle(), &options, data_dir)?))
        .on_window_event(|window, event| handle_window_event(window.app_handle(), event))
        .build(tauri::generate_context!())
        .context("the window could not be made")?;
    app.run(handle_run_event);
    Ok(())
}

/// Names the running app on the session bus: one name for each profile, so that two
/// profiles can run at once and one profile can't.
fn instance_id(data_dir: &Path, profile: &str) -> String {
    let hash = Sha256::new()
        .chain_update(data_dir.as_os_str().as_encoded_bytes())
        .chain_update([0])
        .chain_update(profile)
        .finalize();
    let digits: String = hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{IDENTIFIER}.profile{digits}")
}

/// A second start of the same profile shows the window of the first and ends.
fn single_instance(id: &str) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    tauri_plugin_single_instance::Builder::new()
        .dbus_id(id)
        .callback(|app, _arguments, _directory| {
            if let Some(controller) = app.try_state::<Controller>() {
                controller.show();
            }
        })
        .build()
}

fn set_up(app: &AppHandle, options: &Options, data_dir: PathBuf) -> tauri::Result<()> {
    let catalogue = Arc::new(Catalogue::new(Language::of_system()));
    let desktop = Arc::new(Desktop::new(app, Arc::clone(&catalogue)));
    let handle = tauri::async_runtime::handle();
    let _inside_the_runtime = handle.inner().enter();
    let controller = Controller::new(Setup {
        data_dir,
        profile: options.profile.clone(),
        relay_host: options.relay_host.clone(),
        local_addresses: Arc::new(local_address::reachable),
        usual_ports: (limit::RECEIVE_PORT, limit::PUSH_PORT),
        suggested_device_name: suggested_device_name(),
        keychain: Arc::new(KeychainStore::new()),
        clock: Arc::new(SystemClock),
        catalogue,
        window: Arc::<Desktop>::clone(&desktop),
    });
    app.manage(Arc::clone(&desktop));
    app.manage(controller.clone());
    desktop.open_window(options.hidden)?;
    let chooser = controller.clone();
    desktop.add_tray(move |choice| choose(chooser.clone(), choice));
    let hidden = options.hidden;
    tokio::spawn(end_on_signal(controller.clone()));
    tokio::spawn(async move {
        // Without a tray a hidden window could not be found again.
        if !controller.ask_for_tray().await && hidden {
            desktop.show_minimised();
        }
        controller.start().await;
        // Nobody would know that a hidden app waits for them.
        if hidden && controller.needs_attention().await {
            controller.show();
        }
    });
    Ok(())
}

fn choose(controller: Controller, choice: TrayChoice) {
    tauri::async_runtime::spawn(async move {
        match choice {
            TrayChoice::Show => controller.show(),
            TrayChoice::Quit => controller.quit().await,
            TrayChoice::SwitchRelay => {
                let on = controller.view().await.relay.state != RelayState::On;
                // What goes wrong is shown with the relay in the window.
                if controller
                    .set_relay_running(SetRelayRunning { on })
                    .await
                    .is_err()
                {
                    controller.show();
                }
            }
        }
    });
}

fn handle_window_event(app: &AppHandle, event: &WindowEvent) {
    if let WindowEvent::CloseRequested { api, .. } = event {
        api.prevent_close();
        let Some(controller) = app.try_state::<Controller>() else {
            return;
        };
        let controller = controller.inner().clone();
        tauri::async_runtime::spawn(async move { controller.handle_window_closed().await });
    }
}

fn handle_run_event(app: &AppHandle, event: RunEvent) {
    // Without a code it is the system that wants the app to end, and nothing is closed yet.
    if let RunEvent::ExitRequested {
        code: None, api, ..
    } = event
    {
        let Some(controller) = app.try_state::<Controller>() else {
            return;
        };
        api.prevent_exit();
        let controller = controller.inner().clone();
        tauri::async_runtime::spawn(async move { controller.quit().await });
    }
}

/// Ends the app in order when the system asks for it.
#[cfg(unix)]
async fn end_on_signal(controller: Controller) {
    use tokio::signal::unix::{SignalKind, signal};

    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    controller.quit().await;
}

/// Ends the app in order when the system asks for it.
#[cfg(not(unix))]
async fn end_on_signal(controller: Controller) {
    if tokio::signal::ctrl_c().await.is_ok() {
        controller.quit().await;
    }
}

/// The computer's name, without the domain that some systems append.
fn suggested_device_name() -> String {
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    let name = host.split('.').next().unwrap_or_default();
    name::clean(name).unwrap_or_else(|| PRODUCT_NAME.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_profile_of_each_folder_has_its_own_name_on_the_bus() {
        let id = |folder: &str, profile: &str| instance_id(Path::new(folder), profile);
        assert_eq!(id("/a", "default"), id("/a", "default"));
        assert_ne!(id("/a", "default"), id("/a", "work"));
        assert_ne!(id("/a", "default"), id("/b", "default"));
        assert_ne!(id("/a", "bc"), id("/ab", "c"));
        let name = id("/a", "default");
        assert!(
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.'),
            "{name}"
        );
    }
}
