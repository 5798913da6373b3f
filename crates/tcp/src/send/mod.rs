//! The sending half: what is outstanding, and the timer that watches over it.

pub(crate) mod board;
pub(crate) mod pacer;
pub(crate) mod sender;
pub(crate) mod timer;
