//! Two connections at the ends of a link, and what must hold at every step.

use crate::link::{Faults, Link};
use crate::settings::is_patient;
use earlybird_tcp::{Config, Connection, Cx, Event, Recovery, RfcState};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Flags, Segment, SeqNum};
use std::collections::{BTreeSet, VecDeque};

/// The reads of an application.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reading {
    AtOnce,
    /// So many bytes every so many milliseconds.
    Slowly {
        bytes: u64,
        period: u64,
    },
}

/// The time at which an application closes its direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Closing {
    /// After its last write.
    First,
    /// After its last write, once the other side has closed.
    Second,
    Never,
}

/// The actions of an application.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// Pauses in milliseconds, and bytes written after them.
    pub(crate) writes: Vec<(u64, u64)>,
    pub(crate) reading: Reading,
    pub(crate) closing: Closing,
}

/// One end: a connection, its application, and what a witness knows of it.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) connection: Connection,
    config: Config,
    writes: VecDeque<(Instant, u64)>,
    pub(crate) written: u64,
    reading: Reading,
    next_read: Option<Instant>,
    read: u64,
    closing: Closing,
    peer_has_closed: bool,
    pub(crate) events: Vec<Event>,
    /// Number and window scale of its SYN.
    origin: Option<SeqNum>,
    shift: Option<u8>,
    /// The first position beyond every window that it was told.
    edge: u64,
    /// One past the highest byte it sent.
    sent: u64,
    arrived: Arrived,
}

/// The ranges of payload that arrived, counted from the SYN.
#[derive(Debug, Default)]
struct Arrived {
    in_order: u64,
    above: Vec<(u64, u64)>,
}

impl Arrived {
    /// Returns whether the byte before `end` arrived.
    fn has(&self, end: u64) -> bool {
        end <= self.in_order + 1 || self.above.iter().any(|(start, beyond)| *start < end && end <= *beyond)
    }

    fn add(&mut self, start: u64, end: u64) {
        self.above.push((start, end));
        while let Some(index) = self.above.iter().position(|(start, _)| *start <= self.in_order + 1) {
            let (_, end) = self.above.swap_remove(index);
            self.in_order = self.in_order.max(end - 1);
        }
    }
}

/// More segments than any connection may send at once.
const BURST: usize = 200;

impl Side {
    fn new(connection: Connection, config: Config, script: &Script) -> Self {
        let mut time = Instant::ZERO;
        let writes = script.writes.iter().map(|(pause, bytes)| {
            time += Duration::from_millis(*pause);
            (time, *bytes)
        });
        Self {
            connection,
            config,
            writes: writes.collect(),
            written: 0,
            reading: script.reading,
            next_read: None,
            read: 0,
            closing: script.closing,
            peer_has_closed: false,
            events: Vec::new(),
            origin: None,
            shift: None,
            edge: 0,
            sent: 0,
            arrived: Arrived::default(),
        }
    }

    fn reads_sack(&self) -> bool {
        matches!(self.config.recovery.scheme, Recovery::Rfc6675 | Recovery::Rack)
    }

    fn is_over(&self) -> bool {
        matches!(self.connection.state(), RfcState::Closed | RfcState::TimeWait)
    }

    fn next(&self) -> Option<Instant> {
        let write = self.writes.front().map(|(at, _)| *at);
        [self.connection.poll_timeout(), write, self.next_read].into_iter().flatten().min()
    }

