//! Queues that decide when a packet leaves, too: which waits, which goes next, which is dropped or marked.
//!
//! A drop-tail queue in front of a link of constant rate needs none of this, see [`crate::link`].

mod codel;
mod dual_pi2;
mod fifo;
mod fq_codel;
mod pie;
mod plain;
mod red;

pub use codel::CodelSettings;
pub use dual_pi2::DualPi2Settings;
pub use fq_codel::FqCodelSettings;
pub use pie::PieSettings;
pub use red::RedSettings;

use crate::packet::Packet;
use crate::packet_pool::SlotId;
use earlybird_units::{Instant, Random, Rate};
use earlybird_wire::Ecn;
use std::collections::VecDeque;
use std::fmt::Debug;

/// The most that may wait in front of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Everything may.
    Unlimited,
    /// As in ns-2, a limit of L packets lets L − 1 wait while one more is being sent.
    Packets(u32),
    /// Bytes, with the same rule.
    Bytes(u64),
}

impl QueueLimit {
    /// Returns what packets must be smaller than for a link that is idle to take them.
    pub(crate) fn max_bytes_when_idle(self) -> u64 {
        match self {
            Self::Packets(limit) if limit < 2 => 0,
            Self::Unlimited | Self::Packets(_) => u64::MAX,
            Self::Bytes(limit) => limit,
        }
    }

    /// Returns a number of packets, `most` at most, beside fewer of which there is room whatever their size.
    pub(crate) fn packets_with_room(self, most: usize) -> usize {
        match self {
            Self::Unlimited => most,
            Self::Packets(limit) => most.min((limit as usize).saturating_sub(1)),
            Self::Bytes(_) => 0,
        }
    }

    /// Returns whether one more packet may wait beside so many.
    #[inline]
    pub(crate) fn has_room(self, waiting: usize, waiting_bytes: u64, bytes: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(limit) => waiting + 1 < limit as usize,
            Self::Bytes(limit) => waiting_bytes + u64::from(bytes) < limit,
        }
    }
}

/// Which packet goes when there are too many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// The one that comes.
    #[default]
    DropTail,
    /// The one that has waited longest.
    DropHead,
    /// Random Early Detection (Floyd and Jacobson 1993).
    Red(RedSettings),
    /// Controlled Delay (RFC 8289).
    Codel(CodelSettings),
    /// Proportional Integral controller Enhanced (RFC 8033).
    Pie(PieSettings),
    /// A fair share for every connection, with `CoDel` for each (RFC 8290).
    FqCodel(FqCodelSettings),
    /// Two queues with coupled marking (RFC 9332).
    DualPi2(DualPi2Settings),
}

impl Discipline {
    /// Makes an empty queue in front of a link of this rate.
    pub(crate) fn queue(self, limit: QueueLimit, rate: Rate, random: Random) -> Box<dyn Queue> {
        match self {
            Self::DropTail => Box::new(plain::Plain::drop_tail(limit)),
            Self::DropHead => Box::new(plain::Plain::drop_head(limit)),
            Self::Red(settings) => Box::new(red::Red::new(&settings, limit, rate, random)),
            Self::Codel(settings) => Box::new(codel::CodelQueue::new(settings, limit)),
            Self::Pie(settings) => Box::new(pie::Pie::new(settings, limit, random)),
            Self::FqCodel(settings) => Box::new(fq_codel::FqCodel::new(settings, limit, random)),
            Self::DualPi2(settings) => Box::new(dual_pi2::DualPi2::new(settings, limit)),
        }
    }
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) id: SlotId,
    pub(crate) bytes: u32,
    /// When it came.
    pub(crate) since: Instant,
    /// What its sender understands of marks.
    pub(crate) ecn: Ecn,
    /// The direction of the connection it belongs to.
    pub(crate) connection: u64,
    /// Whether this queue has marked it.
    pub(crate) is_marked: bool,
}

impl Waiting {
    pub(crate) fn new(now: Instant, id: SlotId, packet: &Packet) -> Self {
        Self {
            id,
            bytes: packet.bytes,
            since: now,
            ecn: packet.ecn(),
            connection: u64::from(packet.to.0) << 32 | u64::from(packet.generation),
            is_marked: false,
        }
    }

    /// Marks the packet if its sender understands that; says whether it does (RFC 3168 §5).
    fn mark(&mut self) -> bool {
        self.is_marked |= self.ecn.is_capable();
        self.ecn.is_capable()
    }
}

/// Packets that a queue has given up, in order.
pub(crate) type Dropped = VecDeque<Waiting>;

/// The packets that wait in front of one link. Time never goes backwards from call to call.
pub(crate) trait Queue: Debug + Send {
    /// Takes a packet in; it, or others in its place, may be dropped at once.
    fn enqueue(&mut self, now: Instant, packet: Waiting, dropped: &mut Dropped);
    /// Returns the packet to send now; `None` says that the link becomes idle.
    fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<Waiting>;
    /// Returns how many packets wait.
    fn len(&self) -> usize;
}

#[cfg(test)]
mod testing {
    //! Packets and queues for unit tests.

    use super::{Dropped, Queue, Waiting};
    use crate::packet_pool::SlotId;
    use earlybird_units::{Duration, Instant};
    use earlybird_wire::Ecn;

    pub(super) fn millis(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    pub(super) fn packet(since: Instant, number: u32) -> Waiting {
        Waiting {
            id: SlotId::from_number(number),
            bytes: 1000,
            since,
            ecn: Ecn::NotCapable,
            connection: 0,
            is_marked: false,
        }
    }

    /// A queue with what it has dropped.
    pub(super) struct Bench<Q> {
        pub(super) queue: Q,
        pub(super) dropped: Dropped,
    }

    impl<Q: Queue> Bench<Q> {
        pub(super) fn new(queue: Q) -> Self {
            Self { queue, dropped: Dropped::new() }
        }

        pub(super) fn put(&mut self, packet: Waiting) {
            self.queue.enqueue(packet.since, packet, &mut self.dropped);
        }

        pub(super) fn take(&mut self, now: Instant) -> Option<Waiting> {
            self.queue.dequeue(now, &mut self.dropped)
        }

        /// Returns the numbers of the packets dropped so far.
        pub(super) fn dropped(&self) -> Vec<u32> {
            self.dropped.iter().map(|packet| packet.id.number()).collect()
        }
    }
}

#[cfg(test)]
mod limits {
    use super::QueueLimit;

    #[test]
    fn beside_fewer_packets_than_have_room_there_is_room() {
        for (limit, most, expected) in [
            (QueueLimit::Unlimited, 7, 7),
            (QueueLimit::Packets(5), 2, 2),
            (QueueLimit::Packets(5), 4, 4),
            (QueueLimit::Packets(5), 9, 4),
            (QueueLimit::Packets(0), 9, 0),
            (QueueLimit::Bytes(10_000), 9, 0),
        ] {
            let packets = limit.packets_with_room(most);
            assert_eq!(packets, expected, "{limit:?}");
            assert!((0..packets).all(|waiting| limit.has_room(waiting, 0, 1000)), "{limit:?}");
        }
    }
}
