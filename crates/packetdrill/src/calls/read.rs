//! Reading.

use crate::host::Host;
use crate::socket::{Role, Socket};
use crate::syscall::Attempt;
use crate::syscall::SyscallResult;
use core::ffi::c_int;
use libc::{iovec, msghdr};

pub(crate) fn receive(host: &Host, fd: c_int, vector: &[iovec], flags: c_int) -> SyscallResult<i64> {
    let wanted: u64 = vector.iter().map(|piece| piece.iov_len as u64).sum();
    let read = host.wait(|state| {
        let is_blocking = flags & libc::MSG_DONTWAIT == 0;
        match state.socket(fd).and_then(|socket| take(socket, vector, wanted)) {
            Err(libc::EAGAIN)
                if is_blocking && state.socket(fd).is_ok_and(|socket| !socket.settings.is_nonblocking) =>
            {
                Attempt::Block(None)
            }
            answer => Attempt::Done(answer),
        }
    })?;
    fill(vector, read);
    Ok(read as i64)
}

/// Reads available bytes; `EAGAIN` if there are none.
fn take(socket: &mut Socket, vector: &[iovec], wanted: u64) -> SyscallResult<u64> {
    let is_at_end = match &mut socket.role {
        Role::Connected(sock) => {
            // Without SO_OOBINLINE the urgent byte is not part of the stream.
            sock.skip_urgent();
            let there = sock.readable().min(wanted);
            // The kernel faults only if there is something to copy.
            if there > 0 && vector.iter().any(|piece| piece.iov_len > 0 && piece.iov_base.is_null()) {
                return Err(libc::EFAULT);
            }
            if there > 0 {
                return Ok(sock.connection.read(there));
            }
            sock.is_at_end()
        }
        Role::Deferred(_) => false,
        Role::Closed => true,
        Role::New | Role::Listener(_) => return Err(libc::ENOTCONN),
    };
    socket.take_error()?;
    if is_at_end { Ok(0) } else { Err(libc::EAGAIN) }
}

/// The payload in scripts consists of zeros.
fn fill(vector: &[iovec], mut bytes: u64) {
    for piece in vector {
        let count = bytes.min(piece.iov_len as u64) as usize;
        if count > 0 {
            // SAFETY: `count` is at most the length of the piece, which the script's call gives to be written to.
            unsafe { core::ptr::write_bytes(piece.iov_base.cast::<u8>(), 0, count) };
        }
        bytes -= count as u64;
    }
}

pub(crate) fn receive_message(host: &Host, fd: c_int, message: &mut msghdr, flags: c_int) -> SyscallResult<i64> {
    if flags & libc::MSG_ERRQUEUE != 0 {
        return receive_error(host, fd, message);
    }
    // SAFETY: the script's call gives the parts of the message and their number.
    let vector = unsafe { core::slice::from_raw_parts(message.msg_iov, message.msg_iovlen) };
    let read = receive(host, fd, vector, flags)?;
    message.msg_flags = 0;
    let queued = host.call(|state| {
        let socket = state.socket(fd)?;
        Ok(socket.settings.reports_inq.then(|| queued(socket)))
    })?;
    // TCP_INQ reports the bytes left after this read.
    let control = queued.map(|queued| (libc::SOL_TCP, libc::TCP_CM_INQ, (queued as i32).to_ne_bytes().to_vec()));
    store_control(message, control.as_slice());
    Ok(read)
}

/// Returns the number of unread bytes; the end of the stream counts as one (`tcp_inq_hint`).
fn queued(socket: &Socket) -> u64 {
    let Some(sock) = socket.tcp_sock() else { return 0 };
    match sock.connection.readable() {
        0 => u64::from(sock.has_peer_closed),
        unread => unread,
    }
}

fn receive_error(host: &Host, fd: c_int, message: &mut msghdr) -> SyscallResult<i64> {
    let (entry, address) = host.call(|state| {
        let socket = state.socket(fd)?;
        let entry = socket.error_queue.take().ok_or(libc::EAGAIN)?;
        Ok((entry, socket.local.ip()))
    })?;
    message.msg_flags = libc::MSG_ERRQUEUE | if entry.is_truncated() { libc::MSG_TRUNC } else { 0 };
    store_control(message, &entry.messages(address));
    Ok(0)
}

/// Serialises control messages.
fn store_control(message: &mut msghdr, messages: &[(i32, i32, Vec<u8>)]) {
    let mut used = 0;
    for (level, kind, data) in messages {
        // SAFETY: this only computes a length.
        let space = unsafe { libc::CMSG_SPACE(data.len() as u32) } as usize;
        if message.msg_control.is_null() || used + space > message.msg_controllen {
            break;
        }
        // SAFETY: this only computes a length.
        let length = unsafe { libc::CMSG_LEN(data.len() as u32) } as usize;
        let header = [&length.to_ne_bytes()[..], &level.to_ne_bytes(), &kind.to_ne_bytes()].concat();
        // SAFETY: `used + space` is at most the room for control messages, and header and data have at most `space` bytes.
        unsafe {
            let at = message.msg_control.cast::<u8>().add(used);
            core::ptr::copy_nonoverlapping(header.as_ptr(), at, header.len());
            core::ptr::copy_nonoverlapping(data.as_ptr(), at.add(header.len()), data.len());
        }
        used += space;
    }
    message.msg_controllen = used;
}
