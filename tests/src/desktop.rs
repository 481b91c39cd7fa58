//! A desktop of its own: a screen, a window manager, a session bus and a Secret Service.
//!
//! Everything lives in one temporary folder, with a HOME and XDG folders of its own. The
//! session bus knows no activatable services, so nothing starts on it that isn't named here.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::process::{OwnedProcess, wait_until};

/// How long a part of the desktop may take to come up.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the keychain of a desktop is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keychain {
    /// A Secret Service with an unlocked collection.
    Unlocked,
    /// A Secret Service whose collection is locked, with nobody to unlock it.
    Locked,
    /// No Secret Service at all.
    Missing,
}

/// A running desktop. Its parts end with it.
#[derive(Debug)]
pub struct Desktop {
    // The order is the order of the end: clients before what they are connected to.
    _window_manager: OwnedProcess,
    keychain: Option<OwnedProcess>,
    _bus: OwnedProcess,
    _screen: OwnedProcess,
    environment: Vec<(&'static str, String)>,
    folder: TempDir,
}

impl Desktop {
    /// Starts a desktop and waits until all of it answers.
    ///
    /// # Errors
    ///
    /// When a part is not installed or doesn't come up.
    pub fn start(keychain: Keychain) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("sealpost-desktop-")
            .tempdir()?;
        let mut environment = environment_of(folder.path())?;
        let (screen, display) = start_screen()?;
        environment.push(("DISPLAY", display));
        let (bus, address) = start_bus(folder.path(), &environment)?;
        // What the system's own bus says is nobody's business here.
        environment.push(("DBUS_SYSTEM_BUS_ADDRESS", address.clone()));
        environment.push(("DBUS_SESSION_BUS_ADDRESS", address));
        let keychain = match keychain {
            Keychain::Unlocked => Some(start_keychain(&environment)?),
            Keychain::Locked => {
                // The collection has to be there before it can be locked.
                drop(start_keychain(&environment)?);
                Some(start_locked_keychain(&environment)?)
            }
            Keychain::Missing => None,
        };
        let mut openbox = Command::new("openbox");
        openbox
            .envs(environment.iter().cloned())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let window_manager = OwnedProcess::start("openbox", &mut openbox)?;
        Ok(Self {
            _window_manager: window_manager,
            keychain,
            _bus: bus,
            _screen: screen,
            environment,
            folder,
        })
    }

    /// The environment of a program that belongs on this desktop.
    pub fn environment(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.environment
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
    }

    /// Prepares `command` to run on this desktop.
    pub fn place<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        // HOME is replaced; cargo's and rustup's own folders must not follow it.
        command
            .env_remove("WAYLAND_DISPLAY")
            .envs(self.environment())
    }

    /// Puts an unlocked keychain in the place of a locked one.
    ///
    /// # Errors
    ///
    /// When it doesn't come up.
    pub fn unlock_keychain(&mut self) -> anyhow::Result<()> {
        self.keychain = None;
        self.keychain = Some(start_keychain(&self.environment)?);
        Ok(())
    }

    /// The folder that this desktop's programs keep their data in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn environment_of(folder: &Path) -> anyhow::Result<Vec<(&'static str, String)>> {
    let private = |name: &str| -> anyhow::Result<String> {
        let path: PathBuf = folder.join(name);
        std::fs::create_dir_all(&path)?;
        // The session bus and the keychain refuse a runtime folder that others can read.
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        path.into_os_string()
            .into_string()
            .ok()
            .context("the temporary folder isn't UTF-8")
    };
    Ok(vec![
        ("HOME", private("home")?),
        ("XDG_RUNTIME_DIR", private("run")?),
        ("XDG_DATA_HOME", private("data")?),
        ("XDG_CONFIG_HOME", private("config")?),
        ("XDG_CACHE_HOME", private("cache")?),
        ("XDG_STATE_HOME", private("state")?),
        ("GDK_BACKEND", "x11".to_owned()),
        ("GSETTINGS_BACKEND", "memory".to_owned()),
        ("LC_ALL", "C.UTF-8".to_owned()),
        ("LANGUAGE", "en".to_owned()),
        ("NO_AT_BRIDGE", "1".to_owned()),
        // The renderer is chosen already, so no window is started again with another one.
        ("WEBKIT_DISABLE_DMABUF_RENDERER", "0".to_owned()),
        // The default renderer stays white for seconds without a graphics card.
        ("WEBKIT_SKIA_ENABLE_CPU_RENDERING", "1".to_owned()),
    ])
}

