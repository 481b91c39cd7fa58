//! A page of Envelopes on its way to a device that may not read.
//!
//! Owns: reading the Envelopes piece by piece, each when the one before is on its way. Never
//! does: hold a whole page. A thousand connections that ask for a page of a megabyte and don't
//! read it would otherwise be a gigabyte of memory.
//!
//! Invariant: the length is known from the begin, and a page that can't be sent as it was
//! announced, because something of it was pruned meanwhile, is cut: whoever asked asks again.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::limits::PAGE_PIECE_BYTES_MAX;
use crate::store::MailboxError;

const BEGIN: &str = r#"{"envelopes":["#;
const COMMA: &str = ",";
const END: &str = "]}";

/// Sequences and lengths of Envelopes that follow each other.
pub(super) type Slots = Vec<(u64, u32)>;

/// The Envelopes of some slots, sooner or later.
pub(super) type Reading =
    Pin<Box<dyn Future<Output = Result<Vec<(u64, Bytes)>, MailboxError>> + Send>>;

/// How the Envelopes of some slots are read.
type Read = Box<dyn Fn(&Slots) -> Reading + Send>;

/// Why a page ends before its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum PageCut {
    /// They can't be read any more.
    #[error("the page can't be read on: {0}")]
    Unreadable(#[from] MailboxError),
    /// Something of it has gone.
    #[error("something of the page was pruned")]
    Pruned,
}

/// The body of a page.
pub(super) struct PageBody {
    read: Read,
    pieces: VecDeque<Slots>,
    reading: Option<(Slots, Reading)>,
    has_begun: bool,
    left: u64,
}

impl PageBody {
    /// Reads the first piece, so that a store that can't read is told as any other refusal.
    pub(super) async fn begin(
        slots: Slots,
        read: impl Fn(&Slots) -> Reading + Send + 'static,
    ) -> Result<Self, MailboxError> {
        let read: Read = Box::new(read);
        let left = length_of(&slots);
        let mut pieces = pieces_of(slots);
        let first = pieces.pop_front().unwrap_or_default();
        let envelopes = if first.is_empty() {
            Vec::new()
        } else {
            read(&first).await?
        };
        let reading: Reading = Box::pin(async move { Ok(envelopes) });
        Ok(Self {
            read,
            pieces,
            reading: Some((first, reading)),
            has_begun: false,
            left,
        })
    }

