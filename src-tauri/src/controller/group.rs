//! The groups of the profile: starting one, joining one, giving up a join.
//!
//! Owns what the app remembers of a group beside its engine. A group whose join was taken
//! back before it began has nothing worth showing; it is kept as spare, and the next group
//! takes its place, so that nothing is ever deleted here.

use std::collections::BTreeMap;
use std::sync::Arc;

use sealpost_engine::core::status::Status;
use sealpost_engine::engine::Engine;
use sealpost_engine::keys::KeyStore;
use sealpost_engine::profile::{KeyStoreKind, Profile};
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::invitation::Invitation;
use sealpost_protocol::key::MemberId;
use sealpost_protocol::name;
use sealpost_protocol::token::PairingToken;

use super::clock::ClockWitnesses;
use super::failure::{address_part, invitation_part};
use super::pairing::DrawnCode;
use super::snapshot::Counted;
use super::{Controller, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::qr_code;
use crate::settings::{NamespaceList, Settings as _};
use crate::view::{
    DroppedAdmissionView, InGroup, InvitationPreview, InvitationText, JoinGroup, OpenedGroup,
    PairingClosed, ReadInvitation, ReadInvitationImage, RelayChoice, StaleRequestView, StartGroup,
    StatusReason,
};

/// The groups whose join was taken back.
pub(super) const SPARE_GROUPS: NamespaceList = NamespaceList("spareGroups");

/// The groups that were started on the relay of this computer.
pub(super) const GROUPS_ON_RELAY_HERE: NamespaceList = NamespaceList("groupsOnRelayHere");

/// How many bytes of a relay's key are shown for comparing by eye.
const SHORT_KEY_BYTES: usize = 8;

/// A group that is open.
pub(super) struct Group {
    pub(super) engine: Engine,
    /// Why the last pairing window closed.
    pub(super) pairing_closed: Option<PairingClosed>,
    /// What last changed this device's place in the group.
    pub(super) status_reason: Option<StatusReason>,
    /// The picture of the open window's code, which is drawn once.
    pub(super) drawn_code: Option<DrawnCode>,
    /// The device that last asked with a code that is used up.
    pub(super) stale_request: Option<StaleRequestView>,
    /// The device whose admission by this one came to nothing last.
    pub(super) dropped_admission: Option<DroppedAdmissionView>,
    /// What the times in received messages say of this computer's clock.
    pub(super) clock: ClockWitnesses,
    /// What was typed and not sent.
    pub(super) draft: String,
    /// What was counted in its store.
    pub(super) counted: Counted,
    /// How often something happened in it that changes what is counted.
    pub(super) changes: u64,
    /// How often it had happened when it was counted.
    pub(super) counted_changes: Option<u64>,
    /// How many delivery issues there are.
    pub(super) issue_count: u64,
    /// What the members panel says of each member beside its name.
    pub(super) members: BTreeMap<MemberId, KnownMember>,
    /// Whether that was asked for since the members changed.
    pub(super) members_known: bool,
}

/// What is known of a member beside its name.
#[derive(Clone, Default)]
pub(super) struct KnownMember {
    pub(super) added_by: Option<String>,
    pub(super) added_at_ms: Option<u64>,
    pub(super) last_message_at_ms: Option<u64>,
}

impl Group {
    /// Takes up a group; `status_reason` is what ended it in an earlier run.
    pub(super) fn new(engine: Engine, status_reason: Option<StatusReason>) -> Self {
        Self {
            engine,
            pairing_closed: None,
            status_reason,
            drawn_code: None,
            stale_request: None,
            dropped_admission: None,
            clock: ClockWitnesses::default(),
            draft: String::new(),
            counted: Counted::default(),
            changes: 0,
            counted_changes: None,
            issue_count: 0,
            members: BTreeMap::new(),
            members_known: false,
        }
    }
}

impl Controller {
    /// Starts a group on a relay and opens its first pairing window.
    ///
    /// # Errors
    ///
    /// `name-empty`, `relay-address-invalid`, what keeps the relay on this computer from
    /// running, and what keeps keys and data from being written.
    pub async fn start_group(&self, args: StartGroup) -> Result<OpenedGroup, AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let started = self.start_group_locked(args).await;
        self.ask_keychain_after(&started).await;
        started
    }

    async fn start_group_locked(&self, args: StartGroup) -> Result<OpenedGroup, AppError> {
        let name = device_name(&args.device_name)?;
        let (profile, keys) = self.opened()?;
        let relay = match &args.relay {
            RelayChoice::ThisComputer => self.relay_here(&profile, &keys).await?,
            RelayChoice::Address { address } => read_address(address)?,
        };
        keep_device_name(&profile, &name)?;
        let group = self.open_new_group(&profile, &keys, relay).await?;
        if matches!(args.relay, RelayChoice::ThisComputer) {
            profile.list(GROUPS_ON_RELAY_HERE, &group)?;
        }
        self.begin_pairing(&group).await?;
        Ok(OpenedGroup { group })
    }

    /// Asks to be admitted to a group.
    ///
    /// # Errors
    ///
    /// `name-empty`, `invitation-invalid`, `invitation-is-own`, `already-in-group`,
    /// `relay-needed`, `relay-address-invalid`, and what keeps keys and data from being written.
    pub async fn join_group(&self, args: JoinGroup) -> Result<OpenedGroup, AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let joined = self.join_group_locked(args).await;
        self.ask_keychain_after(&joined).await;
        joined
    }

    async fn join_group_locked(&self, args: JoinGroup) -> Result<OpenedGroup, AppError> {
        let name = device_name(&args.device_name)?;
        let invitation = read_invitation(&args.invitation)?;
        let relay = match (invitation.relay, &args.relay_address) {
            (Some(relay), _) => relay,
            (None, Some(address)) => read_address(address)?,
            (None, None) => return Err(AppErrorCode::RelayNeeded.into()),
        };
        if self.is_own_token(&invitation.token) {
            return Err(AppErrorCode::InvitationIsOwn.into());
        }
        if self.is_in_group_of(&invitation.token) {
            return Err(AppErrorCode::AlreadyInGroup.into());
        }
        let (profile, keys) = self.opened()?;
        keep_device_name(&profile, &name)?;
        let waiting = self.waiting_for(&invitation.token);
        let group = match &waiting {
            // The new request takes the place of the one that waits for the same device.
            Some(group) => {
                self.engine(group)?.set_relay(relay).await?;
                group.clone()
            }
            None => self.open_new_group(&profile, &keys, relay).await?,
        };
        if let Err(error) = self.engine(&group)?.join(invitation.token).await {
            if waiting.is_none() {
                self.retire_group(&group).await?;
            }
            return Err(error.into());
        }
        self.changed();
        Ok(OpenedGroup { group })
    }

    /// A keychain that can't be used any more has a screen of its own, with a way out for a
    /// profile that has no keys yet.
    async fn ask_keychain_after(&self, answer: &Result<OpenedGroup, AppError>) {
        let refused = answer
            .as_ref()
            .is_err_and(|error| error.code == AppErrorCode::KeychainUnusable);
        let is_first = self.engines().is_empty();
        let profile = self.state().profile.clone();
        if let (true, Some(profile)) = (refused && is_first, profile) {
            self.open_key_store(profile).await;
        }
    }

    /// Takes the request to join back.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn cancel_join(&self, args: InGroup) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        self.engine(&args.group)?.cancel_join().await?;
        self.retire_if_unused(&args.group).await
    }

    /// Keeps that the words are the same on both screens.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn words_same(&self, args: InGroup) -> Result<(), AppError> {
        self.engine(&args.group)?.confirm_words().await?;
        self.changed();
        Ok(())
    }

    /// Takes the request to join back, or leaves the group, because the words differ.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn words_different(&self, args: InGroup) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        self.engine(&args.group)?.refuse_words().await?;
        self.retire_if_unused(&args.group).await
    }

    /// Says what an invitation names, for the person to confirm. Nothing is connected.
    ///
    /// # Errors
    ///
    /// `invitation-invalid`, `invitation-is-own`.
    pub fn read_invitation(&self, args: &ReadInvitation) -> Result<InvitationPreview, AppError> {
        let invitation = read_invitation(&args.text)?;
        if self.is_own_token(&invitation.token) {
            return Err(AppErrorCode::InvitationIsOwn.into());
        }
        let relay = invitation.relay.as_ref();
        Ok(InvitationPreview {
            relay_host: relay.map(|relay| relay.host().to_owned()),
            relay_text: relay.map(RelayAddress::to_text),
            needs_relay: relay.is_none(),
            relay_words: relay.map(short_key),
        })
    }

    /// Reads the code in a picture.
    ///
    /// # Errors
    ///
    /// `image-unreadable`, `image-holds-no-code`.
    pub async fn read_invitation_image(
        &self,
        args: ReadInvitationImage,
    ) -> Result<InvitationText, AppError> {
        let text = blocking(move || qr_code::read_base64(&args.bytes_base64)).await??;
        Ok(InvitationText { text })
    }

    /// The engine of a group.
    pub(super) fn engine(&self, group: &str) -> Result<Engine, AppError> {
        let state = self.state();
        let group = state.groups.get(group).ok_or(AppErrorCode::GroupUnknown)?;
        Ok(group.engine.clone())
    }

    /// The engines of all groups.
    pub(super) fn engines(&self) -> Vec<(String, Engine)> {
        let state = self.state();
        let groups = state.groups.iter();
        groups
            .map(|(name, group)| (name.clone(), group.engine.clone()))
            .collect()
    }

    /// Opens the engine of a group that is not there yet. With the first one the choice of
    /// the keychain is kept, because now there are keys in it.
    async fn open_new_group(
        &self,
        profile: &Profile,
        keys: &Arc<dyn KeyStore>,
        relay: RelayAddress,
    ) -> Result<String, AppError> {
        let namespace = self.take_namespace(profile)?;
        let group = namespace.as_str().to_owned();
        let engine = self
            .open_group(profile, keys, namespace, Some(relay))
            .await?;
        if profile.key_store().is_none() {
            profile.set_key_store(KeyStoreKind::Keychain)?;
        }
        let name = self.shared.setup.catalogue.get().text("group-default-name");
        engine.rename_group(name).await?;
        Ok(group)
    }

    /// Whether a token is that of a pairing window of this device.
    fn is_own_token(&self, token: &PairingToken) -> bool {
        self.state()
            .groups
            .values()
            .any(|group| group.engine.me().keys == token.keys())
    }

    /// Whether the device that made a token is in a group with this one already. Devices
    /// have other keys in each group, so it is that very group.
    fn is_in_group_of(&self, token: &PairingToken) -> bool {
        let keys = token.keys();
        self.engines()
            .iter()
            .any(|(_, engine)| engine.members().iter().any(|member| member.keys == keys))
    }

    /// The group whose join waits for the device that made a token.
    fn waiting_for(&self, token: &PairingToken) -> Option<String> {
        let keys = token.keys();
        let waits = |engine: &Engine| {
            let join = engine.pairing().join;
            engine.status() == Status::PendingJoin && join.is_some_and(|join| join.admitter == keys)
        };
        let engines = self.engines().into_iter();
        let mut waiting = engines.filter(|(_, engine)| waits(engine));
        waiting.next().map(|(group, _)| group)
    }

    /// Puts a group aside that this device is in no more, if nothing ever happened in it.
    async fn retire_if_unused(&self, group: &str) -> Result<(), AppError> {
        let engine = self.engine(group)?;
        let unused = engine.status() == Status::NotJoined
            && engine.messages_before(None, 1).await?.is_empty();
        if unused {
            self.retire_group(group).await?;
        }
        self.changed();
        Ok(())
    }

    /// Closes a group and keeps it as spare.
    async fn retire_group(&self, group: &str) -> Result<(), AppError> {
        let (profile, _) = self.opened()?;
        profile.list(SPARE_GROUPS, group)?;
        let retired = self.state().groups.remove(group);
        if let Some(retired) = retired {
            retired.engine.close().await;
        }
        self.changed();
        Ok(())
    }
}

