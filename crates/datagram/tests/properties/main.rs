//! Conversations over lines that lose, delay and double what they carry.

mod garbage;
mod line;
mod repairs;
mod storms;
