//! The connection: what happens to it, what it wants to send, when it wants to be woken.

mod accecn;
mod accessors;
mod acking;
mod closing;
mod drop_counters;
mod ecn;
mod emit;
mod events;
mod fast_open;
mod handshake;
mod icmp;
mod lifetime;
mod real_time_reader;
mod snack;
mod state;
mod stray_reset;
mod validate;
mod writing;

pub use self::closing::Ending;
pub use self::drop_counters::DropCounters;
pub use self::events::Event;
pub use self::fast_open::{FastOpenOffer, FastOpenOutcome};
pub use self::state::RfcState;
pub use self::stray_reset::reject;

use self::accecn::EcnEcho;
use self::drop_counters::Guard;
use self::emit::Due;
use self::events::Events;
use self::fast_open::Fast;
use self::handshake::Peer;
use self::lifetime::Lifetime;
use self::state::State;
use crate::config::Config;
use crate::receive::Receiver;
use crate::send::sender::Sender;
use crate::trace::Cx;
use alloc::boxed::Box;
use core::ops::Range;
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::{Segment, SeqNum, Trouble};

/// A TCP connection, from either side.
#[derive(Debug)]
pub struct Connection {
    state: State,
    sender: Sender,
    receiver: Receiver,
    config: Config,
    peer: Peer,
    guard: Guard,
    local_origin: SeqNum,
    timestamp_offset: u32,
    /// What is to be sent before anything else, or in its place.
    due: Due,
    /// What every segment tells of the marks that came.
    echo: EcnEcho,
    events: Events,
    /// Present with TCP Fast Open.
    fast: Option<Box<Fast>>,
    lifetime: Lifetime,
    /// How it ended.
    ending: Option<Ending>,
    /// This side opened the connection.
    is_active_opener: bool,
    /// A write was cut short since there was last room.
    wants_room: bool,
    trouble: Option<Trouble>,
}

/// A segment to send, and which part of the stream it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// Number of the segment in the stream, the opening one being 0; `None` for a pure ACK or reset.
    pub number: Option<u64>,
    /// Whether it was sent before.
    pub is_retransmission: bool,
    /// Number of the frame that it carries, the first one written being 0, where one write is one segment.
    pub frame: Option<u64>,
    /// Its payload, by offsets in what was sent: 0 is the first byte behind the SYN. A driver takes the bytes from there; with
    /// frames, which may be given up unsent, it takes those of [`Self::frame`].
    pub data: Range<u64>,
}

/// Which part of the stream a segment carries that leaves: the fields of [`Transmit`] without the segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentMeta {
    /// See [`Transmit::number`].
    pub number: Option<u64>,
    /// See [`Transmit::is_retransmission`].
    pub is_retransmission: bool,
    /// See [`Transmit::frame`].
    pub frame: Option<u64>,
    /// See [`Transmit::data`].
    pub data: Range<u64>,
}

impl SegmentMeta {
    const NOTHING: Self = Self { number: None, is_retransmission: false, frame: None, data: 0..0 };
}

/// The part of a segment's payload that was taken: a driver keeps these bytes, and none of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedRange {
    /// Where they belong in what the peer sent: 0 is its first byte. Empty if nothing was taken.
    pub stream: Range<u64>,
    /// How many bytes of the segment's payload come before them.
    pub skip: u16,
}

/// What makes a connection one that no stranger can guess; drivers choose it anew for each (RFC 6528, RFC 7323 §5.4).
///
/// A keyed hash of both addresses and ports under a secret of the host does it, if a clock is added to the first of the
/// numbers: then they differ where anybody could compare them, and still go forward from one connection between the same ends
/// to the next, which is how a peer in TIME-WAIT tells a new SYN from an old one (RFC 6191).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The first sequence number (ISS): the hash and a clock that ticks every 4 µs (RFC 6528 §3).
    pub origin: SeqNum,
    /// What the timestamps that leave are ahead of the clock, in its ticks: the hash alone, for the clock goes on by itself.
    pub timestamp_offset: u32,
}

impl Identity {
    /// Draws the first sequence number; timestamps tell the clock as it is. For simulations, whose peers do not guess.
    pub fn drawn(seeds: SeedTree) -> Self {
        Self { origin: SeqNum(seeds.child("sequence").random().below(1 << 32) as u32), timestamp_offset: 0 }
    }
}

impl Connection {
    /// Opens a connection: the first [`Self::poll_transmit`] gives the SYN.
    ///
    /// `seeds` is where the policies' draws come from, and the first sequence number.
    pub fn connect(config: &Config, seeds: SeedTree) -> Self {
        Self::connect_as(config, Identity::drawn(seeds), seeds)
    }

    /// Opens a connection with an identity that the driver chose.
    pub fn connect_as(config: &Config, identity: Identity, seeds: SeedTree) -> Self {
        Self { due: Due::opening(), ..Self::new(config, identity, seeds, State::SynSent) }
    }

    /// Waits for a peer to open a connection.
    pub fn listen(config: &Config, seeds: SeedTree) -> Self {
        Self::listen_as(config, Identity::drawn(seeds), seeds)
    }

