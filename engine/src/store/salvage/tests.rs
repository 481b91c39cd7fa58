use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use super::*;
use crate::core::event::Member;
use crate::core::message::NewMessage;
use crate::core::step::{Change, Lookup as _};
use crate::store::FLOOR;

const KEY: [u8; 32] = [7; 32];
const FIRST: IdentityId = IdentityId::from_bytes([1; 16]);
const PAGE_BYTES: usize = 4_096;
const MESSAGES: u8 = 200;
/// Rows of this size fit on one page at most.
const ROWS_PER_PAGE: usize = 12;

fn message(number: u8) -> NewMessage {
    use rand_core::SeedableRng;
    let keys = DeviceSecrets::generate(&mut rand_chacha::ChaCha20Rng::seed_from_u64(1)).keys();
    let author = Member {
        id: keys.signing.member_id(),
        name: DeviceName::derived(&keys.signing),
        keys,
    };
    NewMessage {
        id: MessageId::from_bytes([number; 32]),
        own: false,
        author: author.id,
        author_name: author.name,
        app_id: Some([number; 16]),
        body: vec![number; 300],
        sent_at_ms: u64::from(number),
        stored_at_ms: u64::from(number),
        recipients: Vec::new(),
    }
}

/// Everything in a directory, by name.
fn bytes_of(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    files.into_iter().map(read).collect()
}

fn history(store: &Store) -> Vec<u64> {
    let rows = store.messages_after(0, 1_000).unwrap();
    rows.iter().map(|row| row.sent_at_ms).collect()
}

/// The message at `position` was sent once more.
fn resent(position: u64) -> Change {
    let mut id = [255; 32];
    id[..8].copy_from_slice(&position.to_le_bytes());
    Change::MessageResent {
        position,
        id: MessageId::from_bytes(id),
        members: Vec::new(),
    }
}

fn orphans(store: &Store) -> i64 {
    let sql = "SELECT count(*) FROM resend WHERE position NOT IN (SELECT position FROM message)";
    let read = |row: &rusqlite::Row<'_>| row.get(0);
    store.connection.query_row(sql, [], read).unwrap()
}

/// A store whose machine can be built: what a group asks of it, in short.
fn is_whole(store: &Store) -> bool {
    let secrets = DeviceSecrets::generate(&mut rand_core::OsRng);
    let name = DeviceName::derived(&secrets.keys().signing);
    store.identity() == Ok(FIRST) && store.snapshot(secrets, name).is_ok()
}

#[test]
fn whichever_page_is_damaged_readable_rows_stay_and_the_old_file_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trueseal_a.db");
    let mut store = Store::open(&path, &KEY, &FIRST).unwrap();
    for number in 0..MESSAGES {
        let position = u64::from(number) + 1;
        let changes = [Change::MessageStored(message(number)), resent(position)];
        store.apply(&changes, None).unwrap();
    }
    store.mark_read(u64::from(MESSAGES)).unwrap();
    drop(store);
    let good = fs::read(&path).unwrap();
    let pages = good.len() / PAGE_BYTES;
    let (mut repaired, mut nearly_all) = (0, 0);
    for page in 0..pages {
        let mut bytes = good.clone();
        bytes[page * PAGE_BYTES + 100..][..64].fill(0xa5);
        fs::write(&path, &bytes).unwrap();
        let before = bytes_of(directory.path());
        match repair(FLOOR, &path, &KEY, &FIRST, 9, is_whole) {
            Err(fault) => {
                assert_eq!(fault, OpenFault::Storage(StorageFault::Damaged));
                assert!(bytes_of(directory.path()) == before, "page {page}");
            }
            Ok(()) => {
                assert!(page > 0, "the first page is that of the key");
                repaired += 1;
                let kept = beside(&path, ".damaged-1");
                assert!(fs::read(&kept).unwrap() == bytes);
                let mut store = Store::open(&path, &KEY, &FIRST).unwrap();
                assert!(is_whole(&store));
                let history = history(&store);
                assert_eq!(orphans(&store), 0, "page {page}");
                let next = [Change::MessageStored(message(MESSAGES))];
                let (_, position) = store.apply(&next, None).unwrap().stored[0];
                assert_eq!(position, u64::from(MESSAGES) + 1, "page {page}");
                assert!(history.is_sorted());
                let lost = usize::from(MESSAGES) - history.len();
                nearly_all += usize::from(lost <= ROWS_PER_PAGE);
                let issues = store.issues(None, 9).unwrap();
                assert_eq!(issues[0].issue, DeliveryIssue::StoreRepaired);
                drop(store);
                fs::remove_file(kept).unwrap();
            }
        }
    }
    assert!(pages > 40, "only {pages} pages");
    // What can't be repaired: the first page, and the tables of one page that say who this
    // device is. A damaged root takes its table along.
    assert!(repaired >= pages - 6, "{repaired} of {pages}");
    assert!(nearly_all >= repaired - 2, "{nearly_all} of {repaired}");
}

