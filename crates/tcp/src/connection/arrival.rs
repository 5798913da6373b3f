//! Arriving segments: whether they are acceptable (RFC 9293 §3.10.7.4), and their effect; and the reports of routers.

use super::closing::Ending;
use super::events::Event;
use super::state::TcpState;
use super::{AcceptedRange, Connection};
use crate::policy::acking::AckDue;
use crate::policy::segmentation::IpVersion;
use crate::receive::AckContext;
use crate::send::partial::SnackReport;
use crate::send::partial::snack::Skip;
use crate::send::sender::AckInfo;
use crate::trace::Cx;
use core::ops::Range;
use earlybird_units::Instant;
use earlybird_wire::{Flags, IcmpError, SackBlocks, Segment, SeqNum, SkipNotice};

impl Connection {
    /// Acts on a segment from the network; returns which of its payload the driver must keep.
    ///
    /// To be followed by [`Self::poll_transmit`], [`Self::poll_event`] and [`Self::poll_timeout`].
    #[inline]
    pub fn on_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        if matches!(self.state, TcpState::Transfer(_)) {
            self.on_transfer_segment(cx, segment)
        } else {
            self.on_segment_outside_transfer(cx, segment)
        }
    }

    #[cold]
    fn on_segment_outside_transfer(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        match self.state {
            TcpState::Transfer(_) => return self.on_transfer_segment(cx, segment),
            TcpState::SynReceived => return self.on_syn_received_segment(cx, segment),
            TcpState::Listen => self.on_listen_segment(cx.now, segment),
            TcpState::SynSent => return self.on_syn_sent_segment(cx, segment),
            TcpState::TimeWait => self.on_time_wait_segment(cx.now, segment),
            TcpState::Closed => self.reject(segment),
        }
        AcceptedRange::default()
    }

    /// Acts on a segment in the transfer state.
    #[inline]
    pub(super) fn on_transfer_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let accepted =
            if self.is_fast_path_candidate(cx.now, segment) { self.process_predicted(cx, segment) } else { None };
        accepted.unwrap_or_else(|| self.process_slow_path(cx, segment))
    }

    /// Acts on any segment, in the order of RFC 9293 §3.10.7.4: sequence number, reset, SYN, ACK, payload, FIN.
    #[inline(never)]
    fn process_slow_path(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let mut accepted = AcceptedRange::default();
        let Some(range) = self.check_sequence(cx.now, segment) else { return accepted };
        let Some(ack_info) = self.check_ack(segment, range.start) else {
            self.challenge(cx.now);
            return accepted;
        };
        self.lifetime.last_received = cx.now;
        self.peer.note_timestamp(cx.now, segment, range.start);
        self.process_ce(segment);
        let was_drained = self.sender.is_drained();
        self.sender.on_acknowledgement(cx, &ack_info);
        self.report_drained(was_drained);
        let has_fin = segment.flags.contains(Flags::FIN);
        if self.is_unread(&range, has_fin) {
            self.reset_peer(segment);
        } else if !range.is_empty() {
            self.update_ack_context(cx.now, segment);
            accepted = self.on_payload(cx, range, has_fin);
        }
        self.close_if_finished(cx.now);
        accepted
    }

    /// Returns whether a segment qualifies for header prediction: no flags but ACK and PSH, and no options but the negotiated
    /// timestamps and SACK blocks.
    #[inline]
    fn is_fast_path_candidate(&self, now: Instant, segment: &Segment) -> bool {
        let is_plain = segment.flags.difference(Flags::PSH) == Flags::ACK && segment.options.skip_notice.is_none();
        let is_stamped = segment.options.timestamps.is_some() == self.peer.timestamps;
        is_plain && is_stamped && !self.peer.is_too_old(now, segment) && self.state.is_open()
    }

    /// Acts on a usual segment if it is a predicted one; `None` if it needs the slow path.
    ///
    /// Header prediction (Jacobson, "4BSD TCP header prediction", CCR 20(2), 1990). Left out are the tests for resets, SYNs, FINs
    /// and the window: a pure ACK at exactly RCV.NXT, or payload with a repeated ACK, passes all of them.
    #[inline]
    fn process_predicted(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> Option<AcceptedRange> {
        let nxt = self.receiver.nxt();
        let is_next = segment.seq == self.peer.origin.at(nxt);
        if segment.len == 0 {
            return if is_next { self.process_pure_ack(cx, segment, nxt) } else { None };
        }
        let is_same_ack = segment.ack == self.local_origin.at(self.sender.buffer().scoreboard().una_position());
        if !is_same_ack || !segment.options.sack.is_empty() {
            return None;
        }
        if is_next && self.receiver.can_take_next(u64::from(segment.len)) {
            self.accept_in_order(cx.now, segment, nxt)
        } else {
            self.accept_out_of_order(cx, segment)
        }
    }

    /// Accepts the next payload in order, with a repeated ACK: the common case for a receiver.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all payload takes this path")]
    fn accept_in_order(&mut self, now: Instant, segment: &Segment, start: u64) -> Option<AcceptedRange> {
        if !self.is_repeated_ack(now, segment, start) {
            return None;
        }
        let len = u64::from(segment.len);
        self.receiver.take_next(now, len);
        self.events.add(Event::Readable);
        Some(AcceptedRange { skip: 0, stream: start - 1..start - 1 + len })
    }

    /// Accepts other payload with a repeated ACK: out of order, and mostly above all that has arrived.
    #[inline(never)]
    fn accept_out_of_order(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> Option<AcceptedRange> {
        let start = segment.seq.unwrap_near(self.peer.origin, self.receiver.nxt())?;
        let range = start..start + u64::from(segment.len);
        let is_simple = self.receiver.can_take_out_of_order(&range);
        if !(is_simple || self.receiver.is_acceptable(&range)) || !self.is_repeated_ack(cx.now, segment, start) {
            return None;
        }
        if is_simple {
            let accepted = AcceptedRange { skip: 0, stream: range.start - 1..range.end - 1 };
            self.receiver.take_out_of_order(range);
            return Some(accepted);
        }
        let accepted = self.on_payload(cx, range, false);
        self.close_if_finished(cx.now);
        Some(accepted)
    }

    /// Acts on the ACK of a segment with payload, if it carries no information but the receiver's window; returns whether it does.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all payload takes this path")]
    fn is_repeated_ack(&mut self, now: Instant, segment: &Segment, start: u64) -> bool {
        let echo = self.peer.echo(segment, self.timestamp_offset);
        if !self.sender.on_repeated_ack(now, start, self.peer.window(segment), echo) {
            return false;
        }
        self.lifetime.last_received = now;
        self.peer.note_timestamp(now, segment, start);
        self.update_ack_context(now, segment);
        true
    }

    /// Processes a pure ACK whose number is in [SND.UNA, SND.NXT]; else returns `None`. The common case for a sender.
    #[inline(never)]
    fn process_pure_ack(&mut self, cx: &mut Cx<'_>, segment: &Segment, start: u64) -> Option<AcceptedRange> {
        let una = self.sender.buffer().scoreboard().una_position();
        let ack = segment.ack.unwrap_near(self.local_origin, una)?;
        if ack < una || ack > self.sender.buffer().scoreboard().end_position() {
            return None;
        }
        self.lifetime.last_received = cx.now;
        self.peer.note_timestamp(cx.now, segment, start);
        self.process_ce(segment);
        let was_drained = self.sender.is_drained();
        if segment.options.sack.is_empty() && self.sender.expects_progress(ack) {
            self.sender.on_plain_progress(cx, &self.ack_info(segment, ack, start));
        } else {
            self.sender.on_acknowledgement(cx, &self.ack_info(segment, ack, start));
        }
        self.report_drained(was_drained);
        Some(AcceptedRange::default())
    }

    /// Returns the stream positions of an acceptable segment; answers one that is not, and acts on resets and SYNs.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every ACK takes this path, and a range is large to copy")]
    pub(super) fn check_sequence(&mut self, now: Instant, segment: &Segment) -> Option<Range<u64>> {
        let start = segment.seq.unwrap_near(self.peer.origin, self.receiver.nxt());
        let Some(start) = start else {
            self.drop_counters.out_of_window += 1;
            return None;
        };
        let range = start..start + segment.sequence_len();
        if segment.flags.intersects(Flags::RST | Flags::SYN) {
            self.on_reset_or_syn(now, segment, &range);
            return None;
        }
        let is_in_window = self.receiver.is_acceptable(&range);
        if !is_in_window || self.peer.is_too_old(now, segment) {
            self.drop_counters.out_of_window += u64::from(!is_in_window);
            self.drop_counters.too_old += u64::from(is_in_window);
            self.answer_unacceptable(now, segment, &range);
            return None;
        }
        self.is_complete(segment).then_some(range)
    }

    /// Acts on a reset or SYN (RFC 5961): a reset counts only at exactly the expected number (§3.2).
    #[cold]
    fn on_reset_or_syn(&mut self, now: Instant, segment: &Segment, range: &Range<u64>) {
        if !segment.flags.contains(Flags::RST) {
            self.drop_counters.unexpected_syns += 1;
            self.challenge(now);
        } else if range.start == self.receiver.nxt() {
            self.on_reset();
        } else {
            self.drop_counters.resets += 1;
            // In the window it may be a real one after a loss, so the peer is challenged to prove it.
            if self.receiver.is_acceptable(range) {
                self.challenge(now);
            }
        }
    }

    /// Returns whether a segment has an ACK, and a timestamp if that was agreed on (RFC 7323 §3.2: "SHOULD silently drop the
    /// segment").
    #[inline]
    fn is_complete(&mut self, segment: &Segment) -> bool {
        let is_unstamped = self.peer.must_stamp && segment.options.timestamps.is_none();
        let has_ack = segment.flags.contains(Flags::ACK);
        if is_unstamped || !has_ack {
            self.drop_counters.unstamped += u64::from(is_unstamped);
            self.drop_counters.without_ack += u64::from(!has_ack);
        }
        has_ack && !is_unstamped
    }

    /// Reports that everything written was acknowledged, if an ACK has just made it so.
    #[inline]
    fn report_drained(&mut self, was_drained: bool) {
        if !was_drained && self.sender.is_drained() {
            self.events.add(Event::Drained);
        }
    }

    /// Reads a segment as an acknowledgement, if it is acceptable as one (RFC 5961 §5.2): of data that were sent, and no older than
    /// the largest window.
    #[inline]
    fn check_ack<'a>(&mut self, segment: &'a Segment, start: u64) -> Option<AckInfo<'a>> {
        let ack = segment.ack.unwrap_near(self.local_origin, self.sender.buffer().scoreboard().una_position());
        let ack = ack.filter(|ack| {
            ack + self.sender.buffer().peer_window().largest() >= self.sender.buffer().scoreboard().acknowledged()
        });
        let Some(ack) = ack else {
            self.drop_counters.acks_behind += 1;
            return None;
        };
        if ack > self.sender.buffer().scoreboard().end_position() {
            self.drop_counters.acks_ahead += 1;
            return None;
        }
        let skip = segment.options.skip_notice.and_then(|notice| self.read_snack(notice, ack));
        let may_lack_blocks = self.peer.may_lack_blocks(&segment.options);
        Some(AckInfo { skip, may_lack_blocks, ..self.ack_info(segment, ack, start) })
    }

    /// Returns the contents of a segment that acknowledges up to stream position `ack` and starts at `start`, except a SNACK.
    #[inline]
    fn ack_info<'a>(&self, segment: &'a Segment, ack: u64, start: u64) -> AckInfo<'a> {
        AckInfo {
            ack,
            start,
            window: self.peer.window(segment),
            is_pure: !segment.takes_sequence_space(),
            flags: segment.flags,
            origin: self.local_origin,
            sack: if self.peer.sack { &segment.options.sack } else { &SackBlocks::NONE },
            echo: self.peer.echo(segment, self.timestamp_offset),
            skip: None,
            may_lack_blocks: false,
        }
    }

    /// Returns whether a segment brings new data to a connection whose application has closed it.
    #[inline]
    fn is_unread(&self, range: &Range<u64>, has_fin: bool) -> bool {
        self.lifetime.is_orphan && range.end - u64::from(has_fin) > self.receiver.nxt()
    }

    /// Passes payload to the receiver; returns which of it was accepted.
    #[inline]
    pub(super) fn on_payload(&mut self, cx: &mut Cx<'_>, range: Range<u64>, has_fin: bool) -> AcceptedRange {
        let start = range.start;
        let arrival = self.receiver.on_data(cx.now, range, has_fin);
        if arrival.delivered > 0 {
            self.events.add(Event::Readable);
        }
        let taken = arrival.taken;
        AcceptedRange {
            skip: taken.start.saturating_sub(start) as u16,
            stream: taken.start.max(1) - 1..taken.end.max(1) - 1,
        }
    }

    /// Reads a SNACK before its ACK is entered into the scoreboard; returns and reports the skip if it is new.
    #[cold]
    fn read_snack(&mut self, notice: SkipNotice, ack: u64) -> Option<Skip> {
        let SkipNotice::Skipped { total, first, segments } = notice else { return None };
        if !self.peer.skip_notice {
            return None;
        }
        let first = first.unwrap_near(self.local_origin, self.sender.buffer().scoreboard().una_position());
        let skip = self.sender.read_snack(SnackReport { total, first, segments: u64::from(segments), ack })?;
        self.events.add(Event::LossReported);
        Some(skip)
    }

    /// Processes a CE mark on a segment.
    #[inline]
    fn process_ce(&mut self, segment: &Segment) {
        if self.ecn.on_segment(self.sender.rate().ecn().feedback(), segment) {
            self.receiver.due = AckDue::Now;
        }
    }

    /// Passes to the receiver what its acknowledgement policy needs beside a segment.
    #[inline]
    fn update_ack_context(&mut self, now: Instant, segment: &Segment) {
        if self.receiver.reads_ack_context() {
            let timer = self.sender.loss().timer().value();
            self.receiver.ack_context = AckContext {
                is_pushed: segment.flags.contains(Flags::PSH),
                timeout: timer.timeout,
                srtt: timer.smoothed,
                echoed: self.peer.echoed_rtt(now, segment, self.timestamp_offset),
            };
        }
    }

    // Challenge ACKs (RFC 5961).

    /// Sends an ACK that states what is expected, unless one was sent a moment ago.
    #[cold]
    pub(super) fn challenge(&mut self, now: Instant) {
        if self.may_answer(now) {
            self.receiver.due = AckDue::Now;
        }
    }

    /// Returns whether a segment may be answered that is not acceptable, and counts the answer.
    pub(super) fn may_answer(&mut self, now: Instant) -> bool {
        self.challenge_limiter.may_challenge(now, self.config.acks.challenge_interval, &mut self.drop_counters)
    }

    /// Answers a segment that is outside the window or too old.
    #[cold]
    fn answer_unacceptable(&mut self, now: Instant, segment: &Segment, range: &Range<u64>) {
        // One with data needs no rate limit: its sender retransmits because it lacks an ACK, and two ends never answer each other
        // with data.
        if segment.takes_sequence_space() {
            self.receiver.note_refused(now, range);
            self.drop_counters.challenges += 1;
        } else {
            self.challenge(now);
        }
    }

    // Reports of routers (RFC 1191, RFC 8201, RFC 5461, RFC 5927).

    /// Acts on a router's report that packets of more than `mtu` bytes, IP header included, do not pass; `seq` is the sequence
    /// number of the segment that it quotes. Returns whether the report is credible: that segment must be outstanding, and
    /// larger than reported.
    ///
    /// Segments are cut smaller from now on, and outstanding data are sent again in pieces. After ten minutes the old size is
    /// tried again (RFC 1191 §6.3, RFC 8201 §5.3). A report of less than 552 bytes (IPv4, as in Linux) counts as one of 552; one
    /// of less than 1280 bytes (IPv6) is ignored (RFC 8201 §4).
    pub fn on_path_mtu(&mut self, cx: &mut Cx<'_>, mtu: u16, seq: SeqNum) -> bool {
        let ip = self.config.segments.ip;
        if ip == IpVersion::V6 && mtu < ip.least_path_mtu() {
            return false;
        }
        let limit = ip.mss_within(mtu.max(ip.least_path_mtu()));
        if self.state == TcpState::SynSent {
            return self.on_syn_too_big(limit, seq);
        }
        let position = self.outstanding_position(seq).filter(|_| matches!(self.state, TcpState::Transfer(_)));
        position.is_some_and(|position| self.sender.on_path_limit(cx.now, u64::from(limit), position))
    }

    /// Reduces the segments of an open connection to packets of `mtu` bytes, IP header included, which is what this host's own route
    /// to the peer carries. Returns whether they were larger.
    ///
    /// Unlike [`Self::on_path_mtu`] it needs no proof, as it does not come from the network. It expires after ten minutes too.
    pub fn on_route_mtu(&mut self, cx: &mut Cx<'_>, mtu: u16) -> bool {
        let ip = self.config.segments.ip;
        let limit = ip.mss_within(mtu.max(ip.least_inner_mtu()));
        matches!(self.state, TcpState::Transfer(_)) && self.sender.on_route_limit(cx.now, u64::from(limit))
    }

    /// Sends a SYN again that was too big because it carried data (RFC 7413 §4.2.1): at once, without them, and with a smaller MSS.
    fn on_syn_too_big(&mut self, limit: u16, seq: SeqNum) -> bool {
        let is_ours = seq == self.local_origin && self.fast_open().is_some_and(|outcome| outcome.carried > 0);
        if !is_ours || limit >= self.config.segments.mss {
            return false;
        }
        self.config.segments.mss = limit;
        self.sender.set_segment_size(u64::from(limit));
        self.pending.syn = true;
        true
    }

    /// Acts on a report, from a router or the peer's host, that the segment with number `seq` did not arrive. Returns whether the
    /// report is credible.
    ///
    /// Only a connection whose SYN was not answered ends, and only if the error is a hard one (RFC 9293 §3.9.2.2, MUST-56;
    /// RFC 5461 §4.1): [`Event::Unreachable`] reports it. Otherwise the report is kept for [`Self::last_icmp_error`], as the likely
    /// reason of a later timeout.
    pub fn on_unreachable(&mut self, last_icmp_error: IcmpError, seq: SeqNum) -> bool {
        if self.outstanding_position(seq).is_none() {
            return false;
        }
        self.last_icmp_error = Some(last_icmp_error);
        if self.state == TcpState::SynSent && last_icmp_error.is_hard() {
            self.end(Ending::Unreachable);
        }
        true
    }

    /// Returns the stream position of a sequence number that is outstanding.
    fn outstanding_position(&self, seq: SeqNum) -> Option<u64> {
        // RFC 5927 §4.1: a blind attacker would have to guess it.
        let scoreboard = self.sender.buffer().scoreboard();
        let position = seq.unwrap_near(self.local_origin, scoreboard.una_position())?;
        (scoreboard.una_position()..scoreboard.end_position()).contains(&position).then_some(position)
    }
}
