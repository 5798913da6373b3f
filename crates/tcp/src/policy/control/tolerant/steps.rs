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
    /// The mean time between arrivals, smoothed as the RTT (RFC 6298), with a gain of 1/8; pauses of the source do not count.
    spacing: Duration,
    /// The last step.
    stepped_at: Option<Instant>,
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
/// The time for which a path counts as one with steps: some twenty of the round trips for which a queue stands.
const MEMORY: Duration = Duration::from_secs(1);

impl DelaySteps {
    /// Returns the RTT without the steps. `waited` is the time for which segments were in flight: the RTT, or the
    /// largest duration after timeouts without a queue.
    pub(super) fn without_steps(&mut self, now: Instant, rtt: Duration, base: Duration, waited: Duration) -> Duration {
        let excess = rtt.saturating_sub(base);
        let Some(latest) = self.latest.replace(Arrival { at: now, excess }) else { return rtt };
        let rise = self.step(now - latest.at, waited, excess, latest.excess);
        if rise > Duration::ZERO {
            self.stepped_at = Some(now);
        }
        self.explained = (self.explained + rise).min(excess);
        rtt.saturating_sub(self.explained)
    }

    /// Returns whether there was a step lately.
    pub(super) fn are_recent(&self, now: Instant) -> bool {
        self.stepped_at.is_some_and(|stepped_at| now < stepped_at + MEMORY)
    }

    /// Returns the rise of the delay if nothing arrived meanwhile, after `gap` without arrivals, and counts that.
    fn step(&mut self, gap: Duration, waited: Duration, excess: Duration, before: Duration) -> Duration {
        // A segment sent after the last arrival follows a pause of the source. ACKs that arrive together are one arrival.
        if gap > waited || gap == Duration::ZERO {
            return Duration::ZERO;
        }
        let rise = excess.saturating_sub(before).min(gap);
        let is_hold = self.spacing > Duration::ZERO && gap > self.spacing * LONG_GAP;
        let usual = gap.min(self.spacing * (2 * LONG_GAP));
        self.spacing = if self.spacing == Duration::ZERO { gap } else { (self.spacing * 7 + usual) / 8 };
        // Packets at twice the link's rate lengthen a queue between two arrivals by half of their distance at most, be they of this
        // flow, which sends few together, or of others. Where the timer expired without a queue, its time of silence shows the hold.
        let is_longer_than_queue = rise > gap / 2 || waited == Duration::MAX;
        if is_hold && is_longer_than_queue && rise >= LEAST { rise } else { Duration::ZERO }
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
                let rest = steps.without_steps(Instant::ZERO + latest, rtt, BASE, rtt);
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

    /// The symptom: eight flows with small windows took all of a link from eight SACK transfers, as what those queued in the time
    /// between two groups of packets counted as steps of the path.
    #[test]
    fn a_queue_that_others_fill_between_groups_of_packets_is_one() {
        let mut steps = DelaySteps::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut queue = 0;
        for group in 0..4 {
            let rtt = BASE + Duration::from_millis(queue);
            (0..3).for_each(|packet| assert_eq!(steps.without_steps(at(60 * group + packet), rtt, BASE, rtt), rtt));
            queue += 25;
        }
    }

    #[test]
    fn a_queue_that_fills_in_a_pause_of_the_source_is_one() {
        let mut steps = DelaySteps::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        (0..20).for_each(|step| _ = steps.without_steps(at(3 * step), BASE, BASE, BASE));
        let rtt = BASE + Duration::from_millis(40);
        assert_eq!(steps.without_steps(at(2_000), rtt, BASE, rtt), rtt);
    }

    /// The symptom: the second between the handshake and the first frame counted as the usual distance of arrivals, so that for a second
    /// of the stream no step was found, and a stream with jitter began with half of its window.
    #[test]
    fn a_pause_before_the_first_frame_does_not_hide_steps() {
        let mut steps = DelaySteps::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        _ = steps.without_steps(at(60), BASE, BASE, BASE);
        (0..5).for_each(|step| _ = steps.without_steps(at(1_060 + 3 * step), BASE, BASE, BASE));
        let rtt = BASE + Duration::from_millis(40);
        assert_eq!(steps.without_steps(at(1_115), rtt, BASE, rtt), BASE);
    }
}
