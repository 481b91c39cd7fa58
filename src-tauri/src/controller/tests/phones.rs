//! Phones, played by the other role of a link over the web door as a browser would use it.

use std::collections::BTreeMap;

use sealpost_engine::link::{
    LinkContent, LinkEnd, LinkName, LinkState, LinkTrouble, Links, LinksOptions,
};
use sealpost_engine::profile::ProfileId;
use sealpost_protocol::link::feed::{FromDesktop, FromPhone, Message};
use sealpost_protocol::link::key::{Direction, LinkToken, MailboxId};
use sealpost_protocol::link::payload::PayloadId;
use sealpost_relay::mailbox::Refusal;

use super::*;
use crate::view::{
    OfPhone, PhoneDoor, PhonePairingClosed, PhonePairingStep, PhonePairingView, PhoneSharingView,
    PhoneState, PhonesView, RenamePhone, SetPhoneSharing, SetPhonesOn, SetRelayRunning,
    StartPhonePairing,
};

/// A phone that has used a code.
pub(super) struct TestPhone {
    links: Links,
    link: LinkName,
    /// What it was told last under each key, and the answers.
    told: Mutex<BTreeMap<String, FromDesktop>>,
    _home: tempfile::TempDir,
}

impl TestPhone {
    async fn scan(code: &str, name: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let links = Links::open(LinksOptions {
            directory: home.path().to_owned(),
            profile_id: ProfileId::parse(&"1".repeat(32)).unwrap(),
            key_store: Arc::new(MemoryStore::new()),
            clock: Arc::new(SystemClock),
        });
        let links = links.await.expect("the links open");
        let link = links.join(code, name).await.expect("the code is good");
        Self {
            links,
            link,
            told: Mutex::default(),
            _home: home,
        }
    }

    fn state(&self) -> Option<LinkState> {
        self.links.info(&self.link).map(|info| info.state)
    }

    /// How it stands and what keeps it from working, for a test that fails.
    fn info(&self) -> Option<(LinkState, Option<LinkTrouble>)> {
        let info = self.links.info(&self.link)?;
        Some((info.state, info.trouble))
    }

    /// Waits until the link stands so.
    async fn until(&self, what: &str, is_so: impl Fn(&LinkState) -> bool) -> LinkState {
        let seen = tokio::time::timeout(PATIENCE, async {
            let mut events = self.links.subscribe();
            loop {
                if let Some(state) = self.state().filter(&is_so) {
                    return state;
                }
                events.next().await.expect("the links are open");
            }
        });
        seen.await
            .unwrap_or_else(|_| panic!("the phone never saw: {what}; {:?}", self.info()))
    }

    async fn digits(&self) -> String {
        let compares =
            |state: &LinkState| matches!(state, LinkState::Pairing(info) if info.digits.is_some());
        match self.until("the digits", compares).await {
            LinkState::Pairing(info) => info.digits.expect("they are there"),
            _ => unreachable!("it is being paired"),
        }
    }

    async fn say(&self, said: &FromPhone) -> PayloadId {
        let content = match said {
            FromPhone::Read { group, .. } => LinkContent::State {
                key: format!("read:{group}"),
            },
            _ => LinkContent::Message,
        };
        let sent = self.links.send(&self.link, content, said.encode(), None);
        sent.await.expect("it is queued")
    }

    pub(super) async fn write(&self, group: &str, text: &str) -> PayloadId {
        let (group, text) = (group.to_owned(), text.to_owned());
        self.say(&FromPhone::Text { group, text }).await
    }

    /// Waits until it was told something.
    async fn until_told<T>(
        &self,
        what: &str,
        find: impl Fn(&BTreeMap<String, FromDesktop>) -> Option<T>,
    ) -> T {
        let mut events = self.links.subscribe();
        let seen = tokio::time::timeout(PATIENCE, async {
            loop {
                self.collect().await;
                if let Some(found) = find(&self.told.lock().unwrap()) {
                    return found;
                }
                events.next().await.expect("the links are open");
            }
        });
        seen.await
            .unwrap_or_else(|_| panic!("the phone was never told: {what}"))
    }

