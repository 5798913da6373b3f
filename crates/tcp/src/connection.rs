//! The connection: what happens to it, what it wants to send, when it wants to be woken.

use crate::accurate_ecn::MarkCounter;
use crate::config::Config;
use crate::handshake::Peer;
use crate::policy::acking::AckDue;
use crate::policy::control::Gauges;
use crate::real_time::WriteError;
use crate::receive::Receiver;
use crate::send::pacer::Pacer;
use crate::send::sender::{Expiry, Sender};
use crate::send::timer::TimerValue;
use crate::state::{FirstToClose, ReceiveSide, RfcState, SendSide, Sides, State};
use crate::trace::{Cx, Statistics};
use core::ops::Range;
use earlybird_units::{Duration, Instant, Rate, SeedTree};
use earlybird_wire::{Ecn, Flags, Options, SackBlocks, Segment, SeqNum, Timestamps};

/// A TCP connection, from either side.
#[derive(Debug)]
pub struct Connection {
    pub(crate) state: State,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) config: Config,
    pub(crate) peer: Peer,
    pub(crate) local_origin: SeqNum,
    pub(crate) opening_due: bool,
    /// What every segment tells of the marks that came.
    pub(crate) echo: Flags,
    /// What is counted with the more accurate feedback.
    pub(crate) mark_counter: MarkCounter,
    reset_due: bool,
    /// The answer to a segment that fits no connection: its number, and what it acknowledges.
    rejection_due: Option<(SeqNum, Option<SeqNum>)>,
    events: u8,
    time_wait_ends: Option<Instant>,
}

/// What the application should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is done.
    Established,
    /// Bytes can be read.
    Readable,
    /// Everything written was acknowledged or given up.
    Drained,
    /// The peer will send no more.
    PeerClosed,
    /// The connection ended in order.
    Closed,
    /// The peer reset the connection.
    Reset,
    /// The peer stepped over more than it had told before: [`Connection::losses_reported`] has grown.
    LossReported,
}

/// A segment to send, and which part of the stream it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// Number of the segment in the stream, the opening one being 0; `None` for a pure ACK or reset.
    pub number: Option<u64>,
    /// Whether it was sent before.
    pub is_again: bool,
    /// Number of the frame that it carries, the first one written being 0, where one write is one segment.
    pub frame: Option<u64>,
}

/// In the order in which they are told.
const EVENTS: [Event; 7] = [
    Event::Established,
    Event::Readable,
    Event::Drained,
    Event::PeerClosed,
    Event::Closed,
    Event::Reset,
    Event::LossReported,
];

/// Twice the maximum segment lifetime, as Linux takes it (RFC 9293 §3.4.2 asks for four minutes).
const TIME_WAIT: Duration = Duration::from_secs(60);

impl Connection {
    /// Opens a connection: the first [`Self::poll_transmit`] gives the SYN.
    pub fn connect(config: &Config, seeds: SeedTree) -> Self {
        Self { opening_due: true, ..Self::new(config, seeds, State::SynSent) }
    }

    /// Waits for a peer to open a connection.
    pub fn listen(config: &Config, seeds: SeedTree) -> Self {
        Self::new(config, seeds, State::Listen)
    }

    fn new(config: &Config, seeds: SeedTree, state: State) -> Self {
        let origin = seeds.child("sequence").random().below(1 << 32);
        Self {
            state,
            sender: Sender::new(config, seeds),
            receiver: Receiver::new(config),
            config: *config,
            peer: Peer::default(),
            local_origin: SeqNum(origin as u32),
            opening_due: false,
            echo: Flags::empty(),
            mark_counter: MarkCounter::default(),
            reset_due: false,
            rejection_due: None,
            events: 0,
            time_wait_ends: None,
        }
    }

