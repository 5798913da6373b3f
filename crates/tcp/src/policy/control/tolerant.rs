//! Reno that distinguishes congestion from noise by queueing delay, as PERT does.
//!
//! A loss without queueing delay is a sign of a noisy link and leaves the window as it is, also during its repair. A loss with a
//! queue halves the window. The window grows only as far as the application uses it (RFC 7661), so that a flow gains no bandwidth
//! by its tolerance. Our own design; docs/real-time-mode.md describes its limits.

mod opening;
mod steps;

use super::factory::{ControlFactory, ControlSetup};
use super::path::{LostSegment, PathModel, RateSample};
use super::reno::Reno;
use super::{CongestionControl, Flight, Gauges, Handshake, Progress, Window};
use crate::trace::Cx;
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant};
use opening::Opening;
use steps::DelaySteps;

/// Parameters of the tolerant control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TolerantParameters {
    /// The queueing delay above which a loss counts as congestion: the threshold of PERT's early response.
    pub queue_threshold: Duration,
    /// The share of lost segments above which any loss counts as congestion (the idea of the circuit breakers of RFC 8083). It also
    /// covers policers, which drop without delay.
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
        Box::new(Tolerant::new(Reno::of(setup), *self))
    }
}

/// The number of segments over which losses are counted: enough to tell a share of 3/10 from a burst.
const LOSS_WINDOW: u64 = 128;
/// The limit of the window as a multiple of its used part, as in slow start of Linux (`tcp_is_cwnd_limited`): retransmissions need
/// window beside the stream.
const HEADROOM: f64 = 2.0;

/// Increase per RTT in segments while there is a queue. With Reno's one segment a sender that never waits for a timer would get more
/// than the share of the SACK senders (study real-time-mode).
const QUEUED_INCREASE: f64 = 0.6;

/// The time without a queue after which the window grows as in slow start up to where a queue begins, whatever `ssthresh` is: the link
/// has become faster, or other flows have ended. At one segment per RTT a stream over a long path would take tens of seconds.
const UNCONGESTED: Duration = Duration::from_millis(500);

/// A queue counts as empty below 1/16 of the largest queueing delay.
const EMPTY_DIVISOR: u64 = 16;
/// Delay of a packet or two on any path, which also counts as an empty queue.
const MIN_EMPTY_THRESHOLD: Duration = Duration::from_millis(1);

/// The threshold of a queue on a path whose delay steps, as a multiple: each step may leave almost half of the threshold unexplained.
const STEPPING_FACTOR: u64 = 2;

#[derive(Clone, Debug)]
pub(crate) struct Tolerant {
    window: Reno,
    parameters: TolerantParameters,
    delay: Delay,
    losses: Losses,
    /// Whether the timer expired, and nothing was acknowledged since.
    has_timed_out: bool,
    /// The last timeout.
    timed_out_at: Instant,
    /// Whether the timer has expired without a queue since the last RTT sample.
    may_be_held: bool,
    pending_undo: Option<PendingUndo>,
    /// Whether data has measured the RTT, not the handshake alone.
    has_sample: bool,
    reduction: Reduction,
    /// The last time at which there was a queue, or a reduction.
    congested_at: Instant,
    opening: Opening,
    initial_window: f64,
}

/// A reduction that later RTT samples may show to be spurious.
#[derive(Clone, Copy, Debug)]
struct PendingUndo {
    before: Window,
    /// Segments sent until then were in flight at the reduction, and their RTT decides; `None`: the next RTT sample decides.
    until: Option<Instant>,
}

/// Whether segments sent before the last reduction are in flight: the window does not grow until all are acknowledged.
#[derive(Clone, Copy, Debug, Default)]
enum Reduction {
    #[default]
    Over,
    /// The next ACK determines the end.
    Started,
    Until(u64),
}

impl Reduction {
    /// Processes an ACK, and returns whether the window may grow.
    fn is_over(&mut self, sample: &RateSample) -> bool {
        *self = match *self {
            // The flight at the reduction ends at SND.MAX of the next ACK.
            Self::Started => Self::Until(sample.snd_max),
            Self::Until(end) if sample.una >= end => Self::Over,
            other => other,
        };
        matches!(self, Self::Over)
    }
}

