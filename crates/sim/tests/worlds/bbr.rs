//! BBR on whole paths, most of them of 10 Mb/s and 40 ms: 47 packets of 1052 bytes fill them.

use crate::dumbbell::{BUDGET, DuplexLink, FORWARD, add_flow, link, lossy, ns2, rfc, seconds};
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{
    EndpointSettings, FlowGauges, FlowId, LinkSettings, Loss, LossRule, Observer, PacketFilter, QueueLimit,
    RateChanges, World,
};
use earlybird_tcp::{BbrParameters, BbrState, Config, Control, Recovery};
use earlybird_traffic::{Bulk, ConnectionId, Media, PathId, SenderApp, SenderIo, Timetable};
use earlybird_units::{Duration, Instant, Rate, SeedTree};
use std::sync::Arc;

pub(crate) const RATE: u64 = 10_000_000;
/// Full segments per second that the link carries: payload and headers are 1052 bytes.
pub(crate) const SEGMENT_RATE: f64 = RATE as f64 / 8.0 / 1052.0;
/// The bandwidth-delay product in packets.
pub(crate) const PIPE: f64 = SEGMENT_RATE * 0.04;

fn bbr() -> EndpointSettings {
    with(BbrParameters::DEFAULT)
}

fn with(parameters: BbrParameters) -> EndpointSettings {
    rfc(Config::rfc().with_control_only(Control::Bbr(parameters)).with_max_window(1000))
}

pub(crate) fn reno() -> EndpointSettings {
    rfc(Config::rfc().with_max_window(1000))
}

/// The path with a buffer of so many packets, where a share of the packets gets lost.
pub(crate) fn path(buffer: u32, share: f64, seed: u64) -> LinkSettings {
    let random = SeedTree::new(seed).random();
    let loss = Loss { rule: LossRule::Bernoulli(share), filter: PacketFilter::default(), random, count: 0 };
    lossy(link(RATE, 20, QueueLimit::Packets(buffer)), vec![loss])
}

/// The traffic of the bottleneck, as shares of its capacity by group, and the average queue in pipes.
#[derive(Debug)]
pub(crate) struct LinkUse {
    pub(crate) shares: Vec<f64>,
    pub(crate) queue: f64,
}

pub(crate) type Flow = (EndpointSettings, fn(PathId) -> Box<dyn SenderApp>);

pub(crate) fn bulk(path: PathId) -> Box<dyn SenderApp> {
    Box::new(Bulk::new(path, None))
}

/// Flows that start a second apart, each a group; they count from `from` on, in seconds.
pub(crate) fn run(forward: LinkSettings, flows: &[Flow], from: u64, until: u64) -> (LinkUse, Visits) {
    let mut wire = DuplexLink::new(forward);
    wire.network.link_mut(FORWARD).count_groups(flows.len());
    wire.network.link_mut(FORWARD).measure_between(seconds(from), seconds(until));
    let mut world = World::new(wire.network, Visits::default());
    let path = world.add_path(wire.there, wire.back);
    for (number, (endpoints, application)) in (0..).zip(flows) {
        let name = format!("flow {number}");
        add_flow(&mut world, &name, number, *endpoints, application(path), seconds(u64::from(number)));
    }
    world.probe_every(Duration::from_millis(5));
    assert!(world.run_until(seconds(until), BUDGET));
    let (network, visits) = world.into_parts();
    let [start, end] = [network.link(FORWARD).reading_at_start(), network.link(FORWARD).reading_at_end()];
    let bytes = start.groups.iter().zip(&end.groups).map(|(start, end)| end.bytes_out - start.bytes_out);
    let capacity = RATE as f64 / 8.0 * (until - from) as f64;
    let shares = bytes.map(|bytes| bytes as f64 / capacity).collect();
    (LinkUse { shares, queue: end.queue_time.as_secs_f64() / until as f64 / PIPE }, visits)
}

/// Notes every change of BBR's state, of the first flow.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    pub(crate) states: Vec<(Instant, BbrState)>,
    /// The bandwidth at the end of startup, and at the last probe.
    pub(crate) bandwidth: f64,
    pub(crate) last_bandwidth: f64,
}

