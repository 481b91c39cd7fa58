//! Devices, the channels between them, the clock, and the order in which things happen.
//!
//! Order is kept per sender and recipient only. A sent manifest waits in the sender's outbox
//! until the sender is online, then on the relay until the recipient is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sealpost_engine::core::membership::{Leave, Membership, MembershipEffect};
use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::manifest::{GroupId, Manifest, ManifestHash, SignedManifest};

use crate::device::{Device, Phase};
use crate::fault::Fault;

/// The simulated time of one step: T is a hundred of them.
pub(crate) const STEP_MS: u64 = 200;

const START_MS: u64 = 1_700_000_000_000;

/// What somebody wanted, and the manifest that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Intent {
    pub(crate) what: What,
    pub(crate) by: usize,
    pub(crate) target: usize,
    /// None for the last member, who leaves without a word.
    pub(crate) manifest: Option<ManifestHash>,
}

/// The kinds of membership changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Admit,
    Remove,
    Leave,
}

#[derive(Default)]
struct Channel {
    outbox: VecDeque<Rc<SignedManifest>>,
    relay: VecDeque<Rc<SignedManifest>>,
}

/// Everything there is in one history.
pub(crate) struct World {
    pub(crate) devices: Vec<Device>,
    pub(crate) intents: Vec<Intent>,
    pub(crate) issued: BTreeMap<ManifestHash, SignedManifest>,
    /// Who had to go because the group was overfull.
    pub(crate) dropped: BTreeSet<SigningPublic>,
    pub(crate) pushed_blobs: usize,
    pub(crate) now_ms: u64,
    pub(crate) fault: Fault,
    /// What happened, in order; printed for a history that is run again on its own.
    pub(crate) journal: Vec<String>,
    duplicates_percent: u64,
    crashes_percent: u64,
    index: BTreeMap<SigningPublic, usize>,
    channels: BTreeMap<(usize, usize), Channel>,
    rng: ChaCha8Rng,
}

impl World {
    /// A world whose every choice follows from the seed.
    pub(crate) fn new(
        seed: u64,
        duplicates_percent: u64,
        crashes_percent: u64,
        fault: Fault,
    ) -> Self {
        Self {
            devices: Vec::new(),
            intents: Vec::new(),
            issued: BTreeMap::new(),
            dropped: BTreeSet::new(),
            pushed_blobs: 0,
            now_ms: START_MS,
            fault,
            journal: Vec::new(),
            duplicates_percent,
            crashes_percent,
            index: BTreeMap::new(),
            channels: BTreeMap::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// A random number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.rng.next_u64() % bound.max(1)
    }

    /// A random number between two, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of the cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A random element.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let at = usize::try_from(self.below(from.len() as u64)).expect("an index");
        from.get(at).copied()
    }

    /// Founds a group of that many devices, all of which hold the genesis.
    pub(crate) fn found(&mut self, count: usize) {
        for _ in 0..count {
            self.add_device(SigningPublic::from_bytes([0; 32]));
        }
        let members = self.devices.iter().map(|device| device.member.clone());
        let genesis = Manifest::new(GroupId::from_bytes([7; 32]), 1, None, members.collect());
        let genesis = genesis.expect("a valid list");
        let genesis = genesis.sign(&self.devices[0].secrets.signing);
        self.issued.insert(genesis.hash(), genesis.clone());
        for device in &mut self.devices {
            let keys = device.keys();
            let group = Membership::anchored(keys, genesis.clone(), Vec::new(), self.now_ms);
            device.phase = Phase::Member(Box::new(group));
            device.received.insert(genesis.hash());
            device.acts = true;
            let effects = device.commit();
            let sends = |effect: &MembershipEffect| matches!(effect, MembershipEffect::Send { .. });
            assert!(!effects.iter().any(sends), "nobody has to be greeted");
        }
    }

    /// A device that no one has admitted.
    pub(crate) fn stranger(&mut self, number: usize) -> Device {
        Device::pending(SigningPublic::from_bytes([0; 32]), number, &mut self.rng)
    }

    fn add_device(&mut self, admitter: SigningPublic) -> usize {
        let number = self.devices.len();
        let device = Device::pending(admitter, number, &mut self.rng);
        self.index.insert(device.key(), number);
        self.devices.push(device);
        number
    }

