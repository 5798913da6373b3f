//! A listener: half-open handshakes in bounded memory, and a queue of connections to accept.
//!
//! For a host (RFC 9293 §3.10.7.1, §3.10.7.2): a segment goes to the connection that has its addresses, else to the listener
//! at its port, else to [`reject`](crate::reject). The listener holds no [`Connection`]: it builds one when a handshake is complete.
//!
//! A driver
//!
//! * passes every segment without a connection to [`Listener::on_segment`] and handles the [`Response`]: it stores a new
//!   connection under its addresses and polls it as after any other call;
//! * calls [`Listener::poll_transmit`] at [`Listener::poll_timeout`] until it returns `None`: retransmissions of SYN-ACKs;
//! * takes connections for the application from [`Listener::accept`], in order. A connection that has ended stays in that
//!   queue, so that the application sees its end;
//! * calls [`Listener::on_settled`] when a connection with [`Opened::is_fast_open`] completes its handshake, or ends.
//!
//! To close, it aborts the connections that were not accepted and drops the listener.

mod cache;
mod cookies;
mod fast_open;
mod half_open;
mod isn;

pub use self::fast_open::FastOpenServer;

use self::cache::{ENTRY_BYTES, SynCache};
use self::fast_open::{PendingFastOpens, SynDecision};
use self::half_open::HalfOpen;
use self::isn::Secret;
use crate::config::Config;
use crate::connection::{AcceptedRange, Connection, Identity, RfcState, reject};
use crate::trace::Cx;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::{Addresses, FastOpen, Flags, Segment};

/// The condition for SYN cookies, which need no state (RFC 4987 §3.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SynCookies {
    /// Never: if there are too many half-open handshakes, the oldest one is evicted.
    Never,
    /// While the SYN cache is full; its handshakes are kept.
    #[default]
    WhenFull,
    /// Always.
    Always,
}

/// The limits of a listener, and what it does when they are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenConfig {
    /// The most connections that wait to be accepted. Beyond that SYNs and final ACKs are dropped; peers retransmit.
    pub backlog: usize,
    /// The most half-open handshakes, each of [`Listener::HALF_OPEN_BYTES`].
    pub half_open: usize,
    /// The condition for SYN cookies.
    pub syn_cookies: SynCookies,
    /// The number of SYN-ACK retransmissions before a handshake is dropped (Linux: `tcp_synack_retries`).
    pub synack_retries: u8,
    /// TCP Fast Open (RFC 7413); without it no data on SYNs is accepted.
    pub fast_open: Option<FastOpenServer>,
}

impl Default for ListenConfig {
    /// Returns the defaults of Linux: a backlog of 128, five retransmissions, cookies when full; 1024 half-open handshakes.
    fn default() -> Self {
        Self { backlog: 128, half_open: 1024, syn_cookies: SynCookies::WhenFull, synack_retries: 5, fast_open: None }
    }
}

/// Counters of a listener.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenStatistics {
    /// SYNs that arrived, retransmissions included.
    pub syns: u64,
    /// Connections that were opened, those by Fast Open included.
    pub opened: u64,
    /// Connections that were opened by Fast Open.
    pub fast_opened: u64,
    /// SYNs and final ACKs that were dropped because the backlog was full.
    pub overflows: u64,
    /// Handshakes that were evicted from the SYN cache.
    pub evicted: u64,
    /// Handshakes that were dropped after the last retransmission.
    pub timed_out: u64,
    /// Handshakes that the peer reset.
    pub resets: u64,
    /// SYNs that were answered by a SYN cookie.
    pub cookies_sent: u64,
    /// Connections that were opened by a SYN cookie.
    pub cookies_accepted: u64,
    /// ACKs that belong to no handshake and have no valid cookie.
    pub stray_acks: u64,
    /// Invalid segments: SYN with FIN, or resets with a wrong sequence number.
    pub malformed: u64,
}