fn start_screen() -> anyhow::Result<(OwnedProcess, String)> {
    let mut command = Command::new("Xvfb");
    command
        .args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1600x1200x24",
            "-nolisten",
            "tcp",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut screen = OwnedProcess::start("Xvfb", &mut command)?;
    let number = first_line(&mut screen).context("Xvfb named no display")?;
    Ok((screen, format!(":{number}")))
}

fn start_bus(
    folder: &Path,
    environment: &[(&'static str, String)],
) -> anyhow::Result<(OwnedProcess, String)> {
    let config = folder.join("bus.conf");
    let socket = folder.join("bus");
    std::fs::write(
        &config,
        format!(
            "<busconfig><type>session</type><listen>unix:path={}</listen>\
             <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
             <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
            socket.display()
        ),
    )?;
    let mut command = Command::new("dbus-daemon");
    command
        .arg(format!("--config-file={}", config.display()))
        .args(["--nofork", "--print-address=1"])
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut bus = OwnedProcess::start("dbus-daemon", &mut command)?;
    let address = first_line(&mut bus).context("the session bus named no address")?;
    Ok((bus, address))
}

fn start_keychain(environment: &[(&'static str, String)]) -> anyhow::Result<OwnedProcess> {
    let mut command = Command::new("gnome-keyring-daemon");
    command
        .args(["--foreground", "--unlock", "--components=secrets"])
        .envs(environment.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut keychain = OwnedProcess::start("gnome-keyring-daemon", &mut command)?;
    // The password of the new collection; the end of the input is the end of the password.
    let mut input = keychain
        .child()
        .stdin
        .take()
        .context("the keychain has no input")?;
    input.write_all(b"a desktop's own password")?;
    drop(input);
    wait_until("the Secret Service", PATIENCE, || {
        store_probe(environment).then_some(())
    })?;
    Ok(keychain)
}

/// Starts the Secret Service without the password of its collection.
fn start_locked_keychain(environment: &[(&'static str, String)]) -> anyhow::Result<OwnedProcess> {
    let mut command = Command::new("gnome-keyring-daemon");
    command
        .args(["--foreground", "--components=secrets"])
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let keychain = OwnedProcess::start("gnome-keyring-daemon", &mut command)?;
    wait_until("the Secret Service", PATIENCE, || {
        has_service(environment).then_some(())
    })?;
    Ok(keychain)
}

/// Whether something answers as the Secret Service.
fn has_service(environment: &[(&'static str, String)]) -> bool {
    let mut command = Command::new("dbus-send");
    command
        .args([
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.secrets",
            "/org/freedesktop/secrets",
            "org.freedesktop.DBus.Peer.Ping",
        ])
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    OwnedProcess::start("dbus-send", &mut command)
        .and_then(|mut ping| ping.wait(PATIENCE))
        .is_ok_and(|status| status.success())
}

/// Whether a secret can be stored, which needs the unlocked collection and not only the name.
fn store_probe(environment: &[(&'static str, String)]) -> bool {
    let mut command = Command::new("secret-tool");
    command
        .args(["store", "--label=probe", "sealpost-probe", "probe"])
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    OwnedProcess::start("secret-tool", &mut command)
        .and_then(|mut probe| probe.wait(PATIENCE))
        .is_ok_and(|status| status.success())
}

fn first_line(process: &mut OwnedProcess) -> anyhow::Result<String> {
    let pipe = process.child().stdout.take().context("no output to read")?;
    let mut line = String::new();
    BufReader::new(pipe).read_line(&mut line)?;
    let line = line.trim().to_owned();
    anyhow::ensure!(!line.is_empty(), "it ended without a word");
    Ok(line)
}
