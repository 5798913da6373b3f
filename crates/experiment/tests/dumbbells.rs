//! Hosts around a dumbbell, and what their packets find at its bottleneck.

mod common;

use common::report;
use earlybird_experiment::{Column, Report, Table};

fn table<'a>(report: &'a Report, name: &str) -> &'a Table {
    &report.tables.iter().find(|(known, _)| *known == name).expect("a table").1
}

fn column<'a>(report: &'a Report, in_table: &str, name: &str) -> &'a Column {
    &table(report, in_table).columns.iter().find(|(known, _)| *known == name).expect("a column").1
}

fn texts<'a>(report: &'a Report, table: &str, name: &str) -> &'a [String] {
    let Column::String(values) = column(report, table, name) else { panic!("texts") };
    values
}

fn wholes<'a>(report: &'a Report, table: &str, name: &str) -> &'a [i64] {
    let Column::Integer(values) = column(report, table, name) else { panic!("whole numbers") };
    values
}

/// Median delays of the three videos in milliseconds, over a bottleneck at which nothing waits.
fn video_delays(access: &[(&str, &str)]) -> Vec<f64> {
    let plain = [("duration", "60s"), ("pairs", "3"), ("network.dumbbell.bottleneck.rate", "1Gb/s")];
    let report = report("dumbbell.toml", &[&plain, access].concat());
    let Column::Float(delays) = column(&report, "flows", "delay_p50_ms") else { panic!("real numbers") };
    delays[..3].to_vec()
}

/// 1040 bytes take 832 µs at 10 Mb/s, twice, and 8.32 µs at 1 Gb/s; the bottleneck's 15 ms are added to both access links'.
fn delay_behind(access: f64) -> f64 {
    2.0 * (access + 0.832) + 15.0 + 0.008_32
}

#[test]
fn a_group_may_be_farther_from_its_routers_than_the_others() {
    for (changes, access) in [(&[][..], 5.0), (&[("flows.video.access-delay.same", "10ms")], 10.0)] {
        for delay in video_delays(changes) {
            assert!((delay - delay_behind(access)).abs() < 1e-3, "{delay} ms");
        }
    }
}

#[test]
fn flows_of_a_group_may_each_be_at_a_distance_of_their_own_that_other_groups_do_not_change() {
    let range = ("flows.video.access-delay.uniform", r#"["5ms", "15ms"]"#);
    let delays = video_delays(&[range]);
    assert!(delays.iter().all(|delay| (delay_behind(5.0)..delay_behind(15.0)).contains(delay)), "{delays:?}");
    assert!(delays.windows(2).all(|pair| (pair[0] - pair[1]).abs() > 0.1), "{delays:?}");
    assert_eq!(delays, video_delays(&[range, ("flows.file.access-delay.same", "1ms")]));
}

#[test]
fn flows_may_be_spread_around_the_usual_distance() {
    assert_eq!(
        video_delays(&[("flows.video.access-delay.spread", "0.4")]),
        video_delays(&[("flows.video.access-delay.uniform", r#"["3ms", "7ms"]"#)])
    );
    assert_eq!(video_delays(&[("flows.video.access-delay.spread", "0")]), video_delays(&[]));
}

/// Sums a table's column over the rows of a group for which a condition holds.
fn sum_where(report: &Report, group: &str, holds: impl Fn(i64) -> bool) -> i64 {
    let rows = texts(report, "queue_positions", "group")
        .iter()
        .zip(wholes(report, "queue_positions", "packets_waiting"))
        .zip(wholes(report, "queue_positions", "packets_in"));
    rows.filter(|((name, waiting), _)| *name == group && holds(**waiting)).map(|(_, packets)| packets).sum()
}

/// A limit of 80 packets lets 79 wait while one is being sent: a packet that finds 79 is dropped, and no other one.
#[test]
fn every_packet_finds_some_number_of_others_waiting_and_is_dropped_where_that_is_the_limit() {
    let report = report("dumbbell.toml", &[("duration", "60s"), ("measure.queue-positions", "true")]);
    for (row, group) in texts(&report, "link_groups", "group").iter().enumerate() {
        let [offered, dropped] =
            ["measured_packets_in", "measured_packets_dropped"].map(|name| wholes(&report, "link_groups", name)[row]);
        assert!(dropped > 0, "{group}");
        assert_eq!(sum_where(&report, group, |_| true), offered, "{group}");
        assert_eq!(sum_where(&report, group, |waiting| waiting == 79), dropped, "{group}");
        assert_eq!(sum_where(&report, group, |waiting| waiting > 79), 0, "{group}");
    }
}

#[test]
fn queues_that_are_served_count_positions_too() {
    let asked = ("measure.queue-positions", "true");
    let report = report("queue-red.toml", &[("duration", "20s"), asked]);
    let offered = wholes(&report, "link_groups", "measured_packets_in")[0];
    let group = &texts(&report, "link_groups", "group")[0];
    assert_eq!(sum_where(&report, group, |_| true), offered);
    assert!(sum_where(&report, group, |waiting| waiting > 5) > 0);
}

#[test]
fn positions_are_counted_only_on_request() {
    let report = report("dumbbell.toml", &[("duration", "2s")]);
    assert!(report.tables.iter().all(|(name, _)| *name != "queue_positions"));
}
