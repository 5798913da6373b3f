//! Bytes that one connection has delivered and the other has not accepted yet.

use std::io;

/// Bytes read from one connection that the other has not accepted yet.
#[derive(Debug, Default)]
pub(crate) struct Leftover {
    bytes: Vec<u8>,
    start: usize,
}

impl Leftover {
    /// Returns whether everything was accepted.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Offers `bytes` to `write`, and keeps those that it does not accept. Returns the number of accepted bytes.
    pub(crate) fn offer(&mut self, bytes: &[u8], write: impl FnOnce(&[u8]) -> io::Result<usize>) -> io::Result<usize> {
        debug_assert!(self.is_empty(), "bytes must not overtake earlier ones");
        let count = write(bytes)?;
        self.bytes = bytes[count..].to_vec();
        Ok(count)
    }

    /// Offers the kept bytes to `write`. Returns the number of accepted bytes.
    pub(crate) fn flush(&mut self, write: impl FnOnce(&[u8]) -> io::Result<usize>) -> io::Result<usize> {
        if self.is_empty() {
            return Ok(0);
        }
        let count = write(&self.bytes[self.start..])?;
        self.start += count;
        if self.start == self.bytes.len() {
            // Frees the memory: most connections never have a leftover.
            *self = Self::default();
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_kept_in_order_until_they_are_accepted() {
        let (mut leftover, mut accepted) = (Leftover::default(), Vec::new());
        let mut take = |most: usize, bytes: &[u8]| {
            let count = most.min(bytes.len());
            accepted.extend_from_slice(&bytes[..count]);
            Ok(count)
        };
        assert_eq!(leftover.offer(b"early bird", |bytes| take(3, bytes)).ok(), Some(3));
        for (most, count, is_empty) in [(0, 0, false), (2, 2, false), (9, 5, true), (9, 0, true)] {
            assert_eq!(leftover.flush(|bytes| take(most, bytes)).ok(), Some(count));
            assert_eq!(leftover.is_empty(), is_empty);
        }
        assert_eq!(accepted, b"early bird");
    }
}
