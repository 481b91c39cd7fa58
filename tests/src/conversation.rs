//! Two devices that talk through a relay while all three are killed again and again.
//!
//! Each device runs `tail --stdin`: it types its texts there and reads there what the other
//! one wrote. After a SIGKILL the device asks `messages` which of its lines were stored
//! before it went, types the rest, and reads on after the last position that it saw: just
//! what a script has to do that must neither lose nor repeat anything.
//!
//! When the kills come is drawn from the seed; what they meet is up to the machine.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore as _, SeedableRng as _};
use serde_json::Value;

use crate::delivery_account::{DeliveryAccount, Tally};
use crate::device_process::{Device, RunningCommand, pair};
use crate::program::target_folder;
use crate::relay_process::RelayProcess;

/// How long the last texts may take once all are queued and everything runs.
const PATIENCE: Duration = Duration::from_secs(40);
/// How long nothing more may come before the account is closed.
const QUIET: Duration = Duration::from_millis(500);
/// Lines typed ahead of what the device says it has stored.
const TYPED_AHEAD_MAX: usize = 4;
/// Texts that a device stores ahead of what the other one shows, so that the kills meet a
/// conversation and not a full outbox.
const AHEAD_MAX: usize = 40;
/// Between two looks at the devices; it also sets the pace of typing.
const TICK: Duration = Duration::from_millis(4);

/// What is to happen.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Decides when the kills come.
    pub seed: u64,
    /// Texts that each device sends.
    pub texts_each: usize,
    /// How often the relay is killed.
    pub relay_kills: usize,
    /// How often each device is killed.
    pub device_kills_each: usize,
    /// Texts that are shown between one kill and the next; 0 lets a kill meet a program that
    /// is still starting.
    pub shown_between_kills: usize,
    /// The longest time that a killed relay stays away.
    pub relay_away_max: Duration,
}

/// Who is killed.
#[derive(Clone, Copy, Debug)]
enum Kill {
    Relay,
    Device(usize),
}

/// One device of the two.
struct Speaker {
    name: &'static str,
    device: Device,
    tail: RunningCommand,
    texts: Vec<String>,
    /// Texts that the device was given to send since it last started, and before that stored.
    typed: usize,
    /// Texts that the device has stored for delivery.
    queued: usize,
    /// The last position that was read.
    position: u64,
    /// What the other one sent and this one showed.
    account: DeliveryAccount,
    last_shown: Instant,
    /// When the running program said that it is connected: then it also takes signals.
    connected: Option<Instant>,
}

/// The relay, the two devices and what is still to come.
struct Conversation<'a> {
    relay: RelayProcess,
    speakers: [Speaker; 2],
    /// Kills to come, the next one last, each with the number of queued texts it waits for.
    kills: Vec<(usize, Kill)>,
    relay_returns: Option<Instant>,
    /// How much had been shown at the last kill.
    shown_at_kill: usize,
    plan: Plan,
    rng: ChaCha20Rng,
    tell: &'a mut dyn FnMut(&str),
}

/// Runs the plan to its end and returns the account of both directions.
///
/// # Errors
///
/// When a program fails otherwise than by being killed, or the texts don't come in time.
pub fn run(plan: &Plan, tell: &mut dyn FnMut(&str)) -> anyhow::Result<Tally> {
    let mut conversation = Conversation::start(plan, tell)?;
    let outcome = conversation.go_on().and_then(|()| conversation.close());
    if outcome.is_err() {
        conversation.keep_logs()?;
    }
    outcome
}

impl<'a> Conversation<'a> {
    fn start(plan: &Plan, tell: &'a mut dyn FnMut(&str)) -> anyhow::Result<Self> {
        let relay = RelayProcess::start()?;
        let address = relay.address()?;
        tell("a relay runs");
        let host = Device::new("amber", "Amber")?;
        let guest = Device::new("birch", "Birch")?;
        pair(&host, &guest, "Trees", &address)?;
        tell("Amber invited Birch, both saw the same four words");
        let mut rng = ChaCha20Rng::seed_from_u64(plan.seed);
        let kills = schedule(plan, &mut rng);
        let speakers = [
            Speaker::start("Amber", host, plan.texts_each)?,
            Speaker::start("Birch", guest, plan.texts_each)?,
        ];
        Ok(Self {
            relay,
            speakers,
            kills,
            relay_returns: None,
            shown_at_kill: 0,
            plan: *plan,
            rng,
            tell,
        })
    }

