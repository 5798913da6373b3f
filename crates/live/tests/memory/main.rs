//! Stacks over devices in memory with a manual clock: deterministic.

#![expect(clippy::unwrap_used, reason = "what cannot go on has failed")]

mod backpressure;
mod frames;
mod listening;
mod observer;
mod path;
mod preemption;
mod soak;
mod transfers;
mod unmatched;
