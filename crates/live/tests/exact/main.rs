//! Compares a transfer in the simulator with one between two stacks: the same segments leave at the same times.

#![expect(clippy::unwrap_used, reason = "what cannot go on has failed")]

mod live;
mod seen;
mod simulated;

use earlybird_sim::{CodelSettings, Discipline, LinkSettings, Loss, LossRule, Network, QueueLimit, RouteId};
use earlybird_tcp::{Bbr1Parameters, BbrParameters, Config, Control, EcnMode, Recovery, Segmentation};
use earlybird_units::{Duration, Instant, Rate, SeedTree};
use rstest::rstest;
use seen::Seen;

/// The configuration and size of a transfer.
#[derive(Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) config: Config,
    pub(crate) bytes: u64,
}

/// Start of the transfer.
const START: Instant = Instant::from_nanos(1_000_000);
/// End of the run.
const END: Instant = Instant::from_nanos(200_000_000_000);

/// The bottleneck of the data direction.
#[derive(Clone, Debug)]
struct Bottleneck {
    rate: u64,
    delay: Duration,
    limit: u32,
    discipline: Discipline,
    loss: f64,
}

const PLAIN: Bottleneck = Bottleneck {
    rate: 10_000_000,
    delay: Duration::from_millis(20),
    limit: 50,
    discipline: Discipline::DropTail,
    loss: 0.0,
};

impl Bottleneck {
    /// Builds two hosts with this link in one direction and an unlimited one back.
    fn network(&self) -> (Network, RouteId, RouteId) {
        let mut network = Network::default();
        let (left, right) = (network.add_node(), network.add_node());
        let rate = Rate::from_bits_per_second(self.rate).unwrap();
        let plain = |name| LinkSettings { delay: self.delay, ..LinkSettings::plain(name, rate, SeedTree::new(1)) };
        let loss = Loss::new(LossRule::Bernoulli(self.loss), SeedTree::new(2).random());
        let (limit, discipline) = (QueueLimit::Packets(self.limit), self.discipline);
        network.add_link(left, right, LinkSettings { limit, discipline, losses: vec![loss], ..plain("there") });
        network.add_link(right, left, plain("back"));
        let there = network.add_route(left, right).unwrap();
        let back = network.add_route(right, left).unwrap();
        (network, there, back)
    }
}

fn codel(ecn: bool) -> Discipline {
    let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
    Discipline::Codel(CodelSettings { target, interval, mtu: 1500, ecn })
}

fn bbr() -> Config {
    Config::linux().with_control(Control::Bbr(BbrParameters::DEFAULT))
}

fn bbr1() -> Config {
    Config::linux().with_control(Control::Bbr1(Bbr1Parameters::LINUX))
}

fn marked() -> Config {
    Config::linux().with_ecn(EcnMode::Classic)
}

fn reno_rack() -> Config {
    Config::rfc().with_recovery(Recovery::Rack)
}

#[rstest]
#[case::cubic(Config::linux(), PLAIN)]
#[case::cubic_with_losses(Config::linux(), Bottleneck { loss: 0.02, ..PLAIN })]
#[case::cubic_over_codel(Config::linux(), Bottleneck { discipline: codel(false), limit: 1000, ..PLAIN })]
#[case::cubic_with_marks(marked(), Bottleneck { discipline: codel(true), limit: 1000, ..PLAIN })]
#[case::cubic_fast(Config::linux(), Bottleneck { rate: 50_000_000, limit: 200, ..PLAIN })]
#[case::cubic_slow(Config::linux(), Bottleneck { rate: 2_000_000, delay: Duration::from_millis(75), ..PLAIN })]
#[case::bbr(bbr(), PLAIN)]
#[case::bbr1(bbr1(), PLAIN)]
#[case::rfc(Config::rfc(), PLAIN)]
#[case::rfc_with_losses(Config::rfc(), Bottleneck { loss: 0.03, ..PLAIN })]
#[case::reno_with_rack(reno_rack(), Bottleneck { loss: 0.01, limit: 20, ..PLAIN })]
#[case::ns2(Config::ns2(), Bottleneck { loss: 0.01, ..PLAIN })]
fn stack_and_simulator_send_the_same_segments(#[case] config: Config, #[case] bottleneck: Bottleneck) {
    let [simulated, live] = both(config, &bottleneck);
    compare(&simulated, &live);
}

/// If BBR's pacer fires at the nanosecond at which an ACK arrives, the simulator orders the two by ns-2's clock, which has
/// fractions of a nanosecond. The segment that leaves is the same, but echoes the timestamp of that ACK or of the previous one.
#[test]
fn simultaneous_pacer_and_ack_differ_only_in_the_echo() {
    let all = both(bbr(), &Bottleneck { loss: 0.01, ..PLAIN });
    let [simulated, live] = all.map(|all| all.into_iter().map(Seen::without_echo).collect::<Vec<_>>());
    compare(&simulated, &live);
}

/// Returns the segments that leave in the simulator, and those of the stacks.
fn both(config: Config, bottleneck: &Bottleneck) -> [Vec<Seen>; 2] {
    let config = config.with_segmentation(Segmentation::Simulated);
    let transfer = Transfer { config, bytes: 3_000_000 };
    [simulated::run(bottleneck.network(), transfer), live::run(bottleneck.network(), transfer)]
}

fn compare(simulated: &[Seen], live: &[Seen]) {
    assert!(simulated.len() > 3000, "{} segments", simulated.len());
    let first = simulated.iter().zip(live).position(|(one, other)| one != other);
    let around = |all: &[Seen]| first.map(|at| format!("{:#?}", &all[at.saturating_sub(2)..(at + 2).min(all.len())]));
    assert_eq!(first, None, "{:?} against {:?}", around(simulated), around(live));
    assert_eq!(simulated.len(), live.len());
}
