//! Rules that lose packets at the entrance of a link.

use crate::ids::{FlowId, GroupId};
use crate::packet::Packet;
use earlybird_units::Random;

/// Which packets get lost.
#[derive(Clone, Debug)]
pub enum LossRule {
    /// Those with these numbers, in rising order, counted from 0 as they come.
    List(Vec<u64>),
    /// Each with this probability.
    Bernoulli(f64),
    /// From number `period` on, the first `burst` of every `period` packets.
    Periodic {
        /// Packets from one burst to the next.
        period: u64,
        /// Packets lost in a row.
        burst: u64,
    },
}

/// A rule with its state. It counts only the packets of its flow or group, if it has one.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The rule.
    pub rule: LossRule,
    /// The only flow it concerns.
    pub flow: Option<FlowId>,
    /// The only group it concerns.
    pub group: Option<GroupId>,
    /// Its random numbers.
    pub random: Random,
    /// Packets counted so far.
    pub count: u64,
}

impl Loss {
    /// Counts a packet and says whether it is lost.
    pub fn is_lost(&mut self, packet: &Packet) -> bool {
        let is_other_flow = self.flow.is_some_and(|flow| flow != packet.flow);
        if is_other_flow || self.group.is_some_and(|group| group != packet.group) {
            return false;
        }
        let number = self.count;
        self.count += 1;
        match &self.rule {
            LossRule::List(numbers) => numbers.binary_search(&number).is_ok(),
            LossRule::Bernoulli(probability) => self.random.unit() < *probability,
            LossRule::Periodic { period, burst } => number >= *period && number % period < *burst,
        }
    }
}
