//! Decisions, each small and named as the RFCs and papers name it.

pub(crate) mod acking;
pub(crate) mod backlog;
pub(crate) mod buffer;
pub(crate) mod control;
pub(crate) mod delivery;
pub(crate) mod ecn;
pub(crate) mod lifetimes;
pub(crate) mod quantum;
pub(crate) mod recovery;
pub(crate) mod reduction;
pub(crate) mod rto;
pub(crate) mod segmentation;
pub(crate) mod spurious;
pub(crate) mod trigger;
pub(crate) mod window_probe;
