//! The connections to other relays: connecting, handshake and reconnecting.

use crate::address::{LONGEST, RelayAddress, Via};
use crate::framing::MessageChannel;
use crate::identities::{Callers, Identity};
use crate::message::{Direction, Message, Refusal, TCP_PORT_OVER_UDP, VERSION};
use crate::source::MediaUnit;
use crate::statistics::{ConnectionStats, PathStats};
use crate::transport::AFTER_LATENCY;
use earlybird_live::device::{Device, Path};
use earlybird_live::{Event, Id, MonotonicClock, Stack};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

/// The stack of a relay.
pub(crate) type RelayStack = Stack<BoxedDevice, MonotonicClock>;
/// Its device: UDP or TUN.
pub(crate) type BoxedDevice = Box<dyn Device + Send>;

/// The interval of attempts to connect.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// The time without a packet after which a caller sends a keep-alive probe to the other relay, and the time between two
/// probes. A relay that has restarted answers with a reset, so that the caller connects again at once. SRT sends a keep-alive every second.
const PROBE_INTERVAL: Duration = Duration::from_millis(500);
/// A sender that is silent for this long is replaced if another one connects.
const TAKEOVER_AFTER: Duration = Duration::from_secs(1);

/// The largest number of connections, of all hosts and of one, whose handshake is not complete.
const MAX_WAITING: usize = 256;
const MAX_WAITING_PER_HOST: usize = 16;
/// One host gets a quarter of a listener's places: several relays may share an address.
const PLACES_PER_HOST: usize = 4;

/// A connection to another relay.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) channel: MessageChannel,
    /// The address of the peer's host, for a listener.
    host: Option<IpAddr>,
    /// The caller, if callers have keys of their own.
    caller: Option<Identity>,
    /// Whether the handshake of both relays is complete.
    pub(crate) is_ready: bool,
    /// Whether the TCP handshake is complete.
    is_established: bool,
    /// The time at which the connection was opened.
    started: Instant,
    /// The time of the last keep-alive probe.
    probed: Instant,
    /// The time at which the handshake of both relays was complete.
    ready_since: Instant,
    pub(crate) latency: Duration,
    /// Units that the connection had no room for.
    pub(crate) waiting: VecDeque<Arc<MediaUnit>>,
    /// Retransmissions of its connection.
    retransmissions: u64,
    /// Bytes of units that were sent to it.
    pub(crate) bytes_out: u64,
    /// Units that were dropped before they were sent to it, or that its connection has abandoned.
    pub(crate) dropped: u64,
    /// The unit of the last frame that its connection abandoned.
    last_abandoned: Option<u64>,
    /// Whether the end of the stream was sent.
    pub(crate) is_end_sent: bool,
    /// Whether the connection has ended; it is removed in the next turn.
    pub(crate) is_gone: bool,
}

impl Peer {
    /// Returns its state; `None` if the connection has ended.
    fn statistics(&self, stack: &RelayStack) -> Option<ConnectionStats> {
        let connection = stack.connection(self.channel.id).ok()?;
        Some(ConnectionStats {
            address: stack.peer(self.channel.id).ok()?.0.remote,
            caller: self.caller.as_ref().map(|caller| caller.name.clone()),
            age: stack.now() - self.ready_since,
            bytes_out: self.bytes_out,
            dropped: self.dropped,
            retransmissions: connection.statistics().retransmissions,
            path: PathStats::of(connection),
        })
    }
}

impl RelayAddress {
    /// Returns the TCP port of the listener.
    fn port(&self) -> u16 {
        match self.via {
            Via::Udp => TCP_PORT_OVER_UDP,
            Via::Tun { .. } => self.socket.port(),
        }
    }

    fn path(&self) -> Path {
        match self.via {
            Via::Udp => Path::over_udp(self.socket),
            Via::Tun { .. } => Path::to(self.socket.ip()),
        }
    }
}

