//! A connection: reads what arrives, decides what is sent, and reports when it is to be called again.
//!
//! The parts have a state of their own; [`Connection`] composes them:
//!
//! | file | contents |
//! |---|---|
//! | `handshake` | from the SYN to the transfer of data |
//! | `arrival` | segments and ICMP reports that arrive |
//! | `emit` | segments that are sent |
//! | `timers` | deadlines |
//! | `closing` | the end of a connection |
//! | `application` | what an application writes, reads and asks |

mod application;
mod arrival;
mod closing;
mod drop_counters;
mod ecn;
mod emit;
mod events;
mod fast_open;
mod handshake;
mod lifetime;
mod peer;
mod state;
mod stray_reset;
mod timers;

pub use self::closing::Ending;
pub use self::drop_counters::DropCounters;
pub use self::events::Event;
pub use self::fast_open::{FastOpenOffer, FastOpenOutcome};
pub use self::state::RfcState;
pub use self::stray_reset::reject;

use self::drop_counters::ChallengeLimiter;
use self::ecn::EcnReceiver;
use self::emit::PendingControl;
use self::events::Events;
use self::fast_open::FastOpenState;
use self::lifetime::Lifetime;
use self::peer::Peer;
use self::state::TcpState;
use crate::config::Config;
use crate::receive::Receiver;
use crate::send::sender::Sender;
use alloc::boxed::Box;
use core::ops::Range;
use earlybird_units::SeedTree;
use earlybird_wire::{IcmpError, Segment, SeqNum};

/// A TCP connection, from either side.
#[derive(Debug)]
pub struct Connection {
    state: TcpState,
    sender: Sender,
    receiver: Receiver,
    config: Config,
    peer: Peer,
    drop_counters: DropCounters,
    challenge_limiter: ChallengeLimiter,
    /// The sequence number of this side's SYN.
    local_origin: SeqNum,
    /// Added to the clock in the timestamps that are sent.
    timestamp_offset: u32,
    /// Pending control segments: some precede data, others follow.
    pending: PendingControl,
    ecn: EcnReceiver,
    events: Events,
    /// Present with TCP Fast Open.
    fast_open: Option<Box<FastOpenState>>,
    lifetime: Lifetime,
    /// The way in which the connection ended.
    ending: Option<Ending>,
    /// Whether this side opened the connection.
    is_active_opener: bool,
    /// Whether a write was cut short since there was room last.
    awaits_send_space: bool,
    /// The last ICMP report of a segment that did not arrive.
    last_icmp_error: Option<IcmpError>,
}

/// A segment to send, and which part of the stream it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// The number of the segment in the stream, the SYN being 0; `None` for a pure ACK or reset.
    pub number: Option<u64>,
    /// Whether it was sent before.
    pub is_retransmission: bool,
    /// The number of the frame that it carries, the first one written being 0; `None` if one write is not one segment.
    pub frame: Option<u64>,
    /// Its payload, by offsets in what was sent: 0 is the first byte behind the SYN.
    ///
    /// A driver takes the bytes from there. With frames, which may be abandoned unsent, it takes those of [`Self::frame`].
    pub data: Range<u64>,
}

/// Which part of the stream a sent segment carries: the fields of [`Transmit`] without the segment.
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
    /// A segment that carries nothing of the stream.
    const CONTROL: Self = Self { number: None, is_retransmission: false, frame: None, data: 0..0 };
}

/// The part of a segment's payload that was accepted: a driver keeps these bytes, and none of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedRange {
    /// Their offsets in the peer's stream, whose first byte is 0. Empty if nothing was accepted.
    pub stream: Range<u64>,
    /// The bytes of the segment's payload that precede them.
    pub skip: u16,
}

/// The numbers by which an attacker could recognise a connection; drivers choose them anew for each (RFC 6528, RFC 7323 §5.4).
///
/// Both can come from a keyed hash of addresses and ports under a secret of the host, to which a clock is added for the first
/// one. Then they differ where an attacker could compare them, and still increase from one connection between the same ends to
/// the next, by which a peer in TIME-WAIT distinguishes a new SYN from an old one (RFC 6191).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The first sequence number (ISS): the hash and a clock that ticks every 4 µs (RFC 6528 §3).
    pub origin: SeqNum,
    /// The offset of the timestamps that are sent to the clock, in its ticks: the hash alone.
    pub timestamp_offset: u32,
}

impl Identity {
    /// Draws the first sequence number; timestamps are those of the clock. For simulations, which have no attackers.
    pub fn drawn(seeds: SeedTree) -> Self {
        Self { origin: SeqNum(seeds.child("sequence").random().below(1 << 32) as u32), timestamp_offset: 0 }
    }
}
