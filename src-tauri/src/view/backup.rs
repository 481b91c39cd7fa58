//! Backups, as the window knows them.

use serde::Serialize;
use ts_rs::TS;

/// What is done with the data at the moment, and how far it is.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DataWorkView {
    /// What it is.
    pub kind: DataWork,
    /// How many messages are done.
    #[ts(type = "number")]
    pub done: u64,
    /// Of how many, once that is known.
    #[ts(type = "number | null")]
    pub total: Option<u64>,
}

/// What may be done with the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DataWork {
    /// A backup is written.
    Backup,
    /// A backup is brought back.
    Restore,
    /// What can be read is written as text.
    Export,
}

/// The answer of `back_up`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BackedUp {
    /// Where it was written; nothing when the person chose no place or cancelled.
    pub file: Option<String>,
    /// How many groups it has.
    #[ts(type = "number")]
    pub groups: u64,
    /// How many messages.
    #[ts(type = "number")]
    pub messages: u64,
    /// How many groups can't be opened and are not in it.
    #[ts(type = "number")]
    pub left_out: u64,
}

/// The answer of `export_messages`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// Where it was written; nothing when the person chose no place or cancelled.
    pub file: Option<String>,
    /// Of how many groups it has something.
    #[ts(type = "number")]
    pub groups: u64,
    /// How many messages.
    #[ts(type = "number")]
    pub messages: u64,
    /// Of how many groups a part, or all, can't be read any more.
    #[ts(type = "number")]
    pub damaged: u64,
}

/// The answer of `choose_backup`.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChosenFile {
    /// The name of the file; nothing when the person chose none.
    pub name: Option<String>,
}

/// The answer of `restore_backup`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RestoredBackup {
    /// Whether it was restored; not when the person cancelled it.
    pub is_done: bool,
    /// How many groups came back.
    #[ts(type = "number")]
    pub groups: u64,
    /// How many messages.
    #[ts(type = "number")]
    pub messages: u64,
}
