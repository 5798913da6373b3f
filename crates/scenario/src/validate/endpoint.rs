use super::repair::{self, name_of};
use super::{ensure, positive};
use crate::document::join;
use crate::error::ScenarioError;
use crate::model::{
    Cubic, CubicVersion, EcnMode, Endpoint, Profile, Recovery, RetransmissionTimer, Scenario, SlowStart,
};
use crate::quantity::Time;
use crate::transport::{Control, Detection};

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    check(&scenario.endpoint, "endpoint")?;
    for flow in &scenario.flows {
        check(&scenario.endpoint_of(flow)?, &format!("flows.{}.endpoint", flow.name))?;
    }
    Ok(())
}

fn check(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    check_prague(endpoint, path)?;
    check_pacing(endpoint, path)?;
    check_ecn(endpoint, path)?;
    check_recovery(endpoint, path)?;
    check_cubic(&endpoint.cubic, path)?;
    let pi = join(path, "pert.pi.rtt");
    endpoint.pert.pi.rtt.map_or(Ok(()), |rtt| positive(rtt, &pi))?;
    repair::check(endpoint, path)?;
    let rto = &endpoint.rto;
    let path = join(path, "rto");
    for (time, key) in [(rto.tick, "tick"), (rto.ceiling, "ceiling"), (rto.initial, "initial")] {
        time.map_or(Ok(()), |time| positive(time, &join(&path, key)))?;
    }
    check_order(rto, &path)
}

/// Gives the recovery, with what the transport and the profile choose if none is given.
pub(super) fn recovery_of(endpoint: &Endpoint) -> Recovery {
    endpoint.recovery.unwrap_or(match (endpoint.transport.control, endpoint.profile) {
        (Control::Tahoe, _) => Recovery::Tahoe,
        (Control::Reno, _) => Recovery::Reno,
        (Control::NewReno | Control::TcpRtm, _) => Recovery::Newreno,
        (Control::EarlybirdRt, _) => Recovery::RackTlp,
        _ if endpoint.transport.detection == Detection::Rack => Recovery::RackTlp,
        (_, Profile::Ns2) => Recovery::Sack1,
        (_, Profile::Rfc) => Recovery::Rfc6675,
    })
}

/// A recovery that is a transport of its own goes with no other one of that kind; `sack` is that with SACK.
fn check_recovery(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let Some(recovery) = endpoint.recovery else { return Ok(()) };
    let reason = match (endpoint.transport.control, recovery) {
        (Control::Tahoe, Recovery::Tahoe)
        | (Control::Reno, Recovery::Reno)
        | (Control::NewReno | Control::TcpRtm, Recovery::Newreno) => "",
        (Control::Tahoe | Control::Reno | Control::NewReno | Control::TcpRtm, _) => {
            "is not the recovery that this transport is named after"
        }
        (_, Recovery::Tahoe) => "needs a window that begins again at one segment after every loss",
        (Control::Sack, Recovery::Reno | Recovery::Newreno) => "does without SACK",
        _ => "",
    };
    let hint = "name the transport after the recovery, or leave the recovery out.";
    let allowed = format!("what goes with transport `{}`", endpoint.transport);
    ensure(reason.is_empty(), || {
        ScenarioError::new(&join(path, "recovery"), reason)
            .text(name_of(recovery))
            .allowed(allowed)
            .hint(hint.to_owned())
    })
}

/// Prague answers shares of marks, which ns-2's receivers do not tell, and no other control does.
fn check_prague(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let is_prague = endpoint.transport.control == Control::Prague;
    ensure(!is_prague || endpoint.profile != Profile::Ns2, || {
        ScenarioError::new(&join(path, "transport"), "does not go with the ns2 profile, whose receivers count no marks")
            .text(&endpoint.transport.to_string())
            .allowed("what goes with profile `ns2`".to_owned())
            .hint(format!("`{path}.profile = \"rfc\"` follows RFC 9768."))
    })?;
    let (value, problem, allowed) = match (is_prague, endpoint.ecn) {
        (true, Some(EcnMode::Off)) => ("off", "leaves prague without the marks it lives by", "accurate"),
        (true, Some(EcnMode::Classic)) => ("classic", "tells prague of one mark per round trip only", "accurate"),
        (false, Some(EcnMode::Accurate)) => {
            ("accurate", "is read by prague only, which answers shares of marks", "off, classic")
        }
        _ => return Ok(()),
    };
    Err(ScenarioError::new(&join(path, "ecn"), problem).text(value).allowed(allowed))
}