/// What a person typed as this device's name.
fn device_name(typed: &str) -> Result<String, AppError> {
    name::clean(typed).ok_or_else(|| AppErrorCode::NameEmpty.into())
}

fn keep_device_name(profile: &Profile, name: &str) -> Result<(), AppError> {
    if profile.device_name().as_deref() != Some(name) {
        profile.set_device_name(name)?;
    }
    Ok(())
}

pub(super) fn read_address(text: &str) -> Result<RelayAddress, AppError> {
    RelayAddress::parse(text).map_err(|error| {
        AppError::new(AppErrorCode::RelayAddressInvalid).with_word("part", address_part(error))
    })
}

fn read_invitation(text: &str) -> Result<Invitation, AppError> {
    Invitation::parse(text).map_err(|error| {
        AppError::new(AppErrorCode::InvitationInvalid).with_word("part", invitation_part(error))
    })
}

/// The beginning of a relay's key in groups of four digits.
fn short_key(relay: &RelayAddress) -> String {
    fingerprint(relay.public_key().as_bytes().iter().copied())
}

/// The beginning of a key in groups of four hexadecimal digits.
pub(super) fn fingerprint(key: impl Iterator<Item = u8>) -> String {
    let bytes: Vec<u8> = key.take(SHORT_KEY_BYTES).collect();
    let pairs: Vec<String> = bytes
        .chunks(2)
        .map(|pair| pair.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    pairs.join(" ")
}
