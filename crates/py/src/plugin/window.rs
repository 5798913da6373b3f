//! The window of a connection whose control was loaded: events for it, and checks of what it decides.

use super::abi::{ACK, Event, INTERVAL, LOSS, NO_RATE, Output, RTO, Setup};
use super::control::{LoadedControl, Running};
use super::failure::{Raised, set_failure};
use super::limits::{Stopwatch, largest_window, violated};
use crate::scenario_error;
use earlybird_scenario::ScenarioError;
use earlybird_tcp::{
    CongestionControl, ControlSetup, Cx, Flight, LostSegment, PathModel, Progress, RateSample, Window,
};
use earlybird_units::{Duration, Instant};

/// The numbers of a seed, below which doubles are exact.
const SEEDS: u64 = 1 << 53;

#[derive(Debug)]
pub(super) struct LoadedWindow {
    control: &'static LoadedControl,
    setup: Setup,
    /// None before the handshake is done, and after a failure.
    running: Option<Running>,
    output: Output,
    /// RFC 5681's threshold as other policies read it: the window after the last loss.
    ssthresh: f64,
    /// Growth and lost segments of earlier calls for the same ACK, which the next sample has.
    growth: f64,
    lost: f64,
    /// Segments delivered when the first one of this round trip was sent.
    round_end: u64,
    stopwatch: Stopwatch,
}

impl LoadedWindow {
    pub(super) fn new(control: &'static LoadedControl, setup: &ControlSetup) -> Self {
        let mss = f64::from(setup.mss);
        let seed = setup.seeds.child("plugin").random().below(SEEDS);
        let setup = Setup { initial_window: 1.0, largest_window: largest_window(mss), mss, seed };
        Self {
            control,
            setup,
            running: None,
            output: Output { cwnd: 1.0, pacing_rate: NO_RATE },
            ssthresh: f64::INFINITY,
            growth: 0.0,
            lost: 0.0,
            round_end: 0,
            stopwatch: Stopwatch::default(),
        }
    }

    /// Passes an event to the control and takes over what it decides.
    fn handle(&mut self, call: &str, event: &Event) {
        let Some(running) = &mut self.running else { return };
        let (result, slow) = self.stopwatch.time(|| running.handle(event));
        self.decide(call, event.now, result);
        if let Some(spent) = slow {
            let calls = self.stopwatch.calls();
            let text =
                format!("took {:.1} s for {calls} calls of control `{}`", spent.as_secs_f64(), self.control.name());
            self.fail(ScenarioError::new(self.control.file(), text).allowed("5 s, and 1 ms for each call"));
        }
    }

    fn decide(&mut self, call: &str, now: f64, result: Result<Output, Raised>) {
        let name = self.control.name();
        let place = format!("{call} of control `{name}` at {now:.6} s");
        match result {
            Ok(output) => match violated(&output, self.setup.largest_window) {
                None => self.output = output,
                Some((what, value, allowed)) => {
                    let problem = format!("is {what} after {place}");
                    self.fail(
                        ScenarioError::new(self.control.file(), problem).text(&value.to_string()).allowed(allowed),
                    );
                }
            },
            Err(Raised::Error { line, text }) => {
                let line = line.map_or_else(String::new, |line| format!(":{line}"));
                let file = format!("{}{line}", self.control.file());
                self.fail(ScenarioError::new(&file, format!("{text} in {place}")).allowed("calls that return"));
            }
            Err(Raised::Exit(error)) => self.end(|| set_failure(error)),
        }
    }

    fn fail(&mut self, error: ScenarioError) {
        self.end(|| set_failure(scenario_error(error)));
    }

    /// Ends the control. The run goes on with one segment until it asks for the failure.
    fn end(&mut self, report: impl FnOnce()) {
        self.running = None;
        self.output = Output { cwnd: 1.0, pacing_rate: NO_RATE };
        report();
    }

    /// Returns an event at a reduction of the window.
    fn reduction(&self, kind: u32, now: Instant, flight: &Flight, is_mark: bool) -> Event {
        let unknown = f64::NAN;
        Event {
            kind,
            is_app_limited: 0,
            is_mark: u32::from(is_mark),
            now: now.as_secs_f64(),
            acked: 0.0,
            growth: 0.0,
            rtt: unknown,
            in_flight: flight.outstanding as f64,
            delivery_rate: unknown,
            delivered: flight.arrived as f64,
            lost: self.lost,
        }
    }

    fn reduce(&mut self, now: Instant, flight: &Flight, is_mark: bool) {
        let event = self.reduction(LOSS, now, flight, is_mark);
        self.handle("on_loss", &event);
        self.ssthresh = self.output.cwnd;
    }
}

impl CongestionControl for LoadedWindow {
    fn cwnd(&self) -> f64 {
        self.output.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Makes the control: its first window is known now.
    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        self.setup.initial_window = initial_window;
        let (made, _) = self.stopwatch.time(|| self.control.make(&self.setup));
        let output = made.map(|(running, output)| {
            self.running = Some(running);
            output
        });
        self.decide("the constructor", cx.now.as_secs_f64(), output);
    }

    /// Keeps the growth for the sample of the same ACK, which follows.
    fn on_progress(&mut self, _cx: &mut Cx<'_>, progress: &Progress) {
        self.growth += if progress.is_cwnd_used(self.output.cwnd) { progress.growth } else { 0.0 };
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.reduce(cx.now, flight, false);
    }

    fn on_congestion_mark(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.reduce(cx.now, flight, true);
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.ssthresh = self.ssthresh.min(self.output.cwnd);
        let event = self.reduction(RTO, cx.now, flight, false);
        self.handle("on_rto", &event);
    }

    /// Changes nothing: the window is that of the control, which sees the time of each event.
    fn on_idle(&mut self, _window: &Window) {}

    fn is_paced(&self) -> bool {
        self.control.is_paced()
    }

    fn pacing_rate(&self) -> Option<f64> {
        (self.output.pacing_rate > 0.0).then_some(self.output.pacing_rate)
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        Some(self)
    }
}

impl PathModel for LoadedWindow {
    fn on_opened(&mut self, _now: Instant, _rtt: Option<Duration>) {}

    fn on_restart(&mut self, _now: Instant, _is_app_limited: bool) {}

    fn on_lost(&mut self, _now: Instant, _lost: &LostSegment) {
        self.lost += 1.0;
    }

    fn on_sample(&mut self, now: Instant, sample: &RateSample) {
        let mut event = self.sampled(now, sample);
        if sample.prior_delivered >= self.round_end {
            self.round_end = sample.total_delivered;
            if self.control.has_interval() {
                event.kind = INTERVAL;
                self.handle("on_interval", &event);
                event.kind = ACK;
            }
        }
        (self.growth, self.lost) = (0.0, 0.0);
        self.handle("on_ack", &event);
    }

    fn is_probing_rtt(&self) -> bool {
        false
    }
}

impl LoadedWindow {
    fn sampled(&self, now: Instant, sample: &RateSample) -> Event {
        Event {
            kind: ACK,
            is_app_limited: u32::from(sample.is_app_limited),
            is_mark: 0,
            now: now.as_secs_f64(),
            acked: sample.newly_acked as f64,
            growth: self.growth,
            rtt: sample.rtt.map_or(f64::NAN, Duration::as_secs_f64),
            in_flight: sample.in_flight as f64,
            delivery_rate: sample.delivery_rate.unwrap_or(f64::NAN),
            delivered: sample.total_delivered as f64,
            lost: self.lost,
        }
    }
}
