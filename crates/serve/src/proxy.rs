//! The pairs of a proxy.

use crate::pair::{Moved, Pair};
use crate::report::{Counters, Report, median};
use crate::server_socket::ServerSocket;
use crate::settings::Settings;
use earlybird_live::device::Device;
use earlybird_live::{Clock, Event, Id, Stack};
use earlybird_tcp::{Ending, Statistics};
use earlybird_units::Duration;
use rustix::event::epoll::{self, EventData, EventFlags};
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;

/// Bytes that are moved at once.
const SCRATCH: usize = 1 << 16;
/// Time for the handshake with the server (nginx: `proxy_connect_timeout`).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// All pairs, by a token that epoll returns.
#[derive(Debug)]
pub(crate) struct Proxy {
    settings: Settings,
    epoll: OwnedFd,
    pairs: HashMap<u64, Pair>,
    tokens: HashMap<Id, u64>,
    next_token: u64,
    counters: Counters,
    /// Counters of the senders whose connections have ended.
    senders: Statistics,
    scratch: Box<[u8]>,
    is_draining: bool,
}

impl Proxy {
    pub(crate) fn new(settings: Settings) -> io::Result<Self> {
        Ok(Self {
            settings,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            pairs: HashMap::new(),
            tokens: HashMap::new(),
            next_token: 0,
            counters: Counters::default(),
            senders: Statistics::default(),
            scratch: vec![0; SCRATCH].into(),
            is_draining: false,
        })
    }

    /// Returns the descriptor that is readable while sockets of servers are ready.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.epoll
    }

    /// Returns whether no connection is left after [`Self::drain`].
    pub(crate) fn is_drained(&self) -> bool {
        self.is_draining && self.pairs.is_empty()
    }

    /// Accepts no more connections: SYNs are answered by resets.
    pub(crate) fn drain<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>) {
        if !self.is_draining {
            self.is_draining = true;
            // It was listening since the start.
            let _ = stack.unlisten(self.settings.port);
        }
    }

    /// Handles an event of a client's connection.
    pub(crate) fn on_event<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id, event: Event) {
        if let Event::Incoming(port) = event {
            while let Some(id) = stack.accept(port) {
                self.admit(stack, id);
            }
        }
        let Some(&token) = self.tokens.get(&id) else { return };
        match event {
            Event::Closed(Ending::InOrder) => {
                self.pairs.entry(token).and_modify(|pair| pair.is_client_closed = true);
                self.forward(stack, token);
            }
            Event::Closed(_) => {
                self.counters.broken += 1;
                self.abort(stack, token);
            }
            Event::Readable | Event::Writable | Event::PeerClosed => self.forward(stack, token),
            _ => {}
        }
    }

    /// Handles the sockets of servers that are ready.
    pub(crate) fn on_ready<D: Device, C: Clock>(
        &mut self,
        stack: &mut Stack<D, C>,
        events: &mut Vec<epoll::Event>,
    ) -> io::Result<()> {
        events.clear();
        epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), Some(&rustix::event::Timespec::default()))?;
        for event in events {
            self.forward(stack, event.data.u64());
        }
        Ok(())
    }

    fn admit<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id) {
        if self.pairs.len() >= self.settings.max_connections {
            self.counters.refused += 1;
            // The connection may have ended already.
            let _ = stack.abort(id);
            return;
        }
        self.counters.accepted += 1;
        if self.connect(stack, id).is_err() {
            self.counters.unreachable += 1;
            let _ = stack.abort(id);
        }
    }

    fn connect<D: Device, C: Clock>(&mut self, stack: &Stack<D, C>, id: Id) -> io::Result<()> {
        let server = ServerSocket::connect(self.settings.server)?;
        let token = self.next_token;
        self.next_token += 1;
        // Edge-triggered: a socket that has ended would otherwise be ready for as long as a slow client reads.
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &server.0, EventData::new_u64(token), flags)?;
        self.tokens.insert(id, token);
        self.pairs.insert(token, Pair::new(id, server, stack.now()));
        Ok(())
    }

    /// Moves the bytes of a pair, and removes it at its end.
    fn forward<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, token: u64) {
        // A socket may be ready whose pair was removed in the same turn.
        let Some(pair) = self.pairs.get_mut(&token) else { return };
        if let Ok(Moved { to_server, to_client }) = pair.forward(stack, &mut self.scratch) {
            self.counters.bytes_in += to_server as u64;
            self.counters.bytes_out += to_client as u64;
            if pair.is_done() {
                self.remove(stack, token);
            }
        } else {
            let cause = if pair.is_connecting { &mut self.counters.unreachable } else { &mut self.counters.broken };
            *cause += 1;
            self.abort(stack, token);
        }
    }

    /// Removes a pair whose connections have ended in order.
    fn remove<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, token: u64) {
        if let Some(pair) = self.take(stack, token) {
            // Both FINs are acknowledged; this releases the identifier.
            let _ = stack.close(pair.id);
        }
    }

    /// Resets both connections of a pair.
    fn abort<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, token: u64) {
        if let Some(pair) = self.take(stack, token) {
            // The client's connection may have ended already.
            let _ = stack.abort(pair.id);
            pair.reset_server();
        }
    }

    fn take<D: Device, C: Clock>(&mut self, stack: &Stack<D, C>, token: u64) -> Option<Pair> {
        let pair = self.pairs.remove(&token)?;
        self.tokens.remove(&pair.id);
        if let Ok(connection) = stack.connection(pair.id) {
            self.senders += *connection.statistics();
        }
        Some(pair)
    }

    /// Resets all pairs.
    pub(crate) fn abort_all<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>) {
        for token in self.pairs.keys().copied().collect::<Vec<_>>() {
            self.abort(stack, token);
        }
    }

    /// Resets the pairs that were idle, or have been connecting, for too long.
    pub(crate) fn expire<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>) {
        let now = stack.now();
        let is_over = |pair: &Pair| {
            let limit = if pair.is_connecting { CONNECT_TIMEOUT } else { self.settings.idle_timeout };
            now - pair.last_moved >= limit
        };
        let over: Vec<u64> = self.pairs.iter().filter(|(_, pair)| is_over(pair)).map(|(token, _)| *token).collect();
        for token in over {
            let is_connecting = self.pairs.get(&token).is_some_and(|pair| pair.is_connecting);
            *(if is_connecting { &mut self.counters.unreachable } else { &mut self.counters.idle }) += 1;
            self.abort(stack, token);
        }
    }

    /// Returns the state.
    pub(crate) fn report<D: Device, C: Clock>(&self, stack: &Stack<D, C>) -> Report {
        let mut senders = self.senders;
        let mut rtts = Vec::with_capacity(self.pairs.len());
        for connection in self.pairs.values().filter_map(|pair| stack.connection(pair.id).ok()) {
            senders += *connection.statistics();
            rtts.extend(connection.timer().smoothed);
        }
        Report {
            at: stack.now(),
            open: self.pairs.len(),
            counters: self.counters,
            senders,
            srtt: median(rtts),
            is_draining: self.is_draining,
        }
    }
}
