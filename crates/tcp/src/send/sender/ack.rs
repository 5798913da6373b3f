//! The path of an ACK through the parts, step by step.
//!
//! There are three paths. [`Sender::on_acknowledgement`] is the general one. [`Sender::on_plain_progress`] and
//! [`Sender::on_repeated_ack`] are fast paths: they omit steps that cannot have an effect, and nearly every ACK takes one of them.
//! Tests compare the fast paths with the general one.

use super::{AckPath, Sender};
use crate::policy::control::{Flight, Progress};
use crate::policy::recovery::{LostSegmentInfo, Outcome, PartialTimer, VegasProgress};
use crate::scoreboard::{Acknowledgement, clock};
use crate::send::loss;
use crate::send::partial::snack::Skip;
use crate::send::rate::{EcnSignal, RecoveryState};
use crate::trace::{Cx, TraceEvent};
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Flags, SackBlocks, SeqNum};

/// The contents of a segment as an acknowledgement, with 64-bit stream positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckInfo<'a> {
    /// The stream position that is acknowledged.
    pub(crate) ack: u64,
    /// The stream position, in the peer's stream, at which the segment starts.
    pub(crate) start: u64,
    /// The receiver's window in bytes.
    pub(crate) window: u64,
    /// Whether the segment carries nothing that must be acknowledged in turn.
    pub(crate) is_pure: bool,
    pub(crate) flags: Flags,
    /// The sequence number of stream position 0.
    pub(crate) origin: SeqNum,
    pub(crate) sack: &'a SackBlocks,
    /// The timestamp that is echoed, as our clock counts.
    pub(crate) echo: Option<u32>,
    /// The skip that the peer newly reports.
    pub(crate) skip: Option<Skip>,
    /// Whether there may be more SACK blocks than the segment had room for.
    pub(crate) may_lack_blocks: bool,
}

impl Sender {
    /// Acts on an ACK: the general path.
    ///
    /// The steps, in this order: window → scoreboard → persist timer → ECN → times → recovery, whose outcome sets timer and
    /// window → gradual reduction → undo → rate sample → responses to skips and marks.
    pub(crate) fn on_acknowledgement(&mut self, cx: &mut Cx<'_>, info: &AckInfo<'_>) {
        let window = self.buffer.select_window(info.ack, info.start, info.window);
        if self.ack_is_irrelevant() {
            self.buffer.update_window(window);
            return;
        }
        let flight = self.buffer.scoreboard().outstanding();
        let was_closed = self.loss.persist().is_running();
        // Before the window is updated: a duplicate must advertise the same window as the ACK before it (RFC 5681 §2).
        let may_be_duplicate = self.may_be_duplicate(info, window);
        let mut ack = self.buffer.apply(info.ack, info.origin, info.sack, may_be_duplicate, cx.now);
        self.add_ack_details(cx.now, info, &mut ack);
        self.buffer.update_window(window);
        if was_closed {
            self.check_window_open(cx.now);
        }
        let is_echo = self.read_ecn(cx.now, info.flags, &ack);
        self.note_times(cx.now, &ack);
        let rtt = if self.measures_arrivals() { None } else { self.round_trip(cx.now, info.echo, &ack) };
        // The window does not grow for an ACK that echoes a mark, covers a skip, or answers a window probe.
        let may_grow = !was_closed && !is_echo && ack.skipped == 0;
        self.run_recovery(cx, &ack, rtt, is_echo, may_grow);
        if let Some(skip) = info.skip {
            self.respond_to_skip(cx, skip, flight);
        }
        if is_echo {
            self.on_congestion_echo(cx, flight);
        }
    }

    // The fast path of progress.

    /// Returns whether [`Self::on_plain_progress`] may act on an ACK up to stream position `ack`, which has no SACK blocks and no
    /// option but timestamps.
    #[inline]
    pub(crate) fn expects_progress(&self, ack: u64) -> bool {
        let scoreboard = self.buffer.scoreboard();
        let is_open =
            !self.loss.persist().is_running() && scoreboard.sacked().is_empty() && self.loss.recovery().is_open();
        // RACK, F-RTO and the rate sampler read an ACK of segments that were sent once and in order as the plain sender does.
        let is_usual = match self.ack_path {
            AckPath::Plain => true,
            AckPath::WithDetails => scoreboard.is_in_order(),
            AckPath::Full => false,
        };
        is_usual && is_open && scoreboard.is_advanced_by(ack)
    }

