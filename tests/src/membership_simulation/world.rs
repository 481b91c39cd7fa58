//! Devices, the channels between them, the clock, and the order in which things happen.
//!
//! Order is kept per sender and recipient only. A sent manifest waits in the sender's outbox
//! until the sender is online, then on the relay until the recipient is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use sealpost_protocol::key::SigningPublic;
use sealpost_protocol::limit::GROUP_MEMBERS_MAX;
use sealpost_protocol::manifest::{GroupId, Manifest, ManifestHash, SignedManifest};

use super::device::{Device, IDENTITIES, Phase, identity};
use super::fault::Fault;
use super::machine::{Machine, Outcome};
use super::rogue::Rogue;

/// The simulated time of one step: T is a hundred of them.
pub(crate) const STEP_MS: u64 = 200;

/// Blobs and timers after which a history counts as one that never comes to rest.
const SETTLING_MAX: usize = 20_000;

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
    outbox: VecDeque<SignedManifest>,
    relay: VecDeque<SignedManifest>,
}

/// How the network and the devices misbehave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// Deliveries that are repeated.
    pub(crate) duplicates_percent: u64,
    /// Deliveries after which the device crashes.
    pub(crate) crashes_percent: u64,
    pub(crate) fault: Fault,
}

impl Weather {
    /// Nothing goes wrong.
    pub(crate) const FAIR: Self = Self {
        duplicates_percent: 0,
        crashes_percent: 0,
        fault: Fault::None,
    };
}

/// A blob as the relay took it; counted where a history asks for it.
pub(crate) struct Pushed {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) manifest: SignedManifest,
}

/// Everything there is in one history.
pub(crate) struct World<M> {
    pub(crate) devices: Vec<Device<M>>,
    pub(crate) intents: Vec<Intent>,
    pub(crate) issued: BTreeMap<ManifestHash, SignedManifest>,
    /// Who had to go because the group was overfull.
    pub(crate) dropped: BTreeSet<SigningPublic>,
    pub(crate) pushed_count: usize,
    /// The blobs themselves, if they are wanted.
    pub(crate) pushed: Option<Vec<Pushed>>,
    pub(crate) now_ms: u64,
    pub(crate) rogue: Option<Rogue>,
    pub(crate) weather: Weather,
    /// What happened, in order, if it is wanted.
    pub(crate) journal: Option<Vec<String>>,
    group: GroupId,
    first_identity: usize,
    index: BTreeMap<SigningPublic, usize>,
    /// Invariant: none of them is empty.
    channels: BTreeMap<(usize, usize), Channel>,
    rng: ChaCha8Rng,
}

impl<M: Machine> World<M> {
    /// A world whose every choice follows from the seed.
    pub(crate) fn new(seed: u64, weather: Weather) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let group = GroupId::generate(&mut rng);
        let first = usize::try_from(rng.next_u32()).expect("a number") % IDENTITIES;
        Self {
            devices: Vec::new(),
            intents: Vec::new(),
            issued: BTreeMap::new(),
            dropped: BTreeSet::new(),
            pushed_count: 0,
            pushed: None,
            now_ms: START_MS,
            rogue: None,
            weather,
            journal: None,
            group,
            first_identity: first,
            index: BTreeMap::new(),
            channels: BTreeMap::new(),
            rng,
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

    /// The devices that have a group.
    pub(crate) fn live(&self) -> impl Iterator<Item = usize> + '_ {
        let devices = self.devices.iter().enumerate();
        let live = devices.filter(|(_, device)| device.machine().is_some());
        live.map(|(at, _)| at)
    }

    /// The devices that wait for their anchor.
    pub(crate) fn pending(&self) -> Vec<usize> {
        let devices = self.devices.iter().enumerate();
        let pending = devices.filter(|(_, device)| matches!(device.phase, Phase::Pending { .. }));
        pending.map(|(at, _)| at).collect()
    }

    /// Whether somebody whom this device admitted has a group.
    pub(crate) fn is_admitter_of_a_member(&self, device: usize) -> bool {
        let mut admissions = self.intents.iter().filter(|i| i.what == What::Admit);
        admissions.any(|i| i.by == device && self.devices[i.target].machine().is_some())
    }

