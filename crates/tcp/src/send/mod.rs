//! The sending half: what is written and outstanding, what an ACK of it means, and the timer that watches over it.

mod abandon;
pub(crate) mod ace;
pub(crate) mod ack;
pub(crate) mod busy_time;
mod cwnd_reduction;
mod cwnd_validation;
pub(crate) mod ecn;
mod frames;
mod nagle_cork;
pub(crate) mod pacer;
mod path_model;
pub(crate) mod persist;
mod queue;
mod rate_sampler;
pub(crate) mod resegmentation;
mod restart_after_idle;
pub(crate) mod rto;
pub(crate) mod sender;
pub(crate) mod snack;
mod syn_data;
pub(crate) mod timer;
mod undo;
mod window;
