//! `run`: the relay until somebody stops it.

use std::sync::Arc;

use sealpost_relay::{Config, Relay, SystemClock};
use tokio::runtime::Runtime;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use super::arguments::RunOptions;
use super::explanation::Explanation;
use super::print;
use super::setup::Setup;

/// Runs the relay.
pub(crate) fn run(options: &RunOptions) -> Result<(), Explanation> {
    let mut setup = Setup::load(
        &options.place,
        &[
            (
                "--listen-receive",
                "relay.listen_receive",
                options.listen_receive.as_deref(),
            ),
            (
                "--listen-push",
                "relay.listen_push",
                options.listen_push.as_deref(),
            ),
            (
                "--listen-health",
                "relay.listen_health",
                options.listen_health.as_deref(),
            ),
            (
                "--listen-web",
                "relay.listen_web",
                options.listen_web.as_deref(),
            ),
        ],
    )?;
    setup.config.dev_mode |= options.dev;
    setup.config.reset_store |= options.reset_store;
    start_log(options, &setup.config);
    raise_file_limit();
    let runtime = Runtime::new().map_err(|error| Explanation::runtime(&error))?;
    finish(runtime, serve(&setup))
}

/// Runs `work` and leaves behind what still waits for a disk: a thread that hangs there
/// mustn't keep a program alive that was told to stop at once.
fn finish<T>(runtime: Runtime, work: impl Future<Output = T>) -> T {
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}

async fn serve(setup: &Setup) -> Result<(), Explanation> {
    let mut stop = Box::pin(stop_signal().map_err(|error| Explanation::runtime(&error))?);
    let key = setup.key()?;
    let starting = Relay::start(setup.config.clone(), key, Arc::new(SystemClock));
    let relay = tokio::select! {
        started = starting => {
            started.map_err(|error| Explanation::start(&setup.config.store_path, &error))?
        }
        () = &mut stop => return Ok(()),
    };
    if let Err(error) = print_start(setup, &relay) {
        relay.stop().await;
        return Err(error);
    }
    let ended = relay.ended();
    run_until(relay, stop, ended).await
}

/// Stops the relay when somebody asks for it, or when it has `ended`: a process that lives on
/// with a relay that can't store would be restarted by nobody.
async fn run_until(
    relay: Relay,
    stop: impl Future<Output = ()>,
    ended: impl Future<Output = ()>,
) -> Result<(), Explanation> {
    tokio::select! {
        () = stop => {}
        () = ended => {
            relay.stop().await;
            return Err(Explanation::ended());
        }
    }
    let at_once = stop_signal().map_err(|error| Explanation::runtime(&error))?;
    // Whoever read the first lines may be gone by now, which is no reason not to stop in order.
    let _ = print("Stopping; press Ctrl+C again to stop at once.");
    let _ = tokio::select! {
        () = relay.stop() => print("Stopped."),
        () = at_once => print("Stopped at once."),
    };
    Ok(())
}

fn print_start(setup: &Setup, relay: &Relay) -> Result<(), Explanation> {
    let ports = relay.ports();
    print("The relay is running.")?;
    print(format!("  Receive port: {}", ports.receive))?;
    print(format!("  Push port:    {}", ports.push))?;
    match ports.health {
        Some(port) => print(format!("  Health:       http://localhost:{port}/healthz"))?,
        None => print("  Health:       off")?,
    }
    if let Some(port) = ports.web {
        print(format!("  Web port:     {port}"))?;
    }
    print(format!("  Key file:     {}", setup.key_path.display()))?;
    print(format!(
        "  Data:         {}",
        setup.config.store_path.display()
    ))?;
    if let Ok(address) = relay.address("HOST") {
        print(format!(
            "  Address:      {}",
            address.to_text().replace("@host:", "@HOST:")
        ))?;
        print("                (put the name or IP address of this machine in place of HOST)")?;
    }
    print("Stop it with Ctrl+C.")
}

/// Logs to standard output. Development mode logs decisions too, and still nothing that
/// names a device: only Sealpost's own crates promise that, so only they may write.
fn start_log(options: &RunOptions, config: &Config) {
    let default = if config.dev_mode {
        LevelFilter::DEBUG
    } else {
        LevelFilter::INFO
    };
    let level = options.log.unwrap_or(default);
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(format!("off,sealpost={level}")))
        .with_ansi(false)
        .with_writer(std::io::stdout)
        // It would tell standard error, and panic where that is closed too.
        .log_internal_errors(false)
        .init();
    if config.dev_mode {
        tracing::warn!("development mode is on; don't run a relay for others this way");
    }
}

/// Lets the relay hold as many connections as the system allows this user.
#[cfg(unix)]
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    );
    if raised.is_err() {
        tracing::debug!("the limit of open files stays as it was");
    }
}

#[cfg(not(unix))]
fn raise_file_limit() {}

/// Resolves when somebody asks the program to stop.
#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without a handler the program can only be ended from outside.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::mpsc;
    use std::time::Duration;

    use sealpost_protocol::key::NoiseSecret;

    use super::*;

    /// Both ways to the end, and whether that was the plan.
    #[tokio::test]
    async fn a_relay_that_ends_by_itself_is_stopped_and_that_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let anywhere = "127.0.0.1:0".parse().unwrap();
        let config = Config {
            listen_receive: anywhere,
            listen_push: anywhere,
            listen_health: None,
            store_path: folder.path().join("inbox.db"),
            ..Config::default()
        };
        let start = || {
            let key = NoiseSecret::from_bytes([7; 32]);
            Relay::start(config.clone(), key, Arc::new(SystemClock))
        };
        let relay = start().await.unwrap();
        let explanation = run_until(relay, pending(), ready(())).await.unwrap_err();
        assert!(explanation.to_string().contains("has ended by itself"));
        // The store is free again, so the first one has let go of it.
        let relay = start().await.unwrap();
        run_until(relay, ready(()), pending()).await.unwrap();
    }

    #[test]
    fn a_hanging_disk_does_not_keep_the_program() {
        let (_disk, answer) = mpsc::channel::<()>();
        let (done, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = Runtime::new().unwrap();
            finish(runtime, async {
                let (begun, begin) = tokio::sync::oneshot::channel();
                tokio::task::spawn_blocking(move || {
                    begun.send(()).unwrap();
                    answer.recv()
                });
                begin.await.unwrap();
            });
            done.send(())
        });
        ended.recv_timeout(Duration::from_secs(20)).unwrap();
    }
}
