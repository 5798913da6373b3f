//! Opening a connection (RFC 9293 §3.5), and what both sides agree on (RFC 2018, RFC 7323, RFC 3168, RFC 7413).

use super::drop_counters::{ChallengeLimiter, DropCounters};
use super::ecn::{EcnReceiver, negotiated};
use super::emit::PendingControl;
use super::events::{Event, Events};
use super::fast_open::{FastOpenOffer, FastOpenOutcome, FastOpenState};
use super::lifetime::Lifetime;
use super::peer::Peer;
use super::state::{FirstToClose, SendSide, Sides, TcpState};
use super::{AcceptedRange, Connection, Identity, SegmentMeta};
use crate::config::Config;
use crate::config::groups::Dsack;
use crate::policy::acking::AckDue;
use crate::receive::Receiver;
use crate::send::rate::ecn::Feedback;
use crate::send::sender::Sender;
use crate::trace::Cx;
use alloc::boxed::Box;
use core::num::NonZeroU16;
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Ecn, FastOpen, Flags, Options, Segment, SeqNum, SkipNotice};

impl Connection {
    /// Opens a connection: the first [`Self::poll_transmit`] returns the SYN.
    ///
    /// `seeds` is the source of the policies' random numbers, and of the first sequence number.
    pub fn connect(config: &Config, seeds: SeedTree) -> Self {
        Self::connect_as(config, Identity::drawn(seeds), seeds)
    }

    /// Opens a connection with an identity that the driver chose.
    pub fn connect_as(config: &Config, identity: Identity, seeds: SeedTree) -> Self {
        Self { pending: PendingControl::syn(), ..Self::new(config, identity, seeds, TcpState::SynSent) }
    }

    /// Waits for a peer to open a connection.
    pub fn listen(config: &Config, seeds: SeedTree) -> Self {
        Self::listen_as(config, Identity::drawn(seeds), seeds)
    }

    /// Waits for a peer to open a connection, with an identity that the driver chose.
    pub fn listen_as(config: &Config, identity: Identity, seeds: SeedTree) -> Self {
        Self::new(config, identity, seeds, TcpState::Listen)
    }

    fn new(config: &Config, identity: Identity, seeds: SeedTree, state: TcpState) -> Self {
        Self {
            state,
            sender: Sender::new(config, seeds),
            receiver: Receiver::new(config),
            config: *config,
            peer: Peer::default(),
            drop_counters: DropCounters::default(),
            challenge_limiter: ChallengeLimiter::default(),
            local_origin: identity.origin,
            timestamp_offset: identity.timestamp_offset,
            pending: PendingControl::default(),
            ecn: EcnReceiver::default(),
            events: Events::default(),
            fast_open: None,
            lifetime: Lifetime::default(),
            ending: None,
            is_active_opener: state == TcpState::SynSent,
            awaits_send_space: false,
            last_icmp_error: None,
        }
    }

    // TCP Fast Open (RFC 7413).

    /// Lets the SYN request a Fast Open cookie, or carry what was written before it is sent. To be called between
    /// [`Self::connect_as`] and the first [`Self::poll_transmit`].
    ///
    /// Data on a SYN may reach the application of the server twice (RFC 7413 §2.1), so the application must allow it. Frames
    /// are never sent on a SYN.
    pub fn open_fast(&mut self, offer: FastOpenOffer) {
        if self.state == TcpState::SynSent && self.sender.buffer().scoreboard().snd_max() == 0 {
            self.fast_open = Some(Box::new(FastOpenState::client(offer)));
        }
    }

    /// Returns the most bytes of the written data that the SYN carries; 0 without [`Self::open_fast`].
    pub fn room_on_syn(&self) -> u64 {
        self.fast_open.as_ref().map_or(0, |fast_open| fast_open.room_on_syn(&self.config))
    }

    /// Returns the result of [`Self::open_fast`]; `None` without it.
    pub fn fast_open(&self) -> Option<FastOpenOutcome> {
        self.fast_open.as_ref()?.outcome()
    }

