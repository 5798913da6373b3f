//! Waiting for several descriptors.

use super::Answer;
use crate::clock::{Host, Step};
use crate::epoll::{Epoll, Interest};
use crate::world::{Descriptor, Micros, World};
use core::ffi::c_int;
use libc::{epoll_event, pollfd};

/// Returns the time at which a wait of so many milliseconds ends; negative is never.
fn deadline(world: &World, timeout: c_int) -> Option<Micros> {
    u64::try_from(timeout).ok().map(|millis| world.now() + millis * 1000)
}

/// Waits until `look` finds something, or the time is over: then what it found last counts.
fn wait_for<T>(host: &Host, timeout: c_int, mut look: impl FnMut(&mut World) -> Answer<(bool, T)>) -> Answer<T> {
    let mut until = None;
    host.wait(|world| {
        let until = *until.get_or_insert_with(|| deadline(world, timeout));
        match look(world) {
            Err(error) => Step::Done(Err(error)),
            Ok((false, _)) if until.is_none_or(|until| world.now() < until) => Step::Block(until),
            Ok((_, found)) => Step::Done(Ok(found)),
        }
    })
}

pub(crate) fn poll(host: &Host, entries: &mut [pollfd], timeout: c_int) -> Answer<c_int> {
    wait_for(host, timeout, |world| {
        let mut count = 0;
        for entry in entries.iter_mut() {
            let wanted = entry.events | libc::POLLERR | libc::POLLHUP;
            entry.revents = world.socket(entry.fd).map_or(libc::POLLNVAL, |socket| socket.poll_mask() & wanted);
            count += c_int::from(entry.revents != 0);
        }
        Ok((count > 0, count))
    })
}

pub(crate) fn epoll_create(host: &Host) -> Answer<c_int> {
    let fd = unsafe { libc::epoll_create1(0) };
    host.call(|world| {
        world.add_descriptor(fd, Descriptor::Epoll(Epoll::default()));
        Ok(fd)
    })
}

pub(crate) fn epoll_ctl(
    host: &Host,
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: Option<epoll_event>,
) -> Answer<c_int> {
    host.call(|world| {
        world.socket(fd)?;
        let Epoll(interests) = world.epoll(epoll)?;
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

pub(crate) fn epoll_wait(host: &Host, epoll: c_int, count: usize, timeout: c_int) -> Answer<Vec<epoll_event>> {
    wait_for(host, timeout, |world| {
        let mut interests = core::mem::take(&mut world.epoll(epoll)?.0);
        let mut found = Vec::new();
        for (fd, interest) in &mut interests {
            if found.len() < count
                && let Ok(socket) = world.socket(*fd)
            {
                found.extend(interest.check(socket));
            }
        }
        world.epoll(epoll)?.0 = interests;
        Ok((!found.is_empty(), found))
    })
}