    /// Lets a member admit a new device.
    pub(crate) fn admit(&mut self, by: usize) -> Option<usize> {
        let room = self.devices[by].membership()?.view().len() < 32;
        if !room {
            return None;
        }
        let target = self.add_device(self.devices[by].key());
        let newcomer = self.devices[target].member.clone();
        let now_ms = self.now_ms;
        let (group, secrets) = self.devices[by].acting()?;
        let issued =
            group.issue_admission(&newcomer.keys, &newcomer.name, &secrets.signing, now_ms);
        self.intend(issued.is_ok(), What::Admit, by, target);
        Some(target)
    }

    /// Lets a member remove another.
    pub(crate) fn remove(&mut self, by: usize, target: usize) {
        let key = self.devices[target].key();
        let now_ms = self.now_ms;
        let Some((group, secrets)) = self.devices[by].acting() else {
            return;
        };
        let issued = group.issue_removal(&key, &secrets.signing, now_ms);
        self.intend(issued.is_ok(), What::Remove, by, target);
    }

    /// Lets a member leave. It wipes once its outbox is empty.
    pub(crate) fn leave(&mut self, by: usize) {
        let now_ms = self.now_ms;
        let Some((group, secrets)) = self.devices[by].acting() else {
            return;
        };
        match group.issue_leave(&secrets.signing, now_ms) {
            Ok(Leave::Issued | Leave::Alone) => self.intend(true, What::Leave, by, by),
            Err(_) => return,
        }
        self.devices[by].phase = Phase::Left;
    }

    fn intend(&mut self, issued: bool, what: What, by: usize, target: usize) {
        let manifest = self.carry_out(by);
        if issued {
            self.note(&format!("{by} means to {what:?} {target}"));
            self.intents.push(Intent {
                what,
                by,
                target,
                manifest,
            });
        }
    }

    /// Commits a device's step and acts on its effects; returns the last manifest it issued.
    pub(crate) fn carry_out(&mut self, from: usize) -> Option<ManifestHash> {
        let effects = self.devices[from].commit();
        let me = self.devices[from].key();
        let mut issued = None;
        for effect in effects {
            match effect {
                MembershipEffect::Send { to, manifest } => {
                    if *manifest.issuer() == me && !self.issued.contains_key(&manifest.hash()) {
                        issued = Some(manifest.hash());
                        self.issued.insert(manifest.hash(), manifest.clone());
                        self.devices[from].received.insert(manifest.hash());
                        self.note(&format!("{from} issues {}", self.describe(&manifest)));
                    }
                    let to = self.index.get(&to.signing).copied();
                    let is_lost = self.fault.loses(&manifest, &me, &self.issued);
                    if let Some(to) = to.filter(|_| !is_lost) {
                        let channel = self.channels.entry((from, to)).or_default();
                        channel.outbox.push_back(Rc::new(manifest));
                    }
                }
                MembershipEffect::Removed => {
                    self.note(&format!("{from} is removed"));
                    self.devices[from].phase = Phase::Removed;
                }
                MembershipEffect::ViewChanged
                | MembershipEffect::MemberAdded { .. }
                | MembershipEffect::MemberRemoved { .. }
                | MembershipEffect::AdmissionDropped { .. } => {}
            }
        }
        issued
    }

    /// Hands a manifest from outside to a member, which may refuse it.
    pub(crate) fn inject(&mut self, author: &SigningPublic, to: usize, manifest: &SignedManifest) {
        let now_ms = self.now_ms;
        if let Some((group, _)) = self.devices[to].acting() {
            let _ = group.handle_manifest(author, manifest.clone(), now_ms);
        }
        self.carry_out(to);
    }

    /// One step of the busy part: time, a device that goes away, one blob, the timers.
    pub(crate) fn step(&mut self) {
        self.now_ms += STEP_MS;
        self.move_one_blob();
        self.tick();
    }

    /// Sends a random device offline.
    pub(crate) fn send_away(&mut self, steps: u64) {
        let number = self.devices.len() as u64;
        let device = usize::try_from(self.below(number)).expect("an index");
        self.devices[device].away_until_ms = self.now_ms + steps * STEP_MS;
    }

    fn note(&mut self, what: &str) {
        let seconds = (self.now_ms - START_MS) / 1_000;
        self.journal.push(format!("{seconds:>6} s  {what}"));
    }

