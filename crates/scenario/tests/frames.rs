//! Films given by a file with a line for each frame.

use earlybird_conformance::{Area, conforms};
use earlybird_scenario::{Application, Media, Scenario, ScenarioError, canonical_json, resolve, resolve_in};
use rstest::rstest;
use std::path::Path;

/// Writes a file and resolves a scenario that names it, with more keys of `frames`.
fn resolved(name: &str, content: &str, keys: &str) -> Result<Scenario, ScenarioError> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join(name), content).expect("a folder to write to");
    let text = format!(
        r#"
duration = "10s"
network.links = [{{ from = "a", to = "b", rate = "1Mb/s", delay = "1ms" }}]
[[flows]]
name = "film"
from = "a"
to = "b"
application = {{ frames = {{ file = "{name}"{keys} }} }}
"#
    );
    resolve_in(folder, &text, &[])
}

fn media(name: &str, content: &str, keys: &str) -> Media {
    let scenario = resolved(name, content, keys).unwrap_or_else(|error| panic!("{error}"));
    let Application::Media(media) = &scenario.flows[0].application else { panic!("the file was not read") };
    media.clone()
}

/// The same four frames in every form that the field shares.
#[rstest]
#[case::sizes("800\n100\n\n 200 \n 50\n", ", fps = 25")]
#[case::berlin("1\tI\t0\t800\n2\tB\t40\t100\n3\tB\t80\t200\n4\tP\t120\t50\n", "")]
#[case::comments("# no type time size\n0 I 0.0 800 # first\n1 B 40.0 100\n2 B 80.0 200\n3 P 120.0 50\n", "")]
#[case::arizona(
    "0 0.00 I 6400 37.1 40\n1 0.04 B 800 36 40\n2 0.08 B 1594 36 40\n3 0.12 P 400 36 40\n",
    ", time-unit = \"s\", size-unit = \"bits\""
)]
#[case::coding_order("0 I 0 800\n3 P 120 100\n1 B 40 200\n2 B 80 50\n", ", fps = 25")]
#[case::later_start("7 I 1000 800\n8 P 1040 100\n9 P 1080 200\n10 P 1120 50\n", "")]
fn the_forms_of_a_trace_mean_the_same_frames(#[case] content: &str, #[case] keys: &str) {
    let name = format!("form-{}.txt", content.len());
    let media = media(&name, content, keys);
    assert_eq!(media.sizes, [800, 100, 200, 50]);
    for (time, expected) in media.times.iter().chain([&media.length]).zip([0.0, 0.04, 0.08, 0.12, 0.16]) {
        assert!((time - expected).abs() < 1e-9, "{time} instead of {expected}");
    }
}

#[test]
fn frames_of_size_0_take_time_and_are_not_sent() {
    let media = media("skipped.txt", "800\n0\n200\n0\n", ", fps = 10");
    assert_eq!((media.sizes, media.times, media.length), (vec![800, 200], vec![0.0, 0.2], 0.4));
}

#[test]
fn the_complete_scenario_needs_no_file() {
    let scenario = resolved("gone.txt", "800\n100\n", ", fps = 25").unwrap();
    std::fs::remove_file(Path::new(env!("CARGO_TARGET_TMPDIR")).join("gone.txt")).unwrap();
    let text = canonical_json(&scenario);
    assert_eq!(resolve(&text, &[]).unwrap(), scenario);
    assert!(!text.contains("gone.txt"));
}

#[test]
fn the_made_up_film_is_read_from_beside_the_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join("vbr-video.toml")).unwrap();
    let scenario = resolve_in(&folder, &text, &[]).unwrap();
    let Application::Media(media) = &scenario.flows[0].application else { panic!("the file was not read") };
    assert_eq!((media.sizes.len(), media.times[249]), (250, 9.96));
    assert!((media.length - 10.0).abs() < 1e-9);
    conforms(
        Area::Traffic,
        "frames",
        "Fitzek and Reisslein 2001; Seeling and Reisslein 2012 (trace libraries)",
        "sizes, number-type-time-size, number-time-type-size, ms and s, bytes and bits, comments",
        "6 of 6 forms give the same frames",
    );
}

