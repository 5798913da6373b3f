//! Links that deliver out of order or twice.

use crate::dumbbell::{BUDGET, Dumbbell, DuplexLink, FORWARD, link, lossy, ns2, rfc, seconds};
use crate::losses::loss;
use crate::observers::Census;
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{
    Arq, ArqSettings, CorrelatedBernoulli, DelayCorrelation, DelayDistribution, Duplication, Impairments, Jitter,
    JitterSettings, LossRule, Network, Observer, Packet, PacketEvent, PacketFilter, QueueLimit, Reordering,
};
use earlybird_tcp::Config;
use earlybird_units::{Duration, Instant, Random, SeedTree};

fn random() -> Random {
    SeedTree::new(7).random()
}

fn chance(probability: f64) -> CorrelatedBernoulli {
    CorrelatedBernoulli::new(probability, 0.0, random())
}

fn reordering(probability: f64, delay: u64, packets: Option<u32>) -> Impairments {
    let delay = Duration::from_millis(delay);
    let rule = Reordering { chance: chance(probability), filter: PacketFilter::default(), delay, packets };
    Impairments::new(Some(rule), None)
}

fn duplication(probability: f64) -> Impairments {
    Impairments::new(None, Some(Duplication { chance: chance(probability), filter: PacketFilter::default() }))
}

#[test]
fn independent_losses_occur_with_their_probability() {
    let mut one = chance(0.25);
    let count = (0..100_000).filter(|_| one.draw()).count();
    // √(100000·0.25·0.75) = 137.
    assert!((25_000 - 685..25_000 + 685).contains(&count), "{count}");
}

/// x = (1 − ρ)·u + ρ·x: the outcomes follow from the plain random numbers.
#[test]
fn correlated_chances_mix_in_the_last_number_as_netem_does() {
    let mut numbers = random();
    let mut last = numbers.unit();
    let mut one = CorrelatedBernoulli::new(0.4, 0.5, random());
    let mut counts = [0; 2];
    for _ in 0..10_000 {
        last = 0.5 * numbers.unit() + 0.5 * last;
        assert_eq!(one.draw(), last < 0.4);
        counts[usize::from(last < 0.4)] += 1;
    }
    // The numbers crowd around one half, so fewer than four in ten lie below 0.4.
    assert!(counts[1] > 2500 && counts[1] < 3900, "{counts:?}");
    conforms(
        Area::Network,
        "reorder, duplicate",
        "tc-netem(8), correlation: Linux get_crandom()",
        "outcomes of 10⁴ draws at probability 0.4, correlation 0.5 with the recursion x = (1 − ρ)u + ρx",
        "10000 of 10000 equal",
    );
}

/// The numbers of the data packets in the order of their arrival.
#[derive(Default)]
struct Arrivals(Vec<u32>);

impl Observer for Arrivals {
    const PACKETS: bool = true;

    fn on_packet(&mut self, _at: Instant, event: PacketEvent, packet: &Packet) {
        if event == PacketEvent::Arrived && packet.is_data() {
            self.0.push(packet.number);
        }
    }
}

/// The first thousand packets: they wait for the link at once, so that whatever acknowledgements bring about comes behind
/// them, and arrive at a millisecond's distance.
fn arrivals(impairments: Impairments) -> Vec<u32> {
    let mut duplex = DuplexLink::new(link(8_320_000, 10, QueueLimit::Unlimited));
    duplex.network.set_impairments(FORWARD, impairments);
    let at_once = Config::ns2().with_initial_window(2000).with_max_window(2000);
    let mut world = duplex.world(ns2(at_once), 2_000_000, Arrivals::default());
    assert!(world.run_until(seconds(3), BUDGET));
    let (_, Arrivals(mut arrivals)) = world.into_parts();
    arrivals.truncate(1000);
    arrivals
}

/// Returns by how many packets each late one was passed: the extent of RFC 4737 §4.2, counted without other late ones.
fn extents(arrivals: &[u32]) -> Vec<usize> {
    let passed = |index: usize| arrivals[..index].iter().filter(|earlier| **earlier > arrivals[index]).count();
    (0..arrivals.len()).map(passed).filter(|passed| *passed > 0).collect()
}

/// Two late packets may overlap; with one in fifty that is rare.
fn assert_mostly(extents: &[usize], expected: usize) {
    let exact = extents.iter().filter(|extent| **extent == expected).count();
    assert!(extents.len() >= 10 && exact * 10 >= extents.len() * 8, "{extents:?}");
}

#[test]
fn a_delay_of_two_and_a_half_packets_lets_two_pass() {
    let delay = Duration::from_micros(2_500);
    let rule = Reordering { chance: chance(0.02), filter: PacketFilter::default(), delay, packets: None };
    assert_mostly(&extents(&arrivals(Impairments::new(Some(rule), None))), 2);
}

