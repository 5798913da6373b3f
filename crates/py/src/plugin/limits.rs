//! The limits of a loaded control: of its window, its rate and its time.

use super::abi::{NO_RATE, Output};
use std::time::{Duration, Instant};

/// RFC 7323 §2.3: a window is smaller than 1 GiB.
const LARGEST_WINDOW_BYTES: f64 = (1 << 30) as f64;
/// A pacing rate in segments per second: the clock counts nanoseconds, and a segment in 1000 s is none.
const RATES: (f64, f64) = (1e-3, 1e9);
/// Time that all calls of a connection may take: hiccups of the machine, and for each call a thousand times the time of an
/// ordinary one in Rust, a hundred times that of one in Python.
const GRACE: Duration = Duration::from_secs(5);
const TIME_PER_CALL: Duration = Duration::from_millis(1);

/// Returns the largest window in segments of `mss` bytes.
pub(crate) fn largest_window(mss: f64) -> f64 {
    (LARGEST_WINDOW_BYTES / mss.max(1.0)).floor()
}

/// Returns the name, the value and the allowed values of a number that is not allowed.
pub(super) fn violated(output: &Output, largest: f64) -> Option<(&'static str, f64, String)> {
    let Output { cwnd, pacing_rate } = *output;
    if !(1.0..=largest).contains(&cwnd) {
        return Some(("cwnd", cwnd, format!("1 to {largest} segments")));
    }
    let (least, most) = RATES;
    let is_allowed = pacing_rate == NO_RATE || (least..=most).contains(&pacing_rate);
    (!is_allowed).then(|| ("pacing_rate", pacing_rate, "none, or 0.001 to 1000000000 segments per second".to_owned()))
}

/// The time that a control takes.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    calls: u32,
    spent: Duration,
}

impl Stopwatch {
    /// Calls a function. Returns the time of all calls as well if it is too long.
    #[expect(clippy::disallowed_methods, reason = "a control that sleeps is found by the user's clock only")]
    pub(super) fn time<T>(&mut self, function: impl FnOnce() -> T) -> (T, Option<Duration>) {
        let begun = Instant::now();
        let result = function();
        self.spent += begun.elapsed();
        self.calls = self.calls.saturating_add(1);
        let is_slow = self.spent.saturating_sub(GRACE) > TIME_PER_CALL * self.calls;
        (result, is_slow.then_some(self.spent))
    }

    pub(super) const fn calls(&self) -> u32 {
        self.calls
    }
}
