//! Jitter, retransmission, reordering and duplication of packets at the far end of a link.

mod arq;
mod jitter;

pub use arq::{Arq, ArqSettings};
pub use jitter::{DelayCorrelation, DelayDistribution, DelaySpikes, Jitter, JitterSettings};

use crate::packet::Packet;
use crate::packet_filter::PacketFilter;
use crate::timestamp::Timestamp;
use earlybird_units::{Duration, Instant, Random};
use std::collections::VecDeque;

/// Bernoulli trials whose outcomes may be correlated, as in Linux' netem (`get_crandom`).
#[derive(Clone, Debug)]
pub struct CorrelatedBernoulli {
    /// Probability of each outcome.
    probability: f64,
    /// Weight ρ of the last random number: x = (1 − ρ)·u + ρ·(last x), so that outcomes come in runs.
    ///
    /// The x are less spread than the u, so the share of outcomes moves away from one half, as in netem.
    correlation: f64,
    random: Random,
    last: f64,
}

impl CorrelatedBernoulli {
    /// Makes trials with a probability from 0 to 1 and a correlation from 0 to below 1.
    pub fn new(probability: f64, correlation: f64, mut random: Random) -> Self {
        // netem starts its correlated generator from a random value, too.
        let last = random.unit();
        Self { probability, correlation, random, last }
    }

    /// Runs one trial.
    pub fn draw(&mut self) -> bool {
        // `get_crandom` of Linux' `sch_netem.c`, in floating point.
        self.last = (1.0 - self.correlation) * self.random.unit() + self.correlation * self.last;
        self.last < self.probability
    }
}

/// Holds some packets back while others pass.
#[derive(Clone, Debug)]
pub struct Reordering {
    /// Selects the packets that are held.
    pub chance: CorrelatedBernoulli,
    /// Packets that may be held, and that count as passing.
    pub filter: PacketFilter,
    /// Additional delay of a held packet …
    pub delay: Duration,
    /// … unless this many other packets have passed before.
    pub packets: Option<u32>,
}

/// Delivers some packets twice.
#[derive(Clone, Debug)]
pub struct Duplication {
    /// Selects the packets that are duplicated.
    pub chance: CorrelatedBernoulli,
    /// Packets that may be duplicated.
    pub filter: PacketFilter,
}

/// Jitter, retransmission, reordering and duplication on one link.
#[derive(Clone, Debug, Default)]
pub struct Impairments {
    /// Retransmissions by the link, if any: they come first.
    pub arq: Option<Box<Arq>>,
    /// Additional delays, if any. Reordering and duplication come after them.
    pub jitter: Option<Box<Jitter>>,
    /// Reordering, if any.
    pub reordering: Option<Reordering>,
    /// Duplication, if any.
    pub duplication: Option<Duplication>,
    /// Packets held so far.
    pub packets_reordered: u64,
    /// Copies made so far.
    pub packets_duplicated: u64,
    /// Packets that wait for others to pass, in order of their deadlines.
    waiting: VecDeque<Waiting>,
}

/// A packet that waits for others to pass.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    held_id: u32,
    deadline: Instant,
    still_to_pass: u32,
}

impl Impairments {
    /// Makes the impairments of a link.
    pub fn new(reordering: Option<Reordering>, duplication: Option<Duplication>) -> Self {
        Self { reordering, duplication, ..Self::default() }
    }

    /// Adds jitter.
    #[must_use]
    pub fn with_jitter(self, jitter: Option<Jitter>) -> Self {
        Self { jitter: jitter.map(Box::new), ..self }
    }

    /// Adds retransmission.
    #[must_use]
    pub fn with_arq(self, arq: Option<Arq>) -> Self {
        Self { arq: arq.map(Box::new), ..self }
    }

    /// Returns whether there is an impairment.
    pub(crate) fn is_any(&self) -> bool {
        self.arq.is_some() || self.jitter.is_some() || self.reordering.is_some() || self.duplication.is_some()
    }

    /// Returns the arrival of a packet that would arrive at `arrival` without retransmission and jitter.
    pub(crate) fn delayed(&mut self, arrival: Timestamp, packet: &Packet) -> Timestamp {
        let arrival = self.arq.as_mut().map_or(arrival, |arq| arq.delayed(arrival, packet));
        self.jitter.as_mut().map_or(arrival, |jitter| jitter.delayed(arrival, packet))
    }

    /// Draws whether a packet is duplicated.
    pub(crate) fn is_duplicated(&mut self, packet: &Packet) -> bool {
        let Some(rule) = self.duplication.as_mut().filter(|rule| rule.filter.matches(packet)) else { return false };
        let is_doubled = rule.chance.draw();
        self.packets_duplicated += u64::from(is_doubled);
        is_doubled
    }

    /// Draws whether a packet is held. Returns the longest time for which it is.
    pub(crate) fn hold_delay(&mut self, packet: &Packet) -> Option<Duration> {
        let rule = self.reordering.as_mut().filter(|rule| rule.filter.matches(packet))?;
        let is_kept = rule.chance.draw();
        self.packets_reordered += u64::from(is_kept);
        is_kept.then_some(rule.delay)
    }

    /// Records a packet that is held until this time.
    pub(crate) fn wait(&mut self, held_id: u32, deadline: Instant) {
        if let Some(packets) = self.reordering.as_ref().and_then(|rule| rule.packets) {
            self.waiting.push_back(Waiting { held_id, deadline, still_to_pass: packets });
        }
    }

    /// Counts a packet that passes. Returns the held packets that it releases before their deadline.
    pub(crate) fn pass(&mut self, at: Instant, packet: &Packet) -> impl Iterator<Item = u32> {
        // Only packets that the rule could have held count as passing: ACKs of another flow do not release data.
        let counts = self.reordering.as_ref().is_some_and(|rule| rule.filter.matches(packet));
        // Deadlines rise with the order of holding, since the delay is the same for all.
        while self.waiting.pop_front_if(|first| first.deadline <= at).is_some() {}
        self.waiting.iter_mut().for_each(|one| one.still_to_pass -= u32::from(counts));
        // All wait for the same number of packets, so they come free in order.
        let free = self.waiting.iter().take_while(|one| one.still_to_pass == 0).count();
        self.waiting.drain(..free).map(|one| one.held_id)
    }
}
