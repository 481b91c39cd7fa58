//! What the writer does with deleted space: how long its log gets meanwhile, and who waits.

use std::path::Path;
use std::sync::mpsc::Sender;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use sealpost_protocol::key::NoisePublic;

use super::tests::{batch_of, put, writer};
use super::*;
use crate::store::schema;

/// Where the log starts over, and one slice.
const LOG_BYTES_IN_SILENCE: u64 = 14 * 1_024 * 1_024;

/// A store of 40 MB, the older half of which is deleted while nobody reads.
fn half_drained(path: &Path) -> (Writer, Sender<Order>) {
    let (mut writer, orders) = writer(path);
    let sound = "INSERT INTO recipients VALUES (7, zeroblob(32), 1, 1);
        WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 640)
        INSERT INTO blobs SELECT id, 7, 10, zeroblob(60000) FROM n;
        DELETE FROM blobs WHERE id <= 320;";
    writer.connection.execute_batch(sound).unwrap();
    assert!(writer.log.empty(&writer.connection));
    writer.pace.tidy_after = Duration::ZERO;
    (writer, orders)
}

fn log_bytes(path: &Path) -> u64 {
    std::fs::metadata(schema::log_path(path)).unwrap().len()
}

/// The longest log, and how the writer is left, once there is nothing to do in silence.
fn tidy_up(writer: &Writer, path: &Path) -> (u64, Tidiness) {
    let (mut longest, mut tidiness) = (0, Tidiness::Dirty);
    loop {
        tidiness = writer.tidy(tidiness);
        longest = longest.max(log_bytes(path));
        if tidiness != Tidiness::Tidying {
            return (longest, tidiness);
        }
    }
}

#[test]
fn giving_space_back_in_silence_keeps_the_log_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inbox.db");
    let (writer, _orders) = half_drained(&path);
    let before = std::fs::metadata(&path).unwrap().len();
    let (longest, tidiness) = tidy_up(&writer, &path);
    assert!(longest <= LOG_BYTES_IN_SILENCE, "{longest}");
    assert_eq!((tidiness, log_bytes(&path)), (Tidiness::Tidy, 0));
    let after = std::fs::metadata(&path).unwrap().len();
    assert!(after < before * 6 / 10, "{after} of {before}");
}

#[test]
fn giving_space_back_waits_for_a_foreign_reader_that_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inbox.db");
    let (writer, _orders) = half_drained(&path);
    let reader = schema::open_reader(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM meta").unwrap();
    let mut longest = 0;
    for _ in 0..3 {
        let (bytes, tidiness) = tidy_up(&writer, &path);
        longest = longest.max(bytes);
        assert_eq!(tidiness, Tidiness::Hindered(1));
    }
    assert!(longest <= LOG_BYTES_IN_SILENCE, "{longest}");
    drop(reader);
    assert_eq!(tidy_up(&writer, &path).1, Tidiness::Tidy);
}

/// Where the disk has no room to spare, a log that can't be moved isn't made longer.
#[test]
fn refused_pushes_do_not_lengthen_a_log_that_somebody_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inbox.db");
    let (mut writer, _orders) = half_drained(&path);
    let reader = schema::open_reader(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM meta").unwrap();
    let (write, _ticket) = put(&writer, 300);
    writer.commit(batch_of(write));
    writer.disk = DiskFloor::new(&path, 1 << 60);
    let before = log_bytes(&path);
    for _ in 0..3 {
        let (write, mut refused) = put(&writer, 300);
        writer.commit(batch_of(write));
        assert_eq!(refused.try_outcome(), Some(Err(StoreError::DiskFull)));
        assert_eq!(writer.tidy(Tidiness::Dirty), Tidiness::Hindered(1));
    }
    assert_eq!(log_bytes(&path), before);
}

#[test]
fn space_that_cannot_be_given_back_refuses_no_push() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inbox.db");
    let (mut writer, _orders) = half_drained(&path);
    let removed = Removed {
        recipient: NoisePublic::from_bytes([9; 32]),
        id: 1,
        bytes: 1,
    };
    let deny = |context: AuthContext<'_>| match context.action {
        AuthAction::Pragma {
            pragma_name: "incremental_vacuum",
            ..
        } => Authorization::Deny,
        _ => Authorization::Allow,
    };
    writer.connection.authorizer(Some(deny)).unwrap();
    let (write, mut stored) = put(&writer, 300);
    let mut batch = batch_of(write);
    batch.add(Write::Remove(vec![removed]));
    assert!(writer.commit(batch).is_empty());
    assert_eq!(stored.try_outcome(), Some(Ok(())));
    writer.tend(true);
    let file = || std::fs::metadata(&path).unwrap().len();
    assert!(writer.log.empty(&writer.connection));
    let kept = file();
    let none: Option<fn(AuthContext<'_>) -> Authorization> = None;
    writer.connection.authorizer(none).unwrap();
    writer.tend(true);
    assert!(writer.log.empty(&writer.connection));
    assert!(file() < kept, "nor does it wait for silence");
}
