//! Scenarios in real time: the flows of a scenario over real endpoints, whose packets cross the scenario's links under the clock of
//! this machine, and at the end the same report as of a simulation.
//!
//! Endpoints are behind [`Hosts`]: [ours](live), or [the kernel's](kernel). The applications are those of the
//! simulator, from `earlybird-traffic`.

mod app_io;
mod app_runtime;
mod clock;
mod error;
mod event_log;
mod hosts;
pub mod kernel;
mod links;
pub mod live;
mod namespaces;
mod run;
mod unsupported;

pub use clock::Clock;
pub use event_log::SharedEventLog;
pub use hosts::{Decision, Hosts, Readiness};
pub use links::LinksLog;
pub use run::{RunConfig, execute};
pub use unsupported::MAX_FLOWS;
