//! Connections that come and go, and one that stays: over emulated links, in a time that a test sets or in that of this machine.

mod applications;
mod memory;
mod real;
mod simulated;

pub use applications::{Progress, Tally};
pub use memory::{Growth, resident};

use crate::line::{Harm, Line};
use earlybird_units::{Duration, Instant};
use std::io;
use std::sync::Arc;

/// What happens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Soak {
    /// The links.
    pub line: Line,
    /// Mean time from one connection to the next.
    pub pause: Duration,
    /// The most bytes of a connection.
    pub largest: u64,
    /// No connection begins afterwards.
    pub end: Instant,
}

/// The port at which connections are taken.
const PORT: u16 = 4201;

impl Soak {
    /// Returns one over 20 Mb/s and 40 ms in which a hundredth of the packets is lost and as many are doubled and overtaken: so many
    /// connections per second, of a quarter of a megabyte at most.
    pub fn lasting(seconds: u64, connections_per_second: f64) -> Self {
        let harm = Harm { lost: 0.01, doubled: 0.01, overtaken: 0.01 };
        Self {
            line: Line { rate: 20_000_000, delay: Duration::from_millis(20), queue: 200, harm },
            pause: Duration::from_secs_f64(1.0 / connections_per_second),
            largest: 250_000,
            end: Instant::ZERO + Duration::from_secs(seconds),
        }
    }

    /// Runs it as fast as it goes, over devices in memory; `look` sees what was done so far after each of so long spans.
    ///
    /// # Errors
    ///
    /// If the system has no descriptor left.
    pub fn simulate(&self, span: Duration, look: impl FnMut(Instant, &Progress)) -> io::Result<Arc<Progress>> {
        simulated::run(self, span, look)
    }

    /// Runs it in real time, over sockets of UDP in two network namespaces.
    ///
    /// # Errors
    ///
    /// If the system gives no such namespaces, or a device fails.
    pub fn perform(&self, span: Duration, look: impl FnMut(Instant, &Progress)) -> io::Result<Arc<Progress>> {
        real::run(self, span, look)
    }
}
