//! Films in segments: what carries them, and what goes together.

use crate::{CHAIN, expand, message};
use rstest::rstest;

/// The chain with a film of two rates; more keys of it, and of the flow.
fn film(keys: &str, flow: &str) -> String {
    let media = "media = { times = [0, 0.5], sizes = [100, 200], length = 1 } }";
    let film = format!("segments = {{ ladder = [\"1Mb/s\", \"3Mb/s\"]{keys} }} }}\n{flow}");
    format!("endpoint = {{ profile = \"linux\" }}\n{}", CHAIN.replace(media, &film))
}

#[rstest]
#[case(r#", part = "0s""#, "part: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(r#", segment = "0s""#, "segment: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(
    r#", part = "300ms""#,
    "part: `300ms` does not divide a segment into equal parts; allowed: a duration of which 2s is a multiple."
)]
#[case(
    r#", part = "1us""#,
    "part: `1us` cuts a segment into more than 1000 parts; allowed: a duration of at least 2ms."
)]
#[case(r#", start-buffer = "0s""#, "start-buffer: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(
    r#", rule = "l2a", start-buffer = "1500ms""#,
    "start-buffer: `1.5s` is no more than the buffer from which on l2a steers; allowed: a duration above 1.5s with `rule = \"l2a\"`. hint: with less `rule = \"throughput\"` does the same."
)]
#[case(
    r#", buffer = "20s""#,
    "buffer: `20s` is never reached: of a live film no more than `start-buffer` is there; allowed: nothing with `live = true`. hint: `start-buffer` says how far behind the viewer is, and so how much it can hold."
)]
#[case(
    r#", live = false, buffer = "1s""#,
    "buffer: `1s` is less than playback needs; allowed: a duration of at least 2s."
)]
#[case(
    r#", rule = "bolla""#,
    "rule: `bolla` is not one of the choices; allowed: throughput, bola, l2a, hls.js, dash.js, shaka. hint: did you mean `bola`?"
)]
fn films_that_make_no_sense(#[case] keys: &str, #[case] expected: &str) {
    assert_eq!(message(&film(keys, ""), ""), format!("flows.clip.application.segments.{expected}"));
}

#[test]
fn a_ladder_rises() {
    let text = film("", "").replace("[\"1Mb/s\", \"3Mb/s\"]", "[\"3Mb/s\", \"1Mb/s\"]");
    assert_eq!(
        message(&text, ""),
        "flows.clip.application.segments.ladder: `[\"3Mb/s\",\"1Mb/s\"]` does not rise; allowed: rates from the lowest to the highest, each once."
    );
}

#[rstest]
#[case(
    r#"transport = "mtcp""#,
    "flows.clip.application.segments: is sent as one stream, which mtcp does not carry; allowed: cbr, frames, media with this transport. hint: choose another transport of TCP for this flow."
)]
#[case(
    r#"transport = "udp""#,
    "flows.clip.application.segments: is sent as one stream, which udp does not carry; allowed: cbr, frames, media with this transport. hint: choose another transport of TCP for this flow."
)]
#[case(
    "client = { rebuffer = {} }",
    "flows.clip.client: has a viewer of its own; allowed: nothing with `segments`. hint: when each unit came is in the table of deliveries (`measure.deliveries`)."
)]
#[case(
    r#"endpoint = { profile = "ns2" }"#,
    "flows.clip.endpoint.profile: `ns2` has receivers that repeat nothing, so that a request may get lost for ever; allowed: linux, rfc with `segments`. hint: `endpoint.profile = \"linux\"` is what servers and viewers have."
)]
fn flows_that_carry_no_segments(#[case] flow: &str, #[case] expected: &str) {
    assert_eq!(message(&film("", flow), ""), expand(expected));
}
