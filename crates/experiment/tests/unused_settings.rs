//! Settings that no flow uses are reported, the others are not.

mod common;

use common::scenario_of;
use earlybird_experiment::{Outputs, output_warnings, unused_settings, warnings};
use earlybird_scenario::{Network, Scenario, ScenarioError};
use std::path::PathBuf;

/// A film and a file, a flow that begins after the end, and a link that nobody crosses.
const TEXT: &str = r#"
duration = "10s"
[endpoint]
profile = "rfc"
bbr3 = { beta = 0.5 }
[[network.links]]
from = "server"
to = "viewer"
rate = "10Mb/s"
delay = "10ms"
queue = { packets = 50 }
[[network.links]]
from = "viewer"
to = "attic"
rate = "10Mb/s"
delay = "10ms"
[[flows]]
name = "film"
from = "server"
to = "viewer"
transport = "cubic"
endpoint = { window = 100 }
application = { cbr = { rate = "1Mb/s", packet = 1000 } }
[[flows]]
name = "late"
from = "server"
to = "viewer"
start = { at = "20s" }
application = { bulk = {} }
"#;

fn scenario(changes: &[(&str, &str)]) -> Scenario {
    scenario_of(TEXT, changes)
}

fn paths(warnings: &[ScenarioError]) -> Vec<&str> {
    warnings.iter().map(|warning| warning.path.as_str()).collect()
}

const ALWAYS: [&str; 3] = ["endpoint.bbr3.beta", "flows.late", "network.links.viewer-attic"];

#[test]
fn settings_that_nothing_reads_were_accepted_without_a_word() {
    assert_eq!(paths(&unused_settings(&scenario(&[]))), ALWAYS);
    let cases = [
        ("endpoint.rack", "{ tail-loss-probe = false }", "endpoint.rack.tail-loss-probe"),
        ("endpoint.srt", "{ latency = '1s' }", "endpoint.srt.latency"),
        ("endpoint.hold-new-data", "false", "endpoint.hold-new-data"),
        ("endpoint.early-retransmission.reference", "last-in-order", "endpoint.early-retransmission.reference"),
        ("endpoint.rto.clock-phase", "2ms", "endpoint.rto.clock-phase"),
        ("flows.film.endpoint.ecn", "classic", "flows.film.endpoint.ecn"),
        ("network.links.0.queue", "{ codel = { ecn = true } }", "network.links.server-viewer.queue.codel.ecn"),
    ];
    for (key, value, path) in cases {
        let found = unused_settings(&scenario(&[(key, value)]));
        let reported: Vec<_> = paths(&found).into_iter().filter(|path| !ALWAYS.contains(path)).collect();
        assert_eq!(reported, [path], "{key} = {value}");
    }
}

#[test]
fn settings_that_are_read_are_not_reported_though_they_equal_their_default() {
    let read = [
        &[("flows.film.transport", "bbr")][..],
        &[("flows.late.start.at", "2s")],
        &[("flows.film.transport", "cubic-rack"), ("endpoint.rack", "{ tail-loss-probe = false }")],
        &[("endpoint.profile", "ns2"), ("flows.film.endpoint.window", "64")],
        &[("flows.film.endpoint.ecn", "classic"), ("network.links.0.queue", "{ codel = { ecn = true } }")],
        &[("flows.film.transport", "sack-er"), ("endpoint.early-retransmission.reference", "last-in-order")],
    ];
    for changes in read {
        let found = unused_settings(&scenario(changes));
        let reported: Vec<_> = paths(&found).into_iter().filter(|path| !ALWAYS.contains(path)).collect();
        assert_eq!(reported, [""; 0], "{changes:?}");
    }
}

#[test]
fn a_lone_link_is_of_use_and_so_is_one_that_names_the_end_of_a_flow() {
    let scenario = scenario(&[("flows.late.start.at", "1s"), ("endpoint.bbr3", "{}")]);
    let mut chain = scenario.clone();
    chain.flows.iter_mut().for_each(|flow| flow.to = "attic".to_owned());
    assert_eq!(paths(&unused_settings(&chain)), [""; 0]);
    let mut lone = scenario;
    let Network::Links(links) = &mut lone.network else { panic!("links") };
    links.truncate(1);
    lone.flows.truncate(1);
    assert_eq!(paths(&unused_settings(&lone)), [""; 0]);
}

#[test]
fn a_scenario_whose_every_flow_starts_after_the_end_was_warned_of_its_segment_size() {
    let film = [("flows.film.start.at", "10s"), ("endpoint.mss", "1000")];
    assert_eq!(paths(&unused_settings(&scenario(&film))), [""; 0]);
    assert_eq!(paths(&warnings(&scenario(&film)).expect("a plan")), ["duration"]);
    assert_eq!(paths(&warnings(&scenario(&[("flows.film.start.at", "9s")])).expect("a plan")), [""; 0]);
}

#[test]
fn marks_were_awaited_behind_a_queue_that_does_not_mark() {
    let prague = ("flows.film.transport", "prague");
    assert_eq!(paths(&warnings(&scenario(&[prague])).expect("a plan")), ["flows.film.transport"]);
    let marking = ("network.links.0.queue", "{ dualpi2 = {} }");
    assert_eq!(paths(&warnings(&scenario(&[prague, marking])).expect("a plan")), [""; 0]);
}

#[test]
fn a_queue_below_one_packet_let_nothing_through_without_a_word() {
    let room = |bytes: &str| warnings(&scenario(&[("network.links.0.queue", &format!("{{ bytes = {bytes} }}"))]));
    assert_eq!(paths(&room("1487").expect("a plan")), ["network.links.server-viewer.queue.bytes"]);
    assert_eq!(paths(&room("1488").expect("a plan")), [""; 0]);
}

#[test]
fn flows_to_trace_without_a_trace_and_lengths_that_no_link_counts_are_reported() {
    let (file, ns2) = (Some(PathBuf::from("x")), [("endpoint.profile", "ns2")]);
    let reported = |changes: &[(&str, &str)], outputs: Outputs| {
        paths(&output_warnings(&scenario(changes), &outputs).expect("a plan")).join(" ")
    };
    let flows = Outputs { trace_flows: vec!["film0".to_owned()], ..Outputs::default() };
    assert_eq!(reported(&[], flows.clone()), "--trace-flow");
    assert_eq!(reported(&[], Outputs { trace: file.clone(), ..flows }), "");
    let capture = Outputs { capture: file, ..Outputs::default() };
    assert_eq!((reported(&ns2, capture.clone()).as_str(), reported(&[], capture).as_str()), ("--pcap", ""));
}
