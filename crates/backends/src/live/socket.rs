//! Calls on UDP sockets that no crate offers: `socket(7)`, `linux/sock_diag.h`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Numbers that `SO_MEMINFO` gives, and which of them is that of packets dropped (`SK_MEMINFO_VARS`, `SK_MEMINFO_DROPS`).
const NUMBERS: usize = 9;
const DROPS: usize = 8;

/// Returns the number of packets that a full socket buffer dropped.
pub(super) fn dropped(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut numbers = [0_u32; NUMBERS];
    let mut size = size_of_val(&numbers) as libc::socklen_t;
    let place = numbers.as_mut_ptr().cast();
    // SAFETY: the kernel writes `size` bytes at max, and any bytes are numbers.
    let code =
        unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, place, &raw mut size) };
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(numbers[DROPS]) }
}
