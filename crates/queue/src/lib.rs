//! Queue disciplines: which packet waits in front of a link, which leaves next, which is dropped or marked.
//!
//! Each discipline is one file with its settings; register it in `disciplines!`. Its table in scenarios is in
//! `crates/scenario/src/model/queue`, registered there too. A drop-tail queue in front of a link of constant rate needs no [`Queue`]: the simulator's
//! `Link` computes the departure of a packet on its arrival, without an event. The drop-tail queue here serves links of changing
//! rate, on which departures are not known beforehand.
#![forbid(unsafe_code)]

mod fifo;
mod plain;

use earlybird_units::{Instant, Random, Rate};
use earlybird_wire::Ecn;
use std::collections::VecDeque;
use std::fmt::Debug;

/// The most that may wait in front of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Everything may.
    Unlimited,
    /// As in ns-2, a limit of L packets lets L − 1 wait while one more is being sent. With a limit of 1, which makes ns-2
    /// drop everything, a link takes a packet only while it is idle.
    Packets(u32),
    /// Bytes, with the same rule.
    Bytes(u64),
}

impl QueueLimit {
    /// Returns the bytes below which an idle link accepts a packet.
    pub fn max_bytes_when_idle(self) -> u64 {
        match self {
            Self::Packets(0) => 0,
            Self::Unlimited | Self::Packets(_) => u64::MAX,
            Self::Bytes(limit) => limit,
        }
    }

    /// Returns the limit for a queue in front of a link that takes no packet while it is busy if the limit is 1: such a
    /// packet passes through the queue.
    #[must_use]
    pub const fn passing_one(self) -> Self {
        if let Self::Packets(1) = self { Self::Packets(2) } else { self }
    }

    /// Returns the number of queued packets, at most `most`, up to which a packet of any size is accepted.
    pub fn packets_with_room(self, most: usize) -> usize {
        match self {
            Self::Unlimited => most,
            Self::Packets(limit) => most.min((limit as usize).saturating_sub(1)),
            Self::Bytes(_) => 0,
        }
    }

    /// Returns whether one more packet may wait, with `waiting` packets in the queue.
    #[inline]
    pub fn has_room(self, waiting: usize, waiting_bytes: u64, bytes: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(limit) => waiting + 1 < limit as usize,
            Self::Bytes(limit) => waiting_bytes + u64::from(bytes) < limit,
        }
    }
}

/// Settings of a discipline, of which a queue is made.
trait QueueSettings {
    /// Makes an empty queue in front of a link of this rate.
    fn queue(self, limit: QueueLimit, rate: Rate, random: Random) -> Box<dyn Queue>;
}

/// Writes [`Discipline`], one line for each discipline with settings: its file, its name and their type.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $file:ident: $name:ident($settings:ident),)*) => {
        $(mod $file; pub use $file::$settings;)*

        /// Which packet is dropped or marked, and which leaves next.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub enum Discipline {
            /// A packet that finds the queue full is dropped.
            #[default]
            DropTail,
            /// A packet that finds the queue full takes the place of the oldest one.
            DropHead,
            $($(#[$doc])* $name($settings),)*
        }

        impl Discipline {
            /// Makes an empty queue in front of a link of this rate.
            pub fn queue(self, limit: QueueLimit, rate: Rate, random: Random) -> Box<dyn Queue> {
                match self {
                    Self::DropTail => Box::new(plain::Plain::drop_tail(limit)),
                    Self::DropHead => Box::new(plain::Plain::drop_head(limit)),
                    $(Self::$name(settings) => settings.queue(limit, rate, random),)*
                }
            }
        }
    };
}

disciplines! {
    /// Random Early Detection (Floyd and Jacobson 1993).
    red: Red(RedSettings),
    /// Controlled Delay (RFC 8289).
    codel: Codel(CodelSettings),
    /// Proportional Integral controller Enhanced (RFC 8033).
    pie: Pie(PieSettings),
    /// A fair share for every connection, with `CoDel` for each (RFC 8290).
    fq_codel: FqCodel(FqCodelSettings),
    /// A fair share for every connection, with COBALT for each (Høiland-Jørgensen, Täht and Morton 2018).
    cake: Cake(CakeSettings),
    /// Two queues with coupled marking (RFC 9332).
    dual_pi2: DualPi2(DualPi2Settings),
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueuedPacket {
    /// The number by which the link finds the packet.
    pub id: u32,
    /// Its size on the link, headers included.
    pub bytes: u32,
    /// The time of its arrival.
    pub since: Instant,
    /// The ECN field of its header.
    pub ecn: Ecn,
    /// The direction of the connection it belongs to.
    pub connection: u64,
    /// Whether this queue has marked it.
    pub is_marked: bool,
}

impl QueuedPacket {
    /// Marks the packet if its sender supports ECN, and returns whether it does (RFC 3168 §5).
    fn mark(&mut self) -> bool {
        self.is_marked |= self.ecn.is_capable();
        self.ecn.is_capable()
    }
}

/// Packets that a queue has dropped, in order.
pub type Dropped = VecDeque<QueuedPacket>;

/// The packets that wait in front of one link. Time never decreases from call to call.
pub trait Queue: Debug + Send {
    /// Takes a packet in; it, or others in its place, may be dropped at once.
    fn enqueue(&mut self, now: Instant, packet: QueuedPacket, dropped: &mut Dropped);
    /// Returns the packet to send now; `None` says that the link becomes idle.
    fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<QueuedPacket>;
    /// Returns how many packets wait.
    fn len(&self) -> usize;
    /// Returns whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod testing {
    //! Packets and queues for unit tests.

    use super::{Dropped, Queue, QueuedPacket};
    use earlybird_units::{Duration, Instant};
    use earlybird_wire::Ecn;

    pub(crate) fn millis(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    pub(crate) fn packet(since: Instant, number: u32) -> QueuedPacket {
        QueuedPacket { id: number, bytes: 1000, since, ecn: Ecn::NotCapable, connection: 0, is_marked: false }
    }

    /// A queue and its dropped packets.
    pub(crate) struct TestQueue<Q> {
        pub(crate) queue: Q,
        pub(crate) dropped: Dropped,
    }

    impl<Q: Queue> TestQueue<Q> {
        pub(crate) fn new(queue: Q) -> Self {
            Self { queue, dropped: Dropped::new() }
        }

        pub(crate) fn put(&mut self, packet: QueuedPacket) {
            self.queue.enqueue(packet.since, packet, &mut self.dropped);
        }

        pub(crate) fn take(&mut self, now: Instant) -> Option<QueuedPacket> {
            self.queue.dequeue(now, &mut self.dropped)
        }

        /// Returns the numbers of the packets dropped so far.
        pub(crate) fn dropped(&self) -> Vec<u32> {
            self.dropped.iter().map(|packet| packet.id).collect()
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
