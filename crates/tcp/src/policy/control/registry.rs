//! The list of congestion controls as a macro, and controls from outside this crate.

use super::{Control, ControlFactory};
use core::any::Any;
use core::ops::Deref;

/// Writes [`Control`], one line for each control of this crate: those without parameters with the type that makes them, the
/// others with that of their parameters, which make them.
macro_rules! controls {
    (
        plain { $($(#[$plain_doc:meta])* $plain_file:ident: $plain:ident: $rules:ident,)* }
        with parameters { $($(#[$doc:meta])* $file:ident: $name:ident($parameters:ident),)* }
    ) => {
        $(pub(crate) mod $plain_file;)*
        $(pub(crate) mod $file;)*

        /// The parameters of all controls.
        pub(crate) mod parameters {
            $(pub use super::$file::$parameters;)*
        }

        /// A congestion control with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Control {
            $($(#[$plain_doc])* $plain,)*
            $($(#[$doc])* $name(parameters::$parameters),)*
            /// One from outside this crate.
            Custom(registry::CustomControl),
        }

        impl Control {
            /// Returns the factory of its windows.
            pub fn factory(&self) -> &dyn ControlFactory {
                match self {
                    $(Self::$plain => &$plain_file::$rules,)*
                    $(Self::$name(parameters) => parameters,)*
                    Self::Custom(custom) => &**custom,
                }
            }
        }
    };
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
