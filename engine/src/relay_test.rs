//! Tests a relay in named steps, for a person who wants to know what is wrong with it.
//!
//! Looks the name up, connects, asks for the protocol and the key, and then sends a blob to
//! itself and takes it out again, as any device does. All of it under keys made for the
//! moment: no key, no inbox and no state of a group is used, and nothing is left on the
//! relay. Never retries and never decides what follows.
//!
//! Each step is told when it begins and when it ends, with the time it took; the steps
//! behind one that failed are told as skipped.

use std::net::SocketAddr;
use std::time::Duration;

use rand_core::OsRng;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::envelope::{MessageTag, Sealing, seal};
use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::key::DeviceSecrets;
use tokio::io::AsyncWriteExt as _;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout};

use crate::core::status::ConnectFailure;
use crate::session::SessionFault;
use crate::session::dial::{look_up, reach};
use crate::session::handshake::{HandshakeFault, Open, greet, open_push};
use crate::session::record::ReadFault;
use crate::session::timing::{RELAY_TEST_STEP_MAX, Timing};

/// One step of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RelayStep {
    /// Look the host's name up.
    LookUp,
    /// Connect to the receive port.
    Connect,
    /// See that what answers is a relay of this Transport Version.
    Protocol,
    /// See that it holds the key in the address.
    Key,
    /// Push a blob through the push port.
    Push,
    /// Get that blob, and have the relay delete it.
    Receive,
}

impl RelayStep {
    /// All steps, in their order.
    pub const ALL: [Self; 6] = [
        Self::LookUp,
        Self::Connect,
        Self::Protocol,
        Self::Key,
        Self::Push,
        Self::Receive,
    ];

    /// The stable name of the step.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::LookUp => "lookUp",
            Self::Connect => "connect",
            Self::Protocol => "protocol",
            Self::Key => "key",
            Self::Push => "push",
            Self::Receive => "receive",
        }
    }
}

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayStepFailure {
    /// The relay wasn't reached, or isn't the one meant, or the connection broke off.
    NotReached(ConnectFailure),
    /// The relay speaks only other Transport Versions.
    VersionUnsupported {
        /// Lowest version that it speaks.
        min: u16,
        /// Highest version that it speaks.
        max: u16,
    },
    /// The relay didn't take the blob.
    Refused(Refusal),
    /// The relay took the blob and didn't deliver it in time.
    NotDelivered,
}

impl RelayStepFailure {
    /// The stable name of the failure.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotReached(failure) => failure.code(),
            Self::VersionUnsupported { .. } => "relayVersionUnsupported",
            Self::Refused(Refusal::TooLarge) => "refusedTooLarge",
            Self::Refused(Refusal::Malformed) => "refusedMalformed",
            Self::Refused(Refusal::InboxFull) => "refusedInboxFull",
            Self::Refused(Refusal::RateLimited) => "refusedRateLimited",
            Self::Refused(Refusal::Unavailable) => "refusedUnavailable",
            Self::Refused(Refusal::InternalError) => "refusedInternalError",
            Self::NotDelivered => "notDelivered",
        }
    }
}

impl From<ConnectFailure> for RelayStepFailure {
    fn from(failure: ConnectFailure) -> Self {
        Self::NotReached(failure)
    }
}

impl From<SessionFault> for RelayStepFailure {
    fn from(fault: SessionFault) -> Self {
        match fault {
            SessionFault::Failed(failure) => Self::NotReached(failure),
            SessionFault::Unsupported { min, max } => Self::VersionUnsupported { min, max },
        }
    }
}

impl From<ReadFault> for RelayStepFailure {
    fn from(fault: ReadFault) -> Self {
        ConnectFailure::from(fault).into()
    }
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayStepState {
    /// It has begun.
    Running,
    /// It went well.
    Passed {
        /// How long it took.
        took: Duration,
    },
    /// It failed.
    Failed {
        /// How long it took.
        took: Duration,
        /// Why.
        failure: RelayStepFailure,
    },
    /// A step before it failed.
    Skipped,
}

/// What is told of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayStepReport {
    /// The step.
    pub step: RelayStep,
    /// How far it is.
    pub state: RelayStepState,
}

/// Tests the relay at `address` and tells each step as it begins and ends. The result is
/// that of the last step that ran.
///
/// Takes as long as the steps do, each of them 10 s at most; dropping the future ends it.
///
/// # Errors
///
/// The step that failed, and why.
pub async fn test_relay(
    address: &RelayAddress,
    told: impl FnMut(RelayStepReport) + Send,
) -> Result<(), (RelayStep, RelayStepFailure)> {
    RelayTest::new(address, RELAY_TEST_STEP_MAX, told)
        .run()
        .await
}

/// A session over a socket.
type Session = Open<OwnedReadHalf, OwnedWriteHalf>;

/// A device that exists for one test.
struct RelayTest<'a, F> {
    address: &'a RelayAddress,
    device: DeviceSecrets,
    timing: Timing,
    step_max: Duration,
    told: F,
}

impl<'a, F: FnMut(RelayStepReport) + Send> RelayTest<'a, F> {
    fn new(address: &'a RelayAddress, step_max: Duration, told: F) -> Self {
        Self {
            address,
            device: DeviceSecrets::generate(&mut OsRng),
            timing: Timing::default(),
            step_max,
            told,
        }
    }

    async fn run(&mut self) -> Result<(), (RelayStep, RelayStepFailure)> {
        let ran = self.steps().await;
        if let Err((failed, _)) = ran {
            for step in RelayStep::ALL.into_iter().filter(|step| *step > failed) {
                (self.told)(RelayStepReport {
                    step,
                    state: RelayStepState::Skipped,
                });
            }
        }
        ran
    }

