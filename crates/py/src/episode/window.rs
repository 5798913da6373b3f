//! The window of the connection that a program decides.

use super::interval::{Interval, Measured};
use super::thread::{Exchange, take_exchange};
use crate::plugin::{largest_window, set_failure};
use crate::scenario_error;
use earlybird_scenario::ScenarioError;
use earlybird_tcp::{CongestionControl, Cx, Flight, LostSegment, PathModel, Progress, RateSample, Window};
use earlybird_units::{Duration, Instant};

/// The name of the transport.
pub(super) const AGENT: &str = "agent";
/// The module that adds it, in the place of a file.
pub(super) const SOURCE: &str = "earlybird.gym";
/// The pacing rate in windows per smoothed RTT: Linux' `tcp_pacing_ca_ratio` is 120 %.
const PACING_GAIN: f64 = 1.2;
/// RFC 6298 §2: the weight of a new sample in the smoothed RTT.
const SRTT_GAIN: f64 = 0.125;

#[derive(Debug)]
pub(super) struct StepWindow {
    mss: f64,
    cwnd: f64,
    srtt: Option<f64>,
    min_rtt: Option<Duration>,
    interval: Interval,
    /// Segments delivered when the first one of this round trip was sent.
    round_end: u64,
    exchange: Option<Exchange>,
    /// Whether it decides no more: the run was closed, or nobody started it as an episode.
    is_ended: bool,
}

impl StepWindow {
    pub(super) fn new(mss: u16) -> Self {
        Self {
            mss: f64::from(mss),
            cwnd: 1.0,
            srtt: None,
            min_rtt: None,
            interval: Interval::default(),
            round_end: 0,
            exchange: None,
            is_ended: false,
        }
    }

    /// Takes the program's end of the run, with the first segment that is acknowledged: the receiver's window has none.
    fn begin(&mut self, now: Instant, in_flight: u64) {
        self.exchange = take_exchange();
        self.interval = Interval::starting(now, in_flight);
        if self.exchange.is_none() {
            self.is_ended = true;
            let error = ScenarioError::new(
                SOURCE,
                format!("decides one connection only, and only in its environments; transport `{AGENT}` has another"),
            );
            set_failure(scenario_error(error.hint("give the other flows another transport.")));
        }
    }

    fn is_over(&self, now: Instant, is_round: bool) -> bool {
        match self.exchange.as_ref().and_then(|exchange| exchange.length) {
            Some(seconds) => (now - self.interval.begin()).as_secs_f64() >= seconds,
            None => is_round,
        }
    }

    /// Hands over what was measured, and waits for the next window.
    fn decide(&mut self, now: Instant, in_flight: u64) {
        let Some(exchange) = &self.exchange else { return };
        self.interval.end(now);
        let Self { interval, cwnd, mss, min_rtt, .. } = *self;
        if let Some(cwnd) = exchange.decision(Measured { interval, cwnd, mss, min_rtt }) {
            self.cwnd = cwnd.clamp(1.0, largest_window(mss));
        } else {
            (self.exchange, self.is_ended) = (None, true);
        }
        self.interval = Interval::starting(now, in_flight);
    }

    fn measure_rtt(&mut self, rtt: Duration) {
        let seconds = rtt.as_secs_f64();
        self.srtt = Some(self.srtt.map_or(seconds, |srtt| srtt + SRTT_GAIN * (seconds - srtt)));
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
    }
}

impl CongestionControl for StepWindow {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Returns the window: there is no slow start.
    fn ssthresh(&self) -> f64 {
        self.cwnd
    }

    fn on_established(&mut self, _cx: &mut Cx<'_>, initial_window: f64) {
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, _progress: &Progress) {}

    /// Changes nothing: lost segments are counted in the interval.
    fn on_loss(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {}

    /// Ends the interval, as no ACK may arrive for long.
    fn on_timeout(&mut self, cx: &mut Cx<'_>, _flight: &Flight) {
        self.interval.on_timeout();
        self.decide(cx.now, 0);
    }

    fn on_idle(&mut self, _window: &Window) {}

    fn is_paced(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.srtt.filter(|srtt| *srtt > 0.0).map(|srtt| PACING_GAIN * self.cwnd / srtt)
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        Some(self)
    }
}

impl PathModel for StepWindow {
    fn on_opened(&mut self, _now: Instant, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.measure_rtt(rtt);
        }
    }

    fn on_restart(&mut self, _now: Instant, _is_app_limited: bool) {}

    fn on_lost(&mut self, _now: Instant, _lost: &LostSegment) {
        self.interval.on_lost();
    }

    fn on_sample(&mut self, now: Instant, sample: &RateSample) {
        if self.is_ended || sample.newly_acked == 0 {
            return;
        }
        if self.exchange.is_none() {
            self.begin(now, sample.in_flight);
        }
        if let Some(rtt) = sample.rtt {
            self.measure_rtt(rtt);
        }
        self.interval.on_sample(sample);
        let is_round = sample.prior_delivered >= self.round_end;
        if is_round {
            self.round_end = sample.total_delivered;
        }
        // A first interval has no length, and no round trip ended.
        if now > self.interval.begin() && self.is_over(now, is_round) {
            self.decide(now, sample.in_flight);
        }
    }

    fn is_probing_rtt(&self) -> bool {
        false
    }
}
