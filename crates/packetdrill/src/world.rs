//! Everything the host has: sockets, descriptors, packets on their way out.

use crate::calls::open;
use crate::clock::Turns;
use crate::cookies::Cookies;
use crate::device;
use crate::epoll::Epoll;
use crate::fast_open::{self, Decision};
use crate::flow::{Flow, Outcome, instant};
use crate::packet::{self, Arrival, Injected};
use crate::socket::{Listener, Role, Socket, SocketId};
use core::ffi::c_int;
use earlybird_tcp::{Config, Connection, Cx, Identity, RfcState, reject};
use earlybird_units::SeedTree;
use earlybird_wire::{FastOpen, Flags, Icmp, Segment, Trouble};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

/// Which descriptors are this host's: asked by functions of the C library, which are called while the host is locked too.
static OWNED: [AtomicBool; 1024] = [const { AtomicBool::new(false) }; 1024];

/// Returns whether a descriptor is this host's.
pub(crate) fn owns(fd: c_int) -> bool {
    usize::try_from(fd).ok().and_then(|fd| OWNED.get(fd)).is_some_and(|owned| owned.load(Ordering::Relaxed))
}

fn set_owned(fd: c_int, is_owned: bool) {
    if let Some(owned) = usize::try_from(fd).ok().and_then(|fd| OWNED.get(fd)) {
        owned.store(is_owned, Ordering::Relaxed);
    }
}

/// Virtual time in microseconds.
pub(crate) type Micros = u64;

/// The host's state.
pub(crate) struct World {
    now: Micros,
    pub(crate) turns: Turns,
    descriptors: BTreeMap<c_int, Descriptor>,
    pub(crate) sockets: BTreeMap<SocketId, Socket>,
    next_id: SocketId,
    outgoing: VecDeque<(Micros, Vec<u8>)>,
    pub(crate) cookies: Cookies,
    addresses: Vec<IpAddr>,
    next_port: u16,
    drops_everything: bool,
}

/// What a descriptor stands for.
pub(crate) enum Descriptor {
    Socket(SocketId),
    Epoll(Epoll),
}

/// Where the clock starts: late enough that nothing happened "before time began".
const START: Micros = 1_000_000_000;
/// The first port of connections that name none.
const FIRST_PORT: u16 = 32_768;

impl World {
    pub(crate) fn new(flags: &str) -> Self {
        Self {
            now: START,
            turns: Turns::default(),
            descriptors: BTreeMap::new(),
            sockets: BTreeMap::new(),
            next_id: 0,
            outgoing: VecDeque::new(),
            cookies: Cookies::default(),
            addresses: flags.split(',').filter_map(|address| address.parse().ok()).collect(),
            next_port: FIRST_PORT,
            drops_everything: false,
        }
    }

    pub(crate) fn now(&self) -> Micros {
        self.now
    }