    /// Waits for a peer to open a connection, with an identity that the driver chose.
    pub fn listen_as(config: &Config, identity: Identity, seeds: SeedTree) -> Self {
        Self::new(config, identity, seeds, State::Listen)
    }

    fn new(config: &Config, identity: Identity, seeds: SeedTree, state: State) -> Self {
        Self {
            state,
            sender: Sender::new(config, seeds),
            receiver: Receiver::new(config),
            config: *config,
            peer: Peer::default(),
            guard: Guard::default(),
            local_origin: identity.origin,
            timestamp_offset: identity.timestamp_offset,
            due: Due::default(),
            echo: EcnEcho::default(),
            events: Events::default(),
            fast: None,
            lifetime: Lifetime::default(),
            ending: None,
            is_active_opener: state == State::SynSent,
            wants_room: false,
            trouble: None,
        }
    }

    /// Takes a segment from the network, and tells what of its payload is to be kept.
    #[inline]
    pub fn on_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        if matches!(self.state, State::Transfer(_)) {
            self.on_transfer_segment(cx, segment)
        } else {
            self.on_segment_outside_transfer(cx, segment)
        }
    }

    #[cold]
    fn on_segment_outside_transfer(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        match self.state {
            State::Transfer(_) => return self.on_transfer_segment(cx, segment),
            State::SynReceived => return self.on_syn_received_segment(cx, segment),
            State::Listen => self.on_listen_segment(cx.now, segment),
            State::SynSent => return self.on_syn_sent_segment(cx, segment),
            State::TimeWait => self.on_time_wait_segment(cx.now, segment),
            State::Closed => self.reject(segment),
        }
        AcceptedRange::default()
    }

    /// Acts on whatever deadline has come.
    pub fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        if let Some(readable) = self.receiver.on_timeout(cx.now) {
            self.on_stepped(cx.now, readable);
        }
        if self.lifetime.wakes <= cx.now {
            self.on_limit(cx.now);
        }
        self.sender.on_send_deadlines(cx.now);
        // One timer at a time (RFC 8985 §8).
        let recovery = self.recovery_deadline();
        if recovery <= cx.now {
            self.sender.on_recovery_deadline(cx);
        } else if recovery == Instant::NEVER && self.sender.loss().timer().deadline() <= cx.now {
            self.on_rto(cx);
        }
    }

    /// The retransmission timer ran out.
    fn on_rto(&mut self, cx: &mut Cx<'_>) {
        let is_opening = matches!(self.state, State::SynSent | State::SynReceived);
        if is_opening && self.is_fast_server() {
            let expiry = self.sender.on_early_timeout(cx, self.lifetime.heard);
            self.on_expiry(cx.now, expiry);
        } else {
            let expiry = self.sender.on_timeout(cx, self.lifetime.heard);
            self.on_expiry(cx.now, expiry);
        }
    }

    /// Returns the time at which to call [`Self::on_timeout`].
    #[must_use]
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        // Asked after every packet: the least of plain numbers is several times faster than one of options.
        let receiver = self.receiver.deadline().unwrap_or(Instant::NEVER);
        let sender = if self.sender.has_more_deadlines() {
            self.sender.first_deadline(matches!(self.state, State::Transfer(_)))
        } else {
            self.sender.loss().timer().deadline()
        };
        let first = self.lifetime.wakes.min(receiver).min(sender);
        (first < Instant::NEVER).then_some(first)
    }

    #[inline]
    fn may_send_data(&self) -> bool {
        matches!(self.state, State::Transfer(_)) || (self.state == State::SynReceived && self.may_send_early())
    }

    fn recovery_deadline(&self) -> Instant {
        if matches!(self.state, State::Transfer(_)) { self.sender.loss().deadline() } else { Instant::NEVER }
    }

    /// Returns the next segment to send, if there is one.
    #[must_use]
    pub fn poll_transmit(&mut self, cx: &mut Cx<'_>) -> Option<Transmit> {
        let mut segment = Segment::default();
        let SegmentMeta { number, is_retransmission, frame, data } = self.poll_transmit_into(cx, &mut segment)?;
        Some(Transmit { segment, number, is_retransmission, frame, data })
    }

    /// Writes the next segment to send into a place of the caller's, if there is one; else what is in that place has no
    /// meaning. This is [`Self::poll_transmit`] for those who send many: a segment is large to copy.
    #[must_use]
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is asked twice for every packet, and what it gives is large to hand over"
    )]
    pub fn poll_transmit_into(&mut self, cx: &mut Cx<'_>, segment: &mut Segment) -> Option<SegmentMeta> {
        if self.due.is_first() {
            return Some(self.emit_first(cx.now, segment));
        }
        if !self.may_send_data() {
            self.sender.stop_busy_time(cx.now);
        } else if self.sender.has_nothing_to_send() {
            self.sender.note_idle(cx.now);
        } else {
            return self.emit_next(cx.now, segment);
        }
        self.emit_beside(cx.now, segment)
    }
}
