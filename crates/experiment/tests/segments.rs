//! Films in segments: which rates are chosen over lines that are known, and what that does to playback.

mod common;

use common::{real, run_text, summary, texts, whole};
use earlybird_experiment::Report;

/// A film with a ladder of three rates over a line with a round trip of 42 ms.
fn scenario(line: &str, film: &str) -> String {
    format!(
        r#"
duration = "60s"
measure = {{ deliveries = true }}
endpoint = {{ profile = "linux" }}
[[network.links]]
from = "server"
to = "viewer"
delay = "21ms"
queue = {{ bytes = 75000 }}
{line}
[[flows]]
name = "film"
from = "server"
to = "viewer"
[flows.application.segments]
ladder = ["1Mb/s", "2.5Mb/s", "5Mb/s"]
{film}
"#
    )
}

/// Bytes of the units, in order.
fn sizes(report: &Report) -> Vec<i64> {
    whole(report, "deliveries", "bytes")
}

fn stalls(report: &Report) -> i64 {
    whole(report, "flows", "stalls")[0]
}

const SIX: &str = r#"rate = "6Mb/s""#;
const STEP: &str = r#"
rate = "6Mb/s"
rate-steps = [{ at = "20s", rate = "2Mb/s" }]"#;

#[test]
fn the_highest_rate_that_fits_was_not_taken() {
    // Nine tenths of what is measured, and windows grow anew after each pause.
    for (line, expected) in
        [(r#"rate = "10Mb/s""#, 5_000_000), (r#"rate = "4Mb/s""#, 2_500_000), (r#"rate = "1.2Mb/s""#, 1_000_000)]
    {
        for rule in ["throughput", "l2a"] {
            for part in ["", r#"part = "500ms""#] {
                let report = run_text(&scenario(line, &format!("start-buffer = \"3s\"\nrule = \"{rule}\"\n{part}")));
                let (unit, units) = if part.is_empty() { (2_000, 1) } else { (500, 4) };
                let sizes = sizes(&report);
                // After ten seconds nothing changes any more.
                let settled = &sizes[5 * units..];
                assert!(settled.len() > 20 * units, "{line} {rule} {part}: {sizes:?}");
                assert!(
                    settled.iter().all(|bytes| *bytes == expected * unit / 8000),
                    "{line} {rule} {part}: {sizes:?}"
                );
                assert_eq!((sizes[0], stalls(&report)), (1_000_000 * unit / 8000, 0), "{line} {rule} {part}");
            }
        }
    }
}

#[test]
fn bola_did_not_go_by_the_buffer() {
    let report = run_text(&scenario(SIX, "live = false\nrule = \"bola\""));
    let sizes = sizes(&report);
    // It begins with the lowest rate and ends with the highest, as the buffer fills to 30 s; rates only rise on the way.
    assert_eq!((sizes[0], sizes[sizes.len() - 1], stalls(&report)), (250_000, 1_250_000, 0));
    assert!(sizes.is_sorted(), "{sizes:?}");
    // With gp = ln 5 ÷ 2 and V = 10 s ÷ gp the second rate is best from V·(1 + gp − ln 2.5 ÷ 1.5) = 14.8 s on, and the third from
    // V·(1 + gp + 2·ln 2.5 − ln 5) = 25.2 s on. A segment takes 0.4 s at the first rate and 0.9 s at the second: they are the
    // tenth or so, and nine later.
    let switches = real(&report, "encoder", "time_s");
    assert!((18.0..=24.0).contains(&switches[1]) && (34.0..=44.0).contains(&switches[2]), "{switches:?}");
}

#[test]
fn a_film_that_is_not_live_was_held_beyond_its_buffer() {
    let report = run_text(&scenario(SIX, "live = false\nbuffer = \"10s\""));
    let [written, delivered] = ["written_s", "delivered_s"].map(|name| real(&report, "deliveries", name));
    let ahead = written.iter().zip(&delivered).map(|(written, delivered)| written - delivered);
    // A segment is requested when the buffer has 8 s, and arrives at most 10 s ahead; playback began within the first second.
    let most = ahead.filter(|ahead| ahead.is_finite()).fold(0.0, f64::max);
    assert!((5.0..10.0).contains(&most), "{most} s ahead");
    assert_eq!(stalls(&report), 0);
}

#[test]
fn a_line_that_lost_two_thirds_stalled_more_than_once() {
    for film in ["rule = \"throughput\"", "rule = \"bola\"", "part = \"500ms\"\nstart-buffer = \"3s\"\nrule = \"l2a\""]
    {
        let report = run_text(&scenario(STEP, film));
        let sizes = sizes(&report);
        let unit = if film.contains("part") { 500 } else { 2000 };
        assert!(sizes.contains(&(2_500 * unit / 8)), "{film}: never high, {sizes:?}");
        let later = &sizes[sizes.len() * 2 / 3..];
        assert!(later.contains(&(1_000 * unit / 8)) && !later.contains(&(5_000 * unit / 8)), "{film}: {sizes:?}");
        // The mean of three segments, of which two came over 6 Mb/s, asks for 2.5 Mb/s of 2 twice after the last one of 5.
        let expected = if film.contains("throughput") { 3..=3 } else { 0..=1 };
        assert!(expected.contains(&stalls(&report)), "{film}: {} stalls, {sizes:?}", stalls(&report));
    }
}

#[test]
fn a_unit_was_played_before_it_came() {
    let report = run_text(&scenario(STEP, "start-buffer = \"2s\"\npart = \"500ms\""));
    let played = whole(&report, "flows", "units_played")[0] as f64 * 0.5;
    let delivered = real(&report, "deliveries", "delivered_s").iter().filter(|at| at.is_finite()).count() as f64 * 0.5;
    let watched = 60.0 - real(&report, "flows", "startup_delay_s")[0] - real(&report, "flows", "stalled_s")[0];
    // All of the time after the start is either playing or a stall, and no more is played than came.
    assert!(played <= delivered, "{played} of {delivered} s");
    assert!((played - watched).abs() <= 0.5, "{played} s played in {watched} s");
}

#[test]
fn a_part_came_before_it_was_over() {
    let report = run_text(&scenario(SIX, "part = \"500ms\"\nstart-buffer = \"1500ms\""));
    let [written, delivered] = ["written_s", "delivered_s"].map(|name| real(&report, "deliveries", name));
    for (number, (written, delivered)) in written.iter().zip(&delivered).enumerate() {
        assert!((written - number as f64 * 0.5).abs() < 1e-6, "unit {number} of {written} s");
        assert!(delivered - written > 0.52, "unit {number}: {written} s, {delivered} s");
    }
    // Three parts, and the way of the last one.
    let startup_delay = real(&report, "flows", "startup_delay_s")[0];
    assert!((1.52..1.7).contains(&startup_delay), "{startup_delay} s");
}

#[test]
fn the_encoder_reported_other_rates_than_were_sent() {
    let report = run_text(&scenario(STEP, ""));
    let [times, rates] = ["time_s", "bitrate_bps"].map(|name| real(&report, "encoder", name));
    let [written, bytes] =
        [real(&report, "deliveries", "written_s"), sizes(&report).iter().map(|b| *b as f64).collect()];
    for (written, bytes) in written.iter().zip(bytes) {
        let change = times.iter().rposition(|time| *time <= written + 1e-9).unwrap();
        assert!((rates[change] - bytes * 4.0).abs() < 1.0, "at {written} s");
    }
    assert_eq!(whole(&report, "flows", "bitrate_changes")[0], i64::try_from(rates.len() - 1).expect("a few"));
    assert!(texts(&report, "encoder", "dropped_frame_type").iter().all(String::is_empty));
    assert!((summary(&report, "stalls") - 3.0).abs() < 1e-9, "as the rule by throughput has it on this line");
    assert!(report.summary.iter().all(|(name, _)| name != "frames_dropped_share"));
}

#[test]
fn the_same_run_gave_other_numbers() {
    let text = scenario("rate = \"3Mb/s\"\nloss = [{ bernoulli = { probability = 0.01 } }]", "rule = \"l2a\"");
    let tables = || format!("{:?}", run_text(&text).tables);
    assert_eq!(tables(), tables());
}

#[test]
fn a_lost_request_was_never_repeated() {
    // Every fifth packet of the way back is lost, requests among them.
    let line =
        "rate = \"6Mb/s\"\nreverse = { rate = \"6Mb/s\", delay = \"21ms\", loss = [{ periodic = { period = 5 } }] }";
    assert!(whole(&run_text(&scenario(line, "")), "flows", "units_delivered")[0] > 25);
}
