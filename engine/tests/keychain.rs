//! The keychain against a real Secret Service, and against a played one, each on a private
//! bus. Every test runs the one ignored test of this file as a child inside its bus.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::env;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand_core::OsRng;
use sealpost_engine::keys::{
    GroupKeys, KeyItem, KeyItemName, KeyStore, KeyStoreError, KeychainStore,
};
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::ProfileId;
use secret_service::EncryptionType;
use secret_service::blocking::SecretService;

/// What a daemon hasn't done by then it never does.
const SOON: Duration = Duration::from_secs(20);

const SCENARIO: &str = "SEALPOST_KEYCHAIN_SCENARIO";

/// What a child finds.
enum Bus {
    /// No session bus at all.
    None,
    /// A bus on which nothing answers and nothing can be started.
    Empty,
    /// An unlocked GNOME keyring.
    Keyring,
}

/// Runs `on_a_bus` with `scenario` on a bus of its own.
fn run(bus: &Bus, scenario: &str) {
    let home = Home::new();
    let this = env::current_exe().unwrap();
    let test = [
        "--exact",
        "on_a_bus",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ];
    let mut command = match bus {
        Bus::None => {
            let mut command = Command::new(this);
            command.args(test);
            command
        }
        Bus::Empty => {
            let mut command = home.session();
            command.arg(this).args(test);
            command
        }
        Bus::Keyring => {
            let unlock = "gnome-keyring-daemon --unlock --components=secrets --daemonize";
            let script = format!("eval \"$(printf pw | {unlock})\"; exec \"$0\" \"$@\"");
            let mut command = home.session();
            command.args(["sh", "-c", &script]).arg(this).args(test);
            command
        }
    };
    command
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("DISPLAY");
    for (variable, directory) in [
        ("HOME", "home"),
        ("XDG_RUNTIME_DIR", "run"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_CACHE_HOME", "cache"),
    ] {
        command.env(variable, home.directory(directory));
    }
    let output = command.env(SCENARIO, scenario).output();
    let output = output.expect("dbus-run-session and gnome-keyring-daemon: see `make setup`");
    let told = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{scenario}\n{told}\n{error}");
    assert!(
        told.contains("1 passed"),
        "{scenario} did not run\n{told}\n{error}"
    );
}

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn directory(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .unwrap();
        path
    }

    /// A bus that starts no service by itself, so that only what a test starts is there.
    fn session(&self) -> Command {
        let config = self.0.path().join("bus.conf");
        fs::write(&config, bus_config(&self.directory("run"))).unwrap();
        let mut command = Command::new("dbus-run-session");
        command.arg("--config-file").arg(config).arg("--");
        command
    }
}

fn bus_config(socket_directory: &Path) -> String {
    let directory = socket_directory.display();
    format!(
        r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir={directory}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>"#
    )
}

#[test]
fn without_a_bus_the_keychain_is_missing() {
    run(&Bus::None, "missing");
}

#[test]
fn without_a_secret_service_the_keychain_is_missing() {
    run(&Bus::Empty, "missing");
}

#[test]
fn an_unlocked_keychain_keeps_items_apart_and_tells_what_is_wrong_with_one() {
    run(&Bus::Keyring, "kept");
}

#[test]
fn a_locked_keychain_is_locked() {
    run(&Bus::Keyring, "locked");
}

#[test]
fn a_dismissed_question_is_told_from_a_locked_keychain() {
    run(&Bus::Empty, "dismissed");
}

#[test]
fn a_keychain_that_ends_behind_its_question_is_waited_for_no_longer() {
    run(&Bus::Empty, "ended");
}

#[test]
fn a_keychain_that_forgets_at_logout_counts_as_missing() {
    run(&Bus::Empty, "forgetful");
}

#[test]
#[ignore = "the other tests run it, each on a bus of its own"]
fn on_a_bus() {
    let Ok(scenario) = env::var(SCENARIO) else {
        return;
    };
    match scenario.as_str() {
        "missing" => missing(),
        "kept" => kept(),
        "locked" => locked(),
        "dismissed" => dismissed(),
        "ended" => ended(),
        "forgetful" => forgetful(),
        scenario => panic!("{scenario}"),
    }
}

