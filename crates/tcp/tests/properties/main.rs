//! Invariants of every connection, whatever its policies and whatever the network does.
//!
//! Two connections talk over a link that loses, repeats and reorders what the case says. `PROPTEST_CASES=10000` makes
//! the search thorough.

mod bytes;
mod garbage;
mod link;
mod listener;
mod matrix;
mod pair;
mod real_time;
mod reset;
mod restraint;
mod sanity;
mod settings;
mod storm;
mod transfer;
