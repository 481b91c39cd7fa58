//! The rules of the mailbox's first description, to the letter, through the same faults.
//!
//! No floor, no memory of incarnations, no acknowledgements: a message is done with on 201, the
//! next sequence is one more than the last stored one of the process or of HEAD, the reader
//! prunes what it saw. A message whose PUT got no answer is tried again later; the description
//! says no more. Devices act one whole operation at a time, which is kinder to these rules than
//! what the engine's machine gets.

use std::collections::BTreeSet;

use sealpost_engine::core::link::{Answer, Done, LinkRequest};
use sealpost_protocol::link::envelope;
use sealpost_protocol::link::key::{LinkId, LinkKey, LinkKeys, Role};
use sealpost_protocol::link::payload::PayloadId;

use super::Row;
use super::account::History;
use super::line::{Dice, ModelRelay};

/// Operations of a history while things go wrong.
const OPERATIONS: u32 = 300;

/// Operations of each device when nothing goes wrong any more.
const QUIET_OPERATIONS: u32 = 40;

const LOSS_PER_MILLE: u64 = 100;
const CRASH_PER_MILLE: u64 = 50;
const TAKEN_ATTEMPTS: u32 = 5;

/// A device that follows the description.
struct Literal {
    role: Role,
    disk: Disk,
    claimed: bool,
    last_stored: Option<u64>,
}

#[derive(Clone, Default)]
struct Disk {
    last_received: Option<u64>,
    to_send: Vec<PayloadId>,
    arrived: Vec<PayloadId>,
}

/// The process ended, or a request got no answer: the operation is cut off.
struct Cut;

struct Scene {
    dice: Dice,
    keys: LinkKeys,
    relay: ModelRelay,
    now_ms: u64,
    is_quiet: bool,
    requests: u64,
    crashes: u64,
}

