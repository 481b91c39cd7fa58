//! A simulated device: the real machine, its disk, its clock and what its shell holds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rand_chacha::ChaCha8Rng;
use sealpost_engine::core::device::{Device, Settings};
use sealpost_engine::core::message::Message;
use sealpost_engine::core::run_marker::RunMarker;
use sealpost_engine::core::step::{Change, HandlerRun, Push, SessionId};
use sealpost_protocol::key::{NoisePublic, SigningPublic};
use sealpost_protocol::message_id::MessageId;
use sealpost_relay::store::BlobId;

use super::disk::Disk;
use super::model::{Known, Shown};
use super::mutation::Mutation;

/// A run of the message handler.
pub(super) struct Run {
    pub(super) run: HandlerRun,
    pub(super) message: Message,
    pub(super) is_hung: bool,
}

/// What a restored store goes back to.
pub(super) struct Backup {
    pub(super) disk: Disk,
    pub(super) markers: BTreeSet<RunMarker>,
    pub(super) shown: Shown,
    /// The place of the last message sent by then.
    pub(super) place: usize,
}

pub(super) struct Node {
    /// Which of the devices that were paired it is; a copy is the same one.
    pub(super) device_of: usize,
    pub(super) disk: Disk,
    /// The runs that its store has noted.
    pub(super) markers: BTreeSet<RunMarker>,
    /// What a crash leaves, where that is less than what was written.
    pub(super) synced: Option<Disk>,
    pub(super) device: Device,
    pub(super) noise: NoisePublic,
    pub(super) signing: SigningPublic,
    pub(super) rng: ChaCha8Rng,
    /// How far its clock is from the true time.
    pub(super) skew_ms: i64,
    /// The End-to-End Version that it speaks.
    pub(super) version: u8,
    pub(super) session: SessionId,
    pub(super) is_up: bool,
    /// Whether the network lets it reach the relay.
    pub(super) is_cut: bool,
    pub(super) cursor: BlobId,
    /// Blobs that were delivered in this run.
    pub(super) taken: BTreeMap<(SessionId, u64), Known>,
    /// The session in which the first attempt at a message began.
    pub(super) begun: BTreeMap<MessageId, SessionId>,
    /// What the handler took in the step that isn't committed yet.
    pub(super) unrecorded: BTreeSet<MessageId>,
    /// Whether inputs wait for a drain that they share with the next one.
    pub(super) is_ahead: bool,
    pub(super) overtaken: BTreeSet<u64>,
    pub(super) in_flight: Vec<Push>,
    pub(super) runs: Vec<Run>,
    /// How often the handler failed at a message by chance.
    pub(super) chance_failures: BTreeMap<MessageId, u32>,
    pub(super) backup: Option<Backup>,
    /// The clock at each `send` since the backup, for a mutation.
    pub(super) sent_at_ms: VecDeque<u64>,
    pub(super) reused_ms: VecDeque<u64>,
}

impl Node {
    pub(super) fn new(
        device_of: usize,
        disk: Disk,
        rng: ChaCha8Rng,
        skew_ms: i64,
        now_ms: u64,
    ) -> Self {
        let device = restore(&disk, now_ms.saturating_add_signed(skew_ms));
        let mut node = Self {
            device_of,
            noise: device.keys().noise,
            signing: device.keys().signing,
            disk,
            markers: BTreeSet::new(),
            synced: None,
            device,
            rng,
            skew_ms,
            version: 1,
            session: SessionId(0),
            is_up: false,
            is_cut: false,
            cursor: BlobId::START,
            taken: BTreeMap::new(),
            begun: BTreeMap::new(),
            unrecorded: BTreeSet::new(),
            is_ahead: false,
            overtaken: BTreeSet::new(),
            in_flight: Vec::new(),
            runs: Vec::new(),
            chance_failures: BTreeMap::new(),
            backup: None,
            sent_at_ms: VecDeque::new(),
            reused_ms: VecDeque::new(),
        };
        node.begin_run(true);
        node
    }

    /// Marks the run and notes it in the store, as the shell does before it connects.
    pub(super) fn begin_run(&mut self, is_noted: bool) {
        let marker = RunMarker::generate(&mut self.rng);
        self.device.handle_runs(marker, self.markers.clone());
        if is_noted {
            self.markers.insert(marker);
        }
    }

    /// A commit follows: it is synced, with all before it, or may be lost with the power.
    pub(super) fn write(&mut self, is_synced: bool) {
        if is_synced {
            self.synced = None;
        } else {
            self.synced.get_or_insert_with(|| self.disk.clone());
        }
    }

    /// The process is gone; the next one reads the disk, which may be full at that moment.
    pub(super) fn restart(&mut self, now_ms: u64, is_full: bool, mutation: Option<Mutation>) {
        if let Some(synced) = self.synced.take() {
            self.disk = synced;
        }
        let mut late = None;
        match mutation {
            Some(Mutation::LeftSendsNotFinished) => drop(self.disk.take_sends_left()),
            Some(Mutation::LeftSendsFinishedTooLate) => {
                let left = self.disk.take_sends_left();
                let numbers = left.keys().map(|number| Change::SequenceSaved(*number));
                self.disk.commit(numbers.collect());
                late = Some(left);
            }
            // They wait for the next write.
            _ if is_full => {}
            _ => self.disk.finish_sends_left(),
        }
        self.is_up = false;
        self.in_flight.clear();
        self.runs.clear();
        self.taken.clear();
        self.begun.clear();
        self.unrecorded.clear();
        self.is_ahead = false;
        self.device = restore(&self.disk, now_ms.saturating_add_signed(self.skew_ms));
        if let Some(late) = late {
            self.disk.finish_late(late);
        }
    }
}

fn restore(disk: &Disk, now_ms: u64) -> Device {
    let mut device = Device::restore(disk.snapshot(), Settings::default(), now_ms)
        .expect("a disk is consistent after every commit");
    device.handle_handler_set(true);
    device
}
