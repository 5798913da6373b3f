//! Congestion control and everything that shapes its window: how much and how fast may be sent.
//!
//! This part owns the congestion window. Of the segments that are outstanding it reads only the numbers that it is passed.

pub(crate) mod ace;
mod cwnd_reduction;
mod cwnd_validation;
pub(crate) mod ecn;
mod pacer;
mod rate_sampler;
mod restart_after_idle;

use self::cwnd_reduction::CwndReduction;
use self::cwnd_validation::CwndValidation;
use self::ecn::{EcnSender, Feedback};
use self::pacer::Pacer;
use self::rate_sampler::RateSampler;
use self::restart_after_idle::decayed;
use crate::config::Config;
use crate::policy::control::path::SamplingRules;
use crate::policy::control::{CongestionControl, Flight, Marks, Progress, Window};
use crate::policy::reduction::PrrAck;
use crate::policy::spurious::Reduced;
use crate::scoreboard::{Acknowledgement, Scoreboard};
use crate::trace::Cx;
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Ecn, Flags};

/// Pacing by the window, as Linux does it (`tcp_pacing_ss_ratio`): below half the slow-start threshold.
const SLOW_START_GAIN: f64 = 2.0;
/// The same above (`tcp_pacing_ca_ratio`).
const AVOIDANCE_GAIN: f64 = 1.2;

/// SYN and segments that Linux sends before it paces, retransmissions included (`data_segs_out >= 10` in
/// `tcp_update_skb_after_send`).
const UNPACED: u64 = 10;

/// Congestion window and pacing.
#[derive(Debug)]
pub(crate) struct CongestionState {
    control: Box<dyn CongestionControl>,
    reduction: CwndReduction,
    ecn: EcnSender,
    /// Present if a window grows only as far as it is used.
    validation: Option<CwndValidation>,
    /// Present if the control models the path.
    sampler: Option<Box<RateSampler>>,
    /// Present if segments are sent at a rate.
    pacer: Option<Pacer>,
    /// Whether an ACK grows the window by the segments that it acknowledges (RFC 3465), not by one.
    byte_counting: bool,
    /// Whether the window decays while nothing is sent.
    slow_start_after_idle: bool,
    /// The initial window, in segments.
    initial_window: f64,
}

/// The marks that an ACK reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EcnSignal {
    /// No mark, or one that changed nothing.
    None,
    /// A mark that is to be answered as a loss (RFC 3168 §6.1.2).
    Echo,
    /// Marks for which a scalable control has reduced its window.
    Reduced,
}

/// The state of a recovery after an ACK, for a window that is reduced in proportion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecoveryState {
    /// Segments that are estimated to be in the network.
    pub(crate) pipe: u64,
    /// Outstanding segments that are not `SACKed`.
    pub(crate) not_sacked: u64,
    /// Whether the ACK revealed a loss.
    pub(crate) found_loss: bool,
}

impl CongestionState {
    pub(super) fn new(config: &Config, seeds: SeedTree) -> Self {
        let mut control = config.build_control(seeds);
        let sampler = control.path_model().map(|model| Box::new(RateSampler::new(model.sampling_rules())));
        Self {
            sampler,
            reduction: CwndReduction::new(config.recovery.window_reduction),
            ecn: EcnSender::default(),
            validation: config.growth.cwnd_validation.then(CwndValidation::default),
            pacer: (config.pacing || control.is_paced()).then(Pacer::default),
            control,
            byte_counting: config.growth.byte_counting,
            slow_start_after_idle: config.growth.slow_start_after_idle,
            initial_window: f64::from(config.window.initial),
        }
    }

    // Accessors.

    /// Returns the congestion control.
    pub(crate) fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    #[inline]
    pub(super) fn control_mut(&mut self) -> &mut dyn CongestionControl {
        &mut *self.control
    }

    /// Returns the congestion window in segments: that of the control, unless a reduction is under way.
    #[inline]
    pub(crate) fn cwnd(&self) -> f64 {
        self.reduction.cwnd().unwrap_or_else(|| self.control.cwnd())
    }

