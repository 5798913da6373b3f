//! Links whose rate changes, and the files that say how.

use earlybird_scenario::{Network, Trace, canonical_json, resolve, resolve_in, trace_times};
use rstest::rstest;
use std::path::{Path, PathBuf};

const SCENARIO: &str = r#"
duration = "10s"
[[network.links]]
from = "a"
to = "b"
rate = "8Mb/s"
delay = "0ms"
[[flows]]
name = "file"
from = "a"
to = "b"
application = { bulk = {} }
"#;

/// Returns a folder with a trace file of this content.
fn folder_with(name: &str, content: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("cell.mahi"), content).expect("a file");
    folder
}

fn with_trace() -> String {
    SCENARIO.replace(r#"rate = "8Mb/s""#, r#"trace = "cell.mahi""#)
}

#[test]
fn the_times_of_a_trace_become_part_of_the_scenario() {
    let folder = folder_with("good", "0\n5\n5\n12\n");
    let scenario = resolve_in(&folder, &with_trace(), &[]).expect("a scenario");
    let Network::Links(links) = &scenario.network else { panic!("links") };
    assert_eq!(links[0].trace, Some(Trace::Times(vec![0, 5, 5, 12])));
    assert_eq!(links[0].backward().trace, links[0].trace);
    let text = canonical_json(&scenario);
    assert!(text.contains(r#""trace":[0,5,5,12]"#));
    assert_eq!(canonical_json(&resolve(&text, &[]).expect("needs no file")), text);
}

#[rstest]
#[case(
    "word",
    "1\ntwo\n3\n",
    "network.links.a-b.trace: `two` is not a time in line 2 of cell.mahi; allowed: one time in whole milliseconds per line, never falling; or seconds and Mb/s, or CSV with names."
)]
#[case(
    "gap",
    "1\n\n3\n",
    "network.links.a-b.trace: is not a time in line 2 of cell.mahi; allowed: one time in whole milliseconds per line, never falling; or seconds and Mb/s, or CSV with names."
)]
#[case(
    "back",
    "1\n7\n6\n",
    "network.links.a-b.trace: `6` is earlier than the line before in line 3 of cell.mahi; allowed: one time in whole milliseconds per line, never falling; or seconds and Mb/s, or CSV with names."
)]
#[case("empty", "", "network.links.a-b.trace: `cell.mahi` is empty; allowed: at least one time in milliseconds.")]
#[case(
    "zero",
    "0\n0\n",
    "network.links.a-b.trace: `cell.mahi` ends at 0 ms; allowed: a last time above 0, at which the trace starts again."
)]
fn a_bad_trace_is_named_with_its_line(#[case] folder: &str, #[case] content: &str, #[case] expected: &str) {
    let error = resolve_in(&folder_with(folder, content), &with_trace(), &[]).expect_err("a bad trace");
    assert_eq!(error.to_string(), expected);
}

/// 8 Mb/s for half a second are 333.3 opportunities of 1500 bytes.
#[rstest]
#[case("0 8\n0.5 4\n", "two columns: seconds and Mb/s")]
#[case("# a comment\n0.0\t8.0\n0.5\t4.0\n", "tabs")]
#[case("time_ms;Mbps\n0;8\n500;4\n", "milliseconds by name")]
#[case("time;speed\n0;8\n0,5;4,0\n", "decimal commas")]
#[case("Elapsed time,DL rate kbps,UL rate kbps\n10,8000,1\n10.5,4000,1\n", "blanks in names, times from 10 s on")]
#[case("\u{feff}seconds throughput_bps\n0 8000000\n0.5 4000000\n", "bits per second, marked as UTF-8")]
fn a_trace_of_seconds_and_rates_has_opportunities_of_the_same_rate(#[case] content: &str, #[case] what: &str) {
    let times = trace_times(content, "trace").expect("a trace");
    let before = times.iter().filter(|at| **at <= 500).count();
    assert_eq!((before, times.len(), times.last()), (333, 500, Some(&1000)), "{what}");
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn a_trace_without_dates_that_are_numbers_has_a_line_a_second() {
    let text = "Timestamp,Speed,DL_bitrate,UL_bitrate\n2019.11.28_07.27.20,1,12000,5\n2019.11.28_07.27.21,1,6000,5\n";
    let times = trace_times(text, "trace").expect("a trace");
    assert_eq!((times[0], times[999], times.last()), (1, 1000, Some(&2000)));
    assert_eq!(times.len(), 1500);
}

#[rstest]
#[case("0 8\n0 4\n", "`trace` has times that do not rise; allowed: at least two lines with rising times.")]
#[case("0 0\n1 0\n", "`trace` has no rates; allowed: rates of 0 or more, and one of them above.")]
#[case(
    "0 4\n1e300 3\n",
    "`trace` is too long; allowed: 2e7 packets of 1500 bytes at most, such as an hour at 66 Mb/s. hint: Times are in seconds and rates in Mb/s, unless names say otherwise."
)]
#[case(
    "time,place,rate\n0,here,2\n",
    "`trace` has times that do not rise; allowed: at least two lines with rising times."
)]
fn a_bad_throughput_trace_is_named(#[case] content: &str, #[case] expected: &str) {
    assert_eq!(trace_times(content, "trace").expect_err("a bad trace").to_string().trim_start_matches(": "), expected);
}