    async fn collect(&self) {
        for arrived in self.links.arrived(&self.link, 0, 100).await.unwrap() {
            let body = FromDesktop::decode(&arrived.body).expect("a body that it knows");
            let key = match &arrived.content {
                LinkContent::State { key } => key.clone(),
                LinkContent::Message => "answer".to_owned(),
            };
            self.told.lock().unwrap().insert(key, body);
            self.links.handled(&self.link, arrived.id).await.unwrap();
        }
    }

    async fn until_tail(
        &self,
        group: &str,
        what: &str,
        is_so: impl Fn(&[Message]) -> bool,
    ) -> Vec<Message> {
        let key = format!("tail:{group}");
        self.until_told(what, |told| match told.get(&key) {
            Some(FromDesktop::Tail { messages, .. }) if is_so(messages) => Some(messages.clone()),
            _ => None,
        })
        .await
    }

    async fn until_groups(&self, what: &str, is_so: impl Fn(&[String]) -> bool) {
        self.until_told(what, |told| match told.get("groups") {
            Some(FromDesktop::Groups { groups, .. }) => {
                let ids: Vec<String> = groups.iter().map(|group| group.id.clone()).collect();
                is_so(&ids).then_some(())
            }
            _ => None,
        })
        .await;
    }
}

impl Drop for TestPhone {
    fn drop(&mut self) {
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| runtime.block_on(self.links.close()));
    }
}

impl App {
    pub(super) async fn phones(&self) -> PhonesView {
        self.controller.view().await.phones
    }

    pub(super) async fn until_phones(
        &self,
        what: &str,
        is_so: impl Fn(&PhonesView) -> bool,
    ) -> PhonesView {
        self.window
            .until(what, |view| is_so(&view.phones))
            .await
            .phones
    }

    /// Shows a code and says what it says.
    pub(super) async fn phone_code(&self) -> String {
        let args = StartPhonePairing { instead_of: None };
        self.controller
            .start_phone_pairing(args)
            .await
            .expect("a code can be shown");
        let has_code = |phones: &PhonesView| {
            phones
                .pairing
                .as_ref()
                .is_some_and(|one| one.link.is_some())
        };
        let shown = self.until_phones("a code", has_code).await;
        shown.pairing.and_then(|one| one.link).expect("it is shown")
    }

    /// Pairs a phone as a person does.
    pub(super) async fn pair_phone(&self, name: &str) -> TestPhone {
        let phone = TestPhone::scan(&self.phone_code().await, name).await;
        let shown = self.compare(&phone).await;
        assert_eq!(shown.name.as_deref(), Some(name));
        let is_over = closed_as(PhonePairingClosed::Paired);
        self.until_phones("it is paired", is_over).await;
        phone
    }

    /// Says on both screens that the digits are the same.
    async fn compare(&self, phone: &TestPhone) -> PhonePairingView {
        let compares = |phones: &PhonesView| step(phones) == Some(PhonePairingStep::Compare);
        let shown = self
            .until_phones("the digits", compares)
            .await
            .pairing
            .unwrap();
        assert_eq!(shown.digits, Some(phone.digits().await));
        assert!(
            shown.link.is_none() && shown.qr_svg.is_none(),
            "nobody else may use it"
        );
        phone.links.confirm_digits(&phone.link).await.unwrap();
        self.controller.confirm_phone().await.unwrap();
        phone
            .until("it is paired", |state| *state == LinkState::Active)
            .await;
        shown
    }
}

fn step(phones: &PhonesView) -> Option<PhonePairingStep> {
    phones.pairing.as_ref().map(|pairing| pairing.step)
}

fn closed_as(end: PhonePairingClosed) -> impl Fn(&PhonesView) -> bool {
    move |phones| phones.pairing.is_none() && phones.pairing_closed == Some(end)
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages
        .iter()
        .filter_map(|one| one.text.as_deref())
        .collect()
}