    /// Returns whether the window is being reduced gradually (PRR).
    pub(crate) fn is_reducing(&self) -> bool {
        self.reduction.cwnd().is_some()
    }

    /// Returns the state of ECN.
    #[inline]
    pub(crate) fn ecn(&self) -> &EcnSender {
        &self.ecn
    }

    /// Returns whether windows alone decide what may be sent: no pacing, no rate sampler, no gradual reduction.
    pub(super) fn is_plain(&self) -> bool {
        self.pacer.is_none() && self.sampler.is_none() && self.reduction.is_immediate()
    }

    /// Returns whether the control reads rate samples.
    #[inline]
    pub(super) fn has_sampler(&self) -> bool {
        self.sampler.is_some()
    }

    /// Returns whether segments are sent at a rate.
    #[inline]
    pub(super) fn is_paced(&self) -> bool {
        self.pacer.is_some()
    }

    /// Returns whether the window decays while nothing is sent.
    #[inline]
    pub(super) fn slow_start_after_idle(&self) -> bool {
        self.slow_start_after_idle
    }

    // The handshake.

    /// Opens the window once the handshake is done.
    pub(super) fn open(&mut self, cx: &mut Cx<'_>, was_syn_lost: bool) {
        // RFC 5681 §3.1: a lost SYN leaves one segment.
        self.control.on_established(cx, if was_syn_lost { 1.0 } else { self.initial_window });
    }

    /// Records the end of the handshake, and its RTT if it was measured.
    pub(super) fn open_path(&mut self, now: Instant, rtt: Option<Duration>) {
        if let Some(model) = self.control.path_model() {
            model.on_opened(now, rtt);
        }
    }

    /// Sets the result of the negotiation about ECN.
    pub(super) fn negotiate_ecn(&mut self, feedback: Feedback) {
        self.ecn.negotiate(feedback, self.control.is_scalable());
    }

    /// Reads from the peer's handshake segment whether ours arrived marked.
    pub(super) fn on_ace_handshake(&mut self, flags: Flags) {
        self.ecn.on_ace_handshake(flags);
    }

    /// Returns, once per reduction, whether CWR is to be sent.
    pub(super) fn take_cwr(&mut self) -> bool {
        self.ecn.take_cwr()
    }

    // Sending.

    /// Records that a new segment was sent.
    #[inline]
    pub(super) fn on_new_segment(&mut self, scoreboard: &Scoreboard) {
        if self.validation.is_none() {
            return;
        }
        let cwnd = self.cwnd();
        if let Some(validation) = &mut self.validation {
            validation.on_sent(scoreboard.una(), scoreboard.snd_max(), cwnd);
        }
    }

    /// Records that a segment was sent, where the window is reduced in proportion.
    pub(super) fn on_sent(&mut self) {
        self.reduction.on_sent();
    }

    /// Decays the window after `idle` without sending; `timeout` is the RTO.
    pub(super) fn on_idle_period(&mut self, idle: Duration, timeout: Duration) {
        let before = Window::new(self.control.cwnd(), self.control.ssthresh());
        if let Some(window) = decayed(before, self.initial_window, idle, timeout) {
            self.control.on_idle(&window);
        }
    }

    /// Returns whether the pacer holds the next segment back.
    #[inline]
    pub(super) fn holds_back(&mut self, now: Instant) -> bool {
        self.pacer.as_mut().is_some_and(|pacer| pacer.holds(now))
    }

    /// Records that a segment as long as `size` full ones is sent, where segments are paced; the SYN included, it is the `sent`th.
    pub(super) fn pace(&mut self, now: Instant, sent: u64, size: f64, rate: f64) {
        let is_unpaced = sent <= UNPACED && self.sampler.as_ref().is_some_and(|it| it.rules() == SamplingRules::Linux);
        if let Some(pacer) = &mut self.pacer
            && !is_unpaced
        {
            pacer.on_sent(now, size, rate, || self.control.send_quantum(rate));
        }
    }

