use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng as _;
use sealpost_protocol::link::code::PairingCode;
use sealpost_protocol::link::envelope::seal;
use sealpost_protocol::link::key::Direction;
use sealpost_protocol::link::pairing::{Challenge, Hello, Reveal, Welcome};
use sealpost_protocol::link::payload::{Header, Payload};
use sealpost_protocol::link::rotation::ExchangeSecret;
use sealpost_relay::mailbox::{DirectionHead, MailboxAccess, Making, MemoryMailboxes, Refusal};

use super::super::step::{Done, PageEnvelope, Refused, RefusedError, RelayHeaders};
use super::*;

const NOW_MS: u64 = 1_795_000_000_000;
const MINUTE_MS: u64 = 60_000;

/// One side, and what its steps came to.
struct Half {
    pairing: LinkPairing,
    /// How far its clock is ahead of the relay's.
    ahead_ms: i64,
    requests: VecDeque<(PairingMailbox, RequestId, LinkRequest)>,
    frames: VecDeque<WatchEvent>,
    is_watching: bool,
    added: Option<NewLink>,
    has_begun: bool,
    is_withdrawn: bool,
    has_ended: bool,
    /// Mailboxes in the erase queue.
    erase: BTreeMap<sealpost_protocol::link::key::MailboxId, EraseRow>,
}

struct Table {
    relay: MemoryMailboxes,
    making: Making,
    now_ms: u64,
    rng: ChaCha12Rng,
    halves: Vec<Half>,
    code: PairingCode,
}

const A: usize = 0;
const B: usize = 1;

impl Half {
    fn new(pairing: LinkPairing) -> Self {
        Self {
            pairing,
            ahead_ms: 0,
            requests: VecDeque::new(),
            frames: VecDeque::new(),
            is_watching: false,
            added: None,
            has_begun: false,
            is_withdrawn: false,
            has_ended: false,
            erase: BTreeMap::new(),
        }
    }

    fn phase(&self) -> PairingPhase {
        self.pairing.view().phase
    }

    fn digits(&self) -> String {
        self.pairing.view().digits.expect("digits").to_text()
    }

    fn settle(&mut self) {
        let step = self.pairing.drain();
        for change in step.changes {
            match change {
                LinkChange::EraseQueued(row) => {
                    self.erase.insert(row.mailbox, row);
                }
                LinkChange::EraseRemoved { mailbox } => {
                    self.erase.remove(&mailbox);
                }
                LinkChange::LinkAdded(link) => self.added = Some(*link),
                other => panic!("a pairing doesn't write {other:?}"),
            }
        }
        for effect in step.effects {
            match effect {
                PairingEffect::Request {
                    mailbox,
                    id,
                    request,
                } => self.requests.push_back((mailbox, id, request)),
                PairingEffect::OpenWatch(_) => self.is_watching = true,
                PairingEffect::CloseWatch(_) => self.is_watching = false,
                PairingEffect::Changed => {}
                PairingEffect::Begin => self.has_begun = true,
                PairingEffect::Withdraw => self.is_withdrawn = true,
                PairingEffect::End => self.has_ended = true,
            }
        }
    }
}

