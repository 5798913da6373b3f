//! Policies: exchangeable decisions, named after the RFCs and papers that define them.

pub(crate) mod acking;
pub(crate) mod backlog;
pub(crate) mod buffer;
pub(crate) mod control;
pub(crate) mod delivery;
pub(crate) mod dupthresh;
pub(crate) mod ecn;
pub(crate) mod lifetimes;
pub(crate) mod recovery;
pub(crate) mod reduction;
pub(crate) mod rto;
pub(crate) mod segmentation;
pub(crate) mod send_quantum;
pub(crate) mod spurious;
pub(crate) mod window_probe;