    /// Acts on an ACK for which [`Self::expects_progress`], with the same effects as [`Self::on_acknowledgement`].
    ///
    /// It omits these steps:
    ///
    /// * the test for duplicates, and listing what was delivered: the ACK advances and has no SACK blocks;
    /// * frames, skips and ECN: [`AckPath::Full`] never comes here;
    /// * the persist timer: it does not run;
    /// * the general outcome of recovery: outside recovery (`is_open`) an ACK that advances is [`Outcome::Progress`];
    /// * the gradual reduction: it lasts as long as a recovery, so it is ended instead of continued;
    /// * undo and rate sample on the plain path: [`AckPath::Plain`] has neither.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "`AckInfo` is too large to copy for every ACK")]
    pub(crate) fn on_plain_progress(&mut self, cx: &mut Cx<'_>, info: &AckInfo<'_>) {
        let window = self.buffer.select_window(info.ack, info.start, info.window);
        let ack = self.buffer.scoreboard_mut().apply_advance(info.ack, cx.now);
        self.buffer.update_window(window);
        self.note_times(cx.now, &ack);
        let rtt = self.round_trip(cx.now, info.echo, &ack);
        self.loss.read_plain_progress(cx.now, &ack, self.buffer.scoreboard_mut());
        self.loss.on_progress(cx, rtt, self.buffer.scoreboard());
        self.grow(cx, &ack);
        self.rate.end_reduction();
        if self.ack_path != AckPath::Plain {
            self.on_watched_progress(cx.now, info.echo, ack);
        }
    }

    /// Passes plain progress to spurious-loss detection, RACK's timers and the rate sampler.
    #[inline(never)]
    fn on_watched_progress(&mut self, now: Instant, echo: Option<u32>, mut ack: Acknowledgement) {
        if self.loss.needs_details() {
            ack.echo = self.counters.check_echo(now, echo, &ack);
        }
        self.check_spurious(&ack, false);
        self.loss.schedule(now, self.buffer.scoreboard());
        if self.rate.has_sampler() {
            self.recheck_app_limited();
            self.rate.sample_progress(now, self.buffer.scoreboard().una());
            self.update_model(now, &ack);
        }
    }

    // The fast path of repeated ACKs.

    /// Acts on a segment that starts at `start` and repeats the last acknowledgement, if it carries no information but the
    /// receiver's window; returns whether it does. This is every segment at a pure receiver.
    ///
    /// It omits all steps but the first: with nothing outstanding there are no duplicates, no round trip and no progress,
    /// and with nothing unsent the window cannot let anything be sent.
    #[inline]
    pub(crate) fn on_repeated_ack(&mut self, now: Instant, start: u64, window: u64, echo: Option<u32>) -> bool {
        let is_plain =
            self.has_nothing_to_send() && (self.ack_path == AckPath::Plain || self.is_plain_repeated_ack(now, echo));
        if is_plain {
            let una = self.buffer.scoreboard().una_position();
            let window = self.buffer.select_window(una, start, window);
            // No probe can be outstanding, so that the rest of `update_window` does not apply.
            self.buffer.set_window(window);
        }
        is_plain
    }

    /// Returns whether a repeated ACK without blocks carries no information, although ACKs are read closely.
    #[inline(never)]
    fn is_plain_repeated_ack(&mut self, now: Instant, echo: Option<u32>) -> bool {
        self.ack_path != AckPath::Full && (!self.loss.needs_details() || self.is_recovery_idle(now, echo))
    }

    /// Returns whether RACK and spurious-loss detection are as the ACK of all outstanding data has left them.
    fn is_recovery_idle(&mut self, now: Instant, echo: Option<u32>) -> bool {
        let is_idle = self.loss.is_idle();
        if is_idle {
            // The general path would check the echo, which may count it as impossible.
            self.counters.check_echo(now, echo, &Acknowledgement::default());
        }
        is_idle
    }

