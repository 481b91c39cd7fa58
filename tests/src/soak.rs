//! Many devices push to many others through one relay that is killed again and again.
//!
//! Owns: the load and the kills. What counts as a fault is said in [`crate::stream_account`].
//! Every decision comes from the seed, each actor with a stream of its own, so that a seed
//! repeats the plan; what the kills meet still depends on the machine.
//!
//! Senders keep several pushes unanswered, over changing recipients, and push again in the
//! same order what wasn't answered when a connection ended. Receivers read at once or late,
//! acknowledge all, some or nothing of a session, and come back. In the end no more is sent,
//! everything is acknowledged, and a new session of each device must find its inbox empty.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore as _, SeedableRng as _};
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::frame::Frame;
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::relay_process::{LIMITS_OFF, RelayProcess};
use crate::relay_session::RelaySession;
use crate::stream_account::{StreamAccount, StreamId, StreamTally};

/// Devices that push, and devices that receive.
const SENDERS: u32 = 12;
const RECIPIENTS: u32 = 24;
/// Pushes that a sender keeps unanswered.
const UNANSWERED_MAX: usize = 24;
/// Blobs that may be acknowledged and not yet delivered before senders pause.
const BACKLOG_MAX: u64 = 20_000;
/// The longest that everything may take to arrive once nothing more is sent.
const DRAIN_MAX: Duration = Duration::from_secs(60);
/// A silence in which a receiver asks whether something still waits.
const SILENCE: Duration = Duration::from_millis(500);
/// The pause before a lost connection is opened again.
const RETRY: Duration = Duration::from_millis(20);
/// Bytes of an Envelope before its filling: sender, recipient, number.
const HEAD_BYTES: usize = 16;

/// What is to happen.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// How long the devices send and the relay is killed.
    pub time: Duration,
    /// The shortest and the longest time between two kills.
    pub between_kills: [Duration; 2],
}

/// How far the soak is.
const LOAD: u8 = 0;
/// Nothing new is sent.
const LAST_ANSWERS: u8 = 1;
/// Everything sent is acknowledged by the relay.
const DRAIN: u8 = 2;

/// What all devices share.
struct Shared {
    account: Mutex<StreamAccount>,
    phase: AtomicU8,
    relay: NoisePublic,
    receive_port: u16,
    push_port: u16,
    seed: u64,
}

impl Shared {
    fn account(&self) -> MutexGuard<'_, StreamAccount> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_before(&self, phase: u8) -> bool {
        self.phase.load(Ordering::Acquire) < phase
    }

    fn rng(&self, actor: u32) -> ChaCha20Rng {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        rng.set_stream(actor.into());
        rng
    }
}

/// Runs the plan to its end and returns the account.
///
/// # Errors
///
/// When the relay can't be started, refuses a push, or its inboxes don't get empty.
pub fn run(plan: &Plan, tell: &mut dyn FnMut(&str)) -> anyhow::Result<StreamTally> {
    let mut relay = RelayProcess::start_with(&LIMITS_OFF)?;
    let address = RelayAddress::parse(&relay.address()?).context("the relay's address")?;
    let shared = Arc::new(Shared {
        account: Mutex::default(),
        phase: AtomicU8::new(LOAD),
        relay: *address.public_key(),
        receive_port: address.receive_port(),
        push_port: address.push_port(),
        seed: plan.seed,
    });
    let runtime = Runtime::new()?;
    let (mut senders, mut receivers) = (JoinSet::new(), JoinSet::new());
    for number in 0..SENDERS {
        senders.spawn_on(send(Arc::clone(&shared), number), runtime.handle());
    }
    for number in 0..RECIPIENTS {
        receivers.spawn_on(receive(Arc::clone(&shared), number), runtime.handle());
    }
    tell(&format!("{SENDERS} senders, {RECIPIENTS} recipients"));
    kill_again_and_again(plan, &mut relay, &shared, tell)?;
    shared.phase.store(LAST_ANSWERS, Ordering::Release);
    runtime.block_on(all(&mut senders)).context("senders")?;
    shared.phase.store(DRAIN, Ordering::Release);
    tell("everything sent is acknowledged");
    let drained = runtime.block_on(all(&mut receivers));
    let tally = shared.account().tally();
    // What is missing by then is in the account.
    if tally.is_exact() {
        drained.context("receivers")?;
        relay.stop()?;
    }
    Ok(tally)
}

