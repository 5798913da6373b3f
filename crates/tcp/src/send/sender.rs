//! The sending half of a connection.

use super::busy_time::{BusyTime, Delivered};
use super::cwnd_reduction::CwndReduction;
use super::cwnd_validation::CwndValidation;
use super::ecn::EcnSender;
use super::pacer::Pacer;
use super::persist::Persist;
use super::queue::Queue;
use super::rate_sampler::RateSampler;
use super::resegmentation::{Piece, Resegmentation, Rest};
use super::rto::Watch;
use super::snack::Snack;
use super::timer::RetransmissionTimer;
use super::window::PeerWindow;
use crate::config::Config;
use crate::policy::choice::Recovery;
use crate::policy::control::{CongestionControl, Flight, Handshake};
use crate::policy::recovery::scheme::Scheme;
use crate::policy::recovery::{Limits, Timing};
use crate::policy::reduction::WindowReduction;
use crate::policy::spurious::Spurious;
use crate::policy::trigger::LossTrigger;
use crate::policy::window_probe::WindowProbe;
use crate::real_time::RealTime;
use crate::scoreboard::Scoreboard;
use crate::trace::{Cx, Statistics};
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::Flags;

/// What the application wrote, what of it is outstanding, and the policies that decide what to send.
#[derive(Debug)]
pub(crate) struct Sender {
    /// Written, and not yet cut into segments.
    pub(crate) queue: Queue,
    /// Sent, and not acknowledged.
    pub(crate) scoreboard: Scoreboard,
    /// What is left of segments that leave in pieces.
    pub(crate) pieces: Resegmentation,
    pub(crate) timer: RetransmissionTimer,
    pub(crate) watch: Watch,
    pub(crate) persist: Persist,
    /// What asks a closed window carries no byte of the stream.
    pub(super) probes_empty: bool,
    pub(crate) control: Box<dyn CongestionControl>,
    pub(crate) recovery: Scheme,
    pub(crate) trigger: LossTrigger,
    /// The recovery finds losses by time.
    pub(super) is_timed: bool,
    /// Nothing was agreed for which an ACK would have to be read more closely than for progress and duplicates.
    pub(super) reads_plainly: bool,
    /// Nothing but windows and what was written decides what leaves, and nobody wants to know more of it: most simulations
    /// are so. What else there may be is looked for elsewhere.
    pub(super) is_plain: bool,
    /// The recovery alone decides which segment is next.
    is_left_to_recovery: bool,
    /// Watches retransmissions that may prove needless.
    pub(crate) spurious: Option<Box<Spurious>>,
    pub(crate) reduction: CwndReduction,
    pub(crate) marks: EcnSender,
    /// Present if a window grows only as far as it is used.
    pub(super) usage: Option<CwndValidation>,
    /// ACKs grow the window by what they acknowledge.
    pub(super) counts_segments: bool,
    /// The window decays while nothing is sent.
    pub(super) restarts_after_idle: bool,
    pub(crate) peer_window: PeerWindow,
    pub(super) largest_window: u64,
    pub(super) initial_window: f64,
    /// Present if the control models the path.
    pub(crate) sampler: Option<Box<RateSampler>>,
    /// Present if segments leave at a rate.
    pub(crate) pacer: Option<Pacer>,
    pub(super) real_time: RealTime,
    /// Something was given up since the connection last asked.
    pub(super) was_emptied: bool,
    pub(crate) notices: Snack,
    pub(crate) statistics: Statistics,
    pub(super) limited: BusyTime,
    pub(crate) delivered: Delivered,
    /// Echoed timestamps that were read and cannot be.
    pub(crate) impossible_echoes: u64,
}

/// Pacing by the window, as Linux does it (`tcp_pacing_ss_ratio`): below half the slow-start threshold.
const SLOW_START_GAIN: f64 = 2.0;
/// The same above (`tcp_pacing_ca_ratio`).
const AVOIDANCE_GAIN: f64 = 1.2;