    /// Returns whether an ACK carries no information but the receiver's window, because nothing was sent or is to be.
    #[inline]
    fn ack_is_irrelevant(&self) -> bool {
        self.has_nothing_to_send() && self.ack_path != AckPath::Full && !self.loss.needs_details()
    }

    // The steps.

    /// Returns whether a segment may count as a duplicate if it repeats an acknowledgement; `window` is the one it advertises.
    #[inline]
    fn may_be_duplicate(&self, info: &AckInfo<'_>, window: u64) -> bool {
        // A real-time reader changes the advertised window continuously; SACK blocks show what arrived, and RFC 6675 §2
        // requires no more.
        let is_same_window =
            window == self.buffer.peer_window().size() || (self.buffer.has_frames() && !info.sack.is_empty());
        // The answer to a window probe repeats an acknowledgement, although nothing was lost.
        info.is_pure && is_same_window && !self.loss.persist().is_running()
    }

    /// Adds to the changes of the scoreboard the other information of an ACK, if it is processed.
    #[inline]
    fn add_ack_details(&mut self, now: Instant, info: &AckInfo<'_>, ack: &mut Acknowledgement) {
        self.buffer.remove_acked_frames();
        ack.may_lack_blocks = info.may_lack_blocks;
        if let Some(skip) = info.skip {
            self.apply_skip(ack, skip);
        }
        if self.loss.needs_details() {
            ack.duplicate = self.buffer.scoreboard().duplicate(info.origin, info.sack);
            ack.echo = self.counters.check_echo(now, info.echo, ack);
        }
    }

    /// Corrects the changes of an ACK that covers a skip: it has no RTT sample, and which of the segments arrived is unknown.
    #[cold]
    fn apply_skip(&mut self, ack: &mut Acknowledgement, skip: Skip) {
        ack.skipped = skip.segments;
        ack.rtt = None;
        ack.delivered = ack.delivered.saturating_sub(skip.segments);
        self.buffer.scoreboard_mut().forget_delivered();
        let una = self.buffer.scoreboard().una();
        self.loss.timer_mut().cancel_measurement_below(una);
    }

    /// Reads the marks that an ACK reports; returns whether it echoes one that is to be answered as a loss.
    #[inline]
    fn read_ecn(&mut self, now: Instant, flags: Flags, ack: &Acknowledgement) -> bool {
        // Besides frames, only negotiated ECN selects the full path.
        if self.ack_path != AckPath::Full {
            return false;
        }
        let is_recovering = self.loss.recovery().is_recovering();
        let signal = self.rate.read_ecn(now, flags, ack, self.buffer.scoreboard(), is_recovering);
        if signal == EcnSignal::Reduced {
            self.counters.on_mark_response();
        }
        signal == EcnSignal::Echo
    }

    /// Processes progress, an exact RTT sample and the end of the back-off.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "`Acknowledgement` is too large to copy for every ACK")]
    fn note_times(&mut self, now: Instant, ack: &Acknowledgement) {
        self.loss.note_times(now, ack);
        if ack.is_of_abandoned || ack.skipped > 0 {
            self.on_connectivity(ack);
        }
        self.counters.on_ack(now, ack, self.buffer.scoreboard());
    }

    /// Ends the back-off at an ACK without an RTT sample, which ends it otherwise: the path delivers.
    #[cold]
    fn on_connectivity(&mut self, ack: &Acknowledgement) {
        self.loss.timer_mut().end_back_off();
        if ack.is_of_abandoned && ack.skipped == 0 {
            self.rate.control_mut().on_abandoned_arrival();
        }
    }