/// The smallest RTT of the last half to one RTT, without [steps](DelaySteps), and the base delay of the last minutes.
#[derive(Clone, Copy, Debug, Default)]
struct Delay {
    base: BaseDelay,
    latest: Duration,
    /// The largest queueing delay of the connection.
    largest: Duration,
    /// The smallest RTT of the current half RTT, and of the previous one.
    half_rtt_minima: [Option<Duration>; 2],
    half_started: Instant,
    steps: DelaySteps,
    /// Whether the delay has stepped lately.
    has_stepped: bool,
}

impl Delay {
    /// Processes a sample; `waited` is the time for which segments were in flight without an arrival, at most.
    fn on_rtt(&mut self, now: Instant, rtt: Duration, waited: Duration) {
        let before = self.base.min_rtt;
        let min_rtt = self.base.on_rtt(now, rtt);
        let rtt = self.steps.without_steps(now, rtt, min_rtt, waited);
        self.has_stepped = self.steps.are_recent(now);
        // An increase of the base delay, by a longer route, was no queue.
        self.largest = self.largest.saturating_sub(min_rtt.saturating_sub(before.unwrap_or(min_rtt)));
        if now - self.half_started >= min_rtt / 2 {
            self.half_rtt_minima = [None, self.half_rtt_minima[0]];
            self.half_started = now;
        }
        self.half_rtt_minima[0] = Some(self.half_rtt_minima[0].map_or(rtt, |shortest| shortest.min(rtt)));
        self.latest = rtt;
        self.largest = self.largest.max(rtt.saturating_sub(min_rtt));
    }

    /// Returns the standing queueing delay: the minimum over an RTT, which excludes own bursts and short stalls of processors or
    /// radios. `None` before any sample.
    fn standing(&self) -> Option<Duration> {
        let shortest = self.half_rtt_minima.into_iter().flatten().min()?;
        Some(shortest.saturating_sub(self.base.min_rtt?))
    }

    /// Returns the queueing delay of the last sample.
    fn latest_queueing(&self) -> Option<Duration> {
        Some(self.latest.saturating_sub(self.base.min_rtt?))
    }
}

/// The RTT without a queue, as LEDBAT estimates it (RFC 6817 §2.4.2, `update_base_delay`): the minimum of each of the last minutes.
/// Older minima would err on the safe side; they are dropped because of route changes to a longer path, after which every loss
/// would look like congestion. A queue that stays non-empty for as long raises the estimate too.
#[derive(Clone, Copy, Debug, Default)]
struct BaseDelay {
    min_rtt: Option<Duration>,
    /// Minima per minute, the newest first; `None` for a minute without samples.
    minutes: [Option<Duration>; BASE_HISTORY],
    minute_started: Instant,
}

/// The number of minima (`BASE_HISTORY`, RFC 6817 §2.5).
const BASE_HISTORY: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);

impl BaseDelay {
    /// Processes a sample, and returns the base delay.
    fn on_rtt(&mut self, now: Instant, rtt: Duration) -> Duration {
        if now - self.minute_started >= MINUTE {
            self.minutes.rotate_right(1);
            self.minutes[0] = None;
            self.minute_started = now;
            self.min_rtt = self.minutes.into_iter().flatten().min();
        }
        self.minutes[0] = Some(self.minutes[0].map_or(rtt, |shortest| shortest.min(rtt)));
        let min_rtt = self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt));
        self.min_rtt = Some(min_rtt);
        min_rtt
    }
}

/// The share of lost segments of the last [`LOSS_WINDOW`].
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    lost: u64,
    arrived: u64,
    share: f64,
}

impl Losses {
    fn on_arrivals(&mut self, arrived: u64) {
        self.arrived += arrived;
        let settled = self.lost + self.arrived;
        // A fixed number of segments instead of a time: streams of any rate get the same precision.
        if settled >= LOSS_WINDOW {
            *self = Self { share: self.lost as f64 / settled as f64, ..Self::default() };
        }
    }
}

/// Returns whether a queueing delay exceeds the threshold; an unknown one (`None`) does.
fn exceeds(queueing: Option<Duration>, threshold: Duration) -> bool {
    queueing.is_none_or(|queueing| queueing > threshold)
}

