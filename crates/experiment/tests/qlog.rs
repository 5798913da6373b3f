//! Traces in the format qlog: their form, and that they tell what happened.

mod common;

use common::{run_once, scenario_of, whole};
use earlybird_experiment::{Outputs, Report, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The required and the optional fields of each event: the parts of draft-ietf-quic-qlog-quic-events-03 that are written,
/// and `tcp`. A path's end says what is there.
const SCHEMA: [(&str, &[&str], &[&str]); 5] = [
    (
        "transport:packet_sent",
        &["header/packet_type=1RTT", "header/packet_number=#", "raw/length=#", "raw/payload_length=#", "frames=[]"],
        &["tcp=seq,ack,window,flags", "tcp=seq,ack,window,flags,sack"],
    ),
    (
        "transport:packet_received",
        &["header/packet_type=1RTT", "header/packet_number=#", "raw/length=#", "raw/payload_length=#", "frames=[]"],
        &["tcp=seq,ack,window,flags", "tcp=seq,ack,window,flags,sack"],
    ),
    ("recovery:packet_lost", &["header/packet_type=1RTT", "header/packet_number=#"], &["trigger=pto_expired"]),
    ("recovery:loss_timer_updated", &["timer_type=pto", "event_type=expired"], &[]),
    (
        "recovery:metrics_updated",
        &[],
        &[
            "congestion_window=#",
            "ssthresh=#",
            "bytes_in_flight=#",
            "smoothed_rtt=#",
            "rtt_variance=#",
            "min_rtt=#",
            "pacing_rate=#",
        ],
    ),
];

fn matches(data: &Value, rule: &str) -> bool {
    let (path, what) = rule.split_once('=').expect("a rule");
    let value = data.pointer(&format!("/{path}")).unwrap_or(&Value::Null);
    match what {
        "#" => value.as_f64().is_some_and(|number| number >= 0.0),
        "[]" => value.is_array(),
        text if text.contains(',') => {
            let wanted: BTreeSet<&str> = text.split(',').collect();
            value.as_object().is_some_and(|object| object.keys().map(String::as_str).collect::<BTreeSet<_>>() == wanted)
        }
        text => value == text,
    }
}

fn check_form(event: &Value) {
    let keys: Vec<&str> = event.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["data", "name", "time"]);
    let (_, has, may_have) = SCHEMA.iter().find(|(name, ..)| event["name"] == *name).expect("an event of the schema");
    let data = &event["data"];
    assert!(has.iter().all(|rule| matches(data, rule)), "{event}");
    let rules: Vec<&&str> = has.iter().chain(*may_have).collect();
    for key in data.as_object().expect("an object").keys() {
        let mut own = rules.iter().filter(|rule| rule.split(['/', '=']).next() == Some(key)).peekable();
        assert!(own.peek().is_some() && own.any(|rule| matches(data, rule)), "{key} of {event}");
    }
}

fn scenario(endpoint: &str, application: &str, drops: &str) -> String {
    format!(
        r#"
duration = "5s"
measure = {{ warm-up = "0s" }}
endpoint = {endpoint}
[[network.links]]
from = "a"
to = "b"
rate = "2Mb/s"
delay = "50ms"
loss = [{{ list = {{ packets = {drops} }} }}]
[[flows]]
name = "one"
from = "a"
to = "b"
application = {application}
"#
    )
}

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs a scenario; gives its report and its only trace.
fn traced(text: &str, name: &str) -> (Report, Value) {
    let outputs = Outputs { qlog: Some(place(name)), ..Outputs::default() };
    let report = run_once(&scenario_of(text, &[]), &outputs);
    let file: Value = serde_json::from_str(&std::fs::read_to_string(place(name)).expect("a file")).expect("JSON");
    assert_eq!((&file["qlog_version"], &file["qlog_format"]), (&"0.3".into(), &"JSON".into()));
    let [trace] = &file["traces"].as_array().expect("traces")[..] else { panic!("{}", file["traces"]) };
    assert_eq!((&trace["title"], &trace["vantage_point"]["type"]), (&"one0".into(), &"client".into()));
    assert_eq!(trace["common_fields"]["time_format"], "relative");
    (report, trace.clone())
}

fn events<'a>(trace: &'a Value, name: &str) -> Vec<&'a Value> {
    let every = trace["events"].as_array().expect("events").iter();
    every.filter(|event| event["name"] == name).map(|event| &event["data"]).collect()
}

fn number(packet: &Value) -> u64 {
    packet["header"]["packet_number"].as_u64().expect("a number")
}

fn acknowledged(trace: &Value) -> Vec<u64> {
    let received = events(trace, "transport:packet_received");
    let frames = received.iter().flat_map(|packet| packet["frames"].as_array().expect("frames"));
    let ranges = frames.flat_map(|frame| frame["acked_ranges"].as_array().expect("ranges"));
    ranges.flat_map(|range| range[0].as_u64().expect("a first")..=range[1].as_u64().expect("a last")).collect()
}

