//! The path of an ACK through the sender, one stage after the other: window → scoreboard → marks → recovery → timer and control →
//! undo → the control's model of the path.

use super::sender::Sender;
use super::snack::Skip;
use crate::policy::choice::Restart;
use crate::policy::control::{Flight, Missing, Progress};
use crate::policy::recovery::scheme::Scheme;
use crate::policy::recovery::{Arrival, Deflated, Outcome};
use crate::scoreboard::Acknowledgement;
use crate::scoreboard::clock;
use crate::send::ecn::Feedback;
use crate::trace::{Cx, TraceEvent};
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Flags, SackBlocks, SeqNum};

/// What a segment says as an acknowledgement, its numbers in full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckInfo<'a> {
    /// The stream position that is acknowledged, and the one at which the segment starts.
    pub(crate) ack: u64,
    pub(crate) start: u64,
    /// The receiver's window in bytes.
    pub(crate) window: u64,
    /// The segment carries nothing that must be acknowledged in turn.
    pub(crate) is_bare: bool,
    pub(crate) flags: Flags,
    /// Number of stream position 0.
    pub(crate) origin: SeqNum,
    pub(crate) sack: &'a SackBlocks,
    /// The timestamp that is echoed.
    pub(crate) echo: Option<u32>,
    /// What the peer's reader newly stepped over.
    pub(crate) skip: Option<Skip>,
    /// There may be more SACK blocks than it had room for.
    pub(crate) may_lack_blocks: bool,
}

impl Sender {
    /// Acts on an ACK of something that was sent.
    pub(crate) fn on_acknowledgement(&mut self, cx: &mut Cx<'_>, heard: &AckInfo<'_>) {
        let window = self.window_told(heard.ack, heard.start, heard.window);
        if self.has_nothing_to_learn() {
            self.on_window(window);
            return;
        }
        let flight = self.scoreboard.outstanding();
        let was_closed = self.persist.is_running();
        // Whether it is a duplicate, the window before it decides.
        let is_pure = self.is_pure(heard, window);
        let mut ack = self.scoreboard.apply(heard.ack, heard.origin, heard.sack, is_pure, cx.now);
        self.complete(cx.now, heard, &mut ack);
        self.on_window(window);
        if was_closed {
            self.look_at_window(cx.now);
        }
        let is_echo = self.read_marks(cx.now, heard.flags, &ack);
        self.note_times(cx.now, &ack);
        let rtt = self.round_trip(cx.now, heard, &ack);
        self.repair(cx, &ack, rtt, is_echo, !was_closed);
        if let Some(skip) = heard.skip {
            self.respond_to_skip(cx, skip, flight);
        }
        if is_echo {
            self.on_congestion_echo(cx, flight);
        }
    }

    /// Returns whether [`Self::on_plain_progress`] may act on an ACK up to stream position `ack` which tells nothing else beside
    /// the receiver's window: it acknowledges a whole segment, and nothing unusual was agreed or is under way.
    #[inline]
    pub(crate) fn expects_progress(&self, ack: u64) -> bool {
        let is_open = !self.persist.is_running() && self.scoreboard.sacked().is_empty() && self.recovery.is_open();
        let is_usual = self.reads_plainly || (self.is_unmarked() && self.scoreboard.is_in_order());
        is_usual && is_open && self.scoreboard.is_advanced_by(ack)
    }

    /// Acts on an ACK that [is expected](Self::expects_progress) as [`Self::on_acknowledgement`] would, most of whose questions
    /// have one answer then.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is heard is large to hand over")]
    pub(crate) fn on_plain_progress(&mut self, cx: &mut Cx<'_>, heard: &AckInfo<'_>) {
        let window = self.window_told(heard.ack, heard.start, heard.window);
        let ack = self.scoreboard.apply_advance(heard.ack, cx.now);
        self.on_window(window);
        self.note_times(cx.now, &ack);
        let rtt = self.round_trip(cx.now, heard, &ack);
        self.recovery.on_plain_progress(cx.now, self.scoreboard.una() - ack.advanced, ack.rtt, &mut self.scoreboard);
        self.on_progress(cx, rtt);
        self.grow(cx, &ack);
        self.reduction.end();
        if !self.reads_plainly {
            self.tell_watchers(cx.now, heard.echo, ack);
        }
    }

