//! RACK-TLP (RFC 8985): a segment is lost if one sent later has arrived and the reordering window has passed; a tail loss is
//! probed.

mod probe;
mod sent;
mod window;

use super::{AckInput, LossRecovery, Outcome, SendAllowance, Timing};
use crate::scoreboard::clock::timestamp;
use crate::scoreboard::ranges::Ranges;
use crate::scoreboard::{Acknowledgement, DeliveredSegment, Scoreboard};
use earlybird_units::{Duration, Instant};
use probe::{Probe, ProbeResult};
use sent::{SentAt, Transmissions};
use window::ReorderingWindow;

/// Parameters of RACK-TLP.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule that senders have or lack")]
pub struct RackConfig {
    /// The reordering window as a share of the smallest RTT; 1/4 in RFC 8985 §6.2, step 4.
    pub reordering_window: f64,
    /// Whether the window applies even before any reordering was observed (RFC 8985 §6.2, step 4). Off for streams of few packets.
    pub expects_reordering: bool,
    /// Whether DSACKs widen the reordering window (RFC 8985 §6.2, step 4).
    pub adapts_window: bool,
    /// The number of recoveries without DSACK after which a widened window is reset; 16 in RFC 8985 §6.2, step 4.
    pub window_persistence: u32,
    /// Whether `RACK.rtt` is the RTT of the segment delivered last in stream order, `SACKed` ones first, as in Linux
    /// (`tcp_rack_advance`); in RFC 8985 §6.2, step 2, it is that of the segment sent last.
    pub rtt_from_highest_delivered: bool,
    /// Whether a `SACKed` retransmission counts as delivered for any timestamp echo, as in Linux (`tcp_sacktag_one`): behind a hole a
    /// receiver echoes the timestamp of the segment before the hole (RFC 7323 §4.3). RFC 8985 §6.2, step 2, ignores segments
    /// with an older echo.
    pub trusts_sacked_retransmissions: bool,
    /// Whether a first timeout marks only the first segment as lost: its ACK shows what else is. RFC 8985 §6.3 also marks those
    /// that were sent long enough ago, although after a delay of the whole path all of them arrive.
    pub timeout_marks_first: bool,
    /// Whether tail loss probes are sent (RFC 8985 §7).
    pub probes_tail: bool,
    /// The longest delay of the peer's ACKs, which is added to the probe timeout of a single segment; 200 ms is usual (RFC 8985
    /// §7.2).
    pub longest_ack_delay: Duration,
}

impl RackConfig {
    /// The values of RFC 8985.
    pub const RFC: Self = Self {
        reordering_window: 0.25,
        expects_reordering: true,
        adapts_window: true,
        window_persistence: 16,
        rtt_from_highest_delivered: false,
        trusts_sacked_retransmissions: false,
        timeout_marks_first: false,
        probes_tail: true,
        longest_ack_delay: Duration::from_millis(200),
    };

    /// The values of Linux.
    pub const LINUX: Self = Self { rtt_from_highest_delivered: true, trusts_sacked_retransmissions: true, ..Self::RFC };
}

/// The phase of recovery, and the segment at which it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No recovery.
    Open,
    /// Fast recovery of everything below this number.
    Fast(u64),
    /// After a timeout, until everything below this number is acknowledged.
    AfterTimeout(u64),
}

#[derive(Clone, Debug)]
pub(crate) struct Rack {
    limited_transmit: bool,
    phase: Phase,
    transmissions: Transmissions,
    window: ReorderingWindow,
    probe: Probe,
    /// Lost segments that are not retransmitted yet.
    lost: Ranges,
    /// Lost segments that were abandoned and are never retransmitted. They are not in flight.
    abandoned: Ranges,
    /// The end of the reordering window of the last overtaken segment; [`Instant::NEVER`] if none waits.
    reordering_ends: Instant,
    /// A segment that is sent regardless of the window: the first lost one at the start of recovery or after a timeout.
    forced_retransmission: Option<u64>,
    /// Segments that limited transmit sent beyond the window since the last progress.
    limited: u64,
    found_loss: bool,
    smoothed_rtt: Option<Duration>,
    rtt_from_highest_delivered: bool,
    trusts_sacked_retransmissions: bool,
    timeout_marks_first: bool,
}

