//! TFRC over whole networks.

use crate::dumbbell::{BUDGET, Dumbbell, DuplexLink, add_flow, link, lossy, ns2, seconds};
use crate::marking::codel;
use earlybird_conformance::{Area, conforms};
use earlybird_datagram::tfrc::throughput;
use earlybird_datagram::{Config, Control};
use earlybird_sim::{Carrier, Packet, PacketEvent};
use earlybird_sim::{
    DatagramSettings, FlowEnd, FlowGauges, FlowId, FlowSettings, GroupId, HeaderSize, LinkSettings, Loss, LossRule,
    Observer, QueueLimit, World,
};
use earlybird_traffic::{Bulk, Media, SenderApp, Timetable};
use earlybird_units::{Duration, Instant, Rate, SeedTree};

const TFRC: Carrier = tfrc(false);

const fn tfrc(ecn: bool) -> Carrier {
    let config = Config { control: Control::Tfrc, mss: 1000, ecn };
    Carrier::Datagrams(DatagramSettings { config, headers: HeaderSize::Ns2 })
}

/// Payload bytes that arrived per flow, at a mark and at the end, and what else is worth knowing.
#[derive(Debug, Default)]
struct Totals {
    at_mark: Vec<u64>,
    at_end: Vec<u64>,
    dropped: u64,
    /// Allowed rates in bytes per second, once per probe.
    rates: Vec<f64>,
}

impl Totals {
    fn since_mark(&self, flow: usize) -> f64 {
        (self.at_end[flow] - self.at_mark[flow]) as f64
    }
}

impl Observer for Totals {
    fn on_packet(&mut self, _at: Instant, event: PacketEvent, _packet: &Packet) {
        self.dropped += u64::from(matches!(event, PacketEvent::Dropped(..)));
    }

    fn on_warm_up_end(&mut self, open: &[(FlowId, FlowEnd)]) {
        self.at_mark = open.iter().map(|(_, now)| now.bytes_delivered).collect();
    }

    fn on_end(&mut self, _flow: FlowId, end: &FlowEnd) {
        self.at_end.push(end.bytes_delivered);
    }

    fn on_probe(&mut self, _at: Instant, _flow: FlowId, gauges: &FlowGauges) {
        self.rates.extend(gauges.allowed_rate.map(|bits| bits / 8.0));
    }
}

/// Adds a flow that starts so many milliseconds after the beginning.
fn add(world: &mut World<Totals>, endpoints: Carrier, application: Box<dyn SenderApp>, start: u64) {
    let settings = FlowSettings { group: GroupId(0), endpoints, seeds: SeedTree::new(1).nth(start) };
    let flow = world.add_flow(settings);
    world.add_sender(flow, application, Instant::ZERO + Duration::from_millis(start));
}

/// One endless flow over a duplex, watched from `mark` to `end` seconds.
fn single_flow(endpoints: Carrier, forward: LinkSettings, mark: u64, end: u64) -> Totals {
    let duplex = DuplexLink::new(forward);
    let mut world = World::new(duplex.network, Totals::default());
    let path = world.add_path(duplex.there, duplex.back);
    add(&mut world, endpoints, Box::new(Bulk::new(path, None)), 0);
    world.end_warm_up_at(seconds(mark));
    world.probe_every(Duration::from_secs(1));
    assert!(world.run_until(seconds(end), BUDGET));
    world.finish();
    world.into_parts().1
}

#[test]
fn under_random_losses_the_rate_is_that_of_the_equation() {
    for (delay, probability) in [(50, 0.01), (25, 0.02), (50, 0.04)] {
        let loss = Loss::new(LossRule::Bernoulli(probability), SeedTree::new(1).random());
        let totals = single_flow(TFRC, lossy(link(100_000_000, delay, QueueLimit::Unlimited), vec![loss]), 50, 550);
        let expected = throughput(1000.0, 2.0 * delay as f64 / 1000.0, probability);
        let ratio = totals.since_mark(0) / 500.0 / expected;
        assert!((ratio - 1.0).abs() < 0.25, "{ratio} of the rate at loss {probability} and {delay} ms");
    }
    conforms(
        Area::Control,
        "tfrc",
        "RFC 5348 §3.1",
        "rate over 500 s under independent losses of 1, 2, 4 %, against the equation",
        "3 of 3 within 25 %",
    );
}

