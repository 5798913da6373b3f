//! Films in segments: what carries them, and what goes together.

use super::{ensure, ingest};
use crate::model::{Application, Flow, Profile, RateRule, Scenario, Segments};
use earlybird_transport::{ScenarioError, Time, join, positive};
use serde_json::json;

/// L2A steers from so much buffer on (`B_target` of dash.js).
const LEAST_OF_L2A: Time = Time::from_millis(1500);
/// Parts of a segment: those of 2 s are at least 2 ms, and no picture is as short.
const MOST_PARTS: u64 = 1000;

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    for flow in &scenario.flows {
        let Application::Segments(segments) = &flow.application else { continue };
        let path = format!("flows.{}", flow.name);
        ingest::check_carrier(scenario, flow, &path, "has a viewer of its own")?;
        check_profile(scenario, flow, &path)?;
        check_film(segments, &join(&path, "application.segments"))?;
        check_buffers(segments, &join(&path, "application.segments"))?;
    }
    Ok(())
}

fn check_profile(scenario: &Scenario, flow: &Flow, path: &str) -> Result<(), ScenarioError> {
    ensure(scenario.endpoint_of(flow)?.profile != Profile::Ns2, || {
        let place = if flow.endpoint.contains_key("profile") { format!("{path}.") } else { String::new() };
        let problem = "has receivers that repeat nothing, so that a request may get lost for ever";
        ScenarioError::new(&format!("{place}endpoint.profile"), problem)
            .text("ns2")
            .allowed("linux, rfc with `segments`")
            .hint("`endpoint.profile = \"linux\"` is what servers and viewers have.")
    })
}

fn check_film(segments: &Segments, path: &str) -> Result<(), ScenarioError> {
    let rates: Vec<u64> = segments.ladder.iter().map(|rate| rate.rate().bits_per_second()).collect();
    ensure(rates.is_sorted_by(|lower, higher| lower < higher), || {
        ScenarioError::new(&join(path, "ladder"), "does not rise")
            .value(&json!(segments.ladder))
            .allowed("rates from the lowest to the highest, each once")
    })?;
    positive(segments.segment, &join(path, "segment"))?;
    let Some(part) = segments.part else { return Ok(()) };
    ensure(!segments.rule.abandons(), || {
        ScenarioError::new(&join(path, "part"), "cuts segments, which the rules of players take whole here")
            .text(&part.to_string())
            .allowed("nothing with `rule = \"hls.js\"`, \"dash.js\" and \"shaka\"")
            .hint("`rule = \"throughput\"` and \"l2a\" take parts.")
    })?;
    // Before the division by it.
    positive(part, &join(path, "part"))?;
    let rest = segments.segment.duration().as_nanos() % part.duration().as_nanos();
    ensure(rest == 0, || {
        ScenarioError::new(&join(path, "part"), "does not divide a segment into equal parts")
            .text(&part.to_string())
            .allowed(format!("a duration of which {} is a multiple", segments.segment))
    })?;
    let least = Time::from(segments.segment.duration() / MOST_PARTS);
    ensure(part.duration() >= least.duration(), || {
        ScenarioError::new(&join(path, "part"), "cuts a segment into more than 1000 parts")
            .text(&part.to_string())
            .allowed(format!("a duration of at least {least}"))
    })
}

fn check_buffers(segments: &Segments, path: &str) -> Result<(), ScenarioError> {
    let start = segments.start();
    positive(start, &join(path, "start-buffer"))?;
    ensure(segments.rule != RateRule::L2a || start > LEAST_OF_L2A, || {
        ScenarioError::new(&join(path, "start-buffer"), "is no more than the buffer from which on l2a steers")
            .text(&start.to_string())
            .allowed(format!("a duration above {LEAST_OF_L2A} with `rule = \"l2a\"`"))
            .hint("with less `rule = \"throughput\"` does the same.")
    })?;
    let Some(most) = segments.buffer else { return Ok(()) };
    let error = |problem: &str| ScenarioError::new(&join(path, "buffer"), problem).text(&most.to_string());
    ensure(!segments.live, || {
        error("is never reached: of a live film no more than `start-buffer` is there")
            .allowed("nothing with `live = true`")
            .hint("`start-buffer` says how far behind the viewer is, and so how much it can hold.")
    })?;
    // A segment is asked for only when there is room for all of it.
    let least = Time::from(start.duration().max(segments.segment.duration()));
    ensure(most >= least, || error("is less than playback needs").allowed(format!("a duration of at least {least}")))
}
