//! Planted words never appear in a log, however verbose it is.
//!
//! The relay and two command-line devices run through everything that they can do together,
//! with the most verbose logs; afterwards the logs are searched for every text, name, key,
//! token and address that was used. The app's log is searched by the window test.

use sealpost_tests::device_process::{Device, pair};
use sealpost_tests::log_canary::LogCanary;
use sealpost_tests::relay_process::RelayProcess;

const TEXTS: [&str; 3] = ["canary text one", "canary text two", "canary text three"];

#[test]
fn no_log_holds_what_identifies_somebody() {
    let mut canary = LogCanary::default();
    canary.plant([
        "Canary Host",
        "Canary Guest",
        "Canary Group",
        "canary-host",
        "canary-guest",
    ]);
    canary.plant(["canary passphrase", "canary bytes"]);
    canary.plant(TEXTS);

    let mut relay = RelayProcess::start().unwrap();
    let host = Device::new("canary-host", "Canary Host").unwrap();
    let guest =
        Device::with_passphrase("canary-guest", "Canary Guest", "canary passphrase").unwrap();
    talk(&mut relay, &host, &guest, &mut canary).unwrap();
    relay.stop().unwrap();

    for (whose, log) in [
        ("the relay's", without_own_address(&relay.log().unwrap())),
        ("the host's", host.log().unwrap()),
        ("the guest's", guest.log().unwrap()),
    ] {
        assert!(
            log.lines().count() > 3,
            "{whose} log is empty, so this test shows nothing"
        );
        let leaks = canary.leaks(&log);
        assert!(leaks.is_empty(), "{whose} log: {leaks:#?}");
    }
}

/// The relay tells its operator its own address when it starts, between the log and on the
/// same output; this is no log of it and names nobody else.
fn without_own_address(log: &str) -> String {
    let is_own = |line: &&str| line.trim_start().starts_with("Address:");
    log.lines()
        .filter(|line| !is_own(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Pairs, sends to a relay that is there, to one that isn't and to one with another key, and
/// plants what only comes up on the way.
fn talk(
    relay: &mut RelayProcess,
    host: &Device,
    guest: &Device,
    canary: &mut LogCanary,
) -> anyhow::Result<()> {
    let address = relay.address()?;
    let link = pair(host, guest, "Canary Group", &address)?;
    let (_, token) = link.split_once('#').unwrap_or_default();
    canary.plant([&address, &link, token]);
    for member in host.run_well(&["members"])? {
        canary.plant(member["id"].as_str());
    }

    let [first, second, third] = TEXTS;
    let mut reading = guest.start(&["tail"])?;
    for text in [first, second] {
        let said = host.run_well(&["send", text, "--wait", "20"])?;
        canary.plant(said[0]["message_id"].as_str());
        reading.wait_for("message")?;
    }
    relay.kill();
    host.run_well(&["send", third])?;
    relay.resume()?;
    reading.terminate()?;
    drop(reading);

    // What goes wrong is logged as carefully: nonsense, and a relay that isn't the one meant.
    host.run(&["join", &link.replace("tsp1_", "tsp1_x"), "--yes"])?;
    let wrong = address.replacen("trueseal://", "trueseal://0", 1);
    host.run(&["group", "new", "Canary Group", "--relay", &wrong])?;
    for port in relay.ports() {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
        std::io::Write::write_all(&mut stream, b"canary bytes of somebody else")?;
    }
    Ok(())
}