    /// Returns the round trip that an ACK measures: exactly, or by the timestamp that it echoes (RFC 7323 §4).
    #[inline]
    fn round_trip(&mut self, now: Instant, echo: Option<u32>, ack: &Acknowledgement) -> Option<Duration> {
        if !self.loss.timer().samples_each_ack() || ack.bytes == 0 || ack.skipped > 0 {
            return None;
        }
        if let Some(exact) = ack.rtt {
            self.loss.timer_mut().note_exact(exact);
            return Some(exact);
        }
        Some(clock::since(now, self.counters.check_echo(now, echo, ack)?))
    }

    /// Returns whether round trips are measured by each arrival that is reported, instead of by the cumulative ACK.
    ///
    /// With frames the cumulative ACK waits at each hole until the repair or the deadline, and without timestamps that wait would
    /// count as round trip: frames then seem to be beyond repair, and none is repaired.
    #[inline]
    fn measures_arrivals(&self) -> bool {
        self.ack_path == AckPath::Full
            && self.buffer.has_frames()
            && self.loss.is_timed()
            && !self.buffer.size().has_timestamps()
    }

    /// Measures the round trip of the segment sent last of those that an ACK newly reports and that were sent once (Karn's rule;
    /// as Linux's `tcp_clean_rtx_queue`, which takes a sample from SACK where the cumulative ACK gives none).
    #[cold]
    fn measure_arrivals(&mut self, cx: &mut Cx<'_>) {
        let scoreboard = self.buffer.scoreboard();
        let sent_once = scoreboard.delivered().iter().filter(|segment| segment.transmissions == 1);
        let last = sent_once.map(|segment| segment.departed).max();
        let una = scoreboard.una();
        let timer = self.loss.timer_mut();
        timer.cancel_measurement();
        let Some(rtt) = last.map(|departed| cx.now - departed) else { return };
        timer.note_exact(rtt);
        if let Some(sample) = timer.on_sample(cx.now, rtt, una) {
            cx.trace.record(cx.now, TraceEvent::RttSample(sample));
        }
    }

    /// Runs recovery on an ACK, and acts on the outcome. `rtt` is its RTT sample.
    fn run_recovery(
        &mut self,
        cx: &mut Cx<'_>,
        ack: &Acknowledgement,
        rtt: Option<Duration>,
        is_echo: bool,
        may_grow: bool,
    ) {
        if self.measures_arrivals() {
            self.measure_arrivals(cx);
        }
        let outcome = self.read_outcome(cx.now, ack);
        self.act_on(cx, outcome, ack, rtt, may_grow);
        if ack.is_partial_segment() {
            // RFC 6298 (5.3) restarts the timer for new data, which need not be a whole segment.
            self.loss.on_progress(cx, rtt, self.buffer.scoreboard());
        }
        self.reduce(ack);
        self.check_spurious(ack, is_echo);
        if ack.bytes > 0 {
            self.loss.schedule(cx.now, self.buffer.scoreboard());
        }
        self.sample_ack(cx.now, ack);
        self.loss.restart_expired_timer(cx.now, self.buffer.scoreboard());
    }

    /// Returns what an ACK means to the recovery.
    #[inline]
    fn read_outcome(&mut self, now: Instant, ack: &Acknowledgement) -> Outcome {
        // RACK counts no duplicates, and so needs no limits, which cost more to compute than the rest of this step.
        if self.loss.is_timed() {
            return self.loss.read_timed(now, ack, self.buffer.scoreboard());
        }
        let allowance = self.allowance();
        self.loss.read(now, ack, &allowance, self.buffer.scoreboard_mut())
    }

