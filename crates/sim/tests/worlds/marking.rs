//! Senders that answer marks, behind queues that make them.

use crate::dumbbell::{BUDGET, Dumbbell, FORWARD, link, rfc, seconds};
use crate::event_driven::CODEL;
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{
    CodelSettings, Counters, Discipline, FlowEnd, FlowId, LinkSettings, Observer, PieSettings, QueueLimit,
};
use earlybird_tcp::{Config, EcnMode};
use earlybird_units::Duration;

/// The counters of the senders.
#[derive(Debug, Default)]
struct Senders {
    retransmissions: u64,
    mark_responses: u64,
    received: u64,
}

impl Observer for Senders {
    fn on_end(&mut self, _flow: FlowId, end: &FlowEnd) {
        let statistics = &end.statistics;
        self.retransmissions += statistics.retransmissions;
        self.mark_responses += statistics.mark_responses;
        self.received += end.bytes_delivered;
    }
}

/// Four transfers of half a minute over 10 Mb/s and 50 ms.
fn transfers(discipline: Discipline, ecn: EcnMode) -> (Counters, Senders) {
    let bottleneck = LinkSettings { discipline, ..link(10_000_000, 15, QueueLimit::Packets(1000)) };
    let config = Config::rfc().with_ecn(ecn);
    let mut world = Dumbbell::new(bottleneck).with_pairs(4).world(rfc(config), Senders::default());
    assert!(world.run_until(seconds(30), BUDGET));
    world.finish();
    let (network, senders) = world.into_parts();
    (network.link(FORWARD).total, senders)
}

pub(crate) fn codel() -> Discipline {
    Discipline::Codel(CodelSettings { ecn: true, ..CODEL })
}

fn pie() -> Discipline {
    Discipline::Pie(PieSettings {
        target: Duration::from_millis(15),
        update: Duration::from_millis(15),
        burst: Duration::from_millis(150),
        alpha: 0.125,
        beta: 1.25,
        ecn: true,
        // RFC 8033 §5.1 drops above 10 % whatever a sender understands; here marks alone are of interest.
        mark_limit: 1.0,
    })
}

#[test]
fn behind_a_queue_that_marks_nothing_is_lost_and_the_link_stays_full() {
    for discipline in [codel, pie] {
        let (dropping, without) = transfers(discipline(), EcnMode::Off);
        assert!(dropping.packets_dropped > 20 && dropping.packets_marked == 0 && without.mark_responses == 0);
        let (marking, with) = transfers(discipline(), EcnMode::Classic);
        assert!(marking.packets_marked > 20 && with.mark_responses > 20, "{marking:?} {with:?}");
        assert_eq!((marking.packets_dropped, with.retransmissions), (0, 0));
        assert!(with.received * 10 > without.received * 9, "{} and {} bytes", with.received, without.received);
    }
    conforms(
        Area::Control,
        "ecn",
        "RFC 3168",
        "four transfers behind CoDel and PIE: drops with marks against drops without",
        "2 of 2: none with marks, throughput within 10 %",
    );
}