impl Tolerant {
    fn new(window: Reno, parameters: TolerantParameters) -> Self {
        Self {
            window,
            parameters,
            delay: Delay::default(),
            losses: Losses::default(),
            has_timed_out: false,
            timed_out_at: Instant::ZERO,
            may_be_held: false,
            pending_undo: None,
            has_sample: false,
            reduction: Reduction::Over,
            congested_at: Instant::ZERO,
            opening: Opening::Unused,
            initial_window: 1.0,
        }
    }

    /// Returns whether losses are a sign of congestion: there is a queue or no sample yet, or the share of losses is too high.
    fn is_congested(&self, is_queue: bool) -> bool {
        !self.has_sample || is_queue || self.losses.share > self.parameters.breaker
    }

    fn was_congested(&self) -> bool {
        self.is_congested(self.is_queue(self.delay.standing()))
    }

    fn is_queue(&self, queueing: Option<Duration>) -> bool {
        let factor = if self.delay.has_stepped { STEPPING_FACTOR } else { 1 };
        exceeds(queueing, self.parameters.queue_threshold * factor)
    }

    /// Returns the queueing delay up to which a queue counts as empty: short buffers may be full below the threshold of long ones.
    fn empty_threshold(&self) -> Duration {
        (self.delay.largest / EMPTY_DIVISOR).clamp(MIN_EMPTY_THRESHOLD, self.parameters.queue_threshold)
    }

    fn save_for_undo(&mut self, until: Option<Instant>) {
        self.pending_undo = Some(PendingUndo { before: Window::new(self.cwnd(), self.ssthresh()), until });
    }

    /// Undoes a reduction after a short RTT: a standing queue would have delayed every segment in flight then, so the loss was noise,
    /// after a short stall or an outage, or on a path that is noisy from the first packet on.
    fn check_spurious(&mut self, now: Instant, rtt: Duration) {
        let Some(PendingUndo { before, until }) = self.pending_undo else { return };
        // Segments sent after the reduction may find the queue drained by it; they prove nothing.
        let is_late = until.is_some_and(|until| now > until + rtt);
        let threshold = if until.is_some() { self.empty_threshold() } else { self.parameters.queue_threshold };
        let is_spurious = !is_late && !self.is_congested(exceeds(self.delay.latest_queueing(), threshold));
        if is_spurious {
            self.window.undo(&before);
            self.reduction = Reduction::Over;
        }
        if is_spurious || is_late || until.is_none() {
            self.pending_undo = None;
        }
    }

    /// Returns whether an ACK comes sooner after a timeout than one of the retransmission can: within the base delay (RFC 8985 §6.2,
    /// step 2). A link that held packets back for longer than the deadline of the frames leaves no other sample of them.
    fn is_of_original(&self, now: Instant) -> bool {
        self.delay.base.min_rtt.is_some_and(|min_rtt| now < self.timed_out_at + min_rtt)
    }

    /// Restores the window from before the timeouts (RFC 4015): the path was delayed, not congested.
    fn undo_timeouts(&mut self) {
        if let Some(PendingUndo { before, until: None }) = self.pending_undo {
            self.window.undo(&before);
            self.pending_undo = None;
            self.reduction = Reduction::Over;
        }
    }

    /// Ends the opening with what the application used of its window.
    fn validate_opening(&mut self, sample: &RateSample) {
        if let Some(flight) = self.opening.on_sample(sample, self.initial_window) {
            let cwnd = (HEADROOM * flight as f64).max(self.initial_window).min(self.cwnd());
            self.window.set(cwnd, self.ssthresh());
        }
    }

    fn grow(&mut self, now: Instant, sample: &RateSample) {
        let is_queue = self.is_queue(self.delay.standing());
        if is_queue {
            self.congested_at = now;
        }
        // RFC 7661: a window that is not used says nothing about the path.
        let is_used = sample.is_cwnd_limited || self.cwnd() < HEADROOM * sample.tx_in_flight as f64;
        if !self.reduction.is_over(sample) || !is_used {
            return;
        }
        let arrived = sample.newly_acked as f64;
        if now > self.congested_at + UNCONGESTED {
            return self.window.grow_by(arrived);
        }
        // Slow start ends where a queue begins: there is nothing left to probe for.
        let rest = if is_queue { arrived } else { self.window.slow_start(arrived) };
        let increase = if self.is_queue(self.delay.latest_queueing()) { QUEUED_INCREASE } else { 1.0 };
        self.window.grow_by(increase * rest / self.cwnd());
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
        self.initial_window = initial_window;
        self.window.on_established(cx, initial_window.max(opening::LARGEST));
    }

