//! Intercepted functions of the C library, for calls that bypass packetdrill's table.

use crate::calls::{files, write};
use crate::host_state::owns;
use crate::interface::{getsockopt as own_getsockopt, host};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::transmute;
use libc::{iovec, off_t, size_t, socklen_t, ssize_t};
use std::sync::OnceLock;

/// Returns the C library's function of this name.
fn real(name: &CStr) -> *mut c_void {
    // SAFETY: `name` ends with a zero.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// Code blocks between `%{` and `%}` read `tcp_info` with the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    type Function = unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int;
    static REAL: OnceLock<usize> = OnceLock::new();
    if owns(fd) {
        // SAFETY: the arguments are those of the C library's function.
        return unsafe { own_getsockopt(core::ptr::null_mut(), fd, level, name, value, length) };
    }
    // Cached as an integer: raw pointers are not Sync.
    let function = *REAL.get_or_init(|| real(c"getsockopt") as usize);
    // SAFETY: the symbol is the C library's function of this signature, and the arguments are the caller's.
    unsafe { transmute::<usize, Function>(function)(fd, level, name, value, length) }
}

/// packetdrill closes descriptors that a script left open with the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    if let Some(host) = host().filter(|_| owns(fd)) {
        return if files::close(host, fd).is_ok() { 0 } else { -1 };
    }
    // Not `libc::close`, which would call this function again.
    // SAFETY: the call takes no pointers.
    unsafe { libc::syscall(libc::SYS_close, fd) as c_int }
}

/// packetdrill calls the C library's `sendfile`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sendfile(to: c_int, from: c_int, offset: *mut off_t, count: size_t) -> ssize_t {
    type Function = unsafe extern "C" fn(c_int, c_int, *mut off_t, size_t) -> ssize_t;
    static REAL: OnceLock<usize> = OnceLock::new();
    if !owns(to) {
        let function = *REAL.get_or_init(|| real(c"sendfile") as usize);
        // SAFETY: the symbol is the C library's function of this signature, and the arguments are the caller's.
        return unsafe { transmute::<usize, Function>(function)(to, from, offset, count) };
    }
    // The contents do not matter, but the file's length does.
    let mut bytes = vec![0_u8; count];
    // SAFETY: the caller passes null or a pointer to an offset.
    let at = unsafe { offset.as_ref() }.copied().unwrap_or(0);
    // SAFETY: `bytes` has `count` bytes.
    let length = unsafe { libc::pread(from, bytes.as_mut_ptr().cast(), count, at) };
    let piece = [iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length.max(0) as usize }];
    let Some(host) = host() else { return -1 };
    write::send(host, to, &piece, 0, &[]).map_or(-1, |sent| {
        // SAFETY: the caller passes null or a pointer to an offset that nothing else refers to.
        if let Some(offset) = unsafe { offset.as_mut() } {
            *offset += sent;
        }
        sent as ssize_t
    })
}

/// Scripts change the kernel's caches and queues with commands; the copies in this library must follow.
#[unsafe(no_mangle)]
unsafe extern "C" fn system(command: *const c_char) -> c_int {
    type Function = unsafe extern "C" fn(*const c_char) -> c_int;
    static REAL: OnceLock<usize> = OnceLock::new();
    let function = *REAL.get_or_init(|| real(c"system") as usize);
    // SAFETY: the symbol is the C library's function of this signature, and the arguments are the caller's.
    let status = unsafe { transmute::<usize, Function>(function)(command) };
    if let Some(host) = host()
        && !command.is_null()
    {
        // SAFETY: `command` is not null, and ends with a zero as the C library's `system` demands.
        host.on_command(&unsafe { CStr::from_ptr(command) }.to_string_lossy());
    }
    status
}
