//! The sending half: what is written and outstanding, what an ACK of it means, and the timer that watches over it.

pub(crate) mod ack;
mod delivery;
pub(crate) mod expiry;
mod falling;
mod frames;
mod giving_up;
mod holding;
mod idle;
pub(crate) mod limited;
pub(crate) mod mark_count;
pub(crate) mod marks;
pub(crate) mod notices;
mod opening;
pub(crate) mod pacer;
mod path;
pub(crate) mod persist;
pub(crate) mod pieces;
mod queue;
pub(crate) mod sender;
pub(crate) mod timer;
mod undo;
mod usage;
mod window;
