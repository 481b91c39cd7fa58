//! The state of the window, built anew from the engines and the relay each time.
//!
//! Owns no state of its own but the drawn codes, which are kept with their groups because
//! drawing one takes longer than everything else here.

use std::collections::BTreeMap;

use sealpost_engine::core::event::{
    JoinProgress as EngineProgress, JoinRequest, Member, PairingState, PairingWindow,
};
use sealpost_engine::core::membership::Cohesion;
use sealpost_engine::core::status::{ConnectFailure, Connection, Status};
use sealpost_engine::engine::Engine;
use sealpost_engine::profile::Profile;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::key::{MemberId, NoisePublic};
use sealpost_protocol::limit;

use super::group::{Group, KnownMember, fingerprint};
use super::keys::may_choose_passphrase;
use super::pairing::{DrawnCode, request_text};
use super::{Controller, Stage, State};
use crate::catalogue::Language;
use crate::view::{
    AppView, CohesionView, ConnectReason, ConnectionState, ConnectionView, GroupStatus, GroupView,
    JoinProgress, JoinRequestView, JoinView, KeychainView, MemberView, PairingView, RelayState,
    Screen, StatusReason, VersionsView,
};
use crate::window::{TrayStatus, TrayView};

/// What of a group has to be asked from its store.
#[derive(Clone, Copy, Default)]
pub(super) struct Counted {
    unread: u64,
    read_position: u64,
    last_position: u64,
    pub(super) cohesion: CohesionView,
}

impl Controller {
    /// Builds the state of the window.
    pub(super) async fn snapshot(&self) -> AppView {
        self.count_messages().await;
        let mut state = self.state();
        if let Some(view) = &state.kept_view {
            return view.clone();
        }
        let relay_key = state.relay.public_key();
        let State { groups, stage, .. } = &mut *state;
        // A group that is still being closed is out of sight already.
        let is_shut = matches!(
            stage,
            Stage::Keychain(_) | Stage::Passphrase | Stage::Closed
        );
        let groups = groups.iter_mut().filter(|_| !is_shut);
        let groups = groups.map(|(name, group)| group_view(name.clone(), group, relay_key));
        let groups = groups.collect();
        self.app_view(&state, groups)
    }

    /// Counts the messages of each group in which something happened since it was counted:
    /// counting fifty thousand unread ones takes longer than all the rest.
    async fn count_messages(&self) {
        for (name, engine) in self.engines() {
            let changes = |state: &State| {
                let group = state.groups.get(&name)?;
                (group.counted_changes != Some(group.changes)).then_some(group.changes)
            };
            let Some(changes) = changes(&self.state()) else {
                continue;
            };
            let counted = count(&engine).await;
            if let Some(group) = self.state().groups.get_mut(&name) {
                group.counted = counted;
                // What happened while it was counted makes it old again.
                group.counted_changes = Some(changes);
            }
        }
    }

    /// Says that a group's messages have to be counted anew.
    pub(super) fn recount(&self, group: &str) {
        if let Some(group) = self.state().groups.get_mut(group) {
            group.changes = group.changes.wrapping_add(1);
        }
        self.changed();
    }

    fn app_view(&self, state: &State, groups: Vec<GroupView>) -> AppView {
        let setup = &self.shared.setup;
        let profile = state.profile.as_deref();
        let failure = match &state.stage {
            Stage::Failed(error) => Some(error.clone()),
            _ => state.failure.clone(),
        };
        let issue_count = groups.iter().map(|group| group.issue_count).sum();
        AppView {
            screen: screen(&state.stage, groups.is_empty()),
            keychain: keychain_view(&state.stage, profile),
            failure,
            device_name: profile.and_then(Profile::device_name).unwrap_or_default(),
            suggested_device_name: setup.suggested_device_name.clone(),
            groups,
            relay: state.relay.view(),
            phones: self.phones_view(state),
            versions: VersionsView {
                app: env!("CARGO_PKG_VERSION").to_owned(),
                transport: limit::TRANSPORT_VERSION,
                end_to_end: limit::END_TO_END_VERSION,
            },
            language: setup.catalogue.get().language().tag().to_owned(),
            has_tray: state.has_tray,
            settings: self.settings_view(state),
            issue_count,
            destination: state.destinations.next(),
            data_work: state.data.view(),
            is_data_open: state.opened_data().is_some(),
        }
    }
}

