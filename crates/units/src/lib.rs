//! Time, rates and reproducible randomness: the vocabulary every other part of earlybird speaks.
//!
//! All times are integers in nanoseconds, so that a run gives the same bytes on every platform.
#![no_std]
#![forbid(unsafe_code)]

mod random;
mod rate;
mod time;

pub use random::{Random, SeedTree};
pub use rate::Rate;
pub use time::{Duration, Instant};
