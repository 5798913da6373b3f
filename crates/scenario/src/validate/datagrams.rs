//! Flows of datagrams, QUIC's among them: what they cannot carry, and which settings they cannot use.
//!
//! The scenario's `endpoint` is for all flows, so a flow of datagrams takes from it what it can use. What is set for the
//! flow itself must have an effect.

use crate::model::{Application, Flow, Scenario};
use earlybird_transport::{Datagram, Kind, QuicCarriage, ScenarioError, Transport, join, listed};

/// The keys of `endpoint` that a flow of datagrams uses.
const KEYS: [&str; 3] = ["mss", "profile", "transport"];
/// The same for one with a rate of its own, which can answer marks.
const KEYS_OF_TFRC: [&str; 4] = ["ecn", "mss", "profile", "transport"];
/// The same for one that repairs.
const KEYS_OF_SRT: [&str; 4] = ["mss", "profile", "srt", "transport"];

/// The same for QUIC, which answers marks in each of its ways.
const KEYS_OF_QUIC: [&str; 4] = ["ecn", "profile", "quic", "transport"];

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    // By itself first: what is wrong for all flows is not told of one.
    scenario.endpoint.srt.check("endpoint.srt")?;
    for flow in &scenario.flows {
        let endpoint = scenario.endpoint_of(flow)?;
        endpoint.srt.check(&format!("flows.{}.endpoint.srt", flow.name))?;
        let transport = endpoint.transport;
        if transport.kind.is_datagram() {
            check_keys(flow, transport)?;
            check_application(flow, transport)?;
        }
    }
    Ok(())
}

fn check_keys(flow: &Flow, transport: Transport) -> Result<(), ScenarioError> {
    let known: &[&str] = match transport.kind {
        Kind::Datagram(Datagram::Tfrc) => &KEYS_OF_TFRC,
        Kind::Datagram(Datagram::Srt) => &KEYS_OF_SRT,
        Kind::Quic(_) => &KEYS_OF_QUIC,
        _ => &KEYS,
    };
    let Some(key) = flow.endpoint.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let path = join(&format!("flows.{}.endpoint", flow.name), key);
    Err(ScenarioError::new(&path, format!("is of no use to {transport}"))
        .allowed(listed(known.iter().copied()))
        .hint("what `endpoint` sets for all flows may stay there: those that can use it read it."))
}

fn check_application(flow: &Flow, transport: Transport) -> Result<(), ScenarioError> {
    let has_rate = matches!(transport.kind, Kind::Datagram(Datagram::Tfrc) | Kind::Quic(_));
    let allowed = if has_rate { "bulk, cbr, media" } else { "cbr, media" };
    let why_not = match transport.kind {
        Kind::Datagram(Datagram::Srt) => "needs every byte to arrive, and srt gives up what is late".to_owned(),
        Kind::Quic(QuicCarriage::Stream | QuicCarriage::Streams) => {
            format!("opens a connection for each file, and {transport} keeps one to the end of the run")
        }
        _ => format!("needs every byte to arrive, and {transport} repairs nothing"),
    };
    let error = |name: &str, problem: &str| {
        ScenarioError::new(&format!("flows.{}.application.{name}", flow.name), problem).allowed(allowed)
    };
    let web = |name: &str| Err(error(name, &why_not).hint("choose a transport of TCP for this flow."));
    match &flow.application {
        Application::Bulk(_) if !has_rate => {
            Err(error("bulk", &format!("sends as fast as the transport lets it, and {transport} sets no limit"))
                .hint("tfrc finds a rate by itself; or choose a transport of TCP for this flow."))
        }
        Application::Webtraf(_) => web("webtraf"),
        Application::Mah(_) => web("mah"),
        Application::Surge(_) => web("surge"),
        Application::HttpSimple(_) => web("http-simple"),
        // Live streams and segments were asked for TCP before.
        Application::Bulk(_)
        | Application::Cbr(_)
        | Application::Media(_)
        | Application::Frames(_)
        | Application::Ingest(_)
        | Application::Segments(_) => Ok(()),
    }
}