/// Runs one history.
pub(super) fn run(row: Row, seed: u64) -> History {
    let mut dice = Dice::new(seed);
    let (key, id) = (
        LinkKey::generate(&mut dice.0),
        LinkId::generate(&mut dice.0),
    );
    let mut scene = Scene {
        dice,
        keys: LinkKeys::derive(&key, &id),
        relay: ModelRelay::default(),
        now_ms: 1_795_000_000_000,
        is_quiet: false,
        requests: 0,
        crashes: 0,
    };
    let mut devices = [Role::A, Role::B].map(Literal::new);
    let mut copies: (Vec<ModelRelay>, Vec<[Disk; 2]>) = (Vec::new(), Vec::new());
    let mut queued: [Vec<PayloadId>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..OPERATIONS {
        scene.go_wrong(row, &mut devices, &mut copies);
        let at = usize::from(scene.dice.happens(500));
        for _ in 0..scene.dice.below(2) {
            let id = PayloadId::generate(&mut scene.dice.0);
            devices[at].disk.to_send.push(id);
            queued[at].push(id);
        }
        devices[at].act(&mut scene);
    }
    scene.is_quiet = true;
    for device in &mut devices {
        device.restart();
    }
    for _ in 0..QUIET_OPERATIONS {
        for device in &mut devices {
            device.act(&mut scene);
        }
    }
    judge(&scene, &devices, &queued)
}

fn judge(scene: &Scene, devices: &[Literal; 2], queued: &[Vec<PayloadId>; 2]) -> History {
    let mut history = History {
        stuck: scene.relay.slots(),
        requests: scene.requests,
        crashes: scene.crashes,
        is_settled: true,
        ..History::default()
    };
    for at in 0..2 {
        let arrived = &devices[1 - at].disk.arrived;
        let once: BTreeSet<_> = arrived.iter().collect();
        history.sent += queued[at].len() as u64;
        history.waiting += devices[at].disk.to_send.len() as u64;
        history.repeated += (arrived.len() - once.len()) as u64;
        let is_lost =
            |id: &&PayloadId| !once.contains(id) && !devices[at].disk.to_send.contains(id);
        history.lost += queued[at].iter().filter(is_lost).count() as u64;
    }
    history
}

impl Scene {
    fn go_wrong(
        &mut self,
        row: Row,
        devices: &mut [Literal; 2],
        (relays, disks): &mut (Vec<ModelRelay>, Vec<[Disk; 2]>),
    ) {
        self.now_ms += 1_000;
        if self.dice.happens(100) {
            relays.push(self.relay.clone());
            disks.push([devices[0].disk.clone(), devices[1].disk.clone()]);
        }
        if row.vanishes() && self.dice.happens(20) {
            self.relay.vanish(&self.keys, self.now_ms);
            self.now_ms += 1_000;
        }
        let newest = relays.len().saturating_sub(1);
        if row.restores_relay() && !relays.is_empty() && self.dice.happens(20) {
            self.relay = relays[newest].clone();
        }
        if row.restores_clients() && !disks.is_empty() && self.dice.happens(15) {
            let at = usize::from(self.dice.happens(500));
            devices[at].disk = disks[newest][at].clone();
            devices[at].restart();
        }
    }

    /// One request; `Err` where no answer came.
    fn request(&mut self, request: &LinkRequest) -> Result<Result<Done, (u16, Option<u64>)>, Cut> {
        self.requests += 1;
        if !self.is_quiet && self.dice.happens(LOSS_PER_MILLE) {
            return Err(Cut);
        }
        let answer = self.relay.perform(&self.keys, request, self.now_ms);
        if !self.is_quiet && self.dice.happens(LOSS_PER_MILLE) {
            return Err(Cut);
        }
        match answer {
            Answer::Done(done) => Ok(Ok(done)),
            Answer::Refused(refused) => Ok(Err((refused.status, refused.last))),
            Answer::Unreadable | Answer::NoAnswer => Err(Cut),
        }
    }
}

impl Literal {
    fn new(role: Role) -> Self {
        Self {
            role,
            disk: Disk::default(),
            claimed: false,
            last_stored: None,
        }
    }

    fn restart(&mut self) {
        self.claimed = false;
        self.last_stored = None;
    }

    /// Sends or receives; a request without an answer ends the operation, and so does a crash.
    fn act(&mut self, scene: &mut Scene) {
        let _cut = if scene.dice.happens(500) {
            self.send_all(scene)
        } else {
            self.receive(scene)
        };
    }

    fn point(&mut self, scene: &mut Scene) -> Result<(), Cut> {
        if !scene.is_quiet && scene.dice.happens(CRASH_PER_MILLE) {
            scene.crashes += 1;
            self.restart();
            return Err(Cut);
        }
        Ok(())
    }

    fn claim(&mut self, scene: &mut Scene) -> Result<(), Cut> {
        if !self.claimed {
            self.claimed = scene.request(&LinkRequest::Claim)?.is_ok();
        }
        Ok(())
    }

    fn send_all(&mut self, scene: &mut Scene) -> Result<(), Cut> {
        while let Some(id) = self.disk.to_send.first().copied() {
            if !self.send(id, scene)? {
                return Ok(());
            }
            self.point(scene)?;
            self.disk.to_send.remove(0);
        }
        Ok(())
    }

    /// Whether the message is on the relay.
    fn send(&mut self, id: PayloadId, scene: &mut Scene) -> Result<bool, Cut> {
        let direction = self.role.writes();
        for _ in 0..TAKEN_ATTEMPTS {
            self.claim(scene)?;
            let last = match self.last_stored {
                Some(last) => last,
                None => match scene.request(&LinkRequest::Head(direction))? {
                    Ok(done) => done.headers.last.unwrap_or(0),
                    Err(_) => {
                        self.claimed = false;
                        continue;
                    }
                },
            };
            let sequence = last + 1;
            let plain = id.as_bytes();
            let sealed = envelope::seal(&scene.keys, direction, sequence, plain, &mut scene.dice.0);
            let Ok(envelope) = sealed else {
                return Ok(false);
            };
            self.point(scene)?;
            let put = LinkRequest::Put {
                direction,
                sequence,
                envelope,
            };
            match scene.request(&put)? {
                Ok(_) => {
                    self.last_stored = Some(sequence);
                    return Ok(true);
                }
                Err((409, last)) => self.last_stored = last,
                Err((404, _)) => self.claimed = false,
                Err(_) => return Ok(false),
            }
        }
        Ok(false)
    }

    fn receive(&mut self, scene: &mut Scene) -> Result<(), Cut> {
        self.claim(scene)?;
        let direction = self.role.reads();
        let mut cursor = self.disk.last_received.unwrap_or(0);
        let mut seen = None;
        let mut last_received = self.disk.last_received;
        loop {
            let before = cursor;
            let page = LinkRequest::Page {
                direction,
                after: cursor,
            };
            let Ok(done) = scene.request(&page)? else {
                self.claimed = false;
                return Ok(());
            };
            for found in &done.envelopes {
                let slot = found.sequence;
                cursor = cursor.max(slot);
                seen = seen.max(Some(slot));
                let opened =
                    envelope::open(&scene.keys, direction, slot, last_received, &found.envelope);
                if let Ok(opened) = opened {
                    let id: [u8; 16] = opened.payload.try_into().unwrap_or([0; 16]);
                    self.disk.arrived.push(PayloadId::from_bytes(id));
                    last_received = Some(opened.sequence);
                    self.point(scene)?;
                }
            }
            if done.headers.more == Some(0) || cursor == before {
                break;
            }
        }
        if let Some(through) = seen {
            let prune = LinkRequest::Prune { direction, through };
            let _pruned = scene.request(&prune)?;
            self.point(scene)?;
        }
        self.disk.last_received = last_received;
        Ok(())
    }
}
