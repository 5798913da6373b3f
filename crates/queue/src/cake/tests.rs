//! CAKE beside Linux's: `sch_cake` of Linux 6.1 (Debian's `user-mode-linux`), `tc qdisc add dev va root cake bandwidth 10mbit
//! besteffort flows` on a pair of veth, with Ethernet frames at constant rates from packet sockets.

use super::{Cake, CakeSettings};
use crate::testing::packet;
use crate::{Dropped, Queue, QueuedPacket};
use earlybird_conformance::{Area, conforms};
use earlybird_units::{Duration, Instant, Rate, SeedTree};
use earlybird_wire::Ecn;

const LINUX: &str = "Linux 6.1, net/sched/sch_cake.c";

/// Frames at a constant rate.
#[derive(Clone, Copy)]
struct Cbr {
    bits_per_second: u64,
    bytes: u32,
    first: Duration,
}

const fn cbr(kilobits: u64, bytes: u32, first_micros: u64) -> Cbr {
    Cbr { bits_per_second: kilobits * 1000, bytes, first: Duration::from_micros(first_micros) }
}

/// A frame that left the link's queue.
struct Sent {
    flow: usize,
    arrival: Instant,
    delay: Duration,
}

/// The link, its queue, and what became of the frames.
struct Line {
    queue: Cake,
    sent: Vec<Sent>,
    dropped: Dropped,
    is_capable: bool,
    marked: usize,
}

const RATE: u64 = 10_000_000;

impl Line {
    fn new(memory: Option<u64>, is_capable: bool) -> Self {
        let settings = CakeSettings { rtt: Duration::from_millis(100), memory };
        let rate = Rate::from_bits_per_second(RATE).unwrap();
        let queue = Cake::new(settings, rate, SeedTree::new(1).random());
        Self { queue, sent: Vec::new(), dropped: Dropped::new(), is_capable, marked: 0 }
    }

    /// Lets frames of constant rates come for some seconds.
    fn offer(mut self, flows: &[Cbr], seconds: u64) -> Self {
        let mut next: Vec<_> = flows.iter().map(|flow| (Instant::ZERO + flow.first, 0)).collect();
        let mut free = Instant::ZERO;
        loop {
            let (flow, (arrival, number)) = next.iter().copied().enumerate().min_by_key(|(_, next)| *next).unwrap();
            if !self.queue.is_empty() && arrival > free {
                free = self.send(free);
                continue;
            }
            if arrival > Instant::ZERO + Duration::from_secs(seconds) {
                return self;
            }
            self.put(flow, flows[flow].bytes, arrival, number);
            let period = u64::from(flows[flow].bytes) * 8_000_000_000 / flows[flow].bits_per_second;
            next[flow] = (arrival + Duration::from_nanos(period), number + 1);
            free = free.max(arrival);
        }
    }

    fn put(&mut self, flow: usize, bytes: u32, arrival: Instant, number: u32) {
        let ecn = if self.is_capable { Ecn::Capable0 } else { Ecn::NotCapable };
        let packet = QueuedPacket { bytes, connection: flow as u64, ecn, ..packet(arrival, number) };
        self.queue.enqueue(arrival, packet, &mut self.dropped);
    }

    /// Sends the next frame, and returns when it has been sent.
    fn send(&mut self, now: Instant) -> Instant {
        let Some(packet) = self.queue.dequeue(now, &mut self.dropped) else { return now };
        self.marked += usize::from(packet.is_marked);
        self.sent.push(Sent { flow: packet.connection as usize, arrival: packet.since, delay: now - packet.since });
        now + Duration::from_nanos(u64::from(packet.bytes) * 8_000_000_000 / RATE)
    }

    /// Returns the drops of a flow among the frames of each second.
    fn drops_by_second(&self, flow: u64, seconds: usize) -> Vec<usize> {
        let mut counts = vec![0; seconds];
        let of_flow = self.dropped.iter().filter(|packet| packet.connection == flow);
        for second in of_flow.map(|packet| packet.since.as_secs_f64() as usize).filter(|second| *second < seconds) {
            counts[second] += 1;
        }
        counts
    }

    /// Returns the numbers of the first frames of a flow that were dropped.
    fn first_drops(&self, flow: u64, count: usize) -> Vec<u32> {
        self.dropped.iter().filter(|packet| packet.connection == flow).map(|packet| packet.id).take(count).collect()
    }

