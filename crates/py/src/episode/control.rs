//! The transport `agent`.

use super::window::{AGENT, SOURCE, StepWindow};
use crate::plugin;
use crate::scenario_error;
use earlybird_scenario::Plugin;
use earlybird_tcp::{CongestionControl, ControlFactory, ControlSetup, Needs, RecoveryRules};
use pyo3::prelude::*;

#[derive(Debug)]
struct Agent;

impl ControlFactory for Agent {
    fn name(&self) -> &'static str {
        AGENT
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(StepWindow::new(setup.mss))
    }

    fn needs(&self, _rules: RecoveryRules) -> Needs {
        // As BBR and Copa: whoever sets the rate sets the window in recovery, too.
        Needs { has_rate: true, shapes_recovery: true, ..Needs::default() }
    }
}

/// Adds the transport `agent`, whose window a program decides, to those of this process.
#[pyfunction]
pub(crate) fn load_agent() -> PyResult<()> {
    let title = "window decided by a program (earlybird.gym)";
    let agent = Plugin { name: AGENT, title, source: SOURCE, build: env!("EARLYBIRD_SIM_VERSION"), factory: &Agent };
    plugin::add_plugin(agent).map_err(scenario_error)
}
