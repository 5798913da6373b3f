//! Reno's window with an answer to losses that tells congestion from noise by delay, as PERT hears the queue.
//!
//! A loss while the round trip is as short as ever tells of a noisy link and changes nothing; one behind a queue halves
//! the window as ever. The window grows only as far as the application uses it (RFC 7661), so that what a stream spares by
//! being tolerant it cannot spend. Ours; docs/real-time-mode.md says where it errs.

use super::factory::{ControlFactory, ControlSetup};
use super::reno::Reno;
use super::{CongestionControl, Flight, Gauges, Handshake, Progress, Window};
use crate::trace::Cx;
use alloc::boxed::Box;
use earlybird_units::Duration;

/// Parameters of the tolerant window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TolerantParameters {
    /// The queueing delay from which a loss counts as congestion: where PERT's early response begins.
    pub queue_threshold: Duration,
    /// The share of lost segments from which any loss counts as congestion: so much is no noise (the idea of the circuit
    /// breakers of RFC 8083). It also ends what a policer would suffer, which drops without delaying.
    pub breaker: f64,
}

impl TolerantParameters {
    /// PERT's lower threshold (SIGCOMM 2007), and three of ten segments.
    pub const DEFAULT: Self = Self { queue_threshold: Duration::from_millis(5), breaker: 0.3 };
}

impl ControlFactory for TolerantParameters {
    fn name(&self) -> &'static str {
        "tolerant"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(Tolerant::new(setup.reno(), *self))
    }
}

/// Segments over which losses are counted: enough to tell three of ten from a burst.
const COUNTED: u64 = 128;
/// Weight of the newest round trip, as in RFC 6298.
const RTT_WEIGHT: f64 = 0.125;

/// The window may be so many times what is used of it, as Linux allows in slow start (`tcp_is_cwnd_limited`): repairs need
/// room beside the stream.
const HEADROOM: f64 = 2.0;

/// Increase per round trip beside others, in segments. Repairs that never wait for a timer would win more than the share of
/// the SACK senders in the queue with Reno's one segment (study real-time-mode).
const GENTLE: f64 = 0.6;

#[derive(Clone, Debug)]
pub(crate) struct Tolerant {
    window: Reno,
    parameters: TolerantParameters,
    delay: Delay,
    losses: Losses,
    /// The timer ran out, and nothing was acknowledged since.
    is_silent: bool,
    /// The window before it was reduced with too little known of the delay: after a timeout, or in the first round trip.
    before: Option<f64>,
    /// Data have measured the round trip, and not the handshake alone.
    has_sample: bool,
}

/// The round trip now, and the shortest ever. The shortest is never forgotten: an older one errs to the safe side.
#[derive(Clone, Copy, Debug, Default)]
struct Delay {
    smallest: Option<Duration>,
    latest: Duration,
    smoothed: f64,
}

impl Delay {
    fn on_rtt(&mut self, rtt: Duration) {
        let sample = rtt.as_nanos() as f64;
        self.smoothed = self.smallest.map_or(sample, |_| self.smoothed + RTT_WEIGHT * (sample - self.smoothed));
        self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
        self.latest = rtt;
    }

    /// Gives the queueing delay: by the last sample or by the mean, whichever is longer. `None` before any sample.
    fn queueing(&self) -> Option<Duration> {
        let rtt = self.latest.max(Duration::from_nanos(self.smoothed as u64));
        Some(rtt.saturating_sub(self.smallest?))
    }
}

/// How much of what was sent got lost, in the last hundred segments and a few.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    /// What had been sent and had arrived when the count began.
    since: (u64, u64),
    share: f64,
}

impl Losses {
    fn on_loss(&mut self, flight: &Flight) {
        // What is on its way is not lost.
        let settled = flight.sent.saturating_sub(flight.outstanding);
        let (sent, arrived) = (settled.saturating_sub(self.since.0), flight.arrived.saturating_sub(self.since.1));
        if sent >= COUNTED {
            self.share = 1.0 - arrived as f64 / sent as f64;
            self.since = (settled, flight.arrived);
        }
    }
}