async fn all(devices: &mut JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
    let joined = async {
        while let Some(device) = devices.join_next().await {
            device??;
        }
        Ok(())
    };
    timeout(DRAIN_MAX, joined).await.context("not in time")?
}

fn kill_again_and_again(
    plan: &Plan,
    relay: &mut RelayProcess,
    shared: &Shared,
    tell: &mut dyn FnMut(&str),
) -> anyhow::Result<()> {
    let mut rng = shared.rng(SENDERS + RECIPIENTS);
    let end = Instant::now() + plan.time;
    let [shortest, longest] = plan.between_kills;
    let mut kills = 0;
    loop {
        let pause = shortest + longest.saturating_sub(shortest).mul_f64(share(&mut rng));
        let rest = end.saturating_duration_since(Instant::now());
        std::thread::sleep(pause.min(rest));
        if pause >= rest {
            break;
        }
        relay.kill();
        std::thread::sleep(Duration::from_millis(u64::from(rng.next_u32() % 200)));
        relay.resume()?;
        kills += 1;
        let (deliveries, acknowledged) = shared.account().progress();
        tell(&format!(
            "kill {kills}: {acknowledged} acknowledged, {deliveries} deliveries"
        ));
    }
    ensure!(kills > 0, "the relay was never killed");
    Ok(())
}

/// A number from 0 to 1.
fn share(rng: &mut ChaCha20Rng) -> f64 {
    f64::from(rng.next_u32()) / f64::from(u32::MAX)
}

/// True once in `times`.
fn once_in(rng: &mut ChaCha20Rng, times: u32) -> bool {
    rng.next_u32().is_multiple_of(times)
}

/// Pushes until the load is over and all of it is acknowledged.
async fn send(shared: Arc<Shared>, number: u32) -> anyhow::Result<()> {
    let mut rng = shared.rng(number);
    let mut unanswered = VecDeque::new();
    while shared.is_before(LAST_ANSWERS) || !unanswered.is_empty() {
        let Ok(mut session) = RelaySession::push(shared.push_port, shared.relay).await else {
            sleep(RETRY).await;
            continue;
        };
        let pushed = push(&shared, number, &mut rng, &mut session, &mut unanswered).await;
        if let Err(error) = pushed {
            // A refusal isn't of the connection: the load stays below every limit.
            ensure!(
                error.kind() != io::ErrorKind::QuotaExceeded,
                "a push was refused: {error}"
            );
        }
    }
    Ok(())
}