#[test]
fn rows_between_damaged_pages_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trueseal_a.db");
    let mut store = Store::open(&path, &KEY, &FIRST).unwrap();
    let changes: Vec<_> = (0..MESSAGES)
        .map(|number| Change::MessageStored(message(number)))
        .collect();
    store.apply(&changes, None).unwrap();
    drop(store);
    let good = fs::read(&path).unwrap();
    let history_without = |damaged: &[usize]| {
        let mut bytes = good.clone();
        for page in damaged {
            bytes[page * PAGE_BYTES + 100..][..64].fill(0xa5);
        }
        fs::write(&path, bytes).unwrap();
        repair(FLOOR, &path, &KEY, &FIRST, 9, is_whole).ok()?;
        fs::remove_file(beside(&path, ".damaged-1")).unwrap();
        Some(history(&Store::open(&path, &KEY, &FIRST).unwrap()))
    };
    // The pages that hold a few rows from the midst of the history.
    let mut leaves = Vec::new();
    for page in 1..good.len() / PAGE_BYTES {
        let Some(history) = history_without(&[page]) else {
            continue;
        };
        let lost = usize::from(MESSAGES) - history.len();
        if (2..=ROWS_PER_PAGE).contains(&lost)
            && let Some(gap) = history.windows(2).find(|pair| pair[1] > pair[0] + 1)
        {
            leaves.push((gap[0], page));
        }
    }
    leaves.sort_unstable();
    assert!(leaves.len() > 8, "only {} leaves", leaves.len());
    let history = history_without(&[leaves[2].1, leaves[6].1]).unwrap();
    let gaps = history.windows(2).filter(|pair| pair[1] > pair[0] + 1);
    assert_eq!(gaps.count(), 2, "what lies between the two is there");
}

#[test]
fn a_wrong_key_repairs_nothing_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trueseal_a.db");
    drop(Store::open(&path, &KEY, &FIRST).unwrap());
    let before = bytes_of(directory.path());
    want(&path);
    assert!(is_wanted(&path));
    repair(FLOOR, &path, &[8; 32], &FIRST, 9, is_whole).unwrap_err();
    assert!(bytes_of(directory.path()) == before);
}

#[test]
fn a_damaged_store_of_an_earlier_version_is_repaired_into_the_present_one() {
    for version in 1..schema::VERSION as usize {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trueseal_a.db");
        fs::write(&path, b"").unwrap();
        let mut old = connect(&path, &KEY).unwrap();
        schema::make_earlier(version, &mut old, &FIRST).unwrap();
        let mut insert = old
            .prepare(
                "INSERT INTO message
                     (id, own, author, author_name, body, sent_at_ms, stored_at_ms)
                 VALUES (?1, 0, ?2, 'x', zeroblob(300), ?3, 1)",
            )
            .unwrap();
        for number in 0..MESSAGES {
            let author = message(number).author;
            insert
                .execute(rusqlite::params![
                    [number; 32],
                    author.as_str(),
                    i64::from(number)
                ])
                .unwrap();
        }
        old.execute("UPDATE device SET label = 'kept'", []).unwrap();
        drop(insert);
        drop(old);
        let mut bytes = fs::read(&path).unwrap();
        // The last page is one of the messages or of their indexes.
        let last = bytes.len() - PAGE_BYTES;
        bytes[last + 100..][..64].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        repair(FLOOR, &path, &KEY, &FIRST, 9, is_whole).unwrap();
        let store = Store::open(&path, &KEY, &FIRST).unwrap();
        let left = history(&store).len();
        assert!(left + ROWS_PER_PAGE >= usize::from(MESSAGES), "{left}");
        let secrets = DeviceSecrets::generate(&mut rand_core::OsRng);
        let name = DeviceName::derived(&secrets.keys().signing);
        let group_name = store.snapshot(secrets, name).unwrap().group_name;
        assert_eq!(group_name.unwrap().text, "kept");
    }
}