#[test]
fn packets_are_overtaken_by_as_many_as_the_rule_states() {
    for packets in [1, 3] {
        assert_mostly(&extents(&arrivals(reordering(0.02, 500, Some(packets)))), packets as usize);
    }
    conforms(
        Area::Network,
        "reorder",
        "RFC 4737 §4.2 (reordering extent)",
        "packets that pass a kept one, displacement 1 and 3, 2 % of 1000 packets kept back",
        "as set for at least 8 of 10, the others overlap",
    );
}

/// If every packet is held, none overtakes, so that only the delay ends the waiting.
#[test]
fn a_packet_that_nothing_passes_arrives_after_its_delay() {
    assert_eq!(arrivals(reordering(1.0, 50, Some(3))), arrivals(Impairments::default()));
}

#[test]
fn a_rule_for_another_flow_changes_nothing() {
    let mut rule = reordering(0.5, 250, None);
    rule.reordering.as_mut().unwrap().filter.flow = Some(earlybird_sim::FlowId(1));
    assert_eq!(arrivals(rule), arrivals(Impairments::default()));
}

fn jitter(reorders: bool) -> Impairments {
    Impairments::default().with_jitter(Some(Jitter::new(JitterSettings {
        distribution: DelayDistribution::Uniform(Duration::from_millis(20)),
        correlation: DelayCorrelation::PerPacket(0.0),
        spikes: None,
        reorders,
        filter: PacketFilter::default(),
        random: random(),
    })))
}

#[test]
fn jitter_reorders_only_if_asked_to() {
    assert!(extents(&arrivals(jitter(false))).is_empty());
    // At a distance of 1 ms nearly every packet is passed by others with up to 20 ms less.
    assert!(extents(&arrivals(jitter(true))).len() > 500);
}

fn arq(reorders: bool) -> Impairments {
    let (delay, filter) = (Duration::from_millis(8), PacketFilter::default());
    let settings = ArqSettings { loss: 0.2, retries: 3, delay, reorders, filter, random: random() };
    Impairments::default().with_arq(Some(Arq::new(settings)))
}

/// 0.2 + 0.04 + 0.008 of the packets are late by 8 ms or more, and seven packets or more pass such a one.
#[test]
fn retransmission_by_the_link_reorders_only_if_asked_to() {
    assert!(extents(&arrivals(arq(false))).is_empty());
    let late = extents(&arrivals(arq(true))).len();
    assert!((150..250).contains(&late), "{late}");
}

fn assert_conserved(network: &Network, census: &Census) -> u64 {
    let dropped: u64 = census.dropped.iter().sum();
    assert_eq!(census.sent + census.duplicated, census.arrived + dropped);
    let links = 0..network.links().count() as u32;
    let doubled: u64 = links.map(|link| network.impairments(earlybird_sim::LinkId(link)).packets_duplicated).sum();
    assert_eq!(doubled, census.duplicated);
    doubled
}

#[test]
fn sent_and_doubled_packets_arrived_or_were_dropped() {
    for endpoints in [ns2(Config::ns2()), rfc(Config::rfc())] {
        let jittered = |reorders| duplication(0.1).with_jitter(jitter(reorders).jitter.map(|jitter| *jitter));
        let cases = [reordering(0.05, 30, None), reordering(0.05, 100, Some(3)), duplication(0.1)];
        for impairments in cases.into_iter().chain([jittered(false), jittered(true)]) {
            let forward = lossy(link(2_000_000, 20, QueueLimit::Packets(10)), vec![loss(LossRule::Bernoulli(0.01), 5)]);
            let mut duplex = DuplexLink::new(forward);
            let is_doubling = impairments.duplication.is_some();
            duplex.network.set_impairments(FORWARD, impairments);
            let mut world = duplex.world(endpoints, 1_000_000, Census::default());
            assert!(world.run_until(seconds(600), BUDGET));
            let (network, census) = world.into_parts();
            let doubled = assert_conserved(&network, &census);
            assert_eq!(doubled > 50, is_doubling, "{doubled}");
            assert!(is_doubling || network.impairments(FORWARD).packets_reordered > 20);
        }
    }
}

/// Behind the bottleneck every flow has a link of its own, which the copies cross as well.
#[test]
fn links_behind_an_impaired_one_carry_what_came_out_of_it() {
    let mut dumbbell = Dumbbell::new(link(5_000_000, 15, QueueLimit::Packets(30)));
    let both = Impairments::new(reordering(0.02, 20, None).reordering, duplication(0.05).duplication);
    dumbbell.network.set_impairments(FORWARD, both);
    let mut world = dumbbell.with_pairs(3).world(ns2(Config::ns2()), Census::default());
    assert!(world.run_until(seconds(30), BUDGET));
    let (network, census) = world.into_parts();
    let totals: Vec<_> = network.links().map(|link| link.total).collect();
    let down: u64 = totals[5..].iter().step_by(4).map(|total| total.packets_in).sum();
    let out = totals[0].packets_accepted() + census.duplicated;
    // At most a window of 64 per flow, and its copies, are still on the bottleneck.
    assert!((down..down + 2 * 3 * 64).contains(&out), "{down} of {out}");
    assert!(census.duplicated > 100 && network.impairments(FORWARD).packets_reordered > 50);
}