    /// Returns the delays in milliseconds of a flow's frames that came from one second to another.
    fn delays(&self, flow: usize, from: u64, to: u64) -> Vec<f64> {
        let span = Instant::ZERO + Duration::from_secs(from)..Instant::ZERO + Duration::from_secs(to);
        let sent = self.sent.iter().filter(|sent| sent.flow == flow && span.contains(&sent.arrival));
        sent.map(|sent| sent.delay.as_secs_f64() * 1e3).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_flow_above_the_rate_is_dropped_from_as_by_linux() {
    let line = Line::new(None, false).offer(&[cbr(12_000, 1514, 0)], 20);
    let found = line.drops_by_second(0, 6);
    for (own, linux) in found.iter().zip([47, 102, 151, 191, 227, 258]) {
        assert!(own.abs_diff(linux) <= 2, "{found:?}");
    }
    let delays: Vec<_> = [(2, 242.2), (3, 234.4), (4, 181.2), (5, 87.5)]
        .into_iter()
        .map(|(second, linux)| mean(&line.delays(0, second, second + 1)) / linux)
        .collect();
    assert!(delays.iter().all(|ratio| (0.93..1.07).contains(ratio)), "{delays:?}");
    // Once the rate of the drops has reached the excess, the delay is at the target of 5 ms.
    let settled = mean(&line.delays(0, 8, 20));
    assert!((4.5..5.5).contains(&settled), "{settled} ms");
    let compared = "12 Mb/s over 10 Mb/s: drops in each of 6 seconds; mean delay in 4 of them; delay after 8 s (target 5 ms)";
    conforms(Area::Queue, "cake", LINUX, compared, "within 2 drops; within 7 %; 5.1 ms (Linux: 4.9)");
}

#[test]
fn two_flows_and_a_sparse_one_are_dropped_from_and_served_as_by_linux() {
    let flows = [cbr(12_000, 1514, 0), cbr(12_000, 1514, 300), cbr(100, 200, 1_000_000)];
    let line = Line::new(Some(64_000_000), false).offer(&flows, 6);
    let linux = [[5, 35, 60, 81, 101, 118, 135, 150], [4, 34, 59, 79, 100, 117, 134, 150]];
    for (flow, expected) in (0..).zip(linux) {
        let own = line.first_drops(flow, 8);
        assert!(own.iter().zip(expected).all(|(own, linux)| own.abs_diff(linux) <= 1), "{own:?}");
    }
    let sparse = line.delays(2, 0, 6);
    assert!(line.first_drops(2, 1).is_empty() && sparse.len() > 300);
    // A frame of 1514 bytes that is under way takes 1.2 ms.
    assert!(sparse.iter().all(|delay| *delay <= 1.22), "{sparse:?}");
    let compared = "2 × 12 Mb/s and 100 kb/s over 10 Mb/s: numbers of the first 8 frames dropped of each; delay of the sparse flow";
    conforms(Area::Queue, "cake", LINUX, compared, "within 1; 0.6 ms mean (Linux: 0.7 median), none dropped");
}

#[test]
fn flows_share_the_bytes_evenly_whatever_the_size_of_their_packets() {
    let flows = [cbr(8_000, 1514, 0), cbr(8_000, 300, 300), cbr(2_000, 600, 700)];
    let line = Line::new(None, false).offer(&flows, 10);
    let megabits = |flow: usize| {
        let count = line.sent.iter().filter(|sent| sent.flow == flow).count();
        count as f64 * f64::from(flows[flow].bytes) * 8.0 / 1e7
    };
    // Max-min: 2 Mb/s get all that they ask for, the two others half of the rest.
    assert!((megabits(2) - 2.0).abs() < 0.01, "{}", megabits(2));
    assert!((megabits(0) - 4.0).abs() < 0.1 && (megabits(1) - 4.0).abs() < 0.1, "{} {}", megabits(0), megabits(1));
    let compared = "8, 8 and 2 Mb/s with packets of 1514, 300 and 600 bytes over 10 Mb/s";
    conforms(Area::Queue, "cake", "Piece of CAKE 2018 §III-A", compared, "4.0, 4.0 and 2.0 Mb/s");
}

/// In Linux a memory of 200,000 bytes holds 86 of these frames, each of which takes 2304 bytes there.
#[test]
fn a_flow_that_fills_the_memory_is_dropped_from_at_random_until_its_delay_is_short() {
    let line = Line::new(Some(131_424), false).offer(&[cbr(20_000, 1514, 0)], 20);
    let (first, later) = (mean(&line.delays(0, 0, 1)), mean(&line.delays(0, 4, 20)));
    assert!((46.0..51.0).contains(&first), "{first} ms");
    // Without BLUE (a rise of 0) it is 44.8 ms.
    assert!((3.5..8.0).contains(&later), "{later} ms");
    let drops: usize = line.drops_by_second(0, 20)[2..].iter().sum();
    assert!(drops.abs_diff(18 * 845) < 18 * 25, "{drops}");
    let compared = "20 Mb/s over 10 Mb/s and a memory of 87 packets: mean delay in the first second, and from 4 s on (BLUE)";
    conforms(Area::Queue, "cake", LINUX, compared, "48 and 5 ms (Linux: 49 and 5)");
}

#[test]
fn packets_of_capable_senders_are_marked_and_not_dropped() {
    let line = Line::new(None, true).offer(&[cbr(11_000, 1514, 0)], 3);
    assert!(line.dropped.is_empty());
    assert!((100..400).contains(&line.marked), "{}", line.marked);
}

#[test]
fn on_a_slow_link_the_target_is_a_packet_and_a_half() {
    let rate = Rate::from_bits_per_second(1_000_000).unwrap();
    let found = super::Parameters::new(Duration::from_millis(100), rate);
    // 1514 bytes take 12.112 ms.
    assert_eq!(found.target, Duration::from_micros(18_168));
    assert_eq!(found.interval, Duration::from_micros(113_168));
    let fast = super::Parameters::new(Duration::from_millis(100), Rate::from_bits_per_second(RATE).unwrap());
    assert_eq!((fast.target, fast.interval), (Duration::from_millis(5), Duration::from_millis(100)));
}

#[test]
fn the_memory_is_four_round_trips_of_the_link_within_its_bounds() {
    let settings = CakeSettings { rtt: Duration::from_millis(100), memory: None };
    let memory = |megabits: u64| settings.memory(Rate::from_bits_per_second(megabits * 1_000_000).unwrap());
    assert_eq!([memory(10), memory(200), memory(1000)], [4 << 20, 10_000_000, 10_240 * 1514]);
}
