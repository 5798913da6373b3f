//! Invariants of every simulated run, whatever the scenario, checked at its end. Debug builds check them, so that every
//! test that runs a scenario is a test of its counts; release builds are spared them.

mod tables;

use crate::link_measures::{GroupMeasures, LinkMeasures};
use crate::plan::Plan;
use crate::recorder::{FlowRecord, Recorder};
use crate::register::SHARES;
use crate::table::{Column, Summary, Table, Value};
use earlybird_sim::{DropCause, Link, LinkCounts, LinkId, LinkReading, Network};
use earlybird_units::{Duration, Instant};
use tables::Tables;

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
    let drops = recorder.drops.by_flow(plan.flows.len());
    for (number, (record, route)) in recorder.flows.iter().zip(plan.flow_routes()).enumerate() {
        check_flow(plan, number, record);
        if let Some((floor, links)) = route.filter(|_| !is_web(plan, number)) {
            check_times(plan, number, record, floor);
            check_capacity(plan, number, record, links.iter().map(|link| network.link(*link)));
        }
        // Copies that a link makes are sent by no endpoint.
        let copies: u64 = network.all_impairments().map(|link| link.packets_duplicated).sum();
        let dropped = drops[number].by_queues + drops[number].random;
        let sent = record.statistics.segments_sent + copies;
        // Both ends of web connections send data.
        assert!(
            dropped <= sent || is_web(plan, number),
            "{}: {dropped} packets dropped of {sent}",
            plan.flows[number].name
        );
    }
    check_shares(tables, summary);
    let web = (0..plan.flows.len()).filter(|number| is_web(plan, *number));
    tables::check(Tables(tables), summary, &web.map(|number| plan.flows[number].name.as_str()).collect::<Vec<_>>());
}

/// Returns whether a flow stands for many connections, which have paths and starts of their own.
fn is_web(plan: &Plan, number: usize) -> bool {
    plan.groups[plan.flows[number].group].flow.application.is_web()
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
    check_interval(name, &link.reading_at_start(), &link.reading_at_end());
    let losses = |cause| recorder.drops.rows().filter(move |((at, _, why), _)| *at == id && *why == cause);
    let lost: u64 = losses(DropCause::Loss).map(|(_, drops)| drops.packets).sum();
    assert_eq!(lost, total.packets_lost, "{name}: losses by flow are not those of the link");
    let mean = measures.mean_queue_packets;
    // Without a measured interval there is no mean.
    assert!(
        plan.warm_up >= plan.end || mean <= measures.max_queue_packets as f64 * (1.0 + ROUNDING),
        "{name}: mean queue {mean}"
    );
}

/// Checks that all counts rise from the start of the measured interval to its end.
fn check_interval(name: &str, start: &LinkReading, end: &LinkReading) {
    let groups = start.groups.iter().zip(&end.groups);
    for (start, end) in [(&start.total, &end.total)].into_iter().chain(groups) {
        let values = |counts: &LinkCounts| {
            [counts.packets_in, counts.packets_out, counts.packets_dropped, counts.packets_lost, counts.bytes_out]
        };
        let is_rising = values(start).iter().zip(values(end)).all(|(before, after)| *before <= after);
        assert!(is_rising, "{name}: fewer packets at the end than at the start of the measured interval");
    }
    assert!(start.bits_sent <= end.bits_sent + 1.0, "{name}: fewer bits sent at the end");
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
    assert!(record.packets_measured() <= record.statistics.segments_sent, "{name}: more packets measured than sent");
}

/// Checks times against the propagation delay there and back.
fn check_times(plan: &Plan, number: usize, record: &FlowRecord, floor: Duration) {
    let name = &plan.flows[number].name;
    if let Some(rtt) = record.min_rtt {
        assert!(rtt >= floor, "{name}: round-trip time {rtt}, propagation {floor}");
    }
    let open = plan.end - plan.flows[number].start;
    let frozen = record.statistics.frozen;
    assert!(frozen <= open, "{name}: frozen for {frozen} of {open}");
    if let Some(time) = record.completion_time() {
        assert!(time >= floor / 2, "{name}: complete after {time}, propagation {floor} there and back");
        assert!(plan.flows[number].start + time <= plan.end.max(Instant::ZERO), "{name}: complete after the end");
    }
}

/// Checks that each link could carry what was delivered, from the start of a flow until it was complete or the run ended.
fn check_capacity<'a>(plan: &Plan, number: usize, record: &FlowRecord, links: impl Iterator<Item = &'a Link>) {
    let start = plan.flows[number].start;
    let until = record.completion_time().map_or(plan.end, |time| start + time);
    for settings in links.map(Link::settings) {
        let possible = (settings.bits_before(until) - settings.bits_before(start.min(until))) * (1.0 + ROUNDING) + 1.0;
        let delivered = record.bytes_delivered as f64 * 8.0;
        assert!(
            delivered <= possible,
            "{}: {delivered} bits delivered, {possible} possible on {}",
            plan.flows[number].name,
            settings.name
        );
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