    /// Tells such an ACK to all who want to know more of it.
    #[inline(never)]
    fn tell_watchers(&mut self, now: Instant, echo: Option<u32>, mut ack: Acknowledgement) {
        if self.needs_details() {
            ack.echo = self.believed_echo(now, echo, &ack);
        }
        if self.spurious.is_some() {
            self.examine(&ack, false);
        }
        self.schedule(now);
        self.sample_progress(now);
    }

    /// Acts on a segment that starts at `start` and repeats the last acknowledgement, if that is all that it tells beside the
    /// receiver's window; says whether it is. So it is on the side that only receives, with every segment.
    #[inline]
    pub(crate) fn on_repetition(&mut self, now: Instant, start: u64, window: u64, echo: Option<u32>) -> bool {
        let is_plain = self.has_nothing_to_send() && (self.reads_plainly || self.reads_repetition_plainly(now, echo));
        if is_plain {
            let window = self.window_told(self.scoreboard.una_position(), start, window);
            self.learn_window(window);
        }
        is_plain
    }

    /// Returns whether ACKs tell nothing but the receiver's window: nothing was sent, or is to be.
    #[inline]
    fn has_nothing_to_learn(&self) -> bool {
        self.has_nothing_to_send() && self.is_unmarked() && !self.needs_details()
    }

    /// Returns whether ACKs tell of neither frames nor marks.
    #[inline]
    pub(super) fn is_unmarked(&self) -> bool {
        self.queue.frames.is_none() && self.marks.feedback == Feedback::None
    }

    /// Returns whether a repeated ACK without blocks tells nothing, though ACKs may tell more than progress and duplicates.
    #[inline(never)]
    fn reads_repetition_plainly(&mut self, now: Instant, echo: Option<u32>) -> bool {
        self.is_unmarked() && (!self.needs_details() || self.has_seen_all(now, echo))
    }

    /// Returns whether a repeated ACK without blocks leaves a timed recovery, and the watch for needless retransmissions, as the
    /// ACK left them that acknowledged everything; then only its echo is looked at. All others may count it.
    fn has_seen_all(&mut self, now: Instant, echo: Option<u32>) -> bool {
        let is_at_rest = self.is_timed
            && self.recovery.is_at_rest()
            && self.spurious.as_ref().is_none_or(|spurious| spurious.is_at_rest());
        if is_at_rest {
            self.believed_echo(now, echo, &Acknowledgement::default());
        }
        is_at_rest
    }

    /// Some policies read duplicates and echoed times.
    #[inline]
    pub(super) fn needs_details(&self) -> bool {
        self.is_timed || self.spurious.is_some()
    }

    /// Returns whether it may count as a duplicate if it repeats an acknowledgement and tells of this window.
    #[inline]
    fn is_pure(&self, heard: &AckInfo<'_>, window: u64) -> bool {
        let is_same_window = window == self.peer_window.size || self.looks_past_window(heard.sack);
        // The answer to a probe repeats an acknowledgement, and nothing got lost.
        heard.is_bare && is_same_window && !self.persist.is_running()
    }

    /// Adds to what it changed on the scoreboard what else it tells, where that is read.
    #[inline]
    fn complete(&mut self, now: Instant, heard: &AckInfo<'_>, ack: &mut Acknowledgement) {
        self.settle();
        ack.may_lack_blocks = heard.may_lack_blocks;
        if let Some(skip) = heard.skip {
            self.enter_skip(ack, skip);
        }
        if self.needs_details() {
            ack.duplicate = self.scoreboard.duplicate(heard.origin, heard.sack);
            ack.echo = self.believed_echo(now, heard.echo, ack);
        }
    }

