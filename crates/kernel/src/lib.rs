//! PERT in the Linux kernel: a congestion control in eBPF that is loaded and taken out again while the kernel runs.
//!
//! The program `earlybird-kernel` takes one request, as JSON, and answers with JSON; `earlybird kernel` is its front. There are
//! no files of its own: who has loaded what is asked of the kernel, and what is loaded is gone when its holder ends.

pub mod check;
pub mod command;
pub mod failure;
pub mod groups;
pub mod guard;
pub mod hold;
pub mod instances;
pub mod namespaces;
pub mod parameters;
pub mod program;
pub mod routes;
pub mod undo;
pub mod watch;
