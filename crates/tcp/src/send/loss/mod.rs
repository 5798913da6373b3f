//! Loss detection and repair: recovery, the timers, and the detection of spurious retransmissions.
//!
//! This part decides *which* segment is retransmitted and *when* a loss is assumed. It neither holds data nor sets a window: it
//! borrows the scoreboard, and returns the outcome of an ACK.

mod persist;
pub(crate) mod timer;

pub(crate) use self::persist::Persist;
pub(crate) use self::timer::RetransmissionTimer;

use crate::config::Config;
use crate::config::groups::IdleRto;
use crate::policy::dupthresh::DupthreshDetector;
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::scheme::Scheme;
use crate::policy::recovery::{AckInput, LostSegmentInfo, Outcome, SendAllowance, Timing};
use crate::policy::rto::RtoRestart;
use crate::policy::spurious::{ForwardRto, Reduced, Spurious};
use crate::policy::window_probe::WindowProbe;
use crate::scoreboard::{Acknowledgement, Scoreboard, Span};
use crate::trace::{Cx, TraceEvent};
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant, SeedTree};

/// Loss detection and repair.
#[derive(Debug)]
pub(crate) struct Loss {
    recovery: Scheme,
    dupthresh: DupthreshDetector,
    /// Present if retransmissions that prove spurious are to be found.
    spurious: Option<Box<Spurious>>,
    timer: RetransmissionTimer,
    persist: Persist,
    activity: Activity,
    /// Which ACKs without progress restart the timer.
    restart: RtoRestart,
    /// Whether the timer runs while nothing is outstanding, as in ns-2.
    keeps_idle_timer: bool,
    /// Whether a window probe carries no byte of the stream.
    probes_empty: bool,
}

/// The times of the last transmission, ACK and timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activity {
    /// The time of the last advance of the cumulative ACK, or of the first segment after an idle period.
    pub(crate) last_progress: Instant,
    pub(crate) last_timeout: Instant,
    /// The time of the last segment, window probes apart.
    pub(crate) last_sent: Instant,
    /// Duplicate ACKs that restarted the timer since the last progress.
    restarts: u64,
}

impl Activity {
    const NONE: Self =
        Self { last_progress: Instant::ZERO, last_timeout: Instant::ZERO, last_sent: Instant::ZERO, restarts: 0 };
}

impl Loss {
    pub(super) fn new(config: &Config, seeds: SeedTree) -> Self {
        Self {
            recovery: config.build_recovery(config.recovery.scheme),
            dupthresh: config.recovery.dupthresh.build(),
            spurious: Spurious::new(config.recovery.spurious).map(Box::new),
            timer: RetransmissionTimer::new(config.timers.rto.estimator(seeds), config.timers.rto),
            persist: Persist::default(),
            activity: Activity::NONE,
            restart: config.timers.restart,
            keeps_idle_timer: config.timers.idle == IdleRto::Keep,
            probes_empty: config.timers.window_probe == WindowProbe::Empty,
        }
    }

    /// Replaces a recovery that needs SACK, which the peer does not support.
    pub(super) fn use_recovery_without_sack(&mut self, config: &Config) {
        self.recovery = config.build_recovery(Recovery::without_sack());
    }

    /// Records that the peer sends SACK blocks.
    pub(super) fn use_sack(&mut self) {
        if let Some(spurious) = &mut self.spurious {
            spurious.use_sack();
        }
    }

    // Accessors.

    /// Returns the recovery scheme.
    #[inline]
    pub(crate) fn recovery(&self) -> &Scheme {
        &self.recovery
    }

    #[inline]
    pub(super) fn recovery_mut(&mut self) -> &mut Scheme {
        &mut self.recovery
    }

    /// Returns the rule by which duplicate ACKs mean loss.
    pub(crate) fn dupthresh(&self) -> &DupthreshDetector {
        &self.dupthresh
    }

    /// Returns the retransmission timer.
    #[inline]
    pub(crate) fn timer(&self) -> &RetransmissionTimer {
        &self.timer
    }

    #[inline]
    pub(super) fn timer_mut(&mut self) -> &mut RetransmissionTimer {
        &mut self.timer
    }

    /// Returns the persist timer.
    #[inline]
    pub(crate) fn persist(&self) -> &Persist {
        &self.persist
    }

    /// Returns when something was sent, acknowledged or timed out last.
    #[inline]
    pub(crate) fn activity(&self) -> &Activity {
        &self.activity
    }

    #[inline]
    pub(super) fn activity_mut(&mut self) -> &mut Activity {
        &mut self.activity
    }

    /// Returns whether the timer runs while nothing is outstanding, as in ns-2.
    pub(super) fn keeps_idle_timer(&self) -> bool {
        self.keeps_idle_timer
    }

