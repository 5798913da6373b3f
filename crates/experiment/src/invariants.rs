//! Invariants of every run, whatever the scenario, checked at its end. Debug builds check it, so that every test that runs a
//! scenario is a test of its counts; release builds are spared it.

use crate::link_measures::{GroupMeasures, LinkMeasures};
use crate::plan::Plan;
use crate::recorder::{FlowRecord, Recorder};
use crate::register::SHARES;
use crate::table::{Column, Summary, Table, Value};
use earlybird_sim::{Link, LinkCounts, LinkId, Network};
use earlybird_units::{Duration, Instant};

/// Relative tolerance for sums of floats.
const ROUNDING: f64 = 1e-9;

/// Checks links, flows, and the shares of all tables.
///
/// # Panics
///
/// If one of the invariants does not hold.
pub(crate) fn check(
    plan: &Plan,
    recorder: &Recorder,
    network: &Network,
    tables: &[(&'static str, Table)],
    summary: &Summary,
) {
    for (number, link) in (0..).zip(network.links()) {
        check_link(plan, recorder, LinkId(number), link);
    }
    for (number, record) in recorder.flows.iter().enumerate() {
        check_flow(plan, number, record);
    }
    check_shares(tables, summary);
}

fn check_link(plan: &Plan, recorder: &Recorder, id: LinkId, link: &Link) {
    let name = &link.settings().name;
    let measures = LinkMeasures::of(link);
    let total = measures.total;
    assert!(is_conserved(&total), "{name}: offered is not delivered, dropped and waiting: {total:?}");
    for GroupMeasures { total: counts, .. } in &measures.groups {
        assert!(is_conserved(counts), "{name}: a group's offered is not delivered, dropped and waiting: {counts:?}");
    }
    let is_counted = !measures.groups.is_empty();
    let of_groups =
        |value: fn(&LinkCounts) -> u64| measures.groups.iter().map(|group| value(&group.total)).sum::<u64>();
    let sums: [fn(&LinkCounts) -> u64; 4] = [
        |counts| counts.packets_in,
        |counts| counts.packets_out,
        |counts| counts.packets_dropped,
        |counts| counts.bytes_out,
    ];
    assert!(!is_counted || sums.iter().all(|sum| of_groups(*sum) == sum(&total)), "{name}: groups are not all packets");
    let logged: u64 = recorder.drops.rows().filter(|((at, ..), _)| *at == id).map(|(_, drops)| drops.packets).sum();
    assert_eq!(logged, total.packets_dropped, "{name}: drops by flow and cause are not the drops of the link");
    // A rate times the time, or the opportunities of a trace.
    let possible = link.settings().bits_before(plan.end) * (1.0 + ROUNDING) + 1.0;
    assert!(
        total.bytes_out as f64 * 8.0 <= possible,
        "{name}: {} bytes out, {possible} bits possible",
        total.bytes_out
    );
    let mean = measures.mean_queue_packets;
    // Without a measured interval there is no mean.
    assert!(
        plan.warm_up >= plan.end || mean <= measures.max_queue_packets as f64 * (1.0 + ROUNDING),
        "{name}: mean queue {mean}"
    );
}

/// Returns whether every packet that arrived left, was dropped or still waits.
fn is_conserved(counts: &LinkCounts) -> bool {
    counts.packets_in == counts.packets_out + counts.packets_dropped + counts.packets_waiting
}

fn check_flow(plan: &Plan, number: usize, record: &FlowRecord) {
    let name = &plan.flows[number].name;
    assert!(
        record.statistics.retransmissions <= record.statistics.segments_sent,
        "{name}: more retransmissions than packets"
    );
    assert!(record.before.bytes_delivered <= record.bytes_delivered, "{name}: fewer bytes than before the warm-up");
    if let Some(media) = &record.media {
        assert!(media.units_delivered() <= media.units_written(), "{name}: more units delivered than written");
    }
    let floor = plan.round_trip(number).unwrap_or(Duration::ZERO);
    if let Some(rtt) = record.min_rtt {
        assert!(rtt >= floor, "{name}: round-trip time {rtt}, propagation {floor}");
    }
    if let Some(time) = record.completion_time() {
        assert!(time >= floor / 2, "{name}: complete after {time}, propagation {floor} there and back");
        assert!(plan.flows[number].start + time <= plan.end.max(Instant::ZERO), "{name}: complete after the end");
    }
}

fn check_shares(tables: &[(&'static str, Table)], summary: &Summary) {
    let is_share = |table: &str, name: &str| SHARES.contains(&(table, name));
    for (table, Table { columns }) in tables {
        for (name, column) in columns.iter().filter(|(name, _)| is_share(table, name)) {
            if let Column::Float(values) = column {
                // NaN where there is no value.
                let wrong = values.iter().find(|value| **value < 0.0 || **value > 1.0 + ROUNDING);
                assert_eq!(wrong, None, "{name} of {table}");
            }
        }
    }
    for (name, value) in summary.iter().filter(|(name, _)| is_share("summary", name)) {
        assert!(!matches!(value, Value::Float(share) if *share < 0.0 || *share > 1.0 + ROUNDING), "{name}: {value:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_vanished_is_noticed() {
        let mut counts = LinkCounts::default();
        assert!(is_conserved(&counts));
        counts.packets_in = 3;
        (counts.packets_out, counts.packets_dropped) = (1, 1);
        assert!(!is_conserved(&counts));
        counts.packets_waiting = 1;
        assert!(is_conserved(&counts));
    }

    #[test]
    #[should_panic(expected = "utilisation of links")]
    fn a_share_above_1_is_noticed() {
        check_shares(&[("links", Table::default().float("utilisation", [0.5, 1.24]))], &Vec::new());
    }

    #[test]
    #[should_panic(expected = "drop_rate")]
    fn a_share_above_1_of_the_summary_is_noticed() {
        check_shares(&[], &vec![("drop_rate".to_owned(), Value::Float(1.1))]);
    }

    #[test]
    fn a_share_without_a_value_and_a_number_that_is_no_share_may_be() {
        let tables = [("flows", Table::default().float("lost_share", [f64::NAN]).float("frozen_s", [7.0]))];
        check_shares(&tables, &vec![("t_over_mu".to_owned(), Value::Float(1.8))]);
    }
}
