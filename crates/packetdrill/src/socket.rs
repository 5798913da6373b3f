//! A socket: its settings, and what it is.

use crate::flow::Flow;
use crate::notifications::Notifications;
use crate::sysctl;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A socket's number: a descriptor may be closed while its connection lives on.
pub(crate) type SocketId = u32;

/// What `setsockopt` and `fcntl` set.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) is_nonblocking: bool,
    pub(crate) send_buffer: u64,
    /// The application has set it: it does not grow.
    pub(crate) is_send_buffer_fixed: bool,
    pub(crate) receive_buffer: u64,
    pub(crate) no_delay: bool,
    pub(crate) cork: bool,
    pub(crate) largest_segment: Option<u16>,
    pub(crate) not_sent_low_water: u32,
    pub(crate) user_timeout: u32,
    pub(crate) keep_alive: bool,
    pub(crate) keep_idle: Option<u32>,
    pub(crate) keep_interval: Option<u32>,
    pub(crate) keep_count: Option<u32>,
    pub(crate) opening_tries: Option<u32>,
    pub(crate) tells_queued: bool,
    pub(crate) zero_copy: bool,
    /// `SO_TIMESTAMPING`'s flags.
    pub(crate) stamping: u32,
    /// Where counting of bytes for stamps began.
    pub(crate) stamping_from: u64,
    /// `SO_LINGER`'s time, if on.
    pub(crate) linger: Option<i32>,
    /// The listener's queue of Fast Open.
    pub(crate) fast_open_queue: Option<u32>,
    pub(crate) fast_open_connect: bool,
    pub(crate) fast_open_key: Option<[u8; 16]>,
    pub(crate) fast_open_no_cookie: bool,
    /// Options without effect here, as they were set.
    pub(crate) others: Vec<(i32, i32, Vec<u8>)>,
}

/// What is done with the descriptor.
pub(crate) enum Role {
    /// Nothing yet.
    Fresh,
    /// `connect` waits for the first bytes (`TCP_FASTOPEN_CONNECT`).
    Deferred(SocketAddr),
    Listener(Listener),
    Flow(Box<Flow>),
    /// It was closed by this side or the other, and nothing is left but its error.
    Dead,
}

/// Connections that wait to be accepted, and those on the way to that.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    pub(crate) waiting: VecDeque<SocketId>,
}

/// A socket.
pub(crate) struct Socket {
    pub(crate) settings: Settings,
    pub(crate) local: SocketAddr,
    pub(crate) role: Role,
    /// A descriptor, or the queue of a listener, holds it.
    pub(crate) is_held: bool,
    /// The listener that it came from, until it is in its queue.
    pub(crate) listener: Option<SocketId>,
    pub(crate) error: Option<i32>,
    pub(crate) notifications: Notifications,
    /// The application found no room: it is told when there is some (`SOCK_NOSPACE`).
    pub(crate) wants_room: bool,
    /// What woke whoever watches it, since the beginning: edges for epoll.
    pub(crate) wakeups: u64,
}

/// What a segment takes beside its bytes when Linux computes a send buffer: headers, and the end of its buffer …
const SEGMENT_OVERHEAD: u64 = 640;
/// … and the structure that describes it.
const BUFFER_STRUCTURE: u64 = 256;

impl Settings {
    pub(crate) fn new(is_nonblocking: bool) -> Self {
        let middle = |name, otherwise| sysctl::numbers(name).get(1).copied().unwrap_or(otherwise);
        Self {
            is_nonblocking,
            send_buffer: middle("tcp_wmem", 16_384),
            is_send_buffer_fixed: false,
            receive_buffer: middle("tcp_rmem", 131_072),
            no_delay: false,
            cork: false,
            largest_segment: None,
            not_sent_low_water: 0,
            user_timeout: 0,
            keep_alive: false,
            keep_idle: None,
            keep_interval: None,
            keep_count: None,
            opening_tries: None,
            tells_queued: false,
            zero_copy: false,
            stamping: 0,
            stamping_from: 0,
            linger: None,
            fast_open_queue: None,
            fast_open_connect: false,
            fast_open_key: None,
            fast_open_no_cookie: false,
            others: Vec::new(),
        }
    }

