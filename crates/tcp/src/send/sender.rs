//! The sending half of a connection.

use super::board::{Acknowledgement, Board};
use super::delivery::DeliverySampler;
use super::frames::Frames;
use super::notices::Notices;
use super::pacer::Pacer;
use super::timer::RetransmissionTimer;
use crate::config::{Config, Restart};
use crate::ecn::{Feedback, MarkResponse};
use crate::policy::control::{CongestionControl, Flight};
use crate::policy::recovery::{Limits, LossRecovery, Timing};
use crate::policy::reduction::{Arrived, ProportionalRate, WindowReduction};
use crate::policy::spurious::Spurious;
use crate::policy::trigger::LossTrigger;
use crate::real_time::RealTime;
use crate::trace::{Cx, Statistics, TraceEvent};
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Flags, SackBlocks, SeqNum};

/// What the application wrote, what of it is outstanding, and the policies that decide what to send.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) board: Board,
    pub(crate) timer: RetransmissionTimer,
    pub(crate) control: Box<dyn CongestionControl>,
    pub(crate) recovery: Box<dyn LossRecovery>,
    pub(crate) trigger: Box<dyn LossTrigger>,
    /// The recovery finds losses by time.
    is_timed: bool,
    /// Watches retransmissions that may prove needless.
    pub(crate) spurious: Option<Box<Spurious>>,
    reduction: WindowReduction,
    /// The reduction under way, if it is not immediate.
    pub(crate) proportional: Option<ProportionalRate>,
    /// The loss under repair has reduced the window.
    pub(crate) has_reduced: bool,
    pub(crate) marks: MarkResponse,
    pub(crate) statistics: Statistics,
    /// Bytes written and not yet cut into segments.
    pub(crate) unsent: u64,
    /// Present if one write is one segment.
    pub(super) frames: Option<Box<Frames>>,
    pub(super) real_time: RealTime,
    /// Something was given up since the connection last asked.
    pub(super) was_emptied: bool,
    pub(crate) notices: Notices,
    /// A FIN waits behind the unsent bytes.
    pub(crate) fin_queued: bool,
    pub(crate) mss: u64,
    /// The next new segment is one byte, whatever the receiver's window says.
    probes_window: bool,
    /// The receiver's window in bytes.
    pub(crate) peer_window: u64,
    largest_peer_window: u64,
    /// Acknowledgement and start of the segment that told it last (SND.WL2 and SND.WL1 of RFC 9293).
    window_told_by: (u64, u64),
    largest_window: u64,
    pub(super) initial_window: f64,
    keeps_idle_timer: bool,
    /// Present if the control models the path.
    pub(crate) sampler: Option<Box<DeliverySampler>>,
    /// Present if segments leave at a rate.
    pub(crate) pacer: Option<Pacer>,
    pub(crate) restart: Restart,
    /// The last sign of progress: the window moved, or the first segment after an idle period was sent.
    pub(crate) last_progress: Instant,
    last_timeout: Instant,
}

/// What the timer's end asks of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    Idle,
    Loss,
}

/// Pacing by the window, as Linux does it (`tcp_pacing_ss_ratio`): below half the slow-start threshold.
const SLOW_START_GAIN: f64 = 2.0;
/// The same above (`tcp_pacing_ca_ratio`).
const AVOIDANCE_GAIN: f64 = 1.2;

impl Sender {
    pub(crate) fn new(config: &Config, seeds: SeedTree) -> Self {
        let recovery = config.recovery();
        let mut control = config.control(seeds);
        let sampler = control.path_model().map(|_| Box::new(DeliverySampler::new()));
        Self {
            board: Board::new(recovery.is_timed() || sampler.is_some()),
            sampler,
            timer: RetransmissionTimer::new(config.estimator(seeds), config.rto),
            pacer: (config.paces || control.is_paced()).then(Pacer::default),
            control,
            is_timed: recovery.is_timed(),
            spurious: Spurious::new(config.spurious).map(Box::new),
            reduction: config.window_reduction,
            proportional: None,
            has_reduced: true,
            recovery,
            trigger: config.trigger(),
            marks: MarkResponse::default(),
            statistics: Statistics::default(),
            unsent: 0,
            frames: config.real_time.framing.then(|| Box::new(Frames::new())),
            real_time: config.real_time,
            was_emptied: false,
            notices: Notices::default(),
            fin_queued: false,
            mss: u64::from(config.mss),
            probes_window: false,
            peer_window: 0,
            largest_peer_window: 0,
            window_told_by: (0, 0),
            largest_window: u64::from(config.window),
            initial_window: f64::from(config.initial_window),
            keeps_idle_timer: config.keeps_idle_timer,
            restart: config.restart,
            last_progress: Instant::ZERO,
            last_timeout: Instant::ZERO,
        }
    }

