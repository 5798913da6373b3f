//! Every combination of the settings of an endpoint that choose policies: it is refused in clear words, or it transfers
//! everything.

use earlybird_experiment::{Column, Outputs, run};
use earlybird_scenario::{Scenario, ScenarioError, Transport, Transports, resolve};

/// The keys, and what they may say; nothing is said where the text is empty.
const SETTINGS: [(&str, &[&str]); 8] = [
    ("recovery", &["", "sack1", "rfc6675", "tahoe", "reno", "newreno", "rack-tlp"]),
    ("profile", &["rfc", "ns2", "linux"]),
    ("ecn", &["", "off", "classic", "accurate"]),
    ("undo", &["", "none", "eifel", "dsack", "either"]),
    ("window-reduction", &["", "immediate", "prr"]),
    ("early-retransmit", &["false", "true"]),
    ("spurious-rto-detection", &["", "false", "true"]),
    ("pacing", &["", "false", "true"]),
];

/// Without the whole search of `PROPTEST_CASES`, one combination of so many; prime, so that every value meets every other.
const STRIDE: usize = 31;

/// The counters of a file over a link that loses packets at its beginning, in its middle and near its end.
const BYTES: u64 = 40_000;

/// Returns the scenario of one flow. Datagrams and frames need a source that has a rate; as much is written by both.
fn scenario(has_units: bool) -> String {
    let application = if has_units {
        format!(r#"cbr = {{ rate = "100kb/s", packet = 500, packets = {} }}"#, BYTES / 500)
    } else {
        format!("bulk = {{ bytes = {BYTES} }}")
    };
    format!(
        r#"
duration = "60s"
endpoint = {{ mss = 1000 }}
[[network.links]]
from = "a"
to = "b"
rate = "2Mb/s"
delay = "20ms"
loss = [{{ list = {{ packets = [4, 9, 10, 24, 41] }} }}]
[[flows]]
name = "one"
from = "a"
to = "b"
application = {{ {application} }}
"#
    )
}

/// Returns the `number`-th combination as overrides; none beyond the last.
fn combination(transports: &[String], mut number: usize) -> Option<Vec<(String, String)>> {
    let mut choose = |values: &[&str]| {
        let value = values[number % values.len()].to_owned();
        number /= values.len();
        value
    };
    let names: Vec<_> = transports.iter().map(String::as_str).collect();
    let mut chosen = vec![("endpoint.transport".to_owned(), choose(&names))];
    chosen.extend(SETTINGS.iter().map(|(key, values)| (format!("endpoint.{key}"), choose(values))));
    chosen.retain(|(_, value)| !value.is_empty());
    (number == 0).then_some(chosen)
}

/// A refusal names a key that was set, its value, and others.
fn is_clear(error: &ScenarioError, chosen: &[(String, String)]) -> bool {
    let is_named = chosen.iter().any(|(key, value)| (key, value) == (&error.path, &error.value));
    let is_allowed = error.allowed.split(", ").any(|allowed| allowed == error.value);
    is_named && !error.problem.is_empty() && !error.allowed.is_empty() && !is_allowed
}

fn delivered(scenario: &Scenario) -> u64 {
    let report = run(scenario, 1, &Outputs::default(), &mut |_| true).expect("a run");
    let flows = &report.tables.iter().find(|(name, _)| *name == "flows").expect("a table of flows").1;
    match &flows.columns.iter().find(|(name, _)| *name == "bytes_delivered").expect("a column").1 {
        Column::Integer(bytes) => bytes[0] as u64,
        other => panic!("{other:?} are no counts"),
    }
}

/// Returns the error of a combination.
fn complaint(chosen: &[(String, String)]) -> Option<String> {
    let transport: Transport = chosen[0].1.parse().expect("a transport");
    let (is_datagram, is_real_time) = (transport.kind.is_datagram(), transport.kind.is_real_time());
    match resolve(&scenario(is_datagram || is_real_time), chosen) {
        Err(error) => (!is_clear(&error, chosen)).then(|| error.to_string()),
        Ok(scenario) => {
            let bytes = delivered(&scenario);
            // A stream of three seconds gives up what its timer takes too long to repair.
            let is_complete = bytes == BYTES || (is_datagram && bytes > 0) || (is_real_time && bytes >= BYTES / 10);
            (!is_complete).then(|| format!("{bytes} bytes arrived"))
        }
    }
}

#[test]
fn every_combination_of_policies_transfers_everything_or_is_refused_with_a_correction() {
    let step = if std::env::var_os("PROPTEST_CASES").is_some() { 1 } else { STRIDE };
    let names = Transports::built_in().names();
    let combinations = (0..).step_by(step).map_while(|number| combination(&names, number));
    let complaints = combinations.filter_map(|chosen| Some((complaint(&chosen)?, chosen)));
    let complaints: Vec<_> = complaints.take(20).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}
