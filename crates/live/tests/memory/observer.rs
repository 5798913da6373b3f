//! An observer is called for every packet, segment and decision.

use crate::path::{Impairments, TestPath};
use crate::transfers::{exchange, pattern};
use earlybird_live::device::{Encapsulation, Path};
use earlybird_live::{Direction, Id, Observer};
use earlybird_tcp::{Config, Connection, SegmentMeta, TraceEvent};
use earlybird_units::{Duration, Instant};
use earlybird_wire::Segment;
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Seen {
    packets: Vec<(Direction, Vec<u8>)>,
    timeouts_and_recoveries: usize,
    received: u64,
    transmitted: u64,
    retransmitted: u64,
    /// The connection's own count of retransmissions.
    retransmissions: u64,
}

struct Recorder(Arc<Mutex<Seen>>);

impl Observer for Recorder {
    fn on_packet(&mut self, _: Instant, direction: Direction, _: Path, packet: &[u8]) {
        self.0.lock().unwrap().packets.push((direction, packet.to_vec()));
    }

    fn on_trace(&mut self, _: Instant, _: Id, event: TraceEvent) {
        let is_one = matches!(event, TraceEvent::Timeout { .. } | TraceEvent::FastRetransmit);
        self.0.lock().unwrap().timeouts_and_recoveries += usize::from(is_one);
    }

    fn on_segment(&mut self, _: Instant, _: Id, _: &Segment) {
        self.0.lock().unwrap().received += 1;
    }

    fn on_transmit(&mut self, _: Instant, _: Id, segment: &Segment, carried: &SegmentMeta) {
        assert_eq!(carried.number.is_some(), segment.takes_sequence_space());
        let mut seen = self.0.lock().unwrap();
        seen.transmitted += 1;
        seen.retransmitted += u64::from(carried.is_retransmission);
    }

    fn on_update(&mut self, _: Instant, _: Id, connection: &Connection) {
        self.0.lock().unwrap().retransmissions = connection.statistics().retransmissions;
    }
}

#[test]
fn the_observer_gets_packets_segments_and_decisions() {
    let impairments = Impairments { lost: 0.03, ..Impairments::default() };
    let mut net = TestPath::new(Encapsulation::Udp, false, Duration::from_millis(10), impairments, 3);
    let seen = Arc::new(Mutex::new(Seen::default()));
    net.hosts[0].set_observer(Some(Box::new(Recorder(Arc::clone(&seen)))));
    exchange(&mut net, &Config::linux(), [&pattern(200_000), b"thanks"]);
    let seen = seen.lock().unwrap();
    let left = seen.packets.iter().filter(|(direction, _)| *direction == Direction::Tx).map(|(_, packet)| packet);
    assert!(left.eq(net.seen.iter().filter(|seen| seen.side == 0).map(|seen| &seen.bytes)));
    let came = seen.packets.iter().filter(|(direction, _)| *direction == Direction::Rx).count() as u64;
    assert_eq!(came, net.hosts[0].counters().received);
    assert!(seen.timeouts_and_recoveries > 0);
    let left = seen.packets.iter().filter(|(direction, _)| *direction == Direction::Tx).count() as u64;
    assert_eq!((seen.transmitted, seen.received), (left, came));
    assert!(seen.retransmitted > 0 && seen.retransmitted == seen.retransmissions);
}
