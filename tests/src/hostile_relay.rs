//! A relay that does with blobs what its owner likes, over real sockets and real Noise.
//!
//! It speaks both doors well enough for the engine to trust the connection, and from there
//! on it obeys the test: keeps what is pushed, and delivers, acknowledges or breaks what it
//! is told to. It never opens an envelope, as no relay can.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::channel::{
    ExpectPushHello, ExpectReceiveHello, Opener, PUSH_HELLO_BYTES, RECEIVE_FINISH_BYTES,
    RECEIVE_HELLO_BYTES, Sealer,
};
use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::key::{NoisePublic, NoiseSecret};
use sealpost_protocol::version::PREFIX;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// What a push is answered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// An Ack, as from an honest relay.
    #[default]
    Ack,
    /// Two Acks for one push.
    TwoAcks,
    /// An Ack for a push that is thrown away.
    AckAndDrop,
    /// A refusal.
    Refuse(Refusal),
    /// The end of the connection.
    HangUp,
    /// An Ack before anything is pushed, and none for the push, which is thrown away.
    AckBeforehand,
    /// A frame that only devices get.
    WrongFrame,
    /// A record that can't be opened.
    Garbage,
    /// The first half of an Ack, and the end of the connection.
    HalfAnAck,
    /// A record of no bytes.
    EmptyRecord,
}

/// Something that only looks like a part of a Receive Session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// Frames that only devices send, and a refusal of nothing.
    WrongFrames,
    /// A record of 65,535 bytes that can't be opened.
    Garbage,
    /// The length of the greatest record, a few bytes of it and then nothing.
    LengthWithoutBytes,
    /// The first half of a delivery, and the end of the connection.
    HalfADelivery,
    /// A record of no bytes.
    EmptyRecord,
    /// A delivery of nothing.
    EmptyDelivery,
}

/// Something to send to a device.
enum Order {
    Deliver(u64, Vec<u8>),
    Disturb(Disturbance),
}

#[derive(Default)]
struct State {
    answer: Answer,
    forwards: bool,
    last_blob: u64,
    /// Everything that was pushed, in that order.
    pushed: Vec<(NoisePublic, Vec<u8>)>,
    acknowledged: Vec<u64>,
    forgets_acknowledgements: bool,
    waiting: BTreeMap<NoisePublic, Vec<(u64, Vec<u8>)>>,
    devices: BTreeMap<NoisePublic, UnboundedSender<Order>>,
    sessions: usize,
}

/// See the module.
pub struct HostileRelay {
    key: NoiseSecret,
    ports: (u16, u16),
    state: Arc<Mutex<State>>,
}