    /// Returns the pacing rate in full segments per second; `None` before it is known, and without pacing.
    ///
    /// For a control without a rate of its own the window is spread over the smoothed round trip, with room to grow.
    pub(super) fn pacing_rate(&self, srtt: Option<Duration>, outstanding: u64) -> Option<f64> {
        self.pacer?;
        self.control.pacing_rate().or_else(|| {
            let srtt = srtt?.as_secs_f64();
            let (cwnd, is_below_half_ssthresh) =
                (self.control.cwnd(), self.control.cwnd() < self.control.ssthresh() / 2.0);
            let gain = if is_below_half_ssthresh { SLOW_START_GAIN } else { AVOIDANCE_GAIN };
            (srtt > 0.0).then(|| gain * cwnd.max(outstanding as f64) / srtt)
        })
    }

    /// Returns the time at which the pacer lets the next segment go.
    #[inline]
    pub(super) fn pacer_deadline(&self) -> Instant {
        self.pacer.as_ref().map_or(Instant::NEVER, Pacer::deadline)
    }

    /// Acts on the pacer's deadline.
    pub(super) fn on_pacer_deadline(&mut self, now: Instant) {
        if let Some(pacer) = &mut self.pacer {
            pacer.on_timeout(now);
        }
    }

    // The window.

    /// Grows the window for an ACK that advances.
    #[inline]
    pub(super) fn grow(&mut self, cx: &mut Cx<'_>, ack: &Acknowledgement, scoreboard: &Scoreboard) {
        let progress = self.progress(ack, scoreboard);
        self.control.on_progress(cx, &progress);
    }

    /// Returns what an ACK that advances means for the window.
    #[inline]
    pub(super) fn progress(&self, ack: &Acknowledgement, scoreboard: &Scoreboard) -> Progress {
        let is_used = self.is_window_used();
        Progress {
            acked: ack.advanced,
            rtt: ack.rtt,
            una: scoreboard.una(),
            nxt: scoreboard.nxt(),
            snd_max: scoreboard.snd_max(),
            flight: scoreboard.outstanding() + ack.advanced,
            growth: if is_used == Some(false) { 0.0 } else { self.growth(ack) },
            is_used,
        }
    }

    /// Returns whether enough of the window was used for it to grow; `None` if that is not watched.
    #[inline]
    fn is_window_used(&self) -> Option<bool> {
        let validation = self.validation.as_ref()?;
        Some(validation.is_used(|| self.control.cwnd(), || self.control.headroom()))
    }

    /// Returns by how many segments an ACK may grow the window.
    #[inline]
    fn growth(&self, ack: &Acknowledgement) -> f64 {
        // RFC 3465 §2.3: segments that waited behind a retransmitted one are acknowledged at once, although they arrived one by
        // one. An ACK that measures no round trip covers a retransmission, so only one segment counts.
        let counts = self.byte_counting && ack.rtt.is_some();
        if counts { ack.advanced.min(ack.delivered).max(1) as f64 } else { 1.0 }
    }