    /// Returns the bytes that may wait unsent before the socket counts as full.
    pub(crate) fn low_water(&self) -> u64 {
        match self.not_sent_low_water {
            0 => sysctl::number("tcp_notsent_lowat", u64::from(u32::MAX)),
            bytes => u64::from(bytes),
        }
    }
}

impl Socket {
    pub(crate) fn new(domain: i32, is_nonblocking: bool) -> Self {
        let any = if domain == libc::AF_INET6 {
            IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        } else {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        };
        Self {
            settings: Settings::new(is_nonblocking),
            local: SocketAddr::new(any, 0),
            role: Role::Fresh,
            is_held: true,
            listener: None,
            error: None,
            notifications: Notifications::default(),
            wants_room: false,
            wakeups: 0,
        }
    }

    pub(crate) fn flow(&self) -> Option<&Flow> {
        match &self.role {
            Role::Flow(flow) => Some(flow),
            _ => None,
        }
    }

    pub(crate) fn flow_mut(&mut self) -> Option<&mut Flow> {
        match &mut self.role {
            Role::Flow(flow) => Some(flow),
            _ => None,
        }
    }

    /// Returns the pending error, once.
    pub(crate) fn take_error(&mut self) -> Result<(), i32> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Returns whether memory is left for another chunk (`sk_stream_memory_free`).
    pub(crate) fn has_memory(&self) -> bool {
        self.flow().is_some_and(|flow| {
            let queue = &flow.queue;
            queue.memory() < self.settings.send_buffer && queue.not_sent() < self.settings.low_water()
        })
    }

    /// Returns whether so much room is there that a writer is woken (`sk_stream_is_writeable`): a third of what is used.
    pub(crate) fn is_writable(&self) -> bool {
        self.flow().is_some_and(|flow| {
            let used = flow.queue.memory();
            self.settings.send_buffer.saturating_sub(used) >= used / 2
                && self.settings.send_buffer > used
                && flow.queue.not_sent() < self.settings.low_water()
        })
    }

    /// Whoever found no room gets more, if the window has some left (`tcp_sndbuf_expand`), and is woken if that is enough. Says
    /// whether it was.
    pub(crate) fn make_room(&mut self) -> bool {
        if let Role::Flow(flow) = &self.role
            && self.wants_room
            && !self.settings.is_send_buffer_fixed
            && flow.connection.in_flight() < flow.connection.cwnd() as u64
        {
            let segment = (flow.mss() + SEGMENT_OVERHEAD).next_power_of_two() + BUFFER_STRUCTURE;
            let largest = sysctl::numbers("tcp_wmem").get(2).copied().unwrap_or(4_194_304);
            let wanted = 2 * segment * (flow.connection.cwnd() as u64).max(10);
            self.settings.send_buffer = self.settings.send_buffer.max(wanted.min(largest));
        }
        let is_woken = self.wants_room && self.is_writable();
        self.wants_room &= !is_woken;
        is_woken
    }

    /// Returns poll's mask (`tcp_poll`).
    pub(crate) fn poll_mask(&mut self) -> i16 {
        let mut mask = match &self.role {
            Role::Fresh => libc::POLLOUT | libc::POLLHUP,
            Role::Deferred(_) => libc::POLLOUT | libc::POLLWRNORM,
            Role::Listener(listener) if listener.waiting.is_empty() => 0,
            Role::Listener(_) => libc::POLLIN | libc::POLLRDNORM,
            Role::Dead => libc::POLLIN | libc::POLLRDNORM | libc::POLLRDHUP | libc::POLLHUP | libc::POLLOUT,
            Role::Flow(flow) => flow.poll_mask(),
        };
        if mask & libc::POLLOUT == 0 && self.flow().is_some_and(Flow::is_connected) {
            if self.is_writable() {
                mask |= libc::POLLOUT | libc::POLLWRNORM;
            } else {
                self.wants_room = true;
            }
        }
        if self.error.is_some() || !self.notifications.is_empty() {
            mask |= libc::POLLERR;
        }
        mask
    }
}
