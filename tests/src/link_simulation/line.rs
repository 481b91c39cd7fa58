//! The dice of a history, and the relay behind a line that loses things.

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore as _, SeedableRng as _};
use sealpost_engine::core::link::{
    Answer, Done, LinkRequest, PageEnvelope, Refused, RefusedError, RelayHeaders,
};
use sealpost_protocol::limit::LINK_PAGE_ENVELOPES_MAX;
use sealpost_protocol::link::key::LinkKeys;
use sealpost_relay::mailbox::{DirectionHead, MailboxAccess, Making, MemoryMailboxes, Refusal};

/// Everything that happens by chance in a history.
pub struct Dice(pub ChaCha8Rng);

impl Dice {
    /// The dice of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `end`, which isn't 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    /// Whether something with this chance, in per mille, happens.
    pub fn happens(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }
}

/// The most mailboxes of the relay: never reached.
const MAILBOXES_MAX: u64 = 1_000;

/// A relay by its rules: no sockets, no disk.
#[derive(Clone, Default)]
pub(super) struct ModelRelay {
    mailboxes: MemoryMailboxes,
}

impl ModelRelay {
    /// Carries out a request.
    pub(super) fn perform(
        &mut self,
        keys: &LinkKeys,
        request: &LinkRequest,
        now_ms: u64,
    ) -> Answer {
        let access = MailboxAccess::new(&keys.mailbox(), keys.token());
        match self.ask(&access, request, now_ms) {
            Ok(done) => Answer::Done(done),
            Err(refusal) => Answer::Refused(refused(refusal)),
        }
    }

    fn ask(
        &mut self,
        access: &MailboxAccess,
        request: &LinkRequest,
        now_ms: u64,
    ) -> Result<Done, Refusal> {
        let mut done = Done::default();
        match request {
            LinkRequest::Claim => {
                let making = Making::Below(MAILBOXES_MAX);
                let claimed = self.mailboxes.claim(access, making, now_ms)?;
                done.is_new = claimed.is_new;
                done.headers.created_ms = Some(claimed.created_ms);
                done.headers.expires_s = Some(claimed.expires_s);
            }
            LinkRequest::Head(direction) => {
                done.headers = headers(&self.mailboxes.head(access, *direction, now_ms)?);
            }
            LinkRequest::Page { direction, after } => {
                let bounds = (*after, LINK_PAGE_ENVELOPES_MAX);
                let page = self.mailboxes.page(access, *direction, bounds, now_ms)?;
                done.headers = headers(&page.head);
                done.headers.more = Some(page.more.into());
                done.envelopes = page
                    .envelopes
                    .into_iter()
                    .map(|(sequence, bytes)| PageEnvelope {
                        sequence,
                        envelope: bytes.to_vec(),
                    })
                    .collect();
            }
            LinkRequest::Put {
                direction,
                sequence,
                envelope,
            } => {
                let put = (*sequence, &Bytes::from(envelope.clone()));
                let stored = self
                    .mailboxes
                    .put(access, *direction, put, || true, now_ms)?;
                done.is_new = stored.is_new;
                done.headers = headers(&stored.head);
            }
            LinkRequest::Prune { direction, through } => {
                let head = self.mailboxes.prune(access, *direction, *through, now_ms)?;
                done.headers = headers(&head);
            }
            LinkRequest::Erase => self.mailboxes.erase(access, now_ms)?,
        }
        Ok(done)
    }

    /// The mailbox is gone, as when its time is over: nobody hears of it.
    pub(super) fn vanish(&mut self, keys: &LinkKeys, now_ms: u64) {
        let _ = self.perform(keys, &LinkRequest::Erase, now_ms);
    }

    /// How many slots are taken.
    pub(super) fn slots(&self) -> u64 {
        self.mailboxes.sums().envelopes
    }
}

fn headers(head: &DirectionHead) -> RelayHeaders {
    RelayHeaders {
        last: head.last,
        more: None,
        count: Some(head.count.into()),
        oldest: head.oldest,
        created_ms: Some(head.created_ms),
        expires_s: Some(head.expires_s),
    }
}

fn refused(refusal: Refusal) -> Refused {
    let (status, error, last) = match refusal {
        Refusal::NoMailbox => (404, RefusedError::NoMailbox, None),
        Refusal::ClaimsClosed => (404, RefusedError::ClaimsClosed, None),
        Refusal::WrongToken => (403, RefusedError::WrongToken, None),
        Refusal::RelayFull | Refusal::NoRoom | Refusal::Ended => (503, RefusedError::Other, None),
        Refusal::BadEnvelope | Refusal::BadSequence => (400, RefusedError::Other, None),
        Refusal::EnvelopeTooLarge => (413, RefusedError::Other, None),
        Refusal::SequenceTaken(head) => (409, RefusedError::Other, head.last),
        Refusal::SequenceJump => (400, RefusedError::SequenceJump, None),
        Refusal::DirectionFull(head) => (507, RefusedError::Other, head.last),
    };
    Refused {
        status,
        error,
        last,
        retry_after_s: None,
    }
}