impl Observer for Visits {
    fn on_probe(&mut self, at: Instant, flow: FlowId, gauges: &FlowGauges) {
        let gauges = &gauges.control;
        let Some(state) = gauges.bbr_state.filter(|_| flow == FlowId(0)) else { return };
        self.last_bandwidth = gauges.bandwidth.unwrap_or(0.0);
        if self.states.last().is_none_or(|(_, last)| *last != state) {
            self.states.push((at, state));
            if state == BbrState::Drain {
                self.bandwidth = gauges.bandwidth.unwrap_or(0.0);
            }
        }
    }
}

impl Visits {
    fn first(&self, state: BbrState) -> f64 {
        self.states.iter().find(|(_, visited)| *visited == state).map_or(f64::INFINITY, |(at, _)| at.as_secs_f64())
    }
}

#[test]
fn one_flow_fills_the_link_with_a_tenth_of_a_pipe_in_the_queue() {
    let (carried, visits) = run(path(100, 0.0, 1), &[(bbr(), bulk)], 0, 30);
    assert!(carried.shares[0] > 0.95 && carried.queue < 0.2, "{carried:?}");
    let error = (visits.bandwidth / SEGMENT_RATE - 1.0).abs();
    assert!(error < 0.02, "the bandwidth after startup is off by {error}");
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Exiting STARTUP on Bandwidth Plateau (example test case)",
        "bandwidth after startup with a link of 10 Mb/s and 40 ms; share of the link and queue over 30 s",
        &format!(
            "bandwidth within {:.1} % (2 %); {:.1} % of the link, queue of {:.2} bandwidth-delay products",
            100.0 * error,
            100.0 * carried.shares[0],
            carried.queue
        ),
    );
}

/// ns-2's coarse clock, which counts round trips in steps of 10 ms, does not reach the model.
#[test]
fn it_works_with_the_settings_of_ns2_and_a_recovery_that_waits() {
    let base = Config::ns2().with_recovery_only(Recovery::Rfc6675).with_max_window(1000);
    let endpoints = ns2(base.with_control_only(Control::Bbr(BbrParameters::DEFAULT)));
    let (carried, _) = run(path(100, 0.0, 1), &[(endpoints, bulk)], 0, 30);
    assert!(carried.shares[0] > 0.95 && carried.queue < 0.2, "{carried:?}");
}

#[test]
fn the_states_follow_each_other_as_drawn_and_the_round_trip_is_probed_every_5_s() {
    use BbrState::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};
    let (_, visits) = run(path(100, 0.0, 1), &[(bbr(), bulk)], 0, 30);
    let allowed = [
        (Startup, Drain),
        (Drain, Down),
        (Drain, Cruise),
        (Down, Cruise),
        (Down, Refill),
        (Cruise, Refill),
        (Refill, Up),
        (Up, Down),
    ];
    for pair in visits.states.windows(2) {
        let step = (pair[0].1, pair[1].1);
        assert!(allowed.contains(&step) || step.1 == ProbeRtt || step == (ProbeRtt, Cruise), "{step:?}");
    }
    let probes: Vec<f64> =
        visits.states.iter().filter(|(_, state)| *state == ProbeRtt).map(|(at, _)| at.as_secs_f64()).collect();
    assert!((5.0..5.5).contains(&probes[0]) && probes.len() == 5, "{probes:?}");
    for gap in probes.windows(2).map(|pair| pair[1] - pair[0]) {
        // The probe itself takes 200 ms and a round trip or two.
        assert!((5.2..5.5).contains(&gap), "{probes:?}");
    }
    assert!(visits.first(Startup) < visits.first(Drain) && visits.first(Drain) < 1.0, "{:?}", visits.states);
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, State Transition Diagram; Entering and Exiting PROBE_RTT (example test case)",
        "state changes of 30 s; times of the probes of the round trip",
        &format!("{} of {} changes; 5 probes, 5.2 s to 5.5 s apart", visits.states.len(), visits.states.len()),
    );
}