    fn go_on(&mut self) -> anyhow::Result<()> {
        let mut deadline = Instant::now() + PATIENCE;
        while !self.is_over() {
            self.listen_and_speak()?;
            self.kill_when_due()?;
            self.bring_relay_back()?;
            if self.queued() < self.total() {
                deadline = Instant::now() + PATIENCE;
            } else if Instant::now() >= deadline {
                bail!(
                    "after {PATIENCE:?} not everything was shown: {}",
                    self.tally()
                );
            }
            std::thread::sleep(TICK);
        }
        Ok(())
    }

    fn listen_and_speak(&mut self) -> anyhow::Result<()> {
        for speaker in &mut self.speakers {
            speaker.listen()?;
        }
        let shown = [&self.speakers[1], &self.speakers[0]].map(|other| other.account.shown_count());
        for (speaker, shown) in self.speakers.iter_mut().zip(shown) {
            if speaker.queued < shown + AHEAD_MAX {
                speaker.speak()?;
            }
        }
        Ok(())
    }

    /// Ends the devices and checks that their stores say what they showed.
    fn close(&mut self) -> anyhow::Result<Tally> {
        for speaker in &mut self.speakers {
            let status = speaker.tail.terminate()?;
            speaker.listen_to_the_end()?;
            ensure!(status.success(), "{} ended badly: {status}", speaker.name);
            speaker.compare_with_store()?;
        }
        self.relay.stop()?;
        Ok(self.tally())
    }

    /// Keeps what the programs logged, for whoever has to find out what went wrong.
    fn keep_logs(&mut self) -> anyhow::Result<()> {
        let folder = target_folder()?.join("conversation");
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("relay.log"), self.relay.log()?)?;
        for speaker in &mut self.speakers {
            let log = speaker.device.log()? + &speaker.tail.logged()?;
            std::fs::write(folder.join(speaker.name).with_extension("log"), log)?;
        }
        (self.tell)(&format!("the logs are in {}", folder.display()));
        Ok(())
    }

    fn tally(&self) -> Tally {
        self.speakers
            .iter()
            .map(|speaker| speaker.account.tally())
            .sum()
    }

    fn total(&self) -> usize {
        self.speakers
            .iter()
            .map(|speaker| speaker.texts.len())
            .sum()
    }

    fn queued(&self) -> usize {
        self.speakers.iter().map(|speaker| speaker.queued).sum()
    }

    fn shown(&self) -> usize {
        self.speakers
            .iter()
            .map(|speaker| speaker.account.shown_count())
            .sum()
    }

    fn progress(&self) -> String {
        format!("{:3} queued, {:3} shown", self.queued(), self.shown())
    }

    fn is_over(&self) -> bool {
        let all_shown = self.shown() >= self.total() && self.kills.is_empty();
        all_shown && self.speakers.iter().all(|speaker| speaker.is_quiet())
    }

    fn kill_when_due(&mut self) -> anyhow::Result<()> {
        let Some(&(queued, kill)) = self.kills.last() else {
            return Ok(());
        };
        let shown_first = self.shown_at_kill + self.plan.shown_between_kills;
        let is_due = self.queued() >= queued && self.shown() >= shown_first.min(self.total());
        if !is_due || self.relay_returns.is_some() {
            return Ok(());
        }
        self.kills.pop();
        self.shown_at_kill = self.shown();
        let progress = self.progress();
        match kill {
            Kill::Relay => {
                self.relay.kill();
                let most_ms = u64::try_from(self.plan.relay_away_max.as_millis())?.max(2);
                let pause_ms = most_ms / 2 + u64::from(self.rng.next_u32()) % (most_ms / 2);
                self.relay_returns = Some(Instant::now() + Duration::from_millis(pause_ms));
                (self.tell)(&format!("{progress}: killed the relay for {pause_ms} ms"));
            }
            Kill::Device(index) => {
                let speaker = self.speakers.get_mut(index).context("no such device")?;
                let (typed, stored) = speaker.kill_and_resume()?;
                let name = speaker.name;
                (self.tell)(&format!(
                    "{progress}: killed {name}, which had stored {stored} of {typed} lines"
                ));
            }
        }
        Ok(())
    }

    fn bring_relay_back(&mut self) -> anyhow::Result<()> {
        if self.relay_returns.is_some_and(|at| Instant::now() >= at) {
            self.relay_returns = None;
            self.relay.resume()?;
            let progress = self.progress();
            (self.tell)(&format!("{progress}: the relay is back"));
        }
        Ok(())
    }
}

impl Speaker {
    fn start(name: &'static str, device: Device, texts: usize) -> anyhow::Result<Self> {
        let other = if name == "Amber" { "Birch" } else { "Amber" };
        let mut account = DeliveryAccount::default();
        for text in texts_of(other, texts) {
            account.sent(text);
        }
        Ok(Self {
            name,
            tail: start_tail(&device, 0)?,
            device,
            texts: texts_of(name, texts).collect(),
            typed: 0,
            queued: 0,
            position: 0,
            account,
            last_shown: Instant::now(),
            connected: None,
        })
    }

