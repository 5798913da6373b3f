use super::{ensure, positive};
use crate::document::join;
use crate::error::ScenarioError;
use crate::model::{Endpoint, RetransmissionTimer, Scenario};
use crate::quantity::Time;

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    check(&scenario.endpoint, "endpoint")?;
    for flow in &scenario.flows {
        check(&scenario.endpoint_of(flow)?, &format!("flows.{}.endpoint", flow.name))?;
    }
    Ok(())
}

fn check(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
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