    /// Returns the round trip that it measures: exactly, or by the timestamp that it echoes (RFC 7323 §4).
    #[inline]
    fn round_trip(&mut self, now: Instant, heard: &AckInfo<'_>, ack: &Acknowledgement) -> Option<Duration> {
        if !self.timer.samples_each_ack || ack.bytes == 0 || ack.skipped > 0 {
            return None;
        }
        ack.rtt.or_else(|| Some(clock::since(now, self.believed_echo(now, heard.echo, ack)?)))
    }

    /// Returns the echoed timestamp if it can be one: the clock has told it already, and not before the oldest segment that is
    /// newly acknowledged was first sent. A peer that echoes nonsense, or zero, would make a round trip of all the time since.
    #[inline]
    fn believed_echo(&mut self, now: Instant, echo: Option<u32>, ack: &Acknowledgement) -> Option<u32> {
        let echo = echo?;
        let oldest = if ack.bytes > 0 { clock::age(now, ack.oldest_told) } else { u32::MAX / 2 };
        let is_possible = clock::age(now, echo) <= oldest;
        self.impossible_echoes += u64::from(!is_possible);
        is_possible.then_some(echo)
    }

    /// Returns whether the timestamp clock has told a time since the oldest segment that is outstanding was first sent.
    pub(crate) fn has_told(&self, now: Instant, echo: u32) -> bool {
        clock::age(now, echo) <= clock::age(now, self.scoreboard.oldest_told())
    }

    /// Takes note of what it says about time: progress, an exact round trip, the end of back-off.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what an ACK changes is large to hand over")]
    fn note_times(&mut self, now: Instant, ack: &Acknowledgement) {
        if ack.bytes > 0 {
            self.watch.last_progress = now;
            self.watch.restarts = 0;
            self.delivered.on_progress(now, self.scoreboard.acknowledged(), self.scoreboard.end_position());
        }
        if let Some(rtt) = ack.rtt {
            self.trigger.on_rtt(rtt);
        }
        if ack.is_of_given_up || ack.skipped > 0 {
            self.timer.end_back_off();
        }
    }

    /// Recovery says what it means, timer and control act on that word, and what was reduced in vain is given back.
    ///
    /// `rtt` is the round trip that it measures; the window does not grow if it echoes a mark, covers what the peer stepped
    /// over, or a probe of a closed window.
    fn repair(&mut self, cx: &mut Cx<'_>, ack: &Acknowledgement, rtt: Option<Duration>, is_echo: bool, was_open: bool) {
        let outcome = self.show_to_recovery(cx.now, ack);
        self.act_on(cx, outcome, ack, rtt, was_open && !is_echo && ack.skipped == 0);
        if ack.is_of_part() {
            // RFC 6298 (5.3) asks for new data, not for a segment.
            self.on_progress(cx, rtt);
        }
        self.reduce(ack);
        self.examine(ack, is_echo);
        if ack.bytes > 0 {
            self.schedule(cx.now);
        }
        self.sample_ack(cx.now);
        self.rouse_timer(cx.now);
    }

    /// The retransmission timer stood still beside a deadline of recovery that is no more: if its own passed meanwhile, it
    /// begins anew, as where that deadline was met.
    #[inline]
    fn rouse_timer(&mut self, now: Instant) {
        if self.is_timed && self.timer.deadline() < now && self.recovery_deadline() == Instant::NEVER {
            self.restart_timer(now);
        }
    }

    /// Lets the recovery say what an ACK means. RACK counts no duplicates, and so asks for no bounds.
    #[inline]
    fn show_to_recovery(&mut self, now: Instant, ack: &Acknowledgement) -> Outcome {
        if let Scheme::Rack(rack) = &mut self.recovery {
            return rack.read(now, ack, &self.scoreboard);
        }
        let limits = self.limits();
        let arrival = Arrival { now, ack, limits: &limits, trigger: &self.trigger };
        self.recovery.on_ack(&arrival, &mut self.scoreboard)
    }

