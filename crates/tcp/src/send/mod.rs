//! The sending half of a connection: five parts with a state of their own, and the sender that composes them.
//!
//! | part | decides | state |
//! |---|---|---|
//! | [`buffer`] | how data are cut into segments | unsent data, scoreboard, the receiver's window |
//! | [`loss`] | what is lost, and what is sent again | recovery, timers, spurious-loss detection |
//! | [`rate`] | how much and how fast may be sent | congestion control, pacing, ECN |
//! | [`partial`] | which frames are abandoned | real-time policies, the peer's SNACKs |
//! | [`counters`] | none | counters |
//!
//! A part has no access to the others: it is passed what it needs. Only [`sender`] has access to all of them.

pub(crate) mod buffer;
pub(crate) mod counters;
pub(crate) mod loss;
pub(crate) mod partial;
pub(crate) mod rate;
pub(crate) mod sender;
