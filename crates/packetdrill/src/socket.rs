//! Sockets: options and state.

use crate::error_queue::ErrorQueue;
use crate::sysctl;
use crate::tcp_sock::TcpSock;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Identifies a socket; its descriptor may be closed while the connection lives on.
pub(crate) type SocketId = u32;

/// Options that `setsockopt` and `fcntl` set.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "socket options of Linux that are on or off")]
pub(crate) struct Settings {
    pub(crate) is_nonblocking: bool,
    pub(crate) send_buffer: u64,
    /// Whether the application has set it, which disables auto-tuning (`SOCK_SNDBUF_LOCK`).
    pub(crate) is_send_buffer_fixed: bool,
    pub(crate) receive_buffer: u64,
    pub(crate) no_delay: bool,
    pub(crate) cork: bool,
    pub(crate) mss_limit: Option<u16>,
    pub(crate) not_sent_low_water: u32,
    pub(crate) user_timeout: u32,
    pub(crate) keep_alive: bool,
    pub(crate) keep_idle: Option<u32>,
    pub(crate) keep_interval: Option<u32>,
    pub(crate) keep_count: Option<u32>,
    pub(crate) syn_retries: Option<u32>,
    pub(crate) reports_inq: bool,
    pub(crate) zero_copy: bool,
    /// The flags of `SO_TIMESTAMPING`.
    pub(crate) timestamping: u32,
    /// The offset at which the byte counter of timestamps starts (`SOF_TIMESTAMPING_OPT_ID`).
    pub(crate) timestamping_from: u64,
    /// The time of `SO_LINGER`, if enabled.
    pub(crate) linger: Option<i32>,
    /// The limit of pending Fast Open requests of a listener.
    pub(crate) fast_open_queue: Option<u32>,
    pub(crate) fast_open_connect: bool,
    pub(crate) fast_open_key: Option<[u8; 16]>,
    pub(crate) fast_open_no_cookie: bool,
    /// Options without effect, kept for `getsockopt`.
    pub(crate) ignored: Vec<(i32, i32, Vec<u8>)>,
}

/// The state of a socket.
pub(crate) enum Role {
    /// Created.
    New,
    /// Connecting is deferred to the first write (`TCP_FASTOPEN_CONNECT`).
    Deferred(SocketAddr),
    Listener(Listener),
    Connected(Box<TcpSock>),
    /// Closed by either side; only its error is left.
    Closed,
}

/// The accept queue of a listener.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    pub(crate) waiting: VecDeque<SocketId>,
}

/// A socket.
pub(crate) struct Socket {
    pub(crate) settings: Settings,
    pub(crate) local: SocketAddr,
    pub(crate) role: Role,
    /// Whether a descriptor or an accept queue refers to it.
    pub(crate) is_referenced: bool,
    /// The listener that created it, until it is in the accept queue.
    pub(crate) listener: Option<SocketId>,
    pub(crate) error: Option<i32>,
    pub(crate) error_queue: ErrorQueue,
    /// Whether the application waits for space in the send buffer (`SOCK_NOSPACE`).
    pub(crate) needs_space: bool,
    /// The number of wake-ups so far, from which edge-triggered epoll derives edges.
    pub(crate) wakeups: u64,
}

/// Overhead per segment when Linux sizes a send buffer: headers and the end of the buffer (`MAX_TCP_HEADER`).
const SEGMENT_OVERHEAD: u64 = 640;
/// The size of `struct sk_buff`, aligned.
const BUFFER_STRUCTURE: u64 = 256;

impl Settings {
    pub(crate) fn new(is_nonblocking: bool) -> Self {
        let middle = |name, otherwise| sysctl::values(name).get(1).copied().unwrap_or(otherwise);
        Self {
            is_nonblocking,
            send_buffer: middle("tcp_wmem", 16_384),
            is_send_buffer_fixed: false,
            receive_buffer: middle("tcp_rmem", 131_072),
            no_delay: false,
            cork: false,
            mss_limit: None,
            not_sent_low_water: 0,
            user_timeout: 0,
            keep_alive: false,
            keep_idle: None,
            keep_interval: None,
            keep_count: None,
            syn_retries: None,
            reports_inq: false,
            zero_copy: false,
            timestamping: 0,
            timestamping_from: 0,
            linger: None,
            fast_open_queue: None,
            fast_open_connect: false,
            fast_open_key: None,
            fast_open_no_cookie: false,
            ignored: Vec::new(),
        }
    }