/// One session: first what wasn't answered, then new blobs.
async fn push(
    shared: &Shared,
    number: u32,
    rng: &mut ChaCha20Rng,
    session: &mut RelaySession,
    unanswered: &mut VecDeque<(StreamId, u64)>,
) -> io::Result<()> {
    for (id, blob) in unanswered.iter() {
        say_push(session, *id, *blob).await?;
    }
    loop {
        let is_loading = shared.is_before(LAST_ANSWERS);
        while is_loading && unanswered.len() < UNANSWERED_MAX {
            let recipient = rng.next_u32() % RECIPIENTS;
            let id = StreamId {
                sender: number,
                recipient,
            };
            let blob = shared.account().send(id);
            unanswered.push_back((id, blob));
            say_push(session, id, blob).await?;
        }
        let Some((id, blob)) = unanswered.front().copied() else {
            return Ok(());
        };
        match Frame::decode(&session.hear().await?).map_err(io::Error::other)? {
            Frame::Ack => {}
            Frame::Error(refusal) => {
                let text = format!("{refusal:?}");
                return Err(io::Error::new(io::ErrorKind::QuotaExceeded, text));
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        shared.account().acknowledge(id, blob);
        unanswered.pop_front();
        if is_loading && once_in(rng, 500) {
            // Hangs up with pushes unanswered, as a device that loses its network.
            return Ok(());
        }
        while is_loading && is_behind(shared) && shared.is_before(LAST_ANSWERS) {
            sleep(RETRY).await;
        }
    }
}

fn is_behind(shared: &Shared) -> bool {
    let (deliveries, acknowledged) = shared.account().progress();
    acknowledged.saturating_sub(deliveries) > BACKLOG_MAX
}

async fn say_push(session: &mut RelaySession, id: StreamId, blob: u64) -> io::Result<()> {
    let (recipient, envelope) = (device(id.recipient).public(), envelope(id, blob));
    let envelope = &envelope;
    session
        .say(&Frame::Push {
            recipient,
            envelope,
        })
        .await
}

/// Receives until everything is drained.
async fn receive(shared: Arc<Shared>, number: u32) -> anyhow::Result<()> {
    let (mut rng, secret) = (shared.rng(SENDERS + number), device(number));
    loop {
        let session = RelaySession::receive(shared.receive_port, shared.relay, &secret).await;
        let Ok(mut session) = session else {
            sleep(RETRY).await;
            continue;
        };
        // Whether everything was there before this session began, so that its silence is final.
        let is_last = !shared.is_before(DRAIN);
        if matches!(take(&shared, number, &mut rng, &mut session).await, Ok(0)) && is_last {
            return Ok(());
        }
    }
}

/// How a receiver behaves in one session.
struct Manner {
    /// Acknowledges all but one in so many; nothing at all where this is 1.
    forgets_one_in: u32,
    /// Sleeps after one in so many deliveries.
    dozes_one_in: u32,
    /// Hangs up after one in so many deliveries.
    leaves_one_in: u32,
}

impl Manner {
    fn any(rng: &mut ChaCha20Rng) -> Self {
        let forgets_one_in = match rng.next_u32() % 6 {
            0 => 1,
            1 => 5,
            _ => 1_000,
        };
        Self {
            forgets_one_in,
            dozes_one_in: 50 + rng.next_u32() % 500,
            leaves_one_in: if forgets_one_in == 1 { 50 } else { 400 },
        }
    }
}

/// One session. Returns the number of deliveries once the relay has said that no more wait.
async fn take(
    shared: &Shared,
    number: u32,
    rng: &mut ChaCha20Rng,
    session: &mut RelaySession,
) -> io::Result<u64> {
    let manner = Manner::any(rng);
    let mut deliveries = 0;
    loop {
        let frame = match timeout(SILENCE, session.hear()).await {
            Ok(frame) => frame?,
            Err(_) => {
                session.say(&Frame::Heartbeat).await?;
                session.hear().await?
            }
        };
        let Frame::Deliver { blob_id, envelope } =
            Frame::decode(&frame).map_err(io::Error::other)?
        else {
            return Ok(deliveries);
        };
        deliveries += 1;
        note(shared, number, envelope);
        let is_loading = shared.is_before(DRAIN);
        if !is_loading || !once_in(rng, manner.forgets_one_in) {
            session.say(&Frame::DeliverAck { blob_id }).await?;
        }
        if is_loading && once_in(rng, manner.dozes_one_in) {
            sleep(Duration::from_millis(u64::from(rng.next_u32() % 100))).await;
        }
        if is_loading && once_in(rng, manner.leaves_one_in) {
            return Ok(deliveries);
        }
    }
}

fn note(shared: &Shared, number: u32, bytes: &[u8]) {
    let mut account = shared.account();
    match read_envelope(bytes) {
        Some((id, blob)) if id.recipient == number && bytes == envelope(id, blob) => {
            account.deliver(id, blob);
        }
        _ => account.deliver_foreign(),
    }
}

fn device(recipient: u32) -> NoiseSecret {
    let mut bytes = [0x5e; 32];
    for (place, byte) in bytes.iter_mut().zip(recipient.to_be_bytes()) {
        *place = byte;
    }
    NoiseSecret::from_bytes(bytes)
}

/// The Envelope of a blob: who, for whom, which, and a filling that follows from them. Most
/// are short, some as long as they may be.
fn envelope(id: StreamId, blob: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    bytes.extend_from_slice(&id.sender.to_be_bytes());
    bytes.extend_from_slice(&id.recipient.to_be_bytes());
    bytes.extend_from_slice(&blob.to_be_bytes());
    let length = match blob % 50 {
        0 => 60_000,
        rest if rest % 10 == 0 => 4_096,
        rest => HEAD_BYTES + usize::try_from(rest * 8).unwrap_or(0),
    };
    let filling = u8::try_from((blob + u64::from(id.sender)) % 251).unwrap_or(0);
    bytes.resize(length, filling);
    bytes
}

fn read_envelope(bytes: &[u8]) -> Option<(StreamId, u64)> {
    let (sender, rest) = bytes.split_first_chunk()?;
    let (recipient, rest) = rest.split_first_chunk()?;
    let (blob, _) = rest.split_first_chunk()?;
    let id = StreamId {
        sender: u32::from_be_bytes(*sender),
        recipient: u32::from_be_bytes(*recipient),
    };
    Some((id, u64::from_be_bytes(*blob)))
}
