//! The files that tell every packet and decision, in both backends.

use crate::setup::{bulk, column, completed, scenario_over};
use earlybird_experiment::{Outputs, ProgressCallback, Report, RunError};
use earlybird_scenario::Scenario;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

type Run = fn(&Scenario, u64, &Outputs, ProgressCallback<'_>) -> Result<Report, RunError>;

/// A run with all its files.
struct TracedRun {
    report: Report,
    trace: Vec<Row>,
    link: Vec<Vec<String>>,
    qlog: Value,
}

/// A line of a trace of one flow.
#[derive(Debug)]
struct Row {
    time: f64,
    event: String,
    seq: Option<u64>,
    /// Window, threshold, back-off and timeouts.
    state: Vec<String>,
}

fn lines(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).expect("it is written");
    text.lines().map(|line| line.split(',').map(ToOwned::to_owned).collect()).collect()
}

fn row(cells: &[String]) -> Row {
    let time = cells[0].parse().expect("a time");
    Row { time, event: cells[1].clone(), seq: cells[2].parse().ok(), state: cells[3..].to_vec() }
}

/// Runs a bulk transfer whose link loses some packets; nothing where that is not allowed.
fn run_traced(backend: &str, run: Run) -> Option<TracedRun> {
    let scenario = scenario_over("loss = [{ list = { packets = [40, 200, 201] } }]", &bulk("cubic-rack"), "");
    let place = |name: &str| Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{backend}-{name}")));
    let outputs = Outputs {
        trace: place("trace.csv"),
        qlog: place("run.qlog"),
        link_trace: place("link.csv"),
        ..Outputs::default()
    };
    let report = completed(run(&scenario, 1, &outputs, &mut |_| true))?;
    let read = |path: &Option<PathBuf>| lines(path.as_deref().expect("a place"));
    let trace = read(&outputs.trace);
    assert_eq!(trace[0].join(","), "time,event,seq,cwnd,ssthresh,backoff,timeouts");
    let qlog = fs::read_to_string(outputs.qlog.as_deref().expect("a place")).expect("it is written");
    let qlog = serde_json::from_str(&qlog).expect("it is JSON");
    Some(TracedRun {
        report,
        trace: trace[1..].iter().map(|cells| row(cells)).collect(),
        link: read(&outputs.link_trace),
        qlog,
    })
}

impl TracedRun {
    fn count(&self, event: &str) -> f64 {
        self.trace.iter().filter(|row| row.event == event).count() as f64
    }

    fn flow(&self, name: &str) -> f64 {
        column(&self.report, "flows", name)[0]
    }

    fn numbers(&self, event: &str) -> Vec<u64> {
        self.trace.iter().filter(|row| row.event == event).filter_map(|row| row.seq).collect()
    }

    fn qlog_events(&self, name: &str) -> Vec<&Value> {
        let events = self.qlog["traces"][0]["events"].as_array().expect("events");
        events.iter().filter(|event| event["name"] == name).collect()
    }

    /// Checks what holds in any backend: the trace agrees with itself, and with the tables.
    fn check(&self) {
        // Times of states are rounded to 10 µs.
        assert!(self.trace.windows(2).all(|pair| pair[0].time <= pair[1].time + 1e-5));
        assert!(self.trace.last().is_some_and(|row| (3.9..4.0).contains(&row.time)));
        let (retransmitted, dropped) = (self.count("rtx"), self.count("drp"));
        assert!(dropped >= 3.0 && retransmitted >= dropped, "{retransmitted} sent again, {dropped} dropped");
        assert_eq!(dropped, self.flow("packets_dropped"));
        let sent: BTreeSet<u64> = self.numbers("snd").into_iter().collect();
        assert!(sent.iter().copied().eq(0..sent.len() as u64), "numbered in order, and each once");
        let in_flight = self.count("snd") + retransmitted - dropped - self.count("dlv");
        assert!((0.0..200.0).contains(&in_flight), "{in_flight}");
        for event in ["rtx", "drp", "dlv", "ack"] {
            assert!(self.numbers(event).iter().all(|number| sent.contains(number)), "{event}");
        }
        assert!(self.numbers("ack").is_sorted());
        self.check_link(sent.len());
        self.check_qlog();
    }

