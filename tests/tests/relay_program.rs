//! The stand-alone relay as its operator meets it.

use sealpost_protocol::address::RelayAddress;
use sealpost_tests::relay_process::RelayProcess;

/// The most memory that an idle relay may make for itself, in KiB. Its code isn't counted: in a
/// build for tests it is several times that of the build that people run, which holds 12 MiB with
/// all of it.
const IDLE_KIB_MAX: u64 = 4 * 1024;

#[test]
fn the_printed_address_is_one_and_stays_the_same() {
    let mut relay = RelayProcess::start().unwrap();
    let printed = |relay: &RelayProcess| {
        let output = relay
            .command(&["address", "--host", "relay.example"])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let first = printed(&relay);
    let address = RelayAddress::parse(first.trim()).unwrap();
    assert_eq!(address.host(), "relay.example");
    let [receive, push, _] = relay.ports();
    assert_eq!(
        (address.receive_port(), address.push_port()),
        (receive, push)
    );
    relay.kill();
    relay.resume().unwrap();
    assert_eq!(printed(&relay), first);
}

#[test]
fn an_idle_relay_is_small() {
    let relay = RelayProcess::start().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", relay.id().unwrap())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("RssAnon:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < IDLE_KIB_MAX, "an idle relay holds {kib} KiB");
}
