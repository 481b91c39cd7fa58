//! Being told to end: by Ctrl-C, or by whoever started this program.

/// Listens from now on, and waits until the program is told to end.
///
/// Before the call, and where the system lets nobody listen, it ends the program at once.
#[cfg(unix)]
pub(crate) fn interrupted() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let [keyboard, terminate] = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async {
        let told = async |signal: std::io::Result<tokio::signal::unix::Signal>| match signal {
            Ok(mut signal) => signal.recv().await,
            Err(_) => std::future::pending().await,
        };
        tokio::select! {
            _ = told(keyboard) => {}
            _ = told(terminate) => {}
        }
    }
}

/// Listens from now on, and waits until the program is told to end.
#[cfg(windows)]
pub(crate) fn interrupted() -> impl Future<Output = ()> {
    let keyboard = tokio::signal::windows::ctrl_c();
    async {
        match keyboard {
            Ok(mut keyboard) => {
                let _ = keyboard.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    }
}
