//! Invariants between the tables of a run: what two of them count is the same.

use super::ROUNDING;
use crate::table::{Column, Summary, Table, Value};
use std::collections::BTreeMap;

/// Sums of seconds are rounded per row.
const SECONDS: f64 = 1e-6;

/// The tables of a run.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a>(pub(super) &'a [(&'static str, Table)]);

impl<'a> Tables<'a> {
    fn has(self, table: &str) -> bool {
        self.0.iter().any(|(name, _)| *name == table)
    }

    fn column(self, table: &str, name: &str) -> &'a Column {
        let found = self.0.iter().find(|(one, _)| *one == table).map(|(_, table)| &table.columns);
        let columns = found.unwrap_or_else(|| panic!("no table {table}"));
        columns.iter().find(|(one, _)| *one == name).map_or_else(|| panic!("no column {name}"), |(_, column)| column)
    }

    /// Returns the numbers of a column.
    fn numbers(self, table: &str, name: &str) -> Vec<f64> {
        match self.column(table, name) {
            Column::Float(values) => values.clone(),
            Column::Integer(values) => values.iter().map(|value| *value as f64).collect(),
            Column::String(_) | Column::Boolean(_) => panic!("{name} of {table} has no numbers"),
        }
    }

    fn names(self, table: &str, name: &str) -> &'a [String] {
        let Column::String(names) = self.column(table, name) else { panic!("{name} of {table} has no names") };
        names
    }

    /// Returns the sums of a column by the names of another one.
    fn sums(self, table: &str, name: &str, by: &str) -> BTreeMap<&'a str, f64> {
        let mut sums = BTreeMap::new();
        for (key, value) in self.names(table, by).iter().zip(self.numbers(table, name)) {
            *sums.entry(key.as_str()).or_default() += value;
        }
        sums
    }

    /// Returns the packets with data of each flow that were dropped for a cause.
    fn drops_by(self, cause: &str) -> BTreeMap<&'a str, f64> {
        let causes = self.names("drops", "cause").iter().zip(self.numbers("drops", "data_packets"));
        let mut sums = BTreeMap::new();
        for (flow, (why, packets)) in self.names("drops", "flow").iter().zip(causes) {
            *sums.entry(flow.as_str()).or_default() += if why == cause { packets } else { 0.0 };
        }
        sums
    }

    /// Returns how many rows have each name.
    fn counts(self, table: &str, by: &str) -> BTreeMap<&'a str, f64> {
        let mut counts = BTreeMap::new();
        self.names(table, by).iter().for_each(|key| *counts.entry(key.as_str()).or_default() += 1.0);
        counts
    }

    /// Checks that a column of the first table is no greater than another one, row by row; NaN is no value.
    fn check_order(self, table: &str, smaller: &str, greater: &str) {
        for (less, more) in self.numbers(table, smaller).into_iter().zip(self.numbers(table, greater)) {
            let is_in_order = less.is_nan() || more.is_nan() || less <= more * (1.0 + ROUNDING);
            assert!(is_in_order, "{table}: {smaller} {less} is more than {greater} {more}");
        }
    }

    /// Checks that a column is the sum of others, row by row.
    fn check_sum(self, table: &str, whole: &str, parts: &[&str]) {
        let parts: Vec<_> = parts.iter().map(|part| self.numbers(table, part)).collect();
        for (row, value) in self.numbers(table, whole).into_iter().enumerate() {
            let sum: f64 = parts.iter().map(|part| part[row]).sum();
            assert!((value - sum).abs() <= ROUNDING, "{table}: {whole} {value} is not the sum of its parts, {sum}");
        }
    }

    /// Checks a column against values by name; names without a value have 0.
    fn check_values(self, table: &str, name: &str, key: &str, expected: &BTreeMap<&str, f64>) {
        for (key, value) in self.names(table, key).iter().zip(self.numbers(table, name)) {
            let other = expected.get(key.as_str()).copied().unwrap_or(0.0);
            let is_same = (value - other).abs() <= SECONDS || (value.is_nan() && other == 0.0);
            assert!(is_same, "{table}: {name} of {key} is {value}, another table has {other}");
        }
    }
}

/// Checks the tables of a run; `web` are the flows of many connections.
pub(super) fn check(tables: Tables<'_>, summary: &Summary, web: &[&str]) {
    check_links(tables);
    check_flows(tables, web);
    check_units(tables);
    check_summary(tables, summary);
}

fn check_links(tables: Tables<'_>) {
    for table in ["links", "link_groups"] {
        tables.check_sum(table, "packets_in", &["packets_out", "packets_dropped", "packets_waiting"]);
        tables.check_order(table, "packets_marked", "packets_in");
    }
    tables.check_order("links", "mean_queue_packets", "max_queue_packets");
    tables.check_order("link_groups", "measured_packets_dropped", "measured_packets_in");
    tables.check_order("link_groups", "measured_packets_in", "packets_in");
    tables.check_values("links", "packets_dropped", "link", &tables.sums("drops", "packets", "link"));
    // Links that count groups count each packet in one.
    for name in ["packets_in", "packets_out", "packets_dropped", "packets_waiting", "packets_marked", "bytes_out"] {
        let of_links = tables.sums("links", name, "link");
        for (link, sum) in tables.sums("link_groups", name, "link") {
            assert!(
                (of_links[link] - sum).abs() <= ROUNDING,
                "{link}: groups have {sum} {name}, the link {}",
                of_links[link]
            );
        }
    }
    if tables.has("series") {
        check_samples(tables);
    }
}

