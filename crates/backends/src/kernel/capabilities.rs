//! Which scenarios the kernel's TCP can run, and the socket options for them.

use super::socket;
use crate::unsupported::{RUN_IN_SIM, Unsupported, path_of, transport_path};
use earlybird_experiment::{FlowSpec, RunError};
use earlybird_scenario::{Detection, Endpoint, Flow, Kind, Profile, Repair, Scenario, ScenarioError, Transport};
use earlybird_sim::Carrier;
use serde_json::Value;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;

const KERNEL: Unsupported = Unsupported { backend: "the `kernel` backend" };

/// The payload beside timestamps of the segments that `TCP_MAXSEG` takes: 88 to 32,767 bytes (`tcp_sock_set_maxseg` of
/// `net/ipv4/tcp.c`).
const SEGMENTS: RangeInclusive<u16> = 76..=32_755;

/// Measures for which single decisions of a sender have to be known.
const UNSUPPORTED_MEASURES: [&str; 3] = ["duplicates", "transmissions", "bursts"];

/// Keys of `endpoint` that the kernel supports, or that are checked one by one.
const SUPPORTED_KEYS: [&str; 5] = ["profile", "transport", "mss", "window", "nagle"];

/// Keys of `endpoint.rto` with a socket option.
const TIMER: [&str; 2] = ["floor", "linear-when-thin"];

/// The smallest timeout of a socket, in microseconds (Linux 6.15, `include/uapi/linux/tcp.h`).
const TCP_RTO_MIN_US: i32 = 45;

/// The congestion control that we bring, and how it comes into the kernel.
const OWN: &str = "pert";
const LOAD: &str = "load it as root, `earlybird kernel load pert`, or run it in the simulator, `--backend sim`";
const BBR1: &str = "take `bbr1`, or set `endpoint.profile` to `linux`; Google's kernel has version 3 (github.com/google/bbr, \
                    branch v3)";

/// Checks that the kernel's TCP supports a scenario.
///
/// # Errors
///
/// The first thing that it cannot do.
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let available = available();
    for flow in &scenario.flows {
        KERNEL.check_application(flow)?;
        check_endpoint(scenario, flow, &available)?;
    }
    check_marks(scenario)?;
    KERNEL.check_count(scenario)?;
    let problem = "cannot be measured: the kernel does not tell its single decisions";
    KERNEL.check_measures(scenario, &UNSUPPORTED_MEASURES, problem)?;
    KERNEL.check_measures(scenario, &["harm-by"], "cannot be measured: it takes two runs with equal seeds")
}

/// ECN is a setting of the whole network (`tcp_ecn` of `ip-sysctl.rst`).
fn check_marks(scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut asks = Vec::new();
    for flow in &scenario.flows {
        asks.push(scenario.endpoint_of(flow)?.uses_ecn());
    }
    match asks.iter().position(|uses_ecn| *uses_ecn != asks[0]) {
        None => Ok(()),
        Some(other) => {
            let (path, value) = (path_of(&scenario.flows[other], "ecn"), if asks[other] { "classic" } else { "off" });
            let hint = "set `endpoint.ecn` for all flows";
            Err(KERNEL.error(path, &value, "is not what the other flows have, and is the same for all", "", hint))
        }
    }
}

fn check_endpoint(scenario: &Scenario, flow: &Flow, available: &[String]) -> Result<(), ScenarioError> {
    let endpoint = scenario.endpoint_of(flow)?;
    if endpoint.profile == Profile::Ns2 {
        let hint = "set `endpoint.profile` to one of these: the kernel does what Linux does, whatever is set here";
        return Err(KERNEL.error(
            path_of(flow, "profile"),
            &"ns2",
            "is not what any kernel does",
            "`rfc`, `linux`",
            hint,
        ));
    }
    control_of(endpoint.transport, endpoint.profile, available)
        .map_err(|error| ScenarioError { path: transport_path(flow), ..error })?;
    check_knobs(flow, &endpoint)
}

