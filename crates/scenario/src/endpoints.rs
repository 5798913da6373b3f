//! The endpoint settings of each flow: the scenario's with the flow's own on top.

use crate::model::{Endpoint, Flow, Measure, Profile, Scenario};
use crate::overrides::merge;
use crate::schema_check::check;
use crate::schema_walk::SchemaNode;
use earlybird_transport::{Kind, ScenarioError, Time, Transport, Transports};
use serde::Deserialize;
use serde_json::{Map, Value};

impl Scenario {
    /// Returns the endpoint settings of a flow: the scenario's, changed by `flow.endpoint` and `flow.transport`.
    ///
    /// # Errors
    /// A setting of the flow is not legal; the path is `flows.NAME.endpoint.KEY`. Never for a scenario that
    /// [`resolve`](crate::resolve) gave.
    pub fn endpoint_of(&self, flow: &Flow) -> Result<Endpoint, ScenarioError> {
        let transport = flow.transport.unwrap_or(self.endpoint.transport);
        // Most flows change nothing: for them nothing is written to JSON, merged and read, which costs more than a short run.
        if flow.endpoint.is_empty() {
            return Ok(Endpoint { transport, ..self.endpoint.clone() });
        }
        let path = format!("flows.{}.endpoint", flow.name);
        let transports = self.endpoint.controls.transports();
        let schema = SchemaNode::root_of(transports.endpoint_schema(), transports);
        let mut merged = serde_json::to_value(&self.endpoint).unwrap_or_default();
        merge(&mut merged, &Value::Object(flow.endpoint.clone()), schema, &path)?;
        let endpoint = read(&merged, schema, &path)?;
        // `flow.transport` stands beside the flow's table, and is where `choose_transports` writes.
        Ok(Endpoint { transport: flow.transport.unwrap_or(endpoint.transport), ..endpoint })
    }

    /// Reads the tables of congestion controls by a register.
    pub(crate) fn with_transports(mut self, transports: &Transports) -> Result<Self, ScenarioError> {
        self.endpoint.controls = self.endpoint.controls.of(transports).map_err(|error| error.at("endpoint"))?;
        Ok(self)
    }

    /// Sets the transports that are not given to those of the profile's senders.
    pub(crate) fn choose_transports(&mut self, document: &Value) {
        // In the document, as the model has a default; null is "left out", as for every optional key.
        if document.pointer("/endpoint/transport").is_some_and(|transport| !transport.is_null()) {
            return;
        }
        if let Some(usual) = self.endpoint.profile.usual_transport() {
            self.endpoint.transport = usual;
        }
        // A flow with a profile of its own has the senders of that one.
        for flow in self.flows.iter_mut().filter(|flow| flow.transport.is_none()) {
            let profile = flow.endpoint.get("profile").and_then(|profile| Profile::deserialize(profile).ok());
            flow.transport =
                profile.filter(|_| !flow.endpoint.contains_key("transport")).and_then(Profile::usual_transport);
        }
    }

    /// Writes the builds of the plugins that flows name: runs with another build are other runs.
    pub(crate) fn set_plugin_builds(&mut self) {
        let given = self.flows.iter().filter_map(|flow| Transport::deserialize(flow.endpoint.get("transport")?).ok());
        let transports =
            self.flows.iter().filter_map(|flow| flow.transport).chain(given).chain([self.endpoint.transport]);
        for transport in transports.collect::<Vec<_>>() {
            if let Kind::Control(name) = transport.kind {
                self.endpoint.controls.set_build(name.as_str());
            }
        }
    }

    /// Writes the flows' own settings in canonical form, so that equal settings are equal texts.
    pub(crate) fn settle_endpoints(&mut self, schema: SchemaNode<'_>) -> Result<(), ScenarioError> {
        for flow in &mut self.flows {
            let own = Value::Object(flow.endpoint.clone());
            let full = read(&own, schema, &format!("flows.{}.endpoint", flow.name))?;
            settle(&mut flow.endpoint, &serde_json::to_value(full).unwrap_or_default());
        }
        Ok(())
    }
}

impl Measure {
    /// Shortens the warm-up to at most a tenth of the run.
    pub(crate) fn shorten_warm_up(&mut self, duration: Time) {
        // The default is for runs of minutes, and would leave nothing of a short one to be measured.
        self.warm_up = self.warm_up.min(Time::from(duration.duration() / 10));
    }
}

fn read(value: &Value, schema: SchemaNode<'_>, path: &str) -> Result<Endpoint, ScenarioError> {
    check(value, schema, path)?;
    let endpoint: Endpoint = crate::deserialize(value, path)?;
    let controls = endpoint.controls.of(schema.transports()).map_err(|error| error.at(path))?;
    Ok(Endpoint { controls, ..endpoint })
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
