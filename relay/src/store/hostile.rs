//! Files that only look like a store, or were one: opening them ends, says what is wrong, and
//! changes nothing.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::backup::back_up;
use super::schema::{self, PAGE_BYTES};
use super::{InboxStore, SqliteStore, StoreSettings, WriterPace};
use crate::limits::StoreLimits;

fn settings() -> StoreSettings {
    StoreSettings {
        limits: StoreLimits::default(),
        life_ms: 1,
        pace: WriterPace::default(),
    }
}

/// A sound store of a few pages, without its log.
fn sound(folder: &Path) -> Vec<u8> {
    let path = folder.join("sound.db");
    let (connection, lock) = schema::open(&path, false).unwrap();
    schema::settle(&connection).unwrap();
    for row in 1..=40 {
        let rows = format!(
            "INSERT INTO recipients VALUES ({row}, randomblob(32), 1, 700);
            INSERT INTO blobs VALUES ({row}, {row}, 10, randomblob(700));"
        );
        connection.execute_batch(&rows).unwrap();
    }
    drop((connection, lock));
    fs::read(path).unwrap()
}

#[derive(Clone, Debug)]
enum Harm {
    Byte { at: prop::sample::Index, to: u8 },
    Page { at: prop::sample::Index, fill: u8 },
    Truncate { at: prop::sample::Index },
    Number { at: usize, to: u32 },
    Log { bytes: Vec<u8> },
    Replace { bytes: Vec<u8> },
}

fn harms() -> impl Strategy<Value = Vec<Harm>> {
    let index = any::<prop::sample::Index>;
    let harm = prop_oneof![
        6 => (index(), any::<u8>()).prop_map(|(at, to)| Harm::Byte { at, to }),
        3 => (index(), any::<u8>()).prop_map(|(at, fill)| Harm::Page { at, fill }),
        2 => index().prop_map(|at| Harm::Truncate { at }),
        // The header's numbers: page count, free list, schema, versions.
        4 => (4_usize..25, any::<u32>()).prop_map(|(at, to)| Harm::Number { at: at * 4, to }),
        2 => prop::collection::vec(any::<u8>(), 0..9_000).prop_map(|bytes| Harm::Log { bytes }),
        1 => prop::collection::vec(any::<u8>(), 0..9_000).prop_map(|bytes| Harm::Replace { bytes }),
    ];
    prop::collection::vec(harm, 1..4)
}

fn harm(file: &mut Vec<u8>, path: &Path, harm: Harm) {
    match harm {
        Harm::Log { bytes } => fs::write(schema::log_path(path), bytes).unwrap(),
        Harm::Replace { bytes } => *file = bytes,
        _ if file.is_empty() => {}
        Harm::Byte { at, to } => {
            let at = at.index(file.len());
            file[at] = to;
        }
        Harm::Page { at, fill } => {
            let pages = file.chunks_mut(PAGE_BYTES as usize);
            let at = at.index(pages.len());
            pages.skip(at).take(1).for_each(|page| page.fill(fill));
        }
        Harm::Truncate { at } => file.truncate(at.index(file.len())),
        Harm::Number { at, to } => {
            if let Some(number) = file.get_mut(at..at + 4) {
                number.copy_from_slice(&to.to_be_bytes());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_file_that_is_refused_is_left_byte_for_byte(harms in harms()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let mut file = sound(folder.path());
        for one in harms {
            harm(&mut file, &path, one);
        }
        fs::write(&path, &file).unwrap();
        let _ = back_up(&path, &folder.path().join("copy.db"), |_| {});
        prop_assert!(fs::read(&path).unwrap() == file, "a backup has written");
        for reset in [false, true] {
            let before = fs::read(&path).unwrap();
            match SqliteStore::open(&path, settings(), reset) {
                // Harm that doesn't show, such as a changed Envelope. It must close too.
                Ok(store) => {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    runtime.block_on(store.close()).unwrap();
                }
                Err(error) => prop_assert!(fs::read(&path).unwrap() == before, "{} has written", error),
            }
        }
    }
}
