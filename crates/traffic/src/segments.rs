//! Segmented adaptive streaming (HLS, RFC 8216; DASH, ISO/IEC 23009-1): a film in segments, each coded at every rate of a ladder.

mod meter;
mod player;
mod rule;
mod server;

pub use player::Player;
pub use rule::{Bola, LearnToAdapt, RateRule, Throughput};
pub use server::SegmentServer;

pub(crate) use meter::Meter;
pub(crate) use player::{Download, View};

use alloc::sync::Arc;
use alloc::vec::Vec;
use earlybird_units::{Duration, Rate};

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number of the segment, counted from 0.
    pub segment: u64,
    /// Which of the ladder's rates, counted from the lowest.
    pub rung: usize,
    /// Whether the request before, for the same segment, is abandoned (`RST_STREAM` of HTTP/2, RFC 9113 §6.4).
    pub replaces: bool,
}

/// A film on its server. Its units have consecutive numbers: the parts of each segment, or the segment itself.
#[derive(Clone, Debug)]
pub struct Ladder {
    /// The rates, rising.
    pub rates: Arc<[Rate]>,
    /// Playing time of a part, or of a segment that has none.
    pub unit: Duration,
    /// Parts of a segment; 1 if it is sent whole.
    pub parts: u64,
    /// A part is available when it is complete, and not before.
    pub is_live: bool,
}

impl Ladder {
    /// Returns the playing time of a segment.
    pub fn segment(&self) -> Duration {
        self.unit * self.parts
    }

    /// Returns the bytes of a unit: all of a rate are alike.
    pub(crate) fn bytes(&self, rung: usize) -> u64 {
        // 128 bits: rate times nanoseconds exceeds 64 bits for long units.
        let bit_nanos = u128::from(self.rates[rung].bits_per_second()) * u128::from(self.unit.as_nanos());
        (bit_nanos / 8_000_000_000).max(1) as u64
    }
}

/// The inputs for the choice of the next segment's rate.
#[derive(Clone, Copy, Debug)]
pub struct Outlook<'a> {
    /// The rates in bits per second, rising.
    pub rates: &'a [f64],
    /// The rate of the last segment; of the first one before it.
    pub last: usize,
    /// The rates in bits per second at which the latest segments arrived, the newest last. Empty before the first.
    pub throughputs: &'a [f64],
    /// Seconds of film that wait.
    pub buffer: f64,
}

impl Outlook<'_> {
    /// Returns the highest rate that is not above this one, else the lowest.
    fn highest_within(&self, limit: f64) -> usize {
        self.rates.iter().rposition(|rate| *rate <= limit).unwrap_or(0)
    }
}

/// Returns the rates in bits per second.
pub(crate) fn bits_per_second(rates: &[Rate]) -> Vec<f64> {
    rates.iter().map(|rate| rate.bits_per_second() as f64).collect()
}
