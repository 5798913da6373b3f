//! Splits a byte stream into units of whole TS packets.

use crate::ts::{self, PACKET_BYTES, PACKETS_PER_UNIT};

/// Splits a transport stream at packet boundaries.
#[derive(Debug, Default)]
pub(super) struct TsSplitter {
    bytes: Vec<u8>,
}

/// Bytes to search for a packet boundary before the input is rejected.
const MAX_SCAN: usize = 100 * PACKET_BYTES;

/// The input is no transport stream.
#[derive(Debug)]
pub(super) struct NotTs;

impl TsSplitter {
    /// Appends bytes, and passes each unit that is complete to `act`. Bytes between packets are dropped. Stops and returns `false`
    /// if `act` does.
    pub(super) fn push(&mut self, bytes: &[u8], mut act: impl FnMut(&[u8]) -> bool) -> Result<bool, NotTs> {
        self.bytes.extend(bytes);
        let mut start = 0;
        let result = loop {
            let rest = &self.bytes[start..];
            match next_unit(rest) {
                Some(length) if !act(&rest[..length]) => break Ok(false),
                Some(length) => start += length,
                // Two packets are needed to recognise a boundary: a sync byte alone may be payload.
                None if rest.len() < 2 * PACKET_BYTES => break Ok(true),
                None => match ts::find_sync(rest) {
                    Some(offset) if offset > 0 => start += offset,
                    _ if rest.len() > MAX_SCAN => break Err(NotTs),
                    _ => break Ok(true),
                },
            }
        };
        // Once per call: draining after each unit would move the rest of the buffer each time.
        self.bytes.drain(..start);
        result
    }
}

/// Returns the length of the whole packets at the start, up to the size of a unit; `None` if there is none.
fn next_unit(bytes: &[u8]) -> Option<usize> {
    let packets = bytes.chunks_exact(PACKET_BYTES).take(PACKETS_PER_UNIT);
    let count = packets.take_while(|packet| ts::is_ts(packet)).count();
    (count > 0).then_some(count * PACKET_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u8) -> Vec<u8> {
        let mut packet = vec![number; PACKET_BYTES];
        packet[0] = 0x47;
        packet
    }

    #[test]
    fn streams_are_split_at_packet_boundaries() {
        let stream: Vec<u8> = [&b"no packet"[..], &(0..20).flat_map(packet).collect::<Vec<_>>()].concat();
        for step in [1, 100, 188, 1000, 5000] {
            let (mut splitter, mut received) = (TsSplitter::default(), Vec::<u8>::new());
            for bytes in stream.chunks(step) {
                let result = splitter.push(bytes, |whole| {
                    assert!(ts::is_ts(whole) && whole.len() <= PACKETS_PER_UNIT * PACKET_BYTES);
                    received.extend(whole);
                    true
                });
                assert!(result.is_ok());
            }
            assert_eq!(received, stream[9..], "{step}");
        }
    }

    #[test]
    fn other_input_is_rejected() {
        assert!(TsSplitter::default().push(&vec![1; 2 * MAX_SCAN], |_| true).is_err());
    }
}
