//! Who looks on sees every packet, every segment of a connection, and every decision.

use crate::line::{Harm, Line};
use crate::transfers::{exchange, pattern};
use earlybird_live::device::{Carriage, Path};
use earlybird_live::{Id, Watch, Way};
use earlybird_tcp::{Config, Connection, SegmentMeta, TraceEvent};
use earlybird_units::{Duration, Instant};
use earlybird_wire::Segment;
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Seen {
    packets: Vec<(Way, Vec<u8>)>,
    timeouts_and_recoveries: usize,
    arrivals: u64,
    departures: u64,
    sent_again: u64,
    /// What the connection said last that it had sent again.
    retransmissions: u64,
}

struct Notes(Arc<Mutex<Seen>>);

impl Watch for Notes {
    fn on_packet(&mut self, _: Instant, way: Way, _: Path, packet: &[u8]) {
        self.0.lock().unwrap().packets.push((way, packet.to_vec()));
    }

    fn on_trace(&mut self, _: Instant, _: Id, event: TraceEvent) {
        let is_one = matches!(event, TraceEvent::Timeout { .. } | TraceEvent::FastRetransmit);
        self.0.lock().unwrap().timeouts_and_recoveries += usize::from(is_one);
    }

    fn on_arrival(&mut self, _: Instant, _: Id, _: &Segment) {
        self.0.lock().unwrap().arrivals += 1;
    }

    fn on_departure(&mut self, _: Instant, _: Id, segment: &Segment, carried: &SegmentMeta) {
        assert_eq!(carried.number.is_some(), segment.takes_sequence_space());
        let mut seen = self.0.lock().unwrap();
        seen.departures += 1;
        seen.sent_again += u64::from(carried.is_retransmission);
    }

    fn on_state(&mut self, _: Instant, _: Id, connection: &Connection) {
        self.0.lock().unwrap().retransmissions = connection.statistics().retransmissions;
    }
}

#[test]
fn packets_segments_and_decisions_are_told_to_who_looks_on() {
    let harm = Harm { lost: 0.03, ..Harm::default() };
    let mut line = Line::new(Carriage::Udp, false, Duration::from_millis(10), harm, 3);
    let seen = Arc::new(Mutex::new(Seen::default()));
    line.hosts[0].watch(Some(Box::new(Notes(Arc::clone(&seen)))));
    exchange(&mut line, &Config::linux(), [&pattern(200_000), b"thanks"]);
    let seen = seen.lock().unwrap();
    let left = seen.packets.iter().filter(|(way, _)| *way == Way::Out).map(|(_, packet)| packet);
    assert!(left.eq(line.seen.iter().filter(|seen| seen.side == 0).map(|seen| &seen.bytes)));
    let came = seen.packets.iter().filter(|(way, _)| *way == Way::In).count() as u64;
    assert_eq!(came, line.hosts[0].counters().arrived);
    assert!(seen.timeouts_and_recoveries > 0);
    let left = seen.packets.iter().filter(|(way, _)| *way == Way::Out).count() as u64;
    assert_eq!((seen.departures, seen.arrivals), (left, came));
    assert!(seen.sent_again > 0 && seen.sent_again == seen.retransmissions);
}
