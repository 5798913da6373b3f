//! Bytes of a stream, cut into whole packets.

use crate::ts::{self, PACKET, PACKETS_TOGETHER};

/// Cuts a transport stream where its packets begin.
#[derive(Debug, Default)]
pub(super) struct Packets {
    bytes: Vec<u8>,
}

/// Bytes in which a packet must have begun: beyond them this is no transport stream.
const FAR: usize = 100 * PACKET;

/// This is no transport stream.
#[derive(Debug)]
pub(super) struct Foreign;

impl Packets {
    /// Takes bytes, and gives the packets that are whole now, some together; what stands between packets is left out.
    pub(super) fn take(&mut self, bytes: &[u8], mut act: impl FnMut(&[u8]) -> bool) -> Result<bool, Foreign> {
        self.bytes.extend(bytes);
        loop {
            let whole = self.whole();
            if whole > 0 {
                let goes_on = act(&self.bytes[..whole]);
                self.bytes.drain(..whole);
                if !goes_on {
                    return Ok(false);
                }
            } else if self.bytes.len() >= 2 * PACKET {
                match ts::find(&self.bytes) {
                    Some(start) if start > 0 => drop(self.bytes.drain(..start)),
                    _ if self.bytes.len() > FAR => return Err(Foreign),
                    _ => return Ok(true),
                }
            } else {
                return Ok(true);
            }
        }
    }

    /// Returns how many bytes from here on are whole packets, up to as many as go together.
    fn whole(&self) -> usize {
        let packets = self.bytes.chunks_exact(PACKET).take(PACKETS_TOGETHER);
        packets.take_while(|packet| ts::is_whole(packet)).count() * PACKET
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u8) -> Vec<u8> {
        let mut packet = vec![number; PACKET];
        packet[0] = 0x47;
        packet
    }

    #[test]
    fn a_stream_is_cut_where_packets_begin_however_it_comes() {
        let stream: Vec<u8> = [&b"no packet"[..], &(0..20).flat_map(packet).collect::<Vec<_>>()].concat();
        for step in [1, 100, 188, 1000, 5000] {
            let (mut packets, mut came) = (Packets::default(), Vec::<u8>::new());
            for bytes in stream.chunks(step) {
                let taken = packets.take(bytes, |whole| {
                    assert!(ts::is_whole(whole) && whole.len() <= PACKETS_TOGETHER * PACKET);
                    came.extend(whole);
                    true
                });
                assert!(taken.is_ok());
            }
            assert_eq!(came, stream[9..], "{step}");
        }
    }

    #[test]
    fn what_is_no_transport_stream_is_found_out() {
        assert!(Packets::default().take(&vec![1; 2 * FAR], |_| true).is_err());
    }
}
