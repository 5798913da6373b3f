//! Playback delay: the time from writing a unit to playing it.

use earlybird_units::{Duration, Instant};

/// Returns the smallest playback delay at which a retransmission can arrive: 1.5·RTT + 3·period + margin.
///
/// The segments written one, two and three periods behind the lost one cause the duplicate ACKs; the third reaches the
/// sender RTT + 3·period after the lost one was written, and the retransmission takes RTT/2 (MTCP paper).
pub fn minimum_playback_delay(rtt: Duration, period: Duration, margin: Duration) -> Duration {
    rtt + rtt / 2 + period * 3 + margin
}

/// Playback delay: the time from writing a unit to playing it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlaybackDelay {
    /// Always as long.
    Fixed(Duration),
    /// Adapted to the delay of the network.
    Adaptive(AdaptiveDelay),
}

/// Algorithm 1 of Ramjee, Kurose, Towsley and Schulzrinne, "Adaptive playout mechanisms for packetized audio applications
/// in wide-area networks", INFOCOM 1994: the mean of the network's delay and four times its mean deviation, computed again for
/// each talkspurt. A stream without pauses is divided into talkspurts of a number of units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveDelay {
    /// Never shorter …
    pub least: Duration,
    /// … and never longer; the first talkspurt is played with this delay.
    pub most: Duration,
    /// Units of a talkspurt.
    pub talkspurt: u64,
}

/// Weight of the past in both means (Ramjee and others, §3, after RFC 793's estimator).
const MEMORY: f64 = 0.998_002;
/// Deviations above the mean.
const DEVIATIONS: f64 = 4.0;
/// The players' clock in seconds: the deviations are no less, so that steady delays leave room for rounding (as the clock
/// granularity of RFC 6298 §2.3 does).
const GRANULARITY: f64 = 0.001;

/// Playout times of units.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    rule: PlaybackDelay,
    delay: Duration,
    /// Mean and mean deviation of the network's delay in seconds.
    estimate: Option<(f64, f64)>,
}

impl Schedule {
    pub(super) fn new(rule: PlaybackDelay) -> Self {
        let delay = match rule {
            PlaybackDelay::Fixed(delay) => delay,
            PlaybackDelay::Adaptive(adaptive) => adaptive.most,
        };
        Self { rule, delay, estimate: None }
    }

    pub(super) fn playout(&self, written: Instant) -> Instant {
        written + self.delay
    }

    /// Records the delay after which a unit was complete.
    pub(super) fn on_arrival(&mut self, delay: Duration) {
        let sample = delay.as_secs_f64();
        let (mean, deviation) = self.estimate.unwrap_or((sample, 0.0));
        let mean = MEMORY * mean + (1.0 - MEMORY) * sample;
        // Ramjee et al. (INFOCOM 1994), algorithm 1.
        let deviation = MEMORY * deviation + (1.0 - MEMORY) * (mean - sample).abs();
        self.estimate = Some((mean, deviation));
    }

    /// Moves to the next unit. Returns the playback delay if it changes there.
    pub(super) fn on_played(&mut self, next: u64) -> Option<Duration> {
        let PlaybackDelay::Adaptive(AdaptiveDelay { least, most, talkspurt }) = self.rule else { return None };
        // Changes only between talkspurts, where silence hides them.
        let (mean, deviation) = self.estimate.filter(|_| next.is_multiple_of(talkspurt.max(1)))?;
        // Mean plus four deviations, as RFC 6298 does for the RTO.
        let wanted = Duration::from_secs_f64(mean + (DEVIATIONS * deviation).max(GRANULARITY));
        let delay = wanted.max(least).min(most.max(least));
        (core::mem::replace(&mut self.delay, delay) != delay).then_some(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_smallest_playback_delay_is_that_of_the_paper() {
        assert_eq!(minimum_playback_delay(millis(60), millis(20), millis(10)), millis(160));
        assert_eq!(minimum_playback_delay(millis(100), millis(20), Duration::ZERO), millis(210));
    }

    fn adaptive() -> Schedule {
        let rule = AdaptiveDelay { least: millis(20), most: millis(400), talkspurt: 50 };
        Schedule::new(PlaybackDelay::Adaptive(rule))
    }

    #[test]
    fn a_constant_network_delay_and_a_tick_are_the_playback_delay_from_the_second_talkspurt_on() {
        let mut schedule = adaptive();
        (0..50).for_each(|_| schedule.on_arrival(millis(80)));
        assert_eq!(schedule.playout(Instant::ZERO), Instant::ZERO + millis(400));
        assert_eq!((schedule.on_played(49), schedule.on_played(50)), (None, Some(millis(81))));
        assert_eq!(schedule.playout(Instant::ZERO), Instant::ZERO + millis(81));
        assert_eq!(schedule.on_played(100), None, "nothing changed");
    }

    #[test]
    fn jitter_adds_four_times_its_mean_deviation_and_the_bounds_hold() {
        let mut schedule = adaptive();
        (0..20_000).for_each(|sample| schedule.on_arrival(millis(if sample % 2 == 0 { 60 } else { 100 })));
        // Mean 80 ms, deviation 20 ms.
        let delay = schedule.on_played(50).unwrap();
        assert!(delay.abs_diff(millis(160)) < millis(1), "{delay}");
        (0..20_000).for_each(|_| schedule.on_arrival(millis(900)));
        assert_eq!(schedule.on_played(100), Some(millis(400)));
        (0..20_000).for_each(|_| schedule.on_arrival(millis(1)));
        assert_eq!(schedule.on_played(150), Some(millis(20)));
    }
}