    /// Acts on a command that the script ran.
    pub(crate) fn note_command(&mut self, command: &str) {
        if command.contains("tcp_metrics flush") || command.contains("tcp_fastopen_cookies") {
            self.cookies.clear();
        }
        if command.contains("qdisc") {
            self.drops_everything = device::drops_everything();
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

    /// Returns an address and a port for a connection that was not bound.
    pub(crate) fn local_for(&mut self, bound: SocketAddr, remote: SocketAddr) -> SocketAddr {
        let own = self.addresses.iter().find(|address| address.is_ipv4() == remote.is_ipv4());
        let address = if bound.ip().is_unspecified() { own.copied().unwrap_or(bound.ip()) } else { bound.ip() };
        if bound.port() == 0 {
            self.next_port += 1;
        }
        SocketAddr::new(address, if bound.port() == 0 { self.next_port } else { bound.port() })
    }

    /// Returns seeds for the next connection.
    pub(crate) fn seeds(&self) -> SeedTree {
        SeedTree::new(1).nth(u64::from(self.next_id))
    }

    /// Returns the time at which something falls due.
    pub(crate) fn next_deadline(&self) -> Option<Micros> {
        let due = |socket: &Socket| socket.flow()?.deadline();
        self.sockets.values().filter_map(due).min().map(|at| at.max(self.now))
    }

    /// Returns the time at which something falls due, or a blocked call gives up.
    pub(crate) fn next_event(&self) -> Option<Micros> {
        [self.turns.wake_at(), self.next_deadline()].into_iter().flatten().min()
    }

    /// Moves the clock on, and lets what falls due happen.
    pub(crate) fn move_clock(&mut self, to: Micros) {
        self.now = self.now.max(to);
        let now = self.now;
        let is_due = |socket: &Socket| socket.flow().and_then(Flow::deadline).is_some_and(|at| at <= now);
        let due: Vec<SocketId> = self.sockets.iter().filter(|(_, socket)| is_due(socket)).map(|(id, _)| *id).collect();
        for id in due {
            let outcome = self.sockets.get_mut(&id).and_then(Socket::flow_mut).map(|flow| flow.on_timeout(now));
            self.act_on(id, outcome.unwrap_or_default());
        }
        self.transmit();
    }

    pub(crate) fn take_outgoing(&mut self) -> Option<(Micros, Vec<u8>)> {
        self.outgoing.pop_front()
    }

    /// Lets all connections send what they can.
    pub(crate) fn transmit(&mut self) {
        let ids: Vec<SocketId> = self.sockets.keys().copied().collect();
        for id in ids {
            self.transmit_from(id);
        }
        self.sockets.retain(|_, socket| socket.is_held || socket.flow().is_some_and(|flow| !flow.is_closed()));
    }

    /// Lets a connection send what it can.
    pub(crate) fn transmit_from(&mut self, id: SocketId) {
        let now = self.now;
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let Role::Flow(flow) = &mut socket.role else { return };
        let departures = flow.transmit(now);
        let outcome = flow.outcome(libc::ECONNRESET);
        flow.watch_limits(now, socket.wants_room);
        for departure in departures {
            socket.notifications.on_sent(departure.end, now, socket.settings.stamping);
            if !self.drops_everything {
                self.outgoing.push_back((now, departure.packet));
            }
        }
        self.act_on(id, outcome);
    }

    /// A packet arrives.
    pub(crate) fn receive(&mut self, packet: &[u8]) {
        match packet::read(packet) {
            Some(Injected::Segment(arrival)) => self.on_arrival(&arrival),
            Some(Injected::Notice(notice)) => self.on_notice(&notice),
            None => {}
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival) {
        if let Some(id) = self.flow_of(arrival.to, arrival.from) {
            self.deliver(id, arrival);
        } else if let Some(listener) = self.listener_of(arrival.to) {
            self.on_listener(listener, arrival);
        } else {
            self.reject(arrival);
        }
    }

    /// Finds the connection between two addresses.
    fn flow_of(&self, local: SocketAddr, remote: SocketAddr) -> Option<SocketId> {
        let is_it = |socket: &Socket| {
            socket.flow().is_some_and(|flow| !flow.is_closed() && flow.local == local && flow.remote == remote)
        };
        self.sockets.iter().find(|(_, socket)| is_it(socket)).map(|(id, _)| *id)
    }

    fn listener_of(&self, local: SocketAddr) -> Option<SocketId> {
        let is_it = |socket: &Socket| matches!(socket.role, Role::Listener(_)) && socket.local.port() == local.port();
        self.sockets.iter().find(|(_, socket)| is_it(socket)).map(|(id, _)| *id)
    }

    fn deliver(&mut self, id: SocketId, arrival: &Arrival) {
        let now = self.now;
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let Role::Flow(flow) = &mut socket.role else { return };
        let outcome = flow.on_segment(now, arrival);
        let acknowledged = flow.queue.acknowledged();
        if socket.notifications.on_acknowledged(acknowledged, now, socket.settings.stamping) {
            socket.wakeups += 1;
        }
        self.act_on(id, outcome);
    }

    /// Wakes whoever found no room, where there is some now.
    pub(crate) fn make_room(&mut self) {
        for socket in self.sockets.values_mut() {
            if socket.make_room() {
                socket.wakeups += 1;
            }
        }
    }

    /// Does what Linux does when a connection has changed: wakes whoever watches, queues it to be accepted.
    pub(crate) fn act_on(&mut self, id: SocketId, outcome: Outcome) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        if outcome.is_changed || outcome.is_readable {
            socket.wakeups += 1;
        }
        if let Some(error) = outcome.error {
            socket.error = Some(error);
        }
        if outcome.is_established {
            let learned =
                socket.flow().and_then(|flow| Some((flow.remote.ip(), flow.connection.fast_open()?, flow.asked)));
            if let Some((server, result, asked)) = learned {
                fast_open::remember(self.cookies.of(server), &result, asked);
            }
        }
        if outcome.is_established
            && let Some(socket) = self.sockets.get_mut(&id)
            && let Some(listener) = socket.listener.take()
        {
            self.queue(listener, id);
        }
    }

    /// Puts a connection into the queue of its listener.
    fn queue(&mut self, listener: SocketId, id: SocketId) {
        if let Some(Socket { role: Role::Listener(queue), wakeups, .. }) = self.sockets.get_mut(&listener) {
            queue.waiting.push_back(id);
            *wakeups += 1;
            if let Some(socket) = self.sockets.get_mut(&id) {
                socket.is_held = true;
            }
        }
    }

    fn on_listener(&mut self, listener: SocketId, arrival: &Arrival) {
        if !arrival.segment.flags.contains(Flags::SYN) || arrival.segment.flags.contains(Flags::ACK) {
            return self.reject(arrival);
        }
        let Some(parent) = self.sockets.get(&listener) else { return };
        let mut child = Socket::new(libc::AF_INET, false);
        child.settings = parent.settings.clone();
        child.settings.is_nonblocking = false;
        child.local = arrival.to;
        child.is_held = false;
        child.listener = Some(listener);
        let config = open::config(&child.settings, arrival.to.ip(), false);
        let decision = fast_open::decide(&child.settings, arrival);
        let connection = match decision {
            Decision::Plain => Connection::listen(&config, self.seeds()),
            Decision::Give(cookie) => self.accept_fast(&config, &arrival.without_payload(), Some(cookie)),
            Decision::Take(cookie) => self.accept_fast(&config, &arrival.segment, cookie),
        };
        let mut flow = Flow::new(connection, arrival.to, arrival.from, self.now);
        flow.is_passive = true;
        flow.is_early = matches!(decision, Decision::Take(_));
        flow.took_syn_data = flow.is_early && arrival.segment.len > 0;
        child.role = Role::Flow(Box::new(flow));
        let id = self.add_socket(child);
        match decision {
            Decision::Plain => self.deliver(id, arrival),
            Decision::Give(_) => self.note(id, arrival),
            Decision::Take(_) => {
                self.note(id, arrival);
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

    /// Counts a segment that the connection was made of.
    fn note(&mut self, id: SocketId, arrival: &Arrival) {
        if let Some(flow) = self.sockets.get_mut(&id).and_then(Socket::flow_mut) {
            flow.note_arrival(self.now, &arrival.segment);
        }
    }

    /// Answers a segment that belongs to no connection (RFC 9293 §3.10.7.1).
    fn reject(&mut self, arrival: &Arrival) {
        if let Some(answer) = reject(&arrival.segment) {
            self.outgoing.push_back((self.now, packet::write(arrival.to, arrival.from, &answer, &[])));
        }
    }

    /// Acts on a report about a segment that was sent.
    fn on_notice(&mut self, notice: &Icmp) {
        let local = SocketAddr::new(notice.addresses.source, notice.addresses.source_port);
        let remote = SocketAddr::new(notice.addresses.destination, notice.addresses.destination_port);
        let Some(id) = self.flow_of(local, remote) else { return };
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let Role::Flow(flow) = &mut socket.role else { return };
        let cx = &mut Cx { now: instant(self.now), trace: &mut () };
        if let Trouble::TooBig { mtu } = notice.trouble {
            flow.connection.on_path_mtu(cx, mtu, notice.seq);
            return;
        }
        let is_believed = flow.connection.on_unreachable(notice.trouble, notice.seq);
        let is_half_open = flow.connection.state() == RfcState::SynReceived && !flow.is_early;
        // A handshake that cannot end is forgotten (`tcp_req_err`).
        if is_believed && is_half_open {
            self.sockets.remove(&id);
        }
    }

    /// Ends a listener: what waits in its queue is reset.
    pub(crate) fn end_listener(&mut self, id: SocketId) {
        let Some(Socket { role, .. }) = self.sockets.get_mut(&id) else { return };
        let Role::Listener(Listener { waiting }) = core::mem::replace(role, Role::Dead) else { return };
        let on_the_way = self.sockets.iter().filter(|(_, socket)| socket.listener == Some(id)).map(|(id, _)| *id);
        let children: Vec<SocketId> = on_the_way.chain(waiting).collect();
        for child in children {
            if let Some(socket) = self.sockets.get_mut(&child) {
                socket.is_held = false;
                if let Some(flow) = socket.flow_mut() {
                    flow.connection.abort();
                }
            }
        }
    }
}