    /// Opens a connection for a SYN whose data may be accepted before the handshake: its cookie is right, or none is required.
    /// The data can be read and answered at once.
    ///
    /// `cookie` is sent with the first SYN-ACK. Drain [`Self::poll_transmit`] as after any other call.
    pub fn accept_fast(
        cx: &mut Cx<'_>,
        config: &Config,
        identity: Identity,
        seeds: SeedTree,
        syn: &Segment,
        cookie: Option<FastOpen>,
    ) -> (Self, AcceptedRange) {
        let mut connection = Self::listen_as(config, identity, seeds);
        connection.on_segment(cx, syn);
        if connection.state != TcpState::SynReceived {
            return (connection, AcceptedRange::default());
        }
        connection.fast_open = Some(Box::new(FastOpenState::server(cookie)));
        connection.sender.on_opened_early(cx, u64::from(syn.window));
        let accepted = connection.accept_syn_payload(cx, syn.len, false);
        (connection, accepted)
    }

    /// Accepts the payload of a SYN or SYN-ACK.
    fn accept_syn_payload(&mut self, cx: &mut Cx<'_>, len: u16, has_fin: bool) -> AcceptedRange {
        let end = 1 + u64::from(len) + u64::from(has_fin);
        let accepted = if end > 1 { self.on_payload(cx, 1..end, has_fin) } else { AcceptedRange::default() };
        self.close_if_finished(cx.now);
        accepted
    }

    /// Returns whether data may be sent before the handshake is done.
    #[cold]
    pub(super) fn may_send_early(&self) -> bool {
        self.fast_open.as_ref().is_some_and(|fast_open| fast_open.may_send_early())
    }

    /// Returns whether this side accepted data from the SYN.
    pub(super) fn is_fast_server(&self) -> bool {
        self.fast_open.as_ref().is_some_and(|fast_open| fast_open.is_server())
    }

    /// Returns the stream position behind the last byte that was ever sent, on the SYN too.
    fn sent_end(&self) -> u64 {
        let carried = self.fast_open().map_or(0, |outcome| outcome.carried);
        self.sender.buffer().scoreboard().end_position().max(1 + carried)
    }

    /// Reads what an answer accepts of the data on the SYN; returns how many bytes it left.
    fn read_fast_open(&mut self, answer: &Segment, ack: u64) -> u64 {
        let ip = self.config.segments.ip;
        let result = self.fast_open.as_mut().and_then(|fast_open| fast_open.on_answer(answer, ack, ip));
        let Some((accepted, left)) = result else { return 0 };
        self.sender.on_syn_data_accepted(accepted);
        left
    }

    // Segments of the handshake.