/// All connections of a relay.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) address: RelayAddress,
    callers: Callers,
    config: Config,
    direction: Direction,
    pub(crate) all: Vec<Peer>,
    retry_at: Instant,
    /// Retransmissions of connections that were removed.
    retransmissions: u64,
    /// Units that connections have abandoned, or had not delivered when they failed.
    abandoned: u64,
    /// The number of handshakes that were completed.
    pub(crate) connected: u64,
    /// The number of connections that this listener has refused.
    pub(crate) refused: u64,
    /// The reason for which the last attempt failed, if known.
    pub(crate) refusal: Option<Refusal>,
    /// The number of packets that the stack had received when the last attempt began.
    packets_before: u64,
    /// Whether no more connections are opened, as the relay ends.
    pub(crate) is_closing: bool,
}

impl Peers {
    /// Creates an empty set. `sends` is the role of this relay: the side that connects announces its direction, and the listener
    /// must have the opposite role.
    pub(crate) fn new(
        address: RelayAddress,
        config: Config,
        sends: bool,
        stack: &mut RelayStack,
    ) -> Result<Self, earlybird_live::Error> {
        if address.is_listener {
            stack.listen(address.port(), &config, ListenConfig::default())?;
        }
        let direction = if sends { Direction::Push } else { Direction::Pull };
        Ok(Self {
            address,
            callers: Callers::default(),
            config,
            direction,
            all: Vec::new(),
            retry_at: Instant::ZERO,
            retransmissions: 0,
            abandoned: 0,
            connected: 0,
            refused: 0,
            refusal: None,
            packets_before: 0,
            is_closing: false,
        })
    }

    /// Sets the callers that have keys of their own.
    pub(crate) fn with_callers(self, callers: Callers) -> Self {
        Self { callers, ..self }
    }

    /// Opens connections, completes handshakes and removes those that timed out. Returns the time of the next call.
    pub(crate) fn turn(&mut self, stack: &mut RelayStack) -> Instant {
        let now = stack.now();
        self.remove_gone(stack);
        if !self.is_closing {
            self.open(stack, now);
        }
        for index in 0..self.all.len() {
            self.handshake(stack, index);
        }
        for index in 0..self.all.len() {
            self.count_abandoned(stack, index);
        }
        self.expire(stack, now);
        self.probe(stack, now);
        self.next_poll(stack, now)
    }

    /// Sends keep-alive probes to other relays that are silent.
    fn probe(&mut self, stack: &mut RelayStack, now: Instant) {
        for index in 0..self.all.len() {
            if now >= self.probe_time(stack, &self.all[index]) {
                self.all[index].probed = now;
                // The connection may have ended already.
                let _ = stack.probe(self.all[index].channel.id);
            }
        }
    }

    /// Returns when a caller probes the other relay if that stays silent. A listener does not: it cannot connect again.
    fn probe_time(&self, stack: &RelayStack, peer: &Peer) -> Instant {
        match stack.last_received(peer.channel.id) {
            Ok(last) if !self.address.is_listener && !peer.is_gone => last.max(peer.probed) + PROBE_INTERVAL,
            _ => Instant::NEVER,
        }
    }

    fn remove_gone(&mut self, stack: &RelayStack) {
        for peer in &mut self.all {
            if let Ok(connection) = stack.connection(peer.channel.id) {
                peer.retransmissions = connection.statistics().retransmissions;
            }
        }
        // Before `retain`, which drops the counters of ended connections.
        self.retransmissions +=
            self.all.iter().filter(|peer| peer.is_gone).map(|peer| peer.retransmissions).sum::<u64>();
        self.all.retain(|peer| !peer.is_gone);
    }

    /// Returns the number of retransmissions so far.
    pub(crate) fn retransmissions(&self) -> u64 {
        self.retransmissions + self.all.iter().map(|peer| peer.retransmissions).sum::<u64>()
    }

    /// Returns the state of each connection that is ready.
    pub(crate) fn statistics(&self, stack: &RelayStack) -> Vec<ConnectionStats> {
        let ready = self.all.iter().filter(|peer| peer.is_ready && !peer.is_gone);
        ready.filter_map(|peer| peer.statistics(stack)).collect()
    }

    /// Returns the number of units that connections have abandoned, or had not delivered when they failed.
    pub(crate) fn abandoned(&self) -> u64 {
        self.abandoned
    }