impl Sender {
    pub(crate) fn new(config: &Config, seeds: SeedTree) -> Self {
        let recovery = config.build_recovery(config.recovery);
        let mut control = config.build_control(seeds);
        let sampler = control.path_model().map(|_| Box::new(RateSampler::new()));
        let mut sender = Self {
            queue: Queue::new(config),
            scoreboard: Scoreboard::new(recovery.is_timed() || sampler.is_some()),
            pieces: Resegmentation::default(),
            sampler,
            timer: RetransmissionTimer::new(config.rto.estimator(seeds), config.rto),
            watch: Watch::new(config.restart, config.keeps_idle_timer),
            persist: Persist::default(),
            probes_empty: config.window_probe == WindowProbe::Empty,
            pacer: (config.paces || control.is_paced()).then(Pacer::default),
            control,
            is_timed: recovery.is_timed(),
            reads_plainly: false,
            is_plain: false,
            is_left_to_recovery: false,
            spurious: Spurious::new(config.spurious).map(Box::new),
            reduction: CwndReduction::new(config.window_reduction),
            recovery,
            trigger: config.trigger.build(),
            marks: EcnSender::default(),
            usage: config.grows_only_when_used.then(CwndValidation::default),
            counts_segments: config.counts_segments,
            restarts_after_idle: config.restarts_after_idle,
            peer_window: PeerWindow::default(),
            largest_window: u64::from(config.window),
            initial_window: f64::from(config.initial_window),
            real_time: config.real_time,
            was_emptied: false,
            notices: Snack::default(),
            statistics: Statistics::default(),
            limited: BusyTime::default(),
            delivered: Delivered::default(),
            impossible_echoes: 0,
        };
        sender.refresh_fast_path_flags();
        sender
    }

    /// Sees whether it is plain.
    pub(super) fn refresh_fast_path_flags(&mut self) {
        let is_cut_plainly = !self.queue.is_real && self.queue.frames.is_none() && self.queue.holding.is_none();
        let is_watched = self.is_timed || self.spurious.is_some() || self.sampler.is_some();
        let falls_at_once = self.reduction.rule == WindowReduction::Immediate;
        self.is_plain = is_cut_plainly && self.pacer.is_none() && !is_watched && falls_at_once;
        self.is_left_to_recovery = !self.queue.is_real && self.queue.frames.is_none() && self.spurious.is_none();
    }

    /// Learns whether the peer tells what it has got beyond a hole.
    pub(crate) fn on_peer(&mut self, has_sack: bool) {
        if let Some(spurious) = self.spurious.as_mut().filter(|_| has_sack) {
            spurious.use_sack();
        }
    }

    /// The peer knows no SACK: a recovery that needs it gives way to another.
    pub(crate) fn do_without_sack(&mut self, config: &Config) {
        self.recovery = config.build_recovery(Recovery::without_sack());
        self.is_timed = self.recovery.is_timed();
        self.refresh_fast_path_flags();
        self.scoreboard.set_lists_delivered(self.is_timed || self.sampler.is_some());
    }

    /// Returns what is in flight, where `outstanding` segments count as that.
    pub(crate) fn flight(&self, outstanding: u64) -> Flight {
        let arrived = self.scoreboard.una() + self.scoreboard.sacked().total();
        Flight {
            outstanding,
            sent: self.statistics.segments_sent,
            arrived: arrived.saturating_sub(self.notices.losses()),
            missing: None,
        }
    }

    #[inline]
    pub(crate) fn limits(&self) -> Limits {
        self.limits_with(self.plain_segment())
    }

    /// Returns them where [`Self::plain_segment`] is known.
    #[inline]
    fn limits_with(&self, plain: Option<u64>) -> Limits {
        let has_new = plain.is_some() || self.new_segment().is_some();
        Limits { cwnd: self.cwnd(), wnd: self.largest_window, has_new }
    }

    /// Decides which segment to send now, and takes note of it: gives what of it leaves, all in most cases.
    #[inline]
    pub(crate) fn next(&mut self, now: Instant) -> Option<Piece> {
        let rest = if self.is_plain { None } else { self.next_rest() };
        let rest = match rest {
            Some(rest) => rest,
            None if self.persist.is_running() => Rest::whole(self.next_probe(now)?),
            None => {
                if self.restarts_after_idle && self.scoreboard.outstanding() == 0 {
                    self.restart_after_idle(now);
                }
                if !self.is_plain && self.is_kept_back(now) {
                    return None;
                }
                let plain = self.plain_segment();
                let Some(number) = self.choose(now, plain) else {
                    self.watch_closed_window(now);
                    return None;
                };
                if number == self.scoreboard.smax() {
                    let piece = self.cut_segment(now, plain)?;
                    self.on_departure(now, piece.number, false);
                    return Some(piece);
                }
                self.send_again(now, number)?;
                Rest::whole(number)
            }
        };
        self.piece(&rest)
    }

