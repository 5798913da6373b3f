//! Flows of datagrams: what they cannot carry, and which settings they cannot use.
//!
//! The scenario's `endpoint` is for all flows, so a flow of datagrams takes from it what it can use. What is set for the
//! flow itself must have an effect.

use crate::document::join;
use crate::error::ScenarioError;
use crate::model::{Application, Flow, Scenario};
use crate::suggest::listed;
use crate::transport::{Control, Transport};

/// The keys of `endpoint` that a flow of datagrams uses.
const KEYS: [&str; 3] = ["mss", "profile", "transport"];
/// The same for one with a rate of its own, which can answer marks.
const KEYS_OF_TFRC: [&str; 4] = ["ecn", "mss", "profile", "transport"];

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
    let known: &[&str] = if transport.control == Control::Tfrc { &KEYS_OF_TFRC } else { &KEYS };
    let Some(key) = flow.endpoint.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let path = join(&format!("flows.{}.endpoint", flow.name), key);
    Err(ScenarioError::new(&path, format!("is of no use to {transport}"))
        .allowed(listed(known.iter().copied()))
        .hint("what `endpoint` sets for all flows may stay there: those that can use it read it."))
}

fn check_application(flow: &Flow, transport: Transport) -> Result<(), ScenarioError> {
    let is_udp = transport.control == Control::Udp;
    let allowed = if is_udp { "cbr, media" } else { "bulk, cbr, media" };
    let error = |name: &str, problem: &str| {
        ScenarioError::new(&format!("flows.{}.application.{name}", flow.name), problem).allowed(allowed)
    };
    let web = |name: &str| {
        Err(error(name, &format!("needs every byte to arrive, and {transport} repairs nothing"))
            .hint("choose a transport of TCP for this flow."))
    };
    match &flow.application {
        Application::Bulk(_) if is_udp => {
            Err(error("bulk", "sends as fast as the transport lets it, and udp sets no limit")
                .hint("tfrc finds a rate by itself; or choose a transport of TCP for this flow."))
        }
        Application::Webtraf(_) => web("webtraf"),
        Application::Mah(_) => web("mah"),
        Application::Surge(_) => web("surge"),
        Application::HttpSimple(_) => web("http-simple"),
        Application::Bulk(_) | Application::Cbr(_) | Application::Media(_) | Application::Frames(_) => Ok(()),
    }
}
