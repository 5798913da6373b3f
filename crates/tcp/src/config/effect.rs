//! What of a configuration its own policies read.

use super::Config;
use crate::policy::choice::{EcnMode, Recovery, RtoRule};
use crate::policy::control::reno::Halved;
use crate::policy::recovery::rack::RackConfig;

impl Config {
    /// Returns the configuration with what its policies do not read at one value for all: those that are equal then make
    /// connections which do the same.
    #[must_use]
    pub fn in_effect(self) -> Self {
        let halves_by_rounding = self.recovery.halved(self.rules, true) != self.recovery.halved(self.rules, false);
        let mut rto = self.rto;
        rto.clock_phase = rto.clock_phase.filter(|_| rto.rule == RtoRule::Coarse);
        Self {
            rack: if self.recovery == Recovery::Rack { self.rack } else { RackConfig::RFC },
            holds_new_data: self.holds_new_data || self.recovery != Recovery::Sack1,
            precise_halving: self.precise_halving || !halves_by_rounding,
            whole_windows: self.whole_windows && self.halved() == Halved::Segments,
            rto,
            ..self
        }
    }

    /// Returns the configuration on a path whose queues mark nothing.
    #[must_use]
    pub fn without_marks(self) -> Self {
        Self { ecn: EcnMode::Off, ..self }
    }
}