    fn describe(&self, manifest: &SignedManifest) -> String {
        let members = manifest.members().iter();
        let members: Vec<_> = members
            .filter_map(|m| self.index.get(&m.keys.signing))
            .collect();
        let short = |hash: &ManifestHash| hex(&hash.as_bytes()[..2]);
        let parent = manifest.parent().map(|parent| short(&parent));
        format!(
            "{} v{} by {} on {} {members:?}",
            short(&manifest.hash()),
            manifest.version(),
            self.index
                .get(manifest.issuer())
                .copied()
                .unwrap_or_default(),
            parent.unwrap_or_default(),
        )
    }

    fn is_online(&self, device: usize) -> bool {
        self.devices[device].away_until_ms <= self.now_ms
    }

    /// Pushes or delivers one blob of a random channel. False if nothing can move.
    pub(crate) fn move_one_blob(&mut self) -> bool {
        let movable: Vec<_> = self
            .channels
            .iter()
            .filter(|((from, to), channel)| {
                (!channel.outbox.is_empty() && self.is_online(*from))
                    || (!channel.relay.is_empty() && self.is_online(*to))
            })
            .map(|(ends, _)| *ends)
            .collect();
        let Some((from, to)) = self.pick(&movable) else {
            return false;
        };
        let is_pushed = self.is_online(from) && self.push((from, to));
        if !is_pushed {
            self.deliver((from, to));
        }
        true
    }

    fn push(&mut self, ends: (usize, usize)) -> bool {
        let channel = self.channels.entry(ends).or_default();
        let Some(blob) = channel.outbox.pop_front() else {
            return false;
        };
        channel.relay.push_back(blob);
        self.pushed_blobs += 1;
        true
    }

    fn deliver(&mut self, (from, to): (usize, usize)) {
        let is_repeated = self.percent(self.duplicates_percent);
        let channel = self.channels.entry((from, to)).or_default();
        let Some(blob) = channel.relay.pop_front() else {
            return;
        };
        if is_repeated {
            channel.relay.push_front(Rc::clone(&blob));
        }
        if self.devices[to].membership().is_some() || self.devices[to].is_pending() {
            self.note(&format!("{to} <- {from}: {}", self.describe(&blob)));
        }
        let author = self.devices[from].key();
        self.devices[to].receive(&author, &blob, self.now_ms);
        self.carry_out(to);
        if self.percent(self.crashes_percent) {
            self.devices[to].crash(self.now_ms);
        }
    }

    /// Tells every machine of time and connection, where it changed or is due.
    pub(crate) fn tick(&mut self) {
        if self.fault == Fault::NobodyMerges {
            return;
        }
        let awaited = self.awaited();
        for device in 0..self.devices.len() {
            let online = self.is_online(device) && !awaited.contains(&device);
            let was_online = self.devices[device].told_online;
            let now_ms = self.now_ms;
            let rng = &mut self.rng;
            let Some((group, secrets)) = self.devices[device].acting() else {
                continue;
            };
            let is_due = group.next_timer().is_some_and(|due_ms| due_ms <= now_ms);
            if online == was_online && !is_due {
                continue;
            }
            let overfull = (group.view().len() > 32).then(|| group.view().clone());
            group.handle_timer(now_ms, online, &secrets.signing, rng);
            let dropped = overfull.unwrap_or_default().into_keys();
            let dropped = dropped.filter(|key| !group.view().contains_key(key));
            self.dropped.extend(dropped);
            self.devices[device].told_online = online;
            self.carry_out(device);
        }
    }

    /// The devices for which something waits on the relay.
    fn awaited(&self) -> BTreeSet<usize> {
        let waiting = self
            .channels
            .iter()
            .filter(|(_, channel)| !channel.relay.is_empty());
        waiting.map(|((_, to), _)| *to).collect()
    }

    /// Everybody online, until nothing moves and no timer runs. False if that never happens.
    pub(crate) fn settle(&mut self) -> bool {
        for device in &mut self.devices {
            device.away_until_ms = 0;
        }
        for _ in 0..200_000 {
            self.now_ms += 1;
            if self.move_one_blob() {
                self.tick();
                continue;
            }
            self.tick();
            let timers = self.devices.iter().filter_map(Device::membership);
            let next = timers.filter_map(Membership::next_timer).min();
            let is_quiet = self.channels.values().all(|c| c.outbox.is_empty());
            match next {
                Some(due_ms) if self.fault != Fault::NobodyMerges => {
                    self.now_ms = self.now_ms.max(due_ms);
                }
                _ if is_quiet => return true,
                _ => {}
            }
            self.tick();
        }
        false
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
