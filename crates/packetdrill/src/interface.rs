//! packetdrill's table of functions.

use crate::calls::{files, open, options, poll, read, write};
use crate::host::Host;
use crate::host_state::owns;
use crate::syscall::SyscallResult;
use core::ffi::{c_char, c_int, c_long, c_longlong, c_uint, c_ulong, c_void};
use core::slice;
use libc::{epoll_event, iovec, loff_t, msghdr, nfds_t, pollfd, size_t, sockaddr, socklen_t, ssize_t, timeval};
use std::sync::OnceLock;

type User = *mut c_void;
type Address = *const sockaddr;

/// The structure that packetdrill passes to be filled in (`packetdrill.h`).
#[repr(C)]
struct Interface {
    userdata: User,
    free: extern "C" fn(User),
    socket: extern "C" fn(User, c_int, c_int, c_int) -> c_int,
    bind: unsafe extern "C" fn(User, c_int, Address, socklen_t) -> c_int,
    listen: extern "C" fn(User, c_int, c_int) -> c_int,
    accept: unsafe extern "C" fn(User, c_int, *mut sockaddr, *mut socklen_t) -> c_int,
    connect: unsafe extern "C" fn(User, c_int, Address, socklen_t) -> c_int,
    read: unsafe extern "C" fn(User, c_int, *mut c_void, size_t) -> ssize_t,
    readv: unsafe extern "C" fn(User, c_int, *const iovec, c_int) -> ssize_t,
    recv: unsafe extern "C" fn(User, c_int, *mut c_void, size_t, c_int) -> ssize_t,
    recvfrom: unsafe extern "C" fn(User, c_int, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t,
    recvmsg: unsafe extern "C" fn(User, c_int, *mut msghdr, c_int) -> ssize_t,
    write: unsafe extern "C" fn(User, c_int, *const c_void, size_t) -> ssize_t,
    writev: unsafe extern "C" fn(User, c_int, *const iovec, c_int) -> ssize_t,
    send: unsafe extern "C" fn(User, c_int, *const c_void, size_t, c_int) -> ssize_t,
    sendto: unsafe extern "C" fn(User, c_int, *const c_void, size_t, c_int, Address, socklen_t) -> ssize_t,
    sendmsg: unsafe extern "C" fn(User, c_int, *const msghdr, c_int) -> ssize_t,
    /// Variadic in C: the third argument may be missing.
    fcntl: extern "C" fn(User, c_int, c_int, c_long) -> c_int,
    /// Variadic in C.
    ioctl: unsafe extern "C" fn(User, c_int, c_ulong, *mut c_int) -> c_int,
    close: extern "C" fn(User, c_int) -> c_int,
    shutdown: extern "C" fn(User, c_int, c_int) -> c_int,
    getsockopt: unsafe extern "C" fn(User, c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int,
    setsockopt: unsafe extern "C" fn(User, c_int, c_int, c_int, *const c_void, socklen_t) -> c_int,
    poll: unsafe extern "C" fn(User, *mut pollfd, nfds_t, c_int) -> c_int,
    netdev_send: unsafe extern "C" fn(User, *const c_void, size_t) -> c_int,
    netdev_receive: unsafe extern "C" fn(User, *mut c_void, *mut size_t, *mut c_longlong) -> c_int,
    usleep: extern "C" fn(User, c_uint) -> c_int,
    gettimeofday: unsafe extern "C" fn(User, *mut timeval, *mut c_void) -> c_int,
    epoll_create: extern "C" fn(User, c_int) -> c_int,
    epoll_ctl: unsafe extern "C" fn(User, c_int, c_int, c_int, *mut epoll_event) -> c_int,
    epoll_wait: unsafe extern "C" fn(User, c_int, *mut epoll_event, c_int, c_int) -> c_int,
    pipe: unsafe extern "C" fn(User, *mut c_int) -> c_int,
    splice: unsafe extern "C" fn(User, c_int, *mut loff_t, c_int, *mut loff_t, size_t, c_uint) -> ssize_t,
}

static HOST: OnceLock<Host> = OnceLock::new();

/// Returns the host. `None` in programs that only inherit the preloaded library, such as `tc`.
pub(crate) fn host() -> Option<&'static Host> {
    HOST.get()
}

/// Fills in packetdrill's table of functions. `flags` are the local addresses, separated by commas.
///
/// # Safety
///
/// `flags` must be null or a C string, `interface` must point to packetdrill's structure.
#[unsafe(no_mangle)]
unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, interface: *mut Interface) {
    // SAFETY: `flags` is not null, and a C string as the caller promises.
    let flags = if flags.is_null() { c"" } else { unsafe { core::ffi::CStr::from_ptr(flags) } };
    // packetdrill calls this once per script, in a new process.
    HOST.get_or_init(|| Host::new(&flags.to_string_lossy()));
    // SAFETY: the caller passes packetdrill's structure.
    unsafe { interface.write(TABLE) };
}