    /// What is sent of a piece.
    fn text_of(&mut self, slots: &Slots, envelopes: &[(u64, Bytes)]) -> Result<Bytes, PageCut> {
        let is_whole = slots.len() == envelopes.len()
            && slots
                .iter()
                .zip(envelopes)
                .all(|(slot, (sequence, envelope))| {
                    let bytes = u32::try_from(envelope.len()).ok();
                    (slot.0, Some(slot.1)) == (*sequence, bytes)
                });
        if !is_whole {
            return Err(PageCut::Pruned);
        }
        let mut text = String::new();
        let mut before = BEGIN;
        if std::mem::replace(&mut self.has_begun, true) {
            before = COMMA;
        }
        if envelopes.is_empty() {
            text.push_str(before);
        }
        for (sequence, envelope) in envelopes {
            text.push_str(std::mem::replace(&mut before, COMMA));
            // Writing into a string never fails.
            let _ = write!(text, r#"{{"seq":{sequence},"data":""#);
            URL_SAFE_NO_PAD.encode_string(envelope, &mut text);
            text.push_str(r#""}"#);
        }
        if self.pieces.is_empty() {
            text.push_str(END);
        }
        Ok(Bytes::from(text))
    }
}

impl Body for PageBody {
    type Data = Bytes;
    type Error = PageCut;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, PageCut>>> {
        let this = self.get_mut();
        if this.reading.is_none() {
            let Some(slots) = this.pieces.pop_front() else {
                return Poll::Ready(None);
            };
            let reading = (this.read)(&slots);
            this.reading = Some((slots, reading));
        }
        let Some((_, reading)) = &mut this.reading else {
            return Poll::Ready(None);
        };
        let read = ready!(reading.as_mut().poll(context));
        let slots = this.reading.take().map(|(slots, _)| slots);
        let text = read
            .map_err(PageCut::Unreadable)
            .and_then(|envelopes| this.text_of(&slots.unwrap_or_default(), &envelopes));
        match &text {
            Ok(text) => this.left = this.left.saturating_sub(text.len() as u64),
            Err(_) => this.pieces.clear(),
        }
        Poll::Ready(Some(text.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.reading.is_none() && self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// As many Envelopes as fit into a piece, and one at least.
fn pieces_of(slots: Slots) -> VecDeque<Slots> {
    let mut pieces = VecDeque::<Slots>::new();
    let mut room = 0;
    for slot in slots {
        let bytes = usize::try_from(slot.1).unwrap_or(usize::MAX);
        match pieces.back_mut() {
            Some(piece) if bytes <= room => {
                piece.push(slot);
                room -= bytes;
            }
            _ => {
                pieces.push_back(vec![slot]);
                room = PAGE_PIECE_BYTES_MAX.saturating_sub(bytes);
            }
        }
    }
    pieces
}

/// Bytes of the whole body.
fn length_of(slots: &Slots) -> u64 {
    let envelope = |(sequence, bytes): &(u64, u32)| {
        let frame = format!(r#"{{"seq":{sequence},"data":""}}"#).len() as u64;
        // Four characters for three bytes, and none to pad.
        let data = u64::from(*bytes).saturating_mul(4).div_ceil(3);
        frame.saturating_add(data)
    };
    let commas = slots.len().saturating_sub(1) as u64;
    let envelopes: u64 = slots.iter().map(envelope).sum();
    let ends = (BEGIN.len() + END.len()) as u64;
    ends.saturating_add(envelopes).saturating_add(commas)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::BodyExt as _;

    use super::*;
    use crate::mailbox::Refusal;

    fn envelope(sequence: u64, bytes: u32) -> (u64, Bytes) {
        let byte = u8::try_from(sequence % 251).unwrap();
        (sequence, Bytes::from(vec![byte; bytes as usize]))
    }

    fn whole(slots: &Slots) -> Vec<(u64, Bytes)> {
        slots
            .iter()
            .map(|(at, bytes)| envelope(*at, *bytes))
            .collect()
    }

    /// A body that counts its reads, and what each of them finds.
    async fn body(
        slots: Slots,
        find: impl Fn(usize, &Slots) -> Result<Vec<(u64, Bytes)>, MailboxError> + Send + 'static,
    ) -> (PageBody, Arc<AtomicUsize>) {
        let reads = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&reads);
        let read = move |slots: &Slots| -> Reading {
            let found = find(counted.fetch_add(1, Ordering::SeqCst), slots);
            Box::pin(async move { found })
        };
        (PageBody::begin(slots, read).await.unwrap(), reads)
    }

    fn large() -> Slots {
        (1..=16).map(|sequence| (sequence, 65_536)).collect()
    }

    /// What isn't taken isn't read: the store is asked for one piece ahead and no more.
    #[tokio::test]
    async fn a_page_that_nobody_reads_is_one_envelope_in_memory() {
        let (mut body, reads) = body(large(), |_, slots| Ok(whole(slots))).await;
        assert_eq!(reads.load(Ordering::SeqCst), 1);
        for read in 1..=16 {
            let frame = body.frame().await.unwrap().unwrap();
            assert!(frame.into_data().unwrap().len() < 90_000);
            assert_eq!(reads.load(Ordering::SeqCst), read);
        }
        assert!(body.is_end_stream() && body.frame().await.is_none());
    }

    #[tokio::test]
    async fn the_announced_length_is_the_length_and_the_text_is_json() {
        let pages: [Slots; 6] = [
            large(),
            vec![(9, 306), (10, 307), (1 << 53, 308), (1 << 54, 65_536)],
            vec![(1, 65_000), (2, 536), (3, 1), (7, 65_535)],
            (1..=16).map(|at| (at * 1_000, 20_000)).collect(),
            vec![(1, 1)],
            vec![],
        ];
        for slots in pages {
            let (body, _) = body(slots.clone(), |_, slots| Ok(whole(slots))).await;
            let announced = body.size_hint().exact().unwrap();
            let text = body.collect().await.unwrap().to_bytes();
            assert_eq!(text.len() as u64, announced, "{slots:?}");
            let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
            let told = value["envelopes"].as_array().unwrap().iter().map(|one| {
                let data = one["data"].as_str().unwrap();
                let envelope = URL_SAFE_NO_PAD.decode(data).unwrap();
                (one["seq"].as_u64().unwrap(), Bytes::from(envelope))
            });
            assert_eq!(told.collect::<Vec<_>>(), whole(&slots));
        }
    }

    #[tokio::test]
    async fn a_page_that_cannot_be_sent_as_announced_is_cut() {
        let gone = |at, slots: &Slots| {
            let envelopes = whole(slots);
            Ok(if at == 2 { Vec::new() } else { envelopes })
        };
        let (body, reads) = body(large(), gone).await;
        let cut = body.collect().await.unwrap_err();
        assert_eq!((cut, reads.load(Ordering::SeqCst)), (PageCut::Pruned, 3));
        let other = |at: usize, slots: &Slots| {
            Ok(whole(
                &slots
                    .iter()
                    .map(|(sequence, bytes)| (sequence + at as u64, *bytes))
                    .collect(),
            ))
        };
        let (body, _) = self::body(large(), other).await;
        assert_eq!(body.collect().await.unwrap_err(), PageCut::Pruned);
        let failure = MailboxError::Refused(Refusal::NoMailbox);
        let failing = move |at, slots: &Slots| {
            if at == 1 {
                Err(failure)
            } else {
                Ok(whole(slots))
            }
        };
        let (body, _) = self::body(large(), failing).await;
        let cut = body.collect().await.unwrap_err();
        assert_eq!(cut, PageCut::Unreadable(failure));
    }
}
