//! Rules that lose packets.

use crate::dumbbell::{BUDGET, DuplexLink, link, lossy, ns2, seconds};
use crate::observers::Gate;
use earlybird_sim::{Content, FlowId, GroupId, Loss, LossRule, Packet, PacketFilter, QueueLimit};
use earlybird_tcp::Config;
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::Segment;

pub(crate) fn loss(rule: LossRule, seed: u64) -> Loss {
    Loss::new(rule, SeedTree::new(seed).random())
}

pub(crate) fn packet(flow: u32, group: u32) -> Packet {
    let route = DuplexLink::new(link(1, 0, QueueLimit::Unlimited)).there;
    let content = Content::Segment(Segment::default());
    Packet { flow: FlowId(flow), group: GroupId(group), ..Packet::external(route, 1040, content) }
}

/// Returns the numbers of the lost packets among so many.
pub(crate) fn lost_among(count: u64, mut loss: Loss) -> Vec<u64> {
    let packet = packet(0, 0);
    (0..count).filter(|_| loss.is_lost(Instant::ZERO, &packet)).collect()
}

#[test]
fn a_list_loses_the_packets_it_names() {
    assert_eq!(lost_among(100, loss(LossRule::List(vec![0, 14, 28, 99]), 1)), [0, 14, 28, 99]);
    assert_eq!(lost_among(100, loss(LossRule::List(vec![]), 1)), [0; 0]);
}

#[test]
fn period_10_burst_2_loses_10_11_20_21_30_31() {
    let rule = LossRule::Periodic { first: 10, period: 10, burst: 2, bursts: u64::MAX };
    assert_eq!(lost_among(40, loss(rule, 1)), [10, 11, 20, 21, 30, 31]);
}

#[test]
fn two_bursts_of_two_from_4_on_lose_4_5_14_15() {
    let rule = LossRule::Periodic { first: 4, period: 10, burst: 2, bursts: 2 };
    assert_eq!(lost_among(40, loss(rule, 1)), [4, 5, 14, 15]);
}

#[test]
fn a_burst_as_long_as_the_period_loses_everything_from_there_on() {
    assert_eq!(
        lost_among(8, loss(LossRule::Periodic { first: 3, period: 3, burst: 3, bursts: u64::MAX }, 1)),
        [3, 4, 5, 6, 7]
    );
}

/// 100,000 draws with probability 0.02: 2000 ± 5·√(100000·0.02·0.98) = 2000 ± 221.
#[test]
fn probability_0_02_loses_2000_of_100000_within_five_standard_deviations() {
    let lost = |seed| lost_among(100_000, loss(LossRule::Bernoulli(0.02), seed));
    assert!((1779..=2221).contains(&lost(1).len()));
    assert_eq!(lost(1), lost(1));
    assert_ne!(lost(1), lost(2));
}

#[test]
fn probabilities_0_and_1_lose_nothing_and_everything() {
    assert_eq!(lost_among(1000, loss(LossRule::Bernoulli(0.0), 1)).len(), 0);
    assert_eq!(lost_among(1000, loss(LossRule::Bernoulli(1.0), 1)).len(), 1000);
}

#[test]
fn a_rule_for_a_flow_or_group_counts_only_its_packets() {
    let scoped = |flow, group| Loss { filter: PacketFilter { flow, group }, ..loss(LossRule::List(vec![1]), 1) };
    let of_flow = scoped(Some(FlowId(1)), None);
    let of_group = scoped(None, Some(GroupId(2)));
    let of_both = scoped(Some(FlowId(1)), Some(GroupId(2)));
    let traffic = [(1, 2), (0, 2), (1, 0), (1, 2)].map(|(flow, group)| packet(flow, group));
    let lost = |mut loss: Loss| traffic.map(|packet| loss.is_lost(Instant::ZERO, &packet));
    assert_eq!(lost(of_flow), [false, false, true, false]);
    assert_eq!(lost(of_group), [false, true, false, false]);
    assert_eq!(lost(of_both), [false, false, false, true]);
}

/// Each rule of a link counts every packet, also those that another rule loses.
#[test]
fn two_rules_of_a_link_lose_what_either_loses() {
    let rules = vec![
        loss(LossRule::List(vec![3, 5]), 1),
        loss(LossRule::Periodic { first: 4, period: 4, burst: 1, bursts: u64::MAX }, 1),
    ];
    let forward = lossy(link(8_000_000, 10, QueueLimit::Unlimited), rules);
    let mut world = DuplexLink::new(forward).world(ns2(Config::ns2()), 20_000, Gate::default());
    assert!(world.run_until(seconds(30), BUDGET));
    let (_, gate) = world.into_parts();
    let expected: Vec<u64> =
        (0..gate.let_in.len() as u64).filter(|n| [3, 5].contains(n) || (*n >= 4 && n % 4 == 0)).collect();
    assert_eq!(gate.dropped(), expected);
}
