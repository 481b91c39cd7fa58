//! The app without a window: real engines, real relays on free ports of the loopback
//! address, keys in memory, and a screen that records what it was told.

mod attention;
mod backup;
mod disk;
mod keychain;
mod lifecycle;
mod log;
mod membership;
mod pairing;
mod passphrase;
mod phones;
mod relay;
mod settings;
mod trouble;

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use sealpost_engine::clock::{Clock, SystemClock};
use sealpost_engine::keys::{KeyItemName, KeyStore, KeyStoreError, MemoryStore};
use tokio::sync::watch;

use super::*;
use crate::catalogue::Language;
use crate::notification::Subject;
use crate::notification::words::Words;
use crate::view::{
    GroupView, InGroup, JoinGroup, JoinRequestIn, MessageView, MessagesChanged, ReadMessages,
    RelayChoice, RelayTestView, Screen, SendMessage, StartGroup, Theme,
};
use crate::window::{FileProposal, LoginStart, TrayView};

/// How long anything may take on a slow machine. Nothing waits for it when all is well.
const PATIENCE: Duration = Duration::from_secs(30);

/// A window that records what it was told.
struct RecordedWindow {
    view: watch::Sender<Option<AppView>>,
    /// All screens that were shown, in order, without repetitions.
    screens: Mutex<Vec<Screen>>,
    /// Until its sender is gone, the service that shows notifications doesn't answer.
    hung_notices: Mutex<Option<std::sync::mpsc::Receiver<()>>>,
    times_told: AtomicUsize,
    rows: watch::Sender<Option<MessagesChanged>>,
    tray: Mutex<Option<TrayView>>,
    has_tray: AtomicBool,
    shown: AtomicUsize,
    hidden: AtomicUsize,
    told_closed: Mutex<Vec<Closing>>,
    relay_test: watch::Sender<Option<RelayTestView>>,
    /// What was shown about a subject, or that it was withdrawn.
    notices: Mutex<Vec<(Subject, Option<Words>)>>,
    noticed: watch::Sender<usize>,
    theme: Mutex<Option<Theme>>,
    login: Mutex<Vec<LoginStart>>,
    login_fails: AtomicBool,
    /// Whether the person has switched the entry off outside of the app.
    login_is_off: AtomicBool,
    opened: Mutex<Vec<String>>,
    /// The file that the person chooses.
    file: Mutex<Option<PathBuf>>,
    exited: watch::Sender<bool>,
}

impl RecordedWindow {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            view: watch::Sender::new(None),
            screens: Mutex::default(),
            hung_notices: Mutex::default(),
            times_told: AtomicUsize::new(0),
            rows: watch::Sender::new(None),
            tray: Mutex::new(None),
            has_tray: AtomicBool::new(true),
            shown: AtomicUsize::new(0),
            hidden: AtomicUsize::new(0),
            told_closed: Mutex::default(),
            relay_test: watch::Sender::new(None),
            notices: Mutex::default(),
            noticed: watch::Sender::new(0),
            theme: Mutex::default(),
            login: Mutex::default(),
            login_fails: AtomicBool::new(false),
            login_is_off: AtomicBool::new(false),
            opened: Mutex::default(),
            file: Mutex::default(),
            exited: watch::Sender::new(false),
        })
    }

    /// Waits for a view in which something is so.
    async fn until(&self, what: &str, is_so: impl Fn(&AppView) -> bool) -> AppView {
        let mut views = self.view.subscribe();
        let seen = views.wait_for(|view| view.as_ref().is_some_and(&is_so));
        let seen = tokio::time::timeout(PATIENCE, seen).await;
        let view = seen
            .unwrap_or_else(|_| panic!("never saw: {what}"))
            .expect("the app runs");
        view.clone().expect("it was looked at")
    }
}

impl Window for RecordedWindow {
    fn emit_view(&self, view: &AppView) {
        let mut screens = self.screens.lock().unwrap();
        if screens.last() != Some(&view.screen) {
            screens.push(view.screen);
        }
        drop(screens);
        self.view.send_replace(Some(view.clone()));
    }

    fn emit_messages(&self, change: &MessagesChanged) {
        self.rows.send_replace(Some(change.clone()));
    }

    fn emit_relay_test(&self, test: &RelayTestView) {
        self.relay_test.send_replace(Some(test.clone()));
    }

    fn update_tray(&self, tray: TrayView) {
        self.times_told.fetch_add(1, Ordering::SeqCst);
        *self.tray.lock().unwrap() = Some(tray);
    }

    fn show(&self) {
        self.shown.fetch_add(1, Ordering::SeqCst);
    }

    fn hide(&self) {
        self.hidden.fetch_add(1, Ordering::SeqCst);
    }