#[test]
fn a_single_flow_fills_a_link_and_keeps_its_rate() {
    // 2 Mb/s and 100 ms: 25 packets of 1000 bytes.
    let totals = single_flow(TFRC, link(2_000_000, 50, QueueLimit::Packets(25)), 20, 120);
    let used = totals.since_mark(0) / 100.0 / 250_000.0;
    assert!(used > 0.85, "{used} of the link");
    let late = &totals.rates[20..];
    let (smallest, largest) =
        late.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    assert!(largest < 2.0 * smallest, "rates from {smallest} to {largest} bytes per second");
}

#[test]
fn behind_a_queue_that_marks_nothing_is_lost() {
    let marking = || LinkSettings { discipline: codel(), ..link(2_000_000, 50, QueueLimit::Packets(1000)) };
    let [without, with] = [false, true].map(|ecn| single_flow(tfrc(ecn), marking(), 20, 120));
    assert!(without.dropped > 0 && with.dropped == 0, "{} and {} drops", without.dropped, with.dropped);
    let used = with.since_mark(0) / 100.0 / 250_000.0;
    assert!(used > 0.75, "{used} of the link");
}

#[test]
fn beside_tcp_it_gets_as_much() {
    let dumbbell = Dumbbell::new(link(15_000_000, 15, QueueLimit::Packets(100))).with_pairs(8);
    let (network, routes) = dumbbell.into_parts();
    let mut world = World::new(network, Totals::default());
    for (index, (there, back)) in (0..).zip(routes) {
        let path = world.add_path(there, back);
        let bulk = Box::new(Bulk::new(path, None));
        let start = 100 * index;
        if index % 2 == 0 {
            add(&mut world, TFRC, bulk, start);
        } else {
            let at = Instant::ZERO + Duration::from_millis(start);
            add_flow(&mut world, &format!("tcp-{index}"), 0, ns2(earlybird_tcp::Config::ns2()), bulk, at);
        }
    }
    world.end_warm_up_at(seconds(20));
    assert!(world.run_until(seconds(120), BUDGET));
    world.finish();
    let totals = world.into_parts().1;
    let sum = |first: usize| (first..8).step_by(2).map(|flow| totals.since_mark(flow)).sum::<f64>();
    let (tfrc, tcp) = (sum(0), sum(1));
    assert!((0.5..2.0).contains(&(tfrc / tcp)), "TFRC {tfrc}, TCP {tcp} bytes");
    assert!(totals.dropped > 0 && (tfrc + tcp) * 8.0 / 100.0 > 0.9 * 15e6 * 1000.0 / 1040.0);
    conforms(
        Area::Control,
        "tfrc",
        "RFC 5348 §1",
        "four flows beside four sack flows, 15 Mb/s, queue 100 packets, 100 s",
        "share between one half and twice TCP's",
    );
}

#[test]
fn a_camera_slower_than_the_network_is_not_held_back() {
    let duplex = DuplexLink::new(link(2_000_000, 50, QueueLimit::Packets(25)));
    let mut world = World::new(duplex.network, Totals::default());
    let path = world.add_path(duplex.there, duplex.back);
    let rate = Rate::from_bits_per_second(300_000).expect("a rate above zero");
    add(&mut world, TFRC, Box::new(Media::new(path, Timetable::constant(rate, 1000))), 0);
    world.end_warm_up_at(seconds(10));
    assert!(world.run_until(seconds(110), BUDGET));
    world.finish();
    let totals = world.into_parts().1;
    let delivered = totals.since_mark(0) * 8.0 / 100.0;
    assert!(totals.dropped == 0 && (delivered - 300_000.0).abs() < 1_000.0, "{delivered} b/s");
}
