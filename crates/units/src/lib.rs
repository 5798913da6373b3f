#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod random;
mod rate;
mod time;

pub use random::{Random, SeedTree};
pub use rate::Rate;
pub use time::{Duration, Instant};
