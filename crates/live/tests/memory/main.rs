//! Stacks over devices in memory, by a clock that the test sets: nothing depends on the machine.

#![expect(clippy::unwrap_used, reason = "what cannot go on has failed")]

mod frames;
mod line;
mod listening;
mod narrow;
mod preempted;
mod soak;
mod strangers;
mod transfers;
mod watching;
