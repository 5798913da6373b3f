//! The deadlines of a connection.

use super::Connection;
use super::closing::Ending;
use super::events::Event;
use super::lifetime::{LifetimeContext, LifetimeLimit};
use super::state::TcpState;
use crate::policy::lifetimes::KeepAlive;
use crate::send::sender::TimeoutKind;
use crate::trace::Cx;
use earlybird_units::{Duration, Instant};

/// RFC 9293 §3.8.3: "The value of R1 SHOULD correspond to at least 3 retransmissions".
const RETRANSMISSIONS_BEFORE_WARNING: u16 = 3;

impl Connection {
    /// Handles all expired timers. To be called at the time that [`Self::poll_timeout`] returned.
    pub fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        if let Some(readable) = self.receiver.on_timeout(cx.now) {
            self.on_skipped(cx.now, readable);
        }
        if self.lifetime.deadline <= cx.now {
            self.on_limit(cx.now);
        }
        self.sender.on_send_deadlines(cx.now);
        // One timer at a time (RFC 8985 §8).
        let recovery = self.recovery_deadline();
        if recovery <= cx.now {
            self.sender.on_recovery_deadline(cx);
        } else if recovery == Instant::NEVER && self.sender.loss().timer().deadline() <= cx.now {
            self.on_rto(cx);
        }
    }

    /// Acts on an expiry of the retransmission timer.
    fn on_rto(&mut self, cx: &mut Cx<'_>) {
        let is_opening = matches!(self.state, TcpState::SynSent | TcpState::SynReceived);
        let expiry = if is_opening && self.is_fast_server() {
            self.sender.on_early_timeout(cx, self.lifetime.last_received)
        } else {
            self.sender.on_timeout(cx, self.lifetime.last_received)
        };
        self.after_timeout(cx.now, expiry);
    }

    /// Acts on an expiry of the retransmission timer or the persist timer, after the sender has.
    #[cold]
    fn after_timeout(&mut self, now: Instant, expiry: TimeoutKind) {
        let scoreboard = self.sender.buffer().scoreboard();
        let first = scoreboard.segment(scoreboard.una());
        let warns = first.is_some_and(|(_, sent)| sent.transmissions == 1 + RETRANSMISSIONS_BEFORE_WARNING);
        if expiry == TimeoutKind::Loss {
            self.pending.syn = matches!(self.state, TcpState::SynSent | TcpState::SynReceived);
            if warns {
                self.events.add(Event::Unanswered);
            }
        }
        if self.sender.loss().persist().is_first() {
            self.lifetime.on_blocked(now);
        }
        if self.sender.waits_for_window() {
            self.lifetime.on_probe(now);
        }
        self.on_limit(now);
    }

    /// Returns the time at which to call [`Self::on_timeout`]; `None` if there is no deadline.
    ///
    /// To be called after every other call.
    #[must_use]
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        // It is called after every packet: the minimum of plain numbers is several times faster than one of options.
        let receiver = self.receiver.deadline().unwrap_or(Instant::NEVER);
        let sender = if self.sender.has_more_deadlines() {
            self.sender.first_deadline(matches!(self.state, TcpState::Transfer(_)))
        } else {
            self.sender.loss().timer().deadline()
        };
        let first = self.lifetime.deadline.min(receiver).min(sender);
        (first < Instant::NEVER).then_some(first)
    }

    /// Returns the deadline of a recovery that finds losses by time, which has none during the handshake.
    fn recovery_deadline(&self) -> Instant {
        if matches!(self.state, TcpState::Transfer(_)) { self.sender.loss().deadline() } else { Instant::NEVER }
    }

    // The limits of the connection's life.

    /// Starts a state that may last only so long.
    pub(super) fn begin_wait(&mut self, now: Instant) {
        self.lifetime.since = now;
        self.update_limits(now);
    }

    /// Sets the deadline of the limits.
    pub(super) fn update_limits(&mut self, now: Instant) {
        self.lifetime.deadline = self.next_limit(now).map_or(Instant::NEVER, |(at, _)| at);
    }

    fn next_limit(&self, now: Instant) -> Option<(Instant, LifetimeLimit)> {
        let context = LifetimeContext { state: self.state, lifetimes: &self.config.lifetimes, sender: &self.sender };
        self.lifetime.next_limit(now, &context)
    }

    /// Acts on a limit that is reached, if one is.
    #[cold]
    pub(super) fn on_limit(&mut self, now: Instant) {
        match self.next_limit(now).filter(|(at, _)| *at <= now) {
            Some((_, LifetimeLimit::TimedOut)) => return self.time_out(),
            Some((_, LifetimeLimit::TimeWaitOver)) => self.state = TcpState::Closed,
            Some((_, LifetimeLimit::Probe)) => {
                self.pending.probe = true;
                self.lifetime.on_probe(now);
            }
            Some((_, LifetimeLimit::Recheck)) | None => {}
        }
        self.update_limits(now);
    }

    /// Ends the connection because its peer is silent.
    fn time_out(&mut self) {
        // A peer that does not answer to keep-alive probes may be there anyway, so it is reset, as Linux does.
        let may_be_alive = self.lifetime.is_unanswered() && self.sender.has_nothing_to_send();
        self.pending.reset = may_be_alive && matches!(self.state, TcpState::Transfer(_));
        self.end(Ending::TimedOut);
    }

    /// Sets how long the answer to this side's SYN may take, from when it was first sent (R2 of RFC 9293 §3.8.3).
    pub fn set_opening_limit(&mut self, cx: &mut Cx<'_>, limit: Option<Duration>) {
        self.config.lifetimes.syn = limit;
        self.update_limits(cx.now);
    }

    /// Sends a probe that the peer must answer: repeats the SYN, or sends a keep-alive probe (RFC 9293 §3.8.4). The
    /// answer is an ACK, or the reset of a host that has lost the connection.
    pub fn probe(&mut self) {
        match self.state {
            TcpState::SynSent => {
                self.pending.syn = true;
                // The answer to either SYN measures no round trip (Karn's algorithm).
                self.sender.on_syn_repeated();
            }
            TcpState::Transfer(_) => self.pending.probe = true,
            _ => {}
        }
    }

    /// Sets the user timeout: how long data may wait for an acknowledgement (RFC 5482, RFC 9293 §3.9.1).
    pub fn set_user_timeout(&mut self, cx: &mut Cx<'_>, limit: Option<Duration>) {
        self.config.lifetimes.user_timeout = limit;
        self.on_limit(cx.now);
    }

    /// Sets whether and how an idle peer is probed (RFC 9293 §3.8.4).
    pub fn set_keep_alive(&mut self, cx: &mut Cx<'_>, keep_alive: Option<KeepAlive>) {
        self.config.lifetimes.keep_alive = keep_alive;
        self.on_limit(cx.now);
    }
}
