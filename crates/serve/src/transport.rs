//! The configuration of the connections to clients: a transport by its name, with the defaults of the profile `linux`.

use earlybird_tcp::{Config, Segmentation};
use earlybird_transport::{Endpoint, Profile, Protocol, ScenarioError, TcpEnds, Transports, Units, Workload};
use earlybird_units::Duration;

/// Unsent bytes above which nothing more is read from the server (Linux: `TCP_NOTSENT_LOWAT`): 1 ms of 1 Gb/s.
const UNSENT: u64 = 1 << 17;
/// MSS of an Ethernet path over IPv4 without options (RFC 9293 §3.7.1); the stack reduces it over IPv6.
const MSS: u16 = 1460;

/// Checks that ordinary TCP clients can be receivers of a transport.
///
/// # Errors
///
/// If there is no such transport, or they cannot.
pub fn check_transport(name: &str) -> Result<(), ScenarioError> {
    config_of(name).map(drop)
}

/// Returns the configuration of a transport.
///
/// # Errors
///
/// If there is no such transport, or ordinary TCP clients cannot be its receivers.
pub(crate) fn config_of(name: &str) -> Result<Config, ScenarioError> {
    let refusal = |problem: &str| {
        ScenarioError::new("--transport", problem)
            .text(name)
            .allowed("a transport of ordinary TCP, such as pert-er, sack-er, cubic-rack or bbr-rack")
    };
    let transport = Transports::built_in().parse(name).map_err(|error| error.at("--transport"))?;
    let endpoint = Endpoint { profile: Profile::Linux, transport, ..Endpoint::default() };
    endpoint.check("endpoint").map_err(|error| error.at("--transport"))?;
    // No deadline: bytes of a stream never expire.
    let workload = Workload { deadline: Duration::MAX, units: Units::Unknown, is_ingest: false, is_abandoned: false };
    let Protocol::Tcp(TcpEnds { opener, .. }) = endpoint.protocol(&workload) else {
        return Err(refusal("has no connections of TCP"));
    };
    if opener.real_time.framing {
        return Err(refusal("sends frames, which ordinary TCP clients do not understand"));
    }
    Ok(opener.with_segmentation(Segmentation::Real).with_mss(MSS).with_unsent_limit(Some(UNSENT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_of_byte_streams_are_accepted_and_all_others_refused() {
        for name in ["sack", "sack-er", "pert", "pert-er", "cubic-rack", "bbr3-rack", "newreno"] {
            let config = config_of(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(config.check(), Ok(()), "{name}");
        }
        for (name, words) in [("earlybird-rt", "frames"), ("srt", "no connections of TCP"), ("cubik", "cubic")] {
            let error = config_of(name).expect_err(name).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