/// A connection that a listener opened.
#[derive(Debug)]
pub struct Opened {
    /// The connection, which the driver owns from now on.
    pub connection: Box<Connection>,
    /// The part of the segment's payload that it accepted.
    pub taken: AcceptedRange,
    /// Whether it was opened by Fast Open, so that its handshake is incomplete.
    pub is_fast_open: bool,
}

/// The action that a driver takes after a segment.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "short-lived, and an answer is the common case")]
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

/// A port that many peers connect to.
#[derive(Debug)]
pub struct Listener {
    config: Config,
    settings: ListenConfig,
    secret: Secret,
    seeds: SeedTree,
    half_open: SynCache,
    accepted: VecDeque<Addresses>,
    pending: PendingFastOpens,
    /// The time at which the last cookie was sent.
    cookie_at: Option<Instant>,
    statistics: ListenStatistics,
}

impl Listener {
    /// Bytes of a half-open handshake, without the overhead of the trees.
    pub const HALF_OPEN_BYTES: usize = ENTRY_BYTES;

    /// Returns a listener whose connections have this configuration.
    ///
    /// `secret` must be unpredictable: sequence numbers, timestamps and cookies derive from it. The policies of the connections draw
    /// random numbers from `seeds`.
    pub fn new(config: &Config, settings: ListenConfig, secret: [u8; 16], seeds: SeedTree) -> Self {
        Self {
            config: *config,
            half_open: SynCache::new(settings.half_open),
            settings,
            secret: Secret(secret),
            seeds,
            accepted: VecDeque::new(),
            pending: PendingFastOpens::default(),
            cookie_at: None,
            statistics: ListenStatistics::default(),
        }
    }

