//! The command-line client and a real Secret Service.

use sealpost_tests::desktop::{Desktop, Keychain};
use sealpost_tests::device_process::Device;
use sealpost_tests::relay_process::RelayProcess;

#[test]
fn keys_are_in_the_keychain_where_there_is_one_and_never_made_anew() {
    let relay = RelayProcess::start().unwrap();
    let address = relay.address().unwrap();
    let desktop = Desktop::start(Keychain::Unlocked).unwrap();
    let mut device = Device::on_desktop(&desktop, "laptop", "Laptop").unwrap();
    assert_eq!(
        device.run_well(&["init"]).unwrap()[0]["key_store"],
        "keychain"
    );
    device
        .run_well(&["group", "new", "Home", "--relay", &address])
        .unwrap();
    let before = device.run_well(&["members"]).unwrap();
    assert!(
        !device.data().join("laptop/keys").exists(),
        "there is a key file as well"
    );

    // Where the keychain can't be reached, the group stays closed: no new identity is made.
    device.leave_desktop();
    let outcome = device.run(&["members"]).unwrap();
    assert_eq!(outcome.status.code(), Some(7));
    assert_eq!(outcome.error.unwrap()["code"], "keychain-missing");

    device.join_desktop(&desktop);
    assert_eq!(device.run_well(&["members"]).unwrap(), before);
}

#[test]
fn without_a_keychain_a_key_file_serves_as_under_cron() {
    let desktop = Desktop::start(Keychain::Missing).unwrap();
    let device = Device::on_desktop(&desktop, "server", "Server").unwrap();
    assert_eq!(
        device.run_well(&["init"]).unwrap()[0]["key_store"],
        "key file"
    );
    let keys = device.data().join("server/keys");
    let mode = std::os::unix::fs::PermissionsExt::mode(&keys.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);

    // One that others may read is refused, with its own text.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&keys, open).unwrap();
    let outcome = device.run(&["group", "list"]).unwrap();
    assert_eq!(outcome.status.code(), Some(7));
    assert_eq!(outcome.error.unwrap()["code"], "key-file-exposed");
}
