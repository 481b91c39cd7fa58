//! Tests of the keys, beside what the Python client computes.
//!
//! `tests/vectors/wormhole.json` was made with `magic-wormhole` 0.24.0 from PyPI, installed into
//! a virtual environment: `SPAKE2_Symmetric(code, idSymmetric=appid, entropy_f=...)` with the
//! entropy `bytes(range(64))`, which gives `their_pake`; its `finish` with `own_pake`, which is
//! this program's message for the seed of 32 bytes `seed`, gives `key`. `phase_key` is
//! `wormhole._key.derive_phase_key(key, side, phase)`, and `sealed` is
//! `SecretBox(phase_key).encrypt(plaintext, nonce)` of PyNaCl. `code_typed` is the code as its
//! `wormhole.util.to_bytes` normalises it. The other direction, a body sealed here and opened
//! there, runs with the real client in the engine's tests.

use serde_json::Value;

use super::*;

fn vector(name: &str) -> String {
    let file = include_str!("../../../tests/vectors/wormhole.json");
    let file: Value = serde_json::from_str(file).unwrap();
    file[name].as_str().expect(name).to_owned()
}

fn bytes(name: &str) -> Vec<u8> {
    hex::decode(vector(name)).unwrap()
}

fn code() -> WormholeCode {
    WormholeCode::parse(&vector("code_typed")).unwrap()
}

fn secret() -> PakeSecret {
    PakeSecret::from_bytes(bytes("seed").try_into().unwrap())
}

fn key() -> WormholeKey {
    WormholeKey::from_bytes(bytes("key").try_into().unwrap())
}

#[test]
fn the_exchange_ends_in_the_key_that_python_has() {
    let own = secret().message(Application::Transfer, &code());
    assert_eq!(hex::encode(&own), vector("own_pake"));
    let found = secret().finish(Application::Transfer, &code(), &bytes("their_pake"));
    assert_eq!(found, Ok(key()));
}

#[test]
fn another_code_or_use_gives_another_key_and_nonsense_none() {
    let theirs = bytes("their_pake");
    let other = WormholeCode::parse("4-other").unwrap();
    let found = secret().finish(Application::Transfer, &other, &theirs);
    assert_ne!(found.unwrap(), key());
    let found = secret().finish(Application::Invitation, &code(), &theirs);
    assert_ne!(found.unwrap(), key());
    let own = secret().message(Application::Transfer, &code());
    let cut = &theirs[..theirs.len() - 1];
    for wrong in [own.as_slice(), &[], cut, &[0; 33]] {
        let found = secret().finish(Application::Transfer, &code(), wrong);
        assert_eq!(found, Err(PakeError));
    }
}

#[test]
fn a_message_is_sealed_as_python_seals_it() {
    let side = Side::parse(&vector("side")).unwrap();
    let phase = Phase::parse(&vector("phase"));
    let derived = key().phase_key(&side, &phase);
    assert_eq!(hex::encode(derived.as_bytes()), vector("phase_key"));
    let nonce = bytes("nonce").try_into().unwrap();
    let plaintext = vector("plaintext");
    let sealed = key().seal_with(&side, &phase, plaintext.as_bytes(), nonce);
    assert_eq!(hex::encode(&sealed), vector("sealed"));
    let opened = key().open(&side, &phase, &sealed).unwrap();
    assert_eq!(opened.as_slice(), plaintext.as_bytes());
}

#[test]
fn a_message_opens_only_as_what_it_was_sealed_as() {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let (side, other) = (Side::generate(&mut rng), Side::generate(&mut rng));
    let sealed = key().seal(&side, &Phase::Number(1), b"text", &mut rng);
    assert!(key().open(&side, &Phase::Number(1), &sealed).is_ok());
    assert_eq!(
        key().open(&other, &Phase::Number(1), &sealed),
        Err(UnsealError)
    );
    assert_eq!(
        key().open(&side, &Phase::Number(2), &sealed),
        Err(UnsealError)
    );
    let another = key().derive(b"x");
    assert_eq!(
        another.open(&side, &Phase::Number(1), &sealed),
        Err(UnsealError)
    );
    for length in 0..sealed.len() {
        let cut = &sealed[..length];
        assert_eq!(key().open(&side, &Phase::Number(1), cut), Err(UnsealError));
    }
}

#[test]
fn both_sides_of_an_exchange_agree_and_have_one_lasting_mailbox() {
    let other = PakeSecret::from_bytes([8; 32]);
    let app = Application::Invitation;
    let (one, two) = (secret().message(app, &code()), other.message(app, &code()));
    let key = secret().finish(app, &code(), &two).unwrap();
    assert_eq!(other.finish(app, &code(), &one).unwrap(), key);
    assert_eq!(key.mailbox().len(), 32);
    assert_ne!(key.mailbox(), key.derive(b"x").mailbox());
    assert_eq!(format!("{key:?} {:?}", secret()), "WormholeKey PakeSecret");
}