impl Rack {
    pub(crate) fn new(config: RackConfig, limited_transmit: bool) -> Self {
        Self {
            limited_transmit,
            phase: Phase::Open,
            transmissions: Transmissions::default(),
            window: ReorderingWindow::new(&config),
            probe: Probe::new(&config),
            lost: Ranges::default(),
            abandoned: Ranges::default(),
            reordering_ends: Instant::NEVER,
            forced_retransmission: None,
            limited: 0,
            found_loss: false,
            smoothed_rtt: None,
            rtt_from_highest_delivered: config.rtt_from_highest_delivered,
            trusts_sacked_retransmissions: config.trusts_sacked_retransmissions,
            timeout_marks_first: config.timeout_marks_first,
        }
    }

    /// Processes the delivered segments (RFC 8985 §6.2, steps 1 to 4).
    fn on_delivered(&mut self, now: Instant, ack: &Acknowledgement, scoreboard: &Scoreboard) {
        if !self.lost.is_empty() {
            self.lost.remove_below(scoreboard.una());
            scoreboard.delivered().iter().for_each(|delivered| self.lost.remove(delivered.number));
        }
        if !self.abandoned.is_empty() {
            self.abandoned.remove_below(scoreboard.una());
            scoreboard.delivered().iter().for_each(|delivered| self.abandoned.remove(delivered.number));
        }
        for delivered in scoreboard.delivered() {
            self.window.on_delivered(now, delivered);
            self.probe.on_delivered(delivered);
        }
        if ack.may_lack_blocks {
            self.window.on_missing_blocks();
        }
        // The ACK of a retransmitted segment may be that of the original: if it echoes an older timestamp, or arrives sooner than
        // the smallest RTT (RFC 8985 §6.2, step 2).
        let is_unambiguous = |delivered: &DeliveredSegment| {
            let echo = ack.echo.filter(|_| !self.trusts_sacked_retransmissions || delivered.number < scoreboard.una());
            let is_older = |echo: u32| echo.wrapping_sub(timestamp(delivered.departed)).cast_signed() < 0;
            let is_soon = |smallest| now - delivered.departed < smallest;
            !(echo.is_some_and(is_older) || self.window.smallest_rtt().is_some_and(is_soon))
        };
        let last_in_stream = self.rtt_from_highest_delivered.then(|| scoreboard.una());
        self.transmissions.on_delivered(now, scoreboard.delivered(), is_unambiguous, last_in_stream);
        self.window.on_ack(ack.duplicate.is_some(), scoreboard);
    }

    /// Marks lost segments, and sets the deadline for the others (RFC 8985 §6.2, step 5).
    #[inline]
    fn detect(&mut self, now: Instant, scoreboard: &Scoreboard) {
        self.found_loss = false;
        self.reordering_ends = Instant::NEVER;
        if !self.transmissions.overtaken.is_empty() {
            self.check_overtaken(now, scoreboard);
        }
    }

    fn check_overtaken(&mut self, now: Instant, scoreboard: &Scoreboard) {
        let before = self.lost.total();
        let time_limit = self.transmissions.rtt() + self.reordering_window(scoreboard);
        let (lost, mut ends) = (&mut self.lost, None);
        self.transmissions.overtaken.retain(|sent| {
            let lost_at = sent.departed + time_limit;
            let is_current = sent.is_current(scoreboard);
            // A retransmitted segment uses the time of its last transmission.
            let waits = is_current && !lost.contains(sent.number);
            if waits && lost_at <= now {
                lost.insert(sent.number..sent.number + 1);
            } else if waits {
                ends = ends.max(Some(lost_at));
            }
            is_current
        });
        self.found_loss = self.lost.total() > before;
        if let Some(ends) = ends {
            self.reordering_ends = ends;
            self.probe.cancel();
        }
    }

    fn reordering_window(&self, scoreboard: &Scoreboard) -> Duration {
        let is_repairing = self.phase != Phase::Open;
        self.window.length(is_repairing, scoreboard.sacked().total(), self.smoothed_rtt)
    }

    /// Enters fast recovery. Segments of limited transmit do not count as flight (RFC 5681 §3.2).
    fn enter(&mut self, scoreboard: &Scoreboard, acknowledged: u64) -> Outcome {
        self.phase = Phase::Fast(scoreboard.snd_max());
        self.forced_retransmission = self.lost.first();
        self.probe.forget();
        let flight = (scoreboard.outstanding() + acknowledged).saturating_sub(self.limited);
        Outcome::Loss { duplicates: 0, flight }
    }

    fn leave_if_repaired(&mut self, scoreboard: &Scoreboard) -> bool {
        let (Phase::Fast(end) | Phase::AfterTimeout(end)) = self.phase else {
            return false;
        };
        let is_repaired = scoreboard.una() >= end;
        if is_repaired {
            self.phase = Phase::Open;
            self.window.on_recovered();
        }
        is_repaired
    }