    /// Acts on a segment in LISTEN.
    pub(super) fn on_listen_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST) {
            self.negotiate(now, segment);
            self.state = TcpState::SynReceived;
            self.pending.syn = true;
        } else if segment.flags.contains(Flags::ACK) {
            self.reject(segment);
        }
    }

    /// Acts on a segment in SYN-SENT.
    pub(super) fn on_syn_sent_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let ack = self.acked_syn(segment);
        if ack.is_some() && self.is_foreign_echo(cx.now, segment) {
            self.sender.on_impossible_echo();
            self.reject_in_handshake(cx.now, segment);
            return AcceptedRange::default();
        }
        match (segment.flags.contains(Flags::SYN), segment.flags.contains(Flags::RST), ack) {
            (_, true, Some(_)) => self.on_reset(),
            (true, false, Some(ack)) => {
                self.negotiate(cx.now, segment);
                self.establish(cx, segment, ack);
                let accepted = self.accept_syn_payload(cx, segment.len, segment.flags.contains(Flags::FIN));
                self.receiver.due = AckDue::Now;
                // RFC 9768 §3.2.2.1: a pure ACK reports the ECN field of the SYN-ACK, even if there are data to send.
                self.pending.syn = self.has_accurate_ecn();
                return accepted;
            }
            (true, false, None) if !segment.flags.contains(Flags::ACK) => {
                // Simultaneous open (RFC 9293 figure 7).
                self.negotiate(cx.now, segment);
                self.state = TcpState::SynReceived;
                self.pending.syn = true;
            }
            (_, false, None) if segment.flags.contains(Flags::ACK) => self.reject_ack(cx.now, segment),
            _ => {}
        }
        AcceptedRange::default()
    }

    /// Returns the stream position that a segment acknowledges, if it acknowledges our SYN and nothing that was never sent.
    fn acked_syn(&self, segment: &Segment) -> Option<u64> {
        let ack = segment.ack.unwrap_near(self.local_origin, 1)?;
        (segment.flags.contains(Flags::ACK) && (1..=self.sent_end()).contains(&ack)).then_some(ack)
    }

    /// Returns whether an answer to our SYN echoes a time at which no SYN was sent, because it belongs to an earlier connection
    /// (`LINUX_MIB_PAWSACTIVEREJECTED`).
    fn is_foreign_echo(&self, now: Instant, segment: &Segment) -> bool {
        // Zero may be no echo at all.
        let reads = self.config.timestamps.validate_tsecr && self.config.timestamps.enabled;
        let stamps = segment.options.timestamps.filter(|stamps| reads && stamps.echo != 0);
        stamps.is_some_and(|stamps| !self.sender.is_possible_echo(now, stamps.echo.wrapping_sub(self.timestamp_offset)))
    }

    /// Acts on a segment in SYN-RECEIVED.
    pub(super) fn on_syn_received_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let opens = segment.flags & (Flags::SYN | Flags::RST) == Flags::SYN;
        let is_opening = opens && segment.seq == self.peer.origin;
        if is_opening && !segment.flags.contains(Flags::ACK) {
            // The SYN-ACK was lost, or is late. After a second one an ACK is ambiguous (Karn's algorithm).
            if self.may_answer(cx.now) {
                self.pending.syn = true;
                self.sender.on_syn_repeated();
            }
        } else if is_opening || self.check_sequence(cx.now, segment).is_some() {
            // Simultaneous open if it is a SYN: RFC 9293 figure 7 accepts it, although it starts before the window.
            return self.on_first_ack(cx, segment);
        }
        AcceptedRange::default()
    }

    /// Acts on the ACK that ends the handshake, and on what else its segment carries.
    fn on_first_ack(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let Some(ack) = self.acked_syn(segment) else {
            self.reject_ack(cx.now, segment);
            return AcceptedRange::default();
        };
        self.read_handshake_mark(segment);
        self.establish(cx, segment, ack);
        if segment.flags.contains(Flags::SYN) && self.config.acks.dsack == Dsack::DataAndSyn {
            self.receiver.on_repeated_syn();
        }
        self.on_transfer_segment(cx, segment)
    }

    /// Resets the peer after an ACK of something else than our SYN, which belongs to an earlier connection (RFC 9293 §3.5.1,
    /// figures 8 and 9).
    fn reject_ack(&mut self, now: Instant, segment: &Segment) {
        self.drop_counters.acks_ahead += 1;
        self.reject_in_handshake(now, segment);
    }

    /// Resets the peer, unless it was answered a moment ago.
    fn reject_in_handshake(&mut self, now: Instant, segment: &Segment) {
        if self.may_answer(now) {
            self.reject(segment);
        }
    }

    fn negotiate(&mut self, now: Instant, syn: &Segment) {
        self.peer = Peer::new(now, syn, &self.config);
        let timestamps = self.peer.timestamps;
        self.negotiate_ecn(syn);
        if timestamps {
            self.sender.use_timestamps();
        }
        let peer_mss = syn.options.mss.map_or(self.config.segments.ip.default_mss(), NonZeroU16::get);
        self.sender.negotiate_mss(u64::from(peer_mss), timestamps);
        let real_time = &self.config.real_time;
        // Without the option the peer's policy is unknown, and is taken to be ours (see `RealTime::skip_notice`).
        let peer_skips = real_time.delivery.skips() && (self.peer.skip_notice || !real_time.skip_notice);
        self.sender.set_may_abandon_sent(peer_skips);
        self.receiver.on_syn();
        self.receiver.scale_window(self.peer.scales_window);
        if self.config.real_time.skip_notice && !self.peer.skip_notice {
            self.receiver.disable_skipping();
        }
        if !self.peer.sack && self.sender.loss().recovery().needs_sack() {
            self.sender.disable_sack(&self.config);
        }
    }

    /// Enters the transfer state: our SYN is acknowledged.
    fn establish(&mut self, cx: &mut Cx<'_>, segment: &Segment, ack: u64) {
        let left = self.read_fast_open(segment, ack);
        let rtt = self.handshake_rtt(cx.now, segment);
        self.sender.set_window(self.peer.handshake_window(segment));
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
        self.state = TcpState::Transfer(sides);
        self.lifetime.last_received = cx.now;
        self.update_limits(cx.now);
        self.events.add(Event::Established);
    }

    /// Returns the round trip of the handshake, if it is known.
    fn handshake_rtt(&mut self, now: Instant, segment: &Segment) -> Option<Duration> {
        if self.is_fast_server() {
            // With a repeated SYN-ACK the round trip is ambiguous (Karn's algorithm).
            return self.may_send_early().then(|| self.sender.syn_ack_rtt(now));
        }
        self.sender.on_syn_acked(now, self.local_origin, &segment.options.sack)
    }

    // ECN (RFC 3168, RFC 9768).

    fn negotiate_ecn(&mut self, syn: &Segment) {
        let feedback = negotiated(self.config.ecn, syn.flags);
        self.sender.negotiate_ecn(feedback);
        if feedback == Feedback::Accurate {
            self.ecn = EcnReceiver::new(syn.ecn);
            // A SYN-ACK reports how our SYN arrived.
            if syn.flags.contains(Flags::ACK) {
                self.sender.on_ace_handshake(syn.flags);
            }
        }
    }

    fn has_accurate_ecn(&self) -> bool {
        self.sender.rate().ecn().feedback() == Feedback::Accurate
    }

    /// Reads from the ACK of our SYN-ACK whether that arrived marked.
    fn read_handshake_mark(&mut self, segment: &Segment) {
        // Only a pure ACK reports it (RFC 9768 §3.2.2.1).
        if self.has_accurate_ecn() && !segment.takes_sequence_space() && segment.options.sack.is_empty() {
            self.sender.on_ace_handshake(segment.flags);
        }
    }

    /// Writes the pure ACK that ends the handshake, and reports the ECN field of the SYN-ACK.
    fn emit_handshake_ack(&mut self, now: Instant, segment: &mut Segment) -> SegmentMeta {
        let meta = self.emit_bare(now, Flags::ACK, segment);
        segment.flags = Flags::ACK | self.ecn.handshake_flags();
        meta
    }

    // The segments that are sent.

    /// Writes the SYN or SYN-ACK; after the handshake the ACK that ends it.
    pub(super) fn emit_syn(&mut self, now: Instant, segment: &mut Segment) -> SegmentMeta {
        if matches!(self.state, TcpState::Transfer(_)) {
            return self.emit_handshake_ack(now, segment);
        }
        let is_syn_ack = self.state == TcpState::SynReceived;
        let flags = if is_syn_ack { Flags::SYN | Flags::ACK } else { Flags::SYN };
        let is_retransmission = if self.is_fast_server() {
            self.sender.send_syn_ack_early(flags, now)
        } else {
            self.sender.send_syn(flags, now)
        };
        if !is_retransmission {
            self.begin_wait(now);
        }
        let mut options = self.syn_options(now, is_syn_ack);
        let unsent = self.sender.buffer().queue().unsent().min(self.room_on_syn());
        let len = self
            .fast_open
            .as_mut()
            .map_or(0, |fast_open| fast_open.add_to_syn(is_retransmission, unsent, &mut options));
        self.receiver.on_sent(now, len > 0);
        let window = self.receiver.advertise_window(true);
        self.peer.last_ack_sent = self.receiver.nxt();
        *segment = Segment {
            seq: self.local_origin,
            ack: if is_syn_ack { self.peer.origin.at(self.receiver.nxt()) } else { SeqNum(0) },
            window,
            len: len as u16,
            flags: flags | self.ecn.syn_flags(self.config.ecn, self.sender.rate().ecn().feedback(), is_syn_ack),
            ecn: Ecn::NotCapable,
            options,
        };
        SegmentMeta { number: Some(0), is_retransmission, frame: None, data: 0..len }
    }

    fn syn_options(&self, now: Instant, is_syn_ack: bool) -> Options {
        let offers_timestamps = if is_syn_ack { self.peer.timestamps } else { self.config.timestamps.enabled };
        let offers_notice = if is_syn_ack { self.peer.skip_notice } else { self.config.real_time.skip_notice };
        let offers_sack = self.config.acks.sack_blocks > 0 && (!is_syn_ack || self.peer.sack);
        Options {
            mss: NonZeroU16::new(self.config.segments.mss),
            window_scale: (!is_syn_ack || self.peer.scales_window).then(|| self.receiver.scale_shift()),
            sack_permitted: offers_sack,
            timestamps: offers_timestamps.then(|| self.timestamps(now)),
            skip_notice: offers_notice.then_some(SkipNotice::Offer),
            ..Options::default()
        }
    }
}