    fn on_handshake(&mut self, cx: &mut Cx<'_>, handshake: &Handshake) {
        if !handshake.was_retransmitted {
            self.delay.on_rtt(cx.now, handshake.rtt, handshake.rtt);
        }
    }

    /// Undoes the reduction by timeouts if segments arrive that were sent before them. The window grows in
    /// [`PathModel::on_sample`], also during recovery.
    fn on_progress(&mut self, cx: &mut Cx<'_>, _progress: &Progress) {
        if self.has_timed_out && self.is_of_original(cx.now) {
            self.undo_timeouts();
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        if self.was_congested() {
            self.opening.end();
            self.save_for_undo(self.has_sample.then_some(cx.now));
            self.window.on_loss(cx, flight);
            self.reduction = Reduction::Started;
            self.congested_at = cx.now;
        }
    }

    fn on_congestion_mark(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.window.on_loss(cx, flight);
        self.reduction = Reduction::Started;
        self.congested_at = cx.now;
    }

    /// Ignores a first timeout without a queue, which may be a burst of noise. A second one without an ACK in between reduces the
    /// window as in TCP, until an ACK shows more.
    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        if !self.has_timed_out {
            self.save_for_undo(None);
            // A hold overflows the queue of the link: many losses without a queueing delay before it do not speak against one.
            self.may_be_held = self.has_sample && !self.is_queue(self.delay.standing());
        }
        if self.was_congested() || self.has_timed_out {
            self.window.on_timeout(cx, flight);
            self.congested_at = cx.now;
        }
        self.has_timed_out = true;
        self.timed_out_at = cx.now;
    }

    /// Undoes the reduction by timeouts: what was sent before them arrives, so that the link has held it back (RFC 4015). No segment gives an
    /// RTT sample of that if all were abandoned, and the hold began without a queue.
    fn on_abandoned_arrival(&mut self) {
        if self.may_be_held {
            self.undo_timeouts();
            self.has_timed_out = false;
        }
    }

    fn undo(&mut self, window: &Window) {
        self.window.undo(window);
    }

    fn on_idle(&mut self, window: &Window) {
        self.window.on_idle(window);
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        Some(self)
    }

    fn gauges(&self) -> Gauges {
        Gauges { queueing_delay: self.delay.standing(), ..Gauges::default() }
    }
}

impl PathModel for Tolerant {
    fn on_opened(&mut self, _now: Instant, _rtt: Option<Duration>) {}

    fn on_restart(&mut self, _now: Instant, _is_app_limited: bool) {}

    fn on_lost(&mut self, _now: Instant, _lost: &LostSegment) {
        // After a timeout the whole flight counts as lost, most of it perhaps only delayed.
        self.losses.lost += u64::from(!self.has_timed_out);
    }

    fn on_sample(&mut self, now: Instant, sample: &RateSample) {
        self.has_timed_out = false;
        self.losses.on_arrivals(sample.newly_acked);
        if let Some(rtt) = sample.rtt {
            // The timer runs while segments are in flight: a link that held them back held back this one, too, which was sent later.
            let waited = if core::mem::take(&mut self.may_be_held) { Duration::MAX } else { rtt };
            self.delay.on_rtt(now, rtt, waited);
            self.has_sample = true;
            self.check_spurious(now, rtt);
        }
        self.grow(now, sample);
        self.validate_opening(sample);
    }

    fn is_probing_rtt(&self) -> bool {
        false
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "half_rtt_minima are exact")]
mod tests {
    use super::super::factory::Halved;
    use super::*;
    use alloc::vec::Vec;

    fn millis(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn opened() -> Tolerant {
        let mut control = Tolerant::new(Reno::new(64, f64::INFINITY, Halved::Flight), TolerantParameters::DEFAULT);
        control.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 8.0);
        // The tests begin after the first round trip of the source.
        control.opening.end();
        control.window.set(8.0, f64::INFINITY);
        control
    }