    fn tell_closed(&self, what: Closing) {
        let hung = self.hung_notices.lock().unwrap().take();
        let _ = hung.map(|hung| hung.recv());
        self.told_closed.lock().unwrap().push(what);
    }

    fn notify(&self, subject: &Subject, words: &Words) {
        let mut notices = self.notices.lock().unwrap();
        notices.push((subject.clone(), Some(words.clone())));
        drop(notices);
        self.noticed.send_modify(|count| *count += 1);
    }

    fn withdraw(&self, subject: &Subject) {
        self.notices.lock().unwrap().push((subject.clone(), None));
        self.noticed.send_modify(|count| *count += 1);
    }

    fn set_theme(&self, theme: Theme) {
        *self.theme.lock().unwrap() = Some(theme);
    }

    fn set_start_at_login(&self, start: LoginStart) -> Result<(), AppError> {
        if self.login_fails.load(Ordering::SeqCst) {
            return Err(AppErrorCode::StartAtLoginUnavailable.into());
        }
        self.login.lock().unwrap().push(start);
        Ok(())
    }

    fn mend_start_at_login(&self, start: LoginStart) -> Result<bool, AppError> {
        self.login.lock().unwrap().push(start);
        Ok(!self.login_is_off.load(Ordering::SeqCst))
    }

    fn open_link(&self, url: &str) -> Result<(), AppError> {
        self.opened.lock().unwrap().push(url.to_owned());
        Ok(())
    }

    fn choose_new_file(&self, _proposal: &FileProposal) -> Option<PathBuf> {
        self.file.lock().unwrap().clone()
    }

    fn choose_file(&self, _proposal: &FileProposal) -> Option<PathBuf> {
        self.file.lock().unwrap().clone()
    }

    fn copy_text(&self, _text: &str) -> Result<(), AppError> {
        Err(AppErrorCode::ClipboardUnavailable.into())
    }

    fn has_tray(&self) -> bool {
        self.has_tray.load(Ordering::SeqCst)
    }

    fn exit(&self) {
        self.exited.send_replace(true);
    }
}

/// The clock of the system, moved on by what a test adds.
#[derive(Default)]
struct MovedClock {
    added_ms: AtomicU64,
}

impl Clock for MovedClock {
    fn now_ms(&self) -> u64 {
        SystemClock.now_ms() + self.added_ms.load(Ordering::SeqCst)
    }
}

impl Keychain for MemoryStore {
    fn check(&self) -> Result<(), KeyStoreError> {
        let any = sealpost_engine::profile::ProfileId::parse(&"0".repeat(32)).unwrap();
        self.load(&KeyItemName::relay(&any)).map(drop)
    }
}

/// One app with a profile of its own.
struct App {
    controller: Controller,
    window: Arc<RecordedWindow>,
    keychain: Arc<MemoryStore>,
    clock: Arc<MovedClock>,
}

/// SQLCipher takes itself down when the process of the tests ends, under whatever thread still
/// uses a store: so none is left behind.
impl Drop for App {
    fn drop(&mut self) {
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| runtime.block_on(self.controller.close()));
    }
}

impl App {
    /// Starts the app on a profile.
    async fn start(data_dir: &Path, profile: &str, keychain: &Arc<MemoryStore>) -> Self {
        let network = Arc::new(Mutex::new(vec!["127.0.0.1".to_owned()]));
        Self::start_in_network(data_dir, profile, keychain, &network).await
    }

    /// Starts the app on a computer with some addresses.
    async fn start_in_network(
        data_dir: &Path,
        profile: &str,
        keychain: &Arc<MemoryStore>,
        network: &Arc<Mutex<Vec<String>>>,
    ) -> Self {
        let network = Arc::clone(network);
        let (window, clock) = (RecordedWindow::new(), Arc::new(MovedClock::default()));
        let controller = Controller::new(Setup {
            data_dir: data_dir.to_owned(),
            profile: profile.to_owned(),
            relay_host: None,
            local_addresses: Arc::new(move || network.lock().unwrap().clone()),
            usual_ports: (0, 0),
            suggested_device_name: "Computer".to_owned(),
            keychain: Arc::<MemoryStore>::clone(keychain),
            clock: Arc::<MovedClock>::clone(&clock),
            catalogue: Arc::new(CurrentCatalogue::new(Language::English)),
            window: Arc::<RecordedWindow>::clone(&window),
            notice_patience: Duration::from_millis(100),
        });
        controller.ask_for_tray().await;
        controller.start().await;
        Self {
            controller,
            window,
            keychain: Arc::clone(keychain),
            clock,
        }
    }

    /// Starts the app on a fresh profile with a keychain of its own.
    async fn fresh(data_dir: &Path, profile: &str) -> Self {
        Self::start(data_dir, profile, &Arc::new(MemoryStore::new())).await
    }

