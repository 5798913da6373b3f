//! Warnings about values that no network has.

use crate::endpoint::full_packet;
use crate::plan::Plan;
use earlybird_scenario::{Channel, Network, Rate, Scenario, ScenarioError};
use earlybird_units::Duration;

/// Far above the one-way delay of a geostationary hop, 0.25 s, and of a path to the Moon, 1.3 s.
const LONGEST_DELAY: Duration = Duration::from_secs(10);

/// The largest frames of Ethernet in use ("jumbo frames"), as an IP packet.
const LARGEST_PACKET: u64 = 9000;

/// IEEE 802.3df-2024: the fastest Ethernet.
const FASTEST: u64 = 800_000_000_000;

/// Bits per second of a telephone modem (ITU-T V.21).
const SLOWEST: u64 = 300;

/// Returns the directions of the links with the path of their settings.
fn channels(network: &Network) -> Vec<(String, Channel)> {
    match network {
        Network::Dumbbell(dumbbell) => {
            let mut all = vec![
                ("network.dumbbell.bottleneck".to_owned(), dumbbell.bottleneck.clone()),
                ("network.dumbbell.access".to_owned(), dumbbell.access.clone()),
            ];
            all.extend(
                dumbbell.reverse.is_some().then(|| ("network.dumbbell.reverse".to_owned(), dumbbell.backward())),
            );
            all
        }
        Network::Links(links) => links
            .iter()
            .flat_map(|link| {
                let path = format!("network.links.{}", link.name());
                let reverse = link.reverse.is_some().then(|| (format!("{path}.reverse"), link.backward()));
                [(path, link.forward())].into_iter().chain(reverse)
            })
            .collect(),
    }
}

/// Lists delays, rates and packet sizes that no network has.
pub(super) fn implausible_values(scenario: &Scenario, plan: &Plan) -> Vec<ScenarioError> {
    let mut found = Vec::new();
    for (path, channel) in channels(&scenario.network) {
        if channel.delay.duration() > LONGEST_DELAY {
            let problem = "is longer than any path on Earth or to the Moon has";
            found.push(warning(format!("{path}.delay"), channel.delay.to_string(), problem, "up to 10 s"));
        }
        let is_usual = |rate: Rate| (SLOWEST..=FASTEST).contains(&rate.rate().bits_per_second());
        if let Some(rate) = channel.rate.filter(|rate| !is_usual(*rate)) {
            let problem = "is a rate that no link has";
            found.push(warning(format!("{path}.rate"), rate.to_string(), problem, "300 b/s to 800 Gb/s"));
        }
    }
    for group in &plan.groups {
        let packet = full_packet(&group.carrier);
        if packet > LARGEST_PACKET {
            let problem = "makes packets that are larger than jumbo frames";
            let path = format!("flows.{}: endpoint.mss", group.flow.name);
            found.push(warning(path, format!("{packet} bytes with headers"), problem, "packets of up to 9000 bytes"));
        }
    }
    found
}

fn warning(path: String, value: String, problem: &str, usual: &str) -> ScenarioError {
    let allowed = format!("any, but usual is {usual}");
    ScenarioError { path, value, problem: problem.to_owned(), allowed, hint: String::new() }
}
