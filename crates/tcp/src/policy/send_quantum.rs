//! The number of segments that pacing sends in one burst (draft-ietf-ccwg-bbr, "Send Quantum").

/// The time covered by a quantum: `C.send_quantum = C.pacing_rate * 1ms`.
const QUANTUM_SECONDS: f64 = 1e-3;
/// At least two segments at a time, and at most 64 KB, here as 44 of Ethernet's.
const QUANTUM_SEGMENTS: (f64, f64) = (2.0, 44.0);

/// Returns the send quantum in segments for a pacing rate in segments per second.
pub(crate) fn send_quantum(rate: f64) -> f64 {
    let (least, most) = QUANTUM_SEGMENTS;
    // Larger bursts save interrupts at high rates; a millisecond bounds the queue that they cause.
    (rate * QUANTUM_SECONDS).clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantum_is_a_millisecond_within_two_segments_and_64_kilobytes() {
        let quanta = [1.0, 2000.0, 5000.0, 20_000.0, 1e6].map(|rate| send_quantum(rate) as u64);
        assert_eq!(quanta, [2, 2, 5, 20, 44]);
    }
}