    /// Whether the program runs and nothing more comes.
    fn is_quiet(&self) -> bool {
        let is_up = self.connected.is_some_and(|at| at.elapsed() > QUIET);
        is_up && self.last_shown.elapsed() > QUIET
    }

    /// Takes in what the device has said.
    fn listen(&mut self) -> anyhow::Result<()> {
        while let Some(object) = self.tail.next_now()? {
            self.take_in(&object)?;
        }
        Ok(())
    }

    /// Takes in the rest of what a device said that has ended.
    fn listen_to_the_end(&mut self) -> anyhow::Result<()> {
        while let Some(object) = self.tail.next(PATIENCE)? {
            self.take_in(&object)?;
        }
        Ok(())
    }

    fn take_in(&mut self, object: &Value) -> anyhow::Result<()> {
        if object["type"] == "connection" && object["state"] == "connected" {
            self.connected = Some(Instant::now());
        }
        if object["type"] == "queued" {
            self.queued += 1;
        }
        if object["type"] != "message" {
            return Ok(());
        }
        let position = object["position"]
            .as_u64()
            .context("a message has no position")?;
        ensure!(
            position > self.position,
            "{}: positions went back",
            self.name
        );
        self.position = position;
        if object["own"] == false {
            let text = object["text"].as_str().context("a message has no text")?;
            self.account.shown(text);
            self.last_shown = Instant::now();
        }
        Ok(())
    }

    /// Types the next line, unless the device is behind or all are typed.
    fn speak(&mut self) -> anyhow::Result<()> {
        if self.typed < self.texts.len() && self.typed < self.queued + TYPED_AHEAD_MAX {
            self.tail.type_line(&self.texts[self.typed])?;
            self.typed += 1;
        }
        Ok(())
    }

    /// Kills the device and starts it again; returns how many lines it had and had stored.
    fn kill_and_resume(&mut self) -> anyhow::Result<(usize, usize)> {
        self.tail.kill();
        self.listen_to_the_end()?;
        let typed = self.typed;
        let stored = self.stored_texts(true)?;
        let expected = self.texts.get(..stored.len()).unwrap_or_default();
        ensure!(
            stored == expected,
            "{} stored other texts than it was given",
            self.name
        );
        ensure!(
            stored.len() >= self.queued,
            "{} lost a text that it had queued",
            self.name
        );
        self.typed = stored.len();
        self.queued = stored.len();
        self.tail = start_tail(&self.device, self.position)?;
        self.connected = None;
        Ok((typed, stored.len()))
    }

    /// The texts in the store, own ones or those of the other device.
    fn stored_texts(&self, own: bool) -> anyhow::Result<Vec<String>> {
        let messages = self.device.run_well(&["messages"])?;
        messages
            .iter()
            .filter(|message| message["own"] == own)
            .map(|message| Ok(message["text"].as_str().context("no text")?.to_owned()))
            .collect()
    }

    /// What was shown over all lives of the program must be what the store holds.
    fn compare_with_store(&self) -> anyhow::Result<()> {
        let stored = self.stored_texts(false)?;
        ensure!(
            stored == self.account.all_shown(),
            "{}: shown and stored differ",
            self.name
        );
        ensure!(
            self.stored_texts(true)? == self.texts,
            "{}: own texts differ",
            self.name
        );
        Ok(())
    }
}

fn start_tail(device: &Device, after: u64) -> anyhow::Result<RunningCommand> {
    device.start(&["tail", "--stdin", "--after", &after.to_string()])
}

fn texts_of(name: &str, count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |number| format!("{name} says {number}"))
}

/// Draws when who is killed, between a tenth and nine tenths of the way.
fn schedule(plan: &Plan, rng: &mut ChaCha20Rng) -> Vec<(usize, Kill)> {
    let total = 2 * plan.texts_each;
    let (first, span) = (total / 10, (total * 8 / 10).max(1));
    let relay = std::iter::repeat_n(Kill::Relay, plan.relay_kills);
    let devices = [Kill::Device(0), Kill::Device(1)];
    let devices = devices
        .into_iter()
        .flat_map(|kill| std::iter::repeat_n(kill, plan.device_kills_each));
    let mut kills: Vec<_> = relay
        .chain(devices)
        .map(|kill| (first + rng.next_u32() as usize % span, kill))
        .collect();
    kills.sort_by_key(|(queued, _)| std::cmp::Reverse(*queued));
    kills
}
