//! How much room the disk has left.
//!
//! Owns: the one system call that asks. Where the system can't be asked, the floor doesn't
//! apply and a full disk shows as a failed commit.

use std::path::{Path, PathBuf};

use crate::folder::folder_of;

/// What a batch writes beside its Envelopes.
const SLACK_BYTES: u64 = 1_024 * 1_024;

/// The floor of free space under the store (amendment 6).
pub(super) struct DiskFloor {
    folder: PathBuf,
    free_bytes_min: u64,
}

impl DiskFloor {
    pub(super) fn new(store: &Path, free_bytes_min: u64) -> Self {
        Self {
            folder: folder_of(store).to_owned(),
            free_bytes_min,
        }
    }

    /// Whether `bytes` more may be written while `in_log` bytes are still to be moved into the
    /// file. Whatever the floor is, so much stays free that the whole log can be moved: a disk
    /// full of log has no room for deletes, and would stay full for ever.
    pub(super) fn has_room_for(&self, bytes: u64, in_log: u64) -> bool {
        let to_move = in_log.saturating_add(bytes).saturating_add(SLACK_BYTES);
        let needed = self.free_bytes_min.max(to_move).saturating_add(bytes);
        fs4::available_space(&self.folder).map_or(true, |free| free >= needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_above_the_disk_leaves_no_room() {
        let folder = tempfile::tempdir().unwrap();
        for store in [folder.path().join("inbox.db"), PathBuf::from("inbox.db")] {
            let floor = |bytes| DiskFloor::new(&store, bytes);
            assert!(floor(1).has_room_for(1, 1));
            assert!(!floor(1 << 60).has_room_for(1, 1));
            assert!(!floor(0).has_room_for(1 << 60, 1));
            assert!(!floor(0).has_room_for(1, 1 << 60), "the log has to move");
        }
    }
}
