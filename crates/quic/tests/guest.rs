//! Quinn in a simulated network: what RFC 9000, 9002 and 9221 ask for, in times.

use earlybird_conformance::{Area, conforms};
use earlybird_quic::{Carriage, Control, LARGEST_PAYLOAD, stack};
use earlybird_sim::{
    Carrier, FlowId, FlowSettings, GroupId, GuestSettings, GuestState, LinkSettings, Loss, LossRule, Network, Observer,
    Packet, PacketEvent, QueueLimit, World,
};
use earlybird_tcp::TraceEvent;
use earlybird_traffic::{Application, Bulk, Media, PathId, Timetable};
use earlybird_units::{Duration, Instant, Rate, SeedTree};
use rstest::rstest;

/// What an observer saw.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    written: Vec<Instant>,
    /// Bytes up to the end of each unit.
    ends: Vec<u64>,
    delivered: Vec<(u32, Instant)>,
    timeouts: Vec<(Instant, Duration, Duration)>,
    /// Time and size of every packet that the sender sent, and whether there was data in it.
    packets: Vec<(Instant, u32, bool)>,
    /// The same of the receiver.
    back: Vec<(Instant, u32, bool)>,
    sender: GuestState,
    received: u64,
}

impl Observer for Seen {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        if event == PacketEvent::Sent {
            let way = if packet.to.is_opener() { &mut self.back } else { &mut self.packets };
            way.push((at, packet.bytes, packet.is_data()));
        }
    }

    fn on_trace(&mut self, at: Instant, _flow: FlowId, event: TraceEvent) {
        if let TraceEvent::Timeout { timer, freeze } = event {
            self.timeouts.push((at, timer, freeze));
        }
    }

    fn on_unit(&mut self, at: Instant, _flow: FlowId, bytes: u64) {
        self.written.push(at);
        self.ends.push(self.ends.last().unwrap_or(&0) + bytes);
    }

    fn on_delivered(&mut self, at: Instant, _flow: FlowId, bytes: u64) {
        while self.ends.get(self.delivered.len()).is_some_and(|end| *end <= bytes) {
            self.delivered.push((self.delivered.len() as u32, at));
        }
    }

    fn on_unit_delivered(&mut self, at: Instant, _flow: FlowId, unit: u32) {
        self.delivered.push((unit, at));
    }

    fn on_guest_end(&mut self, _flow: FlowId, sender: &GuestState, received: u64) {
        (self.sender, self.received) = (*sender, received);
    }
}

impl Seen {
    /// Gives how long each unit took in milliseconds, in the order of writing; infinite if it did not come.
    fn delays(&self) -> Vec<f64> {
        let mut delays = vec![f64::INFINITY; self.written.len()];
        for (unit, at) in &self.delivered {
            delays[*unit as usize] = (*at - self.written[*unit as usize]).as_secs_f64() * 1e3;
        }
        delays
    }

    /// Gives the number of the packet that carries a unit, among all of its way.
    fn packet_of(&self, unit: usize) -> u64 {
        let carries = |(at, _, is_data): &(Instant, u32, bool)| *is_data && *at >= self.written[unit];
        self.packets.iter().position(carries).expect("a packet") as u64
    }

    /// Gives those of them that took longer than a packet takes which is not lost, of units written when the connection stood.
    fn late(&self) -> Vec<(usize, f64)> {
        self.delays().into_iter().enumerate().skip(FIRST).filter(|(_, delay)| *delay > DELAY + 1.0).collect()
    }
}

/// One way, in milliseconds.
const DELAY: f64 = 50.0;
/// Units of which the connection certainly stood when they were written.
const FIRST: usize = 100;
/// So few that no window is ever full, even after a loss.
const BYTES: u64 = 100;

fn link(rate: u64, limit: QueueLimit, losses: Vec<Loss>) -> LinkSettings {
    let rate = Rate::from_bits_per_second(rate).expect("a rate");
    let plain = LinkSettings::plain("", rate, SeedTree::new(1));
    LinkSettings { delay: Duration::from_millis(DELAY as u64), limit, losses, ..plain }
}

