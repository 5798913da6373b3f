//! Scenarios in real time, over the kernel's TCP and over our own. What the machine does not allow is skipped with the reason.
#![expect(clippy::float_cmp, reason = "counts are whole numbers")]

mod kernel;
mod live;
mod setup;
mod traces;