const TABLE: Interface = Interface {
    userdata: core::ptr::null_mut(),
    free,
    socket,
    bind,
    listen,
    accept,
    connect,
    read,
    readv,
    recv,
    recvfrom,
    recvmsg,
    write,
    writev,
    send,
    sendto,
    sendmsg,
    fcntl,
    ioctl,
    close,
    shutdown,
    getsockopt,
    setsockopt,
    poll,
    netdev_send,
    netdev_receive,
    usleep,
    gettimeofday,
    epoll_create,
    epoll_ctl,
    epoll_wait,
    pipe,
    splice,
};

/// Runs a call and returns its result in C's convention, with the error in `errno`.
fn run<T: Into<i64>>(call: impl FnOnce(&Host) -> SyscallResult<T>) -> ssize_t {
    let Some(host) = host() else { return -1 };
    match call(host) {
        Ok(value) => value.into() as ssize_t,
        Err(error) => {
            // SAFETY: the C library returns a pointer to this thread's `errno`.
            unsafe { *libc::__errno_location() = error };
            -1
        }
    }
}

/// Returns the bytes of an address.
unsafe fn address<'a>(address: Address, length: socklen_t) -> &'a [u8] {
    // SAFETY: the caller passes an address of this length.
    if address.is_null() { &[] } else { unsafe { slice::from_raw_parts(address.cast(), length as usize) } }
}

/// Returns the parts of a scattered buffer.
unsafe fn iovecs<'a>(vector: *const iovec, count: usize) -> &'a [iovec] {
    // SAFETY: the caller passes so many parts.
    if vector.is_null() { &[] } else { unsafe { slice::from_raw_parts(vector, count) } }
}

extern "C" fn free(_: User) {}

extern "C" fn socket(_: User, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    run(|host| open::socket(host, domain, kind, protocol)) as c_int
}

unsafe extern "C" fn bind(_: User, fd: c_int, to: Address, length: socklen_t) -> c_int {
    // SAFETY: packetdrill passes a pointer with its length.
    let to = unsafe { address(to, length) };
    run(|host| open::bind(host, fd, to)) as c_int
}

extern "C" fn listen(_: User, fd: c_int, backlog: c_int) -> c_int {
    run(|host| open::listen(host, fd, backlog)) as c_int
}

unsafe extern "C" fn accept(_: User, fd: c_int, from: *mut sockaddr, length: *mut socklen_t) -> c_int {
    run(|host| {
        let (fd, peer) = open::accept(host, fd)?;
        // SAFETY: packetdrill passes null or room for an address and its length.
        unsafe { peer.store(from, length) };
        Ok(fd)
    }) as c_int
}

unsafe extern "C" fn connect(_: User, fd: c_int, to: Address, length: socklen_t) -> c_int {
    // SAFETY: packetdrill passes a pointer with its length.
    let to = unsafe { address(to, length) };
    run(|host| open::connect(host, fd, to)) as c_int
}