    /// Takes a segment from the network.
    pub fn on_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) {
        match self.state {
            State::Transfer(_) => self.on_transfer_segment(cx, segment),
            State::Listen => self.on_listen_segment(segment),
            State::SynSent => self.on_syn_sent_segment(cx, segment),
            State::SynReceived => self.on_syn_received_segment(cx, segment),
            State::TimeWait => self.on_time_wait_segment(cx.now, segment),
            State::Closed => self.reject(segment),
        }
    }

    /// Follows RFC 9293 §3.10.7.4: acceptability, reset, SYN, ACK, payload, FIN.
    pub(crate) fn on_transfer_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) {
        let Some(start) = segment.seq.unwrap_near(self.peer.origin, self.receiver.nxt()) else {
            return;
        };
        let range = start..start + segment.sequence_len();
        let is_in_window = self.receiver.is_acceptable(&range);
        if segment.flags.contains(Flags::RST) {
            self.on_reset(start, is_in_window);
        } else if !is_in_window || self.is_too_old(segment) || segment.flags.contains(Flags::SYN) {
            if !segment.flags.contains(Flags::SYN) {
                self.receiver.note_duplicate(&range);
            }
            self.receiver.due = AckDue::Now;
        } else if segment.flags.contains(Flags::ACK) {
            self.note_timestamp(segment, start);
            self.note_mark(segment);
            if self.on_acknowledgement(cx, segment, start) && !range.is_empty() {
                self.on_payload(cx, range, segment.flags.contains(Flags::FIN));
            }
            self.close_if_finished(cx.now);
        }
    }

    /// Only a reset at exactly the expected number counts; another one in the window is challenged (RFC 5961 §3.2).
    fn on_reset(&mut self, start: u64, is_in_window: bool) {
        if start == self.receiver.nxt() {
            self.end(Event::Reset);
        } else if is_in_window {
            self.receiver.due = AckDue::Now;
        }
    }

    /// Acts on the ACK of a segment that starts at `start`; says whether it is one of something sent.
    fn on_acknowledgement(&mut self, cx: &mut Cx<'_>, segment: &Segment, start: u64) -> bool {
        let ack = segment.ack.unwrap_near(self.local_origin, self.sender.board.una_position());
        let Some(ack) = ack.filter(|ack| *ack <= self.sender.board.end_position()) else {
            self.receiver.due = AckDue::Now;
            return false;
        };
        let window = self.sender.window_told(ack, start, u64::from(segment.window) << self.peer.window_shift);
        let is_same_window = window == self.sender.peer_window || self.sender.looks_past_window(segment);
        let is_pure = !segment.takes_sequence_space() && is_same_window;
        let skip = segment.options.skip_notice.and_then(|notice| self.read_notice(notice, ack));
        if self.sender.has_nothing_to_learn() {
            self.sender.on_window(window);
            return true;
        }
        let was_drained = self.sender.is_drained();
        let flight = self.sender.board.outstanding();
        let blocks = &segment.options.sack;
        let mut change = self.sender.board.apply(ack, self.local_origin, blocks, is_pure, cx.now);
        self.sender.settle();
        if let Some(skip) = skip {
            self.sender.enter_skip(&mut change, skip);
        }
        let echo = segment.options.timestamps.filter(|_| self.peer.timestamps).map(|stamps| stamps.echo);
        self.sender.read_details(&mut change, self.local_origin, blocks, echo);
        self.sender.on_window(window);
        let is_echo = self.is_echo(cx.now, segment, &change);
        let echoed = if change.advanced > 0 && change.skipped == 0 {
            change.rtt.or_else(|| self.echoed_rtt(cx.now, segment))
        } else {
            None
        };
        self.sender.on_ack(cx, &change, echoed.filter(|_| self.peer.timestamps), is_echo);
        if let Some(skip) = skip {
            self.sender.respond_to_skip(cx, skip, flight);
        }
        if is_echo {
            self.sender.on_congestion_echo(cx, flight);
        }
        if !was_drained && self.sender.is_drained() {
            self.tell(Event::Drained);
        }
        true
    }

    fn on_payload(&mut self, cx: &mut Cx<'_>, range: Range<u64>, has_fin: bool) {
        if self.receiver.on_data(cx.now, range, has_fin) > 0 {
            self.tell(Event::Readable);
        }
    }

    /// Goes on with closing, if that has begun.
    #[inline]
    pub(crate) fn close_if_finished(&mut self, now: Instant) {
        if let State::Transfer(sides) = self.state
            && (sides != Sides::default() || self.receiver.is_finished())
        {
            self.go_on_closing(sides, now);
        }
    }

    fn go_on_closing(&mut self, mut sides: Sides, now: Instant) {
        if sides.send == SendSide::FinQueued && self.sender.has_nothing_to_send() {
            sides.send = SendSide::FinAcked;
        }
        if sides.receive == ReceiveSide::Open && self.receiver.is_finished() {
            sides.receive = ReceiveSide::FinReceived;
            self.tell(Event::PeerClosed);
        }
        if sides.first == FirstToClose::Nobody && sides.receive == ReceiveSide::FinReceived {
            sides.first = FirstToClose::Peer;
        }
        self.state = State::Transfer(sides);
        if sides.send == SendSide::FinAcked && sides.receive == ReceiveSide::FinReceived {
            self.finish(sides, now);
        }
    }

    fn finish(&mut self, sides: Sides, now: Instant) {
        self.sender.timer.stop();
        self.tell(Event::Closed);
        if sides.first == FirstToClose::Us {
            self.state = State::TimeWait;
            self.time_wait_ends = Some(now + TIME_WAIT);
        } else {
            self.state = State::Closed;
        }
    }

    /// A FIN that comes again was not known to be acknowledged. Pure ACKs get no answer: two ends in this state would
    /// never stop.
    fn on_time_wait_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.takes_sequence_space() {
            self.receiver.due = AckDue::Now;
        }
        if segment.flags.contains(Flags::FIN) {
            self.time_wait_ends = Some(now + TIME_WAIT);
        }
    }

    /// Answers a segment that fits no connection with a reset that its sender will believe (RFC 9293 §3.10.7.1).
    pub(crate) fn reject(&mut self, segment: &Segment) {
        self.rejection_due = if segment.flags.contains(Flags::RST) {
            None
        } else if segment.flags.contains(Flags::ACK) {
            Some((segment.ack, None))
        } else {
            Some((SeqNum(0), Some(segment.seq.at(segment.sequence_len()))))
        };
    }

    pub(crate) fn end(&mut self, event: Event) {
        self.state = State::Closed;
        self.sender.timer.stop();
        self.receiver.due = AckDue::Nothing;
        self.receiver.skip_nothing();
        self.tell(event);
    }

    /// Acts on whatever deadline has come.
    pub fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        if let Some(readable) = self.receiver.on_timeout(cx.now) {
            self.on_stepped(cx.now, readable);
        }
        if self.time_wait_ends.is_some_and(|ends| ends <= cx.now) {
            self.time_wait_ends = None;
            self.state = State::Closed;
        }
        if let Some(pacer) = &mut self.sender.pacer {
            pacer.on_timeout(cx.now);
        }
        if self.recovery_deadline().is_some_and(|deadline| deadline <= cx.now) {
            self.sender.on_recovery_deadline(cx);
        }
        if self.sender.timer.deadline().is_some_and(|deadline| deadline <= cx.now)
            && self.sender.on_timeout(cx) == Expiry::Loss
        {
            self.opening_due = matches!(self.state, State::SynSent | State::SynReceived);
        }
    }

    /// Gives the time at which to call [`Self::on_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let pacer = self.sender.pacer.as_ref().and_then(Pacer::deadline);
        let sender = [self.sender.timer.deadline(), self.recovery_deadline(), pacer];
        let others = [self.receiver.deadline(), self.time_wait_ends];
        // Asked after every packet: a fold over plain numbers is several times faster than one over options.
        let earliest = |first: Instant, next: Option<Instant>| first.min(next.unwrap_or(Instant::NEVER));
        let first = others.into_iter().fold(sender.into_iter().fold(Instant::NEVER, earliest), earliest);
        (first < Instant::NEVER).then_some(first)
    }

    fn recovery_deadline(&self) -> Option<Instant> {
        if matches!(self.state, State::Transfer(_)) { self.sender.recovery_deadline() } else { None }
    }

    /// Gives the next segment to send, if there is one.
    #[must_use]
    pub fn poll_transmit(&mut self, cx: &mut Cx<'_>) -> Option<Transmit> {
        if self.reset_due || self.opening_due {
            return Some(self.emit_first(cx.now));
        }
        if matches!(self.state, State::Transfer(_))
            && !self.sender.has_nothing_to_send()
            && let Some(number) = self.sender.next(cx.now)
        {
            return self.emit_number(cx.now, number);
        }
        if self.sender.take_emptied() {
            self.tell(Event::Drained);
        }
        if self.receiver.due == AckDue::Now { Some(self.emit_bare(cx.now, Flags::ACK)) } else { self.emit_rejection() }
    }

    /// Emits what goes before everything else.
    #[cold]
    fn emit_first(&mut self, now: Instant) -> Transmit {
        if core::mem::take(&mut self.reset_due) {
            return self.emit_bare(now, Flags::RST | Flags::ACK);
        }
        self.opening_due = false;
        self.emit_opening(now)
    }

    fn emit_rejection(&mut self) -> Option<Transmit> {
        let (seq, ack) = self.rejection_due.take()?;
        let flags = if ack.is_some() { Flags::RST | Flags::ACK } else { Flags::RST };
        let segment = Segment { seq, ack: ack.unwrap_or_default(), flags, ..Segment::default() };
        Some(Transmit { segment, number: None, is_again: false, frame: None })
    }

    pub(crate) fn emit_bare(&mut self, now: Instant, flags: Flags) -> Transmit {
        let segment = self.emit(now, flags, self.sender.board.end_position(), 0);
        Transmit { segment, number: None, is_again: false, frame: None }
    }

    fn emit_number(&mut self, now: Instant, number: u64) -> Option<Transmit> {
        let (start, sent) = self.sender.board.segment(number)?;
        let len = sent.end - start - u64::from(sent.flags.contains(Flags::FIN));
        let (flags, is_again) = (sent.flags, sent.transmissions > 1);
        let mut segment = self.emit(now, flags, start, len as u16);
        if !is_again {
            self.make_markable(&mut segment, start + len);
        }
        let frame = self.sender.frame(number);
        Some(Transmit { segment, number: Some(number), is_again, frame })
    }

    pub(crate) fn emit(&mut self, now: Instant, flags: Flags, position: u64, len: u16) -> Segment {
        self.receiver.on_acknowledged();
        self.peer.last_ack_sent = self.receiver.nxt();
        let origin = self.peer.origin;
        let skip_notice = if self.peer.skip_notice { self.receiver.notice(origin) } else { None };
        let has_notice = skip_notice.is_some();
        let options = Options {
            timestamps: self.peer.timestamps.then(|| self.timestamps(now)),
            sack: if self.peer.sack { self.receiver.sack(origin, has_notice) } else { SackBlocks::default() },
            skip_notice,
            ..Options::default()
        };
        Segment {
            seq: self.local_origin.at(position),
            ack: origin.at(self.receiver.nxt()),
            window: (self.receiver.window() >> self.own_window_shift()).min(u64::from(u16::MAX)) as u16,
            len,
            flags: flags | self.echo,
            ecn: Ecn::NotCapable,
            options,
        }
    }

    pub(crate) fn timestamps(&self, now: Instant) -> Timestamps {
        Timestamps { value: crate::handshake::timestamp(now), echo: self.peer.timestamp }
    }

    /// Gives the next thing the application should know.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.events == 0 {
            return None;
        }
        let event = self.events.trailing_zeros();
        self.events &= self.events - 1;
        EVENTS.get(event as usize).copied()
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.events |= 1 << event as u8;
    }

    /// Queues `bytes` for sending; the queue has no limit. Bytes after [`Self::shutdown`] are ignored, and so they are where
    /// one write is one segment: there is [`Self::write_frame`] for that.
    pub fn write(&mut self, bytes: u64) {
        if self.is_open_for_writing() && !self.config.real_time.framing {
            self.sender.note_gap();
            self.sender.unsent = self.sender.unsent.saturating_add(bytes);
            self.sender.recovery.on_write();
        }
    }

    fn is_open_for_writing(&self) -> bool {
        match self.state {
            State::Transfer(sides) => sides.send == SendSide::Open,
            State::Listen | State::SynSent | State::SynReceived => !self.sender.fin_queued,
            State::TimeWait | State::Closed => false,
        }
    }

    /// Queues one frame for sending and gives its number: 0, 1, 2 … in order of writing. It becomes one segment, never merged
    /// with others and never split, whenever it is sent.
    ///
    /// Frames written one after the other with the same `unit` belong together: with one of them all are given up, those to
    /// be written yet included.
    ///
    /// Before the handshake the limit is our own MSS. If the peer's proves smaller, frames that no longer fit are given up.
    ///
    /// # Errors
    ///
    /// If the frame is empty, longer than the MSS that both sides take, or the send buffer full with [`Backlog::Block`]; if
    /// this side has closed; if the connection is not one for frames.
    ///
    /// [`Backlog::Block`]: crate::Backlog::Block
    pub fn write_frame(&mut self, cx: &mut Cx<'_>, bytes: u64, unit: u64) -> Result<u64, WriteError> {
        match (self.config.real_time.framing, self.is_open_for_writing()) {
            (false, _) => Err(WriteError::Unframed),
            (true, false) => Err(WriteError::Closed),
            (true, true) => self.sender.write_frame(cx.now, bytes, unit),
        }
    }

    /// Gives the number of the next frame that was given up: before it was sent, or while it may still arrive. Frames that the
    /// peer is known to have are not among them. Who never asks finds the newest ones only; all are counted.
    pub fn poll_discarded(&mut self) -> Option<u64> {
        self.sender.poll_discarded()
    }

    /// Gives how many segments the peer's reader stepped over so far, as the peer tells.
    pub fn losses_reported(&self) -> u64 {
        self.sender.notices.losses()
    }

    /// Gives the frames written, and neither acknowledged nor given up.
    pub fn frames_held(&self) -> u64 {
        self.sender.frames_held()
    }

    /// Reads up to `bytes` of what arrived in order, and gives how many there were; with framing, of whole frames.
    ///
    /// Where the reader stepped over something, the bytes before and behind it follow one another:
    /// [`poll_skipped`](Self::poll_skipped) tells where.
    #[inline]
    pub fn read(&mut self, bytes: u64) -> u64 {
        self.receiver.read(bytes)
    }

    /// Ends the sending direction behind what was written.
    pub fn shutdown(&mut self) {
        match &mut self.state {
            State::Transfer(sides) if sides.send == SendSide::Open => {
                sides.send = SendSide::FinQueued;
                if sides.first == FirstToClose::Nobody {
                    sides.first = FirstToClose::Us;
                }
                self.sender.fin_queued = true;
            }
            State::SynSent | State::SynReceived => self.sender.fin_queued = true,
            State::Listen => self.state = State::Closed,
            State::Transfer(_) | State::TimeWait | State::Closed => {}
        }
    }

    /// Gives up: the peer is reset.
    pub fn abort(&mut self) {
        self.reset_due = matches!(self.state, State::Transfer(_) | State::SynReceived);
        self.state = State::Closed;
        self.opening_due = false;
        self.sender.timer.stop();
        self.receiver.skip_nothing();
    }

    /// Gives the state's name in RFC 9293.
    pub fn state(&self) -> RfcState {
        self.state.rfc()
    }

    /// Says whether anything written waits to be sent or acknowledged.
    pub fn has_data(&self) -> bool {
        !self.sender.has_nothing_to_send()
    }

    /// Gives the bytes received in order so far, without those stepped over.
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Gives the sender's counters.
    pub fn statistics(&self) -> &Statistics {
        &self.sender.statistics
    }

    /// Gives the congestion window in segments.
    pub fn cwnd(&self) -> f64 {
        self.sender.cwnd()
    }

    /// Gives the slow-start threshold in segments.
    pub fn ssthresh(&self) -> f64 {
        self.sender.control.ssthresh()
    }

    /// Gives the segments sent and not acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.sender.board.outstanding()
    }

    /// Gives the estimate of the segments in the network; without SACK, those not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.sender.recovery.pipe(&self.sender.board)
    }

    /// Gives the number of the highest segment acknowledged in order, the opening one being 0; `None` before that.
    pub fn highest_acknowledged(&self) -> Option<u64> {
        self.sender.board.una().checked_sub(1)
    }

    /// Gives the state of the retransmission timer.
    pub fn timer(&self) -> TimerValue {
        self.sender.timer.value()
    }

    /// Gives the early-retransmission threshold, if that rule is on and has a sample.
    pub fn early_threshold(&self) -> Option<Duration> {
        self.sender.trigger.threshold()
    }

    /// Gives the rate at which payload leaves, if it is paced and the rate is known.
    pub fn pacing_rate(&self) -> Option<Rate> {
        let bits = self.sender.pacing_rate()? * self.sender.mss as f64 * 8.0;
        Rate::from_bits_per_second(bits as u64)
    }

    /// Gives the congestion control's inner values.
    pub fn gauges(&self) -> Gauges {
        self.sender.control.gauges()
    }

    /// Says whether a loss is being repaired.
    pub fn is_recovering(&self) -> bool {
        self.sender.recovery.is_recovering()
    }
}
