//! Groups of two to five devices, paired once by the real machines and then copied.

use std::collections::VecDeque;
use std::sync::OnceLock;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use sealpost_engine::core::device::{Device, Settings};
use sealpost_engine::core::step::{Effect, PushOutcome, SessionId};
use sealpost_protocol::key::DeviceSecrets;
use sealpost_protocol::name::DeviceName;

use super::disk::Disk;

/// When histories begin: late enough that nothing is before 1970 two months earlier.
pub(super) const START_MS: u64 = 1_790_812_800_000;

const SESSION: SessionId = SessionId(1);

/// The disks of a group of `count` devices.
pub(super) fn disks(count: usize) -> Vec<Disk> {
    static GROUPS: OnceLock<Vec<Vec<Disk>>> = OnceLock::new();
    let groups = GROUPS.get_or_init(|| (2..=5).map(pair_all).collect());
    groups[count - 2].clone()
}

fn pair_all(count: usize) -> Vec<Disk> {
    let mut pairing = Pairing::new(count);
    for joiner in 1..count {
        pairing.pair(joiner);
    }
    pairing.disks
}

/// Devices on a post that loses nothing.
struct Pairing {
    disks: Vec<Disk>,
    devices: Vec<Device>,
    rng: ChaCha8Rng,
}

impl Pairing {
    fn new(count: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(count as u64);
        let mut disks = Vec::new();
        let mut devices = Vec::new();
        for number in 0..count {
            let secrets = DeviceSecrets::generate(&mut rng);
            let name = DeviceName::clean(&format!("device {number}"), &secrets.keys().signing);
            let disk = Disk::new(secrets, name);
            let mut device = Device::restore(disk.snapshot(), Settings::default(), START_MS)
                .expect("a fresh store");
            device.handle_handler_set(true);
            device.handle_session_started(SESSION);
            disks.push(disk);
            devices.push(device);
        }
        Self {
            disks,
            devices,
            rng,
        }
    }

    fn pair(&mut self, joiner: usize) {
        let token = self.devices[0]
            .handle_start_pairing(START_MS, &mut self.rng)
            .expect("a window can be opened");
        self.devices[joiner]
            .handle_join(&token, START_MS)
            .expect("the token is another's");
        self.settle(joiner);
        let window = self.devices[0].pairing().window.expect("it is open");
        let request = window.requests.first().expect("the joiner asked").id;
        self.devices[0]
            .handle_accept(request, START_MS, &mut self.rng)
            .expect("the request is open");
        self.settle(0);
        self.devices[joiner].handle_confirm_words();
        self.settle(joiner);
    }

    fn settle(&mut self, first: usize) {
        let mut queue = VecDeque::from([first]);
        while let Some(index) = queue.pop_front() {
            let step = self.devices[index].drain(START_MS, &mut self.rng, &self.disks[index]);
            self.disks[index].commit(step.changes);
            for effect in step.effects {
                queue.extend(self.carry(index, effect));
            }
        }
    }

    fn carry(&mut self, index: usize, effect: Effect) -> Vec<usize> {
        match effect {
            Effect::Push(push) => {
                let stored = PushOutcome::Stored;
                self.devices[index].handle_push_outcome(push.id, stored, START_MS, &mut self.rng);
                let to = self
                    .devices
                    .iter()
                    .position(|device| device.keys().noise == push.recipient);
                let Some(to) = to else { return vec![index] };
                self.devices[to].handle_deliver(SESSION, push.id.0, push.envelope);
                vec![index, to]
            }
            Effect::ComputeWords(request) => {
                let words = ["one", "two", "three", "four"].map(str::to_owned);
                self.devices[index].handle_words(request.target, words);
                vec![index]
            }
            _ => Vec::new(),
        }
    }
}
