//! The keychain of a desktop from its other side: what is in it, and who answers its
//! questions.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use zbus::blocking::{Connection, Proxy};
use zbus::message::Header;
use zbus::zvariant::{ObjectPath, OwnedObjectPath, OwnedValue, Value};

use crate::desktop::Desktop;
use crate::session_bus::connect;

const SERVICE: &str = "org.freedesktop.secrets";
const ITEM: &str = "org.freedesktop.Secret.Item";

/// A secret as its protocol carries it: session, parameters, value, kind of content.
type Carried = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

/// The items of the app.
pub struct Secrets {
    connection: Connection,
    session: OwnedObjectPath,
}

/// One item of the app.
#[derive(Clone)]
pub struct Item {
    path: OwnedObjectPath,
    /// What it holds.
    pub secret: Vec<u8>,
}

impl Secrets {
    /// The items in the keychain of a desktop.
    ///
    /// # Errors
    ///
    /// When there is no keychain.
    pub fn of(desktop: &Desktop) -> anyhow::Result<Self> {
        let connection = connect(desktop)?.build()?;
        let service = service(&connection)?;
        let (_, session): (OwnedValue, OwnedObjectPath) =
            service.call("OpenSession", &("plain", Value::from("")))?;
        Ok(Self {
            connection,
            session,
        })
    }

    /// All of them.
    ///
    /// # Errors
    ///
    /// When the keychain refuses.
    pub fn read_all(&self) -> anyhow::Result<Vec<Item>> {
        let ours = HashMap::from([("service", "sealpost")]);
        let (unlocked, _): (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) =
            service(&self.connection)?.call("SearchItems", &(ours,))?;
        let read = |path: OwnedObjectPath| -> anyhow::Result<Item> {
            let carried: Carried = self.item(&path)?.call("GetSecret", &(&self.session,))?;
            let (_, _, secret, _) = carried;
            Ok(Item { path, secret })
        };
        unlocked.into_iter().map(read).collect()
    }

    /// Writes what `change` makes of each item in its place.
    ///
    /// # Errors
    ///
    /// When the keychain refuses.
    pub fn write_all(
        &self,
        items: &[Item],
        change: impl Fn(&[u8]) -> Vec<u8>,
    ) -> anyhow::Result<()> {
        for item in items {
            let kind = "application/octet-stream".to_owned();
            let secret = change(&item.secret);
            let carried: Carried = (self.session.clone(), Vec::new(), secret, kind);
            let _: () = self.item(&item.path)?.call("SetSecret", &(carried,))?;
        }
        Ok(())
    }

    /// Takes all of them away.
    ///
    /// # Errors
    ///
    /// When the keychain refuses.
    pub fn remove_all(&self) -> anyhow::Result<()> {
        for item in self.read_all()? {
            let _: OwnedObjectPath = self.item(&item.path)?.call("Delete", &())?;
        }
        Ok(())
    }

    fn item(&self, path: &OwnedObjectPath) -> zbus::Result<Proxy<'static>> {
        Proxy::new(&self.connection, SERVICE, path.clone(), ITEM)
    }
}

fn service(connection: &Connection) -> zbus::Result<Proxy<'static>> {
    let (path, interface) = ("/org/freedesktop/secrets", "org.freedesktop.Secret.Service");
    Proxy::new(connection, SERVICE, path, interface)
}

/// How long a dialogue takes to come up.
const A_MOMENT: Duration = Duration::from_millis(200);

/// Somebody who closes each question for a password after a look at it.
pub struct Prompter {
    _connection: Connection,
    asked: Arc<AtomicUsize>,
}

struct Dialogue {
    look: Duration,
    asked: Arc<AtomicUsize>,
}

impl Dialogue {
    /// Answers whoever asked, in its own time.
    fn answer(
        &self,
        reply: &'static str,
        after: Duration,
        to: OwnedObjectPath,
        header: &Header<'_>,
        connection: &zbus::Connection,
    ) {
        let asker = header.sender().map(ToString::to_string);
        let connection = Connection::from(connection.clone());
        std::thread::spawn(move || {
            std::thread::sleep(after);
            let nothing = HashMap::<&str, Value<'_>>::new();
            let _ = connection.call_method(
                asker.as_deref(),
                &to,
                Some("org.gnome.keyring.internal.Prompter.Callback"),
                "PromptReady",
                &(reply, nothing, ""),
            );
        });
    }
}

#[zbus::interface(name = "org.gnome.keyring.internal.Prompter")]
impl Dialogue {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the macro hands the header over by value"
    )]
    fn begin_prompting(
        &self,
        callback: ObjectPath<'_>,
        #[zbus(header)] header: Header<'_>,
        #[zbus(connection)] connection: &zbus::Connection,
    ) {
        // Whoever asks listens only once this call has returned.
        self.answer("", A_MOMENT, callback.into(), &header, connection);
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "the macro hands the header over by value"
    )]
    fn perform_prompt(
        &self,
        callback: ObjectPath<'_>,
        _kind: &str,
        _properties: HashMap<String, OwnedValue>,
        _exchange: &str,
        #[zbus(header)] header: Header<'_>,
        #[zbus(connection)] connection: &zbus::Connection,
    ) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.answer("no", self.look, callback.into(), &header, connection);
    }

    fn stop_prompting(&self, _callback: ObjectPath<'_>) {}
}

impl Prompter {
    /// Takes the questions of a desktop's keychain.
    ///
    /// # Errors
    ///
    /// When the bus refuses it.
    pub fn start(desktop: &Desktop, look: Duration) -> anyhow::Result<Self> {
        let asked = Arc::new(AtomicUsize::new(0));
        let dialogue = Dialogue {
            look,
            asked: Arc::clone(&asked),
        };
        let connection = connect(desktop)?
            .serve_at("/org/gnome/keyring/Prompter", dialogue)?
            .name("org.gnome.keyring.SystemPrompter")?
            .build()?;
        Ok(Self {
            _connection: connection,
            asked,
        })
    }

    /// How many questions were on the screen.
    #[must_use]
    pub fn times_asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}