impl Tolerant {
    fn new(window: Reno, parameters: TolerantParameters) -> Self {
        Self {
            window,
            parameters,
            delay: Delay::default(),
            losses: Losses::default(),
            is_silent: false,
            before: None,
            has_sample: false,
        }
    }

    /// Says whether losses tell of congestion now: there is a queue, too little is known of the delay, or too much is lost.
    fn is_congested(&self) -> bool {
        !self.has_sample || self.has_queue() || self.losses.share > self.parameters.breaker
    }

    /// The next round trip tells what the reduction was for: behind a queue, congestion; else a link that was silent for a
    /// while, or noisy from the first packet on, and the window is what it was.
    fn reconsider(&mut self) {
        if let Some(before) = self.before.take()
            && !self.is_congested()
        {
            let cwnd = self.cwnd().max(before);
            self.window.set(cwnd, cwnd.max(self.ssthresh()));
        }
    }

    fn has_queue(&self) -> bool {
        self.delay.queueing().is_none_or(|queueing| queueing > self.parameters.queue_threshold)
    }

    fn grow(&mut self, cx: &mut Cx<'_>, progress: &Progress) {
        if self.has_queue() && !self.window.is_slow_start() {
            self.window.grow_by(GENTLE * progress.growth / self.cwnd());
        } else {
            self.window.on_progress(cx, progress);
        }
    }
}

impl CongestionControl for Tolerant {
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        self.window.on_established(cx, initial_window);
    }

    fn headroom(&self) -> f64 {
        HEADROOM
    }

    fn on_handshake(&mut self, _cx: &mut Cx<'_>, handshake: &Handshake) {
        if !handshake.was_repeated {
            self.delay.on_rtt(handshake.rtt);
        }
    }

    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress) {
        self.is_silent = false;
        if let Some(rtt) = progress.rtt {
            self.delay.on_rtt(rtt);
            self.has_sample = true;
            self.reconsider();
        }
        self.grow(cx, progress);
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.losses.on_loss(flight);
        if !self.has_sample {
            self.before = Some(self.cwnd());
        }
        if self.is_congested() {
            self.window.on_loss(cx, flight);
        }
    }

    fn on_congestion_mark(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.window.on_loss(cx, flight);
    }

    /// A timeout may be a burst of noise once. A second one without an answer in between is taken as TCP takes it, until an
    /// answer tells more.
    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.losses.on_loss(flight);
        if !self.is_silent {
            self.before = Some(self.cwnd());
        }
        if self.is_congested() || self.is_silent {
            self.window.on_timeout(cx, flight);
        }
        self.is_silent = true;
    }

    fn undo(&mut self, window: &Window) {
        self.window.undo(window);
    }

    fn on_idle(&mut self, window: &Window) {
        self.window.on_idle(window);
    }

    fn gauges(&self) -> Gauges {
        Gauges { queueing_delay: self.delay.queueing(), ..Gauges::default() }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "halves are exact")]
mod tests {
    use super::super::reno::Halved;
    use super::*;
    use earlybird_units::Instant;

