//! CAKE (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", LANMAN 2018), with the rules of Linux's `sch_cake`: deficit round
//! robin with priority for sparse flows (DRR++), an eight-way set-associative hash, and COBALT for each flow.
//!
//! The link's rate takes the place of CAKE's shaper (`bandwidth`). Not modelled: tins (`besteffort`), fairness between hosts
//! (`flows`), compensation of link-layer overhead, the filter of ACKs, and `ingress`.

mod cobalt;
mod flows;
#[cfg(test)]
mod tests;

use crate::{Dropped, Queue, QueueLimit, QueueSettings, QueuedPacket};
use cobalt::{MTU, Parameters};
use earlybird_units::{Duration, Instant, Random, Rate};
use flows::{Flow, Flows, Membership};
use std::collections::VecDeque;

/// The parameters of CAKE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CakeSettings {
    /// The longest usual round trip (`tc-cake`(8): 100 ms).
    pub rtt: Duration,
    /// The most bytes in all queues; if absent, it follows from the rate.
    pub memory: Option<u64>,
}

/// The quantum in bytes: what the link sends in 1/4096 s, within these bounds (`cake_set_rate`).
const QUANTUM_PER_SECOND: u64 = 4096;
const SMALLEST_QUANTUM: u64 = 300;

/// The memory is what the link sends in so many `rtt`, from 4 MiB to 10240 of the largest packets (`cake_reconfigure`).
const MEMORY_IN_RTT: f64 = 4.0;
const LEAST_MEMORY: u64 = 4 << 20;
const MOST_PACKETS: u64 = 10_240;

impl CakeSettings {
    fn memory(&self, rate: Rate) -> u64 {
        let bytes = MEMORY_IN_RTT * self.rtt.as_secs_f64() * rate.bits_per_second() as f64 / 8.0;
        self.memory.unwrap_or_else(|| (bytes as u64).clamp(LEAST_MEMORY, MOST_PACKETS * MTU))
    }
}

/// Returns the quantum for the rate of a link.
fn quantum(rate: Rate) -> i64 {
    (rate.bits_per_second() / 8 / QUANTUM_PER_SECOND).clamp(SMALLEST_QUANTUM, MTU).cast_signed()
}

/// All queues of one link.
#[derive(Debug)]
pub(crate) struct Cake {
    parameters: Parameters,
    quantum: i64,
    memory: u64,
    random: Random,
    flows: Flows,
    /// The places of flows in [`NEW`], [`OLD`] and [`DECAYING`].
    lists: [VecDeque<usize>; 3],
    packets: usize,
    bytes: u64,
}

/// Flows whose first turn it is; they go before the others.
const NEW: usize = 0;
/// Flows that have used up their quantum.
const OLD: usize = 1;
/// Empty flows whose AQM is not at rest yet.
const DECAYING: usize = 2;

impl Cake {
    pub(crate) fn new(settings: CakeSettings, rate: Rate, mut random: Random) -> Self {
        Self {
            parameters: Parameters::new(settings.rtt, rate),
            quantum: quantum(rate),
            memory: settings.memory(rate),
            // 2^53: whole numbers up to here are exact in a `f64`, from which `below` draws.
            flows: Flows::new(random.below(1 << 53)),
            random,
            lists: Default::default(),
            packets: 0,
            bytes: 0,
        }
    }

    fn count_out(&mut self, packet: &QueuedPacket) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
    }

    /// Makes a flow with its first packet a new one.
    fn activate(&mut self, place: usize) {
        let flow = &mut self.flows.all[place];
        if flow.membership == Membership::Decaying {
            self.lists[DECAYING].retain(|other| *other != place);
        }
        if flow.membership != Membership::Active {
            (flow.membership, flow.deficit) = (Membership::Active, self.quantum);
            self.lists[NEW].push_back(place);
        }
    }

    /// Drops the first packet of the longest queue (`cake_drop`).
    fn make_room(&mut self, now: Instant, dropped: &mut Dropped) {
        let Some(longest) = self.flows.longest() else { return };
        let Some(packet) = longest.fifo.pop() else { return };
        longest.cobalt.overflowed(&self.parameters, now);
        self.count_out(&packet);
        dropped.push_back(packet);
    }

    /// Returns the list whose turn it is. At most one decaying flow goes before the others in a call of `dequeue`.
    fn next_list(&self, takes_decaying: bool) -> Option<usize> {
        let first = if takes_decaying { DECAYING } else { NEW };
        [first, NEW, OLD, DECAYING].into_iter().find(|list| !self.lists[*list].is_empty())
    }

    /// Removes the first flow of a list, which is empty: it decays, or is in no list once its AQM is at rest.
    fn retire(&mut self, list: usize, now: Instant) {
        let Some(place) = self.lists[list].pop_front() else { return };
        let flow = &mut self.flows.all[place];
        if flow.cobalt.emptied(&self.parameters, now) {
            flow.membership = Membership::Free;
        } else {
            flow.membership = Membership::Decaying;
            self.lists[DECAYING].push_back(place);
        }
    }

    /// Takes the next packet of a flow that its AQM does not drop; the last packet is never dropped.
    fn take(&mut self, place: usize, now: Instant, dropped: &mut Dropped) -> Option<QueuedPacket> {
        loop {
            let Flow { fifo, cobalt, .. } = &mut self.flows.all[place];
            let mut packet = fifo.pop()?;
            let is_dropped = cobalt.drops(&self.parameters, now, &mut packet, &mut self.random) && fifo.len() > 0;
            self.count_out(&packet);
            if !is_dropped {
                return Some(packet);
            }
            dropped.push_back(packet);
        }
    }
}

impl QueueSettings for CakeSettings {
    fn queue(self, _limit: QueueLimit, rate: Rate, random: Random) -> Box<dyn Queue> {
        Box::new(Cake::new(self, rate, random))
    }
}

impl Queue for Cake {
    fn enqueue(&mut self, now: Instant, packet: QueuedPacket, dropped: &mut Dropped) {
        let place = self.flows.assign(packet.connection);
        self.flows.all[place].fifo.push(packet);
        (self.packets, self.bytes) = (self.packets + 1, self.bytes + u64::from(packet.bytes));
        self.activate(place);
        while self.bytes > self.memory {
            self.make_room(now, dropped);
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<QueuedPacket> {
        let mut takes_decaying = true;
        while self.packets > 0 {
            let list = self.next_list(takes_decaying)?;
            takes_decaying = false;
            let place = *self.lists[list].front()?;
            if self.flows.all[place].deficit <= 0 {
                self.flows.all[place].deficit += self.quantum;
                self.lists[list].pop_front();
                self.lists[OLD].push_back(place);
            } else if let Some(packet) = self.take(place, now, dropped) {
                self.flows.all[place].deficit -= i64::from(packet.bytes);
                return Some(packet);
            } else {
                self.retire(list, now);
            }
        }
        None
    }

    fn len(&self) -> usize {
        self.packets
    }
}