/// A flow of datagrams has no profile's rules to follow; UDP does not read the key.
fn check_ecn(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let control = endpoint.transport.control;
    if endpoint.ecn != Some(EcnMode::Classic) || control.is_datagram() {
        return Ok(());
    }
    let error = |problem: &str| ScenarioError::new(&join(path, "ecn"), problem).text("classic").allowed("off");
    ensure(control != Control::Bbr, || error("does not go with bbr, whose model answers no marks"))?;
    let inflates = matches!(recovery_of(endpoint), Recovery::Tahoe | Recovery::Reno | Recovery::Newreno);
    ensure(!inflates, || {
        error("goes with a recovery by SACK, which does not move the window that a mark has reduced")
    })?;
    ensure(endpoint.profile != Profile::Ns2, || {
        error("does not go with the ns2 profile: ns-2's sender lets marks change when it may repair a loss")
            .hint(format!("`{path}.profile = \"rfc\"` follows RFC 3168."))
    })
}

/// The largest timeout if none is given.
const CEILING: Time = Time::from_secs(60);

fn check_order(rto: &RetransmissionTimer, path: &str) -> Result<(), ScenarioError> {
    let ceiling = rto.ceiling.unwrap_or(CEILING);
    let Some(floor) = rto.floor.filter(|floor| *floor > ceiling) else { return Ok(()) };
    let error = ScenarioError::new(&join(path, "floor"), "is above the largest timeout").text(&floor.to_string());
    ensure(false, || error.allowed(format!("a duration up to {ceiling}")).hint(format!("raise `{path}.ceiling`.")))
}

/// Where segments leave at a rate, an ACK often comes before the retransmission that an earlier one asked for. Recoveries
/// made to send at once forget it then, and do not say which segments are lost either.
fn check_pacing(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let has_rate = matches!(endpoint.transport.control, Control::Bbr | Control::Prague);
    ensure(!has_rate || endpoint.pacing != Some(false), || {
        let problem = format!("does not go with `{}`, which always sends at a rate of its own", endpoint.transport);
        ScenarioError::new(&join(path, "pacing"), problem).text("false").allowed("true")
    })?;
    let recovery = recovery_of(endpoint);
    let forgets = matches!(recovery, Recovery::Sack1 | Recovery::Tahoe | Recovery::Reno | Recovery::Newreno);
    let name = name_of(recovery);
    let problem = format!("does not go with recovery `{name}`, which forgets a retransmission that has to wait");
    let hint = format!("`{path}.recovery = \"rfc6675\"` can wait.");
    let error = |key: &str, value: &str| ScenarioError::new(&join(path, key), problem).text(value).hint(hint);
    if forgets && has_rate {
        let allowed = format!("what goes with recovery `{name}`");
        return Err(error("transport", &endpoint.transport.to_string()).allowed(allowed));
    }
    ensure(!forgets || endpoint.pacing != Some(true), || error("pacing", "true").allowed("false"))
}

/// `HyStart`++ grows by fractions of a segment; Linux's forms count in whole ones.
fn check_cubic(cubic: &Cubic, path: &str) -> Result<(), ScenarioError> {
    let is_whole = cubic.version != CubicVersion::Rfc9438;
    let error = || {
        ScenarioError::new(&join(path, "cubic.slow-start"), "does not go with Linux's whole segments")
            .text("hystart-plus-plus")
            .allowed("standard, hystart")
            .hint(format!("`{path}.cubic.version = \"rfc9438\"` counts in fractions."))
    };
    ensure(!(is_whole && cubic.slow_start == Some(SlowStart::HystartPlusPlus)), error)
}
