use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use super::*;
use crate::core::event::Member;
use crate::core::message::NewMessage;
use crate::core::step::Change;

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
        let changes = [Change::MessageStored(message(number))];
        store.apply(&changes, None).unwrap();
    }
    drop(store);
    let good = fs::read(&path).unwrap();
    let pages = good.len() / PAGE_BYTES;
    let (mut repaired, mut nearly_all) = (0, 0);
    for page in 0..pages {
        let mut bytes = good.clone();
        bytes[page * PAGE_BYTES + 100..][..64].fill(0xa5);
        fs::write(&path, &bytes).unwrap();
        let before = bytes_of(directory.path());
        match repair(&path, &KEY, &FIRST, 9, is_whole) {
            Err(fault) => {
                assert_eq!(fault, OpenFault::Storage(StorageFault::Damaged));
                assert!(bytes_of(directory.path()) == before, "page {page}");
            }
            Ok(()) => {
                assert!(page > 0, "the first page is that of the key");
                repaired += 1;
                let kept = beside(&path, ".damaged-1");
                assert!(fs::read(&kept).unwrap() == bytes);
                let store = Store::open(&path, &KEY, &FIRST).unwrap();
                assert!(is_whole(&store));
                let history = history(&store);
                assert!(history.is_sorted());
                let lost = usize::from(MESSAGES) - history.len();
                nearly_all += usize::from(lost <= ROWS_PER_PAGE);
                let issues = store.issues(9).unwrap();
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
        repair(&path, &KEY, &FIRST, 9, is_whole).ok()?;
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
    repair(&path, &[8; 32], &FIRST, 9, is_whole).unwrap_err();
    assert!(bytes_of(directory.path()) == before);
}

#[test]
fn a_damaged_store_of_an_earlier_version_is_repaired_into_the_present_one() {
    for version in 1..crate::store::schema::VERSION as usize {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trueseal_a.db");
        fs::write(&path, b"").unwrap();
        let mut old = connect(&path, &KEY).unwrap();
        crate::store::schema::make_earlier(version, &mut old, &FIRST).unwrap();
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
        repair(&path, &KEY, &FIRST, 9, is_whole).unwrap();
        let store = Store::open(&path, &KEY, &FIRST).unwrap();
        let left = history(&store).len();
        assert!(left + ROWS_PER_PAGE >= usize::from(MESSAGES), "{left}");
        let secrets = DeviceSecrets::generate(&mut rand_core::OsRng);
        let name = DeviceName::derived(&secrets.keys().signing);
        let group_name = store.snapshot(secrets, name).unwrap().group_name;
        assert_eq!(group_name.unwrap().text, "kept");
    }
}
