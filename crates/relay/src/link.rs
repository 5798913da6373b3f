//! The connections of a relay with others: made, greeted, and made again when they break.

use crate::address::{RelayAddress, Via};
use crate::message::{Direction, Message, Refusal, VERSION};
use crate::sender::Unit;
use crate::session::Session;
use earlybird_live::device::{Device, Path};
use earlybird_live::{Event, Id, MonotonicClock, Stack};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// The stack of a relay.
pub(crate) type RelayStack = Stack<Carrier, MonotonicClock>;
/// What carries its segments.
pub(crate) type Carrier = Box<dyn Device + Send>;

/// The port within a socket of UDP at which relays listen; the socket has the port that users see.
const WITHIN_UDP: u16 = 4201;
/// Time between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(500);
/// A sender that is silent for so long makes way for another.
const YIELDS: Duration = Duration::from_secs(1);

/// Another relay.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) session: Session,
    /// Both have greeted.
    pub(crate) is_ready: bool,
    /// Its stack has answered: it speaks TCP.
    is_established: bool,
    /// When the connection was begun.
    began: Instant,
    pub(crate) latency: Duration,
    /// Units that its connection has no room for yet.
    pub(crate) waiting: VecDeque<Arc<Unit>>,
    /// Segments that its connection has sent again.
    repeated: u64,
    /// It was told that the stream is over.
    pub(crate) knows_end: bool,
    /// Its connection is over, or of no use.
    pub(crate) is_gone: bool,
}