    /// Returns whether the recovery finds losses by time (RACK).
    #[inline]
    pub(super) fn is_timed(&self) -> bool {
        self.recovery.is_timed()
    }

    /// Returns whether spurious retransmissions are looked for.
    #[inline]
    pub(super) fn detects_spurious(&self) -> bool {
        self.spurious.is_some()
    }

    /// Returns whether duplicates (DSACK) and echoed timestamps of ACKs are read.
    #[inline]
    pub(super) fn needs_details(&self) -> bool {
        self.is_timed() || self.detects_spurious()
    }

    // Sending.

    /// Records that a segment is sent now, before the scoreboard's `nxt` passes it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called for every segment")]
    pub(super) fn on_sent(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard) {
        self.recovery.on_sent(now, number, scoreboard);
    }

    /// Starts the timer for a segment that is sent now, and measures it if it is new; `was_idle` if nothing else is outstanding.
    #[inline]
    pub(super) fn start_timer(&mut self, now: Instant, number: u64, is_new: bool, was_idle: bool) {
        self.activity.last_sent = now;
        self.timer.on_sent(now, number, is_new, was_idle);
        if was_idle {
            self.activity.last_progress = now;
        }
    }

    /// Records that a segment is retransmitted.
    #[inline(never)]
    pub(super) fn on_retransmission(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard) {
        if let Some(spurious) = &mut self.spurious
            && let Some((start, sent)) = scoreboard.segment(number)
        {
            spurious.on_retransmission(now, Span { start, end: sent.end });
        }
        // Linux restarts the timer with the retransmission of the first missing segment (`tcp_xmit_retransmit_queue`).
        if self.restart == RtoRestart::Repairs && self.is_timed() && number == scoreboard.una() {
            self.restart_timer(now, scoreboard);
        }
    }

    /// Records that a new segment is sent: F-RTO counts those that it allows after a timeout.
    pub(super) fn on_new_segment(&mut self, now: Instant, scoreboard: &Scoreboard) {
        if let Some(forward) = self.forward_rto() {
            forward.on_sent_new();
        }
        self.schedule(now, scoreboard);
    }

    /// Returns the segment to send next: recovery decides, unless F-RTO sends new ones or nothing.
    #[inline]
    pub(super) fn next(&mut self, allowance: &SendAllowance, scoreboard: &Scoreboard) -> Option<u64> {
        match self.spurious.as_ref().and_then(|spurious| spurious.forward.as_ref()?.forward()) {
            Some(left) => self.next_of_forward_rto(allowance, left, scoreboard),
            None => self.recovery.next(scoreboard, allowance),
        }
    }

    #[inline(never)]
    fn next_of_forward_rto(&self, allowance: &SendAllowance, left: u64, scoreboard: &Scoreboard) -> Option<u64> {
        // RACK does not mark as lost what was sent shortly before the timeout: that is still in flight, and in the window.
        let has_room = !self.is_timed() || self.recovery.pipe(scoreboard) < allowance.usable();
        let may_send = left > 0 && has_room && allowance.has_new && scoreboard.outstanding() < allowance.wnd;
        may_send.then(|| scoreboard.snd_max())
    }

    // Reading an ACK.

    /// Processes progress, an exact RTT sample and the end of the back-off.
    #[inline]
    pub(super) fn note_times(&mut self, now: Instant, ack: &Acknowledgement) {
        if ack.bytes > 0 {
            self.activity.last_progress = now;
            self.activity.restarts = 0;
        }
        if let Some(rtt) = ack.rtt {
            self.dupthresh.on_rtt(rtt);
        }
    }

    /// Returns what an ACK means, where losses are found by time.
    #[inline]
    pub(super) fn read_timed(&mut self, now: Instant, ack: &Acknowledgement, scoreboard: &Scoreboard) -> Outcome {
        if let Scheme::Rack(rack) = &mut self.recovery { rack.read(now, ack, scoreboard) } else { Outcome::Nothing }
    }

    /// Returns the outcome of an ACK; `allowance` is the one before the ACK.
    #[inline]
    pub(super) fn read(
        &mut self,
        now: Instant,
        ack: &Acknowledgement,
        allowance: &SendAllowance,
        scoreboard: &mut Scoreboard,
    ) -> Outcome {
        let input = AckInput { now, ack, allowance, dupthresh: &self.dupthresh };
        self.recovery.on_ack(&input, scoreboard)
    }

    /// Reads an ACK that is [plain progress](super::sender::Sender::expects_progress).
    #[inline]
    pub(super) fn read_plain_progress(&mut self, now: Instant, ack: &Acknowledgement, scoreboard: &mut Scoreboard) {
        let before = scoreboard.una() - ack.advanced;
        self.recovery.on_plain_progress(now, before, ack.rtt, scoreboard);
    }