    #[inline]
    fn new_segment(scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        (allowance.has_new && scoreboard.outstanding() < allowance.wnd).then(|| scoreboard.snd_max())
    }

    /// Returns the new segment that may be sent now, within the window.
    #[inline]
    fn next_new(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        let new = Self::new_segment(scoreboard, allowance)?;
        let is_beyond = self.phase == Phase::Open && !allowance.has_room_after(scoreboard.outstanding());
        self.limited += u64::from(is_beyond);
        Some(new)
    }

    /// Returns the next segment if there may be something to retransmit.
    #[inline(never)]
    fn next_in_repair(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        if self.probe.is_due() {
            let new = Self::new_segment(scoreboard, allowance);
            return new.or_else(|| scoreboard.snd_max().checked_sub(1).filter(|last| *last >= scoreboard.una()));
        }
        if self.forced_retransmission.is_some() {
            return self.forced_retransmission;
        }
        // A single segment beyond a window that has opened since is sent again.
        if scoreboard.nxt() < scoreboard.snd_max() && scoreboard.outstanding() == 1 {
            return Some(scoreboard.nxt());
        }
        if !self.has_room(scoreboard, allowance, self.not_in_flight(scoreboard)) {
            return None;
        }
        self.lost.first().or_else(|| self.next_new(scoreboard, allowance))
    }

    /// Returns the number of segments on the scoreboard that are lost and not retransmitted.
    #[inline]
    fn not_in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        if self.has_not_in_flight() { self.count_not_in_flight(scoreboard) } else { 0 }
    }

    #[inline]
    fn has_not_in_flight(&self) -> bool {
        !self.lost.is_empty() || !self.abandoned.is_empty()
    }

    #[inline(never)]
    fn count_not_in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        let on_board = |set: &Ranges| match set.first() {
            Some(first) if first < scoreboard.una() => set.total() - set.count_below(scoreboard.una()),
            _ => set.total(),
        };
        on_board(&self.lost) + on_board(&self.abandoned)
    }

    /// Returns whether one more segment fits into the window. Without limited transmit, `SACKed` segments make room in recovery only.
    #[inline]
    fn has_room(&self, scoreboard: &Scoreboard, allowance: &SendAllowance, not_in_flight: u64) -> bool {
        let counts_sacked = self.limited_transmit || self.phase != Phase::Open;
        let sacked = scoreboard.sacked().total();
        let pipe = scoreboard.outstanding().saturating_sub(sacked + not_in_flight);
        let in_flight = pipe + if counts_sacked { 0 } else { sacked };
        // One segment may always be sent: after the loss of a single segment half the window may be less than one.
        in_flight == 0 || in_flight.cast_signed() as f64 + 1.0 <= allowance.cwnd
    }
}

/// Methods that only this scheme has: see [`Scheme`](super::scheme::Scheme).
impl Rack {
    /// Processes an ACK, which the scoreboard has already recorded.
    pub(crate) fn read(&mut self, now: Instant, ack: &Acknowledgement, scoreboard: &Scoreboard) -> Outcome {
        self.on_delivered(now, ack, scoreboard);
        // Pacing may still delay the retransmission: keep it while it is lost.
        self.forced_retransmission =
            self.forced_retransmission.filter(|forced_retransmission| self.lost.contains(*forced_retransmission));
        let before = self.phase;
        let is_repaired = self.leave_if_repaired(scoreboard);
        self.limited = if ack.advanced > 0 { 0 } else { self.limited };
        self.detect(now, scoreboard);
        // Detection comes first: a loss found by RACK has priority over the result of the probe.
        let probed = self.probe.on_ack(ack, scoreboard);
        match (self.phase, before) {
            // A loss starts a new recovery even if this ACK has just ended one.
            (Phase::Open, _) if self.found_loss => self.enter(scoreboard, ack.advanced),
            (Phase::Open, Phase::Fast(_)) if is_repaired => Outcome::RECOVERED,
            (Phase::Open, _) if probed == ProbeResult::RepairedLoss => {
                Outcome::ProbeRepaired { flight: scoreboard.outstanding() + ack.advanced }
            }
            (Phase::Fast(_), _) if ack.advanced > 0 => Outcome::PARTIAL,
            _ if ack.advanced > 0 => Outcome::Progress,
            _ => Outcome::Duplicate { counted: None },
        }
    }

