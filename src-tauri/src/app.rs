//! Putting the app together and running it.
//!
//! Owns the order at the start: log, renderer, runtime, single instance, window, controller.
//! The window is on the screen before anything is opened, and its thread never waits for a
//! file, a key or a socket.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use sealpost_engine::clock::SystemClock;
use sealpost_engine::keys::KeychainStore;
use sealpost_protocol::{limit, name};
use sha2::{Digest as _, Sha256};
use tauri::{AppHandle, Manager as _, RunEvent, WindowEvent};

use crate::catalogue::{CurrentCatalogue, Language};
use crate::commands;
use crate::controller::{Controller, Setup};
use crate::desktop::Desktop;
use crate::notification::board::Answer;
use crate::options::{IDENTIFIER, Options, PRODUCT_NAME};
use crate::second_start::{self, Doorbell, Request, Watchdog};
use crate::start_at_login::LoginEntry;
use crate::tray::TrayChoice;
use crate::view::Place;
use crate::window_frame::FrameFile;
use crate::{local_address, log, rendering, screen_lock, tray};

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
    let doorbell = Arc::new(Doorbell::default());
    let watchdog = watch_first_start(&instance);
    let app = tauri::Builder::default()
        .plugin(single_instance(&instance, Arc::clone(&doorbell)))
        .plugin(tauri_plugin_clipboard_manager::init())
        .plugin(tauri_plugin_dialog::init())
        .invoke_handler(commands::handler())
        .setup(move |app| {
            // Whoever gets here is the first start.
            if let Some(watchdog) = &watchdog {
                watchdog.stop();
            }
            Ok(set_up(app.handle(), &options, data_dir, &doorbell)?)
        })
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

/// A second start of the same profile hands its arguments over and ends. It may bring an
/// invitation; everything else about the running app was decided when that one started.
fn single_instance(id: &str, doorbell: Arc<Doorbell>) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    tauri_plugin_single_instance::Builder::new()
        .dbus_id(id)
        .callback(move |_app, arguments, _directory| doorbell.ring(Request::of(arguments)))
        .build()
}

/// What the plugin appends to the name of the running app.
const INSTANCE_SUFFIX: &str = ".SingleInstance";

/// Ends this start with a word when another one has the profile and doesn't answer.
fn watch_first_start(instance: &str) -> Option<Watchdog> {
    let pid = second_start::process_of(&format!("{instance}{INSTANCE_SUFFIX}"))?;
    Some(Watchdog::start(second_start::ANSWER_PATIENCE, move || {
        tell_silence(pid);
        std::process::exit(1);
    }))
}

#[expect(
    clippy::print_stderr,
    reason = "the start ends here, whatever is logged"
)]
fn tell_silence(pid: u32) {
    eprintln!("{PRODUCT_NAME} is already running, but not answering (process {pid})");
    let catalogue = CurrentCatalogue::new(Language::of_system());
    let catalogue = catalogue.get();
    // Whoever clicked on an icon sees no error output. The service may hang as well.
    let (title, body) = (
        catalogue.text("already-running"),
        catalogue.attribute("already-running", "about"),
    );
    let said = std::thread::spawn(move || {
        let mut notice = notify_rust::Notification::new();
        let notice = notice.appname(PRODUCT_NAME).icon(IDENTIFIER);
        let _ = notice.summary(&title).body(&body).show();
    });
    let begun = std::time::Instant::now();
    while !said.is_finished() && begun.elapsed() < NOTICE_PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn set_up(
    app: &AppHandle,
    options: &Options,
    data_dir: PathBuf,
    doorbell: &Doorbell,
) -> tauri::Result<()> {
    let catalogue = Arc::new(CurrentCatalogue::new(Language::of_system()));
    let frame_file = FrameFile::new(&data_dir, &options.profile);
    let login_entry = LoginEntry::of_this_run(options);
    let desktop = Desktop::new(app, Arc::clone(&catalogue), login_entry, frame_file);
    let desktop = Arc::new(desktop);
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
        notice_patience: NOTICE_PATIENCE,
    });
    app.manage(Arc::clone(&desktop));
    app.manage(controller.clone());
    let hidden = options.hidden && options.invitation.is_none();
    desktop.open_window(hidden)?;
    connect(&controller, &desktop);
    let (watching, telling) = (controller.clone(), Arc::clone(&desktop));
    desktop.watch_page(move || give_page_up(&watching, &telling));
    if let Some(link) = &options.invitation {
        controller.open_invitation(link);
    }
    let answering = controller.clone();
    doorbell.answer(move |request| match request {
        Request::Open(link) => answering.open_invitation(&link),
        Request::Show => answering.show(),
        Request::Nothing => {}
    });
    tokio::spawn(end_on_signal(controller.clone()));
    tokio::spawn(restart_if_blank(controller.clone(), Arc::clone(&desktop)));
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

