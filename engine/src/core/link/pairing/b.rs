//! B's answers: `hello` with a commitment; the one `challenge` → `reveal` and the digits;
//! confirmed here *and* a `welcome` that proves the exchange → the new link.

use rand_core::CryptoRngCore;
use sealpost_protocol::limit::LINK_ENVELOPE_VERSION;
use sealpost_protocol::link::pairing::{Challenge, Hello, Reveal, Welcome};
use sealpost_protocol::link::payload::{Kind, PayloadId};
use sealpost_protocol::link::rotation::{ExchangeSecret, Rotation};
use sealpost_protocol::name;

use super::super::step::{LinkChange, OutboxRow, RowKind};
use super::step::{PairingEffect, PairingFailure, PairingPhase};
use super::{LinkPairing, Side};

/// The collapse key of B's first state in the new link: on it A lets go of the code's mailbox.
pub(crate) const HELLO_KEY: &str = "hello";

/// Its body: of a type that no app acts on.
pub(crate) const HELLO_BODY: &[u8] = br#"{"type":"hello"}"#;

/// What B remembers of its pairing. It isn't stored: after a restart all of it is gone.
pub(super) struct JoiningB {
    platform: String,
    secret: ExchangeSecret,
    /// The id of the first state in the new link.
    first_state: PayloadId,
    hello: Option<PayloadId>,
    challenge: Option<Challenge>,
    welcome: Option<Welcome>,
}

impl JoiningB {
    pub(super) fn new(platform: &str, rng: &mut impl CryptoRngCore) -> Self {
        Self {
            platform: platform.to_owned(),
            secret: ExchangeSecret::generate(rng),
            first_state: PayloadId::generate(rng),
            hello: None,
            challenge: None,
            welcome: None,
        }
    }

    #[cfg(test)]
    pub(super) fn hello_id(&self) -> Option<PayloadId> {
        self.hello
    }

    #[cfg(test)]
    pub(super) fn challenge_body(&self) -> Option<Vec<u8>> {
        self.challenge.as_ref().map(Challenge::encode)
    }
}

impl LinkPairing {
    const fn side_b(&mut self) -> Option<&mut JoiningB> {
        match &mut self.side {
            Side::A(_) => None,
            Side::B(side) => Some(side),
        }
    }

    /// Whether B has said nothing but `hello`.
    pub(super) const fn is_saying_hello(&self) -> bool {
        matches!(&self.side, Side::B(side) if side.challenge.is_none())
    }

    pub(super) fn say_hello(&mut self, rng: &mut impl CryptoRngCore) {
        let name = self.my_name.clone();
        let Some(side) = self.side_b() else { return };
        let hello = Hello {
            name,
            platform: side.platform.clone(),
            versions: vec![LINK_ENVELOPE_VERSION],
            commitment: side.secret.public().commitment(),
        };
        let id = self.post(Kind::Hello, hello.encode(), rng);
        if let Some(side) = self.side_b() {
            side.hello = id;
        }
    }

    /// The first `challenge` counts; it must answer this device's own `hello`.
    pub(super) fn take_challenge(&mut self, body: &[u8], rng: &mut impl CryptoRngCore) {
        let (key, id) = (self.key.clone(), self.id);
        let Some(side) = self.side_b() else { return };
        let Some(challenge) = Challenge::decode(body) else {
            self.fail(PairingFailure::Mismatch);
            return;
        };
        if let Some(first) = &side.challenge {
            if *first != challenge {
                self.fail(PairingFailure::TwoDevices);
            }
            return;
        }
        if side.hello != Some(challenge.to) {
            self.fail(PairingFailure::TwoDevices);
            return;
        }
        let rotation = Rotation::of_b((&key, &id), &side.secret, &challenge.public);
        let reveal = Reveal {
            public: side.secret.public(),
        };
        side.challenge = Some(challenge);
        match rotation {
            Some(rotation) => {
                self.rotation = Some(rotation);
                self.post(Kind::Reveal, reveal.encode(), rng);
                self.set_phase(PairingPhase::Comparing);
            }
            None => self.fail(PairingFailure::Mismatch),
        }
    }

    /// A's person confirmed. Without the proof it is somebody's who only has the code.
    pub(super) fn take_welcome(&mut self, body: &[u8]) {
        let welcome = Welcome::decode(body).filter(|welcome| {
            let rotation = self.rotation.as_ref();
            rotation.is_some_and(|it| it.is_confirmed(&welcome.name, &welcome.confirmation))
        });
        let Some(side) = self.side_b() else { return };
        let is_other = side.welcome.is_some() && side.welcome != welcome;
        side.welcome = welcome;
        if side.welcome.is_none() || is_other {
            self.fail(PairingFailure::Mismatch);
        } else {
            self.try_finish_as_b();
        }
    }

    /// Makes the link once both have confirmed. A erases the code's mailbox, when B's first
    /// envelope arrives in the new one.
    pub(super) fn try_finish_as_b(&mut self) {
        if !self.is_confirmed {
            return;
        }
        let (now_ms, rotation) = (self.now_ms, self.rotation.clone());
        let Some(side) = self.side_b() else { return };
        let (Some(welcome), Some(rotation)) = (&side.welcome, rotation) else {
            self.set_phase(PairingPhase::Finishing);
            return;
        };
        let first = OutboxRow {
            position: 1,
            id: side.first_state,
            kind: RowKind::State {
                collapse: HELLO_KEY.to_owned(),
            },
            body: HELLO_BODY.to_vec(),
            queued_ms: now_ms,
            stored: None,
        };
        if let Some(name) = name::clean(&welcome.name) {
            self.peer_name = name;
        }
        self.add_link(&rotation, true, vec![first]);
        let mailbox = self.keys.mailbox();
        self.step.changes.push(LinkChange::EraseRemoved { mailbox });
        self.step.effects.push(PairingEffect::Begin);
        self.end(PairingPhase::Done);
    }
}
