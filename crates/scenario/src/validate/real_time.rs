//! The real-time mode, and who listens at its other end.

use super::ensure;
use crate::model::{Application, Client, DeadlineClient, Endpoint, Flow, RebufferClient, Scenario};
use earlybird_transport::{ScenarioError, join, positive};

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    scenario.endpoint.real_time.check("endpoint.real-time")?;
    for flow in &scenario.flows {
        let endpoint = scenario.endpoint_of(flow)?;
        let path = format!("flows.{}", flow.name);
        endpoint.real_time.check(&join(&path, "endpoint.real-time"))?;
        check_use(&endpoint, flow, &path)?;
        check_frames(&endpoint, flow, &path)?;
        flow.client.as_ref().map_or(Ok(()), |client| check_client(client, flow, &join(&path, "client")))?;
    }
    Ok(())
}

/// Checks that a flow's own settings have an effect.
fn check_use(endpoint: &Endpoint, flow: &Flow, path: &str) -> Result<(), ScenarioError> {
    let is_set = flow.endpoint.contains_key("real-time");
    let error =
        || ScenarioError::new(&join(path, "endpoint.real-time"), "is read by transports of the real-time mode only");
    ensure(!is_set || endpoint.transport.kind.is_real_time(), || {
        error()
            .allowed("nothing with this transport")
            .hint(format!("`{path}.transport = \"mtcp\"` has this mode; every policy of it can be changed."))
    })
}

/// The real-time mode carries frames, which only media have.
fn check_frames(endpoint: &Endpoint, flow: &Flow, path: &str) -> Result<(), ScenarioError> {
    let needs = endpoint.transport.kind.is_real_time() && !flow.application.is_media();
    let name = flow.application.name();
    let problem = format!("has no frames, which {} carries", endpoint.transport);
    ensure(!needs, || {
        ScenarioError::new(&join(path, &format!("application.{name}")), problem).allowed("cbr, frames, media")
    })
}

fn check_client(client: &Client, flow: &Flow, path: &str) -> Result<(), ScenarioError> {
    let problem = format!("listens to media, which {} is not", flow.application.name());
    ensure(flow.application.is_media(), || {
        ScenarioError::new(path, problem).allowed("a client for an application of the kind cbr, frames or media")
    })?;
    match client {
        Client::Deadline(client) => check_deadline(client, &join(path, "deadline")),
        Client::Rebuffer(client) => check_rebuffer(client, &join(path, "rebuffer")),
    }
}

fn check_deadline(client: &DeadlineClient, path: &str) -> Result<(), ScenarioError> {
    positive(client.playback_delay, &join(path, "playback-delay"))?;
    client.reports.map_or(Ok(()), |reports| positive(reports, &join(path, "reports")))?;
    let Some(adaptive) = &client.adaptive else { return Ok(()) };
    let most = client.playback_delay;
    // The playback delay is where adaptation begins, and its longest.
    ensure(adaptive.least <= most, || {
        ScenarioError::new(&join(path, "adaptive.least"), "is above the playback delay")
            .text(&adaptive.least.to_string())
            .allowed(format!("a duration up to {most}"))
    })
}

fn check_rebuffer(client: &RebufferClient, path: &str) -> Result<(), ScenarioError> {
    positive(client.capacity, &join(path, "capacity"))
}

impl Application {
    /// Returns whether it writes units that are judged by their time.
    pub const fn is_media(&self) -> bool {
        matches!(self, Self::Cbr(_) | Self::Media(_) | Self::Frames(_) | Self::Ingest(_) | Self::Segments(_))
    }

    /// Returns its name in a scenario.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Cbr(_) => "cbr",
            Self::Bulk(_) => "bulk",
            Self::Webtraf(_) => "webtraf",
            Self::Mah(_) => "mah",
            Self::Surge(_) => "surge",
            Self::HttpSimple(_) => "http-simple",
            Self::Media(_) => "media",
            Self::Frames(_) => "frames",
            Self::Ingest(_) => "ingest",
            Self::Segments(_) => "segments",
        }
    }
}
