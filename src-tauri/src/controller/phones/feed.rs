//! Telling the phones what they see, and doing what they ask.
//!
//! Owns one task for as long as the links are open: it reads what the groups hold, hands it to
//! the feed of each phone ([`sealpost_engine::core::phone_feed`]) and carries out what comes
//! back. Says that something of a phone was handled only after it is durable where it belongs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use sealpost_engine::core::link::RowFailure;
use sealpost_engine::core::phone_feed::{
    self, Action, HISTORY_MESSAGES_MAX, PhoneFeed, Refusal, Sharing, Standing, TAIL_MESSAGES_MAX,
    WaitingRow,
};
use sealpost_engine::history::StoredMessage;
use sealpost_engine::link::{
    Arrived, LinkContent, LinkInfo, LinkName, LinkProgress, LinkState, Links, LinksEvent,
};
use sealpost_protocol::link::feed::{FromDesktop, Group, Trouble, tail_key};
use sealpost_protocol::link::payload::PayloadId;
use sealpost_protocol::message_id::MessageId;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;

use super::super::group::SPARE_GROUPS;
use super::super::{Controller, Shared, Stage, blocking};
use super::pairing::is_phone;
use crate::settings::Settings as _;
use crate::view::{AppView, CohesionView, ConnectionState, GroupStatus, GroupView, MarkRead};

/// The shortest time between two looks: a burst of messages is told together.
const PACE: Duration = Duration::from_millis(50);

/// When it is looked again without a reason: what had to wait may go now.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many messages of a phone are taken at once.
const ARRIVED_AT_ONCE: usize = 50;

/// What is kept between two looks.
#[derive(Default)]
struct Feeds {
    phones: BTreeMap<LinkName, Feed>,
    /// The phones whose outbox has moved.
    moved: BTreeSet<LinkName>,
}

/// The feed of one phone.
#[derive(Default)]
struct Feed {
    states: PhoneFeed,
    /// The groups that the phone sees.
    shared: BTreeSet<String>,
    /// Those whose newest messages were offered since they are shared.
    offered: BTreeSet<String>,
}

/// Tells the phones until the links are closed.
pub(super) async fn run(app: Weak<Shared>, links: Links, bell: Arc<Notify>) {
    let mut events = links.subscribe();
    let mut feeds = Feeds::default();
    loop {
        let event = tokio::select! {
            event = events.next() => match event {
                Some(event) => Some(event),
                None => return,
            },
            () = bell.notified() => None,
            () = tokio::time::sleep(PATIENCE) => None,
        };
        let Some(shared) = app.upgrade() else { return };
        let controller = Controller { shared };
        match event {
            Some(LinksEvent::Changed(_)) => {
                controller.follow_pairing(&links).await;
                controller.draw_code(&links);
                controller.changed();
            }
            Some(LinksEvent::Sent(phone)) => drop(feeds.moved.insert(phone)),
            Some(LinksEvent::Arrived(_)) | None => {}
        }
        controller.serve_phones(&links, &mut feeds).await;
        drop(controller);
        tokio::time::sleep(PACE).await;
    }
}

impl Controller {
    async fn serve_phones(&self, links: &Links, feeds: &mut Feeds) {
        let phones: Vec<LinkInfo> = links.list().into_iter().filter(is_phone).collect();
        feeds
            .phones
            .retain(|name, _| phones.iter().any(|phone| phone.name == *name));
        let changes = std::mem::take(&mut self.state().phones.changes);
        let is_told = |phone: &&LinkInfo| !matches!(phone.state, LinkState::Ended(_));
        let told: Vec<&LinkInfo> = phones.iter().filter(is_told).collect();
        for phone in &told {
            self.read_outbox(links, &phone.name, feeds).await;
        }
        for phone in &phones {
            self.take_arrived(links, phone, feeds).await;
        }
        if told.is_empty() {
            return;
        }
        let view = self.snapshot().await;
        for phone in &told {
            let sharing = self.state().phones.sharing(&phone.name);
            if let Some(feed) = feeds.phones.get_mut(&phone.name) {
                feed.share(&sharing, &view, &phone.peer_name);
            }
        }
        self.offer_messages(&view, changes, feeds).await;
        for phone in &told {
            if let Some(feed) = feeds.phones.get_mut(&phone.name) {
                hand_over(links, &phone.name, &mut feed.states).await;
            }
        }
    }

