//! Writing.

use super::{Answer, open};
use crate::clock::{Host, Step};
use crate::fast_open;
use crate::send_queue::largest_chunk;
use crate::socket::{Role, Socket};
use crate::world::World;
use core::ffi::c_int;
use libc::iovec;

/// Sends; `to` is the peer's address, where the call names one.
pub(crate) fn send(host: &Host, fd: c_int, vector: &[iovec], flags: c_int, to: &[u8]) -> Answer<i64> {
    let wanted: u64 = vector.iter().map(|piece| piece.iov_len as u64).sum();
    let (mut sent, mut with_opening) = (0, 0);
    host.call(|world| check(world.socket(fd)?, vector, flags, to))?;
    if let Some(started) = host.call(|world| start_fast(world, fd, flags, to, wanted))? {
        (sent, with_opening) = (started, started);
        let is_patient = host.call(|world| Ok(is_patient(world, fd, flags)))?;
        if is_patient && wanted > sent {
            // Whoever waits to write will answer soon: ACKs go with that (`tcp_rcv_synsent_state_process`).
            host.call(|world| Ok(world.socket(fd)?.flow_mut().map(|flow| flow.connection.quick_ack(false))))?;
        }
        if !is_patient {
            return if sent > 0 { Ok(sent as i64) } else { Err(libc::EINPROGRESS) };
        }
    }
    let ends = host.call(|world| Ok(chunk_ends(world.socket(fd)?, vector, flags)))?;
    let result = host.wait(|world| match attempt(world, fd, &ends, &mut sent, flags) {
        Err(libc::EAGAIN) if is_patient(world, fd, flags) => Step::Block(None),
        answer => Step::Done(answer),
    });
    match result {
        Err(_) if sent > with_opening => Ok(sent as i64),
        Err(error) => Err(error),
        Ok(()) => Ok(sent as i64),
    }
}

fn is_patient(world: &mut World, fd: c_int, flags: c_int) -> bool {
    flags & libc::MSG_DONTWAIT == 0 && world.socket(fd).is_ok_and(|socket| !socket.settings.is_nonblocking)
}

/// Opens a connection with the first bytes, where the call says so or `connect` has waited for them. Gives how many left with
/// the SYN, if it has left now.
fn start_fast(world: &mut World, fd: c_int, flags: c_int, to: &[u8], wanted: u64) -> Answer<Option<u64>> {
    let is_fast = flags & libc::MSG_FASTOPEN != 0;
    if is_fast {
        fast_open::is_on_for_clients()?;
    }
    let remote = match &world.socket(fd)?.role {
        Role::Deferred(remote) => *remote,
        Role::Fresh if is_fast => open::parse_address(to)?,
        Role::Flow(flow) if is_fast && !flow.is_connected() && !flow.is_closed() => return Err(libc::EALREADY),
        _ => return Ok(None),
    };
    let room = open::start(world, fd, remote, true)?;
    let bytes = room.min(wanted);
    let socket = world.socket(fd)?;
    if let Role::Flow(flow) = &mut socket.role
        && bytes > 0
    {
        flow.queue.begin();
        flow.queue.extend(bytes);
        flow.queue.push();
        flow.feed();
    }
    if bytes > 0 {
        note_write(socket, flags);
    }
    Ok(Some(bytes))
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
fn attempt(world: &mut World, fd: c_int, ends: &[u64], sent: &mut u64, flags: c_int) -> Answer<()> {
    let wanted = ends.last().copied().unwrap_or(0);
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
        let end = ends.iter().copied().find(|end| *end > *sent).unwrap_or(wanted);
        let bytes = room.min(end - *sent);
        flow.queue.extend(bytes);
        *sent += bytes;
        if *sent == end && end < wanted {
            flow.queue.fill();
        }
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

/// What is sent without copy takes no more than so many pieces into a chunk (`MAX_SKB_FRAGS`).
const MOST_PIECES: usize = 17;

/// Returns where chunks must end at the latest, the last one with the write.
fn chunk_ends(socket: &Socket, vector: &[iovec], flags: c_int) -> Vec<u64> {
    let is_zero_copy = flags & libc::MSG_ZEROCOPY != 0 && socket.settings.zero_copy;
    let most = if is_zero_copy { MOST_PIECES } else { vector.len().max(1) };
    let sizes = vector.chunks(most).map(|pieces| pieces.iter().map(|piece| piece.iov_len as u64).sum::<u64>());
    sizes
        .scan(0, |end, size| {
            *end += size;
            Some(*end)
        })
        .collect()
}

/// Returns whether something can be written now.
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
    let Role::Flow(flow) = &mut socket.role else { return Err(libc::EPIPE) };
    if bytes > 0 {
        flow.feeding.has_more = flags & libc::MSG_MORE != 0 && is_all;
        if !flow.feeding.has_more {
            flow.queue.push();
        }
        if is_all && flags & libc::MSG_EOR != 0 {
            flow.queue.end_record();
        }
        note_write(socket, flags);
    }
    socket.wants_room = !is_all;
    if is_all { Ok(()) } else { Err(libc::EAGAIN) }
}

/// Notes what is to be told of a write later.
fn note_write(socket: &mut Socket, flags: c_int) {
    let end = socket.flow().map_or(0, |flow| flow.queue.written());
    let (settings, notifications) = (&socket.settings, &mut socket.notifications);
    if settings.stamping != 0 {
        notifications.on_stamped_write(end, (end - settings.stamping_from - 1) as u32);
    }
    if flags & libc::MSG_ZEROCOPY != 0 && settings.zero_copy {
        notifications.on_zero_copy(end);
    }
}
