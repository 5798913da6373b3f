//! Errors for scenarios that a backend in real time cannot run.

use earlybird_scenario::{Application, Flow, Scenario, ScenarioError};
use std::fmt;
use std::ops::RangeInclusive;

/// Flows that one thread can serve on time.
pub const MAX_FLOWS: u64 = 128;

pub(crate) const RUN_IN_SIM: &str = "run it in the simulator, `--backend sim`";

/// Makes the errors of one backend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsupported {
    pub(crate) backend: &'static str,
}

impl Unsupported {
    pub(crate) fn error(
        &self,
        path: String,
        value: &dyn fmt::Display,
        problem: &str,
        allowed: &str,
        hint: &str,
    ) -> ScenarioError {
        let problem = format!("{problem} in {}", self.backend);
        let [value, allowed, hint] = [value.to_string(), allowed.to_owned(), hint.to_owned()];
        ScenarioError { path, value, problem, allowed, hint }
    }

    pub(crate) fn check_application(&self, flow: &Flow) -> Result<(), ScenarioError> {
        let what = match &flow.application {
            application @ (Application::Ingest(_) | Application::Segments(_)) => application.name(),
            application if application.is_web() => "web sessions",
            _ => return Ok(()),
        };
        let path = format!("flows.{}.application", flow.name);
        Err(self.error(path, &what, "cannot be run", "`cbr`, `media`, `frames`, `bulk`", RUN_IN_SIM))
    }

    pub(crate) fn check_count(&self, scenario: &Scenario) -> Result<(), ScenarioError> {
        let flows: u64 = scenario.flows.iter().map(|flow| u64::from(flow.count)).sum();
        if flows <= MAX_FLOWS {
            return Ok(());
        }
        let problem = "flows are more than one thread serves on time";
        Err(self.error("flows".to_owned(), &flows, problem, &format!("{MAX_FLOWS} flows in all"), RUN_IN_SIM))
    }

    /// Rejects the first of these measurements that a scenario requests.
    pub(crate) fn check_measures(
        &self,
        scenario: &Scenario,
        impossible: &[&str],
        problem: &str,
    ) -> Result<(), ScenarioError> {
        let measure = &scenario.measure;
        let asked = |is_wanted: bool| is_wanted.then(|| "true".to_owned());
        let wanted = [
            ("duplicates", asked(measure.duplicates)),
            ("transmissions", asked(measure.transmissions)),
            ("bursts", asked(measure.bursts.is_some())),
            ("harm-by", measure.harm_by.clone()),
        ];
        let mut found = wanted.iter().filter(|(key, _)| impossible.contains(key));
        match found.find_map(|(key, value)| Some((key, value.as_ref()?))) {
            None => Ok(()),
            Some((key, value)) => {
                let hint = "leave it out, or run the scenario in the simulator";
                Err(self.error(format!("measure.{key}"), value, problem, "", hint))
            }
        }
    }

    pub(crate) fn check_segment(
        &self,
        flow: &Flow,
        mss: Option<u16>,
        allowed: RangeInclusive<u16>,
    ) -> Result<(), ScenarioError> {
        match mss {
            Some(mss) if !allowed.contains(&mss) => {
                let range = format!("{} to {}", allowed.start(), allowed.end());
                Err(self.error(path_of(flow, "mss"), &mss, "is no segment size", &range, ""))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the key of a flow's endpoint, as the scenario wrote it.
pub(crate) fn path_of(flow: &Flow, key: &str) -> String {
    let place = if flow.endpoint.contains_key(key) { format!("flows.{}.", flow.name) } else { String::new() };
    format!("{place}endpoint.{key}")
}

pub(crate) fn transport_path(flow: &Flow) -> String {
    if flow.transport.is_some() { format!("flows.{}.transport", flow.name) } else { path_of(flow, "transport") }
}
