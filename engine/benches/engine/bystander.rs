//! What stands around the engines under measurement: a relay without limits, a group of two,
//! and a sender that fills an inbox faster than a person's device may.

use rand_core::OsRng;
use sealpost_engine::keys::{GroupKeys, KeyItemName, KeyStore};
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::{DeviceSecrets, NoisePublic};
use sealpost_relay::Relay;
use tempfile::TempDir;

use crate::BYTES;
use crate::devices::{Device, Home, pair};
use crate::open_relay;
use crate::session::Session;

/// Pushes of one session that wait for their answer.
const IN_FLIGHT: usize = 32;

/// A relay that takes what it is given.
pub(crate) struct OpenRelay {
    relay: Relay,
    _folder: TempDir,
}

impl OpenRelay {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            relay: open_relay::start(folder.path()).await,
            _folder: folder,
        }
    }

    pub(crate) fn address(&self) -> RelayAddress {
        let ports = self.relay.ports();
        let key = self.relay.public_key();
        RelayAddress::new(key, "127.0.0.1", ports.receive, ports.push).unwrap()
    }

    pub(crate) fn blobs(&self) -> u64 {
        self.relay.numbers().blobs
    }

    /// Pushes what is sealed already, many at a time.
    pub(crate) async fn fill(&self, recipient: NoisePublic, envelopes: &[Vec<u8>]) {
        let mut session = Session::to_push(&self.relay).await;
        let await_ack = async |session: &mut Session| {
            let answer = session.read().await;
            assert!(matches!(Frame::decode(&answer), Ok(Frame::Ack)));
        };
        let mut answered = 0;
        for (sent, envelope) in envelopes.iter().enumerate() {
            if sent >= answered + IN_FLIGHT {
                await_ack(&mut session).await;
                answered += 1;
            }
            session.push(recipient, envelope).await;
        }
        for _ in answered..envelopes.len() {
            await_ack(&mut session).await;
        }
    }
}

/// Two devices in one group.
pub(crate) struct Pair {
    pub(crate) homes: [Home; 2],
    pub(crate) devices: [Device; 2],
}

impl Pair {
    pub(crate) async fn start(relay: &OpenRelay) -> Self {
        let homes = [Home::new("Laptop"), Home::new("Phone")];
        let address = || Some(relay.address());
        let devices = [
            homes[0].start(address()).await,
            homes[1].start(address()).await,
        ];
        pair(&devices[0], &devices[1]).await;
        // What pairing itself sends is out of the way before anything is measured.
        for device in &devices {
            while device.engine.outbox_copies().await.unwrap() > 0 {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
        Self { homes, devices }
    }
}

/// The keys of a device, as its key store holds them.
pub(crate) fn keys_of(home: &Home) -> GroupKeys {
    let options = home.options(None);
    let item = KeyItemName::group(&options.profile_id, &options.namespace);
    let item = home.keys.load(&item).unwrap().unwrap();
    GroupKeys::decode(&item, &options.profile_id).unwrap()
}

/// Messages of one device to another, sealed.
pub(crate) fn sealed(
    author: &DeviceSecrets,
    recipient: NoisePublic,
    first: u64,
    count: usize,
) -> Vec<Vec<u8>> {
    let numbers = (first..).take(count);
    let envelope = |sequence| {
        let sealing = Sealing {
            author: &author.signing,
            recipient: &recipient,
            sequence,
            timestamp_ms: first,
            tag: MessageTag::Sync,
            body: &body(),
        };
        seal(&sealing, &mut OsRng).unwrap()
    };
    numbers.map(envelope).collect()
}

/// A text whose body has the size that everything is measured with.
pub(crate) fn body() -> Vec<u8> {
    let text = |length| AppMessage::new(AppMessageKind::Text("x".repeat(length)), &mut OsRng);
    let frame = text(BYTES).encode().len() - BYTES;
    text(BYTES - frame).encode()
}