    fn check_link(&self, sent: usize) {
        assert_eq!(self.link[0].join(","), "time,event,flow,seq,bytes");
        let of = |event| self.link[1..].iter().filter(move |cells| cells[1] == event);
        assert_eq!(of("drp").count() as f64, self.count("drp"));
        assert!(of("enq").count() + of("drp").count() >= sent);
        assert!(of("enq").all(|cells| cells[2] == "bulk0" && cells[4].parse::<u32>().is_ok_and(|bytes| bytes <= 1500)));
        let full = of("enq").filter(|cells| cells[4] == "1500").count();
        assert!(full * 10 >= sent * 9, "{full} of {sent}");
    }

    fn check_qlog(&self) {
        let lost = self.qlog_events("recovery:packet_lost").len() as f64;
        assert!(lost >= self.count("rtx"), "{lost}");
        let sent = self.qlog_events("transport:packet_sent");
        assert!(sent.len() as f64 >= self.count("snd") + self.count("rtx"));
        assert!(sent.iter().all(|event| event["data"]["raw"]["length"].as_u64().is_some_and(|bytes| bytes <= 1500)));
        let received = self.qlog_events("transport:packet_received").len() as f64;
        assert_eq!(received, self.count("ack"));
        let times: Vec<f64> = self.qlog["traces"][0]["events"]
            .as_array()
            .expect("events")
            .iter()
            .filter_map(|event| event["time"].as_f64())
            .collect();
        assert!(times.is_sorted() && times.len() > 1000);
    }
}

#[test]
fn our_endpoints_report_in_real_time_what_they_report_in_a_simulation() {
    let Some(traced_run) = run_traced("live", earlybird_backends::live::run) else { return };
    traced_run.check();
    assert_eq!(traced_run.count("rtx"), traced_run.flow("retransmissions"));
    assert!(traced_run.count("cwnd") > 100.0 && traced_run.count("ssthresh") >= 2.0);
    assert!(traced_run.trace.iter().all(|row| row.state.iter().all(|cell| cell.parse::<f64>().is_ok())));
    assert_eq!(traced_run.trace.last().expect("a row").state[3], traced_run.flow("rto_count").to_string());
    let metrics = traced_run.qlog_events("recovery:metrics_updated");
    let windows = metrics.iter().filter(|event| event["data"]["congestion_window"].is_u64()).count() as f64;
    assert!(
        windows >= traced_run.count("cwnd") * 0.9 && metrics.iter().any(|event| event["data"]["min_rtt"].is_number())
    );
}

/// The kernel reports its state in `TCP_INFO` only.
#[test]
fn of_the_kernels_endpoints_the_packets_on_the_links_are_reported() {
    let Some(traced_run) = run_traced("kernel", earlybird_backends::kernel::run) else { return };
    traced_run.check();
    assert_eq!(traced_run.count("rtx"), traced_run.flow("retransmissions"));
    assert!(traced_run.trace.iter().all(|row| row.state.iter().all(String::is_empty)));
    assert_eq!(traced_run.count("cwnd"), 0.0);
    assert!(traced_run.qlog_events("recovery:metrics_updated").is_empty());
}

#[test]
fn a_flow_that_is_none_cannot_be_traced_in_real_time() {
    let scenario = scenario_over("", &bulk("cubic"), "");
    let outputs = Outputs { trace: Some("never.csv".into()), trace_flows: vec!["none0".into()], ..Outputs::default() };
    for run in [earlybird_backends::live::run as Run, earlybird_backends::kernel::run] {
        let error = run(&scenario, 1, &outputs, &mut |_| true).expect_err("no such flow").to_string();
        assert!(error.starts_with("--trace-flow: `none0`"), "{error}");
    }
    assert!(!Path::new("never.csv").exists());
}