fn name(profile: &ProfileId, namespace: &str) -> KeyItemName {
    KeyItemName::group(profile, &Namespace::parse(namespace).unwrap())
}

/// The keychain, once the daemon has made its first collection.
fn ready() -> KeychainStore {
    let store = KeychainStore::new();
    let began = Instant::now();
    while store.check() == Err(KeyStoreError::Missing) && began.elapsed() < SOON {
        sleep(Duration::from_millis(10));
    }
    assert_eq!(store.check(), Ok(()));
    store
}

fn missing() {
    let store = KeychainStore::new();
    let name = name(&ProfileId::generate(&mut OsRng), "a");
    let item = KeyItem::from_bytes(b"secret".to_vec());
    assert_eq!(store.check(), Err(KeyStoreError::Missing));
    assert_eq!(store.load(&name), Err(KeyStoreError::Missing));
    assert_eq!(store.save(&name, &item), Err(KeyStoreError::Missing));
    assert_eq!(store.remove(&name), Err(KeyStoreError::Missing));
}

fn kept() {
    let store = ready();
    let (mine, other) = (
        ProfileId::generate(&mut OsRng),
        ProfileId::generate(&mut OsRng),
    );
    assert_eq!(store.load(&name(&mine, "a")), Ok(None));
    let keys = GroupKeys::generate(&mut OsRng);
    for namespace in ["a", "b"] {
        store
            .save(&name(&mine, namespace), &keys.encode(&mine))
            .unwrap();
    }
    // Another connection, as after a restart.
    let store = KeychainStore::new();
    let read = store.load(&name(&mine, "a")).unwrap().unwrap();
    let read = GroupKeys::decode(&read, &mine).unwrap();
    assert_eq!(read.database_key(), keys.database_key());
    assert_eq!(
        store.load(&name(&other, "a")),
        Ok(None),
        "profiles don't meet"
    );

    let decode = |item: Result<Option<KeyItem>, KeyStoreError>| {
        GroupKeys::decode(&item.unwrap().unwrap(), &mine).unwrap_err()
    };
    store.save(&name(&mine, "a"), &keys.encode(&other)).unwrap();
    assert_eq!(
        decode(store.load(&name(&mine, "a"))),
        KeyStoreError::OtherProfile
    );
    store
        .save(&name(&mine, "a"), &KeyItem::from_bytes(b"SPK?".to_vec()))
        .unwrap();
    assert_eq!(
        decode(store.load(&name(&mine, "a"))),
        KeyStoreError::Damaged
    );

    store.remove(&name(&mine, "a")).unwrap();
    store.remove(&name(&mine, "a")).unwrap();
    assert_eq!(store.load(&name(&mine, "a")), Ok(None));
    assert!(store.load(&name(&mine, "b")).unwrap().is_some());
}

fn locked() {
    let store = ready();
    let name = name(&ProfileId::generate(&mut OsRng), "a");
    let item = KeyItem::from_bytes(b"secret".to_vec());
    store.save(&name, &item).unwrap();
    let service = SecretService::connect(EncryptionType::Dh).unwrap();
    service.get_default_collection().unwrap().lock().unwrap();
    // Nobody can be asked here.
    assert_eq!(store.check(), Err(KeyStoreError::Locked));
    assert_eq!(store.load(&name), Err(KeyStoreError::Locked));
    assert_eq!(store.save(&name, &item), Err(KeyStoreError::Locked));
    assert_eq!(store.remove(&name), Err(KeyStoreError::Locked));
}

fn dismissed() {
    let _service = played::start("login");
    let store = KeychainStore::new();
    let name = name(&ProfileId::generate(&mut OsRng), "a");
    assert_eq!(store.check(), Err(KeyStoreError::Dismissed));
    assert_eq!(store.load(&name), Err(KeyStoreError::Dismissed));
    let item = KeyItem::from_bytes(b"secret".to_vec());
    assert_eq!(store.save(&name, &item), Err(KeyStoreError::Dismissed));
}