    /// Counts the units that a connection has abandoned since the last call.
    fn count_abandoned(&mut self, stack: &mut RelayStack, index: usize) {
        let peer = &mut self.all[index];
        while peer.is_ready
            && let Ok(Some(frame)) = stack.poll_abandoned(peer.channel.id)
        {
            // Several frames of one unit are abandoned together.
            let is_known = frame.unit.is_some() && frame.unit == peer.last_abandoned;
            peer.last_abandoned = frame.unit.or(peer.last_abandoned);
            let is_counted = !is_known && self.direction == Direction::Push;
            peer.dropped += u64::from(is_counted);
            self.abandoned += u64::from(is_counted);
        }
    }

    /// Counts the units that a failed connection leaves: those that wait for it, and those that are not acknowledged.
    fn count_left(&mut self, stack: &mut RelayStack, index: usize) {
        self.count_abandoned(stack, index);
        let peer = &self.all[index];
        if peer.is_ready && self.direction == Direction::Push {
            self.abandoned += peer.waiting.len() as u64 + stack.units_held(peer.channel.id).unwrap_or_default();
        }
    }

    fn open(&mut self, stack: &mut RelayStack, now: Instant) {
        while self.address.is_listener
            && let Some(id) = stack.accept(self.address.port())
        {
            self.admit(stack, id, now);
        }
        if !self.address.is_listener && self.all.is_empty() && now >= self.retry_at {
            self.retry_at = now + RETRY_INTERVAL;
            // Compared when the attempt fails: any reply at all means that the port is in use by something.
            self.packets_before = stack.counters().received;
            // A failure is retried: the local address may not exist yet, or all ports are in use.
            if let Ok(id) = stack.connect(&self.config, self.address.path(), self.address.port()) {
                self.all.push(self.peer(id, now));
            }
        }
    }

    /// Adds a connection of a listener, unless it or its host has too many whose handshake is not complete.
    fn admit(&mut self, stack: &mut RelayStack, id: Id, now: Instant) {
        let address = stack.peer(id).ok().map(|(path, _)| path.remote);
        let host = address.map(|address| address.ip());
        let waiting = || self.all.iter().filter(|peer| !peer.is_ready && !peer.is_gone);
        let own = waiting().filter(|peer| peer.host == host).count();
        if own >= MAX_WAITING_PER_HOST || waiting().count() >= MAX_WAITING {
            // The connection may have ended already.
            let _ = stack.abort(id);
            return;
        }
        let caller = address.and_then(|address| self.callers.at(address)).cloned();
        let peer = Peer { host, caller, ..self.peer(id, now) };
        self.all.push(peer);
    }

    /// Returns whether a listener serves as many relays as it may, or as many of that host: one host must not take all places.
    fn is_full(&self, host: Option<IpAddr>) -> bool {
        let most = self.address.max_peers;
        let ready = || self.all.iter().filter(|peer| peer.is_ready && !peer.is_gone);
        let own = ready().filter(|peer| peer.host == host).count();
        ready().count() >= most || own >= most.div_ceil(PLACES_PER_HOST)
    }

    fn peer(&self, id: Id, now: Instant) -> Peer {
        let channel = MessageChannel::new(id, self.config.real_time.framing, now);
        Peer {
            channel,
            host: None,
            caller: None,
            is_ready: false,
            is_established: false,
            started: now,
            probed: now,
            ready_since: now,
            latency: self.address.latency,
            waiting: VecDeque::new(),
            retransmissions: 0,
            bytes_out: 0,
            dropped: 0,
            last_abandoned: None,
            is_end_sent: false,
            is_gone: false,
        }
    }

    /// Handles an event of a connection.
    pub(crate) fn on_event(&mut self, stack: &mut RelayStack, id: Id, event: Event) {
        let Some(index) = self.all.iter().position(|peer| peer.channel.id == id) else { return };
        match event {
            // The connecting side sends first, so that a listener can identify it.
            Event::Established if !self.address.is_listener => self.send_hello(stack, index),
            Event::Writable => drop(self.all[index].channel.flush(stack)),
            Event::Closed(_) => self.fail_peer(stack, index),
            _ => {}
        }
    }

    fn send_hello(&mut self, stack: &mut RelayStack, index: usize) {
        self.all[index].is_established = true;
        let latency_ms = (self.address.latency.as_nanos() / 1_000_000) as u32;
        let stream = self.address.stream.clone();
        let hello = Message::Hello { version: VERSION, direction: self.direction, latency_ms, stream: &stream };
        if self.all[index].channel.send(stack, &hello, 0).is_err() {
            self.drop_peer(stack, index);
        }
    }