/// Runs one flow for so many seconds.
fn run(
    carriage: Carriage,
    control: Control,
    forward: LinkSettings,
    seconds: u64,
    application: impl FnOnce(PathId) -> Box<dyn Application>,
) -> Seen {
    let mut network = Network::default();
    let [left, right] = [network.add_node(), network.add_node()];
    let backward = LinkSettings { losses: Vec::new(), limit: QueueLimit::Unlimited, ..forward.clone() };
    network.add_link(left, right, forward);
    network.add_link(right, left, backward);
    let [there, back] = [(left, right), (right, left)].map(|(from, to)| network.add_route(from, to).expect("a route"));
    let mut world = World::new(network, Seen::default());
    let path = world.add_path(there, back);
    let endpoints = GuestSettings { stack: stack(carriage, control), mss: LARGEST_PAYLOAD, ecn: false };
    let settings = FlowSettings { group: GroupId(0), endpoints: Carrier::Guest(endpoints), seeds: SeedTree::new(1) };
    let flow = world.add_flow(settings);
    world.add_application(flow, application(path), Instant::ZERO);
    assert!(world.run_until(Instant::ZERO + Duration::from_secs(seconds), 1 << 40));
    world.finish();
    world.into_parts().1
}

/// Sends 500 units, one per so many milliseconds, over 100 Mb/s, where the packets with these numbers are lost.
fn units(carriage: Carriage, period: u64, drops: &[u64]) -> Seen {
    let loss = Loss::new(LossRule::List(drops.to_vec()), SeedTree::new(1).random());
    let rate = Rate::from_bits_per_second(BYTES * 8 * 1000 / period).expect("a rate");
    let timetable = Timetable::constant(rate, BYTES).ending_after(Some(500));
    let forward = link(100_000_000, QueueLimit::Unlimited, vec![loss]);
    run(carriage, Control::Cubic, forward, 60, |path| Box::new(Media::new(path, timetable)))
}

/// The same, where one unit's packet is lost.
fn units_without(carriage: Carriage, period: u64, unit: usize) -> Seen {
    units(carriage, period, &[units(carriage, period, &[]).packet_of(unit)])
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} beside {expected}");
}

#[rstest]
fn data_follow_the_first_round_trip_and_then_take_the_way_once(
    #[values(Carriage::Stream, Carriage::Streams, Carriage::Datagrams)] carriage: Carriage,
) {
    let seen = units(carriage, 20, &[]);
    let delays = seen.delays();
    // A round trip for the handshake, and half of one for the data.
    near(delays[0], 3.0 * DELAY, 1.5);
    delays[FIRST..].iter().for_each(|delay| near(*delay, DELAY, 0.5));
    assert_eq!((seen.delivered.len(), seen.received, seen.timeouts.len()), (500, 500 * BYTES, 0));
    // UDP's payload is at least 1200 bytes in the packets that open a connection (RFC 9000 §14.1), and then grows to quinn's limit.
    let sizes: Vec<u32> = seen.packets.iter().map(|packet| packet.1).collect();
    assert_eq!(sizes[0], 1200 + 28);
    assert_eq!(sizes.iter().max(), Some(&(u32::from(LARGEST_PAYLOAD) + 28)));
    assert_eq!(seen.back[0].1, 1200 + 28, "the server's first is filled up too");
}

#[test]
fn the_third_packet_behind_a_hole_means_loss() {
    let seen = units_without(Carriage::Streams, 2, 300);
    let late = seen.late();
    // Three periods later the third packet behind it left; its acknowledgement came a round trip later, and the data once more.
    near(late[0].1, 3.0 * 2.0 + 3.0 * DELAY, 0.5);
    assert_eq!((late.len(), seen.sender.statistics.retransmissions, seen.timeouts.len()), (1, 1, 0));
    conforms(
        Area::Recovery,
        "QUIC (quinn)",
        "RFC 9002 §6.1.1: kPacketThreshold = 3",
        "a unit of 100 bytes every 2 ms over a round trip of 100 ms, one packet lost: when its data come after all",
        "3 periods and 3/2 round trips after they were written, within 0.5 ms",
    );
}

