//! The one setting of the web view that has to be made before it starts.
//!
//! WebKitGTK shows an empty window with NVIDIA's driver unless its DMA-BUF renderer is off.
//! The variable has to be in the environment before the first GTK call, and a program may
//! not change its own environment safely, so it starts itself anew with the variable set.
//! A value that the person chose is respected, whatever it is.

/// Starts the program anew with the variable set, where that is needed.
#[cfg(target_os = "linux")]
pub fn prepare() {
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::Command;

    const VARIABLE: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
    const NVIDIA_DRIVER: &str = "/sys/module/nvidia";

    if std::env::var_os(VARIABLE).is_some() || !Path::new(NVIDIA_DRIVER).exists() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        // Comes back only when the program can't be started; then it goes on as it is.
        let error = Command::new(program)
            .args(std::env::args_os().skip(1))
            .env(VARIABLE, "1")
            .exec();
        tracing::warn!(kind = ?error.kind(), "the renderer could not be chosen");
    }
}

/// Nothing to do on this system.
#[cfg(not(target_os = "linux"))]
pub fn prepare() {}
