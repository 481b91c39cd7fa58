//! Who is in a group, and the ends of it.
//!
//! Owns the translation only. Who may remove whom, when leaving is done and what counts as a
//! member are the engine's rules.

use std::collections::BTreeMap;

use sealpost_engine::engine::Engine;
use sealpost_engine::history::{PAGE_ROWS_MAX, StoredNote};
use sealpost_protocol::key::MemberId;
use sealpost_protocol::pairing_words::compare_code;

use super::group::KnownMember;
use super::{Controller, State};
use crate::app_error::{AppError, AppErrorCode};
use crate::view::{
    CompareCode, HistoryEntry, HistoryKind, HistoryPage, InGroup, LeavingWarning, MemberIn,
    Newcomer, ReadHistory, RenameGroup,
};

impl Controller {
    /// Removes a member.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `member-unknown`, `not-member`, `not-listed`, `manifest-awaited`,
    /// `storage`.
    pub async fn remove_member(&self, args: MemberIn) -> Result<(), AppError> {
        let engine = self.engine(&args.group)?;
        engine.remove(member_id(&args.member)?).await?;
        self.changed();
        Ok(())
    }

    /// Leaves a group; the other members learn of it through the relay.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `not-member`, `manifest-awaited`, `storage`.
    pub async fn leave_group(&self, args: InGroup) -> Result<(), AppError> {
        self.engine(&args.group)?.leave().await?;
        self.changed();
        Ok(())
    }

    /// What speaks against leaving a group now, so that the window can say it first.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn leaving_warning(&self, args: InGroup) -> Result<LeavingWarning, AppError> {
        let warning = self.engine(&args.group)?.leaving_warning().await?;
        let newcomer = warning.map(|warning| Newcomer {
            name: warning.newcomer,
            is_me: warning.is_me,
            until_ms: warning.until_ms,
        });
        Ok(LeavingWarning { newcomer })
    }

    /// Ends a group for all its members.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `not-member`, `storage`.
    pub async fn destroy_group(&self, args: InGroup) -> Result<(), AppError> {
        self.engine(&args.group)?.destroy_group().await?;
        self.changed();
        Ok(())
    }

    /// Ends the group on this device without waiting for the relay.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `not-member` unless the group is ending, `storage`.
    pub async fn forget_group(&self, args: InGroup) -> Result<(), AppError> {
        self.engine(&args.group)?.forget().await?;
        self.changed();
        Ok(())
    }

    /// Gives a group another name, for every member.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `group-name-invalid`, `storage`.
    pub async fn rename_group(&self, args: RenameGroup) -> Result<(), AppError> {
        self.engine(&args.group)?.rename_group(args.name).await?;
        self.changed();
        Ok(())
    }

    /// Who came and went, newest first.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn membership_history(&self, args: ReadHistory) -> Result<HistoryPage, AppError> {
        let engine = self.engine(&args.group)?;
        let limit = page_rows(args.limit);
        // One more than asked for says whether there are older ones.
        let mut notes = engine.membership_history(args.before, limit + 1).await?;
        let more = notes.len() > limit;
        notes.truncate(limit);
        let next = notes.last().map(|note| note.position).filter(|_| more);
        let entries = notes.into_iter().map(history_entry).collect();
        Ok(HistoryPage { entries, next })
    }

    /// The code that this device and a member's both show for each other.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `member-unknown`.
    pub fn compare_code(&self, args: &MemberIn) -> Result<CompareCode, AppError> {
        let engine = self.engine(&args.group)?;
        let member = member_id(&args.member)?;
        let members = engine.members();
        let member = members.iter().find(|one| one.id == member);
        let member = member.ok_or(AppErrorCode::MemberUnknown)?;
        let code = compare_code(&engine.me().keys, &member.keys);
        Ok(CompareCode { code })
    }
}

/// How many lines of a history are looked at for what is known of the members.
const KNOWN_ROWS: usize = 500;

impl Controller {
    /// Asks for what is known of the members of each group, where it may have changed.
    pub(super) async fn learn_members(&self) {
        for (group, engine) in self.engines() {
            let is_known = |state: &State| {
                let group = state.groups.get(&group);
                group.is_none_or(|group| group.members_known)
            };
            if is_known(&self.state()) {
                continue;
            }
            let members = known_members(&engine).await;
            if let Some(group) = self.state().groups.get_mut(&group) {
                group.members = members;
                group.members_known = true;
            }
        }
    }
}

async fn known_members(engine: &Engine) -> BTreeMap<MemberId, KnownMember> {
    let mut members: BTreeMap<MemberId, KnownMember> = BTreeMap::new();
    let notes = engine.membership_history(None, KNOWN_ROWS).await;
    // Oldest first, so that the last admission counts.
    for stored in notes.unwrap_or_default().into_iter().rev() {
        let note = stored.note;
        if note.is_added {
            let known = members
                .entry(note.member.keys.signing.member_id())
                .or_default();
            known.added_at_ms = Some(note.seen_ms);
            let by = note.by.and_then(|by| by.name);
            known.added_by = by.map(|name| name.as_str().to_owned());
        }
    }
    let messages = engine.messages_before(None, KNOWN_ROWS).await;
    for row in messages.unwrap_or_default() {
        let known = members.entry(row.author).or_default();
        known.last_message_at_ms = Some(row.stored_at_ms);
    }
    members
}

fn member_id(text: &str) -> Result<MemberId, AppError> {
    MemberId::parse(text).ok_or_else(|| AppErrorCode::MemberUnknown.into())
}

/// How many rows a page has, so that one more can be asked for.
pub(super) fn page_rows(limit: u32) -> usize {
    let limit = usize::try_from(limit).unwrap_or(PAGE_ROWS_MAX);
    limit.clamp(1, PAGE_ROWS_MAX - 1)
}

fn history_entry(stored: StoredNote) -> HistoryEntry {
    let note = stored.note;
    let by = note.by.as_ref();
    let same = by.is_some_and(|by| by.issuer == note.member.keys.signing);
    HistoryEntry {
        at_ms: note.seen_ms,
        version: by.map(|by| by.version),
        kind: match (note.is_added, note.is_me, same) {
            (true, true, true) => HistoryKind::Created,
            (true, true, false) => HistoryKind::Joined,
            (true, false, _) => HistoryKind::Added,
            (false, _, true) => HistoryKind::Left,
            (false, _, false) => HistoryKind::Removed,
        },
        who: note.member.name.as_str().to_owned(),
        who_is_me: note.is_me,
        by: by
            .and_then(|by| by.name.as_ref())
            .map(|name| name.as_str().to_owned())
            .unwrap_or_default(),
        by_is_me: note.by_me,
    }
}