    /// Returns whether no probe is outstanding: only then may such an ACK be ignored.
    pub(super) fn is_idle(&self) -> bool {
        !self.probe.is_outstanding()
    }

    #[inline]
    pub(super) fn schedule(&mut self, now: Instant, timing: Timing, scoreboard: &Scoreboard) {
        self.smoothed_rtt = timing.smoothed_rtt;
        let waits = self.reordering_ends < Instant::NEVER;
        let is_repairing = self.phase != Phase::Open || waits || !scoreboard.sacked().is_empty();
        self.probe.schedule(now, &timing, if is_repairing { 0 } else { scoreboard.outstanding() });
    }

    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        // The reordering timer has priority: one timer at a time (RFC 8985 §8).
        if self.reordering_ends < Instant::NEVER { self.reordering_ends } else { self.probe.deadline() }
    }

    pub(super) fn on_deadline(&mut self, now: Instant, scoreboard: &Scoreboard) -> Outcome {
        if self.reordering_ends == Instant::NEVER {
            self.probe.fire(scoreboard);
            return Outcome::Nothing;
        }
        self.detect(now, scoreboard);
        let is_first = self.found_loss && self.phase == Phase::Open;
        if is_first { self.enter(scoreboard, 0) } else { Outcome::Nothing }
    }
}

impl LossRecovery for Rack {
    fn needs_sack(&self) -> bool {
        true
    }

