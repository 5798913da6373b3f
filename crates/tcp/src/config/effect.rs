//! The part of a configuration that has an effect.

use super::Config;
use crate::policy::ecn::EcnMode;
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::rack::RackConfig;
use crate::policy::rto::RtoRule;

impl Config {
    /// Returns the configuration with unused settings normalised: equal results mean connections with the same behaviour.
    #[must_use]
    pub fn in_effect(self) -> Self {
        let Self { recovery, window, .. } = self;
        let halves_window = !recovery.scheme.halves_flight(recovery.rules);
        let mut rto = self.timers.rto;
        // Only the coarse clock of ns-2 has a phase.
        rto.clock_phase = rto.clock_phase.filter(|_| rto.rule == RtoRule::Coarse);
        // Each setting that the chosen policies do not read gets one value for all.
        self.with_rack(if recovery.scheme == Recovery::Rack { recovery.rack } else { RackConfig::RFC })
            .with_sack1_hold_new_data(recovery.sack1_hold_new_data || recovery.scheme != Recovery::Sack1)
            .with_precise_halving(window.precise_halving || !halves_window)
            .with_integer_cwnd(window.integer_cwnd && !halves_window)
            .with_rto(rto)
    }

    /// Returns the configuration on a path whose queues mark nothing.
    #[must_use]
    pub fn without_marks(self) -> Self {
        self.with_ecn(EcnMode::Off)
    }
}
