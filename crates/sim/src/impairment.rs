//! What may happen to packets at the far end of a link: reordering and duplication.

use crate::packet::Packet;
use crate::packet_filter::PacketFilter;
use earlybird_units::{Duration, Instant, Random};
use std::collections::VecDeque;

/// A repeated chance whose outcomes may depend on each other, as Linux's netem has it.
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
    /// Makes a chance of probability and correlation from 0 to 1, below 1 for the latter.
    pub fn new(probability: f64, correlation: f64, mut random: Random) -> Self {
        let last = random.unit();
        Self { probability, correlation, random, last }
    }

    /// Draws.
    pub fn draw(&mut self) -> bool {
        self.last = (1.0 - self.correlation) * self.random.unit() + self.correlation * self.last;
        self.last < self.probability
    }
}

/// Keeps some packets back while others pass.
#[derive(Clone, Debug)]
pub struct Reordering {
    /// Which packets are kept back.
    pub chance: CorrelatedBernoulli,
    /// Whose packets may be, and are counted.
    pub filter: PacketFilter,
    /// How much later they arrive …
    pub delay: Duration,
    /// … unless so many others have passed before.
    pub packets: Option<u32>,
}

/// Delivers some packets twice.
#[derive(Clone, Debug)]
pub struct Duplication {
    /// Which packets are doubled.
    pub chance: CorrelatedBernoulli,
    /// Whose packets may be.
    pub filter: PacketFilter,
}

/// What a link does to packets besides losing them.
#[derive(Clone, Debug, Default)]
pub struct Impairments {
    /// Keeps some back.
    pub reordering: Option<Reordering>,
    /// Doubles some.
    pub duplication: Option<Duplication>,
    /// Packets kept back so far.
    pub packets_reordered: u64,
    /// Copies made so far.
    pub packets_duplicated: u64,
    /// Those that wait for others to pass, in the order in which their patience ends.
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

    /// Returns whether a packet comes out twice.
    pub(crate) fn is_duplicated(&mut self, packet: &Packet) -> bool {
        let Some(rule) = self.duplication.as_mut().filter(|rule| rule.filter.matches(packet)) else { return false };
        let is_doubled = rule.chance.draw();
        self.packets_duplicated += u64::from(is_doubled);
        is_doubled
    }

    /// Returns how long at most a packet is kept back, if it is.
    pub(crate) fn hold_delay(&mut self, packet: &Packet) -> Option<Duration> {
        let rule = self.reordering.as_mut().filter(|rule| rule.filter.matches(packet))?;
        let is_kept = rule.chance.draw();
        self.packets_reordered += u64::from(is_kept);
        is_kept.then_some(rule.delay)
    }

    /// Notes the held_id of a packet that is kept back until this time.
    pub(crate) fn wait(&mut self, held_id: u32, deadline: Instant) {
        if let Some(packets) = self.reordering.as_ref().and_then(|rule| rule.packets) {
            self.waiting.push_back(Waiting { held_id, deadline, still_to_pass: packets });
        }
    }

    /// Learns that a packet passes, and gives the held packets of those it sets free before their time is over.
    pub(crate) fn pass(&mut self, at: Instant, packet: &Packet) -> impl Iterator<Item = u32> {
        let counts = self.reordering.as_ref().is_some_and(|rule| rule.filter.matches(packet));
        while self.waiting.pop_front_if(|first| first.deadline <= at).is_some() {}
        self.waiting.iter_mut().for_each(|one| one.still_to_pass -= u32::from(counts));
        // All wait for the same number of packets, so they come free in order.
        let free = self.waiting.iter().take_while(|one| one.still_to_pass == 0).count();
        self.waiting.drain(..free).map(|one| one.held_id)
    }
}
