//! Being told to end: by Ctrl-C, or by whoever started this program.

/// Waits until the program is told to end.
pub(crate) async fn interrupted() {
    let keyboard = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = keyboard => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = keyboard.await;
}
