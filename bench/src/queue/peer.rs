//! What speaks to a queue: the same few verbs for all of them.

pub(super) mod nats;
pub(super) mod postgres;
pub(super) mod rabbitmq;
pub(super) mod redis;
pub(super) mod sealpost;

use std::future::Future;

use super::load::Load;

/// A queue that messages can be put through.
pub(super) trait Peer {
    /// What publishes into one inbox.
    type Publisher: Publisher;
    /// What receives from one inbox.
    type Consumer: Consumer;

    /// How many publishers share one inbox's part of the load. One connection with all of it
    /// in flight, unless the queue does better otherwise.
    fn publishers_per_inbox(&self, _load: Load) -> usize {
        1
    }

    /// Makes the inbox that `number` names, which is never used again.
    fn make(&self, number: u64) -> impl Future<Output = anyhow::Result<()>>;

    /// Takes it away with everything in it.
    fn clear(&self, number: u64) -> impl Future<Output = anyhow::Result<()>>;

    /// A publisher for it.
    fn publisher(&self, number: u64) -> impl Future<Output = anyhow::Result<Self::Publisher>>;

    /// The consumer of it.
    fn consumer(&self, number: u64) -> impl Future<Output = anyhow::Result<Self::Consumer>>;
}

/// One connection that publishes.
pub(super) trait Publisher: Send + 'static {
    /// Publishes a message, or queues it for [`Self::flush`].
    fn publish(&mut self, body: &[u8]) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Sends what is queued.
    fn flush(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Waits until at least one more message is durable, and adds to `into` the numbers, from
    /// 0, of those that are. May be dropped half way without losing anything.
    fn confirmed(&mut self, into: &mut Vec<u64>)
    -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// One connection that receives.
pub(super) trait Consumer: Send + 'static {
    /// Waits for at least one message, and adds the marks of those that are there.
    fn receive(&mut self, into: &mut Vec<Mark>) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Acknowledges what was received, so that the queue deletes it.
    fn acknowledge(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// What a body begins with: which message of which publisher it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Mark {
    pub(super) publisher: u32,
    pub(super) number: u64,
}

impl Mark {
    const BYTES: usize = 12;

    pub(super) fn write(self, body: &mut [u8]) {
        if let Some(start) = body.first_chunk_mut::<4>() {
            *start = self.publisher.to_be_bytes();
        }
        if let Some(rest) = body.get_mut(4..Self::BYTES) {
            rest.copy_from_slice(&self.number.to_be_bytes());
        }
    }

    pub(super) fn read(body: &[u8]) -> anyhow::Result<Self> {
        let mark = body.first_chunk::<{ Self::BYTES }>();
        let mark = mark.ok_or_else(|| anyhow::anyhow!("a body of {} bytes", body.len()))?;
        let (publisher, number) = mark.split_at(4);
        Ok(Self {
            publisher: u32::from_be_bytes(publisher.try_into()?),
            number: u64::from_be_bytes(number.try_into()?),
        })
    }
}

/// Confirmations that come in the order of the messages, and carry no number.
#[derive(Debug, Default)]
pub(super) struct InOrder(u64);

impl InOrder {
    pub(super) fn next(&mut self, into: &mut Vec<u64>) {
        into.push(self.0);
        self.0 += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_survives_in_its_body() {
        let mark = Mark {
            publisher: 7,
            number: u64::MAX,
        };
        let mut body = [0x5a; 300];
        mark.write(&mut body);
        assert_eq!(Mark::read(&body).unwrap(), mark);
        assert!(Mark::read(&body[..11]).is_err());
    }
}
