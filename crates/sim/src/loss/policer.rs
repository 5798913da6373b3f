use earlybird_units::{Duration, Instant, Rate};

/// A token bucket that lets packets pass or drops them, and lets none wait, as Linux' `tc … police rate R burst B … drop`.
///
/// The bucket is full at first. It fills with the rate up to the burst size, and each packet that passes takes its bytes; one
/// for which there are not enough is dropped and takes none (`act_police.c`; RFC 2697 with one bucket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    rate: Rate,
    /// Size of the bucket in bits, times 10⁹: tokens of a nanosecond are whole numbers.
    size: u128,
    tokens: u128,
    updated: Instant,
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

const fn tokens_of(bytes: u64) -> u128 {
    bytes as u128 * 8 * NANOS_PER_SECOND
}

impl Policer {
    /// Makes a policer with a full bucket of `burst` bytes.
    pub const fn new(rate: Rate, burst: u64) -> Self {
        let size = tokens_of(burst);
        Self { rate, size, tokens: size, updated: Instant::ZERO }
    }

    /// Returns whether a packet that arrives now is dropped.
    pub(super) fn drops(&mut self, now: Instant, bytes: u32) -> bool {
        self.fill(now - self.updated);
        self.updated = now;
        let rest = self.tokens.checked_sub(tokens_of(u64::from(bytes)));
        self.tokens = rest.unwrap_or(self.tokens);
        rest.is_none()
    }

    fn fill(&mut self, time: Duration) {
        let filled = u128::from(self.rate.bits_per_second()) * u128::from(time.as_nanos());
        self.tokens = (self.tokens + filled).min(self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The virtual scheduling algorithm of ITU-T I.371, annex A, for packets of different sizes: one conforms if its theoretical
    /// arrival time lies at most the tolerance after it. In nanoseconds times the rate.
    struct VirtualScheduling {
        rate: i128,
        tolerance: i128,
        theoretical: i128,
    }

    impl VirtualScheduling {
        fn conforms(&mut self, nanos: u64, bytes: u32) -> bool {
            let (now, size) = (i128::from(nanos) * self.rate, i128::from(bytes) * 8_000_000_000);
            let end = self.theoretical.max(now) + size;
            let conforms = end - now <= self.tolerance;
            self.theoretical = if conforms { end } else { self.theoretical };
            conforms
        }
    }

    proptest! {
        #[test]
        fn packets_pass_as_the_virtual_scheduling_algorithm_lets_them(
            megabits in 1_u64..20,
            burst in 100_u64..20_000,
            packets in prop::collection::vec((0_u64..3_000_000, 40_u32..1500), 1..200),
        ) {
            let rate = Rate::from_bits_per_second(megabits * 1_000_000).unwrap();
            let mut policer = Policer::new(rate, burst);
            let tolerance = i128::from(burst) * 8_000_000_000;
            let mut other = VirtualScheduling { rate: i128::from(rate.bits_per_second()), tolerance, theoretical: 0 };
            let (mut now, mut passed) = (0, Vec::new());
            for (gap, bytes) in packets {
                now += gap;
                let drops = policer.drops(Instant::from_nanos(now), bytes);
                prop_assert_eq!(drops, !other.conforms(now, bytes));
                if !drops {
                    passed.push((now, u128::from(bytes)));
                }
            }
            // No interval carries more than the burst and the rate times its length.
            for (index, (from, _)) in passed.iter().enumerate() {
                let mut bytes = 0;
                for (until, more) in &passed[index..] {
                    bytes += more;
                    let filled = u128::from(rate.bits_per_second()) * u128::from(until - from);
                    prop_assert!(bytes * 8_000_000_000 <= u128::from(burst) * 8_000_000_000 + filled);
                }
            }
        }
    }
}
