//! Calls on descriptors in general: flags, closing and splicing.

use super::read;
use crate::host::Host;
use crate::host_state::Descriptor;
use crate::socket::{Role, Socket};
use crate::syscall::SyscallResult;
use crate::tcp_sock::End;
use crate::tcp_sock::TcpSock;
use crate::time::Micros;
use core::ffi::{c_int, c_long, c_ulong};
use libc::iovec;

pub(crate) fn fcntl(host: &Host, fd: c_int, command: c_int, argument: c_long) -> SyscallResult<c_int> {
    host.call(|state| {
        let settings = &mut state.socket(fd)?.settings;
        match command {
            libc::F_GETFL => Ok(libc::O_RDWR | if settings.is_nonblocking { libc::O_NONBLOCK } else { 0 }),
            libc::F_SETFL => {
                settings.is_nonblocking = argument & c_long::from(libc::O_NONBLOCK) != 0;
                Ok(0)
            }
            _ => Err(libc::EINVAL),
        }
    })
}

pub(crate) fn ioctl(host: &Host, fd: c_int, request: c_ulong) -> SyscallResult<c_int> {
    host.call(|state| {
        let sock = state.socket(fd)?.tcp_sock().ok_or(libc::EINVAL)?;
        match request & 0xFFFF {
            libc::FIONREAD => Ok(sock.connection.readable() as c_int),
            libc::TIOCOUTQ => Ok((sock.queue.written() - sock.queue.acknowledged()) as c_int),
            _ => Err(libc::EINVAL),
        }
    })
}

/// Closes a descriptor. Its connection continues to its end.
pub(crate) fn close(host: &Host, fd: c_int) -> SyscallResult<c_int> {
    // SAFETY: the call takes no pointers.
    unsafe { libc::syscall(libc::SYS_close, fd) };
    host.call(|state| {
        let Some(Descriptor::Socket(id)) = state.remove_descriptor(fd) else { return Ok(0) };
        let now = state.now();
        let Some(socket) = state.sockets.get_mut(&id) else { return Ok(0) };
        socket.is_referenced = false;
        match &mut socket.role {
            Role::Listener(_) => state.end_listener(id),
            Role::Connected(_) => close_connection(socket, now),
            Role::New | Role::Deferred(_) | Role::Closed => {}
        }
        Ok(0)
    })
}

/// Unread data is lost, which the peer learns by a reset (RFC 9293 §3.6, RFC 2525 §2.17).
fn close_connection(socket: &mut Socket, now: Micros) {
    let linger = socket.settings.linger;
    let Role::Connected(sock) = &mut socket.role else { return };
    if sock.connection.readable() > 0 || linger == Some(0) || !sock.is_connected() && !sock.is_passive {
        sock.connection.abort();
    } else {
        sock.shut_read = true;
        sock.shut_write = true;
        sock.end(End::Closed, now);
    }
}

pub(crate) fn shutdown(host: &Host, fd: c_int, how: c_int) -> SyscallResult<c_int> {
    host.call(|state| {
        let now = state.now();
        let socket = state.socket(fd)?;
        // `tcp_shutdown` calls `sk_state_change`.
        socket.wakeups += 1;
        let Role::Connected(sock) = &mut socket.role else { return Err(libc::ENOTCONN) };
        sock.shut_read |= how != libc::SHUT_WR;
        if how != libc::SHUT_RD {
            sock.shut_write = true;
            sock.end(End::Shut, now);
        }
        Ok(0)
    })
}

/// Moves received data into a pipe, but not the urgent byte (`tcp_read_sock`).
pub(crate) fn splice_out(host: &Host, from: c_int, to: c_int, count: usize) -> SyscallResult<i64> {
    let is_urgent = host.call(|state| Ok(state.socket(from)?.tcp_sock().is_some_and(TcpSock::is_at_urgent)))?;
    if is_urgent {
        return Ok(0);
    }
    let mut bytes = vec![0_u8; count];
    let piece = [iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: count }];
    let moved = read::receive(host, from, &piece, libc::MSG_DONTWAIT)?;
    // SAFETY: `bytes` has at least as many bytes as were read into it.
    unsafe { libc::write(to, bytes.as_ptr().cast(), moved as usize) };
    Ok(moved)
}
