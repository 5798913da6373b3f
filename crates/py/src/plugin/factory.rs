//! A loaded control as a factory of windows.

use super::control::LoadedControl;
use super::window::LoadedWindow;
use earlybird_tcp::{CongestionControl, ControlFactory, ControlSetup, Needs, RecoveryRules};

/// Windows outlive the factory's borrow, and refer to what is loaded for good.
impl ControlFactory for &'static LoadedControl {
    fn name(&self) -> &'static str {
        LoadedControl::name(self)
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(LoadedWindow::new(self, setup))
    }

    fn needs(&self, _rules: RecoveryRules) -> Needs {
        // As BBR and Copa: whoever sets the rate sets the window in recovery, too.
        Needs { has_rate: self.is_paced(), shapes_recovery: self.is_paced(), ..Needs::default() }
    }
}
