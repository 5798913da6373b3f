//! The system calls on sockets.

pub(crate) mod files;
pub(crate) mod open;
pub(crate) mod options;
pub(crate) mod poll;
pub(crate) mod read;
pub(crate) mod write;