fn ended() {
    let (asked, question) = channel();
    let service = played::start_with("login", move || {
        asked.send(()).unwrap();
        false
    });
    std::thread::spawn(move || {
        question.recv().unwrap();
        // The look that comes first has to see who it is.
        sleep(Duration::from_millis(1_500));
        service.close().unwrap();
    });
    assert_eq!(KeychainStore::new().check(), Err(KeyStoreError::Missing));
}

fn forgetful() {
    let _service = played::start("session");
    let store = KeychainStore::new();
    let name = name(&ProfileId::generate(&mut OsRng), "a");
    let item = KeyItem::from_bytes(b"secret".to_vec());
    assert_eq!(store.check(), Err(KeyStoreError::Missing));
    assert_eq!(store.save(&name, &item), Err(KeyStoreError::Missing));
}

/// A Secret Service with one locked collection, whose questions a person dismisses.
mod played {
    use std::collections::HashMap;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use zbus::blocking::connection::{Builder, Connection};
    use zbus::zvariant::{ObjectPath, OwnedObjectPath, OwnedValue, Value};

    const ROOT: &str = "/org/freedesktop/secrets";
    const PROMPT: &str = "/org/freedesktop/secrets/prompt/1";

    /// As long as a person needs to see a question.
    const READING: Duration = Duration::from_millis(600);

    /// A service whose questions a person reads and dismisses.
    pub(super) fn start(collection: &str) -> Connection {
        start_with(collection, || {
            thread::sleep(READING);
            true
        })
    }

    /// A service whose questions are dismissed once `read` says so, and else never answered.
    pub(super) fn start_with(
        collection: &str,
        read: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Connection {
        let collection = path(&format!("{ROOT}/collection/{collection}"));
        let item = path(&format!("{}/1", collection.as_str()));
        let service = Service {
            collection: collection.clone(),
            item,
        };
        let builder = Builder::session()
            .unwrap()
            .name("org.freedesktop.secrets")
            .unwrap();
        let builder = builder.serve_at(ROOT, service).unwrap();
        let builder = builder.serve_at(PROMPT, Prompt(Arc::new(read))).unwrap();
        builder
            .serve_at(collection, Collection)
            .unwrap()
            .build()
            .unwrap()
    }

    fn path(text: &str) -> OwnedObjectPath {
        ObjectPath::try_from(text).unwrap().into()
    }

    struct Service {
        collection: OwnedObjectPath,
        item: OwnedObjectPath,
    }

    #[zbus::interface(name = "org.freedesktop.Secret.Service")]
    impl Service {
        fn open_session(
            &self,
            _algorithm: &str,
            _input: Value<'_>,
        ) -> (OwnedValue, OwnedObjectPath) {
            let public_key = Value::from(vec![2_u8; 128]);
            (
                public_key.try_into().unwrap(),
                path(&format!("{ROOT}/session/1")),
            )
        }

        fn read_alias(&self, _name: &str) -> OwnedObjectPath {
            self.collection.clone()
        }

        fn search_items(
            &self,
            _attributes: HashMap<String, String>,
        ) -> (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) {
            (Vec::new(), vec![self.item.clone()])
        }

        fn unlock(
            &self,
            _objects: Vec<OwnedObjectPath>,
        ) -> (Vec<OwnedObjectPath>, OwnedObjectPath) {
            (Vec::new(), path(PROMPT))
        }
    }

    struct Collection;

    #[zbus::interface(name = "org.freedesktop.Secret.Collection")]
    impl Collection {
        #[zbus(property)]
        fn locked(&self) -> bool {
            true
        }
    }

    struct Prompt(Arc<dyn Fn() -> bool + Send + Sync>);

    #[zbus::interface(name = "org.freedesktop.Secret.Prompt")]
    impl Prompt {
        fn prompt(&self, _window: &str, #[zbus(connection)] connection: &zbus::Connection) {
            let connection = Connection::from(connection.clone());
            let read = Arc::clone(&self.0);
            thread::spawn(move || {
                if !read() {
                    return;
                }
                let interface = "org.freedesktop.Secret.Prompt";
                let dismissed = (true, Value::from(""));
                connection
                    .emit_signal(None::<&str>, PROMPT, interface, "Completed", &dismissed)
                    .unwrap();
            });
        }
    }
}