    /// A control with a window of eight, whose path has a round trip of 100 ms, after a hundred segments in a second.
    fn control() -> Tolerant {
        let mut control = opened();
        (0..100).for_each(|step| arrive(&mut control, 10 * step, 100));
        control
    }

    /// A segment arrives, all that is used of the window.
    fn arrive(control: &mut Tolerant, now_ms: u64, rtt_ms: u64) {
        arrive_of(control, now_ms, rtt_ms, 1);
    }

    /// A segment arrives of so many that were in flight.
    fn arrive_of(control: &mut Tolerant, now_ms: u64, rtt_ms: u64, in_flight: u64) {
        let rtt = Some(Duration::from_millis(rtt_ms));
        let sample = RateSample { rtt, tx_in_flight: in_flight, una: 1, snd_max: 2, ..RateSample::new(1, 0) };
        control.on_sample(millis(now_ms), &sample);
    }

    fn lose(control: &mut Tolerant) -> f64 {
        lose_at(control, 0)
    }

    fn lose_at(control: &mut Tolerant, now_ms: u64) -> f64 {
        control.on_loss(&mut Cx { now: millis(now_ms), trace: &mut () }, &Flight::new(8));
        control.cwnd()
    }

    /// A control that met a queue of 100 ms once, and behind which one of 20 ms stands when a segment is lost.
    fn reduced_at_1200() -> Tolerant {
        let mut control = control();
        arrive(&mut control, 1_000, 200);
        (0..20).for_each(|step| arrive(&mut control, 1_000 + 10 * step, 120));
        assert_eq!(lose_at(&mut control, 1_200), 4.0);
        control
    }

    fn time_out(control: &mut Tolerant) -> f64 {
        control.on_timeout(&mut Cx { now: Instant::ZERO, trace: &mut () }, &Flight::new(8));
        control.cwnd()
    }

    /// Sends so many segments in each round trip of 100 ms, with ACKs at its end; returns the window.
    fn open(control: &mut Tolerant, flight: u64, round_trips: u64) -> f64 {
        for (number, round_trip) in (0..).zip(1..=round_trips) {
            let rtt = Some(Duration::from_millis(100));
            let (una, snd_max) = (1 + number * flight, 1 + round_trip * flight);
            let sample = RateSample { rtt, una, snd_max, prior_in_flight: flight, ..RateSample::new(flight, 0) };
            control.on_sample(millis(100 * round_trip), &sample);
        }
        control.cwnd()
    }

