//! `FlowQueue-CoDel` (Hoeiland-Joergensen et al., RFC 8290): deficit round robin with priority for sparse flows, with a queue
//! under `CoDel` per connection.

use crate::codel::{Codel, CodelSettings};
use crate::fifo::Fifo;
use crate::{Dropped, Queue, QueueLimit, QueueSettings, QueuedPacket};
use earlybird_units::{Instant, Random, Rate};
use std::collections::VecDeque;

/// The parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCodelSettings {
    /// Number of queues among which connections are spread by a hash (RFC 8290 §5.2.3: 1024).
    pub flows: u32,
    /// Bytes of a turn (§5.2.4: 1514).
    pub quantum: u32,
    /// The settings of `CoDel` for each queue (§5.2.1, §5.2.2).
    pub codel: CodelSettings,
}

/// The most packets dropped at once when there is no room (RFC 8290 §4.1).
const BATCH: usize = 64;

#[derive(Debug, Default)]
struct Flow {
    fifo: Fifo,
    codel: Codel,
    /// Bytes it may still send in this turn.
    credits: i64,
    /// Whether it is in one of the lists.
    has_turn: bool,
}

/// All queues of one link.
#[derive(Debug)]
pub(crate) struct FqCodel {
    settings: FqCodelSettings,
    limit: QueueLimit,
    /// Makes the hash a different one in every run.
    salt: u64,
    flows: Vec<Flow>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: usize,
    bytes: u64,
}

impl FqCodel {
    pub(crate) fn new(settings: FqCodelSettings, limit: QueueLimit, mut random: Random) -> Self {
        Self {
            limit,
            // 2^53: whole numbers up to here are exact in a `f64`, from which `below` draws.
            salt: random.below(1 << 53),
            flows: (0..settings.flows).map(|_| Flow::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            settings,
        }
    }

    fn queue_of(&self, connection: u64) -> usize {
        (mix(connection ^ self.salt) % self.flows.len() as u64) as usize
    }

    /// Drops half of the queue with the most bytes, from its head (RFC 8290 §4.1).
    fn make_room(&mut self, dropped: &mut Dropped) {
        // A scan of all queues, as in Linux: it runs only when the buffer is full, and then makes room for up to 64 packets.
        let Some(fattest) = self.flows.iter_mut().max_by_key(|flow| flow.fifo.bytes()) else { return };
        let count = fattest.fifo.len().div_ceil(2).min(BATCH);
        for packet in (0..count).map_while(|_| fattest.fifo.pop()) {
            self.packets -= 1;
            self.bytes -= u64::from(packet.bytes);
            dropped.push_back(packet);
        }
    }

    /// Returns the queue whose turn it is, and whether it is a new one.
    fn next_turn(&mut self) -> Option<(usize, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = &mut self.flows[index];
            if flow.credits > 0 {
                return Some((index, is_new));
            }
            // New queues that have used up their quantum become old ones (§4.2).
            flow.credits += i64::from(self.settings.quantum);
            list.pop_front();
            self.old.push_back(index);
        }
    }

    /// Removes an empty queue from its list; a new one becomes an old one, so that it does not regain priority at once (§4.2).
    fn retire(&mut self, index: usize, is_new: bool) {
        if is_new {
            self.new.pop_front();
            self.old.push_back(index);
        } else {
            self.old.pop_front();
            self.flows[index].has_turn = false;
        }
    }
}

/// Spreads numbers evenly (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014, `mix64`).
pub(crate) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl QueueSettings for FqCodelSettings {
    fn queue(self, limit: QueueLimit, _rate: Rate, random: Random) -> Box<dyn Queue> {
        Box::new(FqCodel::new(self, limit, random))
    }
}