unsafe extern "C" fn read(_: User, fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t {
    let piece = [iovec { iov_base: buffer, iov_len: count }];
    run(|host| read::receive(host, fd, &piece, 0))
}

unsafe extern "C" fn readv(_: User, fd: c_int, vector: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: packetdrill passes the parts with their number.
    let vector = unsafe { iovecs(vector, count as usize) };
    run(|host| read::receive(host, fd, vector, 0))
}

unsafe extern "C" fn recv(_: User, fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int) -> ssize_t {
    let piece = [iovec { iov_base: buffer, iov_len: count }];
    run(|host| read::receive(host, fd, &piece, flags))
}

unsafe extern "C" fn recvfrom(
    user: User,
    fd: c_int,
    buffer: *mut c_void,
    count: size_t,
    flags: c_int,
    _: *mut sockaddr,
    _: *mut socklen_t,
) -> ssize_t {
    // SAFETY: the arguments are those of `recv`.
    unsafe { recv(user, fd, buffer, count, flags) }
}

unsafe extern "C" fn recvmsg(_: User, fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: packetdrill passes a message that nothing else refers to.
    run(|host| read::receive_message(host, fd, unsafe { &mut *message }, flags))
}

unsafe extern "C" fn write(user: User, fd: c_int, buffer: *const c_void, count: size_t) -> ssize_t {
    // SAFETY: the arguments are those of `send`.
    unsafe { send(user, fd, buffer, count, 0) }
}

unsafe extern "C" fn writev(_: User, fd: c_int, vector: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: packetdrill passes the parts with their number.
    let vector = unsafe { iovecs(vector, count as usize) };
    run(|host| write::send(host, fd, vector, 0, &[]))
}

unsafe extern "C" fn send(_: User, fd: c_int, buffer: *const c_void, count: size_t, flags: c_int) -> ssize_t {
    let piece = [iovec { iov_base: buffer.cast_mut(), iov_len: count }];
    run(|host| write::send(host, fd, &piece, flags, &[]))
}

unsafe extern "C" fn sendto(
    _: User,
    fd: c_int,
    buffer: *const c_void,
    count: size_t,
    flags: c_int,
    to: Address,
    length: socklen_t,
) -> ssize_t {
    let piece = [iovec { iov_base: buffer.cast_mut(), iov_len: count }];
    // SAFETY: packetdrill passes a pointer with its length.
    let to = unsafe { address(to, length) };
    run(|host| write::send(host, fd, &piece, flags, to))
}

unsafe extern "C" fn sendmsg(_: User, fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: packetdrill passes a message.
    let message = unsafe { &*message };
    // SAFETY: packetdrill passes the parts with their number.
    let vector = unsafe { iovecs(message.msg_iov, message.msg_iovlen) };
    // SAFETY: packetdrill passes a pointer with its length.
    let to = unsafe { address(message.msg_name.cast(), message.msg_namelen) };
    run(|host| write::send(host, fd, vector, flags, to))
}

extern "C" fn fcntl(_: User, fd: c_int, command: c_int, argument: c_long) -> c_int {
    run(|host| files::fcntl(host, fd, command, argument)) as c_int
}

unsafe extern "C" fn ioctl(_: User, fd: c_int, request: c_ulong, value: *mut c_int) -> c_int {
    run(|host| {
        let answer = files::ioctl(host, fd, request)?;
        // SAFETY: packetdrill passes room for an integer.
        unsafe { value.write(answer) };
        Ok(0)
    }) as c_int
}

extern "C" fn close(_: User, fd: c_int) -> c_int {
    run(|host| files::close(host, fd)) as c_int
}

extern "C" fn shutdown(_: User, fd: c_int, how: c_int) -> c_int {
    run(|host| files::shutdown(host, fd, how)) as c_int
}

pub(crate) unsafe extern "C" fn getsockopt(
    _: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    run(|host| {
        let answer = options::get(host, fd, level, name)?;
        // SAFETY: packetdrill passes the length of the room for the value.
        let count = answer.len().min(unsafe { *length } as usize);
        // SAFETY: packetdrill passes room for as many bytes as are copied, and for the numbers.
        unsafe {
            core::ptr::copy_nonoverlapping(answer.as_ptr(), value.cast(), count);
            *length = count as socklen_t;
        }
        Ok(0)
    }) as c_int
}

unsafe extern "C" fn setsockopt(
    _: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    // SAFETY: packetdrill passes a pointer with its length.
    let value = unsafe { address(value.cast(), length) };
    run(|host| options::set(host, fd, level, name, value)) as c_int
}

unsafe extern "C" fn poll(_: User, entries: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: packetdrill passes so many entries that nothing else refers to.
    let entries = unsafe { slice::from_raw_parts_mut(entries, count as usize) };
    run(|host| poll::poll(host, entries, timeout)) as c_int
}

unsafe extern "C" fn netdev_send(_: User, bytes: *const c_void, count: size_t) -> c_int {
    // SAFETY: packetdrill passes a packet of this length.
    let packet = unsafe { slice::from_raw_parts(bytes.cast(), count) };
    run(|host| {
        host.inject(packet);
        Ok(0)
    }) as c_int
}

/// A length of 0 means "no packet": any result other than 0 makes packetdrill retry for ever.
unsafe extern "C" fn netdev_receive(_: User, into: *mut c_void, count: *mut size_t, at: *mut c_longlong) -> c_int {
    run(|host| {
        let (time, packet) = host.next_packet().unwrap_or_default();
        // SAFETY: packetdrill passes the room for a packet.
        let length = packet.len().min(unsafe { *count });
        // SAFETY: packetdrill passes room for as many bytes as are copied, and for the numbers.
        unsafe {
            core::ptr::copy_nonoverlapping(packet.as_ptr(), into.cast(), length);
            *count = length;
            *at = time as c_longlong;
        }
        Ok(0)
    }) as c_int
}

extern "C" fn usleep(_: User, micros: c_uint) -> c_int {
    run(|host| {
        host.sleep(u64::from(micros));
        Ok(0)
    }) as c_int
}

unsafe extern "C" fn gettimeofday(_: User, time: *mut timeval, _: *mut c_void) -> c_int {
    run(|host| {
        let micros = host.read_clock();
        let (seconds, rest) = ((micros / 1_000_000) as i64, (micros % 1_000_000) as i64);
        // SAFETY: packetdrill passes room for a time.
        unsafe { time.write(timeval { tv_sec: seconds, tv_usec: rest }) };
        Ok(0)
    }) as c_int
}

extern "C" fn epoll_create(_: User, _: c_int) -> c_int {
    run(poll::epoll_create) as c_int
}

unsafe extern "C" fn epoll_ctl(_: User, epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
    // SAFETY: packetdrill passes null or an event.
    let event = unsafe { event.as_ref() }.copied();
    run(|host| poll::epoll_ctl(host, epoll, operation, fd, event)) as c_int
}

unsafe extern "C" fn epoll_wait(
    _: User,
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout: c_int,
) -> c_int {
    run(|host| {
        let found = poll::epoll_wait(host, epoll, count as usize, timeout)?;
        for (index, event) in found.iter().enumerate() {
            // SAFETY: packetdrill passes room for as many events as are waited for at most.
            unsafe { events.add(index).write(*event) };
        }
        Ok(found.len() as c_int)
    }) as c_int
}

unsafe extern "C" fn pipe(_: User, ends: *mut c_int) -> c_int {
    // SAFETY: packetdrill passes room for two descriptors.
    unsafe { libc::pipe(ends) }
}

unsafe extern "C" fn splice(
    _: User,
    from: c_int,
    from_offset: *mut loff_t,
    to: c_int,
    to_offset: *mut loff_t,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    if !owns(from) {
        // SAFETY: the arguments are those of the system call.
        return unsafe { libc::splice(from, from_offset, to, to_offset, count, flags) };
    }
    run(|host| files::splice_out(host, from, to, count))
}
