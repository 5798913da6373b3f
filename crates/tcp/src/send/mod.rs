//! The sending half: what is outstanding, and the timer that watches over it.

pub(crate) mod board;
pub(crate) mod delivery;
pub(crate) mod frames;
mod giving_up;
pub(crate) mod notices;
pub(crate) mod pacer;
mod path;
pub(crate) mod sender;
pub(crate) mod timer;
mod undo;