    /// Measures the round trip of an ACK that advances, and restarts the timer (RFC 6298 (5.3)).
    #[inline]
    pub(super) fn on_progress(&mut self, cx: &mut Cx<'_>, rtt: Option<Duration>, scoreboard: &Scoreboard) {
        let sample = match rtt {
            Some(rtt) => self.timer.on_sample(cx.now, rtt, scoreboard.una()),
            None => self.timer.on_progress(cx.now, scoreboard.una()),
        };
        if let Some(sample) = sample {
            cx.trace.record(cx.now, TraceEvent::RttSample(sample));
        }
        self.restart_timer(cx.now, scoreboard);
    }

    /// Processes a duplicate ACK, which may restart the timer.
    pub(super) fn on_duplicate(&mut self, now: Instant, ack: &Acknowledgement, scoreboard: &Scoreboard) {
        if self.restarts_on(ack, scoreboard) && scoreboard.outstanding() > 0 {
            self.activity.restarts += 1;
            self.restart_timer(now, scoreboard);
        }
    }

    /// Returns whether an ACK without progress restarts the timer.
    fn restarts_on(&self, ack: &Acknowledgement, scoreboard: &Scoreboard) -> bool {
        match self.restart {
            RtoRestart::Progress => false,
            // Data that repeats an acknowledgement, such as a heartbeat, does not show that a segment of ours arrived, though
            // the study of fine-grained RTOs counts it so. At most one restart per outstanding segment, so that a peer that
            // repeats an ACK for ever cannot put the timer off for ever.
            RtoRestart::Duplicates => {
                !self.recovery.is_recovering() && self.activity.restarts < scoreboard.outstanding()
            }
            RtoRestart::Arrivals => ack.delivered > 0,
            RtoRestart::Repairs => self.is_timed() && is_before_repair(scoreboard),
        }
    }

    /// Records that a loss was detected: its repair must arrive within a timeout.
    pub(super) fn on_loss(&mut self, now: Instant) {
        self.timer.cancel_measurement();
        self.timer.restart(now);
    }

    // Spurious retransmissions.

    fn forward_rto(&mut self) -> Option<&mut ForwardRto> {
        self.spurious.as_mut()?.forward.as_mut()
    }

    /// Remembers the state before a reduction of the window; `threshold` is `pipe_prev` of RFC 4015 §3.1, step 0.
    pub(super) fn before_reduction(&mut self, by_timeout: bool, threshold: f64, scoreboard: &Scoreboard) {
        if let Some(spurious) = &mut self.spurious {
            spurious.on_reduction(Reduced { by_timeout, threshold, is_marked: false }, scoreboard);
        }
    }

    /// Returns the last reduction if this ACK proves that it was spurious; `has_new` if a new segment could be sent.
    pub(super) fn check_spurious(
        &mut self,
        ack: &Acknowledgement,
        is_echo: bool,
        has_new: bool,
        scoreboard: &mut Scoreboard,
    ) -> Option<Reduced> {
        let spurious = self.spurious.as_mut()?;
        if is_echo {
            spurious.on_congestion_echo();
        }
        if let Some(reduced) = spurious.on_ack(ack, scoreboard, has_new) {
            return Some(reduced);
        }
        if self.forward_rto().is_some_and(ForwardRto::take_resumption) {
            self.recovery.resume(scoreboard);
        }
        None
    }

    /// Ends a recovery that proved spurious.
    pub(super) fn abort_recovery(&mut self, by_timeout: bool, scoreboard: &mut Scoreboard) {
        self.recovery.abort_recovery(scoreboard);
        if by_timeout {
            self.timer.on_spurious();
        }
    }

    /// Returns whether a repeated ACK without blocks changes nothing for RACK and for the detection of spurious retransmissions.
    pub(super) fn is_idle(&self) -> bool {
        self.is_timed() && self.recovery.is_idle() && self.spurious.as_ref().is_none_or(|spurious| spurious.is_idle())
    }

    // Timers.

