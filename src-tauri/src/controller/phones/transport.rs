//! The way from the links to the relay on this computer: in the same process.
//!
//! Owns the translation of requests and answers, so that the machine of a link can't tell this
//! way from HTTP. And which mailboxes have been claimed through it: before all are, no phone
//! may come in by the web door (amendment 16).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sealpost_engine::BoxFuture;
use sealpost_engine::core::link::{
    Answer, Done, LinkRequest, PageEnvelope, Refused, RefusedError, RelayHeaders, WatchClose,
    WatchEvent,
};
use sealpost_engine::link::{LinkAddress, LinkFailure, LinkTransport, WatchSink};
use sealpost_protocol::limit::HEARTBEAT_INTERVAL_MS;
use sealpost_protocol::link::key::{Direction, MailboxId};
use sealpost_relay::Mailboxes;
use sealpost_relay::mailbox::{DirectionHead, Page, Refusal};
use sealpost_relay::store::{MailboxError, WatchEnd, WatchFrame, WatchRefusal};
use tokio::sync::Notify;

/// How long a store that can't write now is left alone, in seconds.
const STORE_PAUSE_S: u64 = 30;

/// How long the door waits for the links to claim their mailboxes; what is left then, say of a
/// link that is stopped, is claimed without it.
const CLAIM_PATIENCE: Duration = Duration::from_secs(5);

/// How often a watch says that it is there, as one over the web door does.
const BEAT: Duration = Duration::from_millis(HEARTBEAT_INTERVAL_MS);

/// The way to the relay in this process.
pub(super) struct InProcessTransport {
    mailboxes: Mailboxes,
    claimed: Arc<Claimed>,
}

#[derive(Default)]
struct Claimed {
    mailboxes: Mutex<BTreeSet<MailboxId>>,
    changed: Notify,
}

impl Claimed {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<MailboxId>> {
        self.mailboxes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, mailbox: MailboxId) {
        self.lock().insert(mailbox);
        self.changed.notify_waiters();
    }

    /// Waits until all of them are there.
    async fn all(&self, addresses: &[LinkAddress]) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let is_claimed = |address: &LinkAddress| self.lock().contains(&address.mailbox);
            if addresses.iter().all(is_claimed) {
                return;
            }
            changed.await;
        }
    }
}

impl InProcessTransport {
    /// The way to a relay that runs.
    pub(super) fn new(mailboxes: Mailboxes) -> Self {
        Self {
            mailboxes,
            claimed: Arc::default(),
        }
    }

    /// Waits until every mailbox is claimed, by the links themselves where they do: of a
    /// mailbox that had vanished they have to learn by their own claim.
    pub(super) async fn until_claimed(&self, addresses: &[LinkAddress]) {
        let all = self.claimed.all(addresses);
        if tokio::time::timeout(CLAIM_PATIENCE, all).await.is_ok() {
            return;
        }
        for LinkAddress { mailbox, token } in addresses {
            // One that can't be claimed now is one that a phone finds missing; it comes back.
            let _ = self.mailboxes.claim(mailbox, token).await;
        }
    }
}

impl LinkTransport for InProcessTransport {
    fn perform(
        &self,
        address: LinkAddress,
        request: LinkRequest,
    ) -> BoxFuture<Result<Answer, LinkFailure>> {
        let (mailboxes, claimed) = (self.mailboxes.clone(), Arc::clone(&self.claimed));
        Box::pin(async move {
            let is_claim = matches!(request, LinkRequest::Claim);
            let done = ask(&mailboxes, &address, request).await;
            if is_claim && done.is_ok() {
                claimed.add(address.mailbox);
            }
            Ok(done.map_or_else(|error| Answer::Refused(refused(error)), Answer::Done))
        })
    }

    fn watch(&self, address: LinkAddress, direction: Direction, sink: WatchSink) -> BoxFuture<()> {
        let mailboxes = self.mailboxes.clone();
        Box::pin(async move {
            let LinkAddress { mailbox, token } = &address;
            let mut watch = match mailboxes.watch(mailbox, token, direction) {
                Ok(watch) => watch,
                Err(refusal) => return sink(WatchEvent::Closed(refused_watch(refusal))),
            };
            while let Some(frame) = beating(watch.next(), BEAT, &sink).await {
                sink(watch_event(frame));
            }
        })
    }
}

/// Waits for something, and beats meanwhile: the machine of a link takes a watch that is silent
/// for one that is lost.
async fn beating<T>(next: impl Future<Output = T>, every: Duration, sink: &WatchSink) -> T {
    tokio::pin!(next);
    loop {
        match tokio::time::timeout(every, &mut next).await {
            Ok(next) => return next,
            Err(_) => sink(WatchEvent::Beat),
        }
    }
}