    /// Receives the handshake message of a new peer and replies to it.
    fn handshake(&mut self, stack: &mut RelayStack, index: usize) {
        let peer = &mut self.all[index];
        if peer.is_ready || peer.is_gone {
            return;
        }
        let handshake = Handshake { address: &self.address, direction: self.direction, caller: peer.caller.as_ref() };
        match peer.channel.recv(stack, |_| false, |message| handshake.check(message.as_ref())) {
            Ok(Some(Ok(latency))) => self.welcome(stack, index, latency),
            Ok(Some(Err(refusal))) => self.refuse(stack, index, refusal),
            Ok(None) => {}
            Err(_) => self.drop_peer(stack, index),
        }
    }

    fn welcome(&mut self, stack: &mut RelayStack, index: usize, latency: Duration) {
        let now = stack.now();
        // A receiver plays one stream: the sender that is active keeps its place unless it is silent.
        let receives = self.direction == Direction::Pull;
        let other = self.all.iter().position(|peer| peer.is_ready && !peer.is_gone).filter(|_| receives);
        match other {
            Some(other) if now - self.all[other].channel.last_recv < TAKEOVER_AFTER => {
                return self.refuse(stack, index, Refusal::Busy);
            }
            Some(other) => self.drop_peer(stack, other),
            None if self.address.is_listener && self.is_full(self.all[index].host) => {
                return self.refuse(stack, index, Refusal::Full);
            }
            None => {}
        }
        let latency_ms = (latency.as_nanos() / 1_000_000) as u32;
        let peer = &mut self.all[index];
        if self.address.is_listener && peer.channel.send(stack, &Message::Welcome { latency_ms }, 0).is_err() {
            return self.drop_peer(stack, index);
        }
        // The connection was configured with this side's latency. Unknown connections are dropped by the next event.
        let _ = stack.set_frame_deadline(peer.channel.id, latency + AFTER_LATENCY);
        // Only now: a refused connection must not count as connected.
        (peer.is_ready, peer.ready_since, peer.latency) = (true, now, latency);
        self.connected += 1;
        // An old reason must not be reported once a connection works.
        self.refusal = None;
    }

    fn refuse(&mut self, stack: &mut RelayStack, index: usize, refusal: Refusal) {
        let peer = &mut self.all[index];
        self.refusal = Some(refusal);
        if self.address.is_listener {
            self.refused += 1;
            // A failure needs no handling: the peer sees the end of the connection instead.
            let _ = peer.channel.send(stack, &Message::Refused(refusal), 0);
            self.close_peer(stack, index);
        } else {
            self.drop_peer(stack, index);
        }
    }

    /// Handles a connection that failed, and derives the reason of a failed attempt: packets without a TCP handshake come from no
    /// relay; an invalid message after the handshake comes from another version.
    fn fail_peer(&mut self, stack: &mut RelayStack, index: usize) {
        let peer = &self.all[index];
        let is_attempt = !peer.is_ready && !peer.is_gone && !self.address.is_listener;
        if is_attempt && peer.channel.last_recv > peer.started {
            self.refusal = Some(Refusal::Version);
        } else if is_attempt {
            let is_foreign = !peer.is_established && stack.counters().received > self.packets_before;
            self.refusal = match &self.address.secret {
                _ if is_foreign => Some(Refusal::NotARelay),
                _ if peer.is_established => None,
                Some(_) => Some(Refusal::NoAnswer),
                None => Some(Refusal::NoAnswerInsecure),
            };
        }
        self.drop_peer(stack, index);
    }

    /// Aborts a connection.
    pub(crate) fn drop_peer(&mut self, stack: &mut RelayStack, index: usize) {
        if !self.all[index].is_gone {
            self.count_left(stack, index);
            let peer = &mut self.all[index];
            peer.is_gone = true;
            // The connection may have ended already.
            let _ = stack.abort(peer.channel.id);
        }
    }

    /// Closes a connection in order.
    pub(crate) fn close_peer(&mut self, stack: &mut RelayStack, index: usize) {
        let peer = &mut self.all[index];
        if !peer.is_gone {
            peer.is_gone = true;
            // The connection may have ended already.
            let _ = stack.close(peer.channel.id);
        }
    }

