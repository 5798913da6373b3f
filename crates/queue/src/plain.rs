//! Queues that drop only when they are full.

use crate::fifo::Fifo;
use crate::{Dropped, Queue, QueueLimit, QueuedPacket};
use earlybird_units::Instant;

/// The end from which a full queue drops.
#[derive(Clone, Copy, Debug)]
enum End {
    Head,
    Tail,
}

/// First in, first out.
#[derive(Debug)]
pub(crate) struct Plain {
    fifo: Fifo,
    limit: QueueLimit,
    drop_from: End,
}

impl Plain {
    pub(crate) fn drop_tail(limit: QueueLimit) -> Self {
        Self { fifo: Fifo::default(), limit, drop_from: End::Tail }
    }

    /// Drop from front (Lakshman, Neidhardt and Ott, "The drop from front strategy in TCP and in TCP over ATM", 1996;
    /// ns-2's `drop_front_`): the sender detects the loss a queueing delay earlier.
    pub(crate) fn drop_head(limit: QueueLimit) -> Self {
        Self { fifo: Fifo::default(), limit, drop_from: End::Head }
    }

    fn has_room(&self, bytes: u32) -> bool {
        self.limit.has_room(self.fifo.len(), self.fifo.bytes(), bytes)
    }
}

impl Queue for Plain {
    fn enqueue(&mut self, _now: Instant, packet: QueuedPacket, dropped: &mut Dropped) {
        if matches!(self.drop_from, End::Head) {
            while !self.has_room(packet.bytes)
                && let Some(oldest) = self.fifo.pop()
            {
                dropped.push_back(oldest);
            }
        }
        if self.has_room(packet.bytes) {
            self.fifo.push(packet);
        } else {
            dropped.push_back(packet);
        }
    }

    fn dequeue(&mut self, _now: Instant, _dropped: &mut Dropped) -> Option<QueuedPacket> {
        self.fifo.pop()
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestQueue, millis, packet};
    use earlybird_conformance::{Area, conforms};

    #[test]
    fn a_full_queue_drops_the_oldest_packet_and_takes_the_new_one() {
        let mut bench = TestQueue::new(Plain::drop_head(QueueLimit::Packets(4)));
        for number in 0..6 {
            bench.put(packet(millis(u64::from(number)), number));
        }
        assert_eq!(bench.dropped(), [0, 1, 2]);
        let sent: Vec<u32> = std::iter::from_fn(|| bench.take(millis(9))).map(|packet| packet.id).collect();
        assert_eq!(sent, [3, 4, 5]);
        let compared = "6 arrivals at a full queue of 3: who is dropped, who stays";
        conforms(Area::Queue, "drop-head", "Lakshman, Neidhardt and Ott 1996; ns-2 drop_front_", compared, "6 of 6");
    }

    #[test]
    fn a_packet_larger_than_the_limit_empties_a_head_drop_queue_and_is_dropped() {
        let mut bench = TestQueue::new(Plain::drop_head(QueueLimit::Bytes(900)));
        bench.put(packet(millis(0), 0));
        assert_eq!((bench.dropped(), bench.queue.len()), (vec![0], 0));
    }
}