impl HostileRelay {
    /// Starts one that forwards honestly until it is told otherwise.
    ///
    /// # Errors
    ///
    /// If it can't listen.
    pub async fn start() -> anyhow::Result<Self> {
        let key = NoiseSecret::generate(&mut OsRng);
        let state = Arc::new(Mutex::new(State {
            forwards: true,
            ..State::default()
        }));
        let receive = TcpListener::bind("127.0.0.1:0").await?;
        let push = TcpListener::bind("127.0.0.1:0").await?;
        let ports = (receive.local_addr()?.port(), push.local_addr()?.port());
        let (of_receive, of_push) = ((key.clone(), state.clone()), (key.clone(), state.clone()));
        tokio::spawn(async move {
            while let Ok((stream, _)) = receive.accept().await {
                tokio::spawn(serve_receive(
                    stream,
                    of_receive.0.clone(),
                    of_receive.1.clone(),
                ));
            }
        });
        tokio::spawn(async move {
            while let Ok((stream, _)) = push.accept().await {
                tokio::spawn(serve_push(stream, of_push.0.clone(), of_push.1.clone()));
            }
        });
        Ok(Self { key, ports, state })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// Never in practice.
    pub fn address(&self) -> anyhow::Result<RelayAddress> {
        RelayAddress::new(self.key.public(), "127.0.0.1", self.ports.0, self.ports.1)
            .context("an address")
    }

    /// Answers pushes like this from now on.
    pub fn answer_with(&self, answer: Answer) {
        lock(&self.state).answer = answer;
    }

    /// Whether what is pushed from now on reaches its recipient by itself.
    pub fn forward(&self, forwards: bool) {
        lock(&self.state).forwards = forwards;
    }

    /// Everything that was pushed so far.
    #[must_use]
    pub fn pushed(&self) -> Vec<(NoisePublic, Vec<u8>)> {
        lock(&self.state).pushed.clone()
    }

    /// The numbers of the blobs that devices acknowledged.
    #[must_use]
    pub fn acknowledged(&self) -> Vec<u64> {
        lock(&self.state).acknowledged.clone()
    }

    /// How many Receive Sessions there were.
    #[must_use]
    pub fn sessions(&self) -> usize {
        lock(&self.state).sessions
    }

    /// Hands a device an envelope, whoever it was for; returns the blob's number.
    #[must_use]
    pub fn deliver(&self, device: NoisePublic, envelope: Vec<u8>) -> u64 {
        lock(&self.state).deliver(device, envelope)
    }

    /// Hands a device an envelope under a number of one's own.
    pub fn deliver_as(&self, device: NoisePublic, blob: u64, envelope: Vec<u8>) {
        lock(&self.state).deliver_as(device, blob, envelope);
    }

    /// Whether what is acknowledged stays, and is delivered in every session.
    pub fn forget_acknowledgements(&self, forgets: bool) {
        lock(&self.state).forgets_acknowledgements = forgets;
    }

    /// Sends a device what has no place in its session.
    pub fn disturb(&self, device: NoisePublic, disturbance: Disturbance) {
        lock(&self.state).order(device, Order::Disturb(disturbance));
    }
}

impl State {
    fn order(&mut self, device: NoisePublic, order: Order) {
        if let Some(orders) = self.devices.get(&device) {
            // A device that is gone takes no orders.
            let _ = orders.send(order);
        }
    }

    fn deliver(&mut self, device: NoisePublic, envelope: Vec<u8>) -> u64 {
        self.last_blob += 1;
        self.deliver_as(device, self.last_blob, envelope);
        self.last_blob
    }

