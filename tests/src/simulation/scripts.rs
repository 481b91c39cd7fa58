//! What a kind of history does that no other does: upgrades, restored and copied stores,
//! floods, ages and lives to the millisecond, the end of the group.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore as _, SeedableRng as _};
use sealpost_engine::core::status::Status;
use sealpost_protocol::limit::{OUTBOX_LIFE_MS, RELAY_LIFE_MS_MAX, REPLAY_WINDOW_MS};

use super::events::{digest_of, set_version};
use super::model::Verdict;
use super::mutation::Mutation;
use super::node::{Backup, Node};
use super::plan::Faults;
use super::world::{DAY_MS, HOUR_MS, World};

impl World {
    /// The device's program is replaced by one that speaks the newer version.
    pub(super) fn upgrade(&mut self, index: usize) -> Verdict {
        let node = &self.nodes[index];
        if node.version == 2 {
            return Ok(());
        }
        // It reads the same bytes; here they stand for them with the version turned back.
        let mut names = Vec::new();
        for (_, mut envelope) in self.relay.waiting(node.noise, self.now_ms) {
            let held = digest_of(&envelope);
            set_version(&mut envelope, 1);
            names.push((held, digest_of(&envelope)));
        }
        let node = &mut self.nodes[index];
        node.version = 2;
        for (held, read) in names {
            if let Some(mut row) = node.disk.held.remove(&held) {
                row.digest = read;
                node.disk.held.insert(read, row);
            }
        }
        self.crash(index)
    }

    /// Keeps a copy of a store, or puts the one that is kept back in its place.
    pub(super) fn back_up_or_rewind(&mut self, index: usize) -> Verdict {
        let Some(backup) = self.nodes[index].backup.take() else {
            let shown = self.model.shown_to(index);
            let place = self.model.place();
            let node = &mut self.nodes[index];
            node.sent_at_ms.clear();
            node.backup = Some(Backup {
                disk: node.disk.clone(),
                markers: node.markers.clone(),
                shown,
                place,
            });
            return Ok(());
        };
        self.note(|| format!("{index} is restored"));
        // That takes a while: a clock never shows the same millisecond again.
        let ms = 1 + self.below(60_000) as u64;
        self.wait(ms)?;
        self.model.rewind(index, &backup.shown, backup.place);
        let node = &mut self.nodes[index];
        node.disk = backup.disk;
        node.markers = backup.markers;
        node.synced = None;
        self.crash(index)?;
        if self.is(Mutation::SequenceReusedAfterRestore) {
            let node = &mut self.nodes[index];
            node.reused_ms = std::mem::take(&mut node.sent_at_ms);
        }
        Ok(())
    }

    /// A device that isn't upgraded gets more newer blobs than it may hold.
    pub(super) fn flood(&mut self) -> Verdict {
        let faults = std::mem::replace(&mut self.faults, Faults::NONE);
        self.upgrade(0)?;
        self.connect(0)?;
        for _ in 0..100 + self.below(8) {
            self.send(0)?;
            self.answer(0)?;
            self.deliver(1)?;
        }
        self.faults = faults;
        Ok(())
    }

    /// Messages that wait with their sender, then on the relay, and are read by a clock that
    /// makes them about as old as the Replay Window.
    pub(super) fn age(&mut self) -> Verdict {
        let on_relay_ms = 29 * DAY_MS;
        let in_outbox_ms = self.below(29 * 24) as u64 * HOUR_MS;
        let off_hours = self.below(90) as i64 - 45;
        let age_ms = REPLAY_WINDOW_MS.saturating_add_signed(off_hours * HOUR_MS.cast_signed());
        let skew_ms = age_ms - on_relay_ms - in_outbox_ms;
        self.nodes[0].skew_ms = self.nodes[1].skew_ms - skew_ms.cast_signed();
        let faults = std::mem::replace(&mut self.faults, Faults::NONE);
        self.nodes[1].is_cut = true;
        self.cut(1)?;
        self.nodes[0].is_cut = true;
        self.cut(0)?;
        for _ in 0..3 {
            self.send(0)?;
        }
        self.answer(0)?;
        self.wait(in_outbox_ms)?;
        self.nodes[0].is_cut = false;
        self.connect(0)?;
        for _ in 0..12 {
            self.answer(0)?;
            self.wait(100)?;
        }
        self.wait(on_relay_ms)?;
        self.nodes[1].is_cut = false;
        self.connect(1)?;
        for _ in 0..6 {
            self.deliver(1)?;
            self.finish_handler(1)?;
        }
        self.faults = faults;
        Ok(())
    }

