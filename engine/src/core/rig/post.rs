//! A post that loses nothing: it carries what devices push to each other until all is quiet,
//! answers every push with an Ack and every handler run with success.

use std::collections::VecDeque;

use super::{Rig, words};
use crate::core::event::Event;
use crate::core::step::{Effect, PushOutcome};

/// Devices that reach each other.
pub(crate) struct Post {
    pub(crate) rigs: Vec<Rig>,
    /// Everything told or raised, by device, in order.
    pub(crate) effects: Vec<Vec<Effect>>,
}

impl Post {
    /// Unpaired devices, each with a session up.
    pub(crate) fn new(count: usize) -> Self {
        let mut post = Self {
            rigs: Vec::new(),
            effects: Vec::new(),
        };
        for number in 0..count {
            let seed = u64::try_from(number).expect("a small number") + 1;
            let mut rig = Rig::new(seed, &format!("device {number}"));
            let effects = rig.connect();
            post.rigs.push(rig);
            post.effects.push(effects);
        }
        post
    }

    /// Devices in one group, admitted one after another by the first.
    pub(crate) fn group(count: usize) -> Self {
        let mut post = Self::new(count);
        for joiner in 1..count {
            post.pair(0, joiner);
            post.rigs[joiner].device.handle_confirm_words();
            post.settle(joiner);
        }
        post
    }

    /// Lets one device admit another.
    pub(crate) fn pair(&mut self, admitter: usize, joiner: usize) {
        let rig = &mut self.rigs[admitter];
        let token = rig
            .device
            .handle_start_pairing(rig.now_ms, &mut rig.rng)
            .expect("a window can be opened");
        let rig = &mut self.rigs[joiner];
        rig.device
            .handle_join(&token, rig.now_ms)
            .expect("the token is another's");
        self.settle(joiner);
        let window = self.rigs[admitter]
            .device
            .pairing()
            .window
            .expect("the window is open");
        let request = window.requests.first().expect("the joiner asked").id;
        let rig = &mut self.rigs[admitter];
        rig.device
            .handle_accept(request, rig.now_ms, &mut rig.rng)
            .expect("the request is open");
        self.settle(admitter);
    }

    /// Drains a device and carries everything on until all is quiet.
    pub(crate) fn settle(&mut self, index: usize) {
        let mut queue = VecDeque::from([index]);
        while let Some(index) = queue.pop_front() {
            let effects = self.rigs[index].drain();
            for effect in effects {
                queue.extend(self.carry(index, effect));
            }
        }
    }

    /// What one device told since the last call.
    pub(crate) fn take_events(&mut self, index: usize) -> Vec<Event> {
        std::mem::take(&mut self.effects[index])
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Tell(event) => Some(event),
                _ => None,
            })
            .collect()
    }

    /// Does what an effect asks for; returns the devices that have something to drain.
    fn carry(&mut self, index: usize, effect: Effect) -> Vec<usize> {
        match effect {
            Effect::Push(push) => {
                let rig = &mut self.rigs[index];
                rig.device.handle_push_outcome(
                    push.id,
                    PushOutcome::Stored,
                    rig.now_ms,
                    &mut rig.rng,
                );
                let recipient = self
                    .rigs
                    .iter()
                    .position(|rig| rig.noise() == push.recipient);
                if let Some(recipient) = recipient {
                    let rig = &mut self.rigs[recipient];
                    rig.device
                        .handle_deliver(rig.session, push.id.0, push.envelope);
                    return vec![index, recipient];
                }
                vec![index]
            }
            Effect::StartHandler { run, .. } => {
                let rig = &mut self.rigs[index];
                rig.device.handle_handler_outcome(run, Ok(()), rig.now_ms);
                vec![index]
            }
            Effect::ComputeWords(request) => {
                self.rigs[index]
                    .device
                    .handle_words(request.target, words());
                vec![index]
            }
            Effect::RestartIdentity => {
                let effects = self.rigs[index].connect();
                self.effects[index].extend(effects);
                vec![index]
            }
            other => {
                self.effects[index].push(other);
                Vec::new()
            }
        }
    }
}
