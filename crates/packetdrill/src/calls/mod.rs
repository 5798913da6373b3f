//! The calls on sockets, by family.

pub(crate) mod files;
pub(crate) mod open;
pub(crate) mod options;
pub(crate) mod poll;
pub(crate) mod read;
pub(crate) mod write;

/// What a call gives: a value, or an error code.
pub(crate) type Answer<T> = Result<T, i32>;