    /// Returns the limit of unsent bytes at which the socket stops being writable (`TCP_NOTSENT_LOWAT`).
    pub(crate) fn low_water(&self) -> u64 {
        match self.not_sent_low_water {
            0 => sysctl::value("tcp_notsent_lowat", u64::from(u32::MAX)),
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
            role: Role::New,
            is_referenced: true,
            listener: None,
            error: None,
            error_queue: ErrorQueue::default(),
            needs_space: false,
            wakeups: 0,
        }
    }

    pub(crate) fn tcp_sock(&self) -> Option<&TcpSock> {
        match &self.role {
            Role::Connected(sock) => Some(sock),
            _ => None,
        }
    }

    pub(crate) fn tcp_sock_mut(&mut self) -> Option<&mut TcpSock> {
        match &mut self.role {
            Role::Connected(sock) => Some(sock),
            _ => None,
        }
    }

    /// Returns and clears the pending error.
    pub(crate) fn take_error(&mut self) -> Result<(), i32> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Returns whether there is memory for another chunk (`sk_stream_memory_free`).
    pub(crate) fn has_memory(&self) -> bool {
        self.tcp_sock().is_some_and(|sock| {
            let queue = &sock.queue;
            queue.memory() < self.settings.send_buffer && queue.not_sent() < self.settings.low_water()
        })
    }

    /// Returns whether a blocked writer is woken (`sk_stream_is_writeable`): if the free space is half of the used space.
    pub(crate) fn is_writable(&self) -> bool {
        self.tcp_sock().is_some_and(|sock| {
            let used = sock.queue.memory();
            self.settings.send_buffer.saturating_sub(used) >= used / 2
                && self.settings.send_buffer > used
                && sock.queue.not_sent() < self.settings.low_water()
        })
    }

    /// Grows the send buffer of a blocked writer if the window has space (`tcp_sndbuf_expand`). Returns whether the writer is
    /// woken.
    pub(crate) fn expand_send_buffer(&mut self) -> bool {
        if let Role::Connected(sock) = &self.role
            && self.needs_space
            && !self.settings.is_send_buffer_fixed
            && sock.connection.in_flight() < sock.connection.cwnd() as u64
        {
            let segment = (sock.mss() + SEGMENT_OVERHEAD).next_power_of_two() + BUFFER_STRUCTURE;
            let largest = sysctl::values("tcp_wmem").get(2).copied().unwrap_or(4_194_304);
            // Twice the window: one in flight and one being prepared (`tcp_sndbuf_expand`).
            let wanted = 2 * segment * (sock.connection.cwnd() as u64).max(10);
            self.settings.send_buffer = self.settings.send_buffer.max(wanted.min(largest));
        }
        let is_woken = self.needs_space && self.is_writable();
        self.needs_space &= !is_woken;
        is_woken
    }

    /// Returns the mask of `poll` (`tcp_poll`).
    pub(crate) fn poll_mask(&mut self) -> i16 {
        let mut mask = match &self.role {
            // libc::POLLOUT | libc::POLLHUP, => What Linux reports for a socket in TCP_CLOSE.
            Role::New => libc::POLLOUT | libc::POLLHUP,
            Role::Deferred(_) => libc::POLLOUT | libc::POLLWRNORM,
            Role::Listener(listener) if listener.waiting.is_empty() => 0,
            Role::Listener(_) => libc::POLLIN | libc::POLLRDNORM,
            Role::Closed => libc::POLLIN | libc::POLLRDNORM | libc::POLLRDHUP | libc::POLLHUP | libc::POLLOUT,
            Role::Connected(sock) => sock.poll_mask(),
        };
        if mask & libc::POLLOUT == 0 && self.tcp_sock().is_some_and(TcpSock::is_connected) {
            if self.is_writable() {
                mask |= libc::POLLOUT | libc::POLLWRNORM;
            } else {
                // `poll` without space registers for a wake-up (`sk_set_bit(SOCKWQ_ASYNC_NOSPACE)`).
                self.needs_space = true;
            }
        }
        if self.error.is_some() || !self.error_queue.is_empty() {
            mask |= libc::POLLERR;
        }
        mask
    }
}
