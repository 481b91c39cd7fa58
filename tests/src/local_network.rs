//! A network of two hosts, with nothing else on it: a computer and a phone, joined by a wire.
//!
//! The test runs itself once more, inside network namespaces of its own: it is the computer
//! then, and the phone is a second namespace. What listens on the computer's address there is
//! reached over a real interface and not over the loopback one, so a browser treats it as it
//! treats a computer in somebody's home. Nothing leaves the two.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

/// The computer's address.
pub const COMPUTER: &str = "192.168.77.20";

/// Says that the test is inside already.
const INSIDE: &str = "SEALPOST_LOCAL_NETWORK";

/// What `ip` calls the phone's namespace.
const PHONE_SPACE: &str = "phone";

/// What `ip` calls the computer's end of the wire.
const WIRE: &str = "lan0";

/// Makes both hosts and the wire, and goes on as the program that its arguments name. The way
/// out of the network leads nowhere; a computer has one all the same, and finds its own address
/// by it.
const SET_UP: &str = "
    mount -t tmpfs none /run
    mkdir /run/netns
    ip link set lo up
    ip netns add phone
    ip link add lan0 type veth peer name lan1 netns phone
    ip address add 192.168.77.20/24 dev lan0
    ip link set lan0 up
    ip netns exec phone ip link set lo up
    ip netns exec phone ip address add 192.168.77.30/24 dev lan1
    ip netns exec phone ip link set lan1 up
    ip route add default via 192.168.77.1
    exec \"$0\" \"$@\"
";

/// Both hosts, seen from the computer.
#[derive(Debug)]
pub struct LocalNetwork(());

impl LocalNetwork {
    /// The network, if the test is inside it. Otherwise the test named `test` of this program
    /// is run inside one to its end, and nothing is returned.
    ///
    /// # Errors
    ///
    /// When the system gives no namespaces, or the test failed inside.
    pub fn enter(test: &str) -> anyhow::Result<Option<Self>> {
        if std::env::var_os(INSIDE).is_some() {
            return Ok(Some(Self(())));
        }
        let status = Command::new("unshare")
            .args(["--map-root-user", "--net", "--mount", "--", "sh", "-euc"])
            .arg(SET_UP)
            .arg(std::env::current_exe()?)
            .args(["--exact", test, "--nocapture"])
            .env(INSIDE, "1")
            .status()
            .context("unshare isn't installed")?;
        ensure!(status.success(), "{test} failed inside its network");
        Ok(None)
    }

    /// Writes a script to `folder` that runs `program` as a program of the phone.
    ///
    /// # Errors
    ///
    /// When it can't be written.
    pub fn on_phone(&self, program: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
        use std::os::unix::fs::PermissionsExt as _;

        let script = folder.join("on-phone");
        let program = program.display();
        let text = format!("#!/bin/sh\nexec ip netns exec {PHONE_SPACE} {program} \"$@\"\n");
        std::fs::write(&script, text)?;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
        Ok(script)
    }

    /// Pulls the wire out.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn cut(&self) -> anyhow::Result<()> {
        ip(&["link", "set", WIRE, "down"])
    }

    /// Puts the wire in again.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn mend(&self) -> anyhow::Result<()> {
        ip(&["link", "set", WIRE, "up"])?;
        ip(&["route", "replace", "default", "via", "192.168.77.1"])
    }
}

fn ip(arguments: &[&str]) -> anyhow::Result<()> {
    let status = Command::new("ip").args(arguments).status();
    let status = status.context("iproute2 isn't installed")?;
    ensure!(status.success(), "ip refused {arguments:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::Stdio;

    use super::*;

    /// Shows that the wire is one before any program is blamed for what it doesn't get.
    #[test]
    fn the_phone_reaches_the_computer_while_the_wire_is_in() {
        let name = "local_network::tests::the_phone_reaches_the_computer_while_the_wire_is_in";
        let Some(network) = LocalNetwork::enter(name).unwrap() else {
            return;
        };
        let listener = TcpListener::bind((COMPUTER, 0)).unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            use std::io::{Read as _, Write as _};
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 1_024]);
                let _ = stream.write_all(b"HTTP/1.0 204 No Content\r\n\r\n");
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let curl = network.on_phone(Path::new("curl"), folder.path()).unwrap();
        let reaches = || {
            let mut command = Command::new(&curl);
            command.args(["--silent", "--max-time", "2", &url]);
            command.stdout(Stdio::null()).status().unwrap().success()
        };
        assert!(reaches());
        network.cut().unwrap();
        assert!(!reaches());
        network.mend().unwrap();
        assert!(reaches());
    }
}
