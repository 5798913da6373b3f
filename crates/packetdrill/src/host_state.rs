//! The state of the host: sockets, descriptors and transmitted packets.

use crate::config::config;
use crate::cookie_cache::CookieCache;
use crate::device;
use crate::epoll::Epoll;
use crate::fast_open::{self, Decision};
use crate::handoff::Handoff;
use crate::packet::{self, Injected, RxSegment};
use crate::socket::{Listener, Role, Socket, SocketId};
use crate::tcp_sock::{Change, TcpSock};
use crate::time::{Micros, instant};
use core::ffi::c_int;
use earlybird_tcp::{Config, Connection, Cx, Identity, RfcState, reject};
use earlybird_units::SeedTree;
use earlybird_wire::{FastOpen, Flags, Icmp, IcmpError, Segment};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

/// The descriptors of this host. Not part of [`HostState`], as the intercepted C functions are also called while it is locked.
static OWNED: [AtomicBool; 1024] = [const { AtomicBool::new(false) }; 1024];

/// Returns whether a descriptor belongs to this host.
pub(crate) fn owns(fd: c_int) -> bool {
    usize::try_from(fd).ok().and_then(|fd| OWNED.get(fd)).is_some_and(|owned| owned.load(Ordering::Relaxed))
}

fn set_owned(fd: c_int, is_owned: bool) {
    if let Some(owned) = usize::try_from(fd).ok().and_then(|fd| OWNED.get(fd)) {
        owned.store(is_owned, Ordering::Relaxed);
    }
}

/// The state of the host.
pub(crate) struct HostState {
    now: Micros,
    pub(crate) handoff: Handoff,
    descriptors: BTreeMap<c_int, Descriptor>,
    pub(crate) sockets: BTreeMap<SocketId, Socket>,
    next_id: SocketId,
    outgoing: VecDeque<(Micros, Vec<u8>)>,
    pub(crate) cookies: CookieCache,
    addresses: Vec<IpAddr>,
    // Counts up instead of being random, so that scripts are reproducible.
    next_port: u16,
    drops_all: bool,
}

/// The object behind a descriptor.
pub(crate) enum Descriptor {
    Socket(SocketId),
    Epoll(Epoll),
}

/// The start of the clock, late enough that differences of early times are not negative.
const START: Micros = 1_000_000_000;
/// The first ephemeral port (`net.ipv4.ip_local_port_range`).
const FIRST_PORT: u16 = 32_768;

impl HostState {
    pub(crate) fn new(flags: &str) -> Self {
        Self {
            now: START,
            handoff: Handoff::default(),
            descriptors: BTreeMap::new(),
            sockets: BTreeMap::new(),
            next_id: 0,
            outgoing: VecDeque::new(),
            cookies: CookieCache::default(),
            // Invalid words are ignored: packetdrill passes other flags in the same string.
            addresses: flags.split(',').filter_map(|address| address.parse().ok()).collect(),
            next_port: FIRST_PORT,
            drops_all: false,
        }
    }

    pub(crate) fn now(&self) -> Micros {
        self.now
    }

    /// Applies a command that the script ran to the state that this library keeps itself.
    pub(crate) fn on_command(&mut self, command: &str) {
        if command.contains("tcp_metrics flush") || command.contains("tcp_fastopen_cookies") {
            // `ip tcp_metrics` is where the kernel stores Fast Open cookies.
            self.cookies.clear();
        }
        if command.contains("qdisc") {
            self.drops_all = device::drops_all();
        }
    }

    pub(crate) fn add_descriptor(&mut self, fd: c_int, descriptor: Descriptor) {
        set_owned(fd, true);
        self.descriptors.insert(fd, descriptor);
    }

    pub(crate) fn remove_descriptor(&mut self, fd: c_int) -> Option<Descriptor> {
        set_owned(fd, false);
        self.descriptors.remove(&fd)
    }

    pub(crate) fn add_socket(&mut self, socket: Socket) -> SocketId {
        // Never reused, as half-open connections refer to their listener by it.
        self.next_id += 1;
        self.sockets.insert(self.next_id, socket);
        self.next_id
    }

