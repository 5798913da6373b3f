//! Which scenarios our endpoints can run in real time.

use crate::unsupported::{RUN_IN_SIM, Unsupported, path_of, transport_path};
use earlybird_scenario::{Flow, Profile, Scenario, ScenarioError};
use std::ops::RangeInclusive;

const LIVE: Unsupported = Unsupported { backend: "the `live` backend" };

/// The least that a peer is believed to take (Linux's `TCP_MIN_SND_MSS`), and what fits into an IP packet with room to spare.
const SEGMENTS: RangeInclusive<u16> = 48..=32_755;

/// Measures for which each packet has to be known, or a second run without the others.
const UNSUPPORTED_MEASURES: [&str; 3] = ["transmissions", "bursts", "harm-by"];

/// Checks that our endpoints support a scenario.
///
/// # Errors
///
/// The first thing that they cannot do.
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    for flow in &scenario.flows {
        LIVE.check_application(flow)?;
        check_endpoint(scenario, flow)?;
    }
    LIVE.check_count(scenario)?;
    LIVE.check_measures(scenario, &UNSUPPORTED_MEASURES, "cannot be measured: it takes the simulator")
}

fn check_endpoint(scenario: &Scenario, flow: &Flow) -> Result<(), ScenarioError> {
    let endpoint = scenario.endpoint_of(flow)?;
    if endpoint.profile == Profile::Ns2 {
        let problem = "counts headers that no wire carries, and cannot be run";
        return Err(LIVE.error(path_of(flow, "profile"), &"ns2", problem, "`rfc`, `linux`", RUN_IN_SIM));
    }
    if endpoint.transport.kind.is_datagram() {
        let problem = "is not TCP, and cannot be run";
        return Err(LIVE.error(transport_path(flow), &endpoint.transport, problem, "", RUN_IN_SIM));
    }
    for (key, bytes) in [("send-buffer", endpoint.send_buffer), ("unsent-limit", endpoint.unsent_limit)] {
        if let Some(bytes) = bytes {
            let problem = "is not what the sockets have, which is the same for all,";
            return Err(LIVE.error(path_of(flow, key), &bytes, problem, "", RUN_IN_SIM));
        }
    }
    LIVE.check_segment(flow, endpoint.mss, SEGMENTS)
}
