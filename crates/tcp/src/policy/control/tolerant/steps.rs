//! Steps of the delay: links that hold packets back, handovers, longer routes.

use earlybird_units::{Duration, Instant};

/// The part of the delay that came in steps.
///
/// A queue that fills raises the delay of each packet by little more than that of the one in front of it: even a sender in slow start
/// sends at most twice what the link carries (RFC 5681 §3.1), so that ACKs at most double their distance. A link that holds packets back
/// delays the next one by all of the hold: nothing arrives for as long as the delay rises. That rise is no queue, until the delay
/// falls again. Our own rule.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DelaySteps {
    explained: Duration,
    latest: Option<Arrival>,
    /// The mean time between arrivals, smoothed as the RTT (RFC 6298), with a gain of 1/8.
    spacing: Duration,
}

/// A sample of the RTT.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Instant,
    /// The RTT less the base delay.
    excess: Duration,
}

/// The least rise that is a step: half of the delay that counts as a queue. Less may be a burst of another sender.
const LEAST: Duration = Duration::from_micros(2_500);
/// Arrivals at more than this multiple of their usual distance follow a hold.
const LONG_GAP: u64 = 2;

impl DelaySteps {
    /// Returns the RTT without the steps.
    pub(super) fn without_steps(&mut self, now: Instant, rtt: Duration, base: Duration) -> Duration {
        let excess = rtt.saturating_sub(base);
        let rise = self.latest.map_or(Duration::ZERO, |latest| self.step(now - latest.at, rtt, excess, latest.excess));
        self.explained = (self.explained + rise).min(excess);
        self.latest = Some(Arrival { at: now, excess });
        rtt.saturating_sub(self.explained)
    }

    /// Returns the rise of the delay if nothing arrived meanwhile, after `gap` without arrivals, and counts that.
    fn step(&mut self, gap: Duration, rtt: Duration, excess: Duration, before: Duration) -> Duration {
        let rise = excess.saturating_sub(before).min(gap);
        // A segment sent after the last arrival follows a pause of the source.
        let is_hold = self.spacing > Duration::ZERO && gap > self.spacing * LONG_GAP && rtt >= gap;
        let usual = gap.min(self.spacing * (2 * LONG_GAP));
        // ACKs that arrive together are one arrival.
        if gap > Duration::ZERO {
            self.spacing = if self.spacing == Duration::ZERO { gap } else { (self.spacing * 7 + usual) / 8 };
        }
        if is_hold && rise >= LEAST { rise } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const BASE: Duration = Duration::from_millis(60);

    /// Returns the delays in milliseconds, beyond the base delay and without steps, of segments sent each 3 ms, whose delays beyond the
    /// base delay are given.
    fn unexplained(delays_ms: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut steps = DelaySteps::default();
        let mut latest = Duration::ZERO;
        (1_u64..)
            .zip(delays_ms)
            .map(|(number, delay_ms)| {
                let (sent, rtt) = (Duration::from_millis(3 * number), BASE + Duration::from_millis(delay_ms));
                // Packets do not overtake one another.
                latest = latest.max(sent + rtt);
                let rtt = latest.saturating_sub(sent);
                let rest = steps.without_steps(Instant::ZERO + latest, rtt, BASE);
                rest.saturating_sub(BASE).as_nanos() / 1_000_000
            })
            .collect()
    }

    /// The symptom: with a loss in the time of a hold the window was halved, and a stream lost hundreds of packets where SRT lost none.
    #[test]
    fn packets_that_a_link_held_back_show_no_queue() {
        let hold = (0..20).map(|_| 0).chain((0..40).map(|step| 120 - 3 * step)).chain((0..20).map(|_| 0));
        assert_eq!(unexplained(hold), [0; 80]);
    }

    #[test]
    fn a_longer_route_shows_no_queue_and_a_queue_behind_it_does() {
        let route = (0..20).map(|_| 0).chain((0..20).map(|_| 40)).chain((1..=20).map(|step| 40 + step));
        let unexplained = unexplained(route);
        assert_eq!(unexplained[..40], [0; 40]);
        assert_eq!(unexplained[40..], (1..=20).collect::<Vec<u64>>());
    }

    #[test]
    fn delays_that_step_up_and_down_show_no_queue() {
        let steps = [0, 30, 10, 50, 25, 45, 0, 20].into_iter().flat_map(|delay| [delay; 20]);
        assert_eq!(unexplained(steps).into_iter().max(), Some(0));
    }

    #[test]
    fn a_queue_that_another_sender_fills_in_slow_start_is_one() {
        let queue = (0..20).map(|_| 0).chain((0..20).map(|step| 3 * step));
        assert_eq!(unexplained(queue).last(), Some(&57));
    }

    #[test]
    fn a_queue_that_fills_in_a_pause_of_the_source_is_one() {
        let mut steps = DelaySteps::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        (0..20).for_each(|step| _ = steps.without_steps(at(3 * step), BASE, BASE));
        let rtt = BASE + Duration::from_millis(40);
        assert_eq!(steps.without_steps(at(2_000), rtt, BASE), rtt);
    }
}
