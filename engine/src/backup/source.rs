//! What a backup reads of an open group, page by page.

use super::{BackupError, IssuePart, MessagePart, NotePart};
use crate::Engine;
use crate::store::BackupHead;

impl Engine {
    pub(super) async fn backup_head(&self) -> Result<BackupHead, BackupError> {
        Ok(self.actor().query(|store, _| store.backup_head()).await?)
    }

    pub(super) async fn backup_messages(
        &self,
        after: u64,
        last: u64,
    ) -> Result<Vec<MessagePart>, BackupError> {
        let page = self
            .actor()
            .query(move |store, _| store.backup_messages(after, last));
        Ok(page.await?)
    }

    pub(super) async fn backup_issues(
        &self,
        after: u64,
    ) -> Result<Vec<(u64, IssuePart)>, BackupError> {
        let page = self
            .actor()
            .query(move |store, _| store.backup_issues(after));
        Ok(page.await?)
    }

    pub(super) async fn backup_notes(
        &self,
        after: u64,
    ) -> Result<Vec<(u64, NotePart)>, BackupError> {
        let page = self
            .actor()
            .query(move |store, _| store.backup_notes(after));
        Ok(page.await?)
    }
}
