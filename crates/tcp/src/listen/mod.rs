//! A port that many peers connect to: handshakes that are not done yet, in bounded memory, and a queue of those that are.
//!
//! For a host (RFC 9293 §3.10.7.1, §3.10.7.2): a segment goes to the connection that has its addresses, else to the listener
//! at its port, else to [`reject`](crate::reject). The listener holds no [`Connection`]: it makes one when a handshake is done.
//!
//! What a driver does:
//!
//! * hands every segment that no connection claims to [`Listener::on_segment`] and does what the [`Response`] says: a
//!   connection that was opened is kept under its addresses and drained as after any other call;
//! * calls [`Listener::poll_transmit`] until it gives nothing, when [`Listener::poll_timeout`] says so: answers that go again;
//! * takes from [`Listener::accept`] what the application accepts, in order. A connection that ended before stays in that
//!   queue: the application learns of it;
//! * tells by [`Listener::on_settled`] that a connection with [`Opened::is_early`] had its handshake completed, or ended.
//!
//! To close, a driver aborts the connections that nobody accepted and drops the listener.

mod cache;
mod cookies;
mod fast_open;
mod half_open;
mod keyed;

pub use self::fast_open::FastOpenServer;

use self::cache::{ENTRY_BYTES, SynCache};
use self::fast_open::{Decision, Pending};
use self::half_open::HalfOpen;
use self::keyed::Secret;
use crate::config::Config;
use crate::connection::{AcceptedRange, Connection, Identity, RfcState, reject};
use crate::trace::Cx;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::{Addresses, FastOpen, Flags, Segment};

/// When SYNs are answered without keeping anything of them (RFC 4987 §3.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SynCookies {
    /// Never: if there are too many half-open handshakes, the oldest one is forgotten.
    Never,
    /// While there are as many half-open handshakes as may be; those are kept.
    #[default]
    WhenFull,
    /// Always.
    Always,
}

/// The bounds of a listener, and how it meets those who press against them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenConfig {
    /// Connections that wait for the application to accept them. Beyond that SYNs and last ACKs are dropped: peers try again.
    pub backlog: usize,
    /// Half-open handshakes that are kept, each in [`Listener::HALF_OPEN_BYTES`].
    pub half_open: usize,
    /// What comes beyond them.
    pub syn_cookies: SynCookies,
    /// How often an answer goes again before its handshake is given up (Linux: `tcp_synack_retries`).
    pub repeats: u8,
    /// Data on SYNs (RFC 7413); none are taken without it.
    pub fast_open: Option<FastOpenServer>,
}

impl Default for ListenConfig {
    /// Returns Linux's: 128 to be accepted, five repetitions, cookies under pressure; 1024 half-open handshakes.
    fn default() -> Self {
        Self { backlog: 128, half_open: 1024, syn_cookies: SynCookies::WhenFull, repeats: 5, fast_open: None }
    }
}

/// What became of SYNs and of what followed them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenStatistics {
    /// SYNs that came, repetitions among them.
    pub openings: u64,
    /// Connections that were opened, those by data on a SYN among them.
    pub opened: u64,
    /// Those by data on a SYN, or by a cookie of Fast Open.
    pub opened_early: u64,
    /// SYNs and last ACKs that were dropped, for too many connections wait for the application.
    pub overflows: u64,
    /// Handshakes that were forgotten to make room.
    pub evicted: u64,
    /// Handshakes that were given up after the last repetition.
    pub given_up: u64,
    /// Handshakes that the peer reset.
    pub resets: u64,
    /// SYNs that were answered by a cookie.
    pub cookies_sent: u64,
    /// Connections that were opened by one, among those opened.
    pub cookies_accepted: u64,
    /// ACKs of nothing that was sent: of no handshake, or with a wrong cookie.
    pub strangers: u64,
    /// Segments that no honest peer sends: SYN with FIN, resets beside the number expected.
    pub malformed: u64,
}

/// A connection that a listener opened.
#[derive(Debug)]
pub struct Opened {
    /// The connection, from now on the driver's.
    pub connection: Box<Connection>,
    /// The part of the segment's payload that it took.
    pub taken: AcceptedRange,
    /// Its handshake goes on: Fast Open.
    pub is_early: bool,
}

/// What a driver has to do about a segment.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "it lives for a moment, and an answer is the common case")]
pub enum Response {
    /// Nothing.
    Nothing,
    /// Send this back.
    Answer(Segment),
    /// Keep this connection.
    Opened(Opened),
}

impl From<Option<Segment>> for Response {
    fn from(answer: Option<Segment>) -> Self {
        answer.map_or(Self::Nothing, Self::Answer)
    }
}