impl AppView {
    /// What the tray shows of it.
    pub(super) fn tray(&self) -> TrayView {
        TrayView {
            status: self.tray_status(),
            relay_on: matches!(self.relay.state, RelayState::On | RelayState::Starting),
            relay_ready: matches!(self.screen, Screen::FirstStart | Screen::Ready)
                && self.relay.state != RelayState::Starting,
            unread: self.groups.iter().map(|group| group.unread).sum(),
            issues: self.issue_count,
            may_pair: self.groups.iter().any(GroupView::admits),
            muted: self.settings.muted_until_ms.is_some(),
            language: Language::for_tag(&self.language),
        }
    }

    fn tray_status(&self) -> TrayStatus {
        match self.screen {
            Screen::Starting => return TrayStatus::Starting,
            Screen::Keychain | Screen::Passphrase | Screen::Failed => {
                return TrayStatus::NeedsAttention;
            }
            Screen::FirstStart => return TrayStatus::NoGroup,
            Screen::Ready => {}
        }
        let is_connected =
            |group: &&GroupView| group.connection.state == ConnectionState::Connected;
        let (connected, groups) = (
            self.groups.iter().filter(is_connected).count(),
            self.groups.len(),
        );
        match connected {
            0 => TrayStatus::NotConnected,
            all if all == groups => TrayStatus::Connected,
            connected => TrayStatus::PartlyConnected { connected, groups },
        }
    }
}

impl GroupView {
    /// Whether this device can admit others to the group.
    pub(super) fn admits(&self) -> bool {
        matches!(self.status, GroupStatus::New | GroupStatus::Member)
    }
}

/// A store that can't be read now counts as having nothing new; its error shows elsewhere.
async fn count(engine: &Engine) -> Counted {
    let newest = engine.messages_before(None, 1).await.unwrap_or_default();
    Counted {
        unread: engine.unread().await.unwrap_or_default(),
        read_position: engine.read_position().await.unwrap_or_default(),
        last_position: newest.last().map_or(0, |message| message.position),
        cohesion: cohesion_view(engine.cohesion().await.ok().flatten()),
    }
}

/// Nothing is wrong outside a group.
pub(super) fn cohesion_view(cohesion: Option<Cohesion>) -> CohesionView {
    match cohesion {
        None | Some(Cohesion::Whole) => CohesionView::Whole,
        Some(Cohesion::Unlisted) => CohesionView::Unlisted,
        Some(Cohesion::AdmissionVoid) => CohesionView::AdmissionVoid,
        Some(Cohesion::CutOff) => CohesionView::CutOff,
    }
}

fn screen(stage: &Stage, without_groups: bool) -> Screen {
    match stage {
        Stage::Starting | Stage::Closed => Screen::Starting,
        Stage::Keychain(_) => Screen::Keychain,
        Stage::Passphrase => Screen::Passphrase,
        Stage::Open if without_groups => Screen::FirstStart,
        Stage::Open => Screen::Ready,
        Stage::Failed(_) => Screen::Failed,
    }
}

fn keychain_view(stage: &Stage, profile: Option<&Profile>) -> Option<KeychainView> {
    match stage {
        Stage::Keychain(kind) => Some(KeychainView {
            kind: *kind,
            may_choose_passphrase: profile.is_some_and(may_choose_passphrase),
        }),
        _ => None,
    }
}

fn group_view(id: String, group: &mut Group, relay_key: Option<NoisePublic>) -> GroupView {
    let (engine, counted) = (&group.engine, group.counted);
    let relay = engine.relay();
    let PairingState { window, join } = engine.pairing();
    GroupView {
        id,
        name: engine.group_name().unwrap_or_default(),
        status: group_status(engine.status(), group.status_reason, &counted),
        status_reason: group.status_reason,
        connection: connection_view(engine),
        relay_host: relay
            .as_ref()
            .map(|relay| relay.host().to_owned())
            .unwrap_or_default(),
        relay_is_here: relay
            .as_ref()
            .is_some_and(|relay| Some(*relay.public_key()) == relay_key),
        me: member_view(&engine.me(), true, &group.members),
        members: engine
            .members()
            .iter()
            .map(|member| member_view(member, false, &group.members))
            .collect(),
        max_body_bytes: u32::try_from(engine.max_payload_bytes()).unwrap_or(u32::MAX),
        unread: counted.unread,
        last_position: counted.last_position,
        read_position: counted.read_position,
        issue_count: group.issue_count,
        draft: group.draft.clone(),
        clock_off_ms: group.clock.off_ms(),
        cohesion: counted.cohesion,
        pairing_closed: group.pairing_closed,
        stale_request: group.stale_request.clone(),
        dropped_admission: group.dropped_admission.clone(),
        join: join.map(|join| JoinView {
            words: join.words.map(Vec::from).unwrap_or_default(),
            confirmed: join.confirmed,
            progress: join_progress(join.progress),
        }),
        pairing: window.and_then(|window| pairing_view(&mut group.drawn_code, &window, relay)),
    }
}