    /// Offers the newest messages of each group that changed, or that a phone sees for the
    /// first time, and the older ones that moved on.
    async fn offer_messages(
        &self,
        view: &AppView,
        mut changes: BTreeMap<String, BTreeSet<MessageId>>,
        feeds: &mut Feeds,
    ) {
        let wanted = feeds
            .phones
            .values()
            .flat_map(Feed::wanted)
            .collect::<BTreeSet<_>>();
        for group in wanted {
            changes.entry(group).or_default();
        }
        for (group, ids) in changes {
            let is_listed = view.groups.iter().any(|one| one.id == group);
            let Ok(engine) = self.engine(&group) else {
                continue;
            };
            let newest = engine.messages_before(None, TAIL_MESSAGES_MAX + 1).await;
            let Some(newest) = newest.ok().filter(|_| is_listed) else {
                continue;
            };
            let mut older = Vec::new();
            for id in ids {
                let found = engine.message(id).await.ok().flatten();
                older.extend(found.filter(|found| !newest.iter().any(|new| new.id == found.id)));
            }
            for feed in feeds.phones.values_mut() {
                feed.offer(&group, &newest, &older);
            }
        }
    }

    /// Reads what waits for a phone, where that has moved.
    async fn read_outbox(&self, links: &Links, phone: &LinkName, feeds: &mut Feeds) {
        let is_new = !feeds.phones.contains_key(phone);
        if !feeds.moved.remove(phone) && !is_new {
            return;
        }
        let Ok(sent) = links.outbox(phone).await else {
            return;
        };
        let feed = feeds.phones.entry(phone.clone()).or_default();
        let mut rows = Vec::new();
        for row in sent {
            let key = match row.content {
                LinkContent::State { key } => Some(key),
                LinkContent::Message => None,
            };
            if let LinkProgress::Failed(reason) = row.progress {
                // What the relay refused it would refuse again, at once and for ever.
                if let (RowFailure::Expired, Some(key)) = (reason, &key) {
                    feed.handle_expired(row.id, key);
                }
                let _ = links.dismiss_failed(phone, row.id).await;
                continue;
            }
            rows.push(WaitingRow {
                id: row.id,
                is_here: row.progress == LinkProgress::Waiting,
                key,
            });
        }
        feed.states.handle_outbox(rows);
    }

    /// Does what a phone asked for, in its order. What can't be done now waits, and what
    /// comes behind it for the same group too.
    async fn take_arrived(&self, links: &Links, phone: &LinkInfo, feeds: &mut Feeds) {
        let mut waiting = BTreeSet::new();
        let mut position = 0;
        loop {
            let arrived = links.arrived(&phone.name, position, ARRIVED_AT_ONCE).await;
            let Some(arrived) = arrived.ok().filter(|arrived| !arrived.is_empty()) else {
                return;
            };
            for message in arrived {
                position = message.position;
                let states = feeds.phones.get(&phone.name).map(|feed| &feed.states);
                let has_room = states.is_some_and(PhoneFeed::has_room_for_answer);
                let asked = Asked {
                    links,
                    phone,
                    has_room,
                };
                if self
                    .do_asked(&asked, &message, &mut waiting)
                    .await
                    .is_some()
                {
                    // Not said, it is done once more, which does no harm.
                    let _ = links.handled(&phone.name, message.id).await;
                    feeds.moved.insert(phone.name.clone());
                }
            }
        }
    }

    /// Does one thing; nothing as long as it has to wait.
    async fn do_asked(
        &self,
        asked: &Asked<'_>,
        message: &Arrived,
        waiting: &mut BTreeSet<String>,
    ) -> Option<()> {
        let closed = self.closed_groups().await;
        let sharing = self.state().phones.sharing(&asked.phone.name);
        let open: BTreeSet<String> = self.state().groups.keys().cloned().collect();
        let standing = |group: &str| match () {
            () if waiting.contains(group) || closed.contains(group) => Standing::Closed,
            () if !open.contains(group) => Standing::Gone,
            () if sharing.shows(group) => Standing::Shared,
            () => Standing::NotShared,
        };
        let action = phone_feed::read(&message.body, standing);
        let group = action.group().map(str::to_owned);
        let done = self.act(asked, message.id, action).await;
        if let (None, Some(group)) = (done, group) {
            waiting.insert(group);
        }
        done
    }