    /// A control with a window of eight, whose path has a round trip of 100 ms, after a hundred segments.
    fn control() -> Tolerant {
        let mut control = Tolerant::new(Reno::new(64, f64::INFINITY, Halved::Flight), TolerantParameters::DEFAULT);
        control.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 8.0);
        (0..100).for_each(|_| progress(&mut control, 100));
        control
    }

    fn progress(control: &mut Tolerant, rtt_ms: u64) {
        let rtt = Some(Duration::from_millis(rtt_ms));
        // One segment is all that is used.
        let growth = if control.cwnd() < HEADROOM { 1.0 } else { 0.0 };
        let progress = Progress { smax: 2, growth, ..Progress::new(1, 1, rtt) };
        control.on_progress(&mut Cx { now: Instant::ZERO, trace: &mut () }, &progress);
    }

    fn lose(control: &mut Tolerant) -> f64 {
        control.on_loss(&mut Cx { now: Instant::ZERO, trace: &mut () }, &Flight::new(8));
        control.cwnd()
    }

    fn time_out(control: &mut Tolerant) -> f64 {
        control.on_timeout(&mut Cx { now: Instant::ZERO, trace: &mut () }, &Flight::new(8));
        control.cwnd()
    }

    #[test]
    fn a_loss_on_an_empty_path_is_noise() {
        let mut control = control();
        assert_eq!((lose(&mut control), control.ssthresh()), (8.0, f64::INFINITY));
    }

    #[test]
    fn a_loss_behind_a_queue_halves_the_window() {
        let mut control = control();
        progress(&mut control, 106);
        assert_eq!(lose(&mut control), 4.0, "one round trip that is 6 ms longer is enough");
    }

    #[test]
    fn what_only_reaches_a_threshold_is_not_beyond_it() {
        let mut control = control();
        progress(&mut control, 105);
        assert_eq!(lose(&mut control), 8.0, "a queue of 5 ms");
        control.losses.share = control.parameters.breaker;
        assert_eq!(lose(&mut control), 8.0, "three tenths lost");
        control.losses.share += 1e-6;
        assert_eq!(lose(&mut control), 4.0);
    }

    #[test]
    fn a_loss_before_anything_is_known_of_the_delay_halves_the_window() {
        let mut control = Tolerant::new(Reno::new(64, f64::INFINITY, Halved::Flight), TolerantParameters::DEFAULT);
        control.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 8.0);
        assert_eq!(lose(&mut control), 4.0);
    }

    #[test]
    fn a_loss_in_the_first_round_trip_is_judged_by_the_next_one() {
        for (rtt_ms, expected) in [(100, 8.0), (120, 4.0)] {
            let mut control = Tolerant::new(Reno::new(64, f64::INFINITY, Halved::Flight), TolerantParameters::DEFAULT);
            let handshake = Handshake::new(Duration::from_millis(100));
            control.on_handshake(&mut Cx { now: Instant::ZERO, trace: &mut () }, &handshake);
            control.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 8.0);
            assert_eq!(lose(&mut control), 4.0);
            progress(&mut control, rtt_ms);
            assert_eq!(libm::floor(control.cwnd()), expected, "{rtt_ms} ms");
        }
    }

    #[test]
    fn one_timeout_may_be_noise_and_two_in_a_row_are_not() {
        let mut control = control();
        assert_eq!(time_out(&mut control), 8.0);
        assert_eq!(time_out(&mut control), 1.0);
        let mut other = self::control();
        assert_eq!(time_out(&mut other), 8.0);
        progress(&mut other, 100);
        assert_eq!(time_out(&mut other), 8.0, "there was an answer in between");
    }

    #[test]
    fn after_a_long_silence_a_short_round_trip_gives_the_window_back_and_a_long_one_does_not() {
        for (rtt_ms, expected) in [(100, 8.0), (120, 2.0)] {
            let mut control = control();
            (0..3).for_each(|_| _ = time_out(&mut control));
            assert_eq!(control.cwnd(), 1.0);
            progress(&mut control, rtt_ms);
            assert_eq!(libm::floor(control.cwnd()), expected, "{rtt_ms} ms");
        }
    }

    #[test]
    fn where_every_third_segment_is_lost_it_is_no_noise() {
        let lose_after = |sent: u64, arrived: u64| {
            let mut control = control();
            let flight = Flight { sent, arrived, ..Flight::new(8) };
            control.on_loss(&mut Cx { now: Instant::ZERO, trace: &mut () }, &flight);
            control.cwnd()
        };
        assert_eq!(lose_after(208, 160), 8.0, "a fifth");
        assert_eq!(lose_after(208, 133), 4.0, "a third");
        assert_eq!(lose_after(108, 60), 8.0, "not counted long enough");
    }
}
