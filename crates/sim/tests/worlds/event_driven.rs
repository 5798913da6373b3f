//! Links that are served packet by packet: same results where both ways are open, and nothing gets lost.

use crate::dumbbell::{BUDGET, Dumbbell, FORWARD, link, ns2, seconds};
use crate::observers::{Census, Diary};
use earlybird_sim::{
    CodelSettings, Discipline, DualPi2Settings, FqCodelSettings, LinkCounts, LinkSettings, Network, Observer,
    PieSettings, QueueLimit, RateChanges, RedSettings, World,
};
use earlybird_tcp::Config;
use earlybird_units::{Duration, Rate};
use rstest::rstest;

pub(crate) const CODEL: CodelSettings =
    CodelSettings { target: Duration::from_millis(5), interval: Duration::from_millis(100), mtu: 1500, ecn: false };

fn red(adaptive: bool) -> Discipline {
    Discipline::Red(RedSettings {
        min_threshold: None,
        max_threshold: None,
        weight: None,
        max_probability: 0.1,
        gentle: true,
        wait: true,
        adaptive,
        target_delay: Duration::from_millis(5),
        mean_packet: 1000,
        ecn: false,
    })
}

pub(crate) fn pie() -> Discipline {
    Discipline::Pie(PieSettings {
        target: Duration::from_millis(15),
        update: Duration::from_millis(15),
        burst: Duration::from_millis(150),
        alpha: 0.125,
        beta: 1.25,
        ecn: false,
        mark_limit: 0.1,
    })
}

pub(crate) fn fq_codel() -> Discipline {
    Discipline::FqCodel(FqCodelSettings { flows: 1024, quantum: 1514, codel: CODEL })
}

pub(crate) fn dual_pi2() -> Discipline {
    Discipline::DualPi2(DualPi2Settings {
        target: Duration::from_millis(15),
        update: Duration::from_millis(16),
        alpha: 0.16,
        beta: 3.2,
        coupling: 2.0,
        ramp_start: Duration::from_micros(800),
        ramp: Duration::from_micros(400),
        classic_share: 0.1,
    })
}

/// Twenty transfers over 10 Mb/s for a minute.
fn crowd<O: Observer>(bottleneck: LinkSettings, observer: O) -> World<O> {
    let mut world = Dumbbell::new(bottleneck).with_pairs(20).world(ns2(Config::ns2()), observer);
    assert!(world.run_until(seconds(60), BUDGET));
    world
}

fn bottleneck(discipline: Discipline, changes: Option<RateChanges>) -> LinkSettings {
    LinkSettings { discipline, changes, ..link(10_000_000, 15, QueueLimit::Packets(40)) }
}

fn figures(network: &mut Network) -> (LinkCounts, Duration, usize, usize) {
    let link = network.link_mut(FORWARD);
    let backlog = link.backlog(seconds(60));
    let reading = link.reading(seconds(60));
    (reading.total, reading.queue_time, reading.max_queue, backlog)
}

/// A rate that never changes makes the link wait for its events anyway.
#[test]
fn a_drop_tail_queue_does_the_same_event_driven_or_computed_ahead() {
    let run = |changes| {
        let (mut network, diary) = crowd(bottleneck(Discipline::DropTail, changes), Diary::default()).into_parts();
        (figures(&mut network), diary)
    };
    let (ahead, diary) = run(None);
    let (served, served_diary) = run(Some(RateChanges::Steps([].into())));
    assert_eq!(ahead, served);
    assert!(ahead.0.packets_dropped > 500, "{:?}", ahead.0);
    assert_eq!(diary.entries.len(), served_diary.entries.len());
    assert!(diary == served_diary, "every packet was sent, dropped and delivered at the same nanosecond");
}

#[rstest]
#[case::drop_tail(Discipline::DropTail)]
#[case::drop_head(Discipline::DropHead)]
#[case::red(red(false))]
#[case::adaptive_red(red(true))]
#[case::codel(Discipline::Codel(CODEL))]
#[case::pie(pie())]
#[case::fq_codel(fq_codel())]
#[case::dual_pi2(dual_pi2())]
fn every_packet_was_delivered_or_dropped_or_is_still_there(#[case] discipline: Discipline) {
    let steps = [(seconds(20), 2_000_000), (seconds(40), 10_000_000)];
    let steps = RateChanges::Steps(steps.map(|(at, rate)| (at, Rate::from_bits_per_second(rate).unwrap())).into());
    let chances =
        RateChanges::Opportunities { times: [0, 1, 1, 5, 7].map(Duration::from_millis).into(), start: Duration::ZERO };
    for changes in [None, Some(steps), Some(chances)] {
        let world = crowd(bottleneck(discipline, changes), Census::default());
        let in_flight = world.packets_in_flight() as u64;
        let (mut network, census) = world.into_parts();
        let dropped: u64 = census.dropped.iter().sum();
        assert_eq!(census.sent, census.arrived + dropped + in_flight);
        assert!(census.arrived > 20_000 && dropped > 100, "{} arrived, {dropped} dropped", census.arrived);
        let (LinkCounts { packets_in, packets_out, packets_dropped, packets_waiting, bytes_out, .. }, ..) =
            figures(&mut network);
        assert_eq!(packets_in, packets_out + packets_dropped + packets_waiting);
        assert_eq!(packets_dropped, census.dropped[0]);
        // A packet that is dropped from the queue was counted when it entered.
        assert!((census.entered[0]..=census.entered[0] + packets_dropped).contains(&packets_in));
        assert!(bytes_out <= census.bytes_entered[0]);
    }
}
