//! Results of system calls.

use crate::time::Micros;

/// The result of a system call: a value, or an error code of `errno`.
pub(crate) type SyscallResult<T> = Result<T, i32>;

/// The result of one attempt at a call that may block.
pub(crate) enum Attempt<T> {
    /// The call returns.
    Done(SyscallResult<T>),
    /// The call blocks: until something happens, or until this time.
    Block(Option<Micros>),
}
