//! Opening a connection (RFC 9293 §3.5) and what both sides agree on (RFC 2018, RFC 7323).

use super::events::Event;
use super::state::{FirstToClose, SendSide, Sides, State};
use super::{AcceptedRange, Connection, SegmentMeta};
use crate::config::groups::Dsack;
use crate::policy::acking::AckDue;
use crate::trace::Cx;
use core::num::NonZeroU16;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Ecn, Flags, Options, Segment, SeqNum, SkipNotice};

/// What is known of the peer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peer {
    /// Number of the peer's SYN.
    pub(super) origin: SeqNum,
    pub(super) window_shift: u8,
    pub(super) scales_window: bool,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    /// Segments without a timestamp are dropped.
    pub(super) must_stamp: bool,
    /// Both sides know the SNACK option.
    pub(super) skip_notice: bool,
    /// The timestamp to echo (TS.Recent).
    pub(super) timestamp: u32,
    /// When it came.
    pub(super) timestamp_at: Instant,
    pub(super) last_ack_sent: u64,
}

impl Connection {
    pub(super) fn on_listen_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST) {
            self.learn_peer(now, segment);
            self.state = State::SynReceived;
            self.due.opening = true;
        } else if segment.flags.contains(Flags::ACK) {
            self.reject(segment);
        }
    }

    pub(super) fn on_syn_sent_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let accepted = self.opening_accepted(segment);
        if accepted.is_some() && self.is_echo_foreign(cx.now, segment) {
            self.sender.on_impossible_echo();
            self.reject_opening(cx.now, segment);
            return AcceptedRange::default();
        }
        match (segment.flags.contains(Flags::SYN), segment.flags.contains(Flags::RST), accepted) {
            (_, true, Some(_)) => self.on_reset(),
            (true, false, Some(ack)) => {
                self.learn_peer(cx.now, segment);
                self.establish(cx, segment, ack);
                let taken = self.take_opening_payload(cx, segment.len, segment.flags.contains(Flags::FIN));
                self.receiver.due = AckDue::Now;
                self.due.opening = self.counts_marks();
                return taken;
            }
            (true, false, None) if !segment.flags.contains(Flags::ACK) => {
                // Both sides opened at once.
                self.learn_peer(cx.now, segment);
                self.state = State::SynReceived;
                self.due.opening = true;
            }
            (_, false, None) if segment.flags.contains(Flags::ACK) => self.reject_ack(cx.now, segment),
            _ => {}
        }
        AcceptedRange::default()
    }

    /// Returns the stream position that a segment acknowledges, if it acknowledges our opening segment and nothing that was
    /// never sent.
    fn opening_accepted(&self, segment: &Segment) -> Option<u64> {
        let ack = segment.ack.unwrap_near(self.local_origin, 1)?;
        (segment.flags.contains(Flags::ACK) && (1..=self.sent_end()).contains(&ack)).then_some(ack)
    }

    /// Returns whether an answer to our SYN echoes a time at which no SYN was sent: it is one to an earlier connection
    /// (`LINUX_MIB_PAWSACTIVEREJECTED`). Zero may be no echo at all.
    fn is_echo_foreign(&self, now: Instant, segment: &Segment) -> bool {
        let reads = self.config.timestamps.validate_tsecr && self.config.timestamps.enabled;
        let stamps = segment.options.timestamps.filter(|stamps| reads && stamps.echo != 0);
        stamps.is_some_and(|stamps| !self.sender.is_possible_echo(now, stamps.echo.wrapping_sub(self.timestamp_offset)))
    }

    pub(super) fn on_syn_received_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let opens = segment.flags & (Flags::SYN | Flags::RST) == Flags::SYN;
        let is_opening = opens && segment.seq == self.peer.origin;
        if is_opening && !segment.flags.contains(Flags::ACK) {
            // The answer was lost, or is late: nobody can know which of several is acknowledged (Karn's rule).
            if self.may_answer(cx.now) {
                self.due.opening = true;
                self.sender.on_syn_repeated();
            }
        } else if is_opening || self.admitted(cx.now, segment).is_some() {
            // Both sides opened at once if it is a SYN: RFC 9293 figure 7 takes it, though it starts before the window.
            return self.on_first_ack(cx, segment);
        }
        AcceptedRange::default()
    }

    fn on_first_ack(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let Some(ack) = self.opening_accepted(segment) else {
            self.reject_ack(cx.now, segment);
            return AcceptedRange::default();
        };
        self.learn_handshake_mark(segment);
        self.establish(cx, segment, ack);
        if segment.flags.contains(Flags::SYN) && self.config.acks.dsack == Dsack::DataAndSyn {
            self.receiver.on_repeated_syn();
        }
        self.on_transfer_segment(cx, segment)
    }

    /// An ACK of something else than our opening segment is one for an earlier connection, whose end hears of that
    /// (RFC 9293 §3.5.1, figures 8 and 9), but not for each that comes.
    fn reject_ack(&mut self, now: Instant, segment: &Segment) {
        self.guard.drop_counters.acks_ahead += 1;
        self.reject_opening(now, segment);
    }

    fn reject_opening(&mut self, now: Instant, segment: &Segment) {
        if self.may_answer(now) {
            self.reject(segment);
        }
    }

    fn learn_peer(&mut self, now: Instant, syn: &Segment) {
        let options = &syn.options;
        let timestamps = options.timestamps.is_some() && self.config.timestamps.enabled;
        self.peer = Peer {
            origin: syn.seq,
            // RFC 7323 §2.3: a larger shift counts as 14.
            window_shift: options.window_scale.unwrap_or(0).min(14),
            scales_window: options.window_scale.is_some(),
            sack: options.sack_permitted && self.config.acks.sack_blocks > 0,
            timestamps,
            must_stamp: timestamps && self.config.timestamps.required,
            skip_notice: options.skip_notice == Some(SkipNotice::Offer) && self.config.real_time.skip_notice,
            timestamp: options.timestamps.map_or(0, |stamps| stamps.value),
            timestamp_at: now,
            last_ack_sent: 0,
        };
        self.learn_ecn(syn);
        if timestamps {
            self.sender.use_timestamps();
        }
        let peer_mss = options.mss.map_or(self.config.segments.ip.default_mss(), NonZeroU16::get);
        self.sender.negotiate_mss(u64::from(peer_mss), timestamps);
        let real_time = &self.config.real_time;
        let steps_over = real_time.delivery.skips() && (self.peer.skip_notice || !real_time.skip_notice);
        self.sender.set_may_abandon_sent(steps_over);
        self.receiver.on_syn();
        self.receiver.scale_window(self.peer.scales_window);
        if self.config.real_time.skip_notice && !self.peer.skip_notice {
            self.receiver.skip_nothing();
        }
        if !self.peer.sack && self.sender.loss().recovery().needs_sack() {
            self.sender.do_without_sack(&self.config);
        }
    }

    fn establish(&mut self, cx: &mut Cx<'_>, segment: &Segment, ack: u64) {
        let left = self.learn_fast_open(segment, ack);
        let rtt = if self.is_fast_server() { self.early_rtt(cx.now) } else { self.settle_opening(cx.now, segment) };
        self.sender.set_window(u64::from(segment.window) << self.established_shift(segment));
        let echoed = rtt.filter(|_| self.peer.timestamps);
        self.sender.on_opened(cx, echoed);
        self.sender.resend_syn_data(left);
        self.sender.open_path(cx.now, rtt);
        if self.peer.sack {
            self.sender.use_sack();
        }
        let mut sides = Sides::default();
        if self.sender.buffer().queue().is_finished() {
            sides = Sides { send: SendSide::FinQueued, first: FirstToClose::Us, ..sides };
        }
        self.state = State::Transfer(sides);
        self.lifetime.heard = cx.now;
        self.watch_limits(cx.now);
        self.events.tell(Event::Established);
    }

    /// Takes the opening segment off the scoreboard, and gives its round trip if that is known.
    fn settle_opening(&mut self, now: Instant, segment: &Segment) -> Option<Duration> {
        self.sender.on_syn_acked(now, self.local_origin, &segment.options.sack)
    }

    /// The window in a SYN is never scaled (RFC 7323 §2.2).
    fn established_shift(&self, segment: &Segment) -> u8 {
        if segment.flags.contains(Flags::SYN) { 0 } else { self.peer.window_shift }
    }

    pub(super) fn emit_opening(&mut self, now: Instant, segment: &mut Segment) -> SegmentMeta {
        if matches!(self.state, State::Transfer(_)) {
            return self.emit_handshake_ack(now, segment);
        }
        let is_answer = self.state == State::SynReceived;
        let flags = if is_answer { Flags::SYN | Flags::ACK } else { Flags::SYN };
        let is_retransmission = if self.is_fast_server() {
            self.sender.send_syn_ack_early(flags, now)
        } else {
            self.sender.send_syn(flags, now)
        };
        if !is_retransmission {
            self.begin_wait(now);
        }
        let mut options = self.opening_options(now, is_answer);
        let len = self.add_fast_open(is_retransmission, &mut options);
        self.receiver.on_sent(now, len > 0);
        let window = self.receiver.tell_window(true);
        self.peer.last_ack_sent = self.receiver.nxt();
        *segment = Segment {
            seq: self.local_origin,
            ack: if is_answer { self.peer.origin.at(self.receiver.nxt()) } else { SeqNum(0) },
            window,
            len: len as u16,
            flags: flags | self.ecn_offer(is_answer),
            ecn: Ecn::NotCapable,
            options,
        };
        SegmentMeta { number: Some(0), is_retransmission, frame: None, data: 0..len }
    }

    fn opening_options(&self, now: Instant, is_answer: bool) -> Options {
        let offers_timestamps = if is_answer { self.peer.timestamps } else { self.config.timestamps.enabled };
        let offers_notice = if is_answer { self.peer.skip_notice } else { self.config.real_time.skip_notice };
        let offers_sack = self.config.acks.sack_blocks > 0 && (!is_answer || self.peer.sack);
        Options {
            mss: NonZeroU16::new(self.config.segments.mss),
            window_scale: (!is_answer || self.peer.scales_window).then(|| self.receiver.wanted_shift()),
            sack_permitted: offers_sack,
            timestamps: offers_timestamps.then(|| self.timestamps(now)),
            skip_notice: offers_notice.then_some(SkipNotice::Offer),
            ..Options::default()
        }
    }
}