    /// Reduces the window for a loss, unless it was reduced for a mark in the same window of data.
    pub(super) fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight, una: u64, snd_max: u64) {
        // Losses and marks of one window of data are one congestion event (RFC 3168 §6.1.2).
        let mut has_reduced = true;
        if !self.ecn.has_answered(una) {
            let cwnd = self.control.cwnd();
            self.control.on_loss(cx, flight);
            has_reduced = self.control.cwnd() < cwnd;
        }
        self.ecn.on_reduced(snd_max);
        self.reduction.on_loss(has_reduced);
    }

    /// Reduces the window for a retransmission timeout.
    pub(super) fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight, snd_max: u64) {
        self.control.on_timeout(cx, flight);
        self.ecn.on_reduced(snd_max);
        self.reduction.end();
    }

    /// Reduces the window for a mark; returns whether it did.
    pub(super) fn on_congestion_echo(&mut self, cx: &mut Cx<'_>, flight: &Flight, una: u64, snd_max: u64) -> bool {
        // Once per window of data (RFC 3168 §6.1.2).
        if self.ecn.has_reduced(una) {
            return false;
        }
        self.control.on_congestion_mark(cx, flight);
        self.ecn.on_answered(snd_max);
        true
    }

    /// Returns whether the window was reduced since segment `number` was first sent.
    pub(super) fn was_reduced_after(&self, number: u64) -> bool {
        self.ecn.was_reduced_after(number)
    }

    /// Reduces the window for a loss that the peer skipped; returns whether it is smaller now.
    pub(super) fn on_skip(&mut self, cx: &mut Cx<'_>, flight: &Flight, snd_max: u64) -> bool {
        let cwnd = self.control.cwnd();
        self.control.on_loss(cx, flight);
        self.ecn.on_answered(snd_max);
        self.control.cwnd() < cwnd
    }

    /// Restores the window that a spurious retransmission has reduced (RFC 4015 §3.1, step 9); returns whether it did.
    pub(super) fn undo(&mut self, reduced: &Reduced, outstanding: u64, acknowledged: u64) -> bool {
        self.reduction.end();
        // Step 9: the congestion was real if a mark was echoed.
        if reduced.is_marked {
            return false;
        }
        let cwnd = outstanding as f64 + (acknowledged as f64).min(self.initial_window);
        self.control.undo(&Window { cwnd, ssthresh: reduced.threshold });
        true
    }

    /// Returns whether the window falls to its new size at once.
    #[inline]
    pub(super) fn reduces_at_once(&self) -> bool {
        self.reduction.is_immediate()
    }

    /// Continues a gradual reduction with an ACK during recovery. `ack` is empty if a loss was found by time.
    pub(super) fn reduce(&mut self, ack: &Acknowledgement, repair: &RecoveryState) {
        let is_safe = ack.bytes > 0 && !repair.found_loss;
        let arrived = PrrAck { delivered: ack.delivered, in_flight: repair.pipe, is_safe };
        self.reduction.on_ack(&arrived, repair.not_sacked, self.control.ssthresh());
    }

    /// Ends a gradual reduction with the recovery.
    #[inline]
    pub(super) fn end_reduction(&mut self) {
        self.reduction.end();
    }

    // Marks.

    /// Reads the marks that an ACK reports.
    #[inline]
    pub(super) fn read_ecn(
        &mut self,
        now: Instant,
        flags: Flags,
        ack: &Acknowledgement,
        scoreboard: &Scoreboard,
        is_recovering: bool,
    ) -> EcnSignal {
        match self.ecn.feedback() {
            Feedback::Classic if flags.contains(Flags::ECE) => EcnSignal::Echo,
            Feedback::None | Feedback::Classic => EcnSignal::None,
            Feedback::Accurate => {
                let marked = self.ecn.read_ace(flags, ack.delivered);
                let marks = Marks {
                    delivered: ack.delivered,
                    marked,
                    rtt: ack.rtt,
                    una: scoreboard.una(),
                    snd_max: scoreboard.snd_max(),
                    is_recovering,
                };
                self.answer_marks(now, &marks)
            }
        }
    }

    /// Passes the marks of an ACK to a scalable control; for others they count as an echo.
    fn answer_marks(&mut self, now: Instant, marks: &Marks) -> EcnSignal {
        match self.ecn.codepoint() {
            Ecn::Capable1 if self.control.on_marks(now, marks) => EcnSignal::Reduced,
            Ecn::Capable0 | Ecn::Congested if marks.marked > 0 => EcnSignal::Echo,
            _ => EcnSignal::None,
        }
    }

    // The model of the path (draft-ietf-ccwg-bbr, "Algorithm Organization").

    /// Checks before a write whether the application has limited the sender.
    pub(super) fn check_app_limited(&mut self, has_data: bool) {
        if let Some(sampler) = &mut self.sampler {
            sampler.check_app_limited(has_data, || self.control.cwnd());
        }
    }

    /// Checks the same before an ACK or a timer lets segments be sent again, unless only writes count.
    pub(super) fn recheck_app_limited(&mut self, has_data: bool) {
        if self.sampler.as_ref().is_some_and(|sampler| sampler.rules() == SamplingRules::Draft) {
            self.check_app_limited(has_data);
        }
    }

    /// Records that segment `number` is sent.
    #[inline(never)]
    pub(super) fn sample_sending(&mut self, now: Instant, number: u64) {
        let Some(sampler) = &mut self.sampler else { return };
        if sampler.in_flight() == 0
            && let Some(model) = self.control.path_model()
        {
            model.on_restart(now, sampler.is_app_limited());
        }
        sampler.on_sent(now, number, self.control.cwnd());
    }

    /// Enters the segments that an ACK delivered, once recovery has read it.
    pub(super) fn sample_ack(&mut self, now: Instant, scoreboard: &Scoreboard) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_ack(now, scoreboard.delivered(), scoreboard.una());
        }
    }

    /// Enters an ACK of segments that were sent once.
    pub(super) fn sample_progress(&mut self, now: Instant, una: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_progress(now, una);
        }
    }

    /// Passes the rate sample of the last ACK to the control; `is_short` if it acknowledged a short segment alone.
    pub(super) fn update_model(&mut self, now: Instant, snd_max: u64, is_short: bool) {
        let (Some(sampler), Some(model)) = (&mut self.sampler, self.control.path_model()) else { return };
        if let Some(mut sample) = sampler.sample(now, snd_max) {
            sample.pacing_delay = self.pacer.as_ref().map_or(Duration::ZERO, |pacer| pacer.delay(now));
            sample.may_be_delayed &= is_short;
            model.on_sample(now, &sample);
        }
        // A model that sends less than its window allows must mark its samples app-limited.
        if model.is_probing_rtt() {
            sampler.mark_app_limited();
        }
    }

    /// Passes new losses to the control; `visit_lost` calls its argument with the number of each lost segment.
    pub(super) fn sample_losses(&mut self, now: Instant, visit_lost: impl FnOnce(&mut dyn FnMut(u64))) {
        let (Some(sampler), Some(model)) = (&mut self.sampler, self.control.path_model()) else { return };
        visit_lost(&mut |number| {
            if let Some(lost) = sampler.on_lost(number) {
                model.on_lost(now, &lost);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bbr1Parameters, BbrParameters, Control};

    fn state(control: Control) -> CongestionState {
        let mut state = CongestionState::new(&Config::rfc().with_control_only(control), SeedTree::new(1));
        state.control.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 10.0);
        state
    }

    fn is_app_limited(state: &CongestionState) -> bool {
        state.sampler.as_ref().is_some_and(|sampler| sampler.is_app_limited())
    }

    /// With nothing to send after an ACK, the retransmission that follows is limited by the application in the draft, not in
    /// Linux: there its rate, of few segments, counts, and lowers the bandwidth of a film beside a transfer.
    #[test]
    fn a_retransmission_between_the_writes_of_a_film_is_a_sample_of_the_path_for_bbr1_only() {
        let [mut linux, mut draft] =
            [Control::Bbr1(Bbr1Parameters::LINUX), Control::Bbr(BbrParameters::DEFAULT)].map(state);
        for state in [&mut linux, &mut draft] {
            state.recheck_app_limited(false);
        }
        assert_eq!([&linux, &draft].map(is_app_limited), [false, true]);
        linux.check_app_limited(false);
        assert!(is_app_limited(&linux), "a write finds the application idle");
    }

    /// An initial window of ten leaves in one burst. What is then sent again is paced: it is the eleventh transmission.
    #[test]
    fn bbr1_sends_the_initial_window_at_once() {
        let mut linux = state(Control::Bbr1(Bbr1Parameters::LINUX));
        // The SYN is the first; at 100 segments/s a burst has one.
        let is_held_after = |sent| {
            linux.pace(Instant::ZERO, sent, 1.0, 100.0);
            linux.holds_back(Instant::ZERO)
        };
        assert_eq!([2, 9, 10, 11].map(is_held_after), [false, false, false, true]);
    }
}