    /// Learns whether the peer tells what it has got beyond a hole.
    pub(crate) fn on_peer(&mut self, has_sack: bool) {
        if let Some(spurious) = self.spurious.as_mut().filter(|_| has_sack) {
            spurious.use_sack();
        }
    }

    /// The peer knows no SACK: a recovery that needs it gives way to another.
    pub(crate) fn do_without_sack(&mut self, config: &Config) {
        self.recovery = config.recovery_without_sack();
        self.is_timed = self.recovery.is_timed();
        self.board.set_lists_delivered(self.is_timed || self.sampler.is_some());
    }

    /// Gives the congestion window: the control's, unless it is on the way down to that.
    pub(crate) fn cwnd(&self) -> f64 {
        self.proportional.map_or_else(|| self.control.cwnd(), |proportional| proportional.cwnd())
    }

    /// Lets the window go down, or ends that with the recovery. `ack` may be none if a loss was found by time.
    pub(crate) fn reduce(&mut self, ack: &Acknowledgement) {
        if self.reduction == WindowReduction::Immediate {
            return;
        }
        if !self.recovery.is_recovering() {
            self.proportional = None;
            return;
        }
        if !self.has_reduced {
            return;
        }
        let arrived = Arrived {
            delivered: ack.delivered,
            in_flight: self.recovery.pipe(&self.board),
            is_safe: ack.advanced > 0 && !self.recovery.found_loss(),
        };
        if let Some(proportional) = &mut self.proportional {
            proportional.on_ack(&arrived);
        } else {
            let not_sacked = self.board.outstanding() - self.board.sacked().total();
            self.proportional = Some(ProportionalRate::new(self.control.ssthresh(), not_sacked, &arrived));
        }
    }

    /// Gives what is in flight, where `outstanding` segments count as that.
    pub(crate) fn flight(&self, outstanding: u64) -> Flight {
        let arrived = self.board.una() + self.board.sacked().total();
        Flight {
            outstanding,
            sent: self.statistics.segments_sent,
            arrived: arrived.saturating_sub(self.notices.losses()),
        }
    }

    #[inline]
    pub(crate) fn limits(&self) -> Limits {
        Limits { cwnd: self.cwnd(), wnd: self.largest_window, has_new: self.new_segment().is_some() }
    }

    /// Gives the length and flags of the next new segment, if there is one and the receiver has room for it.
    #[inline]
    fn new_segment(&self) -> Option<(u64, Flags)> {
        let room = self.room();
        let len = self.new_len(room);
        if len > 0 {
            (len <= room || self.probes_window).then_some((len, Flags::ACK))
        } else {
            self.fin_queued.then_some((0, Flags::ACK | Flags::FIN))
        }
    }

    /// Gives the length of the next new segment if the receiver's window leaves so much room.
    ///
    /// A frame is never split: what probes a closed window is a whole one (RFC 9293 §3.8.6.1 asks for one byte at least).
    #[inline]
    fn new_len(&self, room: u64) -> u64 {
        match &self.frames {
            Some(frames) => frames.next_bytes().unwrap_or(0),
            None if self.probes_window => self.unsent.min(1),
            None if self.unsent.min(self.mss) > room && self.must_make_do(room) => room,
            None => self.unsent.min(self.mss),
        }
    }

    /// Gives the bytes that the receiver's window leaves for new data.
    pub(super) fn room(&self) -> u64 {
        (self.board.acknowledged() + self.peer_window).saturating_sub(self.board.end_position())
    }

    /// Says whether a part of a segment must do: nothing is outstanding whose ACK could open the window, and half the largest
    /// one is open (RFC 9293 §3.8.6.2.1, rule 3).
    fn must_make_do(&self, room: u64) -> bool {
        room > 0 && 2 * room >= self.largest_peer_window && self.board.outstanding() == 0
    }

    /// Gives the receiver's window after a segment with this acknowledgement and start told `window`: a late segment tells
    /// an old one (RFC 9293 §3.10.7.4, fifth; but an ACK that goes forward is new even on a retransmission).
    pub(crate) fn window_told(&mut self, ack: u64, start: u64, window: u64) -> u64 {
        if (ack, start) < self.window_told_by {
            return self.peer_window;
        }
        self.window_told_by = (ack, start);
        window
    }

