//! The congestion controls of this crate, and those from outside.

use super::bbr::BbrParameters;
use super::copa::CopaParameters;
use super::cubic::CubicConfig;
use super::factory::ControlFactory;
use super::pert::PertFlags;
use super::prague::PragueParameters;
use super::reno::RenoRules;
use super::tahoe::TahoeRules;
use super::tolerant::TolerantParameters;
use super::vegas::VegasParameters;
use core::any::Any;
use core::ops::Deref;

/// Writes [`Control`], one line for each control of this crate: those without parameters with the type that makes them, the
/// others with that of their parameters, which make them.
macro_rules! controls {
    (
        plain { $($(#[$plain_doc:meta])* $plain:ident: $rules:path,)* }
        with parameters { $($(#[$doc:meta])* $name:ident($parameters:ty),)* }
    ) => {
        /// How much may be in flight: a congestion control and its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Control {
            $($(#[$plain_doc])* $plain,)*
            $($(#[$doc])* $name($parameters),)*
            /// One from outside this crate.
            Custom(CustomControl),
        }

        impl Control {
            /// Returns what makes it.
            pub fn factory(&self) -> &dyn ControlFactory {
                match self {
                    $(Self::$plain => &$rules,)*
                    $(Self::$name(parameters) => parameters,)*
                    Self::Custom(custom) => &**custom,
                }
            }
        }
    };
}

controls! {
    plain {
        /// Slow start, congestion avoidance, halving.
        Reno: RenoRules,
        /// Slow start, congestion avoidance; one segment after every loss.
        Tahoe: TahoeRules,
    }
    with parameters {
        /// Probabilistic early response.
        Pert(PertFlags),
        /// BBR version 3.
        Bbr(BbrParameters),
        /// Copa: the rate 1/(δ·dq).
        Copa(CopaParameters),
        /// A cubic function of the time since the last loss.
        Cubic(CubicConfig),
        /// Vegas: as many segments in the queue as its thresholds say.
        Vegas(VegasParameters),
        /// Prague: by the share of marks. Without [`EcnMode::Accurate`](crate::EcnMode::Accurate) it is Reno with pacing.
        Prague(PragueParameters),
        /// Reno's window, which tells congestion from noise by delay.
        Tolerant(TolerantParameters),
    }
}

impl Control {
    /// Makes a choice of a control from outside this crate.
    pub const fn custom(factory: &'static dyn ControlFactory) -> Self {
        Self::Custom(CustomControl(factory))
    }
}

/// A congestion control from outside this crate. Two are equal if they are the same value in the same place.
#[derive(Clone, Copy, Debug)]
pub struct CustomControl(&'static dyn ControlFactory);

impl Deref for CustomControl {
    type Target = dyn ControlFactory;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for CustomControl {
    fn eq(&self, other: &Self) -> bool {
        // Values without fields may all stand in one place.
        Any::type_id(self.0) == Any::type_id(other.0) && core::ptr::addr_eq(self.0, other.0)
    }
}
