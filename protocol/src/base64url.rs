//! Base64url without padding, strict: one text for each value and no other text accepted.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

/// Encodes bytes as unpadded base64url.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes exactly `N` bytes; padding, another alphabet, another length and left-over bits are
/// refused. What is decoded on the way is wiped: some of it is secret.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(text).ok()?);
    bytes.as_slice().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_text_is_accepted() {
        assert_eq!(encode(&[0xff; 1]), "_w");
        assert_eq!(decode::<1>("_w"), Some([0xff]));
        for wrong in ["_w==", "/w", "_x", "_", "", "_w\n", "__8"] {
            assert_eq!(decode::<1>(wrong), None, "{wrong:?}");
        }
    }
}