    /// Does everything that is due.
    fn act(&mut self, now: Instant) {
        if self.connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.connection.on_timeout(&mut Cx { now, trace: &mut () });
        }
        while let Some((_, bytes)) = self.writes.pop_front_if(|(at, _)| *at <= now) {
            // After an abort nothing is taken.
            self.written += self.connection.write(bytes).unwrap_or(0);
        }
        if self.next_read.is_some_and(|at| at <= now) {
            self.next_read = None;
            self.read_some(now);
        }
        let deadline = self.connection.poll_timeout();
        assert!(deadline.is_none_or(|deadline| deadline > now), "{deadline:?} has passed at {now:?}, after service");
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.read
    }

    fn read_some(&mut self, now: Instant) {
        match self.reading {
            Reading::AtOnce => self.read += self.connection.read(u64::MAX),
            Reading::Slowly { bytes, period } => {
                self.read += self.connection.read(bytes);
                self.next_read = (self.read < self.connection.received()).then(|| now + Duration::from_millis(period));
            }
        }
        assert!(self.read <= self.connection.received(), "more was read than received");
    }

    /// Closes the direction if it is time to; a listener must have heard of its peer. Says whether it did.
    fn close_if_due(&mut self) -> bool {
        let is_turn = match self.closing {
            Closing::First => self.origin.is_some(),
            Closing::Second => self.peer_has_closed,
            Closing::Never => false,
        };
        if !is_turn || !self.writes.is_empty() {
            return false;
        }
        self.connection.shutdown();
        self.closing = Closing::Never;
        true
    }

    fn on_event(&mut self, now: Instant, event: Event) {
        self.events.push(event);
        match event {
            Event::Readable if self.next_read.is_none() => self.read_some(now),
            Event::PeerClosed => self.peer_has_closed = true,
            _ => {}
        }
    }

    /// Notes what a segment from the other side tells and brings.
    fn witness_arrival(&mut self, segment: &Segment, peer: &SideFacts) {
        if let (true, Some(own), false) =
            (segment.flags.contains(Flags::ACK), self.origin, segment.flags.contains(Flags::RST))
        {
            let is_scaled = peer.shift.is_some() && self.shift.is_some() && !segment.flags.contains(Flags::SYN);
            let shift = if is_scaled { peer.shift.unwrap_or(0) } else { 0 };
            let edge = position(segment.ack, own) + (u64::from(segment.window) << shift);
            self.edge = self.edge.max(edge);
        }
        if let (true, Some(origin)) = (segment.len > 0, peer.origin) {
            let start = position(segment.seq, origin);
            self.arrived.add(start, start + u64::from(segment.len));
        }
    }

    /// Notes what leaves, and checks that it may.
    fn witness_departure(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            self.origin = Some(segment.seq);
            self.shift = segment.options.window_scale;
        }
        assert!(segment.options.wire_len() <= 40, "the options do not fit into a header");
        let Some(origin) = self.origin.filter(|_| segment.len > 0) else {
            return;
        };
        let end = position(segment.seq, origin) + u64::from(segment.len);
        let is_probe = segment.len == 1;
        assert!(end <= self.edge || end <= self.sent || is_probe, "{end} lies beyond the window, {}", self.edge);
        assert!(end <= 1 + self.written, "more is sent than written");
        assert!(segment.len <= self.config.segments.mss, "the segment is too long");
        self.sent = self.sent.max(end);
    }

    /// Nothing was lost and nothing sent twice: the congestion window is an upper bound. A probe may go one segment beyond
    /// it (RFC 8985 §7.3).
    fn check_flight(&self) {
        let (outstanding, cwnd) = (self.connection.outstanding(), self.connection.cwnd());
        let probes = self.config.recovery.scheme == Recovery::Rack && self.config.recovery.rack.probes_tail;
        // A FIN alone may too.
        let is_closing = matches!(self.connection.state(), RfcState::FinWait1 | RfcState::Closing | RfcState::LastAck);
        let beyond = f64::from(u8::from(probes) + u8::from(is_closing));
        let is_bounded =
            outstanding as f64 <= cwnd.max(1.0) + beyond || self.connection.statistics().retransmissions > 0;
        assert!(is_bounded, "{outstanding} segments are in flight with a window of {cwnd}");
    }

    fn check(&self, now: Instant) {
        let connection = &self.connection;
        let (cwnd, ssthresh) = (connection.cwnd(), connection.ssthresh());
        assert!((0.0..1e5).contains(&cwnd), "cwnd is {cwnd}");
        assert!(ssthresh >= f64::from(self.config.window.max.min(2)), "ssthresh is {ssthresh}");
        assert!(
            connection.outstanding() <= u64::from(self.config.window.max),
            "outstanding exceeds the largest window"
        );
        assert!(connection.received() <= self.arrived.in_order, "something was received that did not arrive");
        assert!(connection.timer().timeout <= self.config.timers.rto.ceiling, "the timeout is beyond its ceiling");
        let deadline = connection.poll_timeout();
        assert!(deadline.is_none_or(|deadline| deadline >= now), "{deadline:?} has passed at {now:?}");
        let statistics = connection.statistics();
        assert!(statistics.retransmissions <= statistics.segments_sent);
    }
}

/// The facts about a side that the checks of the other side need.
#[derive(Clone, Copy)]
struct SideFacts {
    origin: Option<SeqNum>,
    shift: Option<u8>,
}

fn position(number: SeqNum, origin: SeqNum) -> u64 {
    u64::from(number.0.wrapping_sub(origin.0))
}

/// Both sides and the link. Side 0 opens.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) sides: [Side; 2],
    link: Link,
    /// Nothing deceives the senders about what is on its way: neither the link nor a hasty timer nor spurious copies.
    bounds_flight: bool,
    pub(crate) now: Instant,
}

impl Pair {
    pub(crate) fn new(configs: [Config; 2], scripts: &[Script; 2], faults: Faults, seed: u64) -> Self {
        let seeds = SeedTree::new(seed);
        let opener = Connection::connect(&configs[0], seeds.child("opener"));
        let listener = Connection::listen(&configs[1], seeds.child("listener"));
        let sides = [Side::new(opener, configs[0], &scripts[0]), Side::new(listener, configs[1], &scripts[1])];
        let link = Link::new(faults);
        let bounds_flight = link.keeps_order() && configs.iter().all(is_patient);
        let mut pair = Self { sides, link, bounds_flight, now: Instant::ZERO };
        pair.serve(0);
        pair.serve(1);
        pair
    }