    /// Founds a group of that many devices, all of which hold the genesis.
    pub(crate) fn found(&mut self, count: usize) {
        for _ in 0..count {
            self.add_device(identity(0).member.keys.signing);
        }
        let members = self.devices.iter().map(|device| device.member().clone());
        let genesis = Manifest::new(self.group, 1, None, members.collect());
        let genesis = genesis
            .expect("a valid list")
            .sign(self.devices[0].secret());
        self.issued.insert(genesis.hash(), genesis.clone());
        for device in &mut self.devices {
            let machine = M::anchored(device.keys(), genesis.clone(), Vec::new(), self.now_ms);
            device.phase = Phase::Member(Box::new(machine));
            device.received.insert(genesis.hash());
            device.is_founder = true;
            if let Phase::Member(machine) = &mut device.phase {
                assert!(machine.commit().is_empty(), "nobody has to be greeted");
            }
        }
    }

    pub(crate) fn add_device(&mut self, admitter: SigningPublic) -> usize {
        let number = self.devices.len();
        let device = Device::pending(identity(self.first_identity + number), admitter);
        self.index.insert(device.key(), number);
        self.devices.push(device);
        number
    }

    /// Takes a device out of the honest ones.
    pub(crate) fn make_rogue(&mut self, device: usize) {
        self.devices[device].phase = Phase::Rogue;
    }

    /// Lets a member admit a new device.
    pub(crate) fn admit(&mut self, by: usize) -> Option<usize> {
        let size = self.devices[by].machine()?.view().len();
        if size >= GROUP_MEMBERS_MAX {
            return None;
        }
        let target = self.add_device(self.devices[by].key());
        let newcomer = self.devices[target].member();
        let now_ms = self.now_ms;
        let (machine, secret) = self.devices[by].acting()?;
        let issued = machine.admit(newcomer, secret, now_ms);
        self.intend(issued, What::Admit, by, target);
        Some(target)
    }

    /// Lets a member remove another.
    pub(crate) fn remove(&mut self, by: usize, target: usize) {
        let key = self.devices[target].key();
        let now_ms = self.now_ms;
        let Some((machine, secret)) = self.devices[by].acting() else {
            return;
        };
        let issued = machine.remove(&key, secret, now_ms);
        self.intend(issued, What::Remove, by, target);
    }

    /// Lets a member leave. It wipes once its outbox is empty.
    pub(crate) fn leave(&mut self, by: usize) {
        let now_ms = self.now_ms;
        let Some((machine, secret)) = self.devices[by].acting() else {
            return;
        };
        if machine.leave(secret, now_ms) {
            self.intend(true, What::Leave, by, by);
            self.devices[by].phase = Phase::Left;
        }
    }

    fn intend(&mut self, issued: bool, what: What, by: usize, target: usize) {
        let manifest = self.carry_out(by);
        if issued {
            self.note(|_| format!("{by} means to {what:?} {target}"));
            self.intents.push(Intent {
                what,
                by,
                target,
                manifest,
            });
        }
    }

    /// Commits a device's step and acts on its outcomes; returns the last manifest it issued.
    pub(crate) fn carry_out(&mut self, from: usize) -> Option<ManifestHash> {
        let Phase::Member(machine) = &mut self.devices[from].phase else {
            return None;
        };
        let outcomes = machine.commit();
        let me = self.devices[from].key();
        let mut issued = None;
        for outcome in outcomes {
            match outcome {
                Outcome::Send { to, manifest } => {
                    if *manifest.issuer() == me && self.remember_issued(from, &manifest) {
                        issued = Some(manifest.hash());
                    }
                    if let Some(to) = self.index.get(&to.signing).copied() {
                        self.queue(from, to, manifest);
                    }
                }
                Outcome::Removed => {
                    self.note(|_| format!("{from} is removed"));
                    self.devices[from].phase = Phase::Removed;
                }
            }
        }
        issued
    }

    /// Writes down a manifest that a device issued. Returns whether it is new.
    pub(crate) fn remember_issued(&mut self, by: usize, manifest: &SignedManifest) -> bool {
        let is_new = !self.issued.contains_key(&manifest.hash());
        if is_new {
            self.issued.insert(manifest.hash(), manifest.clone());
            self.devices[by].received.insert(manifest.hash());
            self.note(|world| format!("{by} issues {}", world.describe(manifest)));
        }
        is_new
    }

    /// Puts a manifest into the sender's outbox.
    pub(crate) fn queue(&mut self, from: usize, to: usize, manifest: SignedManifest) {
        if let Some(sent) = self.distorted(to, manifest) {
            let channel = self.channels.entry((from, to)).or_default();
            channel.outbox.push_back(sent);
        }
    }

