//! Decisions, each small and named as the RFCs and papers name it.

pub(crate) mod acking;
pub(crate) mod control;
pub(crate) mod recovery;
pub(crate) mod rto;
pub(crate) mod trigger;