async fn relay_is(app: &App, on: bool) {
    app.controller
        .set_relay_running(SetRelayRunning { on })
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_is_paired_by_its_code_and_talks_in_its_group() {
    let pair = Pair::new().await;
    let (app, group) = (&pair.laptop, &pair.laptop_group);
    assert_eq!(
        app.phones().await.door,
        PhoneDoor::Off,
        "off until it is wanted"
    );
    let phone = app.pair_phone("Moto").await;
    let shown = app.phones().await;
    assert_eq!((shown.door, shown.phones.len()), (PhoneDoor::Open, 1));
    assert_eq!(shown.phones[0].state, PhoneState::Linked);
    assert_eq!(shown.phones[0].sharing.groups, std::slice::from_ref(group));
    phone
        .until_groups("its group", |groups| groups == [group.clone()])
        .await;

    // From the phone to everybody, named after the phone.
    let id = phone.write(group, "from the sofa").await;
    let rows = pair
        .phone
        .until_messages(&pair.phone_group, "it", |rows| rows.len() == 1)
        .await;
    assert_eq!(
        (rows[0].text.as_deref(), rows[0].via.as_deref()),
        (Some("from the sofa"), Some("Moto"))
    );
    let on_relay = |messages: &[Message]| {
        messages.iter().any(|one| {
            one.own
                && one
                    .delivery
                    .as_ref()
                    .is_some_and(|delivery| delivery.on_relay == 1)
        })
    };
    let tail = phone
        .until_tail(group, "that it is on the relay", on_relay)
        .await;
    assert_eq!(tail[0].id, id.to_text(), "the phone knows it again");

    // From somebody else to the phone; reading it there is reading it here.
    pair.phone.send(&pair.phone_group, "hello Moto").await;
    let tail = phone
        .until_tail(group, "the answer", |messages| messages.len() == 2)
        .await;
    assert_eq!(texts(&tail), ["from the sofa", "hello Moto"]);
    app.window
        .until("it is new here", |view| {
            group_is(view, group, |one| one.unread == 1)
        })
        .await;
    let (read, position) = (group.clone(), tail[1].position);
    phone
        .say(&FromPhone::Read {
            group: read,
            position,
        })
        .await;
    app.window
        .until("it was read there", |view| {
            group_is(view, group, |one| one.unread == 0)
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_gets_the_newest_and_asks_for_what_is_older() {
    let pair = Pair::new().await;
    let (app, group) = (&pair.laptop, &pair.laptop_group);
    app.send(group, "from the desk").await;
    let phone = app.pair_phone("Moto").await;
    for number in 0..25 {
        app.send(group, &format!("number {number}")).await;
    }
    let tail = phone
        .until_tail(group, "the newest", |messages| {
            texts(messages).last() == Some(&"number 24")
        })
        .await;
    assert!(tail.len() <= 20);
    let before = tail[0].position;
    let asked = phone
        .say(&FromPhone::History {
            group: group.clone(),
            before,
        })
        .await;
    let page = phone.until_told("a page", |told| match told.get("answer") {
        Some(FromDesktop::Page {
            request,
            messages,
            more,
            ..
        }) if *request == asked.to_text() => Some((messages.clone(), *more)),
        _ => None,
    });
    let (page, more) = page.await;
    assert_eq!((texts(&page)[0], more), ("from the desk", false));
    assert_eq!(page.len() + tail.len(), 26, "no gap and nothing twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_support_bundle_counts_the_phones_and_names_none() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    let _phone = app.pair_phone("Moto").await;
    let shown = app.phones().await;
    let bundle = app.controller.support_bundle().await.unwrap().text;
    assert!(bundle.contains("phone 1: Linked, "), "{bundle}");
    for personal in ["Moto", &shown.phones[0].id, "127.0.0.1", &group] {
        assert!(!bundle.contains(personal), "{personal} is in the bundle");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_sees_what_is_chosen_and_no_more() {
    let pair = Pair::new().await;
    let (app, group) = (&pair.laptop, &pair.laptop_group);
    app.send(group, "not for the phone").await;
    let code = app.phone_code().await;
    let nothing = PhoneSharingView {
        groups: Vec::new(),
        later: false,
    };
    let choose = |phone: Option<String>, sharing: &PhoneSharingView| {
        let sharing = sharing.clone();
        app.controller
            .set_phone_sharing(SetPhoneSharing { phone, sharing })
    };
    choose(None, &nothing).await.unwrap();
    let phone = TestPhone::scan(&code, "Moto").await;
    app.compare(&phone).await;
    phone
        .until_groups("an empty list", |groups| groups.is_empty())
        .await;
    let refused = |id: PayloadId| {
        let phone = &phone;
        async move {
            phone
                .until_told("a refusal", |told| match told.get("answer") {
                    Some(FromDesktop::Refused { message, code }) if *message == id.to_text() => {
                        Some(code.clone())
                    }
                    _ => None,
                })
                .await
        }
    };
    let id = phone.write(group, "let me in").await;
    assert_eq!(refused(id).await, "notShared");
    let id = phone.write("000009-nowhere", "anybody?").await;
    assert_eq!(refused(id).await, "groupGone");
    assert_eq!(app.messages(group).await.len(), 1);
    assert!(
        !phone
            .told
            .lock()
            .unwrap()
            .contains_key(&format!("tail:{group}"))
    );

    let shown = app.phones().await.phones[0].id.clone();
    let all = PhoneSharingView {
        groups: vec![group.clone()],
        later: false,
    };
    choose(Some(shown.clone()), &all).await.unwrap();
    phone
        .until_tail(group, "the group", |messages| {
            texts(messages) == ["not for the phone"]
        })
        .await;
    let id = phone.write(group, " ").await;
    assert_eq!(refused(id).await, "empty");
    choose(Some(shown), &nothing).await.unwrap();
    phone
        .until_tail(group, "that it is gone", |messages| messages.is_empty())
        .await;
    phone
        .until_groups("an empty list", |groups| groups.is_empty())
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_is_renamed_unpaired_here_and_unpaired_there() {
    let pair = Pair::new().await;
    let (app, group) = (&pair.laptop, &pair.laptop_group);
    let phone = app.pair_phone("Moto").await;
    let id = app.phones().await.phones[0].id.clone();
    let args = RenamePhone {
        phone: id.clone(),
        name: "Red phone".to_owned(),
    };
    app.controller.rename_phone(args).await.unwrap();
    phone.write(group, "hello").await;
    let rows = app
        .until_messages(group, "it", |rows| rows.len() == 1)
        .await;
    assert_eq!(rows[0].via.as_deref(), Some("Red phone"));
    app.controller
        .unpair_phone(OfPhone { phone: id.clone() })
        .await
        .unwrap();
    phone
        .until("that it is unpaired", |state| {
            *state == LinkState::Ended(LinkEnd::ByPeer)
        })
        .await;
    assert!(app.phones().await.phones.is_empty());
    let again = app.controller.unpair_phone(OfPhone { phone: id }).await;
    assert_eq!(again, Err(AppErrorCode::PhoneUnknown.into()));
    assert_eq!(app.messages(group).await.len(), 1, "what it wrote stays");

    let phone = app.pair_phone("Nokia").await;
    phone.links.unpair(&phone.link).await.unwrap();
    let is_gone = |phones: &PhonesView| {
        phones
            .phones
            .iter()
            .any(|one| one.state == PhoneState::UnpairedThere)
    };
    let shown = app.until_phones("it was unpaired there", is_gone).await;
    let args = OfPhone {
        phone: shown.phones[0].id.clone(),
    };
    app.controller.unpair_phone(args).await.unwrap();
    assert!(app.phones().await.phones.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_digits_differ_is_turned_away() {
    let pair = Pair::new().await;
    let app = &pair.laptop;
    let too_early = app.controller.confirm_phone().await;
    assert_eq!(too_early, Err(AppErrorCode::PhonePairingOver.into()));
    let phone = TestPhone::scan(&app.phone_code().await, "Moto").await;
    app.until_phones("the digits", |phones| {
        step(phones) == Some(PhonePairingStep::Compare)
    })
    .await;
    app.controller.decline_phone().await.unwrap();
    app.until_phones("turned away", closed_as(PhonePairingClosed::Declined))
        .await;
    phone
        .until("turned away", |state| matches!(state, LinkState::Ended(_)))
        .await;
    assert!(app.phones().await.phones.is_empty());
    // A code that is taken back is of no use to anybody.
    let code = app.phone_code().await;
    app.controller.cancel_phone_pairing().await.unwrap();
    app.until_phones("closed", closed_as(PhonePairingClosed::Cancelled))
        .await;
    let late = TestPhone::scan(&code, "Late").await;
    late.until("too late", |state| matches!(state, LinkState::Ended(_)))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_relay_no_phone_comes_in_and_afterwards_all_goes_on() {
    let pair = Pair::new().await;
    let (app, group) = (&pair.laptop, &pair.laptop_group);
    let phone = app.pair_phone("Moto").await;
    let port = app.phones().await.port;
    app.phone_code().await;
    relay_is(app, false).await;
    app.until_phones(
        "the code is gone",
        closed_as(PhonePairingClosed::DoorClosed),
    )
    .await;
    assert_eq!(app.phones().await.door, PhoneDoor::RelayOff);
    let args = StartPhonePairing { instead_of: None };
    let refused = app.controller.start_phone_pairing(args).await;
    assert_eq!(refused, Err(AppErrorCode::PhonesNeedRelay.into()));
    phone.write(group, "while you were away").await;
    relay_is(app, true).await;
    let shown = app
        .until_phones("the door", |phones| phones.door == PhoneDoor::Open)
        .await;
    assert_eq!(shown.port, port, "the port stays");
    phone.links.hurry();
    app.until_messages(group, "it", |rows| rows.len() == 1)
        .await;
    // Off is off: nothing listens there.
    app.controller
        .set_phones_on(SetPhonesOn { on: false })
        .await
        .unwrap();
    assert!(
        tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_err()
    );
    app.controller
        .set_phones_on(SetPhonesOn { on: true })
        .await
        .unwrap();
    assert!(
        tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_ok()
    );
}

/// A relay whose files come from an older copy has mailboxes of phones that were unpaired since.
/// They go before a phone can come in; those of the links stay with what is in them.
#[tokio::test(flavor = "multi_thread")]
async fn a_mailbox_that_no_link_has_is_gone_when_the_door_opens() {
    let pair = Pair::new().await;
    let (app, group) = (&pair.laptop, &pair.laptop_group);
    let phone = app.pair_phone("Moto").await;
    let relay = || app.controller.state().relay.running().cloned().unwrap();
    let unpaired = MailboxId::from_bytes([7; 16]);
    let token = LinkToken::parse(&"A".repeat(43)).unwrap();
    let made = relay().mailboxes().claim(&unpaired, &token).await.unwrap();
    assert!(made.is_new);
    relay_is(app, false).await;
    relay_is(app, true).await;
    let is_open = |phones: &PhonesView| phones.door == PhoneDoor::Open;
    app.until_phones("the door is open", is_open).await;
    let mailboxes = relay().mailboxes();
    let head = mailboxes.head(&unpaired, &token, Direction::BToA);
    assert_eq!(head, Err(Refusal::NoMailbox));
    phone.write(group, "still here").await;
    pair.phone
        .until_messages(&pair.phone_group, "it", |rows| rows.len() == 1)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn phones_are_known_after_a_restart_and_after_the_keys_have_moved() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    let phone = app.pair_phone("Moto").await;
    let app = app.restart(data.path(), "default").await;
    let shown = app
        .until_phones("the door", |phones| phones.door == PhoneDoor::Open)
        .await;
    assert_eq!(shown.phones[0].name, "Moto");
    assert_eq!(shown.phones[0].sharing.groups, std::slice::from_ref(&group));
    let change = crate::view::ChangePassphrase {
        current: String::new(),
        passphrase: "correct horse battery".to_owned(),
    };
    app.controller.change_passphrase(change).await.unwrap();
    assert_eq!(app.phones().await.phones.len(), 1, "its key has moved too");
    let id = phone.write(&group, "still there?").await;
    // The group has no other member yet.
    let answer = phone.until_told("a refusal", |told| match told.get("answer") {
        Some(FromDesktop::Refused { message, code }) if *message == id.to_text() => {
            Some(code.clone())
        }
        _ => None,
    });
    assert_eq!(answer.await, "notMember");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_to_be_shown_to_a_phone_that_never_came_is_forgotten_at_a_start() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.start_group().await;
    let phone = app.pair_phone("Moto").await;
    let paired = app.phones().await.phones[0].id.clone();
    let profile = app.controller.state().profile.clone().unwrap();
    let mut settings = profile.phones();
    settings
        .phones
        .insert("never".to_owned(), settings.phones[&paired].clone());
    profile.set_phones(&settings).unwrap();
    drop(profile);
    let app = app.restart(data.path(), "default").await;
    app.until_phones("the phone", |phones| phones.phones.len() == 1)
        .await;
    let profile = app.controller.state().profile.clone().unwrap();
    let known: Vec<String> = profile.phones().phones.into_keys().collect();
    assert_eq!(known, [paired]);
    drop(phone);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_and_an_address_that_is_gone_have_a_way_out() {
    let data = tempfile::tempdir().unwrap();
    let network = Arc::new(Mutex::new(vec!["127.0.0.1".to_owned()]));
    let keychain = Arc::new(MemoryStore::new());
    let app = App::start_in_network(data.path(), "default", &keychain, &network).await;
    app.start_group().await;
    let _phone = app.pair_phone("Moto").await;
    let port = app.phones().await.port;
    relay_is(&app, false).await;
    let taken = TcpListener::bind(("0.0.0.0", port)).unwrap();
    relay_is(&app, true).await;
    let shown = app
        .until_phones("a failure", |phones| phones.door == PhoneDoor::Failed)
        .await;
    assert_eq!(
        shown.failure.map(|error| error.code),
        Some(AppErrorCode::PhonePortInUse)
    );
    let again = app.controller.try_phone_door_again().await;
    assert_eq!(
        again.map_err(|error| error.code),
        Err(AppErrorCode::PhonePortInUse)
    );
    app.controller.choose_phone_port().await.unwrap();
    let shown = app.phones().await;
    assert_eq!(shown.door, PhoneDoor::Open);
    assert_ne!(shown.port, port);
    assert_eq!(
        shown.phones[0].address_gone,
        Some(format!("127.0.0.1:{port}"))
    );
    drop(taken);

    // Another address: the code that is shown leads nowhere, and the next one names it.
    let code = app.phone_code().await;
    assert!(code.starts_with(&format!("http://127.0.0.1:{}/p#", shown.port)));
    network.lock().unwrap()[0] = "127.0.0.2".to_owned();
    app.controller.refresh_addresses().await;
    app.until_phones("the address", closed_as(PhonePairingClosed::AddressChanged))
        .await;
    let code = app.phone_code().await;
    assert!(code.starts_with(&format!("http://127.0.0.2:{}/p#", shown.port)));
    app.controller.cancel_phone_pairing().await.unwrap();
    // Without a network there is no code.
    network.lock().unwrap().clear();
    app.controller.refresh_addresses().await;
    let args = StartPhonePairing { instead_of: None };
    let refused = app.controller.start_phone_pairing(args).await;
    assert_eq!(refused, Err(AppErrorCode::PhonesNeedNetwork.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_that_is_paired_again_takes_the_place_of_the_old_one() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    app.start_group().await;
    let _lost = app.pair_phone("Moto").await;
    let old = app.phones().await.phones[0].id.clone();
    let args = StartPhonePairing {
        instead_of: Some(old.clone()),
    };
    app.controller.start_phone_pairing(args).await.unwrap();
    let phone = app.pair_phone("Moto").await;
    app.until_phones("the new one alone", |phones| {
        phones.phones.len() == 1 && phones.phones[0].id != old
    })
    .await;
    drop(phone);
}
