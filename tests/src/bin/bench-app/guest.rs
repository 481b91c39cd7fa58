//! The second device, which writes the long history.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use rand_core::OsRng;
use sealpost_engine::clock::SystemClock;
use sealpost_engine::core::status::Status;
use sealpost_engine::engine::{Engine, OpenOptions};
use sealpost_engine::keys::MemoryStore;
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::ProfileId;
use sealpost_protocol::invitation::Invitation;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// How many sends go on at once, because each waits for the disk.
const WRITERS: u64 = 64;

/// The second device.
pub(crate) struct Guest {
    engine: Engine,
    written: u64,
    _folder: TempDir,
}

impl Guest {
    /// Opens it, and asks to be let into the group.
    pub(crate) async fn ask(invitation: Invitation) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let engine = open(folder.path(), &invitation).await?;
        engine.join(invitation.token).await?;
        Ok(Self {
            engine,
            written: 0,
            _folder: folder,
        })
    }

    /// Whether it was let in.
    pub(crate) fn is_admitted(&self) -> bool {
        let join = self.engine.pairing().join;
        join.is_some_and(|join| join.words.is_some()) && self.engine.status() == Status::Member
    }

    /// Says that the words are the same.
    pub(crate) async fn confirm(&self) -> anyhow::Result<()> {
        Ok(self.engine.confirm_words().await?)
    }

    /// Writes messages, in the background.
    pub(crate) fn write(&mut self, messages: u64) -> JoinSet<anyhow::Result<()>> {
        let (begin, end) = (self.written, self.written + messages);
        self.written = end;
        let mut writing = JoinSet::new();
        for first in begin..begin + WRITERS {
            let engine = self.engine.clone();
            let numbers = (first..end).step_by(usize::try_from(WRITERS).unwrap_or(1));
            writing.spawn(async move {
                for number in numbers {
                    let text = format!("Message {number} of a long history, with a few words");
                    engine.send_text(&text).await?;
                }
                Ok(())
            });
        }
        writing
    }

    /// Closes it.
    pub(crate) async fn close(self) {
        self.engine.close().await;
    }
}

async fn open(folder: &Path, invitation: &Invitation) -> anyhow::Result<Engine> {
    let engine = Engine::open(OpenOptions {
        directory: folder.to_owned(),
        namespace: Namespace::parse("guest")?,
        profile_id: ProfileId::generate(&mut OsRng),
        relay: invitation.relay.clone(),
        device_name: "Ben".to_owned(),
        key_store: Arc::new(MemoryStore::new()),
        clock: Arc::new(SystemClock),
        max_payload_bytes: None,
    });
    let engine = engine.await.context("the second device can't be opened")?;
    engine.on_message(|_| Box::pin(async { Ok(()) }))?;
    Ok(engine)
}