    /// Learns the receiver's window. A probe beyond the old one was probably not taken: it goes again at once.
    pub(crate) fn on_window(&mut self, window: u64) {
        let end = self.board.end_position() - self.board.acknowledged();
        let was_beyond = self.board.outstanding() == 1 && end > self.peer_window && !self.board.ends_with_fin();
        if was_beyond && end <= window {
            self.board.go_back();
        }
        self.learn_window(window);
    }

    pub(crate) fn learn_window(&mut self, window: u64) {
        self.peer_window = window;
        self.largest_peer_window = self.largest_peer_window.max(window);
    }

    /// Decides which segment to send now, and takes note of it.
    pub(crate) fn next(&mut self, now: Instant) -> Option<u64> {
        if self.pacer.as_mut().is_some_and(|pacer| pacer.holds(now)) {
            return None;
        }
        let next = if self.frames.is_some() { self.next_held(now) } else { self.next_number(&self.limits()) };
        let Some(number) = next else {
            self.watch_closed_window(now);
            return None;
        };
        if number == self.board.smax() {
            self.cut_segment()?;
        }
        if let Some(frames) = &mut self.frames {
            frames.on_sent(number);
        }
        self.recovery.on_sent(now, number, &self.board);
        self.sample_sending(now, number);
        if self.on_sent(number, now) {
            self.watch_repetition(now, number);
        } else {
            self.note_forward();
            self.schedule(now);
        }
        if let Some(proportional) = &mut self.proportional {
            proportional.on_sent();
        }
        self.pace(now, number);
        Some(number)
    }

    fn pace(&mut self, now: Instant, number: u64) {
        if self.pacer.is_none() {
            return;
        }
        let size = self.board.segment(number).map_or(1, |(start, sent)| sent.end - start);
        if let (Some(rate), Some(pacer)) = (self.pacing_rate(), &mut self.pacer) {
            pacer.on_sent(now, size as f64 / self.mss as f64, rate);
        }
    }

    /// Gives the rate in full segments per second; `None` before it is known, and without pacing.
    ///
    /// A control that has no rate of its own spreads its window over the round trip, with some room to grow.
    pub(crate) fn pacing_rate(&self) -> Option<f64> {
        self.pacer?;
        self.control.pacing_rate().or_else(|| {
            let srtt = self.timer.value().smoothed?.as_secs_f64();
            let (cwnd, is_far) = (self.control.cwnd(), self.control.cwnd() < self.control.ssthresh() / 2.0);
            let gain = if is_far { SLOW_START_GAIN } else { AVOIDANCE_GAIN };
            (srtt > 0.0).then(|| gain * cwnd.max(self.board.outstanding() as f64) / srtt)
        })
    }

    /// Lets a timed recovery set its timers.
    pub(crate) fn schedule(&mut self, now: Instant) {
        if self.is_timed {
            let timing = Timing { smoothed_rtt: self.timer.value().smoothed, timeout_at: self.timer.deadline() };
            self.recovery.schedule(now, &timing, &self.board);
        }
    }

    /// Gives the deadline of a timed recovery.
    pub(crate) fn recovery_deadline(&self) -> Option<Instant> {
        if self.is_timed { self.recovery.deadline() } else { None }
    }

    /// Adds what only some policies read in an ACK: duplicates, and the echoed time if there is one.
    pub(crate) fn read_details(
        &self,
        change: &mut Acknowledgement,
        origin: SeqNum,
        blocks: &SackBlocks,
        echo: Option<u32>,
    ) {
        if self.needs_details() {
            change.duplicate = self.board.duplicate(origin, blocks);
            change.echo = echo;
        }
    }

    fn needs_details(&self) -> bool {
        self.is_timed || self.spurious.is_some()
    }

    /// Says whether ACKs tell nothing but the receiver's window: so it is on the side that only receives, with every segment.
    pub(crate) fn has_nothing_to_learn(&self) -> bool {
        self.has_nothing_to_send()
            && self.frames.is_none()
            && !self.needs_details()
            && self.marks.feedback == Feedback::None
    }

    /// A window too small for a segment may be opened by an ACK that gets lost: the timer then probes it
    /// (RFC 9293 §3.8.6.1). A congestion window below one segment, which ns-2's halving knows, holds back a FIN too.
    fn watch_closed_window(&mut self, now: Instant) {
        if (self.unsent > 0 || self.fin_queued) && self.board.outstanding() == 0 && self.timer.deadline().is_none() {
            self.timer.restart(now);
        }
    }

