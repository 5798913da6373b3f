//! Rules that lose packets at the entrance of a link.

mod fading;
mod markov;
mod policer;

pub use fading::Fading;
pub(crate) use fading::MOST_DRAWN;
pub use markov::{FourState, GilbertElliott};
pub use policer::Policer;

use crate::outages::Outages;
use crate::packet::Packet;
use crate::packet_filter::PacketFilter;
use earlybird_units::{Instant, Random};

/// A rule that selects the packets to drop.
#[derive(Clone, Debug)]
pub enum LossRule {
    /// Packets with these numbers, in increasing order, counted from 0 in order of arrival.
    List(Vec<u64>),
    /// Each with this probability.
    Bernoulli(f64),
    /// From number `first` on, the first `burst` of every `period` packets.
    Periodic {
        /// Number of the first packet lost.
        first: u64,
        /// Packets from one burst to the next.
        period: u64,
        /// Packets lost in a row.
        burst: u64,
        /// Number of bursts.
        bursts: u64,
    },
    /// A channel that is good or bad.
    GilbertElliott(GilbertElliott),
    /// Bursts that may have holes, and single losses between them.
    FourState(FourState),
    /// Packets that arrive during a fade.
    Fading(Fading),
    /// Packets that arrive during an outage.
    Outage(Outages),
    /// Packets above a rate.
    Policer(Policer),
}

/// A loss rule with its state. It counts only the packets that its filter selects.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The rule.
    pub rule: LossRule,
    /// Selects the packets that count.
    pub filter: PacketFilter,
    /// Its random numbers.
    pub random: Random,
    /// Packets counted so far.
    pub count: u64,
}

impl Loss {
    /// Makes a rule that counts every packet.
    pub fn new(rule: LossRule, random: Random) -> Self {
        Self { rule, filter: PacketFilter::default(), random, count: 0 }
    }

    /// Counts a packet that arrives now. Returns whether it is lost.
    pub fn is_lost(&mut self, now: Instant, packet: &Packet) -> bool {
        if !self.filter.matches(packet) {
            return false;
        }
        let number = self.count;
        // Counted before the rule decides, so that `List` and `Periodic` number packets as they arrive, lost or not.
        self.count += 1;
        match &mut self.rule {
            LossRule::List(numbers) => numbers.binary_search(&number).is_ok(),
            LossRule::Bernoulli(probability) => self.random.unit() < *probability,
            LossRule::Periodic { first, period, burst, bursts } => {
                number.checked_sub(*first).is_some_and(|since| since % *period < *burst && since / *period < *bursts)
            }
            LossRule::GilbertElliott(channel) => channel.is_lost(&mut self.random),
            LossRule::FourState(channel) => channel.is_lost(&mut self.random),
            LossRule::Fading(channel) => channel.is_bad_at(now, &mut self.random),
            LossRule::Outage(outages) => outages.is_down(now),
            LossRule::Policer(policer) => policer.drops(now, packet.bytes),
        }
    }
}
