//! Who is in a group, and the ends of it.
//!
//! Owns the translation only. Who may remove whom, when leaving is done and what counts as a
//! member are the engine's rules.

use sealpost_engine::core::step::MembershipNote;
use sealpost_engine::engine::Engine;
use sealpost_engine::history::PAGE_ROWS_MAX;
use sealpost_protocol::key::MemberId;
use sealpost_protocol::pairing_words::compare_code;

use super::Controller;
use crate::app_error::{AppError, AppErrorCode};
use crate::view::{
    CompareCode, HistoryEntry, HistoryKind, HistoryPage, InGroup, MemberIn, ReadHistory,
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

    /// Who came and went, newest first.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn membership_history(&self, args: ReadHistory) -> Result<HistoryPage, AppError> {
        let engine = self.engine(&args.group)?;
        let (from, limit) = page(args.before, args.limit);
        let notes = engine.membership_history(from + limit + 1).await?;
        let next = (notes.len() > from + limit).then(|| next_page(from + limit));
        let notes = notes.into_iter().skip(from).take(limit);
        let entries = notes.map(|note| history_entry(&engine, note)).collect();
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

fn member_id(text: &str) -> Result<MemberId, AppError> {
    MemberId::parse(text).ok_or_else(|| AppErrorCode::MemberUnknown.into())
}

/// Where a page begins in a list that is read from its newest entry, and how long it is.
pub(super) fn page(before: Option<u64>, limit: u32) -> (usize, usize) {
    let from = usize::try_from(before.unwrap_or_default()).unwrap_or(PAGE_ROWS_MAX);
    let limit = usize::try_from(limit).unwrap_or(PAGE_ROWS_MAX);
    (
        from.min(PAGE_ROWS_MAX - 1),
        limit.clamp(1, PAGE_ROWS_MAX - 1),
    )
}

/// What the window hands back for the page after one that ended at `end`.
pub(super) fn next_page(end: usize) -> u64 {
    u64::try_from(end).unwrap_or(u64::MAX)
}

fn history_entry(engine: &Engine, note: MembershipNote) -> HistoryEntry {
    let me = engine.me();
    let by = note.by.as_ref();
    let by_is_me = by.is_some_and(|by| by.issuer == me.keys.signing);
    let who_is_me = note.member.keys == me.keys;
    let same = by.is_some_and(|by| by.issuer == note.member.keys.signing);
    HistoryEntry {
        at_ms: note.seen_ms,
        version: by.map(|by| by.version),
        kind: match (note.is_added, who_is_me, same) {
            (true, true, true) => HistoryKind::Created,
            (true, true, false) => HistoryKind::Joined,
            (true, false, _) => HistoryKind::Added,
            (false, _, true) => HistoryKind::Left,
            (false, _, false) => HistoryKind::Removed,
        },
        who: note.member.name.as_str().to_owned(),
        who_is_me,
        by: by
            .and_then(|by| by.name.as_ref())
            .map(|name| name.as_str().to_owned())
            .unwrap_or_default(),
        by_is_me,
    }
}
