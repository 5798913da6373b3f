//! Prague behind `DualPI2`: 40 Mb/s, where a packet of 1052 bytes takes 0.21 ms.

use crate::dumbbell::{BUDGET, DuplexLink, FORWARD, add_flow, link, rfc, seconds};
use crate::event_driven::dual_pi2;
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{
    EndpointSettings, FlowEnd, FlowGauges, FlowId, LinkCounts, LinkSettings, Observer, QueueLimit, World,
};
use earlybird_tcp::{Config, Control, CubicConfig, EcnMode, PragueParameters, Recovery};
use earlybird_traffic::Bulk;
use earlybird_units::{Duration, Instant};

const RATE: u64 = 40_000_000;
/// Flows have settled by then; what comes later counts.
const FROM: u64 = 20;
const UNTIL: u64 = 80;

fn prague() -> EndpointSettings {
    with(Config::rfc().with_control_only(Control::Prague(PragueParameters::DEFAULT)).with_ecn(EcnMode::Accurate))
}

fn with(config: Config) -> EndpointSettings {
    rfc(config.with_max_window(1000))
}

fn reno() -> EndpointSettings {
    with(Config::rfc())
}

fn cubic() -> EndpointSettings {
    with(Config::rfc().with_control_only(Control::Cubic(CubicConfig::RFC9438)))
}

/// The counters of the senders.
#[derive(Debug, Default)]
struct Senders {
    /// By flow.
    retransmissions: Vec<u64>,
    mark_responses: u64,
    /// Round-trip times of the first flow that were looked at, in milliseconds.
    rtts: Vec<f64>,
}

impl Observer for Senders {
    fn on_probe(&mut self, at: Instant, flow: FlowId, gauges: &FlowGauges) {
        let rtt = gauges.srtt.filter(|_| flow == FlowId(0) && at >= seconds(FROM));
        self.rtts.extend(rtt.map(|rtt| 1e3 * rtt.as_secs_f64()));
    }

    fn on_end(&mut self, _flow: FlowId, end: &FlowEnd) {
        self.retransmissions.push(end.statistics.retransmissions);
        self.mark_responses += end.statistics.mark_responses;
    }
}

/// The outcome of a run: shares of the link by flow, the mean wait of its packets in milliseconds, and what
/// the link and the senders counted.
#[derive(Debug)]
struct Outcome {
    shares: Vec<f64>,
    wait: f64,
    total: LinkCounts,
    senders: Senders,
}

/// Endless transfers that start 100 ms apart, over a path with a round trip of so many milliseconds.
fn run(rtt: u64, flows: &[EndpointSettings]) -> Outcome {
    let forward = LinkSettings { discipline: dual_pi2(), ..link(RATE, rtt / 2, QueueLimit::Packets(10_000)) };
    let mut wire = DuplexLink::new(forward);
    wire.network.link_mut(FORWARD).count_groups(flows.len());
    wire.network.link_mut(FORWARD).measure_between(seconds(FROM), seconds(UNTIL));
    let mut world = World::new(wire.network, Senders::default());
    let path = world.add_path(wire.there, wire.back);
    for (number, endpoints) in (0..).zip(flows) {
        let start = seconds(0) + Duration::from_millis(100) * u64::from(number);
        add_flow(&mut world, &format!("flow {number}"), number, *endpoints, Box::new(Bulk::new(path, None)), start);
    }
    world.probe_every(Duration::from_millis(50));
    assert!(world.run_until(seconds(UNTIL), BUDGET));
    world.finish();
    let (network, senders) = world.into_parts();
    let [start, end] = [network.link(FORWARD).reading_at_start(), network.link(FORWARD).reading_at_end()];
    let bytes = start.groups.iter().zip(&end.groups).map(|(start, end)| end.bytes_out - start.bytes_out);
    let capacity = RATE as f64 / 8.0 * (UNTIL - FROM) as f64;
    Outcome {
        shares: bytes.map(|bytes| bytes as f64 / capacity).collect(),
        wait: end.mean_queue_delay_ms_since(&start),
        total: end.total,
        senders,
    }
}

#[test]
fn one_flow_and_five_fill_the_link_and_wait_less_than_a_millisecond() {
    let mut compared = Vec::new();
    for (rtt, flows) in [(10, 1), (10, 5), (20, 1), (20, 5), (50, 1), (50, 5)] {
        let outcome = run(rtt, &vec![prague(); flows]);
        let used: f64 = outcome.shares.iter().sum();
        let even = 1.0 / flows as f64;
        assert!(used > 0.97 && outcome.shares.iter().all(|share| (share / even - 1.0).abs() < 0.2), "{outcome:?}");
        assert!((0.2..1.2).contains(&outcome.wait), "{outcome:?}");
        assert_eq!((outcome.total.packets_dropped, outcome.senders.retransmissions.iter().sum::<u64>()), (0, 0));
        assert!(outcome.senders.mark_responses > 50, "{outcome:?}");
        compared.push(format!("{:.1} % and {:.2} ms", 100.0 * used, outcome.wait));
    }
    conforms(
        Area::Control,
        "prague",
        "RFC 9332 §1 and appendix A, figure 7: a queue of about a millisecond at full utilisation",
        "40 Mb/s behind DualPI2: link used and mean wait with one and five flows at 10, 20 and 50 ms; no drops",
        &compared.join(", "),
    );
}

#[test]
fn with_rack_it_is_the_same() {
    let base = prague().opener;
    let outcome = run(20, &[with(base.with_recovery_only(Recovery::Rack))]);
    assert!(outcome.shares[0] > 0.97 && outcome.wait < 1.2 && outcome.total.packets_dropped == 0, "{outcome:?}");
}

/// The coupling gives both the same window, but classic packets wait 15 ms: the shorter the path, the more that counts.
#[test]
fn beside_classic_flows_each_gets_its_share_and_loses_nothing() {
    let mut compared = Vec::new();
    for (rtt, other) in [(20, reno()), (20, cubic()), (50, reno()), (50, cubic())] {
        let outcome = run(rtt, &[prague(), prague(), other, other]);
        let [scalable, classic] = [0, 2].map(|first| outcome.shares[first] + outcome.shares[first + 1]);
        assert_eq!(outcome.senders.retransmissions[..2], [0, 0]);
        let rtts = &outcome.senders.rtts;
        let mean = rtts.iter().sum::<f64>() / rtts.len() as f64;
        // A packet takes 0.21 ms on the link.
        assert!((0.2..1.2).contains(&(mean - rtt as f64)), "{mean} ms");
        assert!((0.5..2.0).contains(&(scalable / classic)) && scalable + classic > 0.93, "{outcome:?}");
        compared.push(format!("{:.2} and {:.2} ms", scalable / classic, mean - rtt as f64));
    }
    conforms(
        Area::Control,
        "prague",
        "RFC 9332 §2.1: the coupling makes rates roughly equal",
        "40 Mb/s behind DualPI2: rate of two flows over that of two of Reno and CUBIC at 20 ms, then at 50 ms (0.5 to 2), and what their \
         round trips have on top",
        &compared.join(", "),
    );
}
