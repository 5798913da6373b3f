//! Writing.

use super::open;
use crate::fast_open;
use crate::host::Host;
use crate::host_state::HostState;
use crate::send_queue::largest_chunk;
use crate::socket::{Role, Socket};
use crate::syscall::Attempt;
use crate::syscall::SyscallResult;
use core::ffi::c_int;
use libc::iovec;

/// Writes data; `to` is the address of the peer, if the call has one.
pub(crate) fn send(host: &Host, fd: c_int, vector: &[iovec], flags: c_int, to: &[u8]) -> SyscallResult<i64> {
    let wanted: u64 = vector.iter().map(|piece| piece.iov_len as u64).sum();
    let (mut sent, mut with_opening) = (0, 0);
    host.call(|state| check(state.socket(fd)?, vector, flags, to))?;
    if let Some(started) = host.call(|state| start_fast(state, fd, flags, to, wanted))? {
        (sent, with_opening) = (started, started);
        let is_blocking = host.call(|state| Ok(is_blocking(state, fd, flags)))?;
        if is_blocking && wanted > sent {
            // The blocked writer will send data soon, which carries the ACK (`tcp_rcv_synsent_state_process`).
            host.call(|state| Ok(state.socket(fd)?.tcp_sock_mut().map(|sock| sock.connection.quick_ack(false))))?;
        }
        // A non-blocking Fast Open write returns what the SYN carried.
        if !is_blocking {
            return if sent > 0 { Ok(sent as i64) } else { Err(libc::EINPROGRESS) };
        }
    }
    let ends = host.call(|state| Ok(chunk_ends(state.socket(fd)?, vector, flags)))?;
    let result = host.wait(|state| match attempt(state, fd, &ends, &mut sent, flags) {
        Err(libc::EAGAIN) if is_blocking(state, fd, flags) => Attempt::Block(None),
        answer => Attempt::Done(answer),
    });
    match result {
        // Ok(sent as i64), => An error after a partial write is reported by the next call.
        Err(_) if sent > with_opening => Ok(sent as i64),
        Err(error) => Err(error),
        Ok(()) => Ok(sent as i64),
    }
}

fn is_blocking(state: &mut HostState, fd: c_int, flags: c_int) -> bool {
    flags & libc::MSG_DONTWAIT == 0 && state.socket(fd).is_ok_and(|socket| !socket.settings.is_nonblocking)
}

/// Opens a connection by Fast Open, if requested by the flag or deferred by `connect`. Returns how many bytes the SYN carried, if
/// one was sent.
fn start_fast(state: &mut HostState, fd: c_int, flags: c_int, to: &[u8], wanted: u64) -> SyscallResult<Option<u64>> {
    let is_fast = flags & libc::MSG_FASTOPEN != 0;
    if is_fast {
        fast_open::is_on_for_clients()?;
    }
    let remote = match &state.socket(fd)?.role {
        Role::Deferred(remote) => *remote,
        Role::New if is_fast => open::parse_address(to)?,
        Role::Connected(sock) if is_fast && !sock.is_connected() && !sock.is_closed() => return Err(libc::EALREADY),
        _ => return Ok(None),
    };
    let room = open::start(state, fd, remote, true)?;
    let bytes = room.min(wanted);
    let socket = state.socket(fd)?;
    if let Role::Connected(sock) = &mut socket.role
        && bytes > 0
    {
        sock.queue.begin_chunk();
        sock.queue.append(bytes);
        sock.queue.push();
        sock.feed();
    }
    if bytes > 0 {
        note_write(socket, flags);
    }
    Ok(Some(bytes))
}

/// Checks the arguments.
fn check(socket: &mut Socket, vector: &[iovec], flags: c_int, to: &[u8]) -> SyscallResult<()> {
    if flags & libc::MSG_FASTOPEN != 0 && open::is_unspecified(to) {
        return Err(libc::EOPNOTSUPP);
    }
    if let Some(sock) = socket.tcp_sock()
        && (sock.shut_write || sock.is_closed())
    {
        socket.take_error()?;
        return Err(libc::EPIPE);
    }
    if vector.iter().any(|piece| piece.iov_len > 0 && piece.iov_base.is_null()) {
        return Err(libc::EFAULT);
    }
    Ok(())
}

