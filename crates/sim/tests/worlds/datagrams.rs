//! Flows of datagrams.

use crate::dumbbell::{BUDGET, DuplexLink, link, lossy, seconds};
use earlybird_conformance::{Area, conforms};
use earlybird_datagram::{Config, Control};
use earlybird_sim::{
    Carrier, Content, DatagramSettings, FlowEnd, FlowId, FlowSettings, GroupId, HeaderSize, LinkSettings, Loss,
    LossRule, Observer, Packet, PacketEvent, QueueLimit, World,
};
use earlybird_traffic::{ConnectionId, PathId, SenderApp, SenderIo};
use earlybird_units::{Duration, Instant, SeedTree};

/// Frames of one size at a fixed rate, so many of them.
#[derive(Debug)]
struct Frames {
    path: PathId,
    bytes: u64,
    period: Duration,
    left: u32,
    connection: Option<ConnectionId>,
}

impl SenderApp for Frames {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        let connection = *self.connection.get_or_insert_with(|| io.open(self.path));
        io.write_unit(connection, self.bytes);
        self.left -= 1;
        if self.left > 0 {
            io.wake_at(io.now() + self.period);
        }
    }
}

/// Units written and delivered, with their times, and what the sender says at the end.
#[derive(Debug, Default)]
struct Units {
    written: Vec<Instant>,
    delivered: Vec<(u32, Instant)>,
    bytes_on_links: u64,
    sent: u64,
    received: u64,
}

impl Observer for Units {
    const PACKETS: bool = true;

    fn on_packet(&mut self, _at: Instant, event: PacketEvent, packet: &Packet) {
        assert!(matches!(packet.content, Content::Datagram(_)));
        if event == PacketEvent::Sent {
            self.bytes_on_links += u64::from(packet.bytes);
        }
    }

    fn on_unit(&mut self, at: Instant, _flow: FlowId, _bytes: u64) {
        self.written.push(at);
    }

    fn on_unit_delivered(&mut self, at: Instant, _flow: FlowId, unit: u32) {
        self.delivered.push((unit, at));
    }

    fn on_end(&mut self, _flow: FlowId, end: &FlowEnd) {
        (self.sent, self.received) = (end.statistics.segments_sent, end.bytes_delivered);
    }
}

/// The stream of the MTCP paper: 1500 frames, one every 20 ms.
fn stream(forward: LinkSettings, bytes: u64, headers: HeaderSize) -> Units {
    let duplex = DuplexLink::new(forward);
    let mut world = World::new(duplex.network, Units::default());
    let path = world.add_path(duplex.there, duplex.back);
    let endpoints = DatagramSettings { config: Config { control: Control::Udp, mss: 1000, ecn: false }, headers };
    let settings =
        FlowSettings { group: GroupId(0), endpoints: Carrier::Datagrams(endpoints), seeds: SeedTree::new(1) };
    let flow = world.add_flow(settings);
    let frames = Frames { path, bytes, period: Duration::from_millis(20), left: 1500, connection: None };
    world.add_sender(flow, Box::new(frames), seconds(1));
    assert!(world.run_until(seconds(60), BUDGET));
    world.finish();
    world.into_parts().1
}

fn with_losses(probability: f64, seed: u64) -> LinkSettings {
    let loss = Loss::new(LossRule::Bernoulli(probability), SeedTree::new(seed).child("loss").random());
    lossy(link(10_000_000, 40, QueueLimit::Packets(50)), vec![loss])
}

#[test]
fn every_frame_arrives_after_its_transmission_and_propagation() {
    let units = stream(with_losses(0.0, 1), 100, HeaderSize::Ns2);
    assert_eq!((units.written.len(), units.delivered.len(), units.sent, units.received), (1500, 1500, 1500, 150_000));
    // 100 bytes at 10 Mb/s take 80 µs.
    for ((number, at), written) in units.delivered.iter().zip(&units.written) {
        assert_eq!(*at - *written, Duration::from_micros(40_080), "unit {number}");
    }
}

#[test]
fn headers_are_none_in_ns_2_and_28_bytes_in_truth() {
    for (headers, bytes) in [(HeaderSize::Ns2, 1500 * 100), (HeaderSize::Real, 1500 * 128)] {
        assert_eq!(stream(with_losses(0.0, 1), 100, headers).bytes_on_links, bytes);
    }
}

#[test]
fn lost_frames_of_1500_are_those_of_ns_2() {
    // Drop rate and mean lost frames of 30 runs of ns-2.35: `frames.tcl` with UDP.
    let golden = [(0.0, 0.0), (0.005, 8.80), (0.01, 15.53), (0.02, 29.17), (0.03, 44.13), (0.04, 59.27), (0.05, 75.63)];
    for (probability, expected) in golden {
        let lost = |seed| 1500 - stream(with_losses(probability, seed), 100, HeaderSize::Ns2).delivered.len();
        let mean = (0..30).map(lost).sum::<usize>() as f64 / 30.0;
        // Both are means of 30 binomial counts.
        let deviation = (1500.0 * probability * (1.0 - probability) * 2.0 / 30.0).sqrt();
        assert!((mean - expected).abs() <= 3.0 * deviation, "{probability}: {mean} instead of {expected}");
    }
    conforms(
        Area::Traffic,
        "udp",
        "ns-2.35 Agent/UDP (MTCP paper's stream)",
        "frames lost of 1500 at drop rates 0 to 5 %, mean of 30 seeds",
        "7 of 7 within 3 standard deviations",
    );
}

#[test]
fn a_frame_of_three_datagrams_needs_all_of_them() {
    let units = stream(with_losses(0.1, 1), 2500, HeaderSize::Real);
    // 0.9³ of 1500 frames: 1093.5, with a deviation of 17.2.
    let delivered = units.delivered.len() as f64;
    assert!((delivered - 1093.5).abs() < 3.0 * 17.2, "{delivered} frames");
    assert_eq!(units.sent, 4500);
}
