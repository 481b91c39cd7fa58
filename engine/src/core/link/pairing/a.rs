//! A's answers: `hello` → `challenge`; `reveal` → the digits; confirmed → the new link, and
//! `welcome` once its mailbox is claimed.

use rand_core::CryptoRngCore;
use sealpost_protocol::limit::{LINK_ENVELOPE_VERSION, LINK_PAIRING_MS};
use sealpost_protocol::link::pairing::{Challenge, Hello, Reveal, Welcome};
use sealpost_protocol::link::payload::{Kind, PayloadId};
use sealpost_protocol::link::rotation::{ExchangePublic, ExchangeSecret, Rotation};
use sealpost_protocol::name;

use super::step::{PairingEffect, PairingFailure, PairingPhase};
use super::{Errand, LinkPairing, Side};

/// What A remembers of its pairing.
pub(super) struct ShowingA {
    secret: ExchangeSecret,
    hello: Option<(PayloadId, Hello)>,
    revealed: Option<ExchangePublic>,
}

impl ShowingA {
    pub(super) fn new(rng: &mut impl CryptoRngCore) -> Self {
        Self {
            secret: ExchangeSecret::generate(rng),
            hello: None,
            revealed: None,
        }
    }
}

impl LinkPairing {
    const fn side_a(&mut self) -> Option<&mut ShowingA> {
        match &mut self.side {
            Side::A(side) => Some(side),
            Side::B(_) => None,
        }
    }

    /// The first `hello` counts. Another one says that two devices have the code, as long as
    /// nobody has confirmed; after that it changes nothing any more.
    pub(super) fn take_hello(&mut self, id: PayloadId, body: &[u8], rng: &mut impl CryptoRngCore) {
        let is_confirmed = self.is_confirmed;
        let Some(hello) = Hello::decode(body) else {
            self.fail_unless_confirmed(PairingFailure::Mismatch);
            return;
        };
        let Some(side) = self.side_a() else { return };
        if let Some(first) = &side.hello {
            if !is_confirmed && (first.0 != id || first.1 != hello) {
                self.fail(PairingFailure::TwoDevices);
            }
            return;
        }
        let challenge = Challenge {
            to: id,
            public: side.secret.public(),
        };
        side.hello = Some((id, hello.clone()));
        let reads = &hello.versions;
        if !reads.is_empty() && !reads.contains(&LINK_ENVELOPE_VERSION) {
            self.fail(PairingFailure::Mismatch);
            return;
        }
        self.peer_name = name::clean(&hello.name).unwrap_or_default();
        self.peer_platform = name::clean(&hello.platform).unwrap_or_default();
        self.post(Kind::Challenge, challenge.encode(), rng);
        self.set_phase(PairingPhase::Exchanging);
    }

    /// The key that B committed to before it saw A's.
    pub(super) fn take_reveal(&mut self, body: &[u8]) {
        let is_confirmed = self.is_confirmed;
        let (key, id) = (self.key.clone(), self.id);
        let Some(side) = self.side_a() else { return };
        let (Some(reveal), Some((_, hello))) = (Reveal::decode(body), &side.hello) else {
            self.fail_unless_confirmed(PairingFailure::Mismatch);
            return;
        };
        if let Some(first) = &side.revealed {
            if !is_confirmed && *first != reveal.public {
                self.fail(PairingFailure::TwoDevices);
            }
            return;
        }
        let is_kept = reveal.public.commitment() == hello.commitment;
        side.revealed = Some(reveal.public);
        let rotation = Rotation::of_a((&key, &id), &side.secret, &reveal.public);
        match rotation.filter(|_| is_kept) {
            Some(rotation) => {
                self.rotation = Some(rotation);
                self.set_phase(PairingPhase::Comparing);
            }
            None => self.fail(PairingFailure::Mismatch),
        }
    }

    fn fail_unless_confirmed(&mut self, failure: PairingFailure) {
        if !self.is_confirmed {
            self.fail(failure);
        }
    }

    /// A's person confirmed: the link is made, and its mailbox claimed before B hears of it.
    pub(super) fn confirm_as_a(&mut self) {
        let Some(rotation) = self.rotation.clone() else {
            return;
        };
        self.add_link(&rotation, false, Vec::new());
        self.step.effects.push(PairingEffect::Begin);
        self.errand = Some(Errand::ClaimLink);
        self.expires_ms = self.now_ms.saturating_add(LINK_PAIRING_MS);
        self.phase = PairingPhase::Finishing;
    }

    pub(super) fn send_welcome(&mut self, rng: &mut impl CryptoRngCore) {
        let Some(rotation) = &self.rotation else {
            return;
        };
        let welcome = Welcome {
            confirmation: rotation.confirmation(&self.my_name),
            name: self.my_name.clone(),
        };
        self.post(Kind::Welcome, welcome.encode(), rng);
    }
}