/// Checks that no sample of a queue is greater than its maximum.
fn check_samples(tables: Tables<'_>) {
    let largest = tables.sums("links", "max_queue_packets", "link");
    let rows = tables.names("series", "subject").iter().zip(tables.names("series", "quantity"));
    for ((subject, quantity), value) in rows.zip(tables.numbers("series", "value")) {
        let is_above = quantity == "queue_packets" && value > largest[subject.as_str()];
        assert!(
            !is_above,
            "{subject}: {value} packets in a sample of the queue, at most {}",
            largest[subject.as_str()]
        );
    }
}

fn check_flows(tables: Tables<'_>, web: &[&str]) {
    tables.check_sum("flows", "packets_dropped", &["queue_drops", "random_losses"]);
    tables.check_values("flows", "packets_dropped", "flow", &tables.sums("drops", "data_packets", "flow"));
    for (column, cause) in [("queue_drops", "queue"), ("random_losses", "loss")] {
        tables.check_values("flows", column, "flow", &tables.drops_by(cause));
    }
    tables.check_order("flows", "retransmissions", "packets_sent");
    tables.check_order("flows", "rto_without_fast_retransmit", "rto_count");
    // Timeouts of the many connections of a web flow are counted, but have no rows.
    let listed =
        [("rto_count", tables.counts("timeouts", "flow")), ("frozen_s", tables.sums("timeouts", "frozen_s", "flow"))];
    for (name, listed) in listed {
        let of_flows = tables.sums("flows", name, "flow");
        for (flow, value) in of_flows.into_iter().filter(|(flow, _)| !web.contains(flow)) {
            let sum = listed.get(flow).copied().unwrap_or(0.0);
            assert!((value - sum).abs() <= SECONDS, "{flow}: {name} {value}, by its timeouts {sum}");
        }
    }
}

fn check_units(tables: Tables<'_>) {
    tables.check_order("flows", "units_delivered", "units_written");
    tables.check_order("flows", "units_late", "units_lost");
    let delays = ["delay_p50_ms", "delay_p95_ms", "delay_p99_ms", "delay_p999_ms", "delay_max_ms"];
    for pair in delays.windows(2) {
        tables.check_order("flows", pair[0], pair[1]);
    }
    tables.check_order("lateness", "late", "due");
    if tables.has("deliveries") {
        tables.check_values("flows", "units_written", "flow", &tables.counts("deliveries", "flow"));
        let mut delivered = BTreeMap::new();
        let rows = tables.names("deliveries", "flow").iter().zip(tables.numbers("deliveries", "delivered_s"));
        rows.for_each(|(flow, at)| *delivered.entry(flow.as_str()).or_default() += f64::from(u8::from(at.is_finite())));
        tables.check_values("flows", "units_delivered", "flow", &delivered);
    }
    if tables.has("stalls") {
        tables.check_values("flows", "stalls", "flow", &tables.counts("stalls", "flow"));
        tables.check_values("flows", "stalled_s", "flow", &tables.sums("stalls", "stalled_s", "flow"));
    }
}

/// Checks the measures of the summary that a table has too.
fn check_summary(tables: Tables<'_>, summary: &Summary) {
    let find = |wanted: &str| summary.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
    let Some(Value::String(bottleneck)) = find("bottleneck") else { return };
    let same =
        [("utilisation", "utilisation"), ("mean_queue_delay_ms", "mean_queue_delay_ms"), ("drop_rate", "drop_rate")];
    for (measure, column) in same.into_iter().chain([("bottleneck_packets", "packets_out")]) {
        let of_link = tables.sums("links", column, "link").get(bottleneck.as_str()).copied();
        let value = match find(measure) {
            Some(Value::Float(value)) => Some(*value),
            Some(Value::Integer(value)) => Some(*value as f64),
            _ => None,
        };
        assert!(
            value.is_none() || of_link.is_none() || value == of_link,
            "{measure} {value:?}, of the link {of_link:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<const N: usize>(names: [&str; N]) -> impl Iterator<Item = String> {
        names.map(str::to_owned).into_iter()
    }

    fn stalls(lengths: [f64; 2]) -> [(&'static str, Table); 2] {
        let flows = Table::default().string("flow", names(["a", "b"])).float("stalled_s", [0.75, f64::NAN]);
        [("flows", flows), ("stalls", Table::default().string("flow", names(["a", "a"])).float("stalled_s", lengths))]
    }

    fn check_stalls(lengths: [f64; 2]) {
        let tables = stalls(lengths);
        let tables = Tables(&tables);
        tables.check_values("flows", "stalled_s", "flow", &tables.sums("stalls", "stalled_s", "flow"));
    }

    #[test]
    fn stalls_of_two_tables_may_be_the_same() {
        check_stalls([0.5, 0.25]);
    }

    #[test]
    #[should_panic(expected = "stalled_s of a is 0.75")]
    fn stalls_that_one_table_lacks_are_noticed() {
        check_stalls([0.5, 0.0]);
    }

    #[test]
    #[should_panic(expected = "is more than")]
    fn a_mean_above_its_maximum_is_noticed() {
        let links = Table::default().float("mean_queue_packets", [13.5]).integer("max_queue_packets", [12]);
        Tables(&[("links", links)]).check_order("links", "mean_queue_packets", "max_queue_packets");
    }

    #[test]
    #[should_panic(expected = "packets in a sample of the queue")]
    fn a_sample_above_the_maximum_is_noticed() {
        let links = Table::default().string("link", names(["l"])).integer("max_queue_packets", [4]);
        let series = Table::default().string("subject", names(["l"])).string("quantity", names(["queue_packets"]));
        check_samples(Tables(&[("links", links), ("series", series.float("value", [5.0]))]));
    }
}