/// Returns the mean share of the link over eight seeds with one packet in so many lost.
fn mean_share(endpoints: EndpointSettings, loss: f64) -> (f64, f64) {
    let runs: Vec<_> = (1..=8).map(|seed| run(path(100, loss, seed), &[(endpoints, bulk)], 0, 20).0).collect();
    let mean = |of: fn(&LinkUse) -> f64| runs.iter().map(of).sum::<f64>() / 8.0;
    (mean(|carried| carried.shares[0]), mean(|carried| carried.queue))
}

/// Outside its probes BBR slows down by the share of lost segments in each round trip with a loss, and paces 1 % below
/// that: after N of them to less than (1 − loss)^N, with two to three seconds to the next probe. Reno keeps a quarter of
/// the link. Without that response, and with a probe that bears a loss of two packets in a pipe, BBR fills it.
#[test]
fn random_loss_of_1_percent_costs_an_eighth_of_the_link_and_nothing_without_the_short_term_response() {
    let ((share, queue), (reno, _)) = (mean_share(bbr(), 0.01), mean_share(reno(), 0.01));
    assert!(share > 0.85 && queue < 0.2 && share > 3.0 * reno, "{share}, {queue}, {reno}");
    let patient = BbrParameters { beta: 1.0, loss_threshold: 0.05, ..BbrParameters::DEFAULT };
    let (full, full_queue) = mean_share(with(patient), 0.01);
    assert!(full > 0.93 && full_queue < 0.2, "{full}, {full_queue}");
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Design Considerations for Choosing Constant Parameters: the rate sinks by (1 − loss)^N",
        "share of a link of 10 Mb/s and 40 ms with 1 % random loss, mean of 8 seeds of 20 s",
        &format!(
            "{:.1} %, queue of {queue:.2} bandwidth-delay products; {:.1} % and {full_queue:.2} with beta 1 and a \
             threshold of 5 %; Reno {:.1} %",
            100.0 * share,
            100.0 * full,
            100.0 * reno
        ),
    );
}

/// RACK finds losses by time and tells of them, too.
#[test]
fn with_rack_it_is_the_same() {
    let settings = Config::rfc().with_control_only(Control::Bbr(BbrParameters::DEFAULT)).with_max_window(1000);
    let endpoints = rfc(settings.with_recovery_only(Recovery::Rack));
    let (carried, _) = run(path(100, 0.0, 1), &[(endpoints, bulk)], 0, 30);
    assert!(carried.shares[0] > 0.95 && carried.queue < 0.2, "{carried:?}");
    let ((with_rack, queue), (without, _)) = (mean_share(endpoints, 0.01), mean_share(bbr(), 0.01));
    assert!((with_rack - without).abs() < 0.05 && queue < 0.2, "{with_rack} beside {without}, {queue}");
}

/// The draft aims at no more than one and a half bandwidth-delay products in the queue ("Algorithm Overview").
#[test]
fn two_flows_share_the_link() {
    let (carried, _) = run(path(100, 0.0, 1), &[(bbr(), bulk), (bbr(), bulk)], 10, 60);
    let [first, second] = carried.shares[..] else { panic!("two groups") };
    assert!(first + second > 0.95 && first > 0.35 && second > 0.35 && carried.queue < 1.5, "{carried:?}");
}

#[test]
fn reno_and_bbr_both_live() {
    let (carried, _) = run(path(50, 0.0, 1), &[(bbr(), bulk), (reno(), bulk)], 10, 60);
    assert!(carried.shares.iter().all(|share| *share > 0.2), "{carried:?}");
    assert!(carried.shares.iter().sum::<f64>() > 0.95, "{carried:?}");
}

/// A video of 2 Mb/s: BBR has no more to send, and none of it waits.
#[test]
fn a_video_passes_as_fast_as_it_is_written() {
    let camera = |path| -> Box<dyn SenderApp> {
        Box::new(Media::new(path, Timetable::constant(Rate::from_bits_per_second(2_000_000).expect("a rate"), 1000)))
    };
    let (carried, visits) = run(path(100, 0.0, 1), &[(bbr(), camera)], 5, 30);
    assert!((carried.shares[0] - 0.2 * 1.052).abs() < 0.001 && carried.queue < 0.01, "{carried:?}");
    assert!(visits.states.len() < 20, "{:?}", visits.states);
}

