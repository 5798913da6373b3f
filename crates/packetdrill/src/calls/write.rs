//! Writing.

use super::{Answer, open};
use crate::clock::{Host, Step};
use crate::send_queue::largest_chunk;
use crate::socket::{Role, Socket};
use crate::world::World;
use core::ffi::c_int;
use libc::iovec;

/// Sends; `to` is the peer's address, where the call names one.
pub(crate) fn send(host: &Host, fd: c_int, vector: &[iovec], flags: c_int, to: &[u8]) -> Answer<i64> {
    let wanted: u64 = vector.iter().map(|piece| piece.iov_len as u64).sum();
    let mut sent = 0;
    host.call(|world| check(world.socket(fd)?, vector, flags, to))?;
    let result = host.wait(|world| match attempt(world, fd, wanted, &mut sent, flags) {
        Err(libc::EAGAIN) if is_patient(world, fd, flags) => Step::Block(None),
        answer => Step::Done(answer),
    });
    match result {
        Err(_) if sent > 0 => Ok(sent as i64),
        Err(error) => Err(error),
        Ok(()) => Ok(sent as i64),
    }
}

fn is_patient(world: &mut World, fd: c_int, flags: c_int) -> bool {
    flags & libc::MSG_DONTWAIT == 0 && world.socket(fd).is_ok_and(|socket| !socket.settings.is_nonblocking)
}

/// Refuses what cannot be sent at all.
fn check(socket: &mut Socket, vector: &[iovec], flags: c_int, to: &[u8]) -> Answer<()> {
    if flags & libc::MSG_FASTOPEN != 0 && open::is_unspecified(to) {
        return Err(libc::EOPNOTSUPP);
    }
    if let Some(flow) = socket.flow()
        && (flow.shut_write || flow.is_closed())
    {
        socket.take_error()?;
        return Err(libc::EPIPE);
    }
    if vector.iter().any(|piece| piece.iov_len > 0 && piece.iov_base.is_null()) {
        return Err(libc::EFAULT);
    }
    Ok(())
}

/// Queues as much as memory allows, in chunks, with pushes where Linux has them (`tcp_sendmsg_locked`). `EAGAIN` if not all of
/// it found room.
fn attempt(world: &mut World, fd: c_int, wanted: u64, sent: &mut u64, flags: c_int) -> Answer<()> {
    let id = world.id(fd)?;
    is_ready(world.socket(fd)?, *sent > 0)?;
    let before = *sent;
    while *sent < wanted {
        let socket = world.socket(fd)?;
        let has_memory = socket.has_memory();
        let Role::Flow(flow) = &mut socket.role else { return Err(libc::EPIPE) };
        let largest = largest_chunk(flow.mss(), flow.largest_window);
        let mut room = flow.queue.room_in_last(largest);
        if room == 0 {
            if !has_memory {
                break;
            }
            flow.queue.begin();
            room = largest;
        }
        let bytes = room.min(wanted - *sent);
        flow.queue.extend(bytes);
        flow.connection.write(bytes).map_err(|_| libc::EPIPE)?;
        *sent += bytes;
        if *sent < wanted && bytes == room {
            if flow.queue.is_push_due(flow.largest_window) {
                flow.queue.push();
            }
            world.transmit_from(id);
        }
    }
    finish(world.socket(fd)?, *sent - before, *sent == wanted, flags)?;
    world.transmit_from(id);
    Ok(())
}

/// Says whether something can be written now.
fn is_ready(socket: &mut Socket, has_begun: bool) -> Answer<()> {
    let Some(flow) = socket.flow() else { return Err(libc::EPIPE) };
    if flow.shut_write || flow.is_closed() {
        socket.take_error()?;
        return Err(libc::EPIPE);
    }
    if !flow.is_connected() || (has_begun && !socket.is_writable()) { Err(libc::EAGAIN) } else { Ok(()) }
}

/// Ends an attempt: the last chunk is pushed, its record ended, its completion noted.
fn finish(socket: &mut Socket, bytes: u64, is_all: bool, flags: c_int) -> Answer<()> {
    let (is_zero_copy, stamping) =
        (flags & libc::MSG_ZEROCOPY != 0 && socket.settings.zero_copy, socket.settings.stamping);
    let stamping_from = socket.settings.stamping_from;
    let Role::Flow(flow) = &mut socket.role else { return Err(libc::EPIPE) };
    if bytes > 0 {
        if flags & libc::MSG_MORE == 0 || !is_all {
            flow.queue.push();
        }
        if is_all && flags & libc::MSG_EOR != 0 {
            flow.queue.end_record();
        }
        let end = flow.queue.written();
        if stamping != 0 {
            socket.notifications.on_stamped_write(end, (end - stamping_from - 1) as u32);
        }
        if is_zero_copy {
            socket.notifications.on_zero_copy(end);
        }
    }
    if is_all {
        return Ok(());
    }
    socket.wants_room = true;
    Err(libc::EAGAIN)
}