    fn on_ack(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome {
        self.read(input.now, input.ack, scoreboard)
    }

    /// Returns whether nothing was overtaken and no probe is outstanding: an ACK in order overtakes nothing.
    #[inline]
    fn is_open(&self) -> bool {
        let is_whole = !self.has_not_in_flight() && self.transmissions.overtaken.is_empty();
        self.phase == Phase::Open && is_whole && !self.probe.is_outstanding()
    }

    fn on_plain_progress(&mut self, now: Instant, before: u64, rtt: Option<Duration>, scoreboard: &mut Scoreboard) {
        if let Some(rtt) = rtt {
            self.window.on_progress(now, rtt, before, scoreboard.una());
            self.transmissions.on_progress(rtt, scoreboard.una());
            self.probe.on_progress();
        }
        self.forced_retransmission = None;
        self.limited = 0;
        self.found_loss = false;
        self.reordering_ends = Instant::NEVER;
    }

    /// Marks the first segment as lost, and those sent long enough ago (RFC 8985 §6.3).
    fn on_timeout(&mut self, now: Instant, scoreboard: &mut Scoreboard) {
        if scoreboard.una() == 0 {
            // The handshake retransmits its own segment.
            return;
        }
        if scoreboard.sacked().contains(scoreboard.una()) {
            // The receiver has discarded SACKed data (reneging, RFC 2018 §8).
            scoreboard.forget_sacked();
        }
        let time_limit = self.transmissions.rtt() + self.reordering_window(scoreboard);
        // After a second timeout without progress nothing is in flight any more.
        let marks_first = self.timeout_marks_first && !matches!(self.phase, Phase::AfterTimeout(_));
        for number in scoreboard.una()..scoreboard.snd_max() {
            let sent_at = scoreboard.segment(number).map_or(now, |(_, sent)| sent.departed);
            let is_old = !marks_first && sent_at + time_limit <= now;
            if (number == scoreboard.una() || is_old) && !scoreboard.sacked().contains(number) {
                self.lost.insert(number..number + 1);
            }
        }
        self.phase = if scoreboard.outstanding() > 0 { Phase::AfterTimeout(scoreboard.snd_max()) } else { Phase::Open };
        self.forced_retransmission = self.lost.first();
        self.limited = 0;
        self.reordering_ends = Instant::NEVER;
        self.probe.forget();
    }

    /// Does nothing: lost segments stay marked while F-RTO sends new data.
    fn resume(&mut self, _scoreboard: &mut Scoreboard) {}

    /// Clears the marks: the next ACK detects losses anew.
    fn abort_recovery(&mut self, _scoreboard: &mut Scoreboard) {
        self.phase = Phase::Open;
        self.lost.clear();
        self.forced_retransmission = None;
    }

    fn retransmit_all(&mut self, scoreboard: &Scoreboard) {
        self.lost.insert(scoreboard.una()..scoreboard.snd_max());
        self.forced_retransmission = self.lost.first();
    }

    #[inline]
    fn next(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        let is_out_of_turn =
            self.probe.is_due() || self.forced_retransmission.is_some() || scoreboard.nxt() < scoreboard.snd_max();
        if is_out_of_turn || self.has_not_in_flight() {
            return self.next_in_repair(scoreboard, allowance);
        }
        if self.has_room(scoreboard, allowance, 0) { self.next_new(scoreboard, allowance) } else { None }
    }

    fn on_sent(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard) {
        self.forced_retransmission = None;
        if !self.lost.is_empty() {
            self.lost.remove(number);
        }
        if self.probe.is_due() {
            let is_new = scoreboard.segment(number).is_some_and(|(_, sent)| sent.transmissions == 1);
            self.probe.on_sent(is_new, scoreboard);
        }
        self.transmissions.on_sent(SentAt { departed: now, number });
    }

    /// Moves the segment to the abandoned ones, for which no probe is sent.
    fn skip_abandoned(&mut self, _now: Instant, number: u64, _scoreboard: &Scoreboard) {
        self.forced_retransmission = None;
        if self.lost.contains(number) {
            self.lost.remove(number);
            self.abandoned.insert(number..number + 1);
        }
        self.transmissions.forget(number);
        self.probe.cancel();
    }

    #[inline]
    fn visit_lost(&self, _scoreboard: &Scoreboard, visit: &mut dyn FnMut(u64)) {
        for range in self.lost.as_slice() {
            range.clone().for_each(&mut *visit);
        }
    }

    #[inline]
    fn pipe(&self, scoreboard: &Scoreboard) -> u64 {
        scoreboard.outstanding().saturating_sub(scoreboard.sacked().total() + self.not_in_flight(scoreboard))
    }

    fn found_loss(&self) -> bool {
        self.found_loss
    }

    fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Fast(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoreboard::clock;
    use alloc::format;
    use earlybird_wire::{Flags, SackBlock, SackBlocks, SeqNum};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const ORIGIN: SeqNum = SeqNum(0);

    fn sent_by(rack: &mut [Rack], now: Instant, number: u64, scoreboard: &Scoreboard) {
        for rack in rack {
            rack.on_sent(now, number, scoreboard);
        }
    }

    proptest! {
        /// Segments of ten bytes, of which some are sent, some acknowledged, one reported by SACK or one sent again.
        #[test]
        fn an_ack_in_order_leaves_what_the_long_way_does(
            steps in vec((0_u64..4, 0_u64..4, 0_u64..8, 0_u64..20), 1..60),
        ) {
            let mut scoreboard = Scoreboard::new(true);
            let mut rack = [RackConfig::RFC, RackConfig::LINUX].map(|config| Rack::new(config, true));
            let mut now = Instant::ZERO;
            scoreboard.push(now, 1, Flags::SYN);
            scoreboard.apply(1, ORIGIN, &SackBlocks::NONE, true, now);
            for (sent, acked, event, pause) in steps {
                now += Duration::from_millis(pause);
                for _ in 0..sent {
                    scoreboard.push(now, scoreboard.end_position() + 10, Flags::ACK);
                    sent_by(&mut rack, now, scoreboard.snd_max() - 1, &scoreboard);
                }
                if event == 0 && scoreboard.outstanding() > 0 {
                    let number = scoreboard.una() + acked % scoreboard.outstanding();
                    scoreboard.on_retransmission(now, number);
                    sent_by(&mut rack, now, number, &scoreboard);
                }
                let ack = (scoreboard.una_position() + 10 * acked).min(scoreboard.end_position());
                let mut blocks = SackBlocks::default();
                if event == 1 && ack + 20 <= scoreboard.end_position() {
                    blocks.push(SackBlock { left: ORIGIN.at(ack + 10), right: ORIGIN.at(ack + 20) });
                }
                let is_plain = blocks.is_empty() && scoreboard.is_in_order() && scoreboard.is_advanced_by(ack) && scoreboard.sacked().is_empty();
                let before = scoreboard.una();
                let mut change = scoreboard.apply(ack, ORIGIN, &blocks, true, now);
                change.echo = Some(clock::timestamp(now));
                for rack in &mut rack {
                    let short = (is_plain && rack.is_open()).then(|| {
                        let mut short = rack.clone();
                        short.on_plain_progress(now, before, change.rtt, &mut scoreboard);
                        format!("{short:?}")
                    });
                    let outcome = rack.read(now, &change, &scoreboard);
                    if let Some(short) = short {
                        prop_assert_eq!(outcome, Outcome::Progress);
                        prop_assert_eq!(short, format!("{rack:?}"));
                    }
                }
            }
        }
    }
}