    pub(crate) fn id(&self, fd: c_int) -> Result<SocketId, i32> {
        match self.descriptors.get(&fd) {
            Some(Descriptor::Socket(id)) => Ok(*id),
            Some(Descriptor::Epoll(_)) => Err(libc::ENOTSOCK),
            None => Err(libc::EBADF),
        }
    }

    pub(crate) fn socket(&mut self, fd: c_int) -> Result<&mut Socket, i32> {
        let id = self.id(fd)?;
        self.sockets.get_mut(&id).ok_or(libc::EBADF)
    }

    pub(crate) fn epoll(&mut self, fd: c_int) -> Result<&mut Epoll, i32> {
        match self.descriptors.get_mut(&fd) {
            Some(Descriptor::Epoll(epoll)) => Ok(epoll),
            Some(Descriptor::Socket(_)) => Err(libc::EINVAL),
            None => Err(libc::EBADF),
        }
    }

    /// Returns the local address and port of an unbound connection.
    pub(crate) fn local_for(&mut self, bound: SocketAddr, remote: SocketAddr) -> SocketAddr {
        // Like source address selection with one address per family.
        let own = self.addresses.iter().find(|address| address.is_ipv4() == remote.is_ipv4());
        let address = if bound.ip().is_unspecified() { own.copied().unwrap_or(bound.ip()) } else { bound.ip() };
        if bound.port() == 0 {
            self.next_port += 1;
        }
        SocketAddr::new(address, if bound.port() == 0 { self.next_port } else { bound.port() })
    }

    /// Returns the seeds of the next connection.
    pub(crate) fn seeds(&self) -> SeedTree {
        // Fixed seeds, so that runs are reproducible.
        SeedTree::new(1).nth(u64::from(self.next_id))
    }

    /// Returns when the next timer is due.
    pub(crate) fn next_deadline(&self) -> Option<Micros> {
        let due = |socket: &Socket| socket.tcp_sock()?.deadline();
        self.sockets.values().filter_map(due).min().map(|at| at.max(self.now))
    }

    /// Returns when the next timer is due or a blocked call times out.
    pub(crate) fn next_event(&self) -> Option<Micros> {
        [self.handoff.wake_at(), self.next_deadline()].into_iter().flatten().min()
    }

    /// Advances the clock and runs the timers that are due.
    pub(crate) fn move_clock(&mut self, to: Micros) {
        self.now = self.now.max(to);
        let now = self.now;
        let is_due = |socket: &Socket| socket.tcp_sock().and_then(TcpSock::deadline).is_some_and(|at| at <= now);
        let due: Vec<SocketId> = self.sockets.iter().filter(|(_, socket)| is_due(socket)).map(|(id, _)| *id).collect();
        for id in due {
            let change = self.sockets.get_mut(&id).and_then(Socket::tcp_sock_mut).map(|sock| sock.on_timeout(now));
            self.apply(id, change.unwrap_or_default());
        }
        self.transmit();
    }

    pub(crate) fn take_outgoing(&mut self) -> Option<(Micros, Vec<u8>)> {
        self.outgoing.pop_front()
    }

    /// Transmits from all connections.
    pub(crate) fn transmit(&mut self) {
        // Collected first, as transmitting may remove sockets.
        let ids: Vec<SocketId> = self.sockets.keys().copied().collect();
        for id in ids {
            self.transmit_from(id);
        }
        self.sockets
            .retain(|_, socket| socket.is_referenced || socket.tcp_sock().is_some_and(|sock| !sock.is_closed()));
    }

    /// Transmits from a connection.
    pub(crate) fn transmit_from(&mut self, id: SocketId) {
        let now = self.now;
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let Role::Connected(sock) = &mut socket.role else { return };
        let packets = sock.transmit(now);
        let change = sock.change(libc::ECONNRESET);
        sock.update_chrono(now, socket.needs_space);
        for sent in packets {
            socket.error_queue.on_sent(sent.end, now, socket.settings.timestamping);
            // The endpoint must believe that the packet left: only the queue dropped it.
            if !self.drops_all {
                self.outgoing.push_back((now, sent.packet));
            }
        }
        self.apply(id, change);
    }

