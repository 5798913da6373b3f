//! The stack of `earlybird-live` over the links of `earlybird-emulator`, in earnest: what takes seconds is a test, what takes minutes
//! a program.
//!
//! * `interop`: a gigabyte each way between our stack and programs over the kernel's TCP;
//! * `soak`: connections come and go for a day, and memory does not grow.
#![forbid(unsafe_code)]

pub mod interop;
mod line;
mod rig;
pub mod soak;

pub use line::{Harm, Line};
pub use rig::{End, MTU, Rig};