    async fn act(&self, asked: &Asked<'_>, id: PayloadId, action: Action) -> Option<()> {
        match action {
            Action::Nothing => Some(()),
            Action::Wait => None,
            Action::Refuse(refusal) => asked.refuse(id, refusal).await,
            Action::Send { group, text } => {
                let engine = self.engine(&group).ok()?;
                let phone = &asked.phone.peer_name;
                match engine.send_phone_text(*id.as_bytes(), phone, text).await {
                    Ok(_) => Some(()),
                    Err(error) => asked.refuse(id, Refusal::of(&error)?).await,
                }
            }
            Action::Read { group, position } => {
                let read = MarkRead { group, position };
                self.mark_read(read).await.ok()
            }
            Action::Page { group, before } => {
                let engine = self.engine(&group).ok()?;
                let rows = engine.messages_before(Some(before), HISTORY_MESSAGES_MAX + 1);
                let rows = rows.await.ok()?;
                let page = phone_feed::history(&group, &id.to_text(), &rows);
                asked.answer(id, &page).await
            }
        }
    }

    /// The groups of this profile that aren't open at the moment. While the app opens or
    /// closes them, none is there and all are.
    async fn closed_groups(&self) -> BTreeSet<String> {
        let (profile, is_open) = {
            let state = self.state();
            (state.profile.clone(), matches!(state.stage, Stage::Open))
        };
        let Some(profile) = profile else {
            return BTreeSet::new();
        };
        let listed = blocking(move || {
            let spare = profile.listed(SPARE_GROUPS);
            let mut listed = profile.namespaces().unwrap_or_default();
            listed.retain(|namespace| !spare.contains(namespace.as_str()));
            listed
        });
        let listed = listed.await.unwrap_or_default();
        let state = self.state();
        let listed = listed.iter().map(|namespace| namespace.as_str().to_owned());
        let closed = listed.filter(|group| !is_open || !state.groups.contains_key(group));
        closed.collect()
    }
}

/// What a phone asked for has to do with.
struct Asked<'a> {
    links: &'a Links,
    phone: &'a LinkInfo,
    /// Whether the phone collects what it is answered.
    has_room: bool,
}

impl Asked<'_> {
    async fn refuse(&self, id: PayloadId, refusal: Refusal) -> Option<()> {
        let refused = FromDesktop::Refused {
            message: id.to_text(),
            code: refusal.code().to_owned(),
        };
        self.answer(id, &refused).await
    }

    /// Answers a phone that is still linked; under an id that follows from the question, so
    /// that an answer is given once.
    async fn answer(&self, id: PayloadId, answer: &FromDesktop) -> Option<()> {
        if matches!(self.phone.state, LinkState::Ended(_)) {
            return Some(());
        }
        if !self.has_room {
            return None;
        }
        let (phone, body) = (&self.phone.name, answer.encode());
        let sent = self
            .links
            .send(phone, LinkContent::Message, body, Some(answer_id(id)));
        sent.await.ok().map(drop)
    }
}

fn answer_id(question: PayloadId) -> PayloadId {
    const LABEL: &[u8] = b"answer";
    let hash = Sha256::new()
        .chain_update(LABEL)
        .chain_update(question.as_bytes())
        .finalize();
    let mut id = [0; 16];
    for (to, from) in id.iter_mut().zip(hash) {
        *to = from;
    }
    PayloadId::from_bytes(id)
}

impl Feed {
    /// Takes over which groups the phone sees, and offers their list.
    fn share(&mut self, sharing: &Sharing, view: &AppView, phone: &str) {
        let shared = view.groups.iter().filter(|group| is_shown(group));
        let shared: Vec<&GroupView> = shared.filter(|group| sharing.shows(&group.id)).collect();
        let is_shared = |group: &str| shared.iter().any(|one| one.id == group);
        let gone: Vec<String> = self
            .states
            .told()
            .filter(|group| !is_shared(group))
            .map(str::to_owned)
            .collect();
        for group in gone {
            self.states.withdraw(&group);
        }
        self.offered.retain(|group| is_shared(group));
        self.shared = shared.iter().map(|group| group.id.clone()).collect();
        self.states.offer_groups(&FromDesktop::Groups {
            desktop: view.device_name.clone(),
            phone: phone.to_owned(),
            language: view.language.clone(),
            groups: shared.into_iter().map(group_for_phone).collect(),
        });
    }