    /// Processes an injected packet.
    pub(crate) fn receive(&mut self, packet: &[u8]) {
        match packet::read(packet) {
            Some(Injected::Segment(received)) => self.on_rx_segment(&received),
            Some(Injected::Icmp(icmp)) => self.on_icmp(&icmp),
            None => {}
        }
    }

    fn on_rx_segment(&mut self, received: &RxSegment) {
        // Established connections take precedence over listeners, as in `__inet_lookup`.
        if let Some(id) = self.find_connection(received.to, received.from) {
            self.deliver(id, received);
        } else if let Some(listener) = self.listener_of(received.to) {
            self.on_listener(listener, received);
        } else {
            self.reject(received);
        }
    }

    /// Returns the connection between two addresses.
    fn find_connection(&self, local: SocketAddr, remote: SocketAddr) -> Option<SocketId> {
        let is_it = |socket: &Socket| {
            socket.tcp_sock().is_some_and(|sock| !sock.is_closed() && sock.local == local && sock.remote == remote)
        };
        self.sockets.iter().find(|(_, socket)| is_it(socket)).map(|(id, _)| *id)
    }

    fn listener_of(&self, local: SocketAddr) -> Option<SocketId> {
        let is_it = |socket: &Socket| matches!(socket.role, Role::Listener(_)) && socket.local.port() == local.port();
        self.sockets.iter().find(|(_, socket)| is_it(socket)).map(|(id, _)| *id)
    }

    fn deliver(&mut self, id: SocketId, received: &RxSegment) {
        let now = self.now;
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let Role::Connected(sock) = &mut socket.role else { return };
        let change = sock.on_segment(now, received);
        let acknowledged = sock.queue.acknowledged();
        if socket.error_queue.on_acknowledged(acknowledged, now, socket.settings.timestamping) {
            socket.wakeups += 1;
        }
        self.apply(id, change);
    }

    /// Wakes writers whose send buffer has space again.
    pub(crate) fn expand_send_buffer(&mut self) {
        for socket in self.sockets.values_mut() {
            if socket.expand_send_buffer() {
                socket.wakeups += 1;
            }
        }
    }