    fn deliver_as(&mut self, device: NoisePublic, blob: u64, envelope: Vec<u8>) {
        self.waiting
            .entry(device)
            .or_default()
            .push((blob, envelope.clone()));
        self.order(device, Order::Deliver(blob, envelope));
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn message(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> anyhow::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn hello(stream: &mut TcpStream, bytes: usize) -> anyhow::Result<Vec<u8>> {
    let mut prefix = [0; PREFIX.len()];
    stream.read_exact(&mut prefix).await?;
    let hello = message(stream).await?;
    anyhow::ensure!(hello.len() == bytes, "another handshake");
    Ok(hello)
}

async fn serve_push(
    mut stream: TcpStream,
    key: NoiseSecret,
    state: Arc<Mutex<State>>,
) -> anyhow::Result<()> {
    let expect = ExpectPushHello::new(&key, &mut OsRng)?;
    let hello = hello(&mut stream, PUSH_HELLO_BYTES).await?;
    let (channel, answer) = expect.handle_hello(&hello)?;
    stream.write_all(&answer).await?;
    let (mut sealer, mut opener) = channel.split();
    if lock(&state).answer == Answer::AckBeforehand {
        stream.write_all(&sealer.seal(&Frame::Ack)?).await?;
    }
    loop {
        let plain = opener.open(&message(&mut stream).await?)?;
        let Frame::Push {
            recipient,
            envelope,
        } = Frame::decode(&plain)?
        else {
            return Ok(());
        };
        let answer = {
            let mut state = lock(&state);
            state.pushed.push((recipient, envelope.to_vec()));
            if state.forwards && matches!(state.answer, Answer::Ack | Answer::TwoAcks) {
                state.deliver(recipient, envelope.to_vec());
            }
            state.answer
        };
        stream
            .write_all(&answer_bytes(answer, &mut sealer)?)
            .await?;
        if matches!(answer, Answer::HangUp | Answer::HalfAnAck) {
            return Ok(());
        }
    }
}

/// What a push is answered with, as it goes over the wire.
fn answer_bytes(answer: Answer, sealer: &mut Sealer) -> anyhow::Result<Vec<u8>> {
    Ok(match answer {
        Answer::Ack | Answer::AckAndDrop => sealer.seal(&Frame::Ack)?,
        Answer::TwoAcks => [sealer.seal(&Frame::Ack)?, sealer.seal(&Frame::Ack)?].concat(),
        Answer::Refuse(refusal) => sealer.seal(&Frame::Error(refusal))?,
        Answer::HangUp | Answer::AckBeforehand => Vec::new(),
        Answer::WrongFrame => sealer.seal(&Frame::DeliverAck { blob_id: 1 })?,
        Answer::Garbage => vec![0xff; 2 + usize::from(u16::MAX)],
        Answer::HalfAnAck => first_half(sealer.seal(&Frame::Ack)?),
        Answer::EmptyRecord => vec![0, 0],
    })
}

fn first_half(mut record: Vec<u8>) -> Vec<u8> {
    record.truncate(record.len() / 2);
    record
}

async fn serve_receive(
    mut stream: TcpStream,
    key: NoiseSecret,
    state: Arc<Mutex<State>>,
) -> anyhow::Result<()> {
    let expect = ExpectReceiveHello::new(&key, &mut OsRng)?;
    let hello = hello(&mut stream, RECEIVE_HELLO_BYTES).await?;
    let (expect, answer) = expect.handle_hello(&hello)?;
    stream.write_all(&answer).await?;
    let finish = message(&mut stream).await?;
    anyhow::ensure!(finish.len() == RECEIVE_FINISH_BYTES, "another handshake");
    let (channel, device) = expect.handle_finish(&finish)?;
    let (mut sealer, opener) = channel.split();
    let (orders, mut ordered) = unbounded_channel();
    {
        let mut state = lock(&state);
        state.sessions += 1;
        for (blob, envelope) in state.waiting.get(&device).into_iter().flatten() {
            let _ = orders.send(Order::Deliver(*blob, envelope.clone()));
        }
        state.devices.insert(device, orders);
    }
    let (reader, mut writer) = stream.into_split();
    let reading = tokio::spawn(read_acknowledgements(reader, opener, device, state));
    while let Some(order) = ordered.recv().await {
        for record in records(&order, &mut sealer)? {
            writer.write_all(&record).await?;
        }
        if matches!(order, Order::Disturb(Disturbance::HalfADelivery)) {
            break;
        }
    }
    reading.abort();
    Ok(())
}

fn records(order: &Order, sealer: &mut Sealer) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    match order {
        Order::Deliver(blob_id, envelope) => {
            let blob_id = *blob_id;
            records.push(sealer.seal(&Frame::Deliver { blob_id, envelope })?);
        }
        Order::Disturb(Disturbance::WrongFrames) => {
            records.push(sealer.seal(&Frame::DeliverAck { blob_id: 1 })?);
            records.push(sealer.seal(&Frame::Ack)?);
            records.push(sealer.seal(&Frame::Error(Refusal::TooLarge))?);
        }
        Order::Disturb(Disturbance::Garbage) => {
            records.push(vec![0xff; 2 + usize::from(u16::MAX)]);
        }
        Order::Disturb(Disturbance::LengthWithoutBytes) => records.push(vec![0xff; 10]),
        Order::Disturb(Disturbance::HalfADelivery) => {
            let record = sealer.seal(&stray_delivery(&[7; 100]))?;
            records.push(first_half(record));
        }
        Order::Disturb(Disturbance::EmptyRecord) => records.push(vec![0, 0]),
        Order::Disturb(Disturbance::EmptyDelivery) => {
            records.push(sealer.seal(&stray_delivery(&[]))?);
        }
    }
    Ok(records)
}

/// A delivery that nobody waits for.
const fn stray_delivery(envelope: &[u8]) -> Frame<'_> {
    Frame::Deliver {
        blob_id: u64::MAX,
        envelope,
    }
}

async fn read_acknowledgements(
    mut reader: OwnedReadHalf,
    mut opener: Opener,
    device: NoisePublic,
    state: Arc<Mutex<State>>,
) -> anyhow::Result<()> {
    loop {
        let plain = opener.open(&message(&mut reader).await?)?;
        if let Frame::DeliverAck { blob_id } = Frame::decode(&plain)? {
            let mut state = lock(&state);
            state.acknowledged.push(blob_id);
            if !state.forgets_acknowledgements
                && let Some(waiting) = state.waiting.get_mut(&device)
            {
                waiting.retain(|(blob, _)| *blob != blob_id);
            }
        }
    }
}
