//! Soak tests: many short connections and one persistent one over emulated links, in simulated or real time; a long live stream.

mod applications;
mod memory;
mod real_time;
mod simulated;
mod stream;

pub use applications::{Progress, SharedCounter};
pub use memory::{Growth, resident};
pub use stream::{Stream, StreamProgress};

use crate::path::{TestImpairments, TestPath};
use earlybird_units::{Duration, Instant};
use std::io;
use std::sync::Arc;

/// The parameters of a soak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Soak {
    /// The path.
    pub path: TestPath,
    /// Mean interval between new connections.
    pub interval: Duration,
    /// The largest transfer, in bytes.
    pub max_bytes: u64,
    /// The time from which no connection is opened any more.
    pub end: Instant,
}

/// The port of the server.
const PORT: u16 = 4201;

impl Soak {
    /// Returns a soak over 20 Mbit/s with an RTT of 40 ms, 1 % loss, 1 % duplication and 1 % reordering, with transfers of up to
    /// 250 kB.
    pub fn lasting(seconds: u64, connections_per_second: f64) -> Self {
        let impairments = TestImpairments { lost: 0.01, duplicated: 0.01, reordered: 0.01 };
        Self {
            path: TestPath { rate: 20_000_000, delay: Duration::from_millis(20), queue: 200, impairments },
            // Exponential intervals: connections overlap at random.
            interval: Duration::from_secs_f64(1.0 / connections_per_second),
            max_bytes: 250_000,
            end: Instant::ZERO + Duration::from_secs(seconds),
        }
    }

    /// Runs it in simulated time, over devices in memory. `on_progress` is called after each `span`.
    ///
    /// # Errors
    ///
    /// If the process is out of file descriptors.
    pub fn simulate(&self, span: Duration, on_progress: impl FnMut(Instant, &Progress)) -> io::Result<Arc<Progress>> {
        simulated::run(self, span, on_progress)
    }

    /// Runs it in real time, over UDP sockets in two network namespaces.
    ///
    /// # Errors
    ///
    /// If namespaces are not available, or a device fails.
    pub fn run_in_real_time(
        &self,
        span: Duration,
        on_progress: impl FnMut(Instant, &Progress),
    ) -> io::Result<Arc<Progress>> {
        real_time::run(self, span, on_progress)
    }
}