async fn ask(
    mailboxes: &Mailboxes,
    LinkAddress { mailbox, token }: &LinkAddress,
    request: LinkRequest,
) -> Result<Done, MailboxError> {
    match request {
        LinkRequest::Claim => {
            let claimed = mailboxes.claim(mailbox, token).await?;
            Ok(Done {
                is_new: claimed.is_new,
                headers: RelayHeaders {
                    created_ms: Some(claimed.created_ms),
                    expires_s: Some(claimed.expires_s),
                    ..RelayHeaders::default()
                },
                envelopes: Vec::new(),
            })
        }
        LinkRequest::Head(direction) => Ok(done(mailboxes.head(mailbox, token, direction)?)),
        LinkRequest::Page { direction, after } => {
            let page = mailboxes.page(mailbox, token, direction, after).await?;
            Ok(done_page(page))
        }
        LinkRequest::Put {
            direction,
            sequence,
            envelope,
        } => {
            let put = mailboxes.put(mailbox, token, direction, sequence, envelope.into());
            let stored = put.await?;
            Ok(Done {
                is_new: stored.is_new,
                ..done(stored.head)
            })
        }
        LinkRequest::Prune { direction, through } => {
            let head = mailboxes.prune(mailbox, token, direction, through).await?;
            Ok(done(head))
        }
        LinkRequest::Erase => {
            mailboxes.erase(mailbox, token).await?;
            Ok(Done::default())
        }
    }
}

fn done(head: DirectionHead) -> Done {
    Done {
        headers: RelayHeaders {
            last: head.last,
            more: None,
            count: Some(head.count.into()),
            oldest: head.oldest,
            created_ms: Some(head.created_ms),
            expires_s: Some(head.expires_s),
        },
        ..Done::default()
    }
}

fn done_page(page: Page) -> Done {
    let mut done = done(page.head);
    done.headers.more = Some(page.more.into());
    let envelopes = page.envelopes.into_iter();
    done.envelopes = envelopes
        .map(|(sequence, envelope)| PageEnvelope {
            sequence,
            envelope: envelope.to_vec(),
        })
        .collect();
    done
}

/// The refusal as the web door says it (specification 4.10).
fn refused(error: MailboxError) -> Refused {
    let (status, word) = match error {
        MailboxError::Refused(refusal) => match refusal {
            Refusal::NoMailbox => (404, RefusedError::NoMailbox),
            Refusal::ClaimsClosed => (404, RefusedError::ClaimsClosed),
            Refusal::WrongToken => (403, RefusedError::WrongToken),
            Refusal::BadEnvelope | Refusal::BadSequence => (400, RefusedError::Other),
            Refusal::SequenceJump => (400, RefusedError::SequenceJump),
            Refusal::EnvelopeTooLarge => (413, RefusedError::Other),
            Refusal::SequenceTaken(_) => (409, RefusedError::Other),
            Refusal::DirectionFull(_) => (507, RefusedError::Other),
            Refusal::RelayFull | Refusal::NoRoom | Refusal::Ended => (503, RefusedError::Other),
        },
        MailboxError::Store(_) | MailboxError::NoClock => (503, RefusedError::Other),
    };
    let last = match error {
        MailboxError::Refused(Refusal::SequenceTaken(head) | Refusal::DirectionFull(head)) => {
            head.last
        }
        _ => None,
    };
    Refused {
        status,
        error: word,
        last,
        retry_after_s: (status == 503).then_some(STORE_PAUSE_S),
    }
}

fn refused_watch(refusal: WatchRefusal) -> WatchClose {
    match refusal {
        WatchRefusal::Refused(_) => WatchClose::Other,
        WatchRefusal::TooMany => WatchClose::OverLimit,
        WatchRefusal::Stopping => WatchClose::GoingAway,
    }
}

fn watch_event(frame: WatchFrame) -> WatchEvent {
    match frame {
        WatchFrame::State {
            last,
            count,
            created_ms,
        } => WatchEvent::State {
            last,
            count: count.into(),
            created_ms: Some(created_ms),
        },
        WatchFrame::Stored { last, .. } => WatchEvent::Stored { last },
        WatchFrame::Pruned { .. } => WatchEvent::Pruned,
        WatchFrame::Ended(end) => WatchEvent::Closed(match end {
            WatchEnd::Erased => WatchClose::Erased,
            WatchEnd::Expired => WatchClose::Expired,
            WatchEnd::Replaced => WatchClose::Replaced,
            WatchEnd::Stopping => WatchClose::GoingAway,
        }),
    }
}

#[cfg(test)]
mod tests {
    use sealpost_engine::core::link::timing::WATCH_SILENCE_MS;

    use super::*;

    #[tokio::test]
    async fn a_watch_that_has_nothing_to_tell_beats_before_it_is_taken_for_lost() {
        let (beats, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let sink: WatchSink = Arc::new(move |event| beats.send(event).unwrap());
        let third = async {
            for _ in 0..3 {
                assert!(matches!(heard.recv().await, Some(WatchEvent::Beat)));
            }
        };
        let beaten = beating(third, Duration::from_millis(1), &sink);
        let beaten = tokio::time::timeout(Duration::from_secs(30), beaten).await;
        beaten.expect("it beats");
        const { assert!(2 * HEARTBEAT_INTERVAL_MS < WATCH_SILENCE_MS) };
    }
}