    /// Closes all connections, and opens no more.
    pub(crate) fn close(&mut self, stack: &mut RelayStack) {
        self.is_closing = true;
        for index in 0..self.all.len() {
            self.close_peer(stack, index);
        }
    }

    fn expire(&mut self, stack: &mut RelayStack, now: Instant) {
        for index in 0..self.all.len() {
            if now >= self.deadline_of(stack, &self.all[index]) {
                self.fail_peer(stack, index);
            }
        }
    }

    /// Returns when a peer times out: without a packet from it, as callers ask for one.
    fn deadline_of(&self, stack: &RelayStack, peer: &Peer) -> Instant {
        if peer.is_ready {
            let last = stack.last_received(peer.channel.id);
            last.map_or(Instant::NEVER, |last| last + self.address.idle_timeout)
        } else {
            peer.started + self.address.connect_timeout
        }
    }

    fn next_poll(&self, stack: &RelayStack, now: Instant) -> Instant {
        let due = |peer| self.deadline_of(stack, peer).min(self.probe_time(stack, peer));
        let deadline = self.all.iter().filter(|peer| !peer.is_gone).map(due).min();
        let is_connecting = self.all.is_empty() && !self.address.is_listener && !self.is_closing;
        let retry = if is_connecting { self.retry_at } else { Instant::NEVER };
        deadline.unwrap_or(Instant::NEVER).min(retry).max(now)
    }
}

/// The expectations of the peer's handshake message.
struct Handshake<'a> {
    address: &'a RelayAddress,
    direction: Direction,
    caller: Option<&'a Identity>,
}

impl Handshake<'_> {
    /// Returns the latency of both sides: the longer one, within the limit of addresses. A peer must not choose how much is buffered.
    fn latency(&self, of_peer_ms: u32) -> Duration {
        self.address.latency.max(Duration::from_millis(of_peer_ms.into()).min(LONGEST))
    }

    /// Checks the message. Returns the latency that both sides use: the longer one, as in SRT.
    fn check(&self, message: Option<&Message<'_>>) -> Result<Duration, Refusal> {
        match message {
            Some(&Message::Hello { version, direction, latency_ms, stream }) if self.address.is_listener => {
                // First, as other fields may have another meaning in another version.
                if version != VERSION {
                    Err(Refusal::Version)
                } else if self.caller.is_some_and(|caller| !caller.may(direction, stream)) {
                    // Before the name is compared: a caller without the right must not learn it by trying.
                    Err(Refusal::NotPermitted)
                } else if direction == self.direction {
                    Err(Refusal::WrongDirection)
                } else if stream != self.address.stream {
                    Err(Refusal::UnknownStream)
                } else {
                    Ok(self.latency(latency_ms))
                }
            }
            Some(&Message::Welcome { latency_ms }) => Ok(self.latency(latency_ms)),
            Some(&Message::Refused(refusal)) => Err(refusal),
            _ => Err(Refusal::Version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;

    /// The symptom: a peer that asked for a latency of 49.7 days got it, and the relay buffered 444 MB in 20 s.
    #[test]
    fn the_latency_of_a_peer_is_bounded_in_hello_and_welcome() {
        let latency = |text: &str, message: Message<'_>| {
            let Ok(Address::Relay(address)) = Address::parse(text) else { panic!("{text}") };
            Handshake { address: &address, direction: Direction::Pull, caller: None }.check(Some(&message))
        };
        let hello =
            |latency_ms| Message::Hello { version: VERSION, direction: Direction::Push, latency_ms, stream: "" };
        for (of_peer, agreed) in [(0, 200), (200, 200), (1_500, 1_500), (60_001, 60_000), (u32::MAX, 60_000)] {
            let agreed = Ok(Duration::from_millis(agreed));
            assert_eq!(latency("eb://:4201?insecure=1&latency=200", hello(of_peer)), agreed, "{of_peer}");
            let welcome = Message::Welcome { latency_ms: of_peer };
            assert_eq!(latency("eb://127.0.0.1:4201?latency=200", welcome), agreed, "{of_peer}");
        }
    }
}
