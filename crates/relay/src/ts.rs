//! MPEG transport streams (ISO/IEC 13818-1): packets of 188 bytes and their clock references.

use earlybird_units::Duration;

/// Bytes per packet.
pub(crate) const PACKET_BYTES: usize = 188;
/// The sync byte, the first of each packet.
pub(crate) const SYNC: u8 = 0x47;
/// Packets per unit. By custom seven: with the headers of IP, UDP and RTP they fit into 1500 bytes.
pub(crate) const PACKETS_PER_UNIT: usize = 7;

/// Returns whether bytes consist of whole TS packets.
pub(crate) fn is_ts(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.len().is_multiple_of(PACKET_BYTES)
        && bytes.chunks_exact(PACKET_BYTES).all(|packet| packet[0] == SYNC)
}

/// Returns the offset of the first packet: where two sync bytes are one packet apart.
pub(crate) fn find_sync(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len().saturating_sub(PACKET_BYTES))
        .find(|start| bytes[*start] == SYNC && bytes[start + PACKET_BYTES] == SYNC)
}

/// Returns the PID and the program clock reference of a packet, if it has one (§2.4.3.4, §2.4.3.5): 33 bits at 90 kHz, times 300,
/// plus an extension of 9 bits.
fn read_pcr(packet: &[u8]) -> Option<(u16, u64)> {
    // adaptation_field_control and adaptation_field_length (§2.4.3.2, §2.4.3.4): the PCR needs seven bytes.
    let has_adaptation = packet[3] & 0x20 != 0 && packet[4] >= 7;
    if !has_adaptation || packet[5] & 0x10 == 0 {
        return None;
    }
    // 13 bits of the second and third byte.
    let pid = u16::from_be_bytes([packet[1], packet[2]]) & 0x1fff;
    let bytes: [u8; 6] = *packet[6..].first_chunk()?;
    let value = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    let (base, extension) = (value >> 15, value & 0x1ff);
    Some((pid, base * 300 + extension))
}

/// Frequency of the program clock.
const PCR_HZ: u64 = 27_000_000;
/// A larger step between two references is a discontinuity (§2.7.2 requires one per 100 ms).
const MAX_PCR_STEP: u64 = PCR_HZ;

/// Derives the time of packets of a recorded stream from its clock references (PCR).
///
/// The bit rate is constant between two references (§2.4.2.2), so that the caller interpolates by bytes. Before the second
/// reference the rate is unknown.
#[derive(Clone, Debug, Default)]
pub(crate) struct PcrClock {
    /// PID of the program clock in use: that of the first reference.
    pid: Option<u16>,
    last: u64,
    /// Ticks since the first reference.
    elapsed: u64,
}

impl PcrClock {
    /// Advances the clock by these packets. Returns the time of their last reference, relative to the first one of the stream.
    pub(crate) fn advance(&mut self, packets: &[u8]) -> Option<Duration> {
        let mut due = None;
        for packet in packets.chunks_exact(PACKET_BYTES) {
            let Some((pid, ticks)) = read_pcr(packet) else { continue };
            if *self.pid.get_or_insert(pid) != pid {
                continue;
            }
            // A discontinuity (looped file, edited recording) adds no time. The 33-bit wrap does the same, once in 26 hours.
            let step = ticks.wrapping_sub(self.last);
            if due.is_some() || self.last > 0 {
                self.elapsed += if step < MAX_PCR_STEP { step } else { 0 };
            }
            self.last = ticks;
            due = Some(Duration::from_nanos(self.elapsed * 1_000 / (PCR_HZ / 1_000_000)));
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a clock reference.
    fn packet(millis: Option<u64>) -> Vec<u8> {
        let mut packet = vec![0xff; PACKET_BYTES];
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
    fn time_is_relative_to_the_first_reference() {
        let mut clock = PcrClock::default();
        let times = [Some(5_000), None, Some(5_040), Some(5_100), Some(9_000_000), Some(9_000_020)];
        let due: Vec<_> = times.iter().map(|time| clock.advance(&packet(*time))).collect();
        let millis = |millis| Some(Duration::from_millis(millis));
        assert_eq!(due, [millis(0), None, millis(40), millis(100), millis(100), millis(120)]);
    }

    #[test]
    fn packets_are_recognised() {
        let two = [packet(None), packet(Some(1))].concat();
        assert!(is_ts(&two) && !is_ts(&two[1..]) && !is_ts(&[]));
        let behind = [&b"header"[..], &two, &packet(None)].concat();
        assert_eq!(find_sync(&behind), Some(6));
    }
}