    fn cut_segment(&mut self) -> Option<()> {
        let (len, flags) = self.new_segment()?;
        self.probes_window = false;
        let end = self.board.end_position() + len + u64::from(flags.contains(Flags::FIN));
        self.unsent -= len;
        self.fin_queued &= !flags.contains(Flags::FIN);
        if let Some(frames) = self.frames.as_mut().filter(|_| len > 0) {
            frames.on_cut();
        }
        self.board.push(end, flags);
        Some(())
    }

    /// Sends the opening segment, number 0, for the first time or again.
    /// Says whether it was sent before.
    pub(crate) fn send_opening(&mut self, flags: Flags, now: Instant) -> bool {
        if self.board.smax() == 0 {
            self.board.push(1, flags);
        }
        self.on_sent(0, now)
    }

    fn on_sent(&mut self, number: u64, now: Instant) -> bool {
        let was_idle = self.board.outstanding() == 1 && number + 1 == self.board.smax();
        let is_again = self.board.on_sent(number, now);
        self.statistics.segments_sent += 1;
        self.statistics.retransmissions += u64::from(is_again);
        self.timer.on_sent(now, number, !is_again, was_idle && !is_again);
        if was_idle && !is_again {
            self.last_progress = now;
            self.control.on_resumed(now);
        }
        is_again
    }

    /// The handshake is done: the window opens. A lost opening segment leaves one segment (RFC 5681 §3.1).
    pub(crate) fn on_opened(&mut self, cx: &mut Cx<'_>, echoed_rtt: Option<Duration>) {
        let was_lost = self.statistics.timeouts > 0;
        if was_lost {
            self.timer.on_opening_lost();
        }
        self.on_progress(cx, echoed_rtt);
        self.control.on_established(if was_lost { 1.0 } else { self.initial_window });
        let rtt = self.board.age(cx.now).last_in_order;
        if !was_lost {
            self.control.on_handshake(rtt);
        }
        self.recovery.on_opened(cx.now, rtt);
        if let Some(vegas) = self.control.vegas() {
            vegas.on_opened(cx, rtt);
        }
    }

    /// Restarts the timer if something is outstanding, else stops it – or lets it run idle, as ns-2 does.
    pub(crate) fn restart_timer(&mut self, now: Instant) {
        let keeps = self.keeps_idle_timer && self.board.smax() > 1;
        if self.board.outstanding() > 0 || keeps {
            self.timer.restart(now);
        } else {
            self.timer.stop();
        }
    }

    /// The retransmission timer ran out.
    pub(crate) fn on_timeout(&mut self, cx: &mut Cx<'_>) -> Expiry {
        self.note_gap();
        // A window of less than a segment is not idle: only the timer can open it (ns-2's Vegas).
        if self.board.outstanding() == 0 && self.control.cwnd() >= 1.0 {
            // A frame that waited for the probe may have been given up meanwhile: the next one is it.
            self.probes_window = self.unsent > 0 || (self.probes_window && self.frames.is_some());
            self.control.on_idle();
            self.recovery.on_timeout(cx.now, &mut self.board);
            self.timer.cancel_measurement();
            self.restart_timer(cx.now);
            return Expiry::Idle;
        }
        let flight = self.flight(self.board.outstanding());
        let was_sent_once = self.board.segment(self.board.una()).is_some_and(|(_, sent)| sent.transmissions == 1);
        self.watch_reduction(true, flight.outstanding);
        self.control.on_timeout(cx, &flight);
        self.marks.on_reduced(self.board.smax());
        self.proportional = None;
        self.ground_all(cx.now);
        self.recovery.on_timeout(cx.now, &mut self.board);
        self.sample_losses(cx.now);
        let timer = self.timer.back_off(cx.now);
        if self.board.outstanding() == 0 {
            self.restart_timer(cx.now);
        }
        let freeze = cx.now - self.last_progress.max(self.last_timeout);
        self.last_timeout = cx.now;
        self.statistics.timeouts += 1;
        self.statistics.timeouts_untriggered += u64::from(was_sent_once);
        self.statistics.frozen += freeze;
        self.statistics.frozen_timers += timer;
        cx.trace.record(cx.now, TraceEvent::Timeout { timer, freeze });
        Expiry::Loss
    }

    /// Says whether neither new data nor repetitions can be due: so it is on the side that only receives.
    pub(crate) fn has_nothing_to_send(&self) -> bool {
        self.unsent == 0 && !self.fin_queued && self.board.outstanding() == 0
    }

    /// Says whether everything written was acknowledged; a FIN may still be outstanding.
    pub(crate) fn is_drained(&self) -> bool {
        self.unsent == 0 && self.board.outstanding() == u64::from(self.board.ends_with_fin())
    }
}