/// A store as a crash leaves it: a damaged page in the file, the newest messages in the log.
fn crash_damaged(path: &Path) {
    let mut store = Store::open(path, &KEY, &FIRST).unwrap();
    let changes: Vec<_> = (0..MESSAGES)
        .map(message)
        .map(Change::MessageStored)
        .collect();
    store.apply(&changes, None).unwrap();
    store.truncate_log();
    let mut file = fs::read(path).unwrap();
    let newest = [Change::MessageStored(message(MESSAGES))];
    store.apply(&newest, None).unwrap();
    let log = fs::read(beside(path, "-wal")).unwrap();
    drop(store);
    let last = file.len() - PAGE_BYTES;
    file[last + 100..][..64].fill(0xa5);
    fs::write(path, file).unwrap();
    fs::write(beside(path, "-wal"), log).unwrap();
}

#[test]
fn a_repair_that_stops_while_the_new_store_is_put_in_place_loses_nothing_that_was_read() {
    type Stop = fn(&Path);
    let stops: [Stop; 4] = [
        |_| (),
        |path| fs::remove_file(beside(path, "-wal")).unwrap(),
        |path| put(&beside(path, FRESH), path).unwrap(),
        |path| finish(path).unwrap(),
    ];
    for (place, stop) in stops.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trueseal_a.db");
        crash_damaged(&path);
        let (kept, fresh) = (beside(&path, ".damaged-1"), beside(&path, FRESH));
        copy(&path, &kept).unwrap();
        take_over(FLOOR, &kept, &fresh, &KEY, &FIRST, 9, is_whole).unwrap();
        make_ready(&path).unwrap();
        stop(&path);
        finish(&path).unwrap();
        assert!(!is_wanted(&path) && !fresh.exists());
        let mut store = Store::open(&path, &KEY, &FIRST).unwrap();
        assert_eq!(
            history(&store).last(),
            Some(&u64::from(MESSAGES)),
            "{place}"
        );
        // A mark that comes back brings nothing else back.
        let mut next = message(MESSAGES + 1);
        next.sent_at_ms += 1;
        store.apply(&[Change::MessageStored(next)], None).unwrap();
        let expected = history(&store);
        drop(store);
        fs::write(beside(&path, MARK), READY).unwrap();
        finish(&path).unwrap();
        assert_eq!(
            history(&Store::open(&path, &KEY, &FIRST).unwrap()),
            expected
        );
    }
}

#[test]
fn a_new_store_that_is_not_all_in_its_file_is_not_put_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trueseal_a.db");
    fs::write(beside(&beside(&path, FRESH), "-wal"), b"").unwrap();
    make_ready(&path).unwrap();
    fs::remove_file(beside(&path, MARK)).unwrap();
    fs::write(beside(&beside(&path, FRESH), "-wal"), b"frames").unwrap();
    make_ready(&path).unwrap_err();
    assert!(!is_wanted(&path));
}

#[test]
fn a_store_that_can_not_be_put_in_place_is_not_opened_and_tried_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trueseal_a.db");
    crash_damaged(&path);
    // Something that can't be removed is in the way of the second step.
    let way = beside(&path, "-shm");
    fs::create_dir(&way).unwrap();
    want(&path);
    repair(FLOOR, &path, &KEY, &FIRST, 9, is_whole).unwrap_err();
    assert!(beside(&path, ".damaged-1").exists() && beside(&path, FRESH).exists());
    finish(&path).unwrap_err();
    fs::remove_dir(way).unwrap();
    finish(&path).unwrap();
    let store = Store::open(&path, &KEY, &FIRST).unwrap();
    assert_eq!(history(&store).last(), Some(&u64::from(MESSAGES)));
}

