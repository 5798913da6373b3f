//! The configuration of the connections between relays: a transport by its name, as in scenarios.

use earlybird_tcp::{Acking, Config, Delivery, Recovery, Segmentation};
use earlybird_transport::{
    Backlog, Endpoint, Profile, Protocol, RealTime, ScenarioError, TcpEnds, Transports, Units, Workload,
};
use earlybird_units::Duration;

/// Returns the configuration of connections of a transport, whose data are of use for `latency`.
///
/// # Errors
///
/// If there is no such transport, if it has no connections, or if its delivery is unordered.
pub fn config_of(name: &str, latency: Duration) -> Result<Config, ScenarioError> {
    let endpoint = endpoint_of(name, latency).map_err(|error| error.at("transport"))?;
    let workload = Workload { deadline: latency, units: Units::Unknown, is_ingest: false, is_abandoned: false };
    let Protocol::Tcp(TcpEnds { opener, .. }) = endpoint.protocol(&workload) else {
        return Err(refusal(name, "has no connections"));
    };
    if opener.real_time.delivery == Delivery::Unordered {
        return Err(refusal(name, "is unordered; a relay needs ordered delivery"));
    }
    Ok(live(opener))
}

/// The time after the latency for which a unit is still sent. The latency does not include the propagation delay, so that what is
/// sent within it arrives in time; a unit that arrives later is played out at once unless a later one was due before it, as after
/// a link has held all of them back. SRT's sender keeps packets for a second at least (draft-sharabayko-srt-01); this is the
/// time for which the study against-srt counts packets of either.
pub(crate) const AFTER_LATENCY: Duration = Duration::from_millis(125);

/// Returns the settings of an endpoint that buffers the data of `latency` and [`AFTER_LATENCY`], at any rate.
fn endpoint_of(name: &str, latency: Duration) -> Result<Endpoint, ScenarioError> {
    let backlog = Some(Backlog::DiscardPastDeadline((latency + AFTER_LATENCY).into()));
    let endpoint = Endpoint {
        profile: Profile::Linux,
        transport: Transports::built_in().parse(name)?,
        real_time: RealTime { backlog, ..RealTime::default() },
        ..Endpoint::default()
    };
    endpoint.check("endpoint")?;
    Ok(endpoint)
}

fn refusal(name: &str, problem: &str) -> ScenarioError {
    ScenarioError::new("transport", problem)
        .text(name)
        .allowed("a transport of TCP or its real-time mode, such as earlybird-rt, mtcp, cubic-rack or bbr-rack")
}

/// Bounds the data that a connection takes before it can send it: the relay drops units that are too old, the connection does
/// not (Linux: `TCP_NOTSENT_LOWAT`).
fn live(config: Config) -> Config {
    let config = config.with_segmentation(Segmentation::Real).with_unsent_limit(Some(UNSENT));
    if config.real_time.framing && config.recovery.scheme == Recovery::Rack { with_sparse_acks(config) } else { config }
}

/// Saves bytes of a stream of frames whose losses RACK detects: sparse ACKs, and no timestamps, because each RTT sample follows
/// from the time at which a segment left.
fn with_sparse_acks(config: Config) -> Config {
    config.with_acking(ACKS).with_timestamps(false)
}

/// The time between two ACKs: on short paths half of SRT's (10 ms), and always shorter than the margin of the timers that wait
/// for them (30 ms).
const ACKS: Acking = Acking::Spaced { least: Duration::from_millis(5), most: Duration::from_millis(25) };

/// Limit of unsent bytes: a few units, so that the sender has data whenever the window opens.
const UNSENT: u64 = 16_384;

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
        assert_eq!(held, [(); 2].map(|()| Ok(Backlog::AbandonPastDeadline(latency + AFTER_LATENCY))));
    }

    #[test]
    fn what_is_no_transport_of_connections_is_refused() {
        for (name, words) in [("srt", "has no connections"), ("cubik", "cubic"), ("hollywood", "unordered")] {
            let error = config_of(name, Duration::from_millis(120)).expect_err(name).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
