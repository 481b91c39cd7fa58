//! For tests: the golden vectors of `tests/vectors/trueseal.json`, and what is made of their
//! inputs.

use rand_core::{CryptoRng, RngCore};
use serde_json::Value;

use crate::key::{DeviceKeys, DeviceSecrets, NoiseSecret, SigningSecret};
use crate::manifest::Member;
use crate::name::DeviceName;

const FILE: &str = include_str!("../tests/vectors/trueseal.json");

fn value(pointer: &str) -> Value {
    let file: Value = serde_json::from_str(FILE).expect("the vectors are JSON");
    file.pointer(pointer)
        .unwrap_or_else(|| panic!("no vector {pointer}"))
        .clone()
}

/// The text at a place such as `/keys/a_member_id`.
pub(crate) fn text(pointer: &str) -> String {
    value(pointer).as_str().expect("a text").to_owned()
}

/// The number at a place.
pub(crate) fn number(pointer: &str) -> usize {
    value(pointer)
        .as_u64()
        .expect("a number")
        .try_into()
        .unwrap()
}

/// The bytes at a place.
pub(crate) fn bytes(pointer: &str) -> Vec<u8> {
    hex::decode(text(pointer)).expect("hex")
}

/// The bytes at a place, of a length known beforehand.
pub(crate) fn array<const N: usize>(pointer: &str) -> [u8; N] {
    bytes(pointer).try_into().expect("the right length")
}

/// A secret of the inputs that isn't a device's.
pub(crate) fn noise_secret(pointer: &str) -> NoiseSecret {
    NoiseSecret::from_bytes(array(pointer))
}

/// The device `a` or `b`.
pub(crate) fn device(which: &str) -> DeviceSecrets {
    DeviceSecrets {
        noise: noise_secret(&format!("/inputs/{which}/noise_private")),
        signing: SigningSecret::from_bytes(array(&format!("/inputs/{which}/signing_seed"))),
    }
}

/// The device `a` or `b` as a member.
pub(crate) fn member(which: &str) -> Member {
    let keys: DeviceKeys = device(which).keys();
    let name = DeviceName::clean(&text(&format!("/inputs/{which}/name")), &keys.signing);
    Member { keys, name }
}

/// A generator that gives the same bytes again and again, for keys that are inputs.
pub(crate) struct Given(Vec<u8>);

impl Given {
    /// Gives the bytes at a place.
    pub(crate) fn new(pointer: &str) -> Self {
        Self::from_bytes(bytes(pointer))
    }

    /// Gives these bytes.
    pub(crate) const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl RngCore for Given {
    fn next_u32(&mut self) -> u32 {
        unreachable!("keys are drawn as bytes")
    }

    fn next_u64(&mut self) -> u64 {
        unreachable!("keys are drawn as bytes")
    }

    fn fill_bytes(&mut self, dest: &mut [u8]) {
        dest.copy_from_slice(&self.0);
    }

    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), rand_core::Error> {
        self.fill_bytes(dest);
        Ok(())
    }
}

impl CryptoRng for Given {}