#[test]
fn every_transmission_is_acknowledged_once_or_lost_and_retransmitted() {
    for (endpoint, drops) in [
        (r#"{ profile = "rfc", transport = "sack" }"#, "[20, 22]"),
        (r#"{ profile = "linux", transport = "cubic-rack" }"#, "[20, 22, 60]"),
        (r#"{ profile = "ns2", transport = "reno" }"#, "[20, 22]"),
    ] {
        let (report, trace) = traced(&scenario(endpoint, "{ bulk = {} }", drops), "bulk.qlog");
        let sent: BTreeSet<u64> = events(&trace, "transport:packet_sent").into_iter().map(number).collect();
        let lost: BTreeSet<u64> = events(&trace, "recovery:packet_lost").into_iter().map(number).collect();
        let acknowledged = acknowledged(&trace);
        let once: BTreeSet<u64> = acknowledged.iter().copied().collect();
        assert_eq!(once.len(), acknowledged.len(), "{endpoint}");
        assert!(once.is_subset(&sent) && lost.is_subset(&sent) && once.is_disjoint(&lost), "{endpoint}");
        let retransmissions = whole(&report, "flows", "retransmissions")[0] as usize;
        assert!(
            retransmissions >= 2 && lost.len() == retransmissions,
            "{endpoint}: {retransmissions} sent again, {} lost",
            lost.len()
        );
        let unanswered = sent.len() - once.len() - lost.len();
        assert!(unanswered < 200 && once.len() > 500, "{endpoint}: {unanswered}, {}", once.len());
    }
}

#[test]
fn a_trace_has_the_form_that_the_drafts_give_in_order_of_time() {
    let (_, trace) = traced(&scenario(r#"{ transport = "sack" }"#, "{ bulk = {} }", "[9, 20]"), "form.qlog");
    let every = trace["events"].as_array().expect("events");
    every.iter().for_each(check_form);
    let times: Vec<f64> = every.iter().map(|event| event["time"].as_f64().expect("a time")).collect();
    assert!(times.is_sorted() && times[times.len() - 1] > 4_900.0 && times[times.len() - 1] <= 5_000.0);
    let offsets: Vec<u64> = events(&trace, "transport:packet_sent")
        .iter()
        .flat_map(|packet| packet["frames"].as_array().expect("frames"))
        .filter_map(|frame| frame["offset"].as_u64())
        .collect();
    assert_eq!(offsets[0], 0);
}

#[test]
fn metrics_are_logged_when_they_change_in_bytes_and_milliseconds() {
    let (_, trace) = traced(&scenario(r#"{ transport = "sack" }"#, "{ bulk = {} }", "[30]"), "metrics.qlog");
    let metrics = events(&trace, "recovery:metrics_updated");
    let all = |name: &str| -> Vec<f64> { metrics.iter().filter_map(|data| data[name].as_f64()).collect() };
    // 50 ms each way, and 6 ms for 1500 bytes at 2 Mb/s.
    assert!(all("min_rtt").into_iter().all(|rtt| (100.0..120.0).contains(&rtt)));
    assert!(all("smoothed_rtt").into_iter().all(|rtt| (100.0..5_000.0).contains(&rtt)));
    let windows = all("congestion_window");
    assert!(windows.windows(2).all(|pair| (pair[0] - pair[1]).abs() >= 1.0) && windows.len() > 20);
    assert!(windows.iter().all(|window| (1_000.0..10e6).contains(window)));
    assert_eq!(all("ssthresh").len(), 1, "one loss");
}

#[test]
fn a_timer_that_expired_is_logged_before_what_it_declares_lost() {
    let drops = "[3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]";
    let (report, trace) = traced(&scenario(r#"{ transport = "sack" }"#, "{ bulk = {} }", drops), "timer.qlog");
    let timeouts = whole(&report, "flows", "rto_count")[0] as usize;
    assert_eq!(events(&trace, "recovery:loss_timer_updated").len(), timeouts);
    let by_timer =
        events(&trace, "recovery:packet_lost").iter().filter(|data| data["trigger"] == "pto_expired").count();
    assert!(timeouts > 0 && by_timer >= timeouts, "{timeouts}, {by_timer}");
}

#[test]
fn datagrams_are_logged_too() {
    let clip = r#"{ cbr = { rate = "400kb/s", packet = 1000 } }"#;
    let (report, trace) = traced(&scenario(r#"{ transport = "udp" }"#, clip, "[2]"), "datagrams.qlog");
    let sent = events(&trace, "transport:packet_sent");
    assert_eq!(sent.len(), whole(&report, "flows", "packets_sent")[0] as usize);
    assert!(sent.iter().all(|packet| packet["frames"][0]["frame_type"] == "datagram"));
    assert_eq!(trace["common_fields"]["protocol_type"][0], "UDP");
}

#[test]
fn a_flow_of_many_connections_has_no_trace() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join("web-traffic.toml")).expect("a scenario file");
    let scenario = scenario_of(&text, &[("duration", "2s"), ("sessions", "1")]);
    let names =
        scenario.flows.iter().filter(|flow| flow.application.is_web()).flat_map(earlybird_scenario::Flow::members);
    let trace_flows: Vec<String> = names.take(1).collect();
    let outputs = Outputs { qlog: Some(place("web.qlog")), trace_flows, ..Outputs::default() };
    let error = run(&scenario, 1, &outputs, &mut |_| true).expect_err("no trace");
    assert!(error.to_string().contains("many connections"), "{error}");
}