impl Queue for FqCodel {
    fn enqueue(&mut self, _now: Instant, packet: QueuedPacket, dropped: &mut Dropped) {
        let index = self.queue_of(packet.connection);
        let has_room = self.limit.has_room(self.packets, self.bytes, packet.bytes);
        let flow = &mut self.flows[index];
        // Before the limit is enforced: the drop is from the longest queue, not from the flow of the last packet.
        flow.fifo.push(packet);
        (self.packets, self.bytes) = (self.packets + 1, self.bytes + u64::from(packet.bytes));
        if !flow.has_turn {
            (flow.has_turn, flow.credits) = (true, i64::from(self.settings.quantum));
            self.new.push_back(index);
        }
        if !has_room {
            self.make_room(dropped);
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<QueuedPacket> {
        loop {
            let (index, is_new) = self.next_turn()?;
            let flow = &mut self.flows[index];
            // CoDel may drop several packets in one call: the totals follow from the difference.
            let before = (flow.fifo.len(), flow.fifo.bytes());
            let packet = flow.codel.dequeue(&self.settings.codel, now, &mut flow.fifo, dropped);
            self.packets -= before.0 - flow.fifo.len();
            self.bytes -= before.1 - flow.fifo.bytes();
            match packet {
                Some(packet) => {
                    flow.credits -= i64::from(packet.bytes);
                    return Some(packet);
                }
                None => self.retire(index, is_new),
            }
        }
    }

    fn len(&self) -> usize {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestQueue, millis, packet};
    use super::*;
    use earlybird_conformance::{Area, conforms};
    use earlybird_units::{Duration, SeedTree};

    fn fq(limit: u32) -> TestQueue<FqCodel> {
        let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
        let codel = CodelSettings { target, interval, mtu: 1500, ecn: true };
        let settings = FqCodelSettings { flows: 1024, quantum: 1514, codel };
        TestQueue::new(FqCodel::new(settings, QueueLimit::Packets(limit), SeedTree::new(1).random()))
    }

    fn of(connection: u64, bytes: u32) -> QueuedPacket {
        QueuedPacket { bytes, connection, ..packet(millis(0), connection as u32) }
    }

    #[test]
    fn connections_send_equal_bytes_whatever_the_size_of_their_packets() {
        let mut bench = fq(100_000);
        for (connection, bytes) in [(1, 1500), (2, 500), (3, 40)] {
            for _ in 0..150_000 / bytes {
                bench.put(of(connection, bytes));
            }
        }
        let mut sent = [0_u32; 4];
        for _ in 0..2000 {
            let packet = bench.take(millis(1)).unwrap();
            sent[packet.connection as usize] += packet.bytes;
            let shares = &sent[1..];
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 2 * 1514, "{sent:?}");
        }
        assert!(sent[3] > 50_000);
        let compared = "bytes of 3 connections with packets of 1500, 500 and 40 bytes";
        conforms(Area::Queue, "fq-codel", "RFC 8290 §4.2", compared, "equal within two quanta at every packet");
    }

    #[test]
    fn a_sparse_connection_goes_before_those_that_queue() {
        let mut bench = fq(100_000);
        for _ in 0..50 {
            bench.put(of(1, 1500));
            bench.put(of(2, 1500));
        }
        for _ in 0..10 {
            bench.take(millis(1));
        }
        bench.put(of(3, 100));
        let next: Vec<u64> = (0..3).map(|_| bench.take(millis(1)).unwrap().connection).collect();
        assert_eq!(next.iter().position(|connection| *connection == 3), Some(0), "{next:?}");
        conforms(Area::Queue, "fq-codel", "RFC 8290 §4.2, §4.3", "a new connection's packet is sent next", "1 of 1");
    }

    #[test]
    fn an_emptied_new_connection_becomes_an_old_one_before_it_leaves() {
        let mut bench = fq(100_000);
        for _ in 0..9 {
            bench.put(of(1, 1500));
        }
        // Two packets are more than a quantum.
        bench.take(millis(1));
        bench.take(millis(1));
        bench.put(of(2, 100));
        assert_eq!(bench.take(millis(1)).unwrap().connection, 2);
        // Connection 2 is empty, but keeps its place: a new packet of it does not go first.
        assert_eq!(bench.take(millis(1)).unwrap().connection, 1);
        bench.put(of(2, 100));
        assert!(bench.queue.new.is_empty() && bench.queue.old.len() == 2);
    }

    #[test]
    fn a_full_queue_drops_half_of_the_fattest_connection_from_its_head_but_64_at_most() {
        let mut bench = fq(51);
        for _ in 0..40 {
            bench.put(of(1, 1500));
        }
        for _ in 0..11 {
            bench.put(of(2, 1500));
        }
        assert!(bench.dropped().iter().all(|connection| *connection == 1));
        assert_eq!((bench.dropped().len(), bench.queue.len()), (20, 31));
        let mut bench = fq(1001);
        for _ in 0..1001 {
            bench.put(of(1, 1500));
        }
        assert_eq!(bench.dropped().len(), 64);
        conforms(Area::Queue, "fq-codel", "RFC 8290 §4.1", "drops when the limit is exceeded", "20 of 40; 64 of 1001");
    }
}
