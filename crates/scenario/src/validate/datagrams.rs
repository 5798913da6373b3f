//! Flows of datagrams: what they cannot carry, and which settings they cannot use.
//!
//! The scenario's `endpoint` is for all flows, so a flow of datagrams takes from it what it can use. What is set for the
//! flow itself must have an effect.

use super::ensure;
use crate::document::join;
use crate::error::ScenarioError;
use crate::model::{Application, Flow, Scenario};
use crate::suggest::listed;
use crate::transport::Transport;

/// The keys of `endpoint` that a flow of datagrams uses.
const KEYS: [&str; 3] = ["mss", "profile", "transport"];

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    for flow in &scenario.flows {
        let transport = scenario.endpoint_of(flow)?.transport;
        if transport.control.is_datagram() {
            check_keys(flow, transport)?;
            check_application(flow, transport)?;
        }
    }
    Ok(())
}

fn check_keys(flow: &Flow, transport: Transport) -> Result<(), ScenarioError> {
    let Some(key) = flow.endpoint.keys().find(|key| !KEYS.contains(&key.as_str())) else { return Ok(()) };
    let path = join(&format!("flows.{}.endpoint", flow.name), key);
    Err(ScenarioError::new(&path, format!("is a setting of TCP, and the transport is {transport}"))
        .allowed(listed(KEYS))
        .hint("what `endpoint` sets for all flows may stay there: only TCP flows read it."))
}

/// What is wrong with web traffic in datagrams.
const WEB: &str = "needs every byte to arrive, and {} repairs nothing";

fn check_application(flow: &Flow, transport: Transport) -> Result<(), ScenarioError> {
    let (name, problem) = match &flow.application {
        Application::Bulk(_) => ("bulk", "sends as fast as the transport lets it, and udp sets no limit"),
        Application::Webtraf(_) => ("webtraf", WEB),
        Application::Mah(_) => ("mah", WEB),
        Application::Surge(_) => ("surge", WEB),
        Application::HttpSimple(_) => ("http-simple", WEB),
        Application::Cbr(_) | Application::Media(_) => return Ok(()),
    };
    let path = format!("flows.{}.application.{name}", flow.name);
    let error = ScenarioError::new(&path, problem.replace("{}", &transport.to_string()));
    ensure(false, || error.allowed("cbr, media").hint("choose a transport of TCP for this flow."))
}
