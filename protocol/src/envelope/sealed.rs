//! The sealed plaintext. Its layout is fixed, so the signed bytes are exactly the sent ones.

use zeroize::Zeroizing;

use super::{CONTEXT_BYTES, MessageTag, OpenError, OpenedEnvelope, Sealing, body_bytes_max};
use crate::field_reader::FieldReader;
use crate::key::SigningPublic;
use crate::label;
use crate::limit::{HASH_BYTES, PARENTS_MAX, SEQUENCE_MAX, SIGNATURE_BYTES};

/// Everything but the body, with no parents.
const OVERHEAD_BYTES: usize = 118;

/// The plaintext of a message, signature included.
pub(super) fn encode(sealing: &Sealing<'_>, context: &[u8; CONTEXT_BYTES]) -> Zeroizing<Vec<u8>> {
    let body_bytes = u32::try_from(sealing.body.len()).unwrap_or(u32::MAX);
    let capacity = OVERHEAD_BYTES.saturating_add(sealing.body.len());
    let mut plaintext = Zeroizing::new(Vec::with_capacity(capacity));
    plaintext.extend_from_slice(sealing.author.public().as_bytes());
    plaintext.extend_from_slice(&sealing.sequence.to_be_bytes());
    plaintext.extend_from_slice(&sealing.timestamp_ms.to_be_bytes());
    plaintext.push(0);
    plaintext.push(sealing.tag.number());
    plaintext.extend_from_slice(&body_bytes.to_be_bytes());
    plaintext.extend_from_slice(sealing.body);
    let signature = sealing.author.sign(&signing_input(context, &plaintext));
    plaintext.extend_from_slice(&signature);
    plaintext
}

/// Reads a plaintext and verifies its signature.
pub(super) fn decode(
    plaintext: &[u8],
    context: &[u8; CONTEXT_BYTES],
) -> Result<OpenedEnvelope, OpenError> {
    let layout = OpenError::Layout {
        bytes: plaintext.len(),
    };
    let (signed, signature) = plaintext
        .split_last_chunk::<SIGNATURE_BYTES>()
        .ok_or(layout)?;
    let mut fields = FieldReader::new(signed);
    let author = SigningPublic::from_bytes(fields.array().ok_or(layout)?);
    let sequence = fields.u64().ok_or(layout)?;
    let timestamp_ms = fields.u64().ok_or(layout)?;
    let parents = fields.u8().ok_or(layout)?;
    if usize::from(parents) > PARENTS_MAX {
        return Err(OpenError::Parents { parents });
    }
    // Parents are kept for later versions; today they mean nothing.
    fields
        .bytes(usize::from(parents).saturating_mul(HASH_BYTES))
        .ok_or(layout)?;
    let tag = fields.u8().ok_or(layout)?;
    let declared = fields.u32().ok_or(layout)?;
    let body = fields.rest();
    if usize::try_from(declared) != Ok(body.len()) {
        return Err(layout);
    }
    if !author.is_signed(&signing_input(context, signed), signature) {
        return Err(OpenError::Signature);
    }
    let opened = OpenedEnvelope {
        author,
        sequence,
        timestamp_ms,
        tag: MessageTag::from_number(tag).ok_or(OpenError::UnknownTag { tag })?,
        body: body.to_vec(),
    };
    check_values(&opened)?;
    Ok(opened)
}

fn check_values(opened: &OpenedEnvelope) -> Result<(), OpenError> {
    if opened.sequence > SEQUENCE_MAX {
        return Err(OpenError::Sequence);
    }
    if opened.timestamp_ms > SEQUENCE_MAX {
        return Err(OpenError::Timestamp);
    }
    let bytes = opened.body.len();
    if bytes > body_bytes_max(opened.tag) {
        return Err(OpenError::Body { bytes });
    }
    Ok(())
}

pub(super) fn signing_input(context: &[u8; CONTEXT_BYTES], signed: &[u8]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([label::ENVELOPE_SIGNATURE, context, signed].concat())
}