/// Queues data as memory allows, with pushes as in Linux (`tcp_sendmsg_locked`). Returns `EAGAIN` if not all of it was queued.
fn attempt(state: &mut HostState, fd: c_int, ends: &[u64], sent: &mut u64, flags: c_int) -> SyscallResult<()> {
    let wanted = ends.last().copied().unwrap_or(0);
    let id = state.id(fd)?;
    is_ready(state.socket(fd)?, *sent > 0)?;
    let before = *sent;
    while *sent < wanted {
        let socket = state.socket(fd)?;
        let has_memory = socket.has_memory();
        let Role::Connected(sock) = &mut socket.role else { return Err(libc::EPIPE) };
        let largest = largest_chunk(sock.mss(), sock.largest_window);
        let mut room = sock.queue.room_in_last(largest);
        if room == 0 {
            if !has_memory {
                break;
            }
            sock.queue.begin_chunk();
            room = largest;
        }
        let end = ends.iter().copied().find(|end| *end > *sent).unwrap_or(wanted);
        let bytes = room.min(end - *sent);
        sock.queue.append(bytes);
        *sent += bytes;
        if *sent == end && end < wanted {
            sock.queue.mark_full();
        }
        if *sent < wanted && bytes == room {
            if sock.queue.is_push_due(sock.largest_window) {
                sock.queue.push();
            }
            state.transmit_from(id);
        }
    }
    finish(state.socket(fd)?, *sent - before, *sent == wanted, flags)?;
    state.transmit_from(id);
    Ok(())
}

/// The largest number of fragments per chunk of a zero-copy send (`MAX_SKB_FRAGS`).
const MAX_SKB_FRAGS: usize = 17;

/// Returns the offsets at which chunks must end; the last is the end of the write.
fn chunk_ends(socket: &Socket, vector: &[iovec], flags: c_int) -> Vec<u64> {
    // Copied data is merged into pages, so that the number of parts does not matter.
    let is_zero_copy = flags & libc::MSG_ZEROCOPY != 0 && socket.settings.zero_copy;
    let most = if is_zero_copy { MAX_SKB_FRAGS } else { vector.len().max(1) };
    let sizes = vector.chunks(most).map(|iovecs| iovecs.iter().map(|piece| piece.iov_len as u64).sum::<u64>());
    sizes
        .scan(0, |end, size| {
            *end += size;
            Some(*end)
        })
        .collect()
}

/// Checks that data can be written now.
fn is_ready(socket: &mut Socket, has_begun: bool) -> SyscallResult<()> {
    let Some(sock) = socket.tcp_sock() else { return Err(libc::EPIPE) };
    if sock.shut_write || sock.is_closed() {
        socket.take_error()?;
        return Err(libc::EPIPE);
    }
    if !sock.is_connected() || (has_begun && !socket.is_writable()) { Err(libc::EAGAIN) } else { Ok(()) }
}

/// Completes an attempt: sets PSH, ends the record and registers notifications.
fn finish(socket: &mut Socket, bytes: u64, is_all: bool, flags: c_int) -> SyscallResult<()> {
    let Role::Connected(sock) = &mut socket.role else { return Err(libc::EPIPE) };
    if bytes > 0 {
        sock.feed.has_more = flags & libc::MSG_MORE != 0 && is_all;
        if !sock.feed.has_more {
            sock.queue.push();
        }
        if is_all && flags & libc::MSG_EOR != 0 {
            sock.queue.end_record();
        }
        note_write(socket, flags);
    }
    socket.needs_space = !is_all;
    if is_all { Ok(()) } else { Err(libc::EAGAIN) }
}

/// Registers the timestamps and completions of a write.
fn note_write(socket: &mut Socket, flags: c_int) {
    let end = socket.tcp_sock().map_or(0, |sock| sock.queue.written());
    let (settings, error_queue) = (&socket.settings, &mut socket.error_queue);
    if settings.timestamping != 0 {
        error_queue.on_stamped_write(end, (end - settings.timestamping_from - 1) as u32);
    }
    if flags & libc::MSG_ZEROCOPY != 0 && settings.zero_copy {
        error_queue.on_zero_copy(end);
    }
}
