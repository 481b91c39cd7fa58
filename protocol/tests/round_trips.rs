//! What is encoded here is read back as it was.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use proptest::collection::vec;
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::channel::{
    Channel, ExpectPushHello, ExpectReceiveHello, RecordBuffer, push_start, receive_start,
};
use sealpost_protocol::envelope::{MessageTag, OpenedEnvelope, Received, Sealing, seal};
use sealpost_protocol::frame::{Frame, Refusal};
use sealpost_protocol::invitation::Invitation;
use sealpost_protocol::key::{DeviceSecrets, NoiseSecret, SigningPublic};
use sealpost_protocol::limit::{GROUP_MEMBERS_MAX, MANIFEST_VERSION_MAX, SEQUENCE_MAX};
use sealpost_protocol::manifest::{GroupId, Manifest, ManifestHash, Member, SignedManifest};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;
use sealpost_protocol::pair::PairBody;
use sealpost_protocol::token::{PairingSecret, PairingToken};
use sealpost_protocol::version::{PREFIX, Unsupported};

fn rng(seed: [u8; 32]) -> ChaCha20Rng {
    ChaCha20Rng::from_seed(seed)
}

fn device(seed: [u8; 32]) -> DeviceSecrets {
    DeviceSecrets::generate(&mut rng(seed))
}

fn message_of(written: &[u8]) -> Vec<u8> {
    let mut buffer = RecordBuffer::new();
    buffer.push(written.strip_prefix(&PREFIX).unwrap_or(written));
    buffer.next_record().unwrap().unwrap()
}

fn push_channels(relay: &NoiseSecret, seed: [u8; 32]) -> (Channel, Channel) {
    let mut rng = rng(seed);
    let (client, hello) = push_start(&relay.public(), &mut rng).unwrap();
    let server = ExpectPushHello::new(relay, &mut rng).unwrap();
    let (server, reply) = server.handle_hello(&message_of(&hello)).unwrap();
    (client.handle_reply(&message_of(&reply)).unwrap(), server)
}

fn receive_channels(
    device: &NoiseSecret,
    relay: &NoiseSecret,
    seed: [u8; 32],
) -> (Channel, Channel) {
    let mut rng = rng(seed);
    let (client, hello) = receive_start(device, &relay.public(), &mut rng).unwrap();
    let server = ExpectReceiveHello::new(relay, &mut rng).unwrap();
    let (server, reply) = server.handle_hello(&message_of(&hello)).unwrap();
    let (client, finish) = client.handle_reply(&message_of(&reply)).unwrap();
    let (server, inbox) = server.handle_finish(&message_of(&finish)).unwrap();
    assert_eq!(inbox, device.public());
    (client, server)
}

fn frame_of(kind: u8, number: u64, key: [u8; 32], envelope: &[u8]) -> Frame<'_> {
    match kind {
        0 => Frame::Push {
            recipient: key.into(),
            envelope,
        },
        1 => Frame::Deliver {
            blob_id: number,
            envelope,
        },
        2 => Frame::Heartbeat,
        3 => Frame::Ack,
        4 => Frame::Error(Refusal::from_body(&key[..1])),
        _ => Frame::DeliverAck { blob_id: number },
    }
}

