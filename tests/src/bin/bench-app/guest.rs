//! The second device, which writes the long history.
//!
//! Most of it is pushed past its engine, many at a time: the engine waits for the relay's
//! answer before the next, and what is measured here is the device that receives.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use rand_core::OsRng;
use sealpost_engine::clock::{Clock as _, SystemClock};
use sealpost_engine::core::status::Status;
use sealpost_engine::engine::{Engine, OpenOptions};
use sealpost_engine::keys::{GroupKeys, KeyItemName, MemoryStore};
use sealpost_engine::namespace::Namespace;
use sealpost_engine::profile::ProfileId;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::invitation::Invitation;
use sealpost_protocol::key::{DeviceSecrets, NoisePublic};
use sealpost_tests::relay_session::RelaySession;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// How many sends go on at once, because each waits for the disk.
const WRITERS: u64 = 64;

/// Pushes of one session that wait for their answer.
const IN_FLIGHT: u64 = 32;

/// Numbers that the engine of a device that is new has left behind it, and never uses.
const NUMBERS_PAST: u64 = 10_000_000;

/// The second device.
pub(crate) struct Guest {
    engine: Engine,
    author: DeviceSecrets,
    relay: RelayAddress,
    written: u64,
    _folder: TempDir,
}

impl Guest {
    /// Opens it, and asks to be let into the group.
    pub(crate) async fn ask(invitation: Invitation) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let options = options(folder.path(), &invitation)?;
        let (keys, profile) = (Arc::clone(&options.key_store), options.profile_id);
        let item = KeyItemName::group(&profile, &options.namespace);
        let relay = options
            .relay
            .clone()
            .context("an invitation without a relay")?;
        let engine = Engine::open(options).await?;
        engine.on_message(|_| Box::pin(async { Ok(()) }))?;
        let item = keys.load(&item)?.context("a device without keys")?;
        let keys = GroupKeys::decode(&item, &profile)?;
        let author = keys.identities().first().context("a device without keys")?;
        let author = author.secrets.clone();
        engine.join(invitation.token).await?;
        Ok(Self {
            engine,
            author,
            relay,
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

    /// Writes messages as fast as the relay takes them.
    pub(crate) async fn pour(&mut self, messages: u64) -> anyhow::Result<()> {
        /// A session ends after a while, however much it has to say.
        const OF_ONE_SESSION: u64 = 1_000;
        let first = SystemClock.now_ms() - NUMBERS_PAST;
        let mut poured = 0;
        while poured < messages {
            let count = OF_ONE_SESSION.min(messages - poured);
            self.pour_some(first + poured, count).await?;
            poured += count;
        }
        self.written += messages;
        Ok(())
    }

    async fn pour_some(&self, first: u64, count: u64) -> anyhow::Result<()> {
        let members = self.engine.members();
        let recipient = members.first().context("nobody to write to")?.keys.noise;
        let key = *self.relay.public_key();
        let mut session = RelaySession::push(self.relay.push_port(), key).await?;
        for number in 0..count + IN_FLIGHT {
            if number >= IN_FLIGHT {
                let answer = session.hear().await?;
                ensure!(
                    matches!(Frame::decode(&answer), Ok(Frame::Ack)),
                    "a refusal"
                );
            }
            if number < count {
                let envelope = &self.sealed(recipient, first + number)?;
                session
                    .say(&Frame::Push {
                        recipient,
                        envelope,
                    })
                    .await?;
            }
        }
        Ok(())
    }

    fn sealed(&self, recipient: NoisePublic, sequence: u64) -> anyhow::Result<Vec<u8>> {
        let message = AppMessage::new(AppMessageKind::Text(text(sequence)), &mut OsRng);
        let sealing = Sealing {
            author: &self.author.signing,
            recipient: &recipient,
            sequence,
            timestamp_ms: SystemClock.now_ms(),
            tag: MessageTag::Sync,
            body: &message.encode(),
        };
        Ok(seal(&sealing, &mut OsRng)?)
    }

    /// Writes messages as the app does, in the background.
    pub(crate) fn write(&mut self, messages: u64) -> JoinSet<anyhow::Result<()>> {
        let (begin, end) = (self.written, self.written + messages);
        self.written = end;
        let mut writing = JoinSet::new();
        for first in begin..begin + WRITERS {
            let engine = self.engine.clone();
            let numbers = (first..end).step_by(usize::try_from(WRITERS).unwrap_or(1));
            writing.spawn(async move {
                for number in numbers {
                    engine.send_text(&text(number)).await?;
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

fn text(number: u64) -> String {
    format!("Message {number} of a long history, with a few words")
}

fn options(folder: &Path, invitation: &Invitation) -> anyhow::Result<OpenOptions> {
    Ok(OpenOptions {
        directory: folder.to_owned(),
        namespace: Namespace::parse("guest")?,
        profile_id: ProfileId::generate(&mut OsRng),
        relay: invitation.relay.clone(),
        device_name: "Ben".to_owned(),
        key_store: Arc::new(MemoryStore::new()),
        clock: Arc::new(SystemClock),
        max_payload_bytes: None,
    })
}
