//! Percentiles of queueing delays and round-trip times, and Jain's index.

mod common;

use common::{real, report, run_text, summary};
use earlybird_experiment::Report;

const QUEUE: [&str; 3] = ["queue_delay_p50_ms", "queue_delay_p95_ms", "queue_delay_p99_ms"];
const RTT: [&str; 3] = ["rtt_p50_ms", "rtt_p95_ms", "rtt_p99_ms"];

/// 20.56 Mb/s with headers over a link of 10 Mb/s, without limit; `rate` may add steps.
fn overload(rate: &str, percentiles: bool) -> Report {
    run_text(&format!(
        r#"
duration = "10s"
endpoint = {{ transport = "udp" }}
measure = {{ warm-up = "2s", percentiles = {percentiles} }}
[network.dumbbell]
bottleneck = {{ rate = "10Mb/s", delay = "15ms" {rate} }}
access = {{ rate = "1Gb/s", delay = "5ms" }}
[[flows]]
name = "film"
from = "left"
to = "right"
application = {{ cbr = {{ rate = "20Mb/s", packet = 1000 }} }}
"#
    ))
}

#[test]
fn percentiles_of_a_queue_that_grows_evenly_are_those_of_a_uniform_distribution() {
    // A step to the same rate makes the link event-driven.
    for rate in ["", r#", rate-steps = [{ at = "5s", rate = "10Mb/s" }]"#] {
        let report = overload(rate, true);
        // A packet that leaves at time t arrived at t / 2.056; the interval is from 2 s to 10 s.
        for (name, left_at) in QUEUE.iter().zip([6.0, 9.6, 9.92]) {
            let expected = 1e3 * left_at * (1.0 - 1.0 / 2.056);
            let [link, of_run] = [real(&report, "links", name)[0], summary(&report, name)];
            assert!((link / expected - 1.0).abs() < 0.002, "{rate} {name}: {link} ms, not {expected}");
            assert_eq!(link.to_bits(), of_run.to_bits());
        }
    }
}

#[test]
fn delays_that_are_kept_change_no_other_column() {
    let [with, without] = [true, false].map(|percentiles| overload("", percentiles));
    for (name, table) in &without.tables {
        let same = &with.tables.iter().find(|(other, _)| other == name).expect("the same tables").1;
        for ((column, values), (_, others)) in table.columns.iter().zip(&same.columns) {
            if !QUEUE.contains(column) && !RTT.contains(column) {
                assert_eq!(format!("{values:?}"), format!("{others:?}"), "{name}.{column}");
            }
        }
    }
    assert!(QUEUE.iter().all(|name| real(&without, "links", name)[0].is_nan()));
    assert!(without.summary.iter().all(|(name, _)| !QUEUE.contains(&name.as_str())));
}

#[test]
fn round_trips_of_a_flow_are_the_path_and_the_queues_on_it() {
    let changes = [("duration", "60s"), ("measure.percentiles", "true"), ("pairs", "20")];
    for profile in ["ns2", "rfc", "linux"] {
        let report = report("dumbbell.toml", &[&changes[..], &[("endpoint.profile", profile)]].concat());
        let smallest = real(&report, "flows", "min_rtt_ms");
        let [p50, p95, p99] = RTT.map(|name| real(&report, "flows", name));
        // A queue holds at most what it has room for: a round trip is not longer than path and full queue.
        let longest = summary(&report, "queue_delay_p99_ms");
        for flow in 0..smallest.len() {
            let found = [smallest[flow], p50[flow], p95[flow], p99[flow]];
            // Web flows have no samples in the measured interval if they have ended. A timestamp counts milliseconds.
            if !found[1].is_nan() {
                assert!(found[0] < found[1] + 1.0, "{profile} {found:?}");
                assert!(found[1] <= found[2] && found[2] <= found[3], "{profile} {found:?}");
                assert!(found[1] <= found[0] + longest + 250.0, "{profile} {found:?} {longest}");
            }
        }
        assert!(p50.iter().filter(|rtt| !rtt.is_nan()).count() > 20, "{profile}");
    }
}

#[test]
fn jains_index_is_one_for_equal_flows_and_falls_with_what_one_takes() {
    let flows = |rates: [&str; 2]| {
        let flow = |name: &str, rate: &str| {
            format!(
                r#"
[[flows]]
name = "{name}"
from = "left"
to = "right"
application = {{ cbr = {{ rate = "{rate}", packet = 1000 }} }}
"#
            )
        };
        run_text(&format!(
            r#"
duration = "10s"
endpoint = {{ transport = "udp" }}
measure = {{ warm-up = "2s" }}
[network.dumbbell]
bottleneck = {{ rate = "100Mb/s", delay = "15ms" }}
access = {{ rate = "1Gb/s", delay = "5ms" }}
{}{}"#,
            flow("one", rates[0]),
            flow("two", rates[1])
        ))
    };
    assert!((summary(&flows(["2Mb/s", "2Mb/s"]), "jain_index") - 1.0).abs() < 1e-6);
    // (1 + 3)² / (2 · (1 + 9)) = 0.8.
    assert!((summary(&flows(["2Mb/s", "6Mb/s"]), "jain_index") - 0.8).abs() < 1e-3);
}
