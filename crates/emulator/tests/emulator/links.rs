//! Two sides with one link per direction.

use earlybird_emulator::FlowRoute;
use earlybird_sim::{FlowId, GroupId, LinkSettings, Network};
use earlybird_units::{Duration, Rate, SeedTree};

/// A link with a rate in bit/s and a delay in milliseconds.
pub(crate) fn link(rate: u64, delay: u64) -> LinkSettings {
    let rate = Rate::from_bits_per_second(rate).expect("a rate above zero");
    LinkSettings { delay: Duration::from_millis(delay), ..LinkSettings::plain("", rate, SeedTree::new(1)) }
}

/// Returns the network and its routes. The link from near to far has number 0.
pub(crate) fn pair(there: LinkSettings, back: LinkSettings) -> (Network, FlowRoute) {
    let mut network = Network::default();
    let [near, far] = [network.add_node(), network.add_node()];
    network.add_link(near, far, there);
    network.add_link(far, near, back);
    let [there, back] =
        [(near, far), (far, near)].map(|(from, to)| network.add_route(from, to).expect("there is a link"));
    (network, FlowRoute { forward: there, reverse: back, flow: FlowId(0), group: GroupId(0) })
}