    /// Goes on to the next thing that happens; says whether there is one.
    pub(crate) fn step(&mut self) -> bool {
        let times = [self.link.next(), self.sides[0].next(), self.sides[1].next()];
        let Some(next) = times.into_iter().flatten().min() else {
            return false;
        };
        self.now = next;
        if times[0] == Some(next) {
            self.deliver();
        } else {
            let side = usize::from(times[1] != Some(next));
            self.sides[side].act(next);
            self.serve(side);
        }
        true
    }

    /// Goes on until `is_done`, but at most `steps` steps once the link has healed, and a hundred times as many before: while
    /// repairs get lost, for half an hour perhaps, the timer that ns-2 lets run idle ticks on the other side.
    pub(crate) fn run(&mut self, steps: u64, mut is_done: impl FnMut(&Self) -> bool) {
        let mut left = steps;
        for _ in 0..100 * steps {
            if is_done(self) || !self.step() {
                return;
            }
            left -= u64::from(self.link.is_healed());
            if left == 0 {
                break;
            }
        }
        let states = self.sides.each_ref().map(|side| side.connection.state());
        panic!("no end after {steps} steps: {states:?} at {:?}", self.now);
    }

    /// Returns whether both sides are closed, or in TIME-WAIT.
    pub(crate) fn is_over(&self) -> bool {
        self.sides.iter().all(Side::is_over)
    }

    fn deliver(&mut self) {
        let Some((to, segment)) = self.link.arrive() else {
            return;
        };
        let peer = SideFacts { origin: self.sides[1 - to].origin, shift: self.sides[1 - to].shift };
        let [sender, side] = [1 - to, to].map(|number| &self.sides[number]);
        let end = position(segment.seq, peer.origin.unwrap_or_default()) + u64::from(segment.len);
        // A sender that counts duplicate ACKs takes those of spurious copies for segments that have left the network.
        let is_deceived = segment.len > 0 && side.arrived.has(end) && !sender.reads_sack();
        self.bounds_flight &= !is_deceived;
        let side = &mut self.sides[to];
        side.witness_arrival(&segment, &peer);
        side.connection.on_segment(&mut Cx { now: self.now, trace: &mut () }, &segment);
        self.serve(to);
    }

    /// Does the work of a driver after every call: segments, events, timer.
    fn serve(&mut self, number: usize) {
        loop {
            for count in 0.. {
                let side = &mut self.sides[number];
                let Some(transmit) = side.connection.poll_transmit(&mut Cx { now: self.now, trace: &mut () }) else {
                    break;
                };
                assert!(count < BURST, "a connection sends without end");
                side.witness_departure(&transmit.segment);
                if self.link.is_clean() && transmit.number.is_some() {
                    side.check_flight();
                }
                self.link.carry(self.now, number, transmit.segment);
                if self.bounds_flight && transmit.segment.len > 0 && !transmit.is_retransmission {
                    self.check_network(number);
                }
            }
            let side = &mut self.sides[number];
            if let Some(event) = side.connection.poll_event() {
                side.on_event(self.now, event);
            } else if !side.close_if_due() {
                break;
            }
        }
        self.sides[number].check(self.now);
    }

    /// New data left: what is on its way, each segment once, fits into the window. Limited transmit may go two segments
    /// beyond it (RFC 3042).
    fn check_network(&self, number: usize) {
        let [side, peer] = [&self.sides[number], &self.sides[1 - number]];
        if side.config.recovery.scheme == Recovery::Sack1 && side.connection.statistics().retransmissions > 0 {
            // ns-2 takes two segments out of the network for every partial ACK.
            return;
        }
        let origin = side.origin.unwrap_or_default();
        let ends = self.link.carried_from(number).filter(|segment| segment.len > 0);
        let ends = ends.map(|segment| position(segment.seq, origin) + u64::from(segment.len));
        let in_flight = ends.filter(|end| !peer.arrived.has(*end)).collect::<BTreeSet<_>>().len();
        let (beyond, cwnd) = (if side.config.recovery.limited_transmit { 2.0 } else { 0.0 }, side.connection.cwnd());
        let is_bounded = in_flight as f64 <= cwnd.max(1.0) + beyond;
        assert!(is_bounded, "{in_flight} segments are on their way with a window of {cwnd}");
    }

    /// Lets an application act out of turn.
    pub(crate) fn with(&mut self, side: usize, act: impl FnOnce(&mut Side)) {
        act(&mut self.sides[side]);
        self.serve(side);
    }
}
