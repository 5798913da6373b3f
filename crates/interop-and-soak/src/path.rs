//! An emulated path: one link per direction, with impairments.

use earlybird_emulator::{Emulator, FlowRoute, FlowRoutes};
use earlybird_sim::{
    CorrelatedBernoulli, Duplication, FlowId, GroupId, Impairments, LinkId, LinkSettings, Loss, LossRule, Network,
    PacketFilter, QueueLimit, Reordering,
};
use earlybird_units::{Duration, Rate, SeedTree};

/// Shares of the packets that are lost, duplicated or reordered, per direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TestImpairments {
    /// Share that is lost.
    pub lost: f64,
    /// Share that is duplicated.
    pub duplicated: f64,
    /// Share that is delayed, so that others overtake it.
    pub reordered: f64,
}

/// Two equal links, one per direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestPath {
    /// Rate in bit/s.
    pub rate: u64,
    /// Propagation delay per direction.
    pub delay: Duration,
    /// Queue limit in packets.
    pub queue: usize,
    /// Impairments of both directions.
    pub impairments: TestImpairments,
}

impl TestPath {
    /// Returns an emulator of the path.
    ///
    /// # Panics
    ///
    /// If the rate is zero.
    pub fn emulator(&self, seed: u64) -> Emulator {
        let mut network = Network::default();
        let [near, far] = [network.add_node(), network.add_node()];
        for (index, (from, to)) in [(near, far), (far, near)].into_iter().enumerate() {
            // Each direction draws its own losses.
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
        // Independent losses, the model that the papers assume.
        let loss = Loss::new(LossRule::Bernoulli(self.impairments.lost), seeds.child("loss").random());
        LinkSettings {
            delay: self.delay,
            limit: QueueLimit::Packets(self.queue as u32),
            losses: if self.impairments.lost > 0.0 { vec![loss] } else { Vec::new() },
            ..LinkSettings::plain("", rate, seeds)
        }
    }

    fn impairments(&self, seeds: SeedTree) -> Impairments {
        let chance = |share: f64, name: &str| {
            (share > 0.0).then(|| CorrelatedBernoulli::new(share, 0.0, seeds.child(name).random()))
        };
        let filter = PacketFilter::default();
        // Late by half an RTT: some packets overtake, but less than a window.
        let delay = self.delay;
        Impairments::new(
            chance(self.impairments.reordered, "reordered").map(|chance| Reordering {
                chance,
                filter,
                delay,
                packets: None,
            }),
            chance(self.impairments.duplicated, "duplicated").map(|chance| Duplication { chance, filter }),
        )
    }
}
