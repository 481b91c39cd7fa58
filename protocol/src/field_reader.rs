//! Takes fields of fixed and stated length from the front of received bytes.
//!
//! Every step answers `None` when too few bytes are left, so a decoder built on it can't read
//! out of bounds and never has to slice.

/// Received bytes of which the front has been read.
#[derive(Clone, Copy)]
pub(crate) struct FieldReader<'a> {
    rest: &'a [u8],
}

impl<'a> FieldReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*field)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(field)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Everything that wasn't read yet.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_in_order_and_stop_at_the_end() {
        let mut reader = FieldReader::new(&[1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 9, 8]);
        assert_eq!(reader.u8(), Some(1));
        assert_eq!(reader.u32(), Some(2));
        assert_eq!(reader.u64(), Some(3));
        assert_eq!(reader.bytes(3), None);
        assert_eq!(reader.array::<2>(), Some([9, 8]));
        assert!(reader.is_empty());
        assert_eq!(reader.u8(), None);
    }
}