/// Shows the open window; its code is drawn again only when it is another one.
fn pairing_view(
    drawn: &mut Option<DrawnCode>,
    window: &PairingWindow,
    relay: Option<RelayAddress>,
) -> Option<PairingView> {
    let link = DrawnCode::link(window, relay)?;
    if drawn.as_ref().is_none_or(|drawn| drawn.link != link) {
        *drawn = DrawnCode::new(link);
    }
    let drawn = drawn.as_ref()?;
    Some(PairingView {
        link: drawn.link.clone(),
        qr_svg: drawn.svg.clone(),
        expires_at_ms: window.closes_at_ms(),
        requests: window.requests.iter().map(request_view).collect(),
    })
}

fn request_view(request: &JoinRequest) -> JoinRequestView {
    JoinRequestView {
        id: request_text(request.id),
        name: request.name.as_str().to_owned(),
        words: request.words.to_vec(),
        looks_like: request
            .looks_like
            .as_ref()
            .map(|name| name.as_str().to_owned()),
    }
}

fn join_progress(progress: EngineProgress) -> JoinProgress {
    match progress {
        EngineProgress::Queued => JoinProgress::Queued,
        EngineProgress::Sending => JoinProgress::Sending,
        EngineProgress::OnRelay => JoinProgress::OnRelay,
        EngineProgress::Refused => JoinProgress::Refused,
        EngineProgress::Admitted => JoinProgress::Admitted,
    }
}

fn member_view(
    member: &Member,
    is_me: bool,
    known: &BTreeMap<MemberId, KnownMember>,
) -> MemberView {
    let known = known.get(&member.id).cloned().unwrap_or_default();
    MemberView {
        id: member.id.as_str().to_owned(),
        name: member.name.as_str().to_owned(),
        fingerprint: fingerprint(member.keys.signing.as_bytes().iter().copied()),
        is_me,
        added_by: known.added_by,
        added_at_ms: known.added_at_ms,
        last_message_at_ms: known.last_message_at_ms,
    }
}

fn connection_view(engine: &Engine) -> ConnectionView {
    let (state, reason) = match engine.connection() {
        Connection::Connecting => (ConnectionState::Connecting, None),
        Connection::Connected => (ConnectionState::Connected, None),
        Connection::Disconnected(failure) => (ConnectionState::Disconnected, failure),
        Connection::RelayVersionUnsupported { .. } => (ConnectionState::Unsupported, None),
    };
    ConnectionView {
        state,
        reason: reason.and_then(connect_reason),
    }
}

fn connect_reason(failure: ConnectFailure) -> Option<ConnectReason> {
    match failure {
        ConnectFailure::NameNotFound => Some(ConnectReason::NameNotFound),
        ConnectFailure::Refused => Some(ConnectReason::Refused),
        ConnectFailure::NoAnswer => Some(ConnectReason::NoAnswer),
        ConnectFailure::SomethingElse => Some(ConnectReason::SomethingElse),
        ConnectFailure::WrongKey => Some(ConnectReason::WrongKey),
        ConnectFailure::Unavailable => Some(ConnectReason::Unavailable),
        ConnectFailure::Lost => Some(ConnectReason::Lost),
        ConnectFailure::NoRelay => Some(ConnectReason::NoRelay),
        // The app registers its handler before anybody can look.
        ConnectFailure::NoHandler => None,
    }
}

/// A device that is in no group either has started this one and admitted nobody yet, or was
/// in it before.
fn group_status(status: Status, reason: Option<StatusReason>, counted: &Counted) -> GroupStatus {
    match status {
        Status::NotJoined if reason.is_none() && counted.last_position == 0 => GroupStatus::New,
        Status::NotJoined => GroupStatus::NotJoined,
        Status::PendingJoin => GroupStatus::PendingJoin,
        Status::Member => GroupStatus::Member,
        Status::Leaving => GroupStatus::Leaving,
        Status::Destroying => GroupStatus::Destroying,
    }
}