    /// Decides which segment to send now: one that was sent before, or a new one, with the length of a plain one if it is so.
    #[inline]
    fn choose(&mut self, now: Instant, plain: Option<u64>) -> Option<u64> {
        let limits = self.limits_with(plain);
        if self.is_left_to_recovery {
            self.recovery.next(&self.scoreboard, &limits)
        } else {
            self.choose_among_others(now, &limits)
        }
    }

    /// Decides it where other policies have a say, and a FIN waits for no window.
    #[inline(never)]
    fn choose_among_others(&mut self, now: Instant, limits: &Limits) -> Option<u64> {
        let next = if self.queue.frames.is_some() { self.next_held(now) } else { self.next_number(limits) };
        next.or_else(|| self.may_close().then(|| self.scoreboard.smax()))
    }

    /// Returns whether a pacer keeps all back; what grows old meanwhile is forgotten.
    #[inline]
    fn is_kept_back(&mut self, now: Instant) -> bool {
        let is_held = self.pacer.as_mut().is_some_and(|pacer| pacer.holds(now));
        if !is_held {
            self.queue.forget_old_limit(now);
        }
        is_held
    }

    /// Sends a segment again, if the receiver's window still holds it.
    #[inline(never)]
    fn send_again(&mut self, now: Instant, number: u64) -> Option<()> {
        if self.is_out_of_reach(number) {
            return None;
        }
        if let Some(deadline) = self.real_time.replaces_after {
            self.replace_expired(now, number, deadline);
        }
        self.scoreboard.on_sent_again(now, number);
        self.on_departure(now, number, true);
        Some(())
    }

    /// Tells all who want to know it that a segment leaves.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is on the way of every segment")]
    fn on_departure(&mut self, now: Instant, number: u64, is_retransmission: bool) {
        self.recovery.on_sent(now, number, &self.scoreboard);
        if self.sampler.is_some() {
            self.sample_sending(now, number);
        }
        self.on_sent(now, number, is_retransmission);
        if !is_retransmission {
            self.note_use();
        }
        if !self.is_plain {
            self.tell_others(now, number, is_retransmission);
        }
    }

    #[inline(never)]
    fn tell_others(&mut self, now: Instant, number: u64, is_retransmission: bool) {
        if let Some(frames) = &mut self.queue.frames {
            frames.on_sent(number);
        }
        if is_retransmission {
            self.watch_repetition(now, number);
            self.time_repair(now, number);
        } else {
            self.note_forward();
            self.schedule(now);
        }
        if let Some(proportional) = &mut self.reduction.proportional {
            proportional.on_sent();
        }
        if self.pacer.is_some() {
            self.pace(now, number);
        }
    }

    #[inline(never)]
    fn pace(&mut self, now: Instant, number: u64) {
        let size = self.scoreboard.segment(number).map_or(1, |(start, sent)| sent.end - start);
        if let (Some(rate), Some(pacer)) = (self.pacing_rate(), &mut self.pacer) {
            pacer.on_sent(now, size.cast_signed() as f64 / self.queue.mss.cast_signed() as f64, rate);
        }
    }

    /// Returns the rate in full segments per second; `None` before it is known, and without pacing.
    ///
    /// A control that has no rate of its own spreads its window over the round trip, with some room to grow.
    pub(crate) fn pacing_rate(&self) -> Option<f64> {
        self.pacer?;
        self.control.pacing_rate().or_else(|| {
            let srtt = self.timer.smoothed()?.as_secs_f64();
            let (cwnd, is_far) = (self.control.cwnd(), self.control.cwnd() < self.control.ssthresh() / 2.0);
            let gain = if is_far { SLOW_START_GAIN } else { AVOIDANCE_GAIN };
            (srtt > 0.0).then(|| gain * cwnd.max(self.scoreboard.outstanding() as f64) / srtt)
        })
    }