    /// Restarts the timer if something is outstanding, else stops it.
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Instant, scoreboard: &Scoreboard) {
        // The persist timer uses the same clock.
        if self.persist.is_running() {
            return;
        }
        // ns-2 lets the timer run while nothing is outstanding.
        let keeps = self.keeps_idle_timer && scoreboard.snd_max() > 1;
        if scoreboard.outstanding() > 0 || keeps {
            self.timer.restart(now);
        } else {
            self.timer.stop();
        }
    }

    /// Restarts the timer if it has expired while a recovery deadline (since cancelled) replaced it.
    #[inline]
    pub(super) fn restart_expired_timer(&mut self, now: Instant, scoreboard: &Scoreboard) {
        // RFC 8985 §8: one timer at a time. When the recovery's own deadline comes, the timer is restarted, too.
        if self.is_timed() && self.timer.deadline() < now && self.deadline() == Instant::NEVER {
            self.restart_timer(now, scoreboard);
        }
    }

    /// Sets the timers of a recovery that finds losses by time.
    #[inline]
    pub(super) fn schedule(&mut self, now: Instant, scoreboard: &Scoreboard) {
        if self.is_timed() {
            let timing = Timing { smoothed_rtt: self.timer.srtt(), timeout_at: self.timer.deadline() };
            self.recovery.schedule(now, timing, scoreboard);
        }
    }

    /// Returns the deadline of a recovery that finds losses by time; [`Instant::NEVER`] if there is none.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        if self.persist.is_running() { Instant::NEVER } else { self.recovery.deadline() }
    }

    /// Acts on the timeout of a sender with nothing outstanding.
    pub(super) fn on_idle_timeout(&mut self, now: Instant, scoreboard: &mut Scoreboard) {
        self.recovery.on_timeout(now, scoreboard);
        self.timer.cancel_measurement();
        self.restart_timer(now, scoreboard);
    }

    /// Starts over because what is outstanding was too large for its path. Nothing was congested, so that no window falls
    /// (RFC 1191 §6.5, RFC 8201 §5.4).
    pub(super) fn on_path_limit(&mut self, now: Instant, scoreboard: &mut Scoreboard) {
        self.recovery.on_timeout(now, scoreboard);
        self.timer.cancel_measurement();
        self.restart_timer(now, scoreboard);
    }

    /// Processes a timeout with data outstanding; returns the time without progress before it.
    pub(super) fn note_timeout(&mut self, now: Instant) -> Duration {
        let frozen_for = now - self.activity.last_progress.max(self.activity.last_timeout);
        self.activity.last_timeout = now;
        self.activity.restarts = 0;
        frozen_for
    }

    // The persist timer.

    /// Starts to wait for a closed window: the first probe is sent after one timeout.
    pub(super) fn start_persisting(&mut self, now: Instant) {
        self.persist.start();
        self.timer.persist(now, 0);
    }

    /// Records that an interval of the persist timer is over: a probe is sent, and the next interval is twice as long.
    pub(super) fn on_persist_interval(&mut self) {
        self.persist.on_interval();
        self.timer.cancel_measurement();
        // With abandoned frames there may be nothing to probe with: the next frame that is written is the probe.
        self.timer.stop();
    }

    /// Returns whether a window probe is to carry no byte of the stream.
    pub(super) fn probes_empty(&self) -> bool {
        self.probes_empty
    }

    /// Records that a window probe is sent now.
    pub(super) fn on_window_probe(&mut self, is_empty: bool) {
        self.persist.on_probe(is_empty);
    }

    /// Starts the next interval of the persist timer.
    pub(super) fn restart_persist_timer(&mut self, now: Instant) {
        self.timer.persist(now, self.persist.intervals());
    }

    /// Ends the persist timer: the window is open, or nothing is left to send.
    pub(super) fn end_persisting(&mut self, now: Instant, scoreboard: &Scoreboard) {
        self.persist = Persist::default();
        self.restart_timer(now, scoreboard);
    }

    /// Returns whether a window probe is to be sent now.
    pub(super) fn is_probe_due(&self) -> bool {
        self.persist.is_due()
    }

    /// Returns, once, whether an empty window probe is to be sent.
    pub(super) fn take_empty_probe(&mut self) -> bool {
        self.persist.take_empty()
    }
}

/// Returns whether SACK newly reports a segment that was sent before the first missing one was sent last.
fn is_before_repair(scoreboard: &Scoreboard) -> bool {
    // Such a report does not show yet whether the repair arrived, so it must not count against the repair's timer.
    let arrived = scoreboard.delivered().iter().find(|segment| segment.transmissions == 1);
    let repair = scoreboard.segment(scoreboard.una());
    arrived.zip(repair).is_some_and(|(arrived, (_, repair))| arrived.departed < repair.departed)
}

/// Returns the information about the first missing segment.
pub(super) fn first_lost_info(now: Instant, duplicates: u32, scoreboard: &Scoreboard) -> LostSegmentInfo {
    let transmissions = scoreboard.segment(scoreboard.una()).map_or(0, |(_, sent)| sent.transmissions);
    let sent = Instant::from_nanos(now.as_nanos() - scoreboard.age(now).missing.as_nanos());
    LostSegmentInfo { duplicates, transmissions: u32::from(transmissions), sent: Some(sent) }
}
