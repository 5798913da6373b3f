//! The interest list of an epoll descriptor.

use crate::socket::Socket;
use core::ffi::c_int;
use std::collections::BTreeMap;

/// The interest list.
#[derive(Debug, Default)]
pub(crate) struct Epoll(pub(crate) BTreeMap<c_int, Interest>);

/// An entry of the interest list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interest {
    events: u32,
    data: u64,
    /// The number of wake-ups that were reported; `None` after the entry was set.
    seen: Option<u64>,
    is_disabled: bool,
}

impl Interest {
    pub(crate) fn new(event: libc::epoll_event) -> Self {
        Self { events: event.events, data: event.u64, seen: None, is_disabled: false }
    }

    /// Returns the event to report, if any. Edge-triggered entries report only after a wake-up.
    pub(crate) fn check(&mut self, socket: &mut Socket) -> Option<libc::epoll_event> {
        let is_edge = self.events & libc::EPOLLET as u32 != 0;
        if self.is_disabled || (is_edge && self.seen == Some(socket.wakeups)) {
            return None;
        }
        self.seen = Some(socket.wakeups);
        let mask = u32::from(socket.poll_mask().cast_unsigned());
        // EPOLLERR and EPOLLHUP are always reported (epoll_ctl(2)).
        let found = mask & (self.events | (libc::EPOLLERR | libc::EPOLLHUP) as u32);
        if found == 0 {
            return None;
        }
        self.is_disabled = self.events & libc::EPOLLONESHOT as u32 != 0;
        Some(libc::epoll_event { events: found, u64: self.data })
    }
}