    /// A state wasn't collected in its 30 days: what the phone is to have now goes anew.
    fn handle_expired(&mut self, id: PayloadId, key: &str) {
        self.states.handle_expired(id, key);
        self.offered.retain(|group| tail_key(group) != key);
    }

    /// The groups that the phone sees and has got nothing of.
    fn wanted(&self) -> impl Iterator<Item = String> {
        self.shared.difference(&self.offered).cloned()
    }

    fn offer(&mut self, group: &str, newest: &[StoredMessage], older: &[StoredMessage]) {
        if !self.shared.contains(group) {
            return;
        }
        self.offered.insert(group.to_owned());
        self.states
            .offer_tail(group, &phone_feed::tail(group, newest));
        for message in older {
            self.states
                .note_changed(group, phone_feed::message(message));
        }
    }
}

/// Hands everything to the link that may go now.
async fn hand_over(links: &Links, phone: &LinkName, states: &mut PhoneFeed) {
    while let Some(outgoing) = states.next() {
        let key = outgoing.key.clone();
        let content = LinkContent::State { key };
        let sent = links
            .send(phone, content, outgoing.body.clone(), None)
            .await;
        let Ok(id) = sent else { return };
        states.handle_handed(&outgoing, id);
    }
}

/// Whether there is anything of a group to see: not before somebody else is in it.
fn is_shown(group: &GroupView) -> bool {
    let is_in = matches!(
        group.status,
        GroupStatus::Member | GroupStatus::Leaving | GroupStatus::Destroying
    );
    is_in || group.last_position > 0
}

fn group_for_phone(group: &GroupView) -> Group {
    let members = group.members.len().saturating_add(1);
    Group {
        id: group.id.clone(),
        name: group.name.clone(),
        members: u32::try_from(members).unwrap_or(u32::MAX),
        unread: group.unread,
        last: Some(group.last_position).filter(|position| *position > 0),
        trouble: trouble(group),
    }
}

fn trouble(group: &GroupView) -> Option<Trouble> {
    match group.status {
        GroupStatus::NotJoined | GroupStatus::Leaving | GroupStatus::Destroying => {
            return Some(Trouble::Ended);
        }
        GroupStatus::PendingJoin | GroupStatus::New => return Some(Trouble::NeedsYou),
        GroupStatus::Member => {}
    }
    if group.cohesion != CohesionView::Whole {
        return Some(Trouble::NeedsYou);
    }
    match group.connection.state {
        ConnectionState::Disconnected | ConnectionState::Unsupported => Some(Trouble::NotConnected),
        ConnectionState::Connecting | ConnectionState::Connected => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_expired_is_read_and_offered_again_and_the_rest_is_left() {
        let groups = || ["a", "b"].map(str::to_owned);
        let mut feed = Feed {
            shared: BTreeSet::from(groups()),
            ..Feed::default()
        };
        for group in groups() {
            feed.offer(&group, &[], &[]);
        }
        let mut handed = Vec::new();
        let id = PayloadId::from_bytes([1; 16]);
        while let Some(outgoing) = feed.states.next() {
            feed.states.handle_handed(&outgoing, id);
            handed.push(outgoing.key);
        }
        assert_eq!(handed, [tail_key("a"), tail_key("b")]);
        assert_eq!(feed.wanted().count(), 0);
        feed.handle_expired(id, &tail_key("a"));
        feed.states.handle_outbox(Vec::new());
        assert_eq!(feed.wanted().collect::<Vec<_>>(), ["a"]);
        for group in groups() {
            feed.offer(&group, &[], &[]);
        }
        let again = feed.states.next().map(|outgoing| outgoing.key);
        assert_eq!(again, Some(tail_key("a")));
    }
}