    /// Sets timer and window by what an ACK, or a deadline of the recovery, means.
    pub(super) fn act_on(
        &mut self,
        cx: &mut Cx<'_>,
        outcome: Outcome,
        ack: &Acknowledgement,
        rtt: Option<Duration>,
        may_grow: bool,
    ) {
        match outcome {
            Outcome::Progress => {
                self.loss.on_progress(cx, rtt, self.buffer.scoreboard());
                if may_grow {
                    self.grow(cx, ack);
                }
            }
            Outcome::Recovered { surplus } => {
                self.loss.on_progress(cx, rtt, self.buffer.scoreboard());
                self.deflate(cx, surplus);
            }
            Outcome::Partial { surplus, timer } => {
                self.on_partial(cx.now, timer);
                self.deflate(cx, surplus);
            }
            Outcome::Loss { duplicates, flight } => {
                if ack.advanced > 0 {
                    // RFC 6298 measures the round trip of every ACK of new data, whatever else it reports.
                    self.loss.on_progress(cx, rtt, self.buffer.scoreboard());
                }
                let missing = loss::first_lost_info(cx.now, duplicates, self.buffer.scoreboard());
                self.on_loss(cx, missing, flight);
            }
            Outcome::ProbeRepaired { flight } => {
                let flight = self.flight(flight);
                self.rate.control_mut().on_loss(cx, &flight);
                self.loss.on_progress(cx, rtt, self.buffer.scoreboard());
            }
            Outcome::Duplicate { counted } => {
                if let Some(count) = counted {
                    self.record_duplicate(cx, count);
                }
                self.loss.on_duplicate(cx.now, ack, self.buffer.scoreboard());
            }
            Outcome::VegasInflate => self.rate.control_mut().inflate(cx, 1.0),
            Outcome::VegasProgress(progress) => self.on_vegas_progress(cx, &progress, ack, rtt),
            Outcome::VegasLoss(missing) => {
                self.on_loss(cx, missing, self.buffer.scoreboard().outstanding());
                self.loss.timer_mut().back_off(cx.now);
            }
            Outcome::Nothing => {}
        }
    }

    #[inline]
    fn grow(&mut self, cx: &mut Cx<'_>, ack: &Acknowledgement) {
        if self.partial.may_grow(self.buffer.scoreboard().una()) {
            self.rate.grow(cx, ack, self.buffer.scoreboard());
        }
    }

    /// Acts on progress of ns-2's Vegas: the window is deflated before the round trip is measured.
    fn on_vegas_progress(
        &mut self,
        cx: &mut Cx<'_>,
        vegas: &VegasProgress,
        ack: &Acknowledgement,
        rtt: Option<Duration>,
    ) {
        self.rate.control_mut().deflate(cx, f64::from(vegas.duplicates));
        self.loss.on_progress(cx, rtt, self.buffer.scoreboard());
        let progress = self.rate.progress(ack, self.buffer.scoreboard());
        let progress = Progress { nxt: vegas.nxt, rtt: vegas.rtt, ..progress };
        self.rate.control_mut().on_progress(cx, &progress);
    }

    fn on_partial(&mut self, now: Instant, timer: PartialTimer) {
        if timer != PartialTimer::Continue {
            self.loss.restart_timer(now, self.buffer.scoreboard());
        }
        if timer == PartialTimer::RestartAndEndBackOff {
            // After the restart: the running timer keeps its back-off, the next one starts without (ns-2's Sack1).
            self.loss.timer_mut().end_back_off();
        }
    }