    fn established() -> Tolerant {
        let mut control = Tolerant::new(Reno::new(1_000, f64::INFINITY, Halved::Flight), TolerantParameters::DEFAULT);
        control.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 10.0);
        control
    }

    /// The symptom: 61 units of a stream were late in its first second, without losses, as slow start was slower than the source.
    #[test]
    fn the_first_round_trip_of_a_source_is_sent_at_its_rate() {
        assert!(established().cwnd() >= 300.0, "16 Mb/s at 200 ms");
        assert_eq!(open(&mut established(), 1, 5), opening::LARGEST, "a question and its answer before the stream");
        assert_eq!(open(&mut established(), 4, 5), 10.0, "a source that needs less than the initial window");
        assert_eq!(open(&mut established(), 76, 2), HEADROOM * 76.0, "what was used of it, and room for repairs");
    }

    #[test]
    fn a_loss_behind_a_queue_ends_the_first_round_trip() {
        let mut control = established();
        let handshake = Handshake::new(Duration::from_millis(100));
        control.on_handshake(&mut Cx { now: Instant::ZERO, trace: &mut () }, &handshake);
        (0..20).for_each(|step| arrive_of(&mut control, 10 * step, 100 + step, 100));
        control.on_loss(&mut Cx { now: millis(200), trace: &mut () }, &Flight::new(100));
        assert_eq!(control.cwnd(), 50.0);
    }

    /// The symptom: each loss after a hold of 120 ms halved the window, from 178 segments to 33.
    #[test]
    fn a_loss_after_the_link_held_packets_back_is_noise() {
        let mut control = control();
        // Nothing arrives for 120 ms, and then what was sent meanwhile, all of it late.
        (0..12).for_each(|step| arrive(&mut control, 1_110 + step, 220 - 9 * step));
        assert_eq!(lose_at(&mut control, 1_122), 8.0);
    }

    #[test]
    fn a_loss_on_an_empty_path_is_noise() {
        let mut control = control();
        assert_eq!((lose(&mut control), control.ssthresh()), (8.0, f64::INFINITY));
    }

    #[test]
    fn a_window_grows_on_while_noise_is_repaired_and_stays_after_a_reduction() {
        let mut control = control();
        lose(&mut control);
        arrive_of(&mut control, 1_000, 100, 8);
        assert_eq!(control.cwnd(), 9.0, "as in slow start");
        (0..20).for_each(|step| arrive_of(&mut control, 1_000 + 10 * step, 110, 1));
        assert_eq!(lose(&mut control), 4.0);
        arrive_of(&mut control, 1_200, 110, 8);
        assert_eq!(control.cwnd(), 4.0, "what was sent before is still on its way");
        let all = RateSample { tx_in_flight: 4, una: 2, snd_max: 3, ..RateSample::new(1, 0) };
        control.on_sample(millis(1_300), &all);
        assert_eq!(control.cwnd(), 4.0 + QUEUED_INCREASE / 4.0);
    }

    /// The symptom: on a cellular link that was slower than the stream for a second and a half, half of a stream over a round trip of 200 ms
    /// was lost, as its window grew by one segment per round trip afterwards.
    #[test]
    fn half_a_second_without_a_queue_ends_the_linear_growth() {
        let mut control = control();
        (0..20).for_each(|step| arrive(&mut control, 1_000 + 10 * step, 120));
        assert_eq!(lose_at(&mut control, 1_200), 4.0);
        // An ACK of what was in flight ends the reduction.
        arrive_of(&mut control, 1_250, 120, 1);
        control.on_sample(millis(1_300), &RateSample { una: 2, snd_max: 3, ..RateSample::new(1, 0) });
        (0..50).for_each(|step| arrive_of(&mut control, 1_300 + 10 * step, 120, 0));
        for (now_ms, is_fast) in [(2_000, false), (2_290, false), (2_310, true)] {
            arrive_of(&mut control, now_ms, 100, 0);
            let before = control.cwnd();
            arrive_of(&mut control, now_ms, 100, 8);
            assert_eq!(control.cwnd() - before >= 1.0, is_fast, "{now_ms} ms");
        }
    }

    #[test]
    fn a_loss_behind_a_queue_that_stands_halves_the_window() {
        let mut control = control();
        (0..20).for_each(|step| arrive(&mut control, 1_000 + 10 * step, 106));
        assert_eq!(lose(&mut control), 4.0, "round trips that are 6 ms longer are enough");
    }

    #[test]
    fn a_busy_processor_was_taken_for_a_queue() {
        let mut control = control();
        for rtt_ms in [120, 117, 115, 112] {
            arrive(&mut control, 1_000, rtt_ms);
        }
        assert_eq!(lose(&mut control), 8.0, "packets that were held up together and ran on at once");
    }

    /// A segment arrives each 10 ms of these seconds, after round trips that change from one to the next.
    fn go_on(control: &mut Tolerant, seconds: core::ops::Range<u64>, rtts_ms: &[u64]) {
        for (now_ms, rtt_ms) in (1_000 * seconds.start..1_000 * seconds.end).step_by(10).zip(rtts_ms.iter().cycle()) {
            arrive(control, now_ms, *rtt_ms);
        }
    }

    #[test]
    fn a_route_that_has_grown_longer_makes_every_loss_congestion_for_ten_minutes_and_not_for_good() {
        let mut control = control();
        go_on(&mut control, 1..595, &[140]);
        assert_eq!(control.delay.standing(), Some(Duration::from_millis(40)));
        assert_eq!(lose(&mut control.clone()), 4.0, "it may be a queue");
        go_on(&mut control, 595..610, &[140]);
        assert_eq!(control.delay.standing(), Some(Duration::ZERO));
        assert_eq!(lose(&mut control.clone()), 8.0);
        assert_eq!(control.delay.largest, Duration::ZERO, "nor was it ever a queue");
        go_on(&mut control, 610..612, &[146]);
        assert_eq!(lose(&mut control), 4.0, "as on any route");
    }

    #[test]
    fn a_queue_that_never_empties_is_one_after_an_hour() {
        let mut control = control();
        // Windows of others halve behind a buffer as long as the path: it is never less than a quarter full.
        let sawtooth: Vec<u64> = (0..1_500).map(|step| 125 + step / 20).collect();
        go_on(&mut control, 1..3_600, &sawtooth);
        go_on(&mut control, 3_600..3_602, &[200]);
        assert_eq!(control.delay.standing(), Some(Duration::from_millis(75)));
        assert_eq!(lose(&mut control), 4.0);
    }

    #[test]
    fn a_pause_is_no_time_in_which_a_route_has_changed() {
        let mut control = control();
        go_on(&mut control, 7_200..7_260, &[140]);
        assert_eq!(lose(&mut control), 4.0);
    }

    #[test]
    fn what_only_reaches_a_threshold_is_not_beyond_it() {
        let mut control = control();
        (0..20).for_each(|step| arrive(&mut control, 1_000 + 10 * step, 105));
        assert_eq!(lose(&mut control), 8.0, "a queue of 5 ms");
        control.losses.share = control.parameters.breaker;
        assert_eq!(lose(&mut control), 8.0, "three tenths lost");
        control.losses.share += 1e-6;
        assert_eq!(lose(&mut control), 4.0);
    }

    #[test]
    fn a_loss_before_anything_is_known_of_the_delay_halves_the_window() {
        assert_eq!(lose(&mut opened()), 4.0);
    }

    #[test]
    fn a_loss_in_the_first_round_trip_is_judged_by_the_next_one() {
        for (rtt_ms, expected) in [(100, 8.0), (120, 4.0)] {
            let mut control = opened();
            let handshake = Handshake::new(Duration::from_millis(100));
            control.on_handshake(&mut Cx { now: Instant::ZERO, trace: &mut () }, &handshake);
            assert_eq!(lose(&mut control), 4.0);
            arrive(&mut control, 200, rtt_ms);
            assert_eq!(libm::floor(control.cwnd()), expected, "{rtt_ms} ms");
        }
    }

    #[test]
    fn hosts_that_were_busy_now_and_then_brought_the_window_down_to_nothing() {
        let mut control = reduced_at_1200();
        arrive(&mut control, 1_250, 106);
        assert_eq!(control.cwnd(), 4.0, "what was in flight latest_queueing the queue too");
        arrive(&mut control, 1_290, 101);
        assert_eq!((libm::floor(control.cwnd()), control.ssthresh()), (8.0, f64::INFINITY), "it latest_queueing none");
    }

    #[test]
    fn an_empty_queue_behind_a_reduction_is_what_the_reduction_was_for() {
        let mut control = reduced_at_1200();
        arrive(&mut control, 1_301, 100);
        arrive(&mut control, 1_310, 100);
        assert_eq!(control.cwnd(), 4.0, "sent after it");
    }

    #[test]
    fn a_short_buffer_was_taken_for_an_empty_one() {
        let mut control = control();
        (0..20).for_each(|step| arrive(&mut control, 1_000 + 10 * step, 106));
        assert_eq!(lose_at(&mut control, 1_200), 4.0);
        arrive(&mut control, 1_250, 102);
        assert_eq!(control.cwnd(), 4.0, "a third of the longest delay is left");
    }

    #[test]
    fn what_was_late_at_a_timeout_was_counted_as_lost() {
        let mut control = control();
        time_out(&mut control);
        (0..100).for_each(|_| control.on_lost(Instant::ZERO, &LostSegment::new(1, 1)));
        control.on_sample(millis(2_000), &RateSample::new(128, 0));
        assert_eq!(control.losses.share, 0.0);
    }

    #[test]
    fn one_timeout_may_be_noise_and_two_in_a_row_are_not() {
        let mut control = control();
        assert_eq!(time_out(&mut control), 8.0);
        assert_eq!(time_out(&mut control), 1.0);
        let mut other = self::control();
        assert_eq!(time_out(&mut other), 8.0);
        arrive(&mut other, 1_500, 100);
        assert_eq!(time_out(&mut other), 8.0, "there was an answer in between");
    }

    /// The symptom: after each hold of 400 ms, which is longer than the deadline of frames, the stream began with a window of one segment.
    #[test]
    fn an_ack_sooner_after_a_timeout_than_a_round_trip_restores_the_window() {
        for (ack_ms, expected) in [(2_099, 8.0), (2_100, 1.0)] {
            let mut control = control();
            (0..2).for_each(|_| control.on_timeout(&mut Cx { now: millis(2_000), trace: &mut () }, &Flight::new(8)));
            assert_eq!(control.cwnd(), 1.0);
            control.on_progress(&mut Cx { now: millis(ack_ms), trace: &mut () }, &Progress::new(1, 8, None));
            assert_eq!(control.cwnd(), expected, "{ack_ms} ms");
        }
    }

    /// The symptom: of a stream over a link that held packets for 800 ms each 1.5 s three quarters were lost, twice what SRT lost.
    #[test]
    fn after_a_long_outage_or_hold_a_round_trip_restores_the_window_unless_there_was_a_queue_before() {
        for (before_ms, rtt_ms, expected) in [(100, 100, 8.0), (100, 120, 8.0), (100, 500, 8.0), (120, 500, 1.0)] {
            let mut control = control();
            (0..20).for_each(|step| arrive(&mut control, 1_000 + 10 * step, before_ms));
            for timeout_ms in [1_400, 1_700] {
                control.on_timeout(&mut Cx { now: millis(timeout_ms), trace: &mut () }, &Flight::new(8));
            }
            assert_eq!(control.cwnd(), 1.0);
            arrive(&mut control, 2_200, rtt_ms);
            assert_eq!(libm::floor(control.cwnd()), expected, "{before_ms} ms before, {rtt_ms} ms after");
        }
    }

    /// The symptom: after holds of 800 ms the window stayed at one segment until a frame arrived that was not too old, and half of a
    /// stream was lost.
    #[test]
    fn the_arrival_of_abandoned_frames_restores_the_window_unless_there_was_a_queue_before() {
        for (before_ms, expected) in [(100, 8.0), (120, 1.0)] {
            let mut control = control();
            (0..20).for_each(|step| arrive(&mut control, 1_000 + 10 * step, before_ms));
            assert_eq!([time_out(&mut control), time_out(&mut control)][1], 1.0);
            control.on_abandoned_arrival();
            assert_eq!(control.cwnd(), expected, "{before_ms} ms before");
        }
    }

    /// A queue that overflowed in the hold before made it look like congestion, and the window stayed at one segment.
    #[test]
    fn losses_in_one_hold_do_not_keep_the_window_small_after_the_next() {
        let mut control = control();
        (0..60).for_each(|_| control.on_lost(Instant::ZERO, &LostSegment::new(1, 1)));
        (0..120).for_each(|step| arrive(&mut control, 1_000 + step, 100));
        assert!(control.losses.share > 0.3);
        let before = control.cwnd();
        assert_eq!([time_out(&mut control), time_out(&mut control)][1], 1.0);
        control.on_abandoned_arrival();
        assert_eq!(control.cwnd(), before);
    }

    #[test]
    fn where_every_third_segment_is_lost_it_is_no_noise() {
        let lose_after = |lost: usize, arrived: u64| {
            let mut control = control();
            control.losses = Losses::default();
            (0..lost).for_each(|_| control.on_lost(Instant::ZERO, &LostSegment::new(1, 1)));
            control.on_sample(millis(2_000), &RateSample::new(arrived, 0));
            lose(&mut control)
        };
        assert_eq!(lose_after(32, 128), 8.0, "a fifth");
        assert_eq!(lose_after(60, 120), 4.0, "a third");
        assert_eq!(lose_after(40, 80), 8.0, "not counted long enough");
    }

    #[test]
    fn a_burst_of_repairs_was_taken_for_more_than_three_lost_in_ten() {
        let mut control = control();
        // Two in a hundred, while a window of 150 segments waits behind a hole.
        for step in 0..20 {
            (0..2).for_each(|_| control.on_lost(Instant::ZERO, &LostSegment::new(1, 150)));
            (0..98).for_each(|_| arrive(&mut control, 1_000 + 10 * step, 100));
        }
        assert!(control.losses.share < 0.05, "{}", control.losses.share);
    }
}