/// Leads what the person does outside of the window to the controller.
fn connect(controller: &Controller, desktop: &Arc<Desktop>) {
    let chooser = controller.clone();
    desktop.add_tray(move |choice| choose(chooser.clone(), choice));
    let answered = controller.clone();
    desktop.add_board(move |answer| match answer {
        Answer::Chosen(subject) => answered.answer_notification(subject),
        Answer::Gone(subject) => answered.forget_notification(&subject),
    });
    let (locked, handle) = (controller.clone(), tokio::runtime::Handle::current());
    screen_lock::watch(move || handle.block_on(locked.handle_screen_lock()));
    let (asking, desktop) = (controller.clone(), Arc::clone(desktop));
    let handle = tokio::runtime::Handle::current();
    // It waits on the bus for as long as the app runs.
    let watch = std::thread::Builder::new().name("tray-host".to_owned());
    let _ = watch.spawn(move || {
        tray::watch_host(|| {
            let has_tray = handle.block_on(asking.ask_for_tray());
            if !has_tray && desktop.is_hidden() {
                desktop.show_minimised();
            }
        });
    });
}

/// How long the end of the app waits for the notification that says so.
const NOTICE_PATIENCE: Duration = Duration::from_secs(2);

/// How long the window may take from being shown to its first picture.
const BLANK_PATIENCE: Duration = Duration::from_secs(5);

/// Starts the app once more with the other renderer when its window stays empty.
async fn restart_if_blank(controller: Controller, desktop: Arc<Desktop>) {
    if !rendering::has_fallback() {
        return;
    }
    let is_alive = || controller.is_window_alive();
    if rendering::stays_blank(desktop.until_shown(), BLANK_PATIENCE, is_alive).await {
        tracing::warn!("the window stays empty: once more with the other renderer");
        restart_with_other_renderer(&controller).await;
    }
}

async fn restart_with_other_renderer(controller: &Controller) {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    // A window that stays empty and a page that ends may both ask for it.
    if HAS_BEGUN.swap(true, Ordering::Relaxed) {
        return;
    }
    controller.close().await;
    rendering::restart_with_fallback();
    controller.quit().await;
}

/// The page can't be shown, however often it is loaded.
fn give_page_up(controller: &Controller, desktop: &Desktop) {
    if !rendering::has_fallback() {
        return desktop.tell_page_lost();
    }
    let controller = controller.clone();
    tauri::async_runtime::spawn(async move { restart_with_other_renderer(&controller).await });
}

fn choose(controller: Controller, choice: TrayChoice) {
    tauri::async_runtime::spawn(async move {
        match choice {
            TrayChoice::Show => controller.show(),
            TrayChoice::Pair => controller.lead_to_pairing().await,
            TrayChoice::Issues => controller.lead_to(Place::Issues, None),
            TrayChoice::Quit => controller.quit().await,
            TrayChoice::SwitchMute => {
                let _ = controller.switch_mute().await;
            }
            TrayChoice::SwitchRelay => {
                // What goes wrong is shown with the relay in the window.
                if controller.switch_relay().await.is_err() {
                    controller.lead_to(Place::Relay, None);
                }
            }
        }
    });
}

fn handle_window_event(app: &AppHandle, event: &WindowEvent) {
    let (Some(controller), Some(desktop)) = (
        app.try_state::<Controller>(),
        app.try_state::<Arc<Desktop>>(),
    ) else {
        return;
    };
    match event {
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            let controller = controller.inner().clone();
            tauri::async_runtime::spawn(async move { controller.handle_window_closed().await });
        }
        WindowEvent::Focused(is_focused) => controller.handle_focus(*is_focused),
        WindowEvent::Moved(_) | WindowEvent::Resized(_) => desktop.note_frame(),
        _ => {}
    }
}

fn handle_run_event(app: &AppHandle, event: RunEvent) {
    let Some(controller) = app.try_state::<Controller>() else {
        return;
    };
    match event {
        // Without a code it is the system that wants the app to end, and nothing is closed yet.
        RunEvent::ExitRequested {
            code: None, api, ..
        } => {
            api.prevent_exit();
            let controller = controller.inner().clone();
            tauri::async_runtime::spawn(async move { controller.quit().await });
        }
        #[cfg(any(target_os = "macos", target_os = "ios"))]
        RunEvent::Opened { urls } => {
            for url in urls {
                controller.open_invitation(url.as_str());
            }
        }
        _ => {}
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