    fn act_on(
        &mut self,
        cx: &mut Cx<'_>,
        outcome: Outcome,
        ack: &Acknowledgement,
        echoed_rtt: Option<Duration>,
        may_grow: bool,
    ) {
        match outcome {
            Outcome::Progress => {
                self.on_progress(cx, echoed_rtt);
                if may_grow {
                    self.grow(cx, ack);
                }
            }
            Outcome::Recovered => self.on_progress(cx, echoed_rtt),
            Outcome::RecoveredWithout { surplus } => {
                self.on_progress(cx, echoed_rtt);
                self.deflate(cx, surplus);
            }
            Outcome::Partial => self.on_partial(cx),
            Outcome::PartialWithout { surplus, restarts_timer } => {
                if restarts_timer {
                    self.restart_timer(cx.now);
                }
                self.deflate(cx, surplus);
            }
            Outcome::Loss { duplicates, flight } => {
                let missing = self.missing(cx.now, duplicates);
                self.on_loss(cx, missing, flight);
            }
            Outcome::FineLoss(missing) => {
                self.on_loss(cx, missing, self.scoreboard.outstanding());
                self.timer.back_off(cx.now);
            }
            Outcome::Repaired { flight } => {
                self.control.on_loss(cx, &self.flight(flight));
                self.on_progress(cx, echoed_rtt);
            }
            Outcome::Duplicate { counted } => self.on_duplicate(cx, counted, ack),
            Outcome::Deflated(deflated) => self.on_deflated(cx, &deflated, ack, echoed_rtt),
            Outcome::Inflated => self.control.inflate(cx, 1.0),
            Outcome::Nothing => {}
        }
    }

    /// Acts on the deadline that recovery asked for.
    pub(crate) fn on_recovery_deadline(&mut self, cx: &mut Cx<'_>) {
        self.note_gap();
        let outcome = self.recovery.on_deadline(cx.now, &self.scoreboard);
        let nothing = Acknowledgement::default();
        self.act_on(cx, outcome, &nothing, None, true);
        // It stood still meanwhile, and begins anew, whether a probe leaves or not (RFC 8985 §7.3, §8).
        self.restart_timer(cx.now);
        self.reduce(&nothing);
        self.sample_losses(cx.now);
    }

    /// Measures the round trip and restarts the timer.
    #[inline]
    pub(crate) fn on_progress(&mut self, cx: &mut Cx<'_>, echoed_rtt: Option<Duration>) {
        let base = match echoed_rtt {
            Some(rtt) => self.timer.on_sample(cx.now, rtt),
            None => self.timer.on_progress(cx.now, self.scoreboard.una()),
        };
        if let Some(base) = base {
            cx.trace.record(cx.now, TraceEvent::BaseRto(base));
        }
        self.restart_timer(cx.now);
    }

    #[inline]
    fn grow(&mut self, cx: &mut Cx<'_>, ack: &Acknowledgement) {
        if !self.notices.lets_grow(self.scoreboard.una()) {
            return;
        }
        let progress = self.progress(ack);
        self.control.on_progress(cx, &progress);
    }

    #[inline]
    fn progress(&self, ack: &Acknowledgement) -> Progress {
        let is_used = self.is_window_used();
        Progress {
            acked: ack.advanced,
            rtt: ack.rtt,
            una: self.scoreboard.una(),
            nxt: self.scoreboard.nxt(),
            smax: self.scoreboard.smax(),
            flight: self.scoreboard.outstanding() + ack.advanced,
            growth: if is_used == Some(false) { 0.0 } else { self.growth(ack) },
            is_used,
        }
    }

    /// Returns by how many segments an ACK may grow the window. Behind one that was sent again others may have waited, known by
    /// SACK or not: that one alone counts then (RFC 3465 §2.3).
    #[inline]
    fn growth(&self, ack: &Acknowledgement) -> f64 {
        let counts = self.counts_segments && ack.rtt.is_some();
        if counts { ack.advanced.min(ack.delivered).max(1) as f64 } else { 1.0 }
    }

    /// What duplicates inflated goes before the round trip is measured, as in ns-2.
    fn on_deflated(&mut self, cx: &mut Cx<'_>, told: &Deflated, ack: &Acknowledgement, echoed_rtt: Option<Duration>) {
        self.control.deflate(cx, f64::from(told.duplicates));
        self.on_progress(cx, echoed_rtt);
        let progress = Progress { nxt: told.nxt, rtt: told.rtt, ..self.progress(ack) };
        self.control.on_progress(cx, &progress);
    }