    async fn steps(&mut self) -> Result<(), (RelayStep, RelayStepFailure)> {
        let (address, timing) = (self.address, self.timing);
        let device = self.device.clone();
        let relay = address.public_key();
        let looked_up = async {
            let found = look_up(address.host(), address.receive_port()).await;
            found.map_err(RelayStepFailure::from)
        };
        let addresses = self.step(RelayStep::LookUp, looked_up).await?;
        let receive = addresses.clone();
        let connected = async { Ok(reach(&timing, receive).await?) };
        let stream = self.step(RelayStep::Connect, connected).await?;
        let (reader, writer) = stream.into_split();
        let greeted = async {
            let greeted = greet(&device.noise, relay, reader, writer).await;
            // Nothing shows that it is a relay.
            greeted.map_err(|fault| explain(fault, ConnectFailure::SomethingElse))
        };
        let greeted = self.step(RelayStep::Protocol, greeted).await?;
        let proven = async {
            let proven = greeted.prove().await;
            proven.map_err(|fault| explain(fault, ConnectFailure::Lost))
        };
        let session = self.step(RelayStep::Key, proven).await?;
        let envelope = self.envelope();
        let pushed = push(&timing, address, addresses, &device, &envelope);
        self.step(RelayStep::Push, pushed).await?;
        self.step(RelayStep::Receive, receive_back(session, &envelope))
            .await
    }

    /// Runs one step within its time, and tells its begin and its end.
    async fn step<T>(
        &mut self,
        step: RelayStep,
        work: impl Future<Output = Result<T, RelayStepFailure>>,
    ) -> Result<T, (RelayStep, RelayStepFailure)> {
        let mut tell = |state| (self.told)(RelayStepReport { step, state });
        tell(RelayStepState::Running);
        let begun = Instant::now();
        let done = timeout(self.step_max, work).await;
        let took = begun.elapsed();
        let done = done.unwrap_or_else(|_| {
            Err(match step {
                RelayStep::LookUp => ConnectFailure::NameNotFound.into(),
                RelayStep::Receive => RelayStepFailure::NotDelivered,
                _ => ConnectFailure::NoAnswer.into(),
            })
        });
        tell(match done {
            Ok(_) => RelayStepState::Passed { took },
            Err(failure) => RelayStepState::Failed { took, failure },
        });
        done.map_err(|failure| (step, failure))
    }

    /// An envelope like any other, from this device to itself. Nobody ever opens it, so its
    /// time is of no importance.
    fn envelope(&self) -> Vec<u8> {
        let sealing = Sealing {
            author: &self.device.signing,
            recipient: &self.device.noise.public(),
            sequence: 1,
            timestamp_ms: 0,
            tag: MessageTag::Sync,
            body: &[],
        };
        // Only a body that is too long, or a weak key, can't be sealed.
        seal(&sealing, &mut OsRng).unwrap_or_default()
    }
}

fn explain(fault: HandshakeFault, silence: ConnectFailure) -> RelayStepFailure {
    match fault {
        HandshakeFault::Silent => silence.into(),
        HandshakeFault::Known(fault) => fault.into(),
    }
}

/// Pushes `envelope` to `device` and waits for the relay's answer.
async fn push(
    timing: &Timing,
    address: &RelayAddress,
    addresses: Vec<SocketAddr>,
    device: &DeviceSecrets,
    envelope: &[u8],
) -> Result<(), RelayStepFailure> {
    let to_push_port = addresses
        .into_iter()
        .map(|found| SocketAddr::new(found.ip(), address.push_port()))
        .collect();
    let (reader, writer) = reach(timing, to_push_port).await?.into_split();
    let opened = open_push(timing, address.public_key(), reader, writer).await;
    // It is the right relay, as its receive port has shown.
    let mut open = opened.map_err(|fault| explain(fault, ConnectFailure::Unavailable))?;
    let frame = Frame::Push {
        recipient: device.noise.public(),
        envelope,
    };
    say(&mut open, &frame).await?;
    let record = open.records.next().await?;
    let plain = open.opener.open(&record);
    let plain = plain.map_err(|_| ConnectFailure::SomethingElse)?;
    match Frame::decode(&plain) {
        Ok(Frame::Ack) => Ok(()),
        Ok(Frame::Error(refusal)) => Err(RelayStepFailure::Refused(refusal)),
        _ => Err(ConnectFailure::SomethingElse.into()),
    }
}

/// Waits for `envelope`, acknowledges it, and waits until the relay has read that: it reads
/// in order, so the echo of a heartbeat shows it.
async fn receive_back(mut session: Session, envelope: &[u8]) -> Result<(), RelayStepFailure> {
    let mut acknowledged = false;
    loop {
        let record = session.records.next().await?;
        let plain = session.opener.open(&record);
        let plain = plain.map_err(|_| ConnectFailure::Lost)?;
        match Frame::decode(&plain) {
            Ok(Frame::Deliver {
                blob_id,
                envelope: delivered,
            }) if delivered == envelope && !acknowledged => {
                acknowledged = true;
                say(&mut session, &Frame::DeliverAck { blob_id }).await?;
                say(&mut session, &Frame::Heartbeat).await?;
            }
            Ok(Frame::Heartbeat) if acknowledged => return Ok(()),
            Ok(Frame::Error(refusal)) => return Err(RelayStepFailure::Refused(refusal)),
            _ => return Err(ConnectFailure::SomethingElse.into()),
        }
    }
}

async fn say(open: &mut Session, frame: &Frame<'_>) -> Result<(), RelayStepFailure> {
    let record = open.sealer.seal(frame).map_err(|_| ConnectFailure::Lost)?;
    let written = open.writer.write_all(&record).await;
    written.map_err(|_| ConnectFailure::Lost.into())
}

#[cfg(test)]
mod tests;
