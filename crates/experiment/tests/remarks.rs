//! Remarks on scenarios that are legal, but whose numbers answer another question than the one that was asked.

mod common;

use common::{real, run_once, scenario_of, whole};
use earlybird_experiment::{Outputs, estimate, unused_settings, warnings};
use std::path::Path;

/// Two films of 8 Mb/s over 10 Mb/s.
const FILMS: &str = r#"
duration = "20s"
endpoint = { transport = "udp" }
[network.dumbbell]
bottleneck = { rate = "10Mb/s", delay = "15ms", queue = { packets = 50 } }
access = { rate = "1Gb/s", delay = "1ms" }
[[flows]]
name = "film"
from = "left"
to = "right"
count = 2
application = { cbr = { rate = "8Mb/s", packet = 1000 } }
"#;

fn remarks(text: &str) -> Vec<String> {
    let scenario = scenario_of(text, &[]);
    let unused = unused_settings(&scenario).into_iter();
    unused.chain(warnings(&scenario).expect("a plan")).map(|warning| warning.to_string()).collect()
}

#[test]
fn one_of_two_equal_films_that_starves_the_other_is_warned_of() {
    let all = remarks(FILMS);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].contains("flows.film.start") && all[0].contains("in step"), "{all:?}");
    // A scenario that follows the hint gets no remark.
    let jitter = FILMS.replace("count = 2", "count = 2\nstart = { uniform = [\"0s\", \"1s\"] }");
    assert_eq!(remarks(&jitter), Vec::<String>::new());
    assert!(all[0].contains("start = { uniform = [\"0s\", \"1s\"] }"), "{all:?}");
    // A link that carries both has no full queue, and TCP does not keep step.
    assert!(remarks(&FILMS.replace("8Mb/s", "4Mb/s")).is_empty());
    assert!(remarks(&FILMS.replace("\"udp\"", "\"cubic\"")).is_empty());
}

#[test]
fn films_in_step_of_two_groups_were_not_seen() {
    let second = "[[flows]]\nname = \"other\"\nfrom = \"left\"\nto = \"right\"\napplication = { cbr = { rate = \"8Mb/s\", packet = 1000 } }\n";
    let all = remarks(&format!("{}{second}", FILMS.replace("count = 2", "")));
    assert!(all.len() == 1 && all[0].contains("`film`, `other`"), "{all:?}");
}

#[test]
fn a_change_of_the_rate_after_the_end_was_taken_without_a_word() {
    let steps = "rate = \"10Mb/s\", rate-steps = [{ at = \"30s\", rate = \"1Mb/s\" }]";
    let all = remarks(&FILMS.replace("rate = \"10Mb/s\"", steps).replace("8Mb/s", "4Mb/s"));
    assert!(all.len() == 1 && all[0].contains("rate-steps"), "{all:?}");
}

#[test]
fn delays_of_hours_and_packets_beyond_jumbo_frames_were_taken_without_a_word() {
    let slow = FILMS.replace("8Mb/s", "4Mb/s");
    for (from, to, key) in [
        ("delay = \"15ms\"", "delay = \"2h\"", "bottleneck.delay"),
        ("udp\" }", "udp\", mss = 9000 }", "mss"),
        ("rate = \"10Mb/s\"", "rate = \"10000Gb/s\"", "bottleneck.rate"),
    ] {
        let all = remarks(&slow.replace(from, to));
        assert!(all.len() == 1 && all[0].contains(key), "{to}: {all:?}");
    }
}

/// A network of two links, the second one of 1 Gb/s, with two transfers over both.
const ACCESS: &str = r#"
duration = "60s"
endpoint = { transport = "cubic-rack", profile = "linux" }
[[network.links]]
from = "server"
to = "router"
rate = "20Mb/s"
delay = "10ms"
queue = { packets = 100 }
[[network.links]]
from = "router"
to = "client"
rate = "1Gb/s"
delay = "1ms"
[[flows]]
name = "file"
from = "server"
to = "client"
count = 2
application = { bulk = {} }
"#;

#[test]
fn the_estimate_counted_packets_that_no_path_carries() {
    let scenario = scenario_of(ACCESS, &[]);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("estimate.qlog");
    let outputs = Outputs { qlog: Some(file.clone()), ..Outputs::default() };
    let report = run_once(&scenario, &outputs);
    let sent: i64 = whole(&report, "flows", "packets_sent").into_iter().sum();
    let all = estimate(&scenario, &outputs).expect("an estimate");
    assert!((1.0 / 3.0..3.0).contains(&(all.packets / sent as f64)), "{} packets for {sent}", all.packets);
    let written = std::fs::metadata(&file).expect("a file").len() as f64;
    let of_qlog = |outputs: &Outputs| {
        let shares = estimate(&scenario, outputs).expect("an estimate").shares;
        shares.into_iter().find(|share| share.path == "qlog").expect("a share").bytes
    };
    assert!((1.0 / 3.0..3.0).contains(&(of_qlog(&outputs) / written)), "{} for {written}", of_qlog(&outputs));
    // One of two flows makes half the file.
    let one = Outputs { trace_flows: vec!["file0".to_owned()], ..outputs };
    run_once(&scenario, &one);
    let written = std::fs::metadata(&file).expect("a file").len() as f64;
    assert!((1.0 / 3.0..3.0).contains(&(of_qlog(&one) / written)), "{} for {written}", of_qlog(&one));
    std::fs::remove_file(&file).expect("a file that was written");
    assert!(real(&report, "flows", "throughput_bps").iter().sum::<f64>() > 15e6);
}
