//! What descriptors of any kind know: flags, closing, and moving bytes from one to another.

use super::Answer;
use super::read;
use crate::clock::Host;
use crate::feeding::End;
use crate::flow::Flow;
use crate::socket::{Role, Socket};
use crate::world::{Descriptor, Micros};
use core::ffi::{c_int, c_long, c_ulong};
use libc::iovec;

pub(crate) fn fcntl(host: &Host, fd: c_int, command: c_int, argument: c_long) -> Answer<c_int> {
    host.call(|world| {
        let settings = &mut world.socket(fd)?.settings;
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

pub(crate) fn ioctl(host: &Host, fd: c_int, request: c_ulong) -> Answer<c_int> {
    host.call(|world| {
        let flow = world.socket(fd)?.flow().ok_or(libc::EINVAL)?;
        match request & 0xFFFF {
            libc::FIONREAD => Ok(flow.connection.unread() as c_int),
            libc::TIOCOUTQ => Ok((flow.queue.written() - flow.queue.acknowledged()) as c_int),
            _ => Err(libc::EINVAL),
        }
    })
}

/// Closes a descriptor; its connection goes on to its end.
pub(crate) fn close(host: &Host, fd: c_int) -> Answer<c_int> {
    unsafe { libc::syscall(libc::SYS_close, fd) };
    host.call(|world| {
        let Some(Descriptor::Socket(id)) = world.remove_descriptor(fd) else { return Ok(0) };
        let now = world.now();
        let Some(socket) = world.sockets.get_mut(&id) else { return Ok(0) };
        socket.is_held = false;
        match &mut socket.role {
            Role::Listener(_) => world.end_listener(id),
            Role::Flow(_) => close_flow(socket, now),
            Role::Fresh | Role::Deferred(_) | Role::Dead => {}
        }
        Ok(0)
    })
}

/// Data that nobody will read is lost: the peer is told so with a reset (RFC 9293 §3.6, RFC 2525 §2.17).
fn close_flow(socket: &mut Socket, now: Micros) {
    let linger = socket.settings.linger;
    let Role::Flow(flow) = &mut socket.role else { return };
    if flow.connection.unread() > 0 || linger == Some(0) || !flow.is_connected() && !flow.is_passive {
        flow.connection.abort();
    } else {
        flow.shut_read = true;
        flow.shut_write = true;
        flow.end(End::Closed, now);
    }
}

pub(crate) fn shutdown(host: &Host, fd: c_int, how: c_int) -> Answer<c_int> {
    host.call(|world| {
        let now = world.now();
        let socket = world.socket(fd)?;
        socket.wakeups += 1;
        let Role::Flow(flow) = &mut socket.role else { return Err(libc::ENOTCONN) };
        flow.shut_read |= how != libc::SHUT_WR;
        if how != libc::SHUT_RD {
            flow.shut_write = true;
            flow.end(End::Shut, now);
        }
        Ok(0)
    })
}

/// Moves what was received into a pipe: nothing from the urgent byte on (`tcp_read_sock`).
pub(crate) fn splice_out(host: &Host, from: c_int, to: c_int, count: usize) -> Answer<i64> {
    let is_urgent = host.call(|world| Ok(world.socket(from)?.flow().is_some_and(Flow::is_at_urgent)))?;
    if is_urgent {
        return Ok(0);
    }
    let mut bytes = vec![0_u8; count];
    let piece = [iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: count }];
    let moved = read::receive(host, from, &piece, libc::MSG_DONTWAIT)?;
    unsafe { libc::write(to, bytes.as_ptr().cast(), moved as usize) };
    Ok(moved)
}
