//! MPEG transport streams (ISO/IEC 13818-1): packets of 188 bytes, some of which tell the time.

use earlybird_units::Duration;

/// Bytes of a packet.
pub(crate) const PACKET: usize = 188;
/// What every packet begins with.
const SYNC: u8 = 0x47;
/// Packets that go into one datagram: as many as fit beside the headers of IP, UDP and RTP into 1500 bytes, by custom.
pub(crate) const PACKETS_TOGETHER: usize = 7;

/// Returns whether bytes are whole packets of a transport stream.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.len().is_multiple_of(PACKET)
        && bytes.chunks_exact(PACKET).all(|packet| packet[0] == SYNC)
}

/// Returns how many bytes stand before the first packet: where two packets begin one behind the other.
pub(crate) fn find(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len().saturating_sub(PACKET)).find(|start| bytes[*start] == SYNC && bytes[start + PACKET] == SYNC)
}

/// Returns the program clock reference of a packet and its stream's number, if it has one (§2.4.3.4, §2.4.3.5): 33 bits of a clock
/// of 90 kHz, and 300 steps between its ticks.
fn clock_reference(packet: &[u8]) -> Option<(u16, u64)> {
    let has_adaptation = packet[3] & 0x20 != 0 && packet[4] >= 7;
    if !has_adaptation || packet[5] & 0x10 == 0 {
        return None;
    }
    let number = u16::from_be_bytes([packet[1], packet[2]]) & 0x1fff;
    let bytes: [u8; 6] = *packet[6..].first_chunk()?;
    let value = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    let (base, extension) = (value >> 15, value & 0x1ff);
    Some((number, base * 300 + extension))
}

/// The clock's rate.
const TICKS_PER_SECOND: u64 = 27_000_000;
/// A reference that differs from the one before by more begins a time of its own (§2.7.2 asks for one each 100 ms).
const LONGEST_GAP: u64 = TICKS_PER_SECOND;

/// Tells when the bytes of a recorded stream are due, by its clock references.
///
/// Between two references time goes by evenly with the bytes (§2.4.2.2); up to the second one nothing is known of the rate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    /// The stream whose clock is followed.
    number: Option<u16>,
    last: u64,
    /// Ticks since the beginning.
    elapsed: u64,
}

impl Pace {
    /// Reads packets, and gives the time since the beginning at which the last of their references says they are due.
    pub(crate) fn read(&mut self, packets: &[u8]) -> Option<Duration> {
        let mut due = None;
        for packet in packets.chunks_exact(PACKET) {
            let Some((number, ticks)) = clock_reference(packet) else { continue };
            if *self.number.get_or_insert(number) != number {
                continue;
            }
            let step = ticks.wrapping_sub(self.last);
            if due.is_some() || self.last > 0 {
                self.elapsed += if step < LONGEST_GAP { step } else { 0 };
            }
            self.last = ticks;
            due = Some(Duration::from_nanos(self.elapsed * 1_000 / (TICKS_PER_SECOND / 1_000_000)));
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a reference of so many milliseconds.
    fn packet(millis: Option<u64>) -> Vec<u8> {
        let mut packet = vec![0xff; PACKET];
        packet[..4].copy_from_slice(&[SYNC, 0x01, 0x00, 0x10]);
        if let Some(millis) = millis {
            let base = millis * 90;
            packet[3] |= 0x20;
            packet[4..6].copy_from_slice(&[7, 0x10]);
            packet[6..12].copy_from_slice(&(base << 15 | 0x7e00).to_be_bytes()[2..]);
        }
        packet
    }

    #[test]
    fn references_tell_the_time_since_the_first_one() {
        let mut pace = Pace::default();
        let times = [Some(5_000), None, Some(5_040), Some(5_100), Some(9_000_000), Some(9_000_020)];
        let due: Vec<_> = times.iter().map(|time| pace.read(&packet(*time))).collect();
        let millis = |millis| Some(Duration::from_millis(millis));
        assert_eq!(due, [millis(0), None, millis(40), millis(100), millis(100), millis(120)]);
    }

    #[test]
    fn whole_packets_are_told_from_other_bytes() {
        let two = [packet(None), packet(Some(1))].concat();
        assert!(is_whole(&two) && !is_whole(&two[1..]) && !is_whole(&[]));
        let behind = [&b"header"[..], &two, &packet(None)].concat();
        assert_eq!(find(&behind), Some(6));
    }
}
