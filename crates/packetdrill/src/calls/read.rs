//! Reading.

use super::Answer;
use crate::clock::{Host, Step};
use crate::socket::{Role, Socket};
use core::ffi::c_int;
use libc::{iovec, msghdr};

pub(crate) fn receive(host: &Host, fd: c_int, vector: &[iovec], flags: c_int) -> Answer<i64> {
    let wanted: u64 = vector.iter().map(|piece| piece.iov_len as u64).sum();
    let read = host.wait(|world| {
        let is_patient = flags & libc::MSG_DONTWAIT == 0;
        match world.socket(fd).and_then(|socket| take(socket, vector, wanted)) {
            Err(libc::EAGAIN) if is_patient && world.socket(fd).is_ok_and(|socket| !socket.settings.is_nonblocking) => {
                Step::Block(None)
            }
            answer => Step::Done(answer),
        }
    })?;
    fill(vector, read);
    Ok(read as i64)
}

/// Takes what can be read; `EAGAIN` if nothing is there yet.
fn take(socket: &mut Socket, vector: &[iovec], wanted: u64) -> Answer<u64> {
    let is_at_end = match &mut socket.role {
        Role::Flow(flow) => {
            flow.pass_urgent();
            let there = flow.readable().min(wanted);
            if there > 0 && vector.iter().any(|piece| piece.iov_len > 0 && piece.iov_base.is_null()) {
                return Err(libc::EFAULT);
            }
            if there > 0 {
                return Ok(flow.connection.read(there));
            }
            flow.is_at_end()
        }
        Role::Deferred(_) => false,
        Role::Dead => true,
        Role::Fresh | Role::Listener(_) => return Err(libc::ENOTCONN),
    };
    socket.take_error()?;
    if is_at_end { Ok(0) } else { Err(libc::EAGAIN) }
}

/// What is sent in scripts is zeros.
fn fill(vector: &[iovec], mut bytes: u64) {
    for piece in vector {
        let count = bytes.min(piece.iov_len as u64) as usize;
        if count > 0 {
            unsafe { core::ptr::write_bytes(piece.iov_base.cast::<u8>(), 0, count) };
        }
        bytes -= count as u64;
    }
}

pub(crate) fn receive_message(host: &Host, fd: c_int, message: &mut msghdr, flags: c_int) -> Answer<i64> {
    if flags & libc::MSG_ERRQUEUE != 0 {
        return receive_notification(host, fd, message);
    }
    let vector = unsafe { core::slice::from_raw_parts(message.msg_iov, message.msg_iovlen) };
    let read = receive(host, fd, vector, flags)?;
    message.msg_flags = 0;
    let queued = host.call(|world| {
        let socket = world.socket(fd)?;
        Ok(socket.settings.tells_queued.then(|| queued(socket)))
    })?;
    let control = queued.map(|queued| (libc::SOL_TCP, libc::TCP_CM_INQ, (queued as i32).to_ne_bytes().to_vec()));
    store_control(message, control.as_slice());
    Ok(read)
}

/// Returns the bytes that wait to be read; the end of the stream counts as one (`tcp_inq_hint`).
fn queued(socket: &Socket) -> u64 {
    let Some(flow) = socket.flow() else { return 0 };
    match flow.connection.unread() {
        0 => u64::from(flow.has_peer_closed),
        unread => unread,
    }
}

fn receive_notification(host: &Host, fd: c_int, message: &mut msghdr) -> Answer<i64> {
    let (notification, address) = host.call(|world| {
        let socket = world.socket(fd)?;
        let notification = socket.notifications.take().ok_or(libc::EAGAIN)?;
        Ok((notification, socket.local.ip()))
    })?;
    message.msg_flags = libc::MSG_ERRQUEUE | if notification.is_truncated() { libc::MSG_TRUNC } else { 0 };
    store_control(message, &notification.messages(address));
    Ok(0)
}

/// Lays out control messages.
fn store_control(message: &mut msghdr, messages: &[(i32, i32, Vec<u8>)]) {
    let mut used = 0;
    for (level, kind, data) in messages {
        let space = unsafe { libc::CMSG_SPACE(data.len() as u32) } as usize;
        if message.msg_control.is_null() || used + space > message.msg_controllen {
            break;
        }
        let length = unsafe { libc::CMSG_LEN(data.len() as u32) } as usize;
        let header = [&length.to_ne_bytes()[..], &level.to_ne_bytes(), &kind.to_ne_bytes()].concat();
        unsafe {
            let at = message.msg_control.cast::<u8>().add(used);
            core::ptr::copy_nonoverlapping(header.as_ptr(), at, header.len());
            core::ptr::copy_nonoverlapping(data.as_ptr(), at.add(header.len()), data.len());
        }
        used += space;
    }
    message.msg_controllen = used;
}