/// A port that many peers connect to; see the module's page for what a driver does.
#[derive(Debug)]
pub struct Listener {
    config: Config,
    settings: ListenConfig,
    secret: Secret,
    seeds: SeedTree,
    half_open: SynCache,
    accepted: VecDeque<Addresses>,
    pending: Pending,
    /// When a cookie was last sent.
    cookie_at: Option<Instant>,
    statistics: ListenStatistics,
}

impl Listener {
    /// What a half-open handshake takes in bytes, without the share of the trees that it stands in.
    pub const HALF_OPEN_BYTES: usize = ENTRY_BYTES;

    /// Makes a listener whose connections have this configuration.
    ///
    /// `secret` must be one that nobody can guess: sequence numbers, timestamps and cookies come from it. `seeds` is where
    /// the connections' policies draw from.
    pub fn new(config: &Config, settings: ListenConfig, secret: [u8; 16], seeds: SeedTree) -> Self {
        Self {
            config: *config,
            half_open: SynCache::new(settings.half_open),
            settings,
            secret: Secret(secret),
            seeds,
            accepted: VecDeque::new(),
            pending: Pending::default(),
            cookie_at: None,
            statistics: ListenStatistics::default(),
        }
    }

    /// Takes a segment that no connection claims, with its addresses as they stand in it.
    pub fn on_segment(&mut self, cx: &mut Cx<'_>, addresses: &Addresses, segment: &Segment) -> Response {
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            self.on_reset(addresses, segment);
            Response::Nothing
        } else if flags.contains(Flags::SYN | Flags::FIN) {
            self.statistics.malformed += 1;
            Response::Nothing
        } else if flags.contains(Flags::SYN | Flags::ACK) {
            self.refuse(segment)
        } else if flags.contains(Flags::SYN) {
            self.on_syn(cx, addresses, segment)
        } else if flags.contains(Flags::ACK) {
            self.on_ack(cx, addresses, segment)
        } else {
            Response::Nothing
        }
    }

    /// Only a reset at exactly the number expected counts (RFC 5961 §3.2).
    fn on_reset(&mut self, addresses: &Addresses, segment: &Segment) {
        let Some(entry) = self.half_open.get(addresses) else { return };
        if segment.seq == entry.origin.at(1) {
            self.half_open.remove(addresses);
            self.statistics.resets += 1;
        } else {
            self.statistics.malformed += 1;
        }
    }

    fn refuse(&mut self, segment: &Segment) -> Response {
        self.statistics.strangers += 1;
        reject(segment).into()
    }

    fn on_syn(&mut self, cx: &mut Cx<'_>, addresses: &Addresses, syn: &Segment) -> Response {
        self.statistics.openings += 1;
        if let Some(entry) = self.half_open.get(addresses) {
            return self.answer_again(*entry);
        }
        if self.is_backlogged() {
            return Response::Nothing;
        }
        let decision =
            self.settings.fast_open.as_ref().map(|server| self.pending.decide(cx.now, server, addresses, syn));
        match decision.unwrap_or(Decision::Ordinary(None)) {
            Decision::Accept(cookie) => self.open_early(cx, addresses, syn, cookie),
            Decision::Ordinary(cookie) => self.answer(cx.now, addresses, syn, cookie).into(),
        }
    }

    /// Returns whether there are connections enough for the application to accept; counts if so.
    fn is_backlogged(&mut self) -> bool {
        let is_full = self.accepted.len() >= self.settings.backlog;
        self.statistics.overflows += u64::from(is_full);
        is_full
    }

    /// Answers a SYN to a half-open handshake as before. If it is another one, its sender resets what it does not know and
    /// tries again: nobody who only guesses addresses can end the handshake of another.
    fn answer_again(&mut self, entry: HalfOpen) -> Response {
        let mut entry = HalfOpen { was_asked_again: true, ..entry };
        let answer = entry.answer(&self.config);
        self.half_open.update(entry);
        answer.into()
    }

    fn answer(
        &mut self,
        now: Instant,
        addresses: &Addresses,
        syn: &Segment,
        cookie: Option<FastOpen>,
    ) -> Option<Segment> {
        let mut entry = HalfOpen::new(addresses, self.identity(addresses, now), now, syn);
        let mut answer = if self.sends_cookies() {
            entry = self.secret.write_cookie(&entry, now)?;
            self.cookie_at = Some(now);
            self.statistics.cookies_sent += 1;
            entry.answer(&self.config)?
        } else {
            let answer = entry.answer(&self.config)?;
            self.statistics.evicted += u64::from(self.half_open.insert(entry));
            answer
        };
        if let Some(cookie) = cookie {
            answer.options = answer.options.with_fast_open(cookie);
        }
        Some(answer)
    }

    fn sends_cookies(&self) -> bool {
        match self.settings.syn_cookies {
            SynCookies::Never => false,
            SynCookies::WhenFull => self.half_open.is_full(),
            SynCookies::Always => true,
        }
    }

    fn identity(&self, addresses: &Addresses, now: Instant) -> Identity {
        Identity::keyed(&self.secret.0, addresses, now)
    }

    fn open_early(
        &mut self,
        cx: &mut Cx<'_>,
        addresses: &Addresses,
        syn: &Segment,
        cookie: Option<FastOpen>,
    ) -> Response {
        let identity = self.identity(addresses, cx.now);
        let seeds = self.seeds.nth(self.statistics.opened);
        let (connection, taken) = Connection::accept_fast(cx, &self.config, identity, seeds, syn, cookie);
        self.pending.insert(*addresses);
        self.statistics.opened_early += 1;
        self.open(addresses, connection, taken, true)
    }

    fn open(
        &mut self,
        addresses: &Addresses,
        connection: Connection,
        taken: AcceptedRange,
        is_early: bool,
    ) -> Response {
        self.statistics.opened += 1;
        self.accepted.push_back(*addresses);
        Response::Opened(Opened { connection: Box::new(connection), taken, is_early })
    }

    fn on_ack(&mut self, cx: &mut Cx<'_>, addresses: &Addresses, ack: &Segment) -> Response {
        let kept = self.half_open.get(addresses).copied();
        let Some(entry) = kept.or_else(|| self.read_cookie(cx.now, addresses, ack)) else { return self.refuse(ack) };
        if ack.ack != entry.identity.origin.at(1) {
            return self.refuse(ack);
        }
        if self.is_backlogged() {
            return Response::Nothing;
        }
        let (mut connection, _) = entry.relive(&self.config, self.seeds.nth(self.statistics.opened));
        let taken = connection.on_segment(cx, ack);
        if matches!(connection.state(), RfcState::SynReceived | RfcState::Closed) {
            // It is too old, or not of this window: the connection says so as it would in the middle of a transfer.
            return connection.poll_transmit(cx).map(|transmit| transmit.segment).into();
        }
        self.half_open.remove(addresses);
        self.statistics.cookies_accepted += u64::from(kept.is_none());
        self.open(addresses, connection, taken, false)
    }

    /// Reads a cookie where any were sent not long ago: else nobody may guess at one.
    fn read_cookie(&self, now: Instant, addresses: &Addresses, ack: &Segment) -> Option<HalfOpen> {
        self.cookie_at.filter(|sent| now - *sent <= cookies::VALID)?;
        self.secret.read_cookie(addresses, &self.config, self.identity(addresses, now), now, ack)
    }

    /// Returns the next answer that goes again, and to whom: its addresses are those of what it answers.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(Addresses, Segment)> {
        while let Some(entry) = self.half_open.due(now).copied() {
            if entry.repeats >= self.settings.repeats {
                self.half_open.remove(&entry.addresses);
                self.statistics.given_up += 1;
                continue;
            }
            let mut entry = HalfOpen { repeats: entry.repeats + 1, ..entry };
            let answer = entry.answer(&self.config);
            self.half_open.update(entry);
            if let Some(answer) = answer {
                return Some((entry.addresses, answer));
            }
        }
        None
    }

    /// Returns the time at which to call [`Self::poll_transmit`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.half_open.deadline().filter(|at| *at < Instant::NEVER)
    }

    /// Returns the addresses of the next connection for the application, in the order in which they were opened.
    pub fn accept(&mut self) -> Option<Addresses> {
        self.accepted.pop_front()
    }

    /// Returns how many connections wait to be accepted.
    pub fn waiting(&self) -> usize {
        self.accepted.len()
    }

    /// Returns how many handshakes are half-open.
    pub fn half_open(&self) -> usize {
        self.half_open.len()
    }

    /// Learns that the handshake of a connection that was opened early ([`Opened::is_early`]) is done, or that the connection
    /// ended before it was; `was_reset` if its peer did that, which counts for a while (RFC 7413 §5.1).
    pub fn on_settled(&mut self, now: Instant, addresses: &Addresses, was_reset: bool) {
        self.pending.settle(now, addresses, was_reset);
    }

    /// Exchanges what is done with data on SYNs: keys that are new, or another limit.
    pub fn set_fast_open(&mut self, fast_open: Option<FastOpenServer>) {
        self.settings.fast_open = fast_open;
    }

    /// Exchanges how many connections may wait to be accepted.
    pub fn set_backlog(&mut self, backlog: usize) {
        self.settings.backlog = backlog;
    }

    /// Returns the counters.
    pub fn statistics(&self) -> &ListenStatistics {
        &self.statistics
    }
}
