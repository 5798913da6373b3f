//! `FlowQueue-CoDel` (Hoeiland-Joergensen et al., RFC 8290): connections take turns by bytes, each in a queue of its own
//! under `CoDel`; those with little to send come first.

use super::codel::{Codel, CodelSettings};
use super::fifo::Fifo;
use super::{Dropped, Queue, QueueLimit, Waiting};
use earlybird_units::{Instant, Random};
use std::collections::VecDeque;

/// The parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCodelSettings {
    /// Number of queues among which connections are spread by a hash (RFC 8290 §5.2.3: 1024).
    pub flows: u32,
    /// Bytes of a turn (§5.2.4: 1514).
    pub quantum: u32,
    /// What holds for each queue (§5.2.1, §5.2.2).
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
pub(super) struct FqCodel {
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
    pub(super) fn new(settings: FqCodelSettings, limit: QueueLimit, mut random: Random) -> Self {
        Self {
            limit,
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
        let Some(fattest) = self.flows.iter_mut().max_by_key(|flow| flow.fifo.bytes()) else { return };
        let count = fattest.fifo.len().div_ceil(2).min(BATCH);
        for packet in (0..count).map_while(|_| fattest.fifo.pop()) {
            self.packets -= 1;
            self.bytes -= u64::from(packet.bytes);
            dropped.push_back(packet);
        }
    }

    /// Gives the queue whose turn it is, and whether it is a new one.
    fn next_turn(&mut self) -> Option<(usize, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = &mut self.flows[index];
            if flow.credits > 0 {
                return Some((index, is_new));
            }
            flow.credits += i64::from(self.settings.quantum);
            list.pop_front();
            self.old.push_back(index);
        }
    }

    /// Takes an empty queue from its list; a new one is made an old one, lest it come first again at once (§4.2).
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
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl Queue for FqCodel {
    fn enqueue(&mut self, _now: Instant, packet: Waiting, dropped: &mut Dropped) {
        let index = self.queue_of(packet.connection);
        let has_room = self.limit.has_room(self.packets, self.bytes, packet.bytes);
        let flow = &mut self.flows[index];
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

    fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<Waiting> {
        loop {
            let (index, is_new) = self.next_turn()?;
            let flow = &mut self.flows[index];
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