#[test]
fn a_trace_that_is_a_device_or_a_pipe_is_not_read() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let place = folder.join("cell.mahi");
    let _ = std::fs::remove_file(&place);
    std::os::unix::fs::symlink("/dev/zero", &place).expect("a link");
    let error = resolve_in(folder, &with_trace(), &[]).expect_err("a device").to_string();
    assert!(error.contains("`cell.mahi` cannot be read: unsupported; allowed: a text file"), "{error}");
}

#[test]
fn a_missing_trace_is_named() {
    let error = resolve_in(Path::new("/nowhere"), &with_trace(), &[]).expect_err("no file").to_string();
    let expected = "network.links.a-b.trace: `cell.mahi` cannot be read: entity not found; allowed: a text file. hint: \
                    paths count from the folder of the scenario file.";
    assert_eq!(error, expected);
}

#[rstest]
#[case(
    "trace=[1, 2]",
    "network.links.a-b.trace: stands beside a rate; allowed: either `rate`, with or without `rate-steps`, or `trace`."
)]
#[case(
    r#"rate-steps=[{ at = "2s", rate = "1Mb/s" }, { at = "2s", rate = "2Mb/s" }]"#,
    "network.links.a-b.rate-steps.1.at: `2s` is not after the step before; allowed: a time after 2s."
)]
#[case(
    r#"trace-start="random""#,
    "network.links.a-b.trace-start: stands without a `trace`. hint: give the `trace` that begins there."
)]
fn rates_and_traces_that_do_not_fit_are_refused(#[case] change: &str, #[case] expected: &str) {
    let (key, value) = change.split_once('=').expect("a key and a value");
    let changes = [(format!("network.links.0.{key}"), value.to_owned())];
    assert_eq!(resolve(SCENARIO, &changes).expect_err("a misfit").to_string(), expected);
}

#[rstest]
#[case(
    "trace = [5, 3]",
    "network.links.a-b.trace: `3` is earlier than the time before; allowed: times that never fall."
)]
#[case("trace = [0]", "network.links.a-b.trace: `0` is the last time; allowed: a last time above 0 ms.")]
#[case(
    "trace = [5, 3000]\ntrace-start = { at = \"3s\" }",
    "network.links.a-b.trace-start.at: `3s` is not in the trace; allowed: a time below 3s, its length."
)]
#[case(
    "trace = [5, 3000]\ntrace-start = \"rnadom\"",
    "network.links.a-b.trace-start: `rnadom` is not one of the choices; allowed: random, { at = … }. hint: did you mean `random`?"
)]
#[case(
    "",
    "network.links.a-b.rate: is missing; allowed: a number above 0 with one of the units b/s, kb/s, Mb/s, Gb/s (bits, not bytes; also kbit/s or kbps), such as 300kb/s or 25Mb/s. hint: say how fast the link sends, or give a `trace`."
)]
fn a_link_needs_a_rate_or_a_good_trace(#[case] line: &str, #[case] expected: &str) {
    let text = SCENARIO.replace(r#"rate = "8Mb/s""#, line);
    assert_eq!(resolve(&text, &[]).expect_err("a misfit").to_string(), expected);
}

/// The way back of a dumbbell sends as the way there unless it says otherwise.
#[test]
fn a_dumbbell_may_have_another_trace_on_its_reverse_path() {
    let text = r#"
duration = "10s"
[network.dumbbell]
bottleneck = { rate = "8Mb/s", delay = "0ms", rate-steps = [{ at = "1s", rate = "1Mb/s" }] }
access = { rate = "8Mb/s", delay = "0ms" }
[[flows]]
name = "file"
from = "left"
to = "right"
application = { bulk = {} }
"#;
    let back = |overrides: &[(String, String)]| match resolve(text, overrides).expect("a scenario").network {
        Network::Dumbbell(dumbbell) => dumbbell.backward().speed(),
        Network::Links(_) => panic!("a dumbbell"),
    };
    assert_eq!(back(&[]).rate_steps.len(), 1);
    let own = back(&[("network.dumbbell.reverse.trace".to_owned(), "[3, 4]".to_owned())]);
    assert_eq!((own.rate, own.rate_steps.len(), own.trace), (None, 0, Some(Trace::Times(vec![3, 4]))));
}