impl Table {
    /// A shows its code.
    fn new() -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let (key, id) = (LinkKey::generate(&mut rng), LinkId::generate(&mut rng));
        let link = (key.clone(), id);
        let expires_s = (NOW_MS + 5 * MINUTE_MS) / 1_000;
        let code = PairingCode::new("http://192.168.1.20:48787", link, expires_s, "Desk").unwrap();
        let shown = LinkPairing::show((key, id), "Desk", NOW_MS, &mut rng);
        let mut table = Self {
            relay: MemoryMailboxes::new(),
            making: Making::Below(10),
            now_ms: NOW_MS,
            rng,
            halves: vec![Half::new(shown)],
            code,
        };
        table.run();
        table
    }

    /// Another device scans the code.
    fn scan(&mut self, name: &str) -> usize {
        let me = (name, "Linux");
        let joining = LinkPairing::join(&self.code, me, self.now_ms, &mut self.rng);
        self.halves.push(Half::new(joining));
        self.halves.len() - 1
    }

    /// Both screens show the digits.
    fn comparing() -> Self {
        let mut table = Self::new();
        table.scan("Phone");
        table.run();
        for half in &table.halves {
            assert_eq!(half.phase(), PairingPhase::Comparing);
        }
        table
    }

    fn run(&mut self) {
        for _ in 0..1_000 {
            let mut is_idle = true;
            for at in 0..self.halves.len() {
                self.halves[at].settle();
                while let Some(frame) = self.halves[at].frames.pop_front() {
                    is_idle = false;
                    let now_ms = self.now_ms.saturating_add_signed(self.halves[at].ahead_ms);
                    let half = &mut self.halves[at];
                    half.pairing.handle_watch(frame, now_ms, &mut self.rng);
                    half.settle();
                }
                if let Some((mailbox, id, request)) = self.halves[at].requests.pop_front() {
                    is_idle = false;
                    let answer = self.perform(at, mailbox, &request);
                    let now_ms = self.now_ms.saturating_add_signed(self.halves[at].ahead_ms);
                    let half = &mut self.halves[at];
                    half.pairing
                        .handle_answer(id, answer, now_ms, &mut self.rng);
                    half.settle();
                }
            }
            if is_idle {
                return;
            }
        }
        panic!("the pairing doesn't come to rest");
    }

    fn at(&mut self, at: usize, input: impl FnOnce(&mut LinkPairing, u64)) {
        input(&mut self.halves[at].pairing, self.now_ms);
        self.halves[at].settle();
        self.run();
    }

    fn confirm(&mut self, at: usize) {
        self.at(at, LinkPairing::confirm);
    }

    fn advance(&mut self, ms: u64) {
        self.now_ms += ms;
        for at in 0..self.halves.len() {
            let timer = self.halves[at].pairing.next_timer();
            if timer.is_some_and(|timer| timer <= self.now_ms) {
                self.at(at, LinkPairing::handle_timer);
            }
        }
        self.run();
    }

    fn perform(&mut self, at: usize, mailbox: PairingMailbox, request: &LinkRequest) -> Answer {
        let keys = self.halves[at].pairing.keys(mailbox).expect("keys").clone();
        self.ask(&keys, request)
    }

    fn ask(&mut self, keys: &LinkKeys, request: &LinkRequest) -> Answer {
        let access = MailboxAccess::new(&keys.mailbox(), keys.token());
        let answer = self.ask_rules(&access, request);
        let is_erased = *request == LinkRequest::Erase;
        if is_erased || matches!(request, LinkRequest::Put { .. }) {
            for half in self.halves.iter_mut().filter(|half| half.is_watching) {
                if half.pairing.keys.mailbox() == keys.mailbox() {
                    half.frames.push_back(if is_erased {
                        WatchEvent::Closed(WatchClose::Erased)
                    } else {
                        WatchEvent::Stored { last: 1 }
                    });
                }
            }
        }
        answer.map_or_else(
            |refusal| Answer::Refused(to_refused(&refusal)),
            Answer::Done,
        )
    }

    fn ask_rules(
        &mut self,
        access: &MailboxAccess,
        request: &LinkRequest,
    ) -> Result<Done, Refusal> {
        let now_ms = self.now_ms;
        let mut done = Done::default();
        match request {
            LinkRequest::Claim => {
                done.is_new = self.relay.claim(access, self.making, now_ms)?.is_new;
            }
            LinkRequest::Head(direction) => {
                done.headers = headers(&self.relay.head(access, *direction, now_ms)?);
            }
            LinkRequest::Page { direction, after } => {
                let page = self.relay.page(access, *direction, (*after, 16), now_ms)?;
                done.headers = headers(&page.head);
                done.headers.more = Some(page.more.into());
                let found = |(sequence, bytes): (u64, Bytes)| PageEnvelope {
                    sequence,
                    envelope: bytes.to_vec(),
                };
                done.envelopes = page.envelopes.into_iter().map(found).collect();
            }
            LinkRequest::Put {
                direction,
                sequence,
                envelope,
            } => {
                let put = (*sequence, &Bytes::from(envelope.clone()));
                let stored = self.relay.put(access, *direction, put, || true, now_ms)?;
                done.is_new = stored.is_new;
            }
            LinkRequest::Prune { .. } => panic!("a pairing prunes nothing"),
            LinkRequest::Erase => self.relay.erase(access, now_ms)?,
        }
        Ok(done)
    }

    /// The shell carries out what a pairing that is over left in the erase queue.
    fn erase(&mut self, at: usize) {
        assert!(self.halves[at].has_ended);
        let keys = self.halves[at].pairing.keys.clone();
        let row = self.halves[at].erase.remove(&keys.mailbox());
        assert!(row.is_some(), "the code's mailbox is to be erased");
        self.ask(&keys, &LinkRequest::Erase);
        self.run();
    }

    fn has_mailbox(&self, keys: &LinkKeys) -> bool {
        let access = MailboxAccess::new(&keys.mailbox(), keys.token());
        self.relay
            .head(&access, Direction::AToB, self.now_ms)
            .is_ok()
    }

    /// Somebody who photographed the code writes this.
    fn plant(&mut self, direction: Direction, kind: Kind, body: Vec<u8>) {
        let keys = LinkKeys::derive(self.code.key(), &self.code.id());
        let access = MailboxAccess::new(&keys.mailbox(), keys.token());
        let head = self.relay.head(&access, direction, self.now_ms).unwrap();
        let sequence = head.last.unwrap_or(0) + 1;
        let header = Header {
            kind,
            id: PayloadId::generate(&mut self.rng),
            ack: None,
            ts_ms: 0,
            collapse: None,
        };
        let payload = Payload { header, body }.encode().unwrap();
        let envelope = seal(&keys, direction, sequence, &payload, &mut self.rng).unwrap();
        let put = LinkRequest::Put {
            direction,
            sequence,
            envelope,
        };
        assert!(matches!(self.ask(&keys, &put), Answer::Done(_)));
        self.run();
    }

    fn failure(&self, at: usize) -> PairingFailure {
        match self.halves[at].phase() {
            PairingPhase::Failed(failure) => failure,
            other => panic!("{other:?}"),
        }
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

fn to_refused(refusal: &Refusal) -> Refused {
    let (status, code) = match refusal {
        Refusal::NoMailbox => (404, "no_mailbox"),
        Refusal::ClaimsClosed => (404, "claims_closed"),
        Refusal::WrongToken => (403, "wrong_token"),
        Refusal::SequenceTaken(_) => (409, "sequence_taken"),
        _ => (507, "direction_full"),
    };
    Refused {
        status,
        error: RefusedError::parse(code),
        last: None,
        retry_after_s: None,
    }
}

fn secret(byte: u8) -> ExchangeSecret {
    ExchangeSecret::from_bytes([byte; 32])
}

fn hello_of(secret: &ExchangeSecret) -> Vec<u8> {
    let hello = Hello {
        name: "Mallory".to_owned(),
        platform: String::new(),
        versions: vec![1],
        commitment: secret.public().commitment(),
    };
    hello.encode()
}

#[test]
fn two_devices_pair_and_rotate_away_from_the_code() {
    let mut table = Table::comparing();
    assert_eq!(table.halves[A].digits(), table.halves[B].digits());
    assert_eq!(table.halves[A].pairing.view().peer_name, "Phone");
    assert_eq!(table.halves[B].pairing.view().peer_name, "Desk");
    assert!(table.halves.iter().all(|half| half.added.is_none()));
    table.confirm(A);
    assert_eq!(table.halves[A].phase(), PairingPhase::Finishing);
    assert!(table.halves[A].has_begun);
    assert!(
        table.halves[B].added.is_none(),
        "B's person hasn't looked yet"
    );
    table.confirm(B);
    assert_eq!(table.halves[B].phase(), PairingPhase::Done);
    let [a, b] = [A, B].map(|at| table.halves[at].added.clone().unwrap());
    assert_eq!((&a.key, a.id), (&b.key, b.id));
    assert_ne!(&a.key, table.code.key());
    assert_ne!(a.id, table.code.id());
    assert_eq!((a.role, b.role), (Role::A, Role::B));
    assert_eq!(
        (a.peer_name.as_str(), b.peer_name.as_str()),
        ("Phone", "Desk")
    );
    assert_eq!((a.outbox.len(), b.outbox.len()), (0, 1));
    assert_eq!((a.row.is_established, b.row.is_established), (false, true));
    let new = LinkKeys::derive(&a.key, &a.id);
    assert!(table.has_mailbox(&new), "claimed before the welcome");
    assert!(
        table.halves[B].erase.is_empty(),
        "A erases, when B has come over"
    );
    table.at(A, LinkPairing::handle_link_heard);
    assert_eq!(table.halves[A].phase(), PairingPhase::Done);
    table.erase(A);
    let old = LinkKeys::derive(table.code.key(), &table.code.id());
    assert!(!table.has_mailbox(&old) && table.has_mailbox(&new));
    assert_eq!(
        table.halves[B].phase(),
        PairingPhase::Done,
        "erased: the old one"
    );
    assert!(!table.halves[A].is_withdrawn);
}

#[test]
fn the_order_in_which_they_confirm_does_not_matter() {
    let mut table = Table::comparing();
    table.confirm(B);
    assert_eq!(table.halves[B].phase(), PairingPhase::Finishing);
    assert!(table.halves[B].added.is_none());
    table.confirm(A);
    assert_eq!(table.halves[B].phase(), PairingPhase::Done);
}

#[test]
fn nothing_is_confirmed_before_there_are_digits() {
    let mut table = Table::new();
    table.confirm(A);
    table.scan("Phone");
    table.confirm(B);
    assert!(!table.halves[A].pairing.view().is_confirmed);
    assert!(!table.halves[B].pairing.view().is_confirmed);
}

#[test]
fn a_second_phone_on_one_code_ends_it_for_everybody() {
    let mut table = Table::new();
    table.scan("Phone");
    let second = table.scan("Other");
    table.run();
    assert_eq!(table.failure(A), PairingFailure::TwoDevices);
    table.erase(A);
    assert_eq!(table.failure(second), PairingFailure::TwoDevices);
    assert!(matches!(table.halves[B].phase(), PairingPhase::Failed(_)));
    assert!(table.halves.iter().all(|half| half.added.is_none()));
}

#[test]
fn a_second_hello_changes_nothing_after_the_person_confirmed() {
    let mut table = Table::comparing();
    table.confirm(A);
    table.plant(Direction::BToA, Kind::Hello, hello_of(&secret(0x66)));
    assert_eq!(table.halves[A].phase(), PairingPhase::Finishing);
    table.confirm(B);
    assert_eq!(table.halves[B].phase(), PairingPhase::Done);
}

#[test]
fn a_second_challenge_or_reveal_ends_it_and_the_same_one_does_not() {
    let mut table = Table::comparing();
    let Side::B(side) = &table.halves[B].pairing.side else {
        panic!("B")
    };
    let to = side.hello_id().unwrap();
    let same = side.challenge_body().unwrap();
    table.plant(Direction::AToB, Kind::Challenge, same);
    assert_eq!(table.halves[B].phase(), PairingPhase::Comparing);
    let public = secret(0x66).public();
    let other = Challenge { to, public }.encode();
    table.plant(Direction::AToB, Kind::Challenge, other);
    assert_eq!(table.failure(B), PairingFailure::TwoDevices);

    let mut table = Table::comparing();
    let public = secret(0x66).public();
    table.plant(Direction::BToA, Kind::Reveal, Reveal { public }.encode());
    assert_eq!(table.failure(A), PairingFailure::TwoDevices);
}

#[test]
fn a_key_that_was_not_committed_to_is_refused() {
    let mut table = Table::new();
    table.plant(Direction::BToA, Kind::Hello, hello_of(&secret(0x66)));
    assert_eq!(table.halves[A].phase(), PairingPhase::Exchanging);
    let public = secret(0x67).public();
    table.plant(Direction::BToA, Kind::Reveal, Reveal { public }.encode());
    assert_eq!(table.failure(A), PairingFailure::Mismatch);
    assert!(table.halves[A].pairing.view().digits.is_none());
}

#[test]
fn a_challenge_to_another_hello_is_refused() {
    let mut table = Table::new();
    table.halves[A].is_watching = false;
    table.scan("Phone");
    let to = PayloadId::from_bytes([1; 16]);
    let public = secret(0x66).public();
    table.plant(
        Direction::AToB,
        Kind::Challenge,
        Challenge { to, public }.encode(),
    );
    table.run();
    assert!(matches!(table.halves[B].phase(), PairingPhase::Failed(_)));
}

#[test]
fn a_key_of_low_order_is_refused_by_both() {
    use sealpost_protocol::link::rotation::ExchangePublic;
    let public = ExchangePublic::from_bytes([0; 32]);
    let mut table = Table::new();
    let hello = Hello {
        name: "Mallory".to_owned(),
        platform: String::new(),
        versions: vec![1],
        commitment: public.commitment(),
    };
    table.plant(Direction::BToA, Kind::Hello, hello.encode());
    table.plant(Direction::BToA, Kind::Reveal, Reveal { public }.encode());
    assert_eq!(table.failure(A), PairingFailure::Mismatch);
}

#[test]
fn a_welcome_without_the_proof_makes_no_link() {
    for name in ["Desk", "Desc"] {
        let mut table = Table::comparing();
        table.confirm(B);
        let welcome = Welcome {
            name: name.to_owned(),
            confirmation: [7; 32],
        };
        table.plant(Direction::AToB, Kind::Welcome, welcome.encode());
        assert_eq!(table.failure(B), PairingFailure::Mismatch);
        assert!(table.halves[B].added.is_none());
    }
    // One that comes before the digits proves nothing either.
    let mut table = Table::new();
    table.halves[A].is_watching = false;
    table.scan("Phone");
    let welcome = Welcome {
        name: "Desk".to_owned(),
        confirmation: [7; 32],
    };
    table.plant(Direction::AToB, Kind::Welcome, welcome.encode());
    table.run();
    assert_eq!(table.failure(B), PairingFailure::Mismatch);
}

#[test]
fn messages_in_the_wrong_order_or_shape_end_it() {
    for kind in [Kind::Hello, Kind::Reveal] {
        let mut table = Table::new();
        table.plant(Direction::BToA, kind, b"{}".to_vec());
        assert_eq!(table.failure(A), PairingFailure::Mismatch, "{kind:?}");
    }
    let mut table = Table::new();
    let public = secret(1).public();
    table.plant(Direction::BToA, Kind::Reveal, Reveal { public }.encode());
    assert_eq!(table.failure(A), PairingFailure::Mismatch);
    // What isn't of a pairing is passed over, and so is what isn't authentic.
    let mut table = Table::new();
    table.plant(Direction::BToA, Kind::Msg, b"early".to_vec());
    let keys = table.halves[A].pairing.keys.clone();
    let junk = LinkRequest::Put {
        direction: Direction::BToA,
        sequence: 9,
        envelope: vec![1; 306],
    };
    table.ask(&keys, &junk);
    table.scan("Phone");
    table.run();
    assert_eq!(table.halves[A].phase(), PairingPhase::Comparing);
}

#[test]
fn a_version_that_b_does_not_read_is_refused() {
    let mut table = Table::new();
    let hello = Hello {
        name: "Phone".to_owned(),
        platform: String::new(),
        versions: vec![2],
        commitment: secret(1).public().commitment(),
    };
    table.plant(Direction::BToA, Kind::Hello, hello.encode());
    assert_eq!(table.failure(A), PairingFailure::Mismatch);
}

#[test]
fn five_minutes_end_it_on_both_sides_and_erase() {
    let mut table = Table::comparing();
    table.advance(5 * MINUTE_MS - 1);
    assert_eq!(table.halves[A].phase(), PairingPhase::Comparing);
    table.advance(1);
    assert_eq!(table.failure(A), PairingFailure::Expired);
    table.erase(A);
    let old = LinkKeys::derive(table.code.key(), &table.code.id());
    assert!(!table.has_mailbox(&old));
    assert!(matches!(table.halves[B].phase(), PairingPhase::Failed(_)));
}

#[test]
fn who_cancels_ends_it_for_the_other_side() {
    for (who, other) in [(A, B), (B, A)] {
        let mut table = Table::comparing();
        table.at(who, LinkPairing::cancel);
        assert_eq!(table.failure(who), PairingFailure::Cancelled);
        table.erase(who);
        assert_eq!(table.failure(other), PairingFailure::PeerCancelled);
        assert!(table.halves[other].has_ended);
    }
}

#[test]
fn a_link_that_the_other_side_never_came_over_to_is_withdrawn() {
    // B's person says that the digits differ, after A's confirmed.
    let mut table = Table::comparing();
    table.confirm(A);
    table.at(B, LinkPairing::cancel);
    table.erase(B);
    assert_eq!(table.failure(A), PairingFailure::PeerCancelled);
    assert!(table.halves[A].is_withdrawn);
    // B's person never answers.
    let mut table = Table::comparing();
    table.advance(4 * MINUTE_MS);
    table.confirm(A);
    table.advance(4 * MINUTE_MS);
    assert_eq!(table.failure(B), PairingFailure::Expired);
    assert_eq!(table.halves[A].phase(), PairingPhase::Finishing);
    table.advance(MINUTE_MS);
    assert_eq!(table.failure(A), PairingFailure::Expired);
    assert!(table.halves[A].is_withdrawn);
}

#[test]
fn a_stale_code_is_said_and_leaves_no_mailbox() {
    let mut table = Table::new();
    table.at(A, LinkPairing::cancel);
    table.erase(A);
    let late = table.scan("Late");
    table.run();
    assert_eq!(table.failure(late), PairingFailure::Expired);
    table.erase(late);
    let old = LinkKeys::derive(table.code.key(), &table.code.id());
    assert!(!table.has_mailbox(&old));
    // The same where nobody else may make mailboxes.
    table.making = Making::Closed;
    let later = table.scan("Later");
    table.run();
    assert_eq!(table.failure(later), PairingFailure::Expired);
}

#[test]
fn a_mailbox_of_another_token_is_an_error_of_the_pairing() {
    let mut table = Table::new();
    let late = table.scan("Phone");
    table.halves[late].settle();
    let (_, id, _) = table.halves[late].requests.pop_front().unwrap();
    let answer = Answer::Refused(Refused {
        status: 403,
        error: RefusedError::WrongToken,
        last: None,
        retry_after_s: None,
    });
    let (now_ms, half) = (table.now_ms, &mut table.halves[late]);
    half.pairing
        .handle_answer(id, answer, now_ms, &mut table.rng);
    assert_eq!(table.failure(late), PairingFailure::WrongToken);
}

#[test]
fn a_clock_that_is_a_year_off_keeps_nobody_from_pairing() {
    for offset_ms in [-365_i64 * 24 * 60, 365 * 24 * 60].map(|minutes| minutes * 60_000) {
        let mut table = Table::new();
        let me = ("Phone", "Linux");
        let own_ms = table.now_ms.saturating_add_signed(offset_ms);
        let joining = LinkPairing::join(&table.code, me, own_ms, &mut table.rng);
        let mut half = Half::new(joining);
        half.ahead_ms = offset_ms;
        table.halves.push(half);
        table.run();
        assert_eq!(table.halves[A].phase(), PairingPhase::Comparing);
    }
}

#[test]
fn a_request_without_an_answer_is_asked_again() {
    let mut table = Table::new();
    let joining = table.scan("Phone");
    for _ in 0..4 {
        table.halves[joining].settle();
        let Some((_, id, _)) = table.halves[joining].requests.pop_front() else {
            panic!("it asks")
        };
        let (now_ms, half) = (table.now_ms, &mut table.halves[joining]);
        half.pairing
            .handle_answer(id, Answer::NoAnswer, now_ms, &mut table.rng);
        assert!(half.pairing.view().is_unanswered);
        let next = half.pairing.next_timer().unwrap();
        table.now_ms = next;
        half.pairing.handle_timer(next);
    }
    table.run();
    assert_eq!(table.halves[A].phase(), PairingPhase::Comparing);
}

#[test]
fn the_codes_mailbox_is_to_be_erased_before_it_is_claimed() {
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    let (key, id) = (LinkKey::generate(&mut rng), LinkId::generate(&mut rng));
    let mut shown = LinkPairing::show((key, id), "Desk", NOW_MS, &mut rng);
    let step = shown.drain();
    assert!(matches!(
        step.changes.as_slice(),
        [LinkChange::EraseQueued(_)]
    ));
    assert!(matches!(
        step.effects.as_slice(),
        [PairingEffect::Request {
            mailbox: PairingMailbox::Code,
            request: LinkRequest::Claim,
            ..
        }]
    ));
}