/// Writes 2.5 MB as fast as they leave, then a film of 2 Mb/s.
#[derive(Debug)]
struct BulkThenFilm {
    path: PathId,
    connection: Option<ConnectionId>,
}

impl SenderApp for BulkThenFilm {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        match self.connection {
            None => {
                let connection = io.open(self.path);
                io.write(connection, 2_500_000);
                self.connection = Some(connection);
                io.wake_at(seconds(3));
            }
            Some(connection) => {
                io.write(connection, 10_000);
                io.wake_at(io.now() + Duration::from_millis(40));
            }
        }
    }
}

/// The film needs a fifth of the rate of the path, so that its samples are application-limited: 57 s and some twenty probes
/// later the bandwidth is still the path's, so that the next scene may be as large as the path is fast.
#[test]
fn a_film_below_the_rate_of_the_path_does_not_lower_the_bandwidth() {
    let film = |path| -> Box<dyn SenderApp> { Box::new(BulkThenFilm { path, connection: None }) };
    let (carried, visits) = run(path(100, 0.0, 1), &[(bbr(), film)], 10, 60);
    assert!((carried.shares[0] - 0.2 * 1.052).abs() < 0.002, "{carried:?}");
    let known = visits.last_bandwidth / SEGMENT_RATE;
    assert!((0.97..1.03).contains(&known), "{known} of the path's rate");
    conforms(
        Area::Control,
        "bbr",
        "draft-cardwell-iccrg-bbr-congestion-control-02 §4.5.2.3: \"By default, the estimator discards application-limited \
         samples, since by definition they reflect application limits\"",
        "bandwidth on 10 Mb/s after 57 s of a film of 2 Mb/s",
        &format!("{:.1} % of the path's rate", 100.0 * known),
    );
}

/// A pipe of a fraction of a packet: four segments keep the link busy.
#[test]
fn a_path_shorter_than_a_packet_is_filled() {
    let slow = LinkSettings { rate: Rate::from_bits_per_second(100_000).expect("a rate"), ..path(100, 0.0, 1) };
    let (carried, _) = run(slow, &[(bbr(), bulk)], 5, 60);
    assert!(carried.shares[0] > 0.0095, "{carried:?}");
}

/// A path whose rate changes at 10 s; gives the shares of its capacity from then on, and the bandwidth at the end.
fn after_change(from: u64, to: u64, until: u64) -> (f64, f64) {
    let rate = |bits| Rate::from_bits_per_second(bits).expect("a rate");
    let changes = Some(RateChanges::Steps(Arc::new([(seconds(10), rate(to))])));
    let forward = LinkSettings { rate: rate(from), changes, ..path(400, 0.0, 1) };
    let (carried, visits) = run(forward, &[(bbr(), bulk)], 10, until);
    (carried.shares[0] * RATE as f64 / to as f64, visits.last_bandwidth * 1052.0 * 8.0 / to as f64)
}

/// 10 Mb/s to 100 Mb/s: a probe comes within 3 s, and the steps double.
#[test]
fn ten_times_the_bandwidth_is_found_in_seconds() {
    let (share, bandwidth) = after_change(RATE, 10 * RATE, 20);
    assert!(share > 0.55 && (bandwidth - 1.0).abs() < 0.05, "{share}, {bandwidth}");
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Increasing Bandwidth 10x (example test case)",
        "bandwidth 10 s after 10 Mb/s became 100 Mb/s",
        &format!("{:.1} % of 100 Mb/s; {:.0} % of the link used meanwhile", 100.0 * bandwidth, 100.0 * share),
    );
}

#[test]
fn a_tenth_of_the_bandwidth_is_adapted_to() {
    let (share, bandwidth) = after_change(10 * RATE, RATE, 30);
    assert!(share > 0.9 && (bandwidth - 1.0).abs() < 0.05, "{share}, {bandwidth}");
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Decreasing Bandwidth 10x (example test case)",
        "bandwidth 20 s after 100 Mb/s became 10 Mb/s",
        &format!("{:.1} % of 10 Mb/s", 100.0 * bandwidth),
    );
}
