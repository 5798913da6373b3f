//! Live streams to a server: what goes with them, and what their films must be.

use super::ensure;
use super::traffic::check_times;
use crate::model::{Application, Film, Flow, Ingest, Scenario};
use earlybird_transport::{ScenarioError, Time, join, positive};
use serde_json::json;

/// OBS Studio's least distance between the two thresholds (`init_connect` of `rtmp-stream.c`).
const BETWEEN: Time = Time::from_millis(200);

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    for flow in &scenario.flows {
        // Every flow has these keys, not live streams alone.
        check_buffers(scenario, flow)?;
        let Application::Ingest(ingest) = &flow.application else { continue };
        let path = format!("flows.{}", flow.name);
        check_carrier(scenario, flow, &path, "plays units of a known timetable, of which a live stream drops some")?;
        check_ingest(ingest, &join(&path, "application.ingest"))?;
    }
    Ok(())
}

/// Frames of the real-time mode have a limit of their own.
fn check_buffers(scenario: &Scenario, flow: &Flow) -> Result<(), ScenarioError> {
    let endpoint = scenario.endpoint_of(flow)?;
    let given = [("send-buffer", endpoint.send_buffer), ("unsent-limit", endpoint.unsent_limit)];
    let first = given.into_iter().find_map(|(key, bytes)| Some((key, bytes?)));
    if let Some((key, bytes)) = first.filter(|_| endpoint.transport.kind.is_real_time()) {
        // The key is named where it stands: with the flow, or for all.
        let place = if flow.endpoint.contains_key(key) { format!("flows.{}.", flow.name) } else { String::new() };
        let problem = format!("limits streams, and {} carries frames", endpoint.transport);
        return Err(ScenarioError::new(&format!("{place}endpoint.{key}"), problem)
            .text(&bytes.to_string())
            .allowed("nothing with this transport")
            .hint("`real-time.send-limit` is the limit of frames."));
    }
    Ok(())
}

/// RTMP and HTTP are streams of one connection, and no other viewer sits at its end.
pub(super) fn check_carrier(
    scenario: &Scenario,
    flow: &Flow,
    path: &str,
    why_no_client: &str,
) -> Result<(), ScenarioError> {
    let transport = scenario.endpoint_of(flow)?.transport;
    let name = flow.application.name();
    let is_stream = !transport.kind.is_datagram() && !transport.kind.is_real_time();
    ensure(is_stream, || {
        let problem = format!("is sent as one stream, which {transport} does not carry");
        ScenarioError::new(&join(path, &format!("application.{name}")), problem)
            .allowed("cbr, frames, media with this transport")
            .hint("choose another transport of TCP for this flow.")
    })?;
    ensure(flow.client.is_none(), || {
        ScenarioError::new(&join(path, "client"), why_no_client)
            .allowed(format!("nothing with `{name}`"))
            .hint("when each unit came is in the table of deliveries (`measure.deliveries`).")
    })
}

fn check_ingest(ingest: &Ingest, path: &str) -> Result<(), ScenarioError> {
    let [both, earlier] = ingest.thresholds();
    positive(both, &join(path, "drop-threshold"))?;
    let least = Time::from(both.duration() + BETWEEN.duration());
    // OBS Studio raises the second one without a word; here what is given is used, or refused.
    ensure(earlier >= least, || {
        ScenarioError::new(&join(path, "pframe-drop-threshold"), "is too near to `drop-threshold`")
            .text(&earlier.to_string())
            .allowed(format!("a duration of at least {least}, {BETWEEN} more"))
    })?;
    let has_thresholds = ingest.drop_threshold.or(ingest.pframe_drop_threshold).is_some();
    ensure(!(ingest.dynamic_bitrate && has_thresholds), || {
        ScenarioError::new(&join(path, "dynamic-bitrate"), "drops nothing, so that thresholds are of no use")
            .text("true")
            .allowed("false, or no `drop-threshold` and `pframe-drop-threshold`")
    })?;
    ensure(ingest.media.is_none() || ingest.encoder.is_none(), || {
        ScenarioError::new(&join(path, "encoder"), "has nothing to do beside `media`").allowed("one of both")
    })?;
    let encoder = ingest.encoder.as_ref();
    encoder.map_or(Ok(()), |encoder| positive(encoder.keyframe_interval, &join(path, "encoder.keyframe-interval")))?;
    ingest.media.as_ref().map_or(Ok(()), |film| check_film(film, &join(path, "media")))
}

/// Checks the pictures and the sound of a film.
pub(super) fn check_film(film: &Film, path: &str) -> Result<(), ScenarioError> {
    // First, as the letters are compared with the times.
    check_times(&film.times, &film.sizes, film.length, path)?;
    let error = |problem: &str| ScenarioError::new(&join(path, "kinds"), problem).text(&film.kinds);
    ensure(film.kinds.chars().all(|kind| matches!(kind, 'I' | 'P' | 'B')), || {
        error("has other letters than I, P and B").allowed("one of these letters for each picture")
    })?;
    ensure(film.kinds.len() == film.times.len(), || {
        error("does not have one letter per picture")
            .allowed(format!("{} letters, as `{path}.times`", film.times.len()))
    })?;
    let Some(sound) = &film.audio else { return Ok(()) };
    let path = join(path, "audio");
    ensure(!sound.times.is_empty(), || {
        ScenarioError::new(&path, "has no packets").value(&json!(sound.times)).allowed("some, or no `audio`")
    })?;
    check_times(&sound.times, &sound.sizes, film.length, &path)
}
