//! Waiting for several descriptors.

use crate::epoll::{Epoll, Interest};
use crate::host::Host;
use crate::host_state::{Descriptor, HostState};
use crate::syscall::Attempt;
use crate::syscall::SyscallResult;
use crate::time::Micros;
use core::ffi::c_int;
use libc::{epoll_event, pollfd};

/// Returns when a wait of `timeout` milliseconds ends; `None` for a negative timeout.
fn deadline(state: &HostState, timeout: c_int) -> Option<Micros> {
    u64::try_from(timeout).ok().map(|millis| state.now() + millis * 1000)
}

/// Waits until `poll_once` finds an event or the time is over. Returns its last result.
fn wait_for<T>(
    host: &Host,
    timeout: c_int,
    mut poll_once: impl FnMut(&mut HostState) -> SyscallResult<(bool, T)>,
) -> SyscallResult<T> {
    let mut until = None;
    host.wait(|state| {
        // Fixed at the first attempt: later attempts must not extend the wait.
        let until = *until.get_or_insert_with(|| deadline(state, timeout));
        match poll_once(state) {
            Err(error) => Attempt::Done(Err(error)),
            Ok((false, _)) if until.is_none_or(|until| state.now() < until) => Attempt::Block(until),
            Ok((_, found)) => Attempt::Done(Ok(found)),
        }
    })
}

pub(crate) fn poll(host: &Host, entries: &mut [pollfd], timeout: c_int) -> SyscallResult<c_int> {
    wait_for(host, timeout, |state| {
        let mut count = 0;
        for entry in entries.iter_mut() {
            let wanted = entry.events | libc::POLLERR | libc::POLLHUP;
            entry.revents = state.socket(entry.fd).map_or(libc::POLLNVAL, |socket| socket.poll_mask() & wanted);
            count += c_int::from(entry.revents != 0);
        }
        Ok((count > 0, count))
    })
}

pub(crate) fn epoll_create(host: &Host) -> SyscallResult<c_int> {
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::epoll_create1(0) };
    host.call(|state| {
        state.add_descriptor(fd, Descriptor::Epoll(Epoll::default()));
        Ok(fd)
    })
}

pub(crate) fn epoll_ctl(
    host: &Host,
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: Option<epoll_event>,
) -> SyscallResult<c_int> {
    host.call(|state| {
        state.socket(fd)?;
        let Epoll(interests) = state.epoll(epoll)?;
        let is_known = interests.contains_key(&fd);
        match (operation, is_known, event) {
            (libc::EPOLL_CTL_ADD, true, _) => return Err(libc::EEXIST),
            (libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL, false, _) => return Err(libc::ENOENT),
            (libc::EPOLL_CTL_DEL, true, _) => drop(interests.remove(&fd)),
            (libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD, _, Some(event)) => {
                interests.insert(fd, Interest::new(event));
            }
            _ => return Err(libc::EINVAL),
        }
        Ok(0)
    })
}

pub(crate) fn epoll_wait(host: &Host, epoll: c_int, count: usize, timeout: c_int) -> SyscallResult<Vec<epoll_event>> {
    wait_for(host, timeout, |state| {
        // Moved out while sockets are borrowed; entries are in order of descriptors.
        let mut interests = core::mem::take(&mut state.epoll(epoll)?.0);
        let mut found = Vec::new();
        for (fd, interest) in &mut interests {
            if found.len() < count
                && let Ok(socket) = state.socket(*fd)
            {
                found.extend(interest.check(socket));
            }
        }
        state.epoll(epoll)?.0 = interests;
        Ok((!found.is_empty(), found))
    })
}
