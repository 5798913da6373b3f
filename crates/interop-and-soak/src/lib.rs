//! Long tests of `earlybird-live` over the links of `earlybird-emulator`. Short versions are tests; the full ones are programs.
//!
//!
//! * `interop`: transfers of a gigabyte between our stack and programs over the kernel's TCP;
//! * `soak`: a day of connections, during which memory must not grow.
#![forbid(unsafe_code)]

pub mod interop;
mod path;
pub mod soak;
mod testbed;

pub use path::{TestImpairments, TestPath};
pub use testbed::{BridgeResult, MTU, Testbed};
