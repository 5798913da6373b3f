//! Scenarios in real time: the flows of a scenario over real endpoints, whose packets cross the scenario's links under the clock of
//! this machine, and at the end the same report as of a simulation.
//!
//! Whose endpoints they are is behind [`Hosts`]: [ours](live), or [the kernel's](kernel). What writes and who views are those of the
//! simulator, from `earlybird-traffic`.

mod chronicle;
mod clock;
mod hosts;
pub mod kernel;
mod links;
pub mod live;
mod performance;
mod places;
mod refusals;
mod roles;
mod run;
mod sides;

pub use chronicle::Shared;
pub use clock::Clock;
pub use hosts::{Decision, Hosts, Readiness};
pub use links::LinksLog;
pub use refusals::MOST_FLOWS;
pub use run::{Staging, perform};
