//! PERT in the Linux kernel: a congestion control in eBPF that is loaded and unloaded at run time.
//!
//! The program `earlybird-kernel` handles one JSON request; `earlybird kernel` is its front end. It keeps no files: what is
//! loaded is queried from the kernel, and ends with the process that holds it.

pub mod cgroups;
pub mod cleanup;
pub mod decisions;
pub mod error;
pub mod namespaces;
pub mod parameters;
pub mod pin;
pub mod program;
pub mod requirements;
pub mod routes;
pub mod run;
pub mod status;
pub mod undo;