#[test]
fn a_store_of_another_version_is_not_repaired_and_no_byte_of_it_changes() {
    let newest = schema::VERSION;
    let too_new = OpenFault::TooNew {
        found: newest + 1,
        known: newest,
    };
    let outdated = OpenFault::Outdated { found: newest - 1 };
    for (version, floor, expected) in [(newest + 1, FLOOR, too_new), (newest - 1, newest, outdated)]
    {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trueseal_a.db");
        drop(Store::open(&path, &KEY, &FIRST).unwrap());
        Store::set_version(&path, &KEY, version);
        let before = bytes_of(directory.path());
        want(&path);
        let refused = repair(floor, &path, &KEY, &FIRST, 9, is_whole);
        assert_eq!(refused, Err(expected));
        assert!(bytes_of(directory.path()) == before, "{version}");
    }
}

#[test]
fn an_outbox_that_is_half_moved_to_this_version_is_repaired_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trueseal_a.db");
    fs::write(&path, b"").unwrap();
    let mut old = connect(&path, &KEY).unwrap();
    schema::fill_earlier_outbox(&mut old, &FIRST, 250, 300);
    schema::begin_migration(&mut old, &FIRST);
    assert!(!schema::move_outbox(&mut old).unwrap());
    drop(old);
    repair(FLOOR, &path, &KEY, &FIRST, 9, is_whole).unwrap();
    let store = Store::open(&path, &KEY, &FIRST).unwrap();
    assert_eq!(store.outbox_copies(), Ok(250));
}

#[test]
fn what_was_deleted_stays_so_over_a_repair() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trueseal_a.db");
    let mut store = Store::open(&path, &KEY, &FIRST).unwrap();
    let row = message(1);
    let (author, app_id) = (row.author.clone(), row.app_id.unwrap());
    let changes = [
        Change::MessageStored(row),
        Change::MessageDeleted { position: 1 },
    ];
    store.apply(&changes, None).unwrap();
    drop(store);
    repair(FLOOR, &path, &KEY, &FIRST, 9, is_whole).unwrap();
    let store = Store::open(&path, &KEY, &FIRST).unwrap();
    assert!(store.is_deleted(&author, &app_id).unwrap());
}

#[test]
fn what_is_read_out_of_a_damaged_store_changes_nothing_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trueseal_a.db");
    let mut store = Store::open(&path, &KEY, &FIRST).unwrap();
    for number in 0..MESSAGES {
        let changes = [Change::MessageStored(message(number))];
        store.apply(&changes, None).unwrap();
    }
    drop(store);
    let good = fs::read(&path).unwrap();
    let pages = good.len() / PAGE_BYTES;
    let (mut whole, mut partly, mut nothing) = (0, 0, 0);
    for page in (0..pages).step_by(3).chain([pages]) {
        let mut bytes = good.clone();
        // The last round is that of a store that nothing is wrong with.
        if page < pages {
            bytes[page * PAGE_BYTES + 100..][..64].fill(0xa5);
        }
        fs::write(&path, &bytes).unwrap();
        let before = bytes_of(directory.path());
        let scratch = tempfile::tempdir().unwrap();
        let read = read_out(&path, &KEY, &FIRST, scratch.path(), 9);
        assert!(bytes_of(directory.path()) == before, "page {page}");
        match read {
            Err(fault) => {
                nothing += 1;
                assert_eq!(fault, OpenFault::Storage(StorageFault::Damaged));
            }
            Ok((store, false)) => {
                whole += 1;
                assert_eq!(history(&store).len(), usize::from(MESSAGES));
            }
            Ok((store, true)) => {
                assert!(page > 0, "the first page is that of the key");
                partly += 1;
                assert!(history(&store).is_sorted());
            }
        }
    }
    assert!(whole > 0 && partly > 12, "{whole} {partly}");
    // The page of the key, and those that say which tables there are.
    assert!((1..=3).contains(&nothing), "{nothing}");
}
