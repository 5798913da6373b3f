use super::{ensure, positive};
use crate::document::join;
use crate::error::ScenarioError;
use crate::model::{Endpoint, Profile, Recovery, RetransmissionTimer, Scenario};
use crate::quantity::Time;
use crate::transport::Control;

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    check(&scenario.endpoint, "endpoint")?;
    for flow in &scenario.flows {
        check(&scenario.endpoint_of(flow)?, &format!("flows.{}.endpoint", flow.name))?;
    }
    Ok(())
}

fn check(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    check_pacing(endpoint, path)?;
    let rto = &endpoint.rto;
    let path = join(path, "rto");
    for (time, key) in [(rto.tick, "tick"), (rto.ceiling, "ceiling"), (rto.initial, "initial")] {
        time.map_or(Ok(()), |time| positive(time, &join(&path, key)))?;
    }
    check_order(rto, &path)
}

/// The largest timeout if none is given.
const CEILING: Time = Time::from_secs(60);

fn check_order(rto: &RetransmissionTimer, path: &str) -> Result<(), ScenarioError> {
    let ceiling = rto.ceiling.unwrap_or(CEILING);
    let Some(floor) = rto.floor.filter(|floor| *floor > ceiling) else { return Ok(()) };
    let error = ScenarioError::new(&join(path, "floor"), "is above the largest timeout").text(&floor.to_string());
    ensure(false, || error.allowed(format!("a duration up to {ceiling}")).hint(format!("raise `{path}.ceiling`.")))
}

/// Where segments leave at a rate, an ACK often comes before the retransmission that an earlier one asked for. ns-2's Sack1
/// then forgets it: there, every ACK sends what it allows at once. It does not say which segments are lost, either.
fn check_pacing(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let default = if endpoint.profile == Profile::Ns2 { Recovery::Sack1 } else { Recovery::Rfc6675 };
    if endpoint.recovery.unwrap_or(default) != Recovery::Sack1 {
        return Ok(());
    }
    let hint = format!("`{path}.recovery = \"rfc6675\"` can wait.");
    if endpoint.transport.control == Control::Bbr {
        let problem = "is paced, and `sack1` forgets a retransmission that has to wait";
        let error = ScenarioError::new(&join(path, "transport"), problem).text(&endpoint.transport.to_string());
        return Err(error.allowed(format!("transports other than `bbr` with {path}.recovery `sack1`")).hint(hint));
    }
    let error =
        ScenarioError::new(&join(path, "pacing"), "does not go with `sack1`, which forgets a delayed retransmission");
    ensure(endpoint.pacing != Some(true), || error.text("true").allowed("false").hint(hint))
}
