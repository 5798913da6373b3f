//! What the queues are published for, on links with long transfers.

use earlybird_experiment::{Column, Outputs, Report, run};
use earlybird_scenario::resolve_in;
use std::path::Path;

/// Runs a scenario file with changes.
fn report(file: &str, changes: &[(&str, &str)]) -> Report {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join(file)).expect("a scenario file");
    let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = resolve_in(&folder, &text, &changes).expect("a good scenario");
    run(&scenario, 1, &Outputs::default(), &mut || true).expect("a run")
}

fn column<'a>(report: &'a Report, table: &str, column: &str) -> &'a Column {
    let (_, table) = report.tables.iter().find(|(name, _)| *name == table).expect("a table");
    &table.columns.iter().find(|(name, _)| *name == column).expect("a column").1
}

fn reals<'a>(report: &'a Report, table: &str, name: &str) -> &'a [f64] {
    match column(report, table, name) {
        Column::Real(values) => values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn explore() {
    for (file, flows) in [
        ("red", 5),
        ("red", 20),
        ("red", 50),
        ("codel", 1),
        ("codel", 5),
        ("codel", 50),
        ("pie", 1),
        ("pie", 5),
        ("pie", 50),
        ("dualpi2", 1),
        ("dualpi2", 5),
        ("dualpi2", 50),
        ("fq-codel", 1),
        ("fq-codel", 4),
        ("fq-codel", 50),
    ] {
        let report = report(&format!("queue-{file}.toml"), &[("flows", &flows.to_string())]);
        let first = |name| reals(&report, "links", name)[0];
        println!(
            "{file} {flows}: wait {:.2} ms queue {:.2} util {:.3} drop {:.4}",
            first("mean_wait_ms"),
            first("mean_queue_packets"),
            first("utilisation"),
            first("drop_rate")
        );
        if file == "fq-codel" {
            println!("{:?} {:?}", reals(&report, "flows", "throughput_bps"), reals(&report, "flows", "delay_p99_ms"));
        }
    }
}