    /// Quits and starts again with the same keychain.
    async fn restart(self, data_dir: &Path, profile: &str) -> Self {
        let keychain = Arc::clone(&self.keychain);
        drop(self);
        Self::start(data_dir, profile, &keychain).await
    }

    async fn start_group(&self) -> String {
        let args = StartGroup {
            device_name: "Laptop".to_owned(),
            relay: RelayChoice::ThisComputer,
        };
        self.controller
            .start_group(args)
            .await
            .expect("the group starts")
            .group
    }

    async fn group(&self, group: &str) -> GroupView {
        let view = self.controller.view().await;
        view.groups
            .into_iter()
            .find(|one| one.id == group)
            .expect("the group is there")
    }

    async fn link(&self, group: &str) -> String {
        self.group(group)
            .await
            .pairing
            .expect("a window is open")
            .link
    }

    async fn join(&self, link: &str) -> String {
        let args = JoinGroup {
            device_name: "Phone".to_owned(),
            invitation: link.to_owned(),
            relay_address: None,
        };
        self.controller
            .join_group(args)
            .await
            .expect("the invitation is good")
            .group
    }

    async fn send(&self, group: &str, text: &str) {
        let args = SendMessage {
            group: group.to_owned(),
            text: text.to_owned(),
        };
        self.controller
            .send_message(args)
            .await
            .expect("the message is queued");
    }

    async fn messages(&self, group: &str) -> Vec<MessageView> {
        let args = ReadMessages {
            group: group.to_owned(),
            before: None,
            limit: 100,
        };
        self.controller
            .messages(args)
            .await
            .expect("the messages can be read")
            .messages
    }

    /// Waits until the messages of a group are so.
    async fn until_messages(
        &self,
        group: &str,
        what: &str,
        are_so: impl Fn(&[MessageView]) -> bool,
    ) -> Vec<MessageView> {
        let mut rows = self.window.rows.subscribe();
        let seen = tokio::time::timeout(PATIENCE, async {
            loop {
                let messages = self.messages(group).await;
                if are_so(&messages) {
                    return messages;
                }
                rows.changed().await.expect("the app runs");
            }
        });
        seen.await.unwrap_or_else(|_| panic!("never saw: {what}"))
    }
}

fn in_group(group: &str) -> InGroup {
    InGroup {
        group: group.to_owned(),
    }
}

/// Whether something is so of a group that is there already.
fn group_is(view: &AppView, group: &str, is_so: impl Fn(&GroupView) -> bool) -> bool {
    view.groups.iter().any(|one| one.id == group && is_so(one))
}

fn find<'a>(view: &'a AppView, group: &str) -> &'a GroupView {
    view.groups
        .iter()
        .find(|one| one.id == group)
        .expect("the group is there")
}

/// Two apps whose devices are in one group, on the relay of the first.
struct Pair {
    laptop: App,
    phone: App,
    laptop_group: String,
    phone_group: String,
    _data: tempfile::TempDir,
}

impl Pair {
    /// Pairs the two as people do, and compares what their screens show on the way.
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let laptop = App::fresh(data.path(), "laptop").await;
        let phone = App::fresh(data.path(), "phone").await;
        let laptop_group = laptop.start_group().await;
        let phone_group = phone.join(&laptop.link(&laptop_group).await).await;
        let asked = laptop
            .window
            .until("a request", |view| {
                group_is(view, &laptop_group, |group| {
                    let pairing = group.pairing.as_ref();
                    pairing.is_some_and(|pairing| !pairing.requests.is_empty())
                })
            })
            .await;
        let shown = phone
            .window
            .until("the words", |view| {
                group_is(view, &phone_group, |group| {
                    group
                        .join
                        .as_ref()
                        .is_some_and(|join| join.words.len() == 4)
                })
            })
            .await;
        let request = find(&asked, &laptop_group)
            .pairing
            .as_ref()
            .unwrap()
            .requests[0]
            .clone();
        let join = find(&shown, &phone_group).join.clone().unwrap();
        assert_eq!(
            (request.name.as_str(), &request.words),
            ("Phone", &join.words)
        );
        let accepted = JoinRequestIn {
            group: laptop_group.clone(),
            request: request.id,
        };
        laptop
            .controller
            .accept_request(accepted)
            .await
            .expect("the device is admitted");
        phone
            .controller
            .words_same(in_group(&phone_group))
            .await
            .expect("the words are kept");
        for (app, group) in [(&laptop, &laptop_group), (&phone, &phone_group)] {
            app.window
                .until("the other member", |view| {
                    group_is(view, group, |group| group.members.len() == 1)
                })
                .await;
        }
        Self {
            laptop,
            phone,
            laptop_group,
            phone_group,
            _data: data,
        }
    }
}
