//! The one setting of the web view that has to be made before it starts.
//!
//! WebKitGTK shows an empty window with some drivers unless its DMA-BUF renderer is off: with
//! NVIDIA's that is known beforehand, with others it shows when the window stays empty. The
//! variable has to be in the environment before the first GTK call, and a program may not
//! change its own environment safely, so it starts itself anew with the variable set. A value
//! that the person chose is respected, whatever it is, and so there is one restart at most.

use std::time::Duration;

/// The variable that switches the renderer off.
#[cfg(target_os = "linux")]
const VARIABLE: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// Starts the program anew with the variable set, where the driver is known to need it.
#[cfg(target_os = "linux")]
pub fn prepare() {
    const NVIDIA_DRIVER: &str = "/sys/module/nvidia";

    let is_nvidia = std::path::Path::new(NVIDIA_DRIVER).exists();
    if needs_fallback(is_nvidia, std::env::var_os(VARIABLE).is_some()) {
        restart_with_fallback();
    }
}

/// Whether there is another renderer to try.
#[cfg(target_os = "linux")]
pub fn has_fallback() -> bool {
    // A window that WebDriver drives is not to be taken away from it.
    let is_driven = std::env::var_os("TAURI_WEBVIEW_AUTOMATION").is_some();
    needs_fallback(!is_driven, std::env::var_os(VARIABLE).is_some())
}

/// Waits until the window was shown and then for its first picture. Whether there is none
/// after all of `patience`.
pub async fn stays_blank(
    shown: impl Future<Output = ()>,
    patience: Duration,
    is_alive: impl Fn() -> bool,
) -> bool {
    shown.await;
    tokio::time::sleep(patience).await;
    !is_alive()
}

#[cfg(target_os = "linux")]
fn needs_fallback(is_wanted: bool, is_chosen: bool) -> bool {
    is_wanted && !is_chosen
}

/// Starts the program anew with the other renderer. Comes back only when it can't be started;
/// then it goes on as it is.
#[cfg(target_os = "linux")]
pub fn restart_with_fallback() {
    use std::os::unix::process::CommandExt as _;

    if let Ok(program) = std::env::current_exe() {
        let mut command = std::process::Command::new(program);
        // The name that it was started by is what an entry for the login is written with.
        if let Some(name) = std::env::args_os().next() {
            command.arg0(name);
        }
        let error = command
            .args(std::env::args_os().skip(1))
            .env(VARIABLE, "1")
            .exec();
        tracing::warn!(kind = ?error.kind(), "the renderer could not be chosen");
    }
}

/// Nothing to do on this system.
#[cfg(not(target_os = "linux"))]
pub fn prepare() {}

/// Nothing to do on this system.
#[cfg(not(target_os = "linux"))]
pub fn has_fallback() -> bool {
    false
}

/// Nothing to do on this system.
#[cfg(not(target_os = "linux"))]
pub fn restart_with_fallback() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// One millisecond stands for the seconds of a person.
    const PATIENCE: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn only_a_window_that_was_shown_and_says_nothing_counts_as_blank() {
        assert!(stays_blank(async {}, PATIENCE, || false).await);
        assert!(!stays_blank(async {}, PATIENCE, || true).await);
        // A window that is hidden draws nothing, however long that is.
        let hidden = stays_blank(std::future::pending(), PATIENCE, || false);
        let waited = tokio::time::timeout(PATIENCE * 20, hidden).await;
        assert!(waited.is_err(), "a hidden window was taken for a blank one");
        // It is asked once the patience is over, and not before.
        let is_shown = AtomicBool::new(false);
        let shown = async { is_shown.store(true, Ordering::SeqCst) };
        let is_alive = || is_shown.load(Ordering::SeqCst);
        assert!(!stays_blank(shown, PATIENCE, is_alive).await);
    }

    #[test]
    fn a_value_that_the_person_chose_is_respected() {
        assert!(needs_fallback(true, false));
        assert!(!needs_fallback(true, true));
        assert!(!needs_fallback(false, false));
    }
}
