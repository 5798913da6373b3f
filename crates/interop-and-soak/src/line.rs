//! A link each way between two sides, and what it does to packets.

use earlybird_emulator::{Emulator, FlowRoute, FlowRoutes};
use earlybird_sim::{
    CorrelatedBernoulli, Duplication, FlowId, GroupId, Impairments, LinkId, LinkSettings, Loss, LossRule, Network,
    PacketFilter, QueueLimit, Reordering,
};
use earlybird_units::{Duration, Rate, SeedTree};

/// Shares of the packets to which something happens, each way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Harm {
    /// Lost.
    pub lost: f64,
    /// Doubled.
    pub doubled: f64,
    /// Overtaken by others.
    pub overtaken: f64,
}

/// Two links, each the other's way back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Bits per second.
    pub rate: u64,
    /// Propagation time one way.
    pub delay: Duration,
    /// Packets that may wait.
    pub queue: usize,
    /// What happens to packets.
    pub harm: Harm,
}

impl Line {
    /// Returns an emulator of it.
    ///
    /// # Panics
    ///
    /// If the rate is zero.
    pub fn emulator(&self, seed: u64) -> Emulator {
        let mut network = Network::default();
        let [near, far] = [network.add_node(), network.add_node()];
        for (index, (from, to)) in [(near, far), (far, near)].into_iter().enumerate() {
            let seeds = SeedTree::new(seed).nth(index as u64);
            network.add_link(from, to, self.link(seeds));
            network.set_impairments(LinkId(index as u32), self.impairments(seeds));
        }
        let [there, back] =
            [(near, far), (far, near)].map(|(from, to)| network.add_route(from, to).expect("there is a link"));
        Emulator::new(
            network,
            FlowRoutes::all(FlowRoute { forward: there, reverse: back, flow: FlowId(0), group: GroupId(0) }),
            (),
        )
    }

    fn link(&self, seeds: SeedTree) -> LinkSettings {
        let rate = Rate::from_bits_per_second(self.rate).expect("a rate above zero");
        let loss = Loss::new(LossRule::Bernoulli(self.harm.lost), seeds.child("loss").random());
        LinkSettings {
            delay: self.delay,
            limit: QueueLimit::Packets(self.queue as u32),
            losses: if self.harm.lost > 0.0 { vec![loss] } else { Vec::new() },
            ..LinkSettings::plain("", rate, seeds)
        }
    }

    fn impairments(&self, seeds: SeedTree) -> Impairments {
        let chance = |share: f64, name: &str| {
            (share > 0.0).then(|| CorrelatedBernoulli::new(share, 0.0, seeds.child(name).random()))
        };
        let filter = PacketFilter::default();
        // Half a round trip late: some packets pass, and no window.
        let delay = self.delay;
        Impairments::new(
            chance(self.harm.overtaken, "overtaken").map(|chance| Reordering { chance, filter, delay, packets: None }),
            chance(self.harm.doubled, "doubled").map(|chance| Duplication { chance, filter }),
        )
    }
}