    /// The device with this key.
    pub(crate) fn index_of(&self, key: &SigningPublic) -> Option<usize> {
        self.index.get(key).copied()
    }

    /// Who admits a device.
    pub(crate) fn admitter_of(&self, device: usize) -> Option<usize> {
        let mut admissions = self.intents.iter().filter(|i| i.what == What::Admit);
        let by_intent = admissions.find(|i| i.target == device).map(|i| i.by);
        match &self.devices[device].phase {
            // Its admission is being issued.
            Phase::Pending { admitter, .. } => self.index_of(admitter),
            _ => by_intent,
        }
    }

    /// One step of the busy part: time, one blob, the timers.
    pub(crate) fn step(&mut self) {
        self.now_ms += STEP_MS;
        self.move_one_blob();
        self.tick();
    }

    /// Sends a random device offline.
    pub(crate) fn send_away(&mut self, steps: u64) {
        self.send_away_for(steps * STEP_MS);
    }

    /// Sends a random device offline for some time.
    pub(crate) fn send_away_for(&mut self, time_ms: u64) {
        let number = self.devices.len() as u64;
        let device = usize::try_from(self.below(number)).expect("an index");
        self.devices[device].away_until_ms = self.now_ms + time_ms;
    }

    /// Writes into the journal, if there is one.
    pub(crate) fn note(&mut self, what: impl FnOnce(&Self) -> String) {
        if self.journal.is_some() {
            let seconds = (self.now_ms - START_MS) / 1_000;
            let line = format!("{seconds:>6} s  {}", what(self));
            self.journal
                .iter_mut()
                .for_each(|lines| lines.push(line.clone()));
        }
    }

    /// Writes into the journal how every live device sees the group.
    pub(crate) fn note_ends(&mut self) {
        for at in self.live().collect::<Vec<_>>() {
            self.note(|world| world.end_of(at));
        }
    }

    fn end_of(&self, at: usize) -> String {
        let Some(machine) = self.devices[at].machine() else {
            return String::new();
        };
        let number = |key: &SigningPublic| self.index_of(key).unwrap_or_default();
        let members: Vec<_> = machine.view().keys().map(number).collect();
        let limbo: Vec<_> = machine.limbo().iter().map(number).collect();
        let gone: Vec<_> = (0..self.devices.len())
            .filter(|other| machine.knows_removed(&self.devices[*other].key()))
            .collect();
        let current = self.describe(machine.current());
        format!("{at} ends: members {members:?}, limbo {limbo:?}, removed {gone:?}, {current}")
    }

    pub(crate) fn describe(&self, manifest: &SignedManifest) -> String {
        let members = manifest.members().iter();
        let members: Vec<_> = members
            .filter_map(|m| self.index.get(&m.keys.signing))
            .collect();
        let short = |hash: &ManifestHash| {
            let bytes = hash.as_bytes();
            format!("{:02x}{:02x}", bytes[0], bytes[1])
        };
        let parent = manifest.parent().map(|parent| short(&parent));
        let issuer = self.index.get(manifest.issuer()).copied();
        format!(
            "{} v{} by {} on {} {members:?}",
            short(&manifest.hash()),
            manifest.version(),
            issuer.unwrap_or_default(),
            parent.unwrap_or_default(),
        )
    }

    fn is_online(&self, device: usize) -> bool {
        self.devices[device].away_until_ms <= self.now_ms
    }

    /// Pushes or delivers one blob of a random channel. False if nothing can move.
    fn move_one_blob(&mut self) -> bool {
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
        if !(self.is_online(from) && self.push((from, to))) {
            self.deliver((from, to));
        }
        true
    }

    fn push(&mut self, ends: (usize, usize)) -> bool {
        let Some(channel) = self.channels.get_mut(&ends) else {
            return false;
        };
        let Some(manifest) = channel.outbox.pop_front() else {
            return false;
        };
        self.pushed_count += 1;
        if let Some(pushed) = &mut self.pushed {
            let (from, to) = ends;
            let manifest = manifest.clone();
            pushed.push(Pushed { from, to, manifest });
        }
        channel.relay.push_back(manifest);
        true
    }

    fn deliver(&mut self, (from, to): (usize, usize)) {
        let is_repeated = self.percent(self.weather.duplicates_percent);
        let Some(channel) = self.channels.get_mut(&(from, to)) else {
            return;
        };
        let Some(manifest) = channel.relay.pop_front() else {
            return;
        };
        if is_repeated {
            channel.relay.push_front(manifest.clone());
        }
        if channel.relay.is_empty() && channel.outbox.is_empty() {
            self.channels.remove(&(from, to));
        }
        self.hand_over(from, to, manifest);
        if self.percent(self.weather.crashes_percent) {
            self.devices[to].crash(self.now_ms);
        }
    }