proptest! {
    #[test]
    fn frames_through_a_channel(
        seed: [u8; 32],
        frames in vec((0_u8..6, any::<u64>(), any::<[u8; 32]>(), vec(any::<u8>(), 0..200)), 0..20),
    ) {
        let relay = device([1; 32]).noise;
        for (client, server) in [
            push_channels(&relay, seed),
            receive_channels(&device(seed).noise, &relay, seed),
        ] {
            prop_assert_eq!(client.handshake_hash(), server.handshake_hash());
            let (mut sealer, _) = client.split();
            let (_, mut opener) = server.split();
            let mut buffer = RecordBuffer::new();
            for (kind, number, key, envelope) in &frames {
                let frame = frame_of(*kind, *number, *key, envelope);
                buffer.push(&sealer.seal(&frame).unwrap());
                let opened = opener.open(&buffer.next_record().unwrap().unwrap()).unwrap();
                prop_assert_eq!(Frame::decode(&opened), Ok(frame));
            }
        }
    }

    #[test]
    fn envelopes(
        seeds: [[u8; 32]; 3],
        sequence in 0..=SEQUENCE_MAX,
        timestamp_ms in 0..=SEQUENCE_MAX,
        tag in prop_oneof![
            Just(MessageTag::Pair), Just(MessageTag::Sync), Just(MessageTag::GroupManifest)
        ],
        body in vec(any::<u8>(), 0..2_000),
    ) {
        let (author, recipient) = (device(seeds[0]), device(seeds[1]).noise);
        let sealing = Sealing {
            author: &author.signing,
            recipient: &recipient.public(),
            sequence,
            timestamp_ms,
            tag,
            body: &body,
        };
        let sealed = seal(&sealing, &mut rng(seeds[2])).unwrap();
        prop_assert!(sealed.len() <= body.len() + 208);
        let Received::Current(envelope) = Received::decode(&sealed).unwrap() else {
            return Err(TestCaseError::fail("not current"));
        };
        let author = author.signing.public();
        let opened = envelope.open(&recipient).unwrap();
        prop_assert_eq!(opened.message_id(), MessageId::derive(&author, sequence));
        prop_assert_eq!(opened, OpenedEnvelope { author, sequence, timestamp_ms, tag, body });
    }

    #[test]
    fn manifests(
        seeds in vec(any::<[u8; 32]>(), 1..=GROUP_MEMBERS_MAX),
        names in vec(any::<String>(), GROUP_MEMBERS_MAX),
        group: [u8; 32],
        version in 1..=MANIFEST_VERSION_MAX,
        parent: Option<[u8; 32]>,
    ) {
        let members: Vec<Member> = seeds
            .iter()
            .zip(&names)
            .map(|(seed, name)| {
                let keys = device(*seed).keys();
                Member { keys, name: DeviceName::clean(name, &keys.signing) }
            })
            .collect();
        let parent = parent.map(ManifestHash::from_bytes);
        let issuer = device(seeds[0]).signing;
        let signed = Manifest::new(GroupId::from_bytes(group), version, parent, members.clone())
            .unwrap()
            .sign(&issuer);
        let read = SignedManifest::decode(&signed.encode()).unwrap();
        for member in &members {
            prop_assert_eq!(read.member(&member.keys.signing), Some(member));
        }
        prop_assert_eq!(read.members().len(), members.len());
        prop_assert_eq!(*read.issuer(), issuer.public());
        prop_assert_eq!(read, signed);
    }

    #[test]
    fn pairing(admitter: [u8; 32], joiner: [u8; 32], secret: [u8; 32], name in any::<String>()) {
        let token = PairingToken::new(device(admitter).keys(), PairingSecret::from_bytes(secret));
        prop_assert_eq!(PairingToken::parse(&token.to_text()), Ok(token.clone()));
        let keys = device(joiner).keys();
        let body = PairBody::new(&token, &keys, DeviceName::clean(&name, &keys.signing));
        let read = PairBody::decode(&body.encode()).unwrap();
        prop_assert!(read.is_proven(&token.keys(), token.secret()));
        prop_assert_eq!(read, body);
    }

    #[test]
    fn addresses_and_invitations(
        relay: [u8; 32],
        host in prop_oneof![
            "[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?(\\.[a-z]{2,9}){1,3}",
            any::<[u8; 4]>().prop_map(|b| core::net::Ipv4Addr::from(b).to_string()),
            any::<[u8; 16]>().prop_map(|b| core::net::Ipv6Addr::from(b).to_string()),
        ],
        ports in (1_u16.., 1_u16..),
    ) {
        let key = NoiseSecret::from_bytes(relay).public();
        let address = RelayAddress::new(key, &host, ports.0, ports.1).unwrap();
        prop_assert_eq!(address.host(), host);
        prop_assert_eq!(RelayAddress::parse(&address.to_text()), Ok(address.clone()));
        let token = PairingToken::new(device(relay).keys(), PairingSecret::from_bytes(relay));
        let invitation = Invitation { relay: Some(address), token };
        let link = invitation.to_link().unwrap();
        prop_assert_eq!(Invitation::parse(&link), Ok(invitation));
    }

    #[test]
    fn app_messages(
        id: [u8; 16],
        text in any::<String>(),
        via in any::<String>(),
        version: u64,
        number in (4_u32..1 << 29).prop_filter("in use", |number| !(8..=9).contains(number)),
    ) {
        for kind in [
            AppMessageKind::Text(text.clone()),
            AppMessageKind::GroupName { name: text, version },
            AppMessageKind::Unknown { number },
        ] {
            let via = DeviceName::of_phone(&via);
            let message = AppMessage { id, kind, via };
            prop_assert_eq!(AppMessage::decode(&message.encode()), Ok(message));
        }
    }

    #[test]
    fn identifiers(author: [u8; 32], sequence: u64) {
        let id = MessageId::derive(&SigningPublic::from_bytes(author), sequence);
        prop_assert_eq!(MessageId::parse(&id.to_text()), Some(id));
        prop_assert_eq!(MessageId::from_bytes(*id.as_bytes()), id);
        let member = SigningPublic::from_bytes(author).member_id();
        prop_assert_eq!(member.signing_key(), Some(SigningPublic::from_bytes(author)));
    }

    #[test]
    fn unsupported_answers(min in 1_u16.., more: u16) {
        let answer = Unsupported { min, max: min.saturating_add(more) };
        prop_assert_eq!(Unsupported::parse(&answer.encode()), Some(answer));
    }
}
