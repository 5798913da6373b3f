//! The endpoint settings of each flow: the scenario's with the flow's own on top.

use crate::check::check;
use crate::error::ScenarioError;
use crate::model::{Endpoint, Flow, Measure, Profile, Scenario};
use crate::overrides::merge;
use crate::quantity::Time;
use crate::shape::endpoint;
use serde::Deserialize;
use serde_json::{Map, Value};

impl Scenario {
    /// Returns the endpoint settings of a flow: the scenario's, changed by `flow.endpoint` and `flow.transport`.
    ///
    /// # Errors
    /// A setting of the flow is not legal; the path is `flows.NAME.endpoint.KEY`. Never for a scenario that
    /// [`resolve`](crate::resolve) gave.
    pub fn endpoint_of(&self, flow: &Flow) -> Result<Endpoint, ScenarioError> {
        let path = format!("flows.{}.endpoint", flow.name);
        let mut merged = serde_json::to_value(&self.endpoint).unwrap_or_default();
        merge(&mut merged, &Value::Object(flow.endpoint.clone()), endpoint(), &path)?;
        let endpoint = read(&merged, &path)?;
        Ok(Endpoint { transport: flow.transport.unwrap_or(endpoint.transport), ..endpoint })
    }

    /// Whoever names no transport gets what the profile's senders have.
    pub(crate) fn choose_transports(&mut self, document: &Value) {
        if document.pointer("/endpoint/transport").is_some_and(|transport| !transport.is_null()) {
            return;
        }
        if let Some(usual) = self.endpoint.profile.usual_transport() {
            self.endpoint.transport = usual;
        }
        for flow in self.flows.iter_mut().filter(|flow| flow.transport.is_none()) {
            let profile = flow.endpoint.get("profile").and_then(|profile| Profile::deserialize(profile).ok());
            flow.transport =
                profile.filter(|_| !flow.endpoint.contains_key("transport")).and_then(Profile::usual_transport);
        }
    }

    /// Writes the flows' own settings in canonical form, so that equal settings are equal texts.
    pub(crate) fn settle_endpoints(&mut self) -> Result<(), ScenarioError> {
        for flow in &mut self.flows {
            let own = Value::Object(flow.endpoint.clone());
            let full = read(&own, &format!("flows.{}.endpoint", flow.name))?;
            settle(&mut flow.endpoint, &serde_json::to_value(full).unwrap_or_default());
        }
        Ok(())
    }
}

impl Measure {
    /// Shortens the warm-up to at most a tenth of the run.
    pub(crate) fn shorten_warm_up(&mut self, duration: Time) {
        self.warm_up = self.warm_up.min(Time::from(duration.duration() / 10));
    }
}

fn read(value: &Value, path: &str) -> Result<Endpoint, ScenarioError> {
    check(value, endpoint(), path)?;
    crate::deserialize(value, path)
}

/// Replaces every value by its form in `full`; what is not there (null) stays.
fn settle(own: &mut Map<String, Value>, full: &Value) {
    for (key, value) in own {
        match (value, full.get(key.as_str())) {
            (Value::Object(inner), Some(full)) => settle(inner, full),
            (value, Some(full)) => value.clone_from(full),
            (_, None) => {}
        }
    }
}
