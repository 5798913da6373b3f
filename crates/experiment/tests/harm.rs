//! The harm that a group of flows does to the others.

mod common;

use common::{real, run_text, scenario_of, summary};
use earlybird_experiment::Report;

/// A film of 4 Mb/s beside one datagram stream over a link of 10 Mb/s, whose harm is measured.
fn film_beside(rate: &str) -> String {
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
    format!(
        r#"
duration = "20s"
endpoint = {{ transport = "udp" }}
measure = {{ warm-up = "2s", harm-by = "other" }}
[network.dumbbell]
bottleneck = {{ rate = "10Mb/s", delay = "15ms", queue = {{ packets = 100 }} }}
access = {{ rate = "1Gb/s", delay = "5ms" }}
{}{}"#,
        flow("film", "4Mb/s"),
        flow("other", rate)
    )
}

fn has(report: &Report, name: &str) -> bool {
    report.summary.iter().any(|(known, _)| known == name)
}

#[test]
fn a_stream_that_leaves_room_harms_little_and_one_that_floods_takes_its_share_of_the_drops() {
    let little = run_text(&film_beside("2Mb/s"));
    assert!(summary(&little, "harm_throughput").abs() < 1e-3, "{}", summary(&little, "harm_throughput"));
    let much = run_text(&film_beside("20Mb/s"));
    // Alone the film has the 4 Mb/s that it sends.
    let expected = 1.0 - real(&much, "flows", "throughput_bps")[0] / 4e6;
    assert!((summary(&much, "harm_throughput") - expected).abs() < 1e-3, "{}", summary(&much, "harm_throughput"));
    // 24 Mb/s of payload for 9.73 Mb/s of it; periodic sources do not lose the same share (Floyd and Jacobson 1992).
    assert!((0.4..0.8).contains(&expected), "{expected}");
    let text = film_beside("20Mb/s");
    let (film, _) = text.rsplit_once("[[flows]]").expect("two groups");
    let solo = run_text(&film.replace(r#", harm-by = "other""#, ""));
    let [beside, solo] = [&much, &solo].map(|report| real(report, "flows", "delay_p95_ms")[0]);
    assert!((summary(&much, "harm_delay") - (beside - solo) / beside).abs() < 1e-9 && beside > solo);
}

#[test]
fn harm_is_absent_unless_asked_for_and_its_group_must_have_others_beside_it() {
    let text = film_beside("2Mb/s");
    assert!(!has(&run_text(&text.replace(r#", harm-by = "other""#, "")), "harm_throughput"));
    let wrong = text.replace(r#"harm-by = "other""#, r#"harm-by = "othr""#);
    let error = earlybird_scenario::resolve(&wrong, &[]).expect_err("no such group").to_string();
    assert!(error.contains("measure.harm-by") && error.contains("other"), "{error}");
    assert_eq!(scenario_of(&text, &[]).measure.harm_by.as_deref(), Some("other"));
}