#[test]
fn a_hole_of_nine_eighths_of_a_round_trip_means_loss() {
    let seen = units_without(Carriage::Streams, 10, 300);
    let late = seen.late();
    // The first acknowledgement that shows the hole comes after 110 ms, the third after 130.
    near(late[0].1, (9.0 / 8.0) * 2.0 * DELAY + DELAY, 1.0);
    assert_eq!((late.len(), seen.timeouts.len()), (1, 0));
    conforms(
        Area::Recovery,
        "QUIC (quinn)",
        "RFC 9002 §6.1.2: kTimeThreshold = 9/8",
        "the same with a unit every 10 ms, where the third packet would come too late",
        "9/8 of a round trip and the way once after they were written, within 1 ms",
    );
}

#[test]
fn silence_ends_with_a_probe_after_the_probe_timeout() {
    let seen = units_without(Carriage::Streams, 20, 499);
    // A round trip, its deviation – long at its least, a millisecond –, and the peer's longest delay of ACKs, 25 ms.
    let timeout = 2.0 * DELAY + 1.0 + 25.0;
    let late = seen.late();
    assert_eq!((late.len(), late[0].0, seen.timeouts.len()), (1, 499, 1), "{:?}", seen.timeouts);
    near(late[0].1, timeout + DELAY, 2.0);
    let (_, timer, freeze) = seen.timeouts[0];
    near(timer.as_secs_f64() * 1e3, timeout, 2.0);
    assert!(freeze < timer + Duration::from_millis(25), "{freeze:?}: acknowledgements of units before came in between");
    conforms(
        Area::Timer,
        "QUIC (quinn)",
        "RFC 9002 §6.2.1: PTO = smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay",
        "the last unit lost: the timer's length, and when the unit comes after all",
        "126 ms, and 50 ms later, within 2 ms",
    );
}

#[test]
fn a_stream_keeps_all_back_that_stands_behind_a_hole_and_streams_do_not() {
    let [stream, streams] =
        [Carriage::Stream, Carriage::Streams].map(|carriage| units_without(carriage, 2, 300).late());
    // Those that were written before the repair arrived.
    assert_eq!((stream.len(), streams.len()), (53, 1));
    let falling = stream.windows(2).all(|pair| (pair[0].1 - pair[1].1 - 2.0).abs() < 0.5);
    assert!(falling, "all are released together: {stream:?}");
}

#[test]
fn datagrams_are_never_repaired() {
    let seen = units_without(Carriage::Datagrams, 2, 300);
    let late = seen.late();
    assert_eq!((late.len(), late[0].1), (1, f64::INFINITY));
    assert_eq!((seen.delivered.len(), seen.sender.statistics.retransmissions), (499, 0));
}

#[rstest]
#[case(Carriage::Stream, Control::Cubic)]
#[case(Carriage::Stream, Control::NewReno)]
#[case(Carriage::Datagrams, Control::Cubic)]
fn a_transfer_fills_the_link(#[case] carriage: Carriage, #[case] control: Control) {
    // A queue of a bandwidth-delay product: 125 kB.
    let forward = link(10_000_000, QueueLimit::Packets(84), Vec::new());
    let seen = run(carriage, control, forward, 60, |path| Box::new(Bulk::new(path, None)));
    let share = seen.received as f64 * 8.0 / (60.0 * 10e6);
    assert!((0.88..0.98).contains(&share), "{share}");
    assert!(seen.sender.cwnd > 84.0 && seen.sender.srtt.is_some());
}

#[test]
fn a_seed_gives_the_same_packets_at_the_same_times() {
    let drops: Vec<u64> = (50..450).step_by(7).collect();
    for carriage in [Carriage::Stream, Carriage::Streams, Carriage::Datagrams] {
        assert_eq!(units(carriage, 5, &drops), units(carriage, 5, &drops));
    }
}

#[test]
fn a_unit_larger_than_a_datagram_is_there_when_all_its_parts_are() {
    let timetable =
        Timetable::constant(Rate::from_bits_per_second(400_000).expect("a rate"), 5000).ending_after(Some(50));
    let forward = link(100_000_000, QueueLimit::Unlimited, Vec::new());
    let media = |path| -> Box<dyn Application> { Box::new(Media::new(path, timetable.clone())) };
    let seen = run(Carriage::Datagrams, Control::Cubic, forward, 20, media);
    assert_eq!((seen.delivered.len(), seen.received), (50, 50 * 5000));
}
