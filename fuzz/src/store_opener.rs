//! What a relay finds on its disk when it starts (specification 2.7). The first byte says what
//! the rest is: the database, its write-ahead log, or changes of single bytes to either.
//!
//! Whatever is there, the relay starts or says why it doesn't, and what it refuses is left
//! byte for byte as it was.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use sealpost_protocol::channel::{RecordBuffer, push_start};
use sealpost_protocol::frame::Frame;
use sealpost_relay::{Clock, Config, Relay, StartError, StoreOpenError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::seeded::{device_key, relay_key, rng};

const DATABASE: u8 = 0;
const LOG: u8 = 1;
const CHANGED_DATABASE: u8 = 2;
const CHANGED_LOG: u8 = 3;
const KINDS: u8 = 4;

/// A database is five pages; more than this only takes time.
const BYTES_MAX: usize = 65_536;

/// Blobs in the store that is changed.
const BLOBS: u64 = 3;

pub(crate) fn run(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    if rest.len() > BYTES_MAX {
        return;
    }
    let mut files = WRITTEN.clone();
    match kind % KINDS {
        DATABASE => {
            files.database = rest.to_vec();
            files.log.clear();
        }
        LOG => files.log = rest.to_vec(),
        CHANGED_DATABASE => change(&mut files.database, rest),
        _ => change(&mut files.log, rest),
    }
    open(&files);
}

/// Each three bytes are a place and what is added to the byte there. Sixteen bits reach the
/// first pages, which hold the header and the tables.
fn change(bytes: &mut [u8], changes: &[u8]) {
    for change in changes.chunks_exact(3) {
        let [high, low, more] = change else { continue };
        let place = usize::from(u16::from_be_bytes([*high, *low]));
        if let Some(byte) = bytes.get_mut(place) {
            *byte = byte.wrapping_add(*more);
        }
    }
}

fn open(files: &Files) {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("the test machine has a folder");
    };
    files.write(folder.path());
    RUNTIME.block_on(async {
        match start(folder.path()).await {
            Ok(relay) => {
                let _ = relay.numbers();
                relay.stop().await;
            }
            Err(StartError::Store(error)) => check_refusal(error, files, folder.path()),
            Err(error) => panic!("{error}"),
        }
    });
}

fn check_refusal(error: StoreOpenError, files: &Files, folder: &Path) {
    assert!(
        !matches!(error, StoreOpenError::Panicked),
        "nothing on the disk makes the program fail"
    );
    let left = Files::read(folder);
    assert!(
        left.database == files.database,
        "a refused store ({error}) is left as it was"
    );
    // An empty log is the same as none.
    assert!(
        left.log == files.log,
        "the log of a refused store ({error}) is left as it was"
    );
}

async fn start(folder: &Path) -> Result<Relay, StartError> {
    let free = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let mut config = Config {
        store_path: folder.join(NAME),
        listen_receive: free,
        listen_push: free,
        listen_health: None,
        ..Config::default()
    };
    config.store.disk_free_bytes_min = 0;
    Relay::start(config, relay_key(), Arc::new(FixedClock)).await
}

struct FixedClock;

impl Clock for FixedClock {
    fn now_ms(&self) -> u64 {
        1_790_812_800_000
    }
}

/// One thread serves, so that a search sees the same in every run.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        panic!("the test machine runs a runtime");
    };
    runtime
});

const NAME: &str = "inbox.db";
const LOG_NAME: &str = "inbox.db-wal";

/// What a relay leaves on its disk.
#[derive(Clone)]
struct Files {
    database: Vec<u8>,
    log: Vec<u8>,
}

impl Files {
    fn write(&self, folder: &Path) {
        let written = std::fs::write(folder.join(NAME), &self.database);
        assert!(written.is_ok(), "the test machine writes files");
        if !self.log.is_empty() {
            let written = std::fs::write(folder.join(LOG_NAME), &self.log);
            assert!(written.is_ok(), "the test machine writes files");
        }
    }

    fn read(folder: &Path) -> Self {
        Self {
            database: std::fs::read(folder.join(NAME)).unwrap_or_default(),
            log: std::fs::read(folder.join(LOG_NAME)).unwrap_or_default(),
        }
    }
}

/// A store of this release with blobs in it, copied while its relay ran, as after a kill.
static WRITTEN: LazyLock<Files> = LazyLock::new(|| {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("the test machine has a folder");
    };
    RUNTIME.block_on(async {
        let Ok(relay) = start(folder.path()).await else {
            panic!("a relay starts in an empty folder");
        };
        let pushed = push(&relay).await;
        assert!(pushed.is_ok(), "a relay takes pushes");
        let files = Files::read(folder.path());
        relay.stop().await;
        files
    })
});

async fn push(relay: &Relay) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", relay.ports().push)).await?;
    let (state, hello) =
        push_start(&relay.public_key(), &mut rng(3)).map_err(std::io::Error::other)?;
    stream.write_all(&hello).await?;
    let reply = read_record(&mut stream).await?;
    let (mut sealer, _) = state
        .handle_reply(&reply)
        .map_err(std::io::Error::other)?
        .split();
    for number in 0..BLOBS {
        let push = Frame::Push {
            recipient: device_key().public(),
            envelope: &number.to_be_bytes(),
        };
        stream
            .write_all(&sealer.seal(&push).map_err(std::io::Error::other)?)
            .await?;
        read_record(&mut stream).await?;
    }
    Ok(())
}

async fn read_record(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut buffer = RecordBuffer::new();
    loop {
        if let Some(record) = buffer.next_record().map_err(std::io::Error::other)? {
            return Ok(record);
        }
        let byte = stream.read_u8().await?;
        buffer.push(&[byte]);
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![
        vec![DATABASE],
        [&[DATABASE], b"not a database".as_slice()].concat(),
        [&[DATABASE], b"SQLite format 3\0".as_slice()].concat(),
        vec![CHANGED_DATABASE],
        // A newer version in the header, at 60 and in the log's first page.
        vec![CHANGED_DATABASE, 0, 63, 1],
        vec![CHANGED_LOG, 0, 32 + 24 + 63, 1],
        vec![CHANGED_LOG, 0, 0, 1],
        vec![LOG],
        [&[LOG], vec![0x37; 64].as_slice()].concat(),
    ];
    // A page size, a freelist, a root page.
    for place in [16, 32, 40, 100, 105] {
        seeds.push(vec![CHANGED_DATABASE, 0, place, 1]);
        seeds.push(vec![CHANGED_LOG, 0, 56 + place, 1]);
    }
    seeds
}
