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
}

/// Something to send to a device.
enum Order {
    Deliver(u64, Vec<u8>),
    /// A frame that has no place in a Receive Session.
    WrongFrames,
    /// A record of the greatest length, with nothing in it that can be opened.
    Garbage,
}

#[derive(Default)]
struct State {
    answer: Answer,
    forwards: bool,
    last_blob: u64,
    /// Everything that was pushed, in that order.
    pushed: Vec<(NoisePublic, Vec<u8>)>,
    acknowledged: Vec<u64>,
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

    /// Sends a device frames that only devices send, and a refusal of nothing.
    pub fn send_wrong_frames(&self, device: NoisePublic) {
        lock(&self.state).order(device, Order::WrongFrames);
    }

    /// Sends a device a record of 65,535 bytes that can't be opened.
    pub fn send_garbage(&self, device: NoisePublic) {
        lock(&self.state).order(device, Order::Garbage);
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
        let blob = self.last_blob;
        self.waiting
            .entry(device)
            .or_default()
            .push((blob, envelope.clone()));
        self.order(device, Order::Deliver(blob, envelope));
        blob
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
        let frames = match answer {
            Answer::Ack | Answer::AckAndDrop => vec![Frame::Ack],
            Answer::TwoAcks => vec![Frame::Ack, Frame::Ack],
            Answer::Refuse(refusal) => vec![Frame::Error(refusal)],
            Answer::HangUp => return Ok(()),
        };
        for frame in frames {
            stream.write_all(&sealer.seal(&frame)?).await?;
        }
    }
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
        Order::WrongFrames => {
            records.push(sealer.seal(&Frame::DeliverAck { blob_id: 1 })?);
            records.push(sealer.seal(&Frame::Ack)?);
            records.push(sealer.seal(&Frame::Error(Refusal::TooLarge))?);
        }
        Order::Garbage => records.push(vec![0xff; 2 + usize::from(u16::MAX)]),
    }
    Ok(records)
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
            if let Some(waiting) = state.waiting.get_mut(&device) {
                waiting.retain(|(blob, _)| *blob != blob_id);
            }
        }
    }
}
