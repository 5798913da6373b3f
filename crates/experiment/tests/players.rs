//! Players that abandon segments: what crosses the link, and what is played.

mod common;

use common::{real, run_text, texts, whole};
use earlybird_experiment::Report;

/// A film in segments of 6 s with a ladder of four rates over a line with a round trip of 40 ms.
fn scenario(line: &str, film: &str) -> String {
    format!(
        r#"
duration = "120s"
measure = {{ deliveries = true }}
endpoint = {{ profile = "linux" }}
[[network.links]]
from = "server"
to = "viewer"
delay = "20ms"
queue = {{ bytes = 50000 }}
{line}
[[flows]]
name = "film"
from = "server"
to = "viewer"
[flows.application.segments]
ladder = ["400kb/s", "800kb/s", "1600kb/s", "3Mb/s"]
segment = "6s"
{film}
"#
    )
}

const PLAYERS: [&str; 3] = ["hls.js", "dash.js", "shaka"];

fn run(line: &str, player: &str, more: &str) -> Report {
    run_text(&scenario(line, &format!("rule = \"{player}\"\n{more}")))
}

fn column(report: &Report, name: &str) -> Vec<i64> {
    whole(report, "renditions", name)
}

fn abandoned(report: &Report) -> i64 {
    column(report, "segments_abandoned").iter().sum()
}

#[test]
fn a_segment_was_abandoned_over_a_line_that_carries_all_rates() {
    for player in PLAYERS {
        for live in [false, true] {
            let report = run("rate = \"20Mb/s\"", player, &format!("live = {live}"));
            assert_eq!((abandoned(&report), whole(&report, "flows", "stalls")[0]), (0, 0), "{player}, live = {live}");
            let shares = real(&report, "renditions", "time_share");
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{player}: {shares:?}");
            assert!(shares[3] > 0.5, "{player}, live = {live}: the highest rate {shares:?} of the time");
        }
    }
}

/// Bytes that were written and never crossed the link.
fn unsent(report: &Report) -> i64 {
    whole(report, "deliveries", "bytes").iter().sum::<i64>() - whole(report, "flows", "bytes_delivered")[0]
}

/// A run in which the line falls to a fifteenth while a segment of the highest rate arrives, which takes three seconds of six: of several
/// moments that at which most is abandoned.
fn fallen(player: &str) -> Report {
    let line = |at: u64| format!("rate = \"6Mb/s\"\nrate-steps = [{{ at = \"{at}ms\", rate = \"400kb/s\" }}]");
    let run = |half: u64| run(&line(20_000 + 500 * half), player, "live = false\nbuffer = \"12s\"");
    let reports = (0..12).map(run).filter(|report| abandoned(report) > 0);
    reports.max_by_key(unsent).expect("a segment that is abandoned")
}

#[test]
fn a_player_waited_for_a_segment_that_the_line_no_longer_carried() {
    for player in ["hls.js", "dash.js"] {
        let report = fallen(player);
        // An abandoned one is not delivered, and its segment is requested anew.
        let [written, delivered] = ["written_s", "delivered_s"].map(|name| real(&report, "deliveries", name));
        let first = delivered.iter().position(|at| at.is_infinite()).expect("an abandoned one");
        assert!((written[first] - written[first + 1]).abs() < 1e-9, "{player}: {written:?}");
        assert!(delivered[first + 1].is_finite(), "{player}");
        let requests: i64 = column(&report, "segments_requested").iter().sum();
        assert_eq!(requests, i64::try_from(written.len()).expect("a few"), "{player}");
        assert_eq!(texts(&report, "renditions", "flow"), ["film0"; 4]);
    }
}

#[test]
fn bytes_of_an_abandoned_segment_crossed_the_link_for_ever() {
    for player in ["hls.js", "dash.js"] {
        // The rest that waited for room in the socket was never sent. At the end a segment of the lowest rate may be in flight.
        let unsent = unsent(&fallen(player));
        assert!(unsent > 500_000, "{player}: {unsent} bytes");
    }
}

#[test]
fn no_player_stalled_where_the_lowest_rate_fits() {
    for player in PLAYERS {
        let report = run("rate = \"1.2Mb/s\"", player, "live = false");
        let played: Vec<f64> = real(&report, "renditions", "played_s");
        assert!(played[0] + played[1] > 60.0, "{player}: {played:?}");
        assert!((played[2] + played[3]).abs() < 7.0, "{player}: {played:?}");
    }
}

#[test]
fn a_segment_was_played_twice_or_never() {
    let line =
        "rate = \"3Mb/s\"\nrate-steps = [{ at = \"30s\", rate = \"500kb/s\" }, { at = \"60s\", rate = \"3Mb/s\" }]";
    for player in PLAYERS {
        for live in [false, true] {
            let report = run(line, player, &format!("live = {live}"));
            let [played, startup, stalled] = [
                whole(&report, "flows", "units_played")[0] as f64 * 6.0,
                real(&report, "flows", "startup_delay_s")[0],
                real(&report, "flows", "stalled_s")[0],
            ];
            // All of the time after the start is either playing or a stall.
            let watched = 120.0 - startup - stalled;
            assert!((played - watched).abs() <= 6.0, "{player}, live = {live}: {played} s played in {watched} s");
            assert_eq!(whole(&report, "flows", "units_lost")[0], 0, "{player}");
        }
    }
}

#[test]
fn the_same_run_gave_other_numbers() {
    let line = "rate = \"2Mb/s\"\nloss = [{ bernoulli = { probability = 0.01 } }]";
    for player in PLAYERS {
        let tables = || format!("{:?}", run(line, player, "").tables);
        assert_eq!(tables(), tables(), "{player}");
    }
}
