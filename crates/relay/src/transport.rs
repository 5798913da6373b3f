//! What connections between relays are made of: a transport by its name, as in scenarios.

use earlybird_experiment::RunSetup;
use earlybird_scenario::ScenarioError;
use earlybird_sim::Carrier;
use earlybird_tcp::{Acking, Config, Delivery, Recovery, Segmentation};
use earlybird_units::Duration;

/// Returns the configuration of connections of a transport whose data are of use for so long.
///
/// # Errors
///
/// If there is no such transport, or it is none of connections, or hands over messages in any order.
pub(crate) fn config_of(name: &str, latency: Duration) -> Result<Config, ScenarioError> {
    let scenario = earlybird_scenario::resolve(&scenario(latency), &[("endpoint.transport".into(), name.into())])?;
    let stage = RunSetup::new(&scenario, 0)?;
    let Some(Carrier::Tcp(settings)) = stage.topology()?.flows.into_iter().next().map(|flow| flow.carrier) else {
        return Err(refusal(name, "has no connections"));
    };
    if settings.opener.real_time.delivery == Delivery::Unordered {
        return Err(refusal(name, "hands messages over in any order, and a relay hands them on in that of the source"));
    }
    Ok(live(settings.opener))
}

fn refusal(name: &str, problem: &str) -> ScenarioError {
    ScenarioError {
        path: "transport".into(),
        problem: problem.into(),
        value: name.into(),
        allowed: "a transport of TCP or its real-time mode, such as earlybird-rt, mtcp, cubic-rack or bbr-rack".into(),
        ..ScenarioError::default()
    }
}

/// Has a connection take no more than it will send soon: what waits here is left out when it is too old, and what waits there is
/// not (Linux: `TCP_NOTSENT_LOWAT`).
fn live(config: Config) -> Config {
    let config = Config { segmentation: Segmentation::Real, unsent_limit: Some(UNSENT), ..config };
    if config.real_time.framing && config.recovery == Recovery::Rack { frugal(config) } else { config }
}

/// Has a stream of frames whose losses are found by time take no more bytes than it must: rare ACKs, and no timestamps, as each
/// round trip is known from when a segment left.
fn frugal(config: Config) -> Config {
    Config { acking: ACKS, timestamps: false, ..config }
}

/// The time between two ACKs: over short ways half of SRT's (10 ms), and always shorter than the margin of the timers that wait for them (30 ms).
const ACKS: Acking = Acking::Spaced { least: Duration::from_millis(5), most: Duration::from_millis(25) };

/// Some units: enough for the sender to find something whenever the window opens.
const UNSENT: u64 = 16_384;

/// A stream of media whose viewer waits for so long. What it sends is held for as long, whatever its rate: as the latency does not
/// count the way itself, what leaves within it is there in time.
fn scenario(latency: Duration) -> String {
    let delay = format!("{}us", latency.as_nanos() / 1_000);
    format!(
        r#"
        duration = "1s"
        endpoint = {{ profile = "linux", real-time = {{ backlog = {{ discard-past-deadline = "{delay}" }} }} }}
        network = {{ links = [{{ from = "source", to = "viewer", rate = "1Gb/s", delay = "1ms" }}] }}
        flows = [{{ name = "media", from = "source", to = "viewer", application = {{ cbr = {{ rate = "4Mb/s", packet = 1316 }} }},
                    client = {{ deadline = {{ playback-delay = "{delay}" }} }} }}]
        "#
    )
    .replace("\n                    ", " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_tcp::Backlog;

    #[test]
    fn transports_are_those_of_scenarios() {
        let latency = Duration::from_millis(120);
        for (name, has_frames) in
            [("earlybird-rt", true), ("mtcp", true), ("cubic", false), ("bbr-rack", false), ("pert-er", false)]
        {
            let config = config_of(name, latency).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(config.real_time.framing, has_frames, "{name}");
            assert_eq!(config.check(), Ok(()), "{name}");
        }
        let held = ["mtcp", "earlybird-rt"].map(|name| config_of(name, latency).map(|config| config.real_time.backlog));
        assert_eq!(held, [(); 2].map(|()| Ok(Backlog::DiscardPastDeadline(latency))));
    }

    #[test]
    fn what_is_no_transport_of_connections_is_refused() {
        for (name, words) in [("srt", "has no connections"), ("cubik", "cubic"), ("hollywood", "in any order")] {
            let error = config_of(name, Duration::from_millis(120)).expect_err(name).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