#[rstest]
#[case(
    "a.txt",
    "800\nabc\n",
    ", fps = 25",
    "`abc` in line 2 of a.txt has a size that is not one; allowed: a whole number from 0 to 100000000."
)]
#[case(
    "b.txt",
    "800\n-1\n",
    ", fps = 25",
    "`-1` in line 2 of b.txt has a size that is not one; allowed: a whole number from 0 to 100000000."
)]
#[case(
    "c.txt",
    "99999999999\n",
    ", fps = 25",
    "`99999999999` in line 1 of c.txt has a size that is not one; allowed: a whole number from 0 to 100000000."
)]
#[case(
    "d.txt",
    "800 100\n",
    ", fps = 25",
    "`800 100` in line 1 of d.txt does not describe a frame; allowed: a size; or number, type, time, size; or number, time, type, size."
)]
#[case(
    "e.txt",
    "1 2 3 4\n",
    "",
    "`1 2 3 4` in line 1 of e.txt does not describe a frame; allowed: a size; or number, type, time, size; or number, time, type, size."
)]
#[case(
    "f.txt",
    "# head\n\n0 I 0 800\n1 P 80 100\n2 B 40 100\n",
    "",
    "`40` in line 5 of f.txt decreases; allowed: a time of at least 80, that of the frame before. hint: where frames stand in the order of decoding with the times of showing, give `fps`."
)]
#[case(
    "g.txt",
    "0 I x 800\n",
    "",
    "`x` in line 1 of g.txt has a time that is not one; allowed: a number of at least 0."
)]
#[case(
    "h.txt",
    "800\n",
    "",
    "`800` in line 1 of h.txt has a size and no time; allowed: `fps` beside `file`, or lines with times."
)]
#[case("i.txt", "# nothing\n", "", "`i.txt` has no frames; allowed: a file with a line for each frame.")]
#[case(
    "j.txt",
    "0\n0\n",
    ", fps = 25",
    "`j.txt` has only frames of size 0; allowed: a file with a line for each frame."
)]
#[case(
    "k.txt",
    "0 I 0 800\n1 P 0.04 100\n",
    "",
    "`k.txt` has a frame every 0.04 ms; allowed: at least 1 ms from frame to frame on average. hint: give `time-unit = \"s\"` if it counts seconds, or `fps`."
)]
fn a_bad_trace_is_one_error_with_file_line_and_value(
    #[case] name: &str,
    #[case] content: &str,
    #[case] keys: &str,
    #[case] expected: &str,
) {
    let error = resolved(name, content, keys).expect_err("a bad trace");
    assert_eq!(error.to_string(), format!("flows.film.application.frames.file: {expected}"));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let text = r#"{"duration": "1s", "network": {"links": [{"from": "a", "to": "b", "rate": "1Mb/s", "delay": "1ms"}]},
        "flows": [{"name": "film", "from": "a", "to": "b", "application": {"frames": {"file": "no-such.txt"}}}]}"#;
    let error = resolve(text, &[]).expect_err("no file");
    assert_eq!(
        error.to_string(),
        "flows.film.application.frames.file: `no-such.txt` cannot be read: entity not found; allowed: a text file. \
         hint: paths count from the folder of the scenario file."
    );
}

#[rstest]
#[case(", fps = 0", "flows.0.application.frames.fps: `0` is too small")]
#[case(", fps = 5000", "flows.0.application.frames.fps: `5000` is too large")]
#[case(", size-unit = \"kb\"", "flows.0.application.frames.size-unit: `kb` is not one of the choices")]
fn keys_beside_the_file_have_ranges(#[case] keys: &str, #[case] expected: &str) {
    let error = resolved("range.txt", "800\n", keys).expect_err("a bad key").to_string();
    assert!(error.replace("flows.film", "flows.0").starts_with(expected), "{error}");
}

#[test]
fn canonical_json_is_read_as_it_was_written() {
    // 24 frames per second have times such as 5/24 s, whose last digit an inexact parser changes.
    let sizes = "800\n".repeat(2400);
    let scenario = resolved("round-trip.txt", &sizes, ", fps = 24").unwrap_or_else(|error| panic!("{error}"));
    let text = canonical_json(&scenario);
    assert_eq!(canonical_json(&resolve(&text, &[]).expect("a canonical scenario")), text);
}
