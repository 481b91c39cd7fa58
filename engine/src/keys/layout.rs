//! The byte layout that key items and key files have in common.

use sha2::{Digest, Sha256};

use super::KeyStoreError;

/// Bytes of a check.
pub(super) const CHECK_BYTES: usize = 8;

/// The check of `bytes`: it finds damage, it keeps nobody from changing anything.
pub(super) fn check(label: &[u8], bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let digest = Sha256::new()
        .chain_update(label)
        .chain_update([0])
        .chain_update(bytes)
        .finalize();
    let mut check = [0; CHECK_BYTES];
    check
        .iter_mut()
        .zip(digest)
        .for_each(|(to, from)| *to = from);
    check
}

/// Splits off the check at the end of `bytes` and compares it.
pub(super) fn checked<'a>(label: &[u8], bytes: &'a [u8]) -> Result<&'a [u8], KeyStoreError> {
    let (covered, found) = bytes
        .split_last_chunk::<CHECK_BYTES>()
        .ok_or(KeyStoreError::Damaged)?;
    if check(label, covered) == *found {
        Ok(covered)
    } else {
        Err(KeyStoreError::Damaged)
    }
}

/// Takes `N` bytes off the front.
pub(super) fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Result<&'a [u8; N], KeyStoreError> {
    let (head, tail) = bytes
        .split_first_chunk::<N>()
        .ok_or(KeyStoreError::Damaged)?;
    *bytes = tail;
    Ok(head)
}

/// Takes a big-endian number off the front.
pub(super) fn take_u32(bytes: &mut &[u8]) -> Result<u32, KeyStoreError> {
    take(bytes).map(|number| u32::from_be_bytes(*number))
}

/// Takes `length` bytes off the front.
pub(super) fn take_slice<'a>(
    bytes: &mut &'a [u8],
    length: usize,
) -> Result<&'a [u8], KeyStoreError> {
    let (head, tail) = bytes
        .split_at_checked(length)
        .ok_or(KeyStoreError::Damaged)?;
    *bytes = tail;
    Ok(head)
}