    fn deflate(&mut self, cx: &mut Cx<'_>, surplus: f64) {
        // `deflate` records a window in the trace, and without a surplus there is none to record.
        if surplus > 0.0 {
            self.rate.control_mut().deflate(cx, surplus);
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, missing: LostSegmentInfo, flight: u64) {
        if missing.duplicates > 0 {
            self.record_duplicate(cx, missing.duplicates);
        }
        cx.trace.record(cx.now, TraceEvent::FastRetransmit);
        self.counters.on_loss(missing.duplicates);
        self.remember_reduction(false, flight);
        let flight = Flight { missing: Some(missing), ..self.flight(flight) };
        let scoreboard = self.buffer.scoreboard();
        self.rate.on_loss(cx, &flight, scoreboard.una(), scoreboard.snd_max());
        self.loss.on_loss(cx.now);
    }

    fn record_duplicate(&self, cx: &mut Cx<'_>, count: u32) {
        let (age, threshold) = (self.buffer.scoreboard().age(cx.now).missing, self.loss.dupthresh().threshold());
        cx.trace.record(cx.now, TraceEvent::Duplicate { count, age, threshold });
    }

    /// Reduces the window for a mark; `flight` is what was outstanding before the ACK.
    fn on_congestion_echo(&mut self, cx: &mut Cx<'_>, flight: u64) {
        // A loss under repair has reduced the window already: both are one congestion event (RFC 3168 §6.1.2).
        if self.loss.recovery().is_recovering() {
            return;
        }
        let flight = self.flight(flight);
        let scoreboard = self.buffer.scoreboard();
        if self.rate.on_congestion_echo(cx, &flight, scoreboard.una(), scoreboard.snd_max()) {
            self.counters.on_mark_response();
        }
    }

    /// Continues a gradual reduction of the window, or ends it with the recovery. `ack` is empty if a loss was found by time.
    pub(super) fn reduce(&mut self, ack: &Acknowledgement) {
        if self.rate.reduces_at_once() {
            return;
        }
        let (recovery, scoreboard) = (self.loss.recovery(), self.buffer.scoreboard());
        if !recovery.is_recovering() {
            self.rate.end_reduction();
            return;
        }
        let repair = RecoveryState {
            pipe: recovery.pipe(scoreboard),
            not_sacked: scoreboard.outstanding() - scoreboard.sacked().total(),
            found_loss: recovery.found_loss(),
        };
        self.rate.reduce(ack, &repair);
    }

    // Spurious retransmissions.

    /// Remembers the state before a reduction with so many segments in flight.
    pub(super) fn remember_reduction(&mut self, by_timeout: bool, flight: u64) {
        if self.loss.detects_spurious() {
            let threshold = self.rate.control().ssthresh().max(flight as f64);
            self.loss.before_reduction(by_timeout, threshold, self.buffer.scoreboard());
        }
    }

    /// Undoes the last reduction if this ACK, which may echo a mark, proves it spurious.
    #[inline]
    fn check_spurious(&mut self, ack: &Acknowledgement, is_echo: bool) {
        if self.loss.detects_spurious() {
            self.undo_if_spurious(ack, is_echo);
        }
    }

    fn undo_if_spurious(&mut self, ack: &Acknowledgement, is_echo: bool) {
        let allowance = self.allowance();
        let has_new = allowance.has_new && self.buffer.scoreboard().outstanding() < allowance.wnd;
        let Some(reduced) = self.loss.check_spurious(ack, is_echo, has_new, self.buffer.scoreboard_mut()) else {
            return;
        };
        // RFC 4015 §3.1: new data are sent next (step 8), the window is restored (step 9), and the timer counts the next round
        // trip in full (step 11).
        let outstanding = self.buffer.scoreboard().outstanding();
        if self.rate.undo(&reduced, outstanding, ack.advanced) {
            self.counters.on_undo();
        }
        self.loss.abort_recovery(reduced.by_timeout, self.buffer.scoreboard_mut());
    }

    // Echoed timestamps.

    /// Returns whether our timestamp clock has shown a value since the oldest outstanding segment was first sent.
    pub(crate) fn is_possible_echo(&self, now: Instant, echo: u32) -> bool {
        clock::age(now, echo) <= clock::age(now, self.buffer.scoreboard().oldest_stamp())
    }

    // The rate sampler.

    /// Passes an ACK to the rate sampler. After recovery has read it: its losses belong to the same sample.
    fn sample_ack(&mut self, now: Instant, ack: &Acknowledgement) {
        if self.rate.has_sampler() {
            self.recheck_app_limited();
            self.rate.sample_ack(now, self.buffer.scoreboard());
            self.update_model(now, ack);
        }
    }

    /// Passes new losses and the rate sample of an ACK to the control.
    fn update_model(&mut self, now: Instant, ack: &Acknowledgement) {
        self.sample_losses(now);
        let is_short = ack.advanced == 1 && ack.bytes < self.buffer.size().mss();
        self.rate.update_model(now, self.buffer.scoreboard().snd_max(), is_short);
    }

    /// Passes new losses to the rate sampler.
    pub(super) fn sample_losses(&mut self, now: Instant) {
        let (recovery, scoreboard) = (self.loss.recovery(), self.buffer.scoreboard());
        self.rate.sample_losses(now, |visit| recovery.visit_lost(scoreboard, visit));
    }
}