    fn hand_over(&mut self, from: usize, to: usize, manifest: SignedManifest) {
        if matches!(self.devices[to].phase, Phase::Rogue) {
            self.rogue
                .iter_mut()
                .for_each(|rogue| rogue.learn(&manifest));
            return;
        }
        if !self.devices[to].is_gone() {
            self.note(|world| format!("{to} <- {from}: {}", world.describe(&manifest)));
        }
        let manifest = self.lend_authority(to, manifest);
        let author = self.devices[from].key();
        self.devices[to].receive(&author, &manifest, self.now_ms);
        self.carry_out(to);
        let device = &mut self.devices[to];
        if device.machine().is_some() && self.weather.fault.wipes(to, device.received.len()) {
            device.phase = Phase::Removed;
        }
    }

    /// Tells every machine of time and connection, where it changed or is due.
    pub(crate) fn tick(&mut self) {
        let awaited = self.awaited();
        for device in 0..self.devices.len() {
            if !self.weather.fault.has_timer(device) {
                continue;
            }
            let online = self.is_online(device) && !awaited.contains(&device);
            let was_online = self.devices[device].told_online;
            let now_ms = self.now_ms;
            let Some((machine, secret)) = self.devices[device].acting() else {
                continue;
            };
            let is_due = machine.due_ms().is_some_and(|due_ms| due_ms <= now_ms);
            if online == was_online && !is_due {
                continue;
            }
            let overfull = machine.view().len() > GROUP_MEMBERS_MAX;
            let before = overfull.then(|| machine.view().clone());
            machine.tick(now_ms, online, secret, &mut self.rng);
            let dropped = before.unwrap_or_default().into_keys();
            let dropped = dropped.filter(|key| !machine.view().contains_key(key));
            self.dropped.extend(dropped);
            self.devices[device].told_online = online;
            self.carry_out(device);
        }
    }

    /// The devices for which something waits on the relay.
    fn awaited(&self) -> BTreeSet<usize> {
        let waiting = self.channels.iter();
        let waiting = waiting.filter(|(_, channel)| !channel.relay.is_empty());
        waiting.map(|((_, to), _)| *to).collect()
    }

    /// Lets time pass: what can move does, timers fire when they are due, absent devices come
    /// back when they meant to.
    pub(crate) fn pass(&mut self, time_ms: u64) {
        let end_ms = self.now_ms + time_ms;
        for _ in 0..SETTLING_MAX {
            let is_moving = self.move_one_blob();
            self.tick();
            if is_moving {
                continue;
            }
            let next = self.next_occasion().filter(|next_ms| *next_ms < end_ms);
            let Some(next_ms) = next else {
                break;
            };
            self.now_ms = next_ms;
            self.tick();
        }
        self.now_ms = end_ms;
        self.tick();
    }

    /// When the first timer is due.
    fn next_timer(&self) -> Option<u64> {
        let devices = self.devices.iter().enumerate();
        let timed = devices.filter(|(at, _)| self.weather.fault.has_timer(*at));
        timed
            .filter_map(|(_, device)| device.machine()?.due_ms())
            .min()
    }

    /// When the next timer of a present device is due, or the next device comes back.
    fn next_occasion(&self) -> Option<u64> {
        let devices = self.devices.iter();
        let occasions = devices.filter_map(|device| {
            if device.away_until_ms > self.now_ms {
                Some(device.away_until_ms)
            } else {
                device.machine().and_then(Machine::due_ms)
            }
        });
        occasions.filter(|at_ms| *at_ms > self.now_ms).min()
    }

    /// Everybody online, until nothing moves and no timer runs. False if that never happens.
    pub(crate) fn settle(&mut self) -> bool {
        for device in &mut self.devices {
            device.away_until_ms = 0;
        }
        for _ in 0..SETTLING_MAX {
            self.now_ms += 1;
            if self.move_one_blob() {
                self.tick();
                continue;
            }
            self.tick();
            match self.next_timer() {
                Some(due_ms) => {
                    self.now_ms = self.now_ms.max(due_ms);
                    self.tick();
                }
                _ if self.channels.is_empty() => return true,
                _ => {}
            }
        }
        false
    }
}