    /// Applies a change of a connection as Linux does: wakes waiters, stores errors, and queues it for `accept`.
    pub(crate) fn apply(&mut self, id: SocketId, change: Change) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        // Each wake-up is an edge for epoll, even if the mask stays the same.
        if change.is_changed || change.is_readable {
            socket.wakeups += 1;
        }
        if let Some(error) = change.error {
            socket.error = Some(error);
        }
        if change.is_established {
            let learned = socket
                .tcp_sock()
                .and_then(|sock| Some((sock.remote.ip(), sock.connection.fast_open()?, sock.fast_open_offer)));
            if let Some((server, result, fast_open_offer)) = learned {
                fast_open::remember(self.cookies.of(server), &result, fast_open_offer);
            }
        }
        if change.is_established
            && let Some(socket) = self.sockets.get_mut(&id)
            && let Some(listener) = socket.listener.take()
        {
            self.queue(listener, id);
        }
    }

    /// Adds a connection to the accept queue of its listener.
    fn queue(&mut self, listener: SocketId, id: SocketId) {
        if let Some(Socket { role: Role::Listener(queue), wakeups, .. }) = self.sockets.get_mut(&listener) {
            queue.waiting.push_back(id);
            *wakeups += 1;
            if let Some(socket) = self.sockets.get_mut(&id) {
                socket.is_referenced = true;
            }
        }
    }

    fn on_listener(&mut self, listener: SocketId, received: &RxSegment) {
        if !received.segment.flags.contains(Flags::SYN) || received.segment.flags.contains(Flags::ACK) {
            return self.reject(received);
        }
        let Some(parent) = self.sockets.get(&listener) else { return };
        let mut child = Socket::new(libc::AF_INET, false);
        child.settings = parent.settings.clone();
        // Linux: `accept` does not inherit O_NONBLOCK.
        child.settings.is_nonblocking = false;
        child.local = received.to;
        child.is_referenced = false;
        // Until the handshake is complete; then the child moves to the accept queue.
        child.listener = Some(listener);
        let config = config(&child.settings, received.to.ip(), false);
        let decision = fast_open::decide(&child.settings, received);
        let connection = match decision {
            Decision::Plain => Connection::listen(&config, self.seeds()),
            Decision::SendCookie(cookie) => self.accept_fast(&config, &received.without_payload(), Some(cookie)),
            Decision::Accept(cookie) => self.accept_fast(&config, &received.segment, cookie),
        };
        let mut sock = TcpSock::new(connection, received.to, received.from, self.now);
        // Closing a half-open active connection aborts it; a passive one stays.
        sock.is_passive = true;
        sock.is_fast_open = matches!(decision, Decision::Accept(_));
        sock.took_syn_data = sock.is_fast_open && received.segment.len > 0;
        child.role = Role::Connected(Box::new(sock));
        let id = self.add_socket(child);
        match decision {
            Decision::Plain => self.deliver(id, received),
            Decision::SendCookie(_) => self.note(id, received),
            Decision::Accept(_) => {
                self.note(id, received);
                if let Some(socket) = self.sockets.get_mut(&id) {
                    socket.listener = None;
                }
                self.queue(listener, id);
            }
        }
    }

    /// Opens a connection by Fast Open.
    fn accept_fast(&self, config: &Config, syn: &Segment, cookie: Option<FastOpen>) -> Connection {
        let cx = &mut Cx { now: instant(self.now), trace: &mut () };
        let seeds = self.seeds();
        Connection::accept_fast(cx, config, Identity::drawn(seeds), seeds, syn, cookie).0
    }

    /// Counts the segment that created the connection.
    fn note(&mut self, id: SocketId, received: &RxSegment) {
        if let Some(sock) = self.sockets.get_mut(&id).and_then(Socket::tcp_sock_mut) {
            sock.count_rx(self.now, &received.segment);
        }
    }

    /// Answers a segment that belongs to no connection (RFC 9293 §3.10.7.1).
    fn reject(&mut self, received: &RxSegment) {
        if let Some(answer) = reject(&received.segment) {
            self.outgoing.push_back((self.now, packet::write(received.to, received.from, &answer, &[])));
        }
    }

    /// Acts on a report about a segment that was sent.
    fn on_icmp(&mut self, icmp: &Icmp) {
        let local = SocketAddr::new(icmp.addresses.source, icmp.addresses.source_port);
        let remote = SocketAddr::new(icmp.addresses.destination, icmp.addresses.destination_port);
        let Some(id) = self.find_connection(local, remote) else { return };
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let Role::Connected(sock) = &mut socket.role else { return };
        let cx = &mut Cx { now: instant(self.now), trace: &mut () };
        if let IcmpError::TooBig { mtu } = icmp.trouble {
            sock.connection.on_path_mtu(cx, mtu, icmp.seq);
            return;
        }
        let is_believed = sock.connection.on_unreachable(icmp.trouble, icmp.seq);
        let is_half_open = sock.connection.state() == RfcState::SynReceived && !sock.is_fast_open;
        // A handshake that cannot complete is dropped (`tcp_req_err`).
        if is_believed && is_half_open {
            self.sockets.remove(&id);
        }
    }

    /// Closes a listener: connections in its queue are reset.
    pub(crate) fn end_listener(&mut self, id: SocketId) {
        let Some(Socket { role, .. }) = self.sockets.get_mut(&id) else { return };
        let Role::Listener(Listener { waiting }) = core::mem::replace(role, Role::Closed) else { return };
        let half_open = self.sockets.iter().filter(|(_, socket)| socket.listener == Some(id)).map(|(id, _)| *id);
        let children: Vec<SocketId> = half_open.chain(waiting).collect();
        for child in children {
            if let Some(socket) = self.sockets.get_mut(&child) {
                socket.is_referenced = false;
                if let Some(sock) = socket.tcp_sock_mut() {
                    sock.connection.abort();
                }
            }
        }
    }
}
