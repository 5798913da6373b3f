use super::{Exchange, Pages};
use alloc::vec::Vec;
use earlybird_units::{Duration, Random};

// P. Barford and M. Crovella, "Generating Representative Web Workloads for Network and Server Performance Evaluation",
// SIGMETRICS 1998, table 3.

/// Logarithm of a file's bytes in the body of their distribution: mean and standard deviation.
const BODY: (f64, f64) = (9.357, 1.318);
/// Share of the files in the tail of the distribution.
const TAIL_SHARE: f64 = 0.07;
/// Smallest size in bytes and shape of the tail.
const TAIL: (f64, f64) = (133_000.0, 1.1);
/// Smallest number and shape of the embedded objects.
const EMBEDDED: (f64, f64) = (1.0, 2.43);
/// Scale in seconds and shape of the pauses within a page.
const ACTIVE_OFF: (f64, f64) = (1.46, 0.382);
/// Smallest value in seconds and shape of the pauses between pages.
const INACTIVE_OFF: (f64, f64) = (1.0, 1.5);

/// A user equivalent of SURGE: a page and its embedded objects one after the other, with pauses.
#[derive(Clone, Debug)]
pub struct Surge {
    request: u64,
}

impl Surge {
    /// Makes a user whose requests have so many bytes; SURGE does not model them.
    pub const fn new(request: u64) -> Self {
        Self { request }
    }
}

/// Draws the bytes of a file, rounded up.
fn file(random: &mut Random) -> u64 {
    let size =
        if random.unit() < TAIL_SHARE { random.pareto(TAIL.0, TAIL.1) } else { random.lognormal(BODY.0, BODY.1) };
    libm::ceil(size) as u64
}

impl Pages for Surge {
    fn draw(&mut self, random: &mut Random, exchanges: &mut Vec<Exchange>) {
        // A whole number of objects, rounded down, so that one is the most frequent as it is the least.
        let embedded = random.pareto(EMBEDDED.0, EMBEDDED.1) as u64;
        exchanges.extend((0..=embedded).map(|_| Exchange { request: self.request, response: file(random) }));
    }

    fn reading(&mut self, random: &mut Random) -> Duration {
        Duration::from_secs_f64(random.pareto(INACTIVE_OFF.0, INACTIVE_OFF.1))
    }

    fn pause(&mut self, random: &mut Random) -> Duration {
        Duration::from_secs_f64(random.weibull(ACTIVE_OFF.0, ACTIVE_OFF.1))
    }
}