    /// Processes a segment without a connection; `addresses` are those of the segment.
    pub fn on_segment(&mut self, cx: &mut Cx<'_>, addresses: &Addresses, segment: &Segment) -> Response {
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            // The order of RFC 9293 §3.10.7.2: RST, then ACK, then SYN.
            self.on_reset(addresses, segment);
            Response::Nothing
        } else if flags.contains(Flags::SYN | Flags::FIN) {
            self.statistics.malformed += 1;
            Response::Nothing
        } else if flags.contains(Flags::SYN | Flags::ACK) {
            // A SYN-ACK to a listener has an ACK of nothing that was sent (RFC 9293 §3.10.7.2, second).
            self.refuse(segment)
        } else if flags.contains(Flags::SYN) {
            self.on_syn(cx, addresses, segment)
        } else if flags.contains(Flags::ACK) {
            self.on_ack(cx, addresses, segment)
        } else {
            Response::Nothing
        }
    }

    /// Removes a handshake if the reset has exactly the expected sequence number (RFC 5961 §3.2).
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
        self.statistics.stray_acks += 1;
        reject(segment).into()
    }

    fn on_syn(&mut self, cx: &mut Cx<'_>, addresses: &Addresses, syn: &Segment) -> Response {
        self.statistics.syns += 1;
        if let Some(entry) = self.half_open.get(addresses) {
            return self.resend_answer(*entry);
        }
        if self.is_backlogged() {
            return Response::Nothing;
        }
        let decision =
            self.settings.fast_open.as_ref().map(|server| self.pending.decide(cx.now, server, addresses, syn));
        match decision.unwrap_or(SynDecision::Regular(None)) {
            SynDecision::Accept(cookie) => self.open_early(cx, addresses, syn, cookie),
            SynDecision::Regular(cookie) => self.answer(cx.now, addresses, syn, cookie).into(),
        }
    }

    /// Returns whether the backlog is full, and counts an overflow then.
    fn is_backlogged(&mut self) -> bool {
        let is_full = self.accepted.len() >= self.settings.backlog;
        self.statistics.overflows += u64::from(is_full);
        is_full
    }

    /// Repeats the SYN-ACK of a half-open handshake. If the SYN is a different one, its sender resets the unknown handshake and
    /// retries: a spoofed SYN cannot end the handshake of another peer.
    fn resend_answer(&mut self, entry: HalfOpen) -> Response {
        let mut entry = HalfOpen { was_syn_retransmitted: true, ..entry };
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
            entry = self.secret.write_cookie(&entry, &self.config, now)?;
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
        // One branch of seeds per connection, by its number: runs are reproducible.
        let seeds = self.seeds.nth(self.statistics.opened);
        let (connection, taken) = Connection::accept_fast(cx, &self.config, identity, seeds, syn, cookie);
        self.pending.insert(*addresses);
        self.statistics.fast_opened += 1;
        self.open(addresses, connection, taken, true)
    }

    fn open(
        &mut self,
        addresses: &Addresses,
        connection: Connection,
        taken: AcceptedRange,
        is_fast_open: bool,
    ) -> Response {
        self.statistics.opened += 1;
        self.accepted.push_back(*addresses);
        Response::Opened(Opened { connection: Box::new(connection), taken, is_fast_open })
    }

    fn on_ack(&mut self, cx: &mut Cx<'_>, addresses: &Addresses, ack: &Segment) -> Response {
        // The SYN cache before cookies: a handshake with state needs no decoding.
        let kept = self.half_open.get(addresses).copied();
        let Some(entry) = kept.or_else(|| self.read_cookie(cx.now, addresses, ack)) else { return self.refuse(ack) };
        // Anything but the ACK of our SYN is not of this handshake.
        if ack.ack != entry.identity.origin.at(1) {
            return self.refuse(ack);
        }
        if self.is_backlogged() {
            return Response::Nothing;
        }
        let (mut connection, _) = entry.rebuild(&self.config, self.seeds.nth(self.statistics.opened));
        let taken = connection.on_segment(cx, ack);
        if matches!(connection.state(), RfcState::SynReceived | RfcState::Closed) {
            // PAWS or the window check dropped it: answer as an established connection would.
            return connection.poll_transmit(cx).map(|transmit| transmit.segment).into();
        }
        self.half_open.remove(addresses);
        self.statistics.cookies_accepted += u64::from(kept.is_none());
        self.open(addresses, connection, taken, false)
    }

    /// Decodes a cookie, if any was sent recently: otherwise an attacker could guess one at any time.
    fn read_cookie(&self, now: Instant, addresses: &Addresses, ack: &Segment) -> Option<HalfOpen> {
        self.cookie_at.filter(|sent| now - *sent <= cookies::COOKIE_LIFETIME)?;
        self.secret.read_cookie(addresses, &self.config, self.identity(addresses, now), now, ack)
    }

    /// Returns the next SYN-ACK to retransmit, with the addresses of the SYN that it answers.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(Addresses, Segment)> {
        while let Some(entry) = self.half_open.due(now).copied() {
            if entry.retransmissions >= self.settings.synack_retries {
                self.half_open.remove(&entry.addresses);
                self.statistics.timed_out += 1;
                continue;
            }
            let mut entry = HalfOpen { retransmissions: entry.retransmissions + 1, ..entry };
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

    /// Returns the number of connections that wait to be accepted.
    pub fn waiting(&self) -> usize {
        self.accepted.len()
    }

    /// Returns the number of half-open handshakes.
    pub fn half_open(&self) -> usize {
        self.half_open.len()
    }

    /// Processes the end of the handshake, or of the connection, for one with [`Opened::is_fast_open`]. With `was_reset` the peer
    /// has reset it, and it counts as pending for a while (RFC 7413 §5.1).
    pub fn on_settled(&mut self, now: Instant, addresses: &Addresses, was_reset: bool) {
        self.pending.settle(now, addresses, was_reset);
    }

    /// Sets the Fast Open settings: new keys, or another limit.
    pub fn set_fast_open(&mut self, fast_open: Option<FastOpenServer>) {
        self.settings.fast_open = fast_open;
    }

    /// Sets the backlog.
    pub fn set_backlog(&mut self, backlog: usize) {
        self.settings.backlog = backlog;
    }

    /// Returns the counters.
    pub fn statistics(&self) -> &ListenStatistics {
        &self.statistics
    }
}
