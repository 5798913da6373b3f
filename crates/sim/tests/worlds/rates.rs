//! Links whose rate changes while packets are on them.

use crate::dumbbell::{BUDGET, DuplexLink, FORWARD, link, ns2, seconds};
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{LinkSettings, Observer, Outage, Outages, Packet, PacketEvent, QueueLimit, RateChanges};
use earlybird_tcp::Config;
use earlybird_units::{Duration, Instant, Rate};

/// The times at which data packets entered the forward link and arrived.
#[derive(Default)]
struct Times {
    entered: Vec<(Instant, u32)>,
    arrived: Vec<Instant>,
}

impl Observer for Times {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        match event {
            PacketEvent::Entered(FORWARD) => self.entered.push((at, packet.bytes)),
            PacketEvent::Arrived if packet.to.0 % 2 == 1 => self.arrived.push(at),
            _ => {}
        }
    }
}

/// Sends a burst of 30 packets at once.
fn burst(changes: RateChanges) -> Times {
    burst_over(Some(changes), Outages::default())
}

fn burst_over(changes: Option<RateChanges>, outages: Outages) -> Times {
    let forward = LinkSettings { changes, outages, ..link(1_000_000, 10, QueueLimit::Unlimited) };
    let config = Config::ns2().with_initial_window(30);
    let mut world = DuplexLink::new(forward).world(ns2(config), 100_000, Times::default());
    assert!(world.run_until(seconds(60), BUDGET));
    world.into_parts().1
}

