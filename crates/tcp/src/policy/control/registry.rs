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
    /// Returns a control from outside this crate that has no parameters.
    pub const fn custom(factory: &'static dyn ControlFactory) -> Self {
        Self::Custom(CustomControl { factory, parameters: [0.0; CUSTOM_PARAMETERS] })
    }

    /// Returns a control from outside this crate. Its factory finds the parameters in [`ControlSetup::parameters`](crate::ControlSetup::parameters).
    pub const fn custom_with<const N: usize>(factory: &'static dyn ControlFactory, numbers: [f64; N]) -> Self {
        const { assert!(N <= CUSTOM_PARAMETERS, "a custom control has at most eight parameters") };
        let mut parameters = [0.0; CUSTOM_PARAMETERS];
        // A loop by index, because iterators are not const.
        let mut index = 0;
        while index < N {
            parameters[index] = numbers[index];
            index += 1;
        }
        Self::Custom(CustomControl { factory, parameters })
    }

    /// Returns the parameters of a custom control; zeros for the others, which have types of their own.
    pub(crate) const fn custom_parameters(&self) -> [f64; CUSTOM_PARAMETERS] {
        if let Self::Custom(custom) = self { custom.parameters } else { [0.0; CUSTOM_PARAMETERS] }
    }
}

/// The largest number of parameters of a control from outside this crate. They are plain numbers beside a static factory, so
/// that a configuration can be copied and owns nothing.
pub(crate) const CUSTOM_PARAMETERS: usize = 8;

/// A congestion control from outside this crate. Two are equal if they have the same factory and equal parameters.
#[derive(Clone, Copy, Debug)]
pub struct CustomControl {
    factory: &'static dyn ControlFactory,
    parameters: [f64; CUSTOM_PARAMETERS],
}

impl Deref for CustomControl {
    type Target = dyn ControlFactory;

    fn deref(&self) -> &Self::Target {
        self.factory
    }
}

impl PartialEq for CustomControl {
    fn eq(&self, other: &Self) -> bool {
        // Factories without fields may share one address, so that it takes the type to tell them apart.
        let is_same_type = Any::type_id(self.factory) == Any::type_id(other.factory);
        is_same_type && core::ptr::addr_eq(self.factory, other.factory) && self.parameters == other.parameters
    }
}