    /// The group ends while the relay is away for longer than an outbox keeps messages.
    pub(super) fn destroy(&mut self) -> Verdict {
        self.is_ending = true;
        for index in 0..self.nodes.len() {
            self.nodes[index].is_cut = true;
            self.cut(index)?;
        }
        let clock_ms = self.clock(0);
        self.nodes[0]
            .device
            .handle_destroy(clock_ms)
            .map_err(|error| format!("destroy fails: {error}"))?;
        self.step(0)?;
        self.answer(0)?;
        self.wait(DAY_MS * 40)?;
        self.crash(0)?;
        self.settle()?;
        if self
            .nodes
            .iter()
            .any(|node| node.device.status() != Status::NotJoined)
        {
            return Err("a destroyed group goes on at one of its devices".to_owned());
        }
        Ok(())
    }

    /// A device's profile is copied, and both go on; once in a history.
    pub(super) fn copy(&mut self, index: usize) -> Verdict {
        if self.nodes.len() > self.plan.devices {
            return Ok(());
        }
        self.note(|| format!("{index} is copied"));
        self.model.copy(index);
        let own = ChaCha8Rng::seed_from_u64(self.rng.next_u64());
        let original = &self.nodes[index];
        let (disk, skew_ms) = (original.disk.clone(), original.skew_ms);
        let (markers, version) = (original.markers.clone(), original.version);
        let mut copy = Node::new(index, disk, own, skew_ms, self.now_ms);
        copy.version = version;
        copy.markers.extend(markers);
        copy.begin_run(true);
        self.nodes.push(copy);
        self.connect(self.nodes.len() - 1)
    }

    /// Messages that reach the end of a life to the millisecond, and those beside them.
    pub(super) fn live_to_the_edge(&mut self) -> Verdict {
        let faults = std::mem::replace(&mut self.faults, Faults::NONE);
        let beside = |world: &mut Self| world.below(3) as i64 - 1;
        for index in 0..2 {
            self.nodes[index].is_cut = true;
            self.cut(index)?;
        }
        for _ in 0..3 {
            self.send(0)?;
            self.wait(1)?;
        }
        // One of the three is met, the others are within their bounds.
        let edge = self.below(3);
        let in_outbox_ms = match edge {
            0 => (OUTBOX_LIFE_MS - 3).saturating_add_signed(beside(self)),
            _ => OUTBOX_LIFE_MS / 2,
        };
        // A part of the wait, so that the hourly sweep falls on either side.
        let sweep_ms = self.below(7_200_000) as u64;
        self.wait(in_outbox_ms - sweep_ms)?;
        self.wait(sweep_ms)?;
        self.nodes[0].is_cut = false;
        self.connect(0)?;
        for _ in 0..4 {
            self.answer(0)?;
        }
        // The relay counts in seconds.
        let on_relay_ms = match edge {
            1 => RELAY_LIFE_MS_MAX.saturating_add_signed(beside(self) * 1_000),
            _ => RELAY_LIFE_MS_MAX - DAY_MS,
        };
        self.wait(on_relay_ms)?;
        let age_ms = match edge {
            2 => REPLAY_WINDOW_MS.saturating_add_signed(beside(self)),
            _ => REPLAY_WINDOW_MS - DAY_MS,
        };
        let lived_ms = in_outbox_ms + 3 + on_relay_ms;
        let behind_ms = age_ms.cast_signed() - lived_ms.cast_signed();
        self.nodes[1].skew_ms = self.nodes[0].skew_ms + behind_ms;
        self.nodes[1].is_cut = false;
        self.connect(1)?;
        for _ in 0..4 {
            self.deliver(1)?;
            self.finish_handler(1)?;
        }
        self.faults = faults;
        Ok(())
    }
}
