//! The setup of a run for any backend.

use crate::plan::Plan;
use crate::recorder::{DropLog, Recorder};
use crate::report::{Report, report};
use crate::topology::Topology;
use earlybird_scenario::{Scenario, ScenarioError};
use earlybird_sim::Network;

/// A scenario with a seed. Makes the topology and the recorder of a run, and its report.
#[derive(Clone, Debug)]
pub struct RunSetup<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) seed: u64,
    pub(crate) plan: Plan,
}

impl<'a> RunSetup<'a> {
    /// Plans a run of a scenario that [`earlybird_scenario::resolve`] gave.
    ///
    /// # Errors
    ///
    /// If the scenario cannot be built.
    pub fn new(scenario: &'a Scenario, seed: u64) -> Result<Self, ScenarioError> {
        Ok(Self { scenario, seed, plan: Plan::new(scenario, seed)? })
    }

    /// Builds the network and specifies its flows.
    ///
    /// # Errors
    ///
    /// If the scenario cannot be built.
    pub fn topology(&self) -> Result<Topology, ScenarioError> {
        self.plan.topology()
    }

    /// Makes the recorder for the report.
    pub fn recorder(&self) -> Recorder {
        Recorder::new(self.scenario, &self.plan)
    }

    /// Makes a log of drops at links that another thread observes.
    pub fn drop_log(&self) -> DropLog {
        DropLog::new(&self.plan)
    }

    /// Makes the report of a finished run.
    pub fn report(&self, recorder: &Recorder, network: &Network) -> Report {
        report(self.scenario, &self.plan, self.seed, recorder, network)
    }
}