/// Checks that each setting that differs from the default has a socket option.
fn check_knobs(flow: &Flow, endpoint: &Endpoint) -> Result<(), ScenarioError> {
    let [is, usual] =
        [endpoint, &Endpoint::default()].map(|endpoint| serde_json::to_value(endpoint).unwrap_or_default());
    let Value::Object(knobs) = is else { return Ok(()) };
    for (key, value) in &knobs {
        let is_possible = match key.as_str() {
            "ecn" => value == "off" || value == "classic",
            "timestamps" => *value == Value::Bool(true),
            "rto" => value.as_object().is_some_and(|keys| keys.keys().all(|key| TIMER.contains(&key.as_str()))),
            key => SUPPORTED_KEYS.contains(&key) || usual.get(key) == Some(value),
        };
        if !is_possible {
            let hint = "leave it out: the kernel decides that by itself";
            return Err(KERNEL.error(path_of(flow, key), value, "cannot be told to a socket", "", hint));
        }
    }
    KERNEL.check_segment(flow, endpoint.mss, SEGMENTS)
}

/// Returns the congestion controls that this kernel has loaded.
fn available() -> Vec<String> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// Returns the kernel's congestion control that a transport means. It always repairs with SACK and RACK-TLP.
fn control_of(transport: Transport, profile: Profile, available: &[String]) -> Result<String, ScenarioError> {
    let allowed = format!("{} (as this kernel has them), `sack`; also with `-rack`", quoted(available));
    let refuse_with = |problem, hint| KERNEL.error(String::new(), &transport, problem, &allowed, hint);
    let refuse = |problem| refuse_with(problem, RUN_IN_SIM);
    if transport.detection == Detection::EarlyRetransmission || transport.fine_grained {
        return Err(refuse("needs a sender that is not the kernel's, so that it cannot be run"));
    }
    let name = match &transport.kind {
        Kind::Repair(Repair::Sack | Repair::Reno) => "reno",
        Kind::Control(name) => match profile.control_named(name.as_str()) {
            // Linux's `bbr` is version 1.
            "bbr1" => "bbr",
            "bbr3" => {
                return Err(refuse_with("is BBR version 3, which this kernel's `bbr` is not, and cannot be run", BBR1));
            }
            name => name,
        },
        Kind::Datagram(_) | Kind::Quic(_) => return Err(refuse("is not TCP, and cannot be run")),
        Kind::RealTime(_) => return Err(refuse("needs endpoints that are not the kernel's, so that it cannot be run")),
        Kind::Repair(_) => return Err(refuse("is a repair that no kernel of today has, and cannot be run")),
    };
    if available.iter().any(|known| known == name) {
        Ok(name.to_owned())
    } else {
        let hint = if name == OWN { LOAD } else { RUN_IN_SIM };
        Err(refuse_with("is no congestion control that this kernel has loaded, and cannot be run", hint))
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The socket options of a flow.
#[derive(Clone, Debug)]
pub(super) struct Options {
    control: String,
    /// The largest segment, timestamps included, and the largest window, in bytes.
    segment: i32,
    window: i32,
    nagle: bool,
    /// The smallest timeout in microseconds, if it is not the machine's own.
    floor: Option<i32>,
    linear_when_thin: bool,
}

/// Returns them.
pub(super) fn options_of(scenario: &Scenario, spec: &FlowSpec) -> Result<Options, RunError> {
    let Endpoint { rto: timer, profile, .. } = scenario.endpoint_of(&scenario.flows[spec.group.0 as usize])?;
    let control = control_of(spec.transport, profile, &available())?;
    let Carrier::Tcp(settings) = &spec.carrier else { unreachable!("datagrams were refused") };
    Ok(Options {
        control,
        // `TCP_MAXSEG` counts the options of each segment as payload.
        segment: (u64::from(spec.carrier.mss()) + super::TIMESTAMPS) as i32,
        window: i32::try_from(u64::from(settings.opener.window.max) * u64::from(spec.carrier.mss()))
            .unwrap_or(i32::MAX),
        nagle: settings.opener.segments.nagle,
        floor: timer.floor.map(|floor| (floor.duration().as_nanos() / 1_000) as i32),
        linear_when_thin: timer.linear_when_thin.unwrap_or(false),
    })
}

impl Options {
    pub(super) fn apply(&self, socket: &OwnedFd) -> io::Result<()> {
        rustix::net::sockopt::set_tcp_congestion(socket, &self.control)?;
        rustix::net::sockopt::set_tcp_nodelay(socket, !self.nagle)?;
        socket::set(socket, libc::TCP_WINDOW_CLAMP, self.window)?;
        socket::set(socket, libc::TCP_THIN_LINEAR_TIMEOUTS, self.linear_when_thin.into())?;
        if let Some(floor) = self.floor {
            socket::set(socket, TCP_RTO_MIN_US, floor)?;
        }
        socket::set(socket, libc::TCP_MAXSEG, self.segment)
    }
}