fn millis(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// The service of mahimahi's link (`link_queue.cc`, `rationalize`): at each chance 1500 bytes are taken from the packet in
/// transit and those behind it, until nothing is left of either.
fn mahimahi(trace: &[u64], packets: &[(Instant, u32)]) -> Vec<Instant> {
    let (mut departures, mut in_transit, mut next) = (Vec::new(), 0, 0);
    let period = *trace.last().expect("times");
    for chance in (0..).flat_map(|round| trace.iter().map(move |at| millis(round * period + at))) {
        let mut left = 1500;
        while left > 0 {
            if in_transit == 0 {
                // Packets that come at the very time of a chance come behind it.
                let Some((_, bytes)) = packets.get(next).filter(|(at, _)| *at < chance) else { break };
                in_transit = *bytes;
            }
            let part = left.min(in_transit);
            (left, in_transit) = (left - part, in_transit - part);
            if in_transit == 0 {
                departures.push(chance);
                next += 1;
            }
        }
        if departures.len() == packets.len() {
            break;
        }
    }
    departures
}

#[test]
fn a_trace_serves_1500_bytes_per_line_as_mahimahi_does() {
    for trace in [vec![0, 1, 1, 5, 7], vec![3], vec![2, 2, 2, 40, 90, 91, 91], vec![1, 10, 10, 10, 10, 10, 11]] {
        let chances = trace.iter().copied().map(Duration::from_millis).collect();
        let times = burst(RateChanges::Opportunities { times: chances, start: Duration::ZERO });
        let expected: Vec<_> =
            mahimahi(&trace, &times.entered).into_iter().map(|at| at + Duration::from_millis(10)).collect();
        assert!(times.arrived.len() > 100);
        assert_eq!(times.arrived, expected, "{trace:?}");
    }
    let compared = "departures of 101 packets on 4 traces, a burst of 30 among them";
    conforms(Area::Network, "trace", "mahimahi, link_queue.cc", compared, "all equal");
}

/// The reference is mahimahi over the trace that begins there, with whole repetitions behind it.
#[test]
fn a_run_begins_at_a_later_time_of_a_trace() {
    let trace = [2, 2, 2, 40, 90, 91, 91];
    for start in [0, 1, 2, 3, 39, 40, 90, 91] {
        let times = trace.map(Duration::from_millis).into();
        let times = burst(RateChanges::Opportunities { times, start: Duration::from_millis(start) });
        let repeated = (0..1000).flat_map(|round| trace.iter().map(move |at| round * 91 + at));
        let from_start: Vec<u64> = repeated.filter(|at| *at >= start).map(|at| at - start).collect();
        let expected: Vec<_> =
            mahimahi(&from_start, &times.entered).into_iter().map(|at| at + Duration::from_millis(10)).collect();
        assert!(times.arrived.len() > 100);
        assert_eq!(times.arrived, expected, "{start}");
    }
}

/// 1040 bytes take 8.32 ms at 1 Mb/s. After 20 ms and two packets, 3.36 ms of the third are done: the other 4.96 ms take
/// 1.24 ms at 4 Mb/s, and a packet 2.08 ms from there on.
#[test]
fn a_step_changes_the_rate_within_a_packet() {
    let open = burst(RateChanges::Steps([].into())).entered[1].0;
    let at = open + Duration::from_millis(20);
    let rate = Rate::from_bits_per_second(4_000_000).expect("a rate");
    let times = burst(RateChanges::Steps([(at, rate)].into()));
    let sent: Vec<u64> = times.arrived[1..6].iter().map(|at| (*at - open).as_nanos() / 1000 - 10_000).collect();
    assert_eq!(sent, [8320, 16_640, 21_240, 23_320, 25_400]);
}

/// 1040 bytes take 8.32 ms at 1 Mb/s: an outage from 20 ms on interrupts the third packet for 50 ms.
#[test]
fn packets_wait_for_the_end_of_an_outage() {
    let open = burst(RateChanges::Steps([].into())).entered[1].0;
    let start = open + Duration::from_millis(20);
    let outages = Outages::new([Outage { start, duration: Duration::from_millis(50), period: None }]);
    let times = burst_over(None, outages);
    let sent: Vec<u64> = times.arrived[1..6].iter().map(|at| (*at - open).as_nanos() / 1000 - 10_000).collect();
    assert_eq!(sent, [8320, 16_640, 74_960, 83_280, 91_600]);
}

#[test]
fn a_packet_that_finds_a_link_down_waits_in_the_queue() {
    let outages = Outages::new([Outage { start: Instant::ZERO, duration: Duration::from_millis(50), period: None }]);
    let forward = LinkSettings { outages, ..link(1_000_000, 10, QueueLimit::Unlimited) };
    let mut duplex = DuplexLink::new(forward);
    duplex.network.link_mut(FORWARD).measure_between(Instant::ZERO, millis(60_000));
    duplex.network.link_mut(FORWARD).keep_queueing_delays();
    let mut world = duplex.world(ns2(Config::ns2()), 1000, ());
    assert!(world.run_until(seconds(60), BUDGET));
    let (network, ()) = world.into_parts();
    let link = network.link(FORWARD);
    // The packet that opens the connection; the next one finds the link up and idle.
    assert_eq!(link.queueing_delays()[..2], [Duration::from_millis(50), Duration::ZERO]);
    assert_eq!(link.max_backlog, 1);
}

#[test]
fn capacity_has_no_part_in_outages() {
    let outages = Outages::new([Outage { start: millis(1000), duration: Duration::from_millis(500), period: None }]);
    let changes = Some(RateChanges::Steps([(millis(1200), Rate::from_bits_per_second(4000).expect("a rate"))].into()));
    let settings = LinkSettings { changes, outages, ..link(1000, 0, QueueLimit::Unlimited) };
    let bits = [500, 1000, 1500, 2000].map(|at| settings.bits_before(millis(at)).round() as u64);
    assert_eq!(bits, [500, 1000, 1000, 3000]);
}

#[test]
fn capacity_adds_up_over_steps_and_rounds_of_a_trace() {
    let rate = |bits| Rate::from_bits_per_second(bits).expect("a rate");
    let steps = RateChanges::Steps([(millis(1000), rate(500)), (millis(3000), rate(100))].into());
    let bits = [500, 2000, 10_000].map(|at| steps.bits_before(millis(at), rate(1000)).round() as u64);
    assert_eq!(bits, [500, 1500, 2700]);
    let chances =
        RateChanges::Opportunities { times: [0, 5, 5, 12].map(Duration::from_millis).into(), start: Duration::ZERO };
    let count = |at| (chances.bits_before(millis(at), rate(1)) / 12_000.0).round() as u64;
    // At 12 ms the last chance of a round and the first of the next one meet.
    assert_eq!([1, 5, 6, 12, 13, 25, 120].map(count), [1, 1, 3, 3, 5, 9, 39]);
    let later = RateChanges::Opportunities {
        times: [0, 5, 5, 12].map(Duration::from_millis).into(),
        start: Duration::from_millis(5),
    };
    let count = |at| (later.bits_before(millis(at), rate(1)) / 12_000.0).round() as u64;
    assert_eq!([0, 1, 7, 8, 12, 13].map(count), [0, 2, 2, 4, 4, 6]);
}