impl RelayAddress {
    /// Returns TCP's port of who waits.
    fn port(&self) -> u16 {
        match self.via {
            Via::Udp => WITHIN_UDP,
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
pub(crate) struct Link {
    pub(crate) address: RelayAddress,
    config: Config,
    direction: Direction,
    pub(crate) peers: Vec<Peer>,
    retry_at: Instant,
    /// Segments sent again over connections that are gone.
    repeated: u64,
    /// How often a connection was ready.
    pub(crate) connected: u64,
    /// Why the last attempt failed, if that is known.
    pub(crate) refusal: Option<Refusal>,
    /// What had arrived when it was begun.
    arrived: u64,
    /// No more connections are made: the end is near.
    pub(crate) is_closing: bool,
}

impl Link {
    /// Makes a link without connections. What this side does is what who opens connections does; one that waits does the opposite.
    pub(crate) fn new(
        address: RelayAddress,
        config: Config,
        sends: bool,
        stack: &mut RelayStack,
    ) -> Result<Self, earlybird_live::Error> {
        if address.waits {
            stack.listen(address.port(), &config, ListenConfig::default())?;
        }
        let direction = if sends { Direction::Push } else { Direction::Pull };
        Ok(Self {
            address,
            config,
            direction,
            peers: Vec::new(),
            retry_at: Instant::ZERO,
            repeated: 0,
            connected: 0,
            refusal: None,
            arrived: 0,
            is_closing: false,
        })
    }

    /// Makes connections, greets, and gives up what does not answer; says when to come back.
    pub(crate) fn turn(&mut self, stack: &mut RelayStack) -> Instant {
        let now = stack.now();
        self.forget_gone(stack);
        if !self.is_closing {
            self.open(stack, now);
        }
        for index in 0..self.peers.len() {
            self.greet(stack, index);
        }
        self.give_up(stack, now);
        self.next_look(now)
    }

    fn forget_gone(&mut self, stack: &RelayStack) {
        for peer in &mut self.peers {
            if let Ok(connection) = stack.connection(peer.session.id) {
                peer.repeated = connection.statistics().retransmissions;
            }
        }
        self.repeated += self.peers.iter().filter(|peer| peer.is_gone).map(|peer| peer.repeated).sum::<u64>();
        self.peers.retain(|peer| !peer.is_gone);
    }

    /// Returns how many segments were sent again so far.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated + self.peers.iter().map(|peer| peer.repeated).sum::<u64>()
    }

    fn open(&mut self, stack: &mut RelayStack, now: Instant) {
        while self.address.waits
            && let Some(id) = stack.accept(self.address.port())
        {
            self.peers.push(self.peer(id, now));
        }
        if !self.address.waits && self.peers.is_empty() && now >= self.retry_at {
            self.retry_at = now + PAUSE;
            self.arrived = stack.counters().received;
            // What fails now may work later: the address is not there yet, or all ports are in use.
            if let Ok(id) = stack.connect(&self.config, self.address.path(), self.address.port()) {
                self.peers.push(self.peer(id, now));
            }
        }
    }

    fn peer(&self, id: Id, now: Instant) -> Peer {
        let session = Session::new(id, self.config.real_time.framing, now);
        Peer {
            session,
            is_ready: false,
            is_established: false,
            began: now,
            latency: self.address.latency,
            waiting: VecDeque::new(),
            repeated: 0,
            knows_end: false,
            is_gone: false,
        }
    }

    /// Learns of what happened to a connection.
    pub(crate) fn on_event(&mut self, stack: &mut RelayStack, id: Id, event: Event) {
        let Some(index) = self.peers.iter().position(|peer| peer.session.id == id) else { return };
        match event {
            Event::Established if !self.address.waits => self.say_hello(stack, index),
            Event::Writable => drop(self.peers[index].session.flush(stack)),
            Event::Unanswered | Event::Closed(_) => self.lose_peer(stack, index),
            _ => {}
        }
    }

    fn say_hello(&mut self, stack: &mut RelayStack, index: usize) {
        self.peers[index].is_established = true;
        let latency_ms = (self.address.latency.as_nanos() / 1_000_000) as u32;
        let stream = self.address.stream.clone();
        let hello = Message::Hello { version: VERSION, direction: self.direction, latency_ms, stream: &stream };
        if self.peers[index].session.say(stack, &hello, 0).is_err() {
            self.drop_peer(stack, index);
        }
    }

    /// Hears the greeting of a peer that is not ready, and answers it.
    fn greet(&mut self, stack: &mut RelayStack, index: usize) {
        let peer = &mut self.peers[index];
        if peer.is_ready || peer.is_gone {
            return;
        }
        let expectation = Expectation { address: &self.address, direction: self.direction };
        match peer.session.hear(stack, |_| false, |message| expectation.judge(message.as_ref())) {
            Ok(Some(Ok(latency))) => self.welcome(stack, index, latency),
            Ok(Some(Err(refusal))) => self.refuse(stack, index, refusal),
            Ok(None) => {}
            Err(_) => self.drop_peer(stack, index),
        }
    }

    fn welcome(&mut self, stack: &mut RelayStack, index: usize, latency: Duration) {
        let now = stack.now();
        let receives = self.direction == Direction::Pull;
        let other = self.peers.iter().position(|peer| peer.is_ready && !peer.is_gone).filter(|_| receives);
        match other {
            Some(other) if now - self.peers[other].session.heard < YIELDS => {
                return self.refuse(stack, index, Refusal::Busy);
            }
            Some(other) => self.drop_peer(stack, other),
            None => {}
        }
        let latency_ms = (latency.as_nanos() / 1_000_000) as u32;
        let peer = &mut self.peers[index];
        if self.address.waits && peer.session.say(stack, &Message::Welcome { latency_ms }, 0).is_err() {
            return self.drop_peer(stack, index);
        }
        (peer.is_ready, peer.latency) = (true, latency);
        self.connected += 1;
        self.refusal = None;
    }

    fn refuse(&mut self, stack: &mut RelayStack, index: usize, refusal: Refusal) {
        let peer = &mut self.peers[index];
        self.refusal = Some(refusal);
        if self.address.waits {
            // Who does not hear it finds out by the end of the connection.
            let _ = peer.session.say(stack, &Message::Refused(refusal), 0);
            self.close_peer(stack, index);
        } else {
            self.drop_peer(stack, index);
        }
    }

    /// Lets a connection go that broke or was not made. Who answers, and not as TCP does, is no relay; who says something that is
    /// no greeting speaks otherwise.
    fn lose_peer(&mut self, stack: &mut RelayStack, index: usize) {
        let peer = &self.peers[index];
        let is_attempt = !peer.is_ready && !peer.is_gone && !self.address.waits;
        if is_attempt && peer.session.heard > peer.began {
            self.refusal = Some(Refusal::Version);
        } else if is_attempt {
            let is_foreign = !peer.is_established && stack.counters().received > self.arrived;
            self.refusal = is_foreign.then_some(Refusal::Foreign);
        }
        self.drop_peer(stack, index);
    }

    /// Lets a connection go: it is broken, or of no use.
    pub(crate) fn drop_peer(&mut self, stack: &mut RelayStack, index: usize) {
        let peer = &mut self.peers[index];
        if !peer.is_gone {
            peer.is_gone = true;
            // It may be over already.
            let _ = stack.abort(peer.session.id);
        }
    }

    /// Ends a connection in peace.
    pub(crate) fn close_peer(&mut self, stack: &mut RelayStack, index: usize) {
        let peer = &mut self.peers[index];
        if !peer.is_gone {
            peer.is_gone = true;
            // It may be over already.
            let _ = stack.close(peer.session.id);
        }
    }

    /// Ends all connections, and makes no more.
    pub(crate) fn close(&mut self, stack: &mut RelayStack) {
        self.is_closing = true;
        for index in 0..self.peers.len() {
            self.close_peer(stack, index);
        }
    }

    fn give_up(&mut self, stack: &mut RelayStack, now: Instant) {
        for index in 0..self.peers.len() {
            if now >= self.patience_ends(&self.peers[index]) {
                self.lose_peer(stack, index);
            }
        }
    }

    /// Returns the time until which is waited for a peer. Who receives must hear something; who sends hears of silence by its
    /// connection.
    fn patience_ends(&self, peer: &Peer) -> Instant {
        if !peer.is_ready {
            peer.began + self.address.connect_timeout
        } else if self.direction == Direction::Pull {
            peer.session.heard + self.address.idle_timeout
        } else {
            Instant::NEVER
        }
    }

    fn next_look(&self, now: Instant) -> Instant {
        let patience = self.peers.iter().map(|peer| self.patience_ends(peer)).min();
        let calls = self.peers.is_empty() && !self.address.waits && !self.is_closing;
        let retry = if calls { self.retry_at } else { Instant::NEVER };
        patience.unwrap_or(Instant::NEVER).min(retry).max(now)
    }
}

/// What a greeting must say.
struct Expectation<'a> {
    address: &'a RelayAddress,
    direction: Direction,
}

impl Expectation<'_> {
    /// Returns the latency that both keep to: the longer one, as with SRT.
    fn judge(&self, message: Option<&Message<'_>>) -> Result<Duration, Refusal> {
        match message {
            Some(&Message::Hello { version, direction, latency_ms, stream }) if self.address.waits => {
                if version != VERSION {
                    Err(Refusal::Version)
                } else if direction == self.direction {
                    Err(Refusal::WrongDirection)
                } else if stream != self.address.stream {
                    Err(Refusal::UnknownStream)
                } else {
                    Ok(self.address.latency.max(Duration::from_millis(latency_ms.into())))
                }
            }
            Some(&Message::Welcome { latency_ms }) => Ok(Duration::from_millis(latency_ms.into())),
            Some(&Message::Refused(refusal)) => Err(refusal),
            _ => Err(Refusal::Version),
        }
    }
}