    fn on_partial(&mut self, cx: &mut Cx<'_>) {
        // In this order: the running timer keeps its back-off, the next one starts without (ns-2's Sack1).
        self.restart_timer(cx.now);
        self.timer.end_back_off();
    }

    fn deflate(&mut self, cx: &mut Cx<'_>, surplus: f64) {
        if surplus > 0.0 {
            self.control.deflate(cx, surplus);
        }
    }

    /// Returns what is known of the first missing segment.
    fn missing(&self, now: Instant, duplicates: u32) -> Missing {
        let transmissions = self.scoreboard.segment(self.scoreboard.una()).map_or(0, |(_, sent)| sent.transmissions);
        let sent = Instant::from_nanos(now.as_nanos() - self.scoreboard.age(now).missing.as_nanos());
        Missing { duplicates, transmissions: u32::from(transmissions), sent: Some(sent) }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, missing: Missing, flight: u64) {
        self.count_loss(cx, missing.duplicates);
        self.watch_reduction(false, flight);
        self.reduction.has_reduced = true;
        if !self.marks.has_answered(self.scoreboard.una()) {
            let cwnd = self.control.cwnd();
            let flight = Flight { missing: Some(missing), ..self.flight(flight) };
            self.control.on_loss(cx, &flight);
            self.reduction.has_reduced = self.control.cwnd() < cwnd;
        }
        self.marks.on_reduced(self.scoreboard.smax());
        self.reduction.proportional = None;
        self.timer.cancel_measurement();
        self.timer.restart(cx.now);
    }

    fn count_loss(&mut self, cx: &mut Cx<'_>, duplicates: u32) {
        if duplicates > 0 {
            self.record_duplicate(cx, duplicates);
        }
        cx.trace.record(cx.now, TraceEvent::FastRetransmit);
        match duplicates {
            1 => self.statistics.early_on_first += 1,
            2 => self.statistics.early_on_second += 1,
            _ => self.statistics.fast_retransmits += 1,
        }
    }

    fn on_duplicate(&mut self, cx: &mut Cx<'_>, counted: Option<u32>, ack: &Acknowledgement) {
        if let Some(count) = counted {
            self.record_duplicate(cx, count);
        }
        if self.restarts_on(ack) && self.scoreboard.outstanding() > 0 {
            self.watch.restarts += 1;
            self.restart_timer(cx.now);
        }
    }

    /// Returns whether an ACK without progress restarts the timer. Data that repeats an acknowledgement, such as a heartbeat, is no
    /// sign that anything of ours arrived, though the fine-grained RTO study takes it for one – as often as something of ours may
    /// have arrived: a peer that goes on repeating itself must not put off the timer for ever.
    fn restarts_on(&self, ack: &Acknowledgement) -> bool {
        match self.watch.restart {
            Restart::Progress => false,
            Restart::Duplicates => {
                !self.recovery.is_recovering() && self.watch.restarts < self.scoreboard.outstanding()
            }
            Restart::Arrivals => ack.delivered > 0,
            Restart::Repairs => self.is_timed && self.tells_of_before_repair(),
        }
    }

    /// Returns whether SACK newly tells of what had left before the first missing segment left last, so that nothing can have told
    /// yet whether that one arrived.
    fn tells_of_before_repair(&self) -> bool {
        let arrived = self.scoreboard.delivered().iter().find(|segment| segment.transmissions == 1);
        let repair = self.scoreboard.segment(self.scoreboard.una());
        arrived.zip(repair).is_some_and(|(arrived, (_, repair))| arrived.departed < repair.departed)
    }

    fn record_duplicate(&self, cx: &mut Cx<'_>, count: u32) {
        let (age, threshold) = (self.scoreboard.age(cx.now).missing, self.trigger.threshold());
        cx.trace.record(cx.now, TraceEvent::Duplicate { count, age, threshold });
    }
}