    /// Lets a timed recovery set its timers.
    #[inline]
    pub(crate) fn schedule(&mut self, now: Instant) {
        if self.is_timed {
            self.schedule_timed(now);
        }
    }

    #[inline]
    fn schedule_timed(&mut self, now: Instant) {
        let timing = Timing { smoothed_rtt: self.timer.smoothed(), timeout_at: self.timer.deadline() };
        self.recovery.schedule(now, timing, &self.scoreboard);
    }

    /// Returns the deadline of a timed recovery.
    #[inline]
    pub(crate) fn recovery_deadline(&self) -> Instant {
        if self.persist.is_running() { Instant::NEVER } else { self.recovery.deadline() }
    }

    /// Returns whether there can be deadlines beside that of the retransmission timer.
    #[inline]
    pub(crate) fn has_more_deadlines(&self) -> bool {
        self.is_timed || self.pacer.is_some() || self.queue.holding.is_some()
    }

    /// Returns the first of all deadlines. If the connection `is_open`, that of a timed recovery stands for that of the
    /// retransmission timer while there is one (RFC 8985 §8).
    #[inline(never)]
    pub(crate) fn first_deadline(&self, is_open: bool) -> Instant {
        let recovery = if is_open { self.recovery_deadline() } else { Instant::NEVER };
        let timer = if recovery < Instant::NEVER { recovery } else { self.timer.deadline() };
        let pacer = self.pacer.as_ref().map_or(Instant::NEVER, Pacer::deadline);
        timer.min(pacer).min(self.held_until())
    }

    /// Sends the opening segment, number 0, for the first time or again.
    /// Returns whether it was sent before.
    pub(crate) fn send_opening(&mut self, flags: Flags, now: Instant) -> bool {
        let is_retransmission = self.scoreboard.smax() > 0;
        if is_retransmission {
            self.scoreboard.on_sent_again(now, 0);
        } else {
            self.scoreboard.push(now, 1, flags);
        }
        self.on_sent(now, 0, is_retransmission);
        is_retransmission
    }

    #[inline]
    fn on_sent(&mut self, now: Instant, number: u64, is_retransmission: bool) {
        let was_idle = !is_retransmission && self.scoreboard.outstanding() == 1;
        self.scoreboard.go_past(number);
        self.watch.last_sent = now;
        self.statistics.segments_sent += 1;
        self.statistics.retransmissions += u64::from(is_retransmission);
        self.timer.on_sent(now, number, !is_retransmission, was_idle);
        if was_idle {
            self.watch.last_progress = now;
            self.control.on_resumed(now);
        }
    }

    /// The handshake is done: the window opens. A lost opening segment leaves one segment (RFC 5681 §3.1).
    pub(crate) fn on_opened(&mut self, cx: &mut Cx<'_>, echoed_rtt: Option<Duration>) {
        self.reads_plainly = !self.needs_details() && self.is_unmarked() && self.sampler.is_none();
        let was_lost = self.statistics.timeouts > 0;
        if was_lost {
            self.timer.on_opening_lost();
        }
        self.on_progress(cx, echoed_rtt);
        self.control.on_established(cx, if was_lost { 1.0 } else { self.initial_window });
        let handshake = Handshake { rtt: self.scoreboard.age(cx.now).last_in_order, was_repeated: was_lost };
        self.control.on_handshake(cx, &handshake);
        self.recovery.on_opened(cx.now, handshake.rtt);
    }

    /// Returns whether neither new data nor repetitions can be due: so it is on the side that only receives.
    pub(crate) fn has_nothing_to_send(&self) -> bool {
        self.queue.unsent == 0 && !self.queue.fin_queued && self.scoreboard.outstanding() == 0
    }

    /// Returns whether everything written was acknowledged; a FIN may still be outstanding.
    pub(crate) fn is_drained(&self) -> bool {
        let is_closing = self.queue.fin_at == Some(self.scoreboard.una_position());
        self.queue.unsent == 0 && (self.scoreboard.outstanding() == 0 || is_closing)
    }
}
