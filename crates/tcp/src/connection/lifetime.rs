//! The limits of a connection's life: how long its peer may be silent, and how long a state may last.
//!
//! All limits share one deadline, at which they are computed again: progress moves a limit without moving the deadline.

use super::state::{ReceiveSide, SendSide, Sides, TcpState};
use crate::policy::lifetimes::{KeepAlive, Lifetimes};
use crate::send::sender::Sender;
use earlybird_units::{Duration, Instant};

/// The times from which the limits count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifetime {
    /// The time at which the limits are computed again.
    pub(super) deadline: Instant,
    /// The time of the last acceptable segment.
    pub(super) last_received: Instant,
    /// The start of the current state, if its duration is limited.
    pub(super) since: Instant,
    /// The time of the first probe of a closed window.
    blocked_since: Instant,
    /// The times of the first and of the last probe, and how many of them were not answered.
    probes: (Instant, Instant),
    unanswered: u32,
    /// Whether the application has closed the connection and reads no more.
    pub(super) is_orphan: bool,
}

/// The action at a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LifetimeLimit {
    /// The connection ends: the peer is gone.
    TimedOut,
    /// TIME-WAIT ends.
    TimeWaitOver,
    /// A keep-alive probe is sent.
    Probe,
    /// Nothing: the limits are only computed again.
    Recheck,
}

/// The state that the limits depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct LifetimeContext<'a> {
    pub(super) state: TcpState,
    pub(super) lifetimes: &'a Lifetimes,
    pub(super) sender: &'a Sender,
}

/// The shortest time between keep-alive probes, whatever the application sets.
const MIN_PROBE_INTERVAL: Duration = Duration::from_millis(1);

impl Default for Lifetime {
    fn default() -> Self {
        Self {
            deadline: Instant::NEVER,
            last_received: Instant::ZERO,
            since: Instant::ZERO,
            blocked_since: Instant::ZERO,
            probes: (Instant::ZERO, Instant::ZERO),
            unanswered: 0,
            is_orphan: false,
        }
    }
}

impl Lifetime {
    /// Returns whether probes were sent after which nothing arrived from the peer.
    pub(super) fn is_unanswered(&self) -> bool {
        self.unanswered > 0 && self.last_received < self.probes.1
    }

    /// Records that a probe is sent.
    pub(super) fn on_probe(&mut self, now: Instant) {
        if !self.is_unanswered() {
            self.probes.0 = now;
            self.unanswered = 0;
        }
        self.probes.1 = now;
        self.unanswered += 1;
    }

    /// Records that a closed window is probed for the first time.
    pub(super) fn on_blocked(&mut self, now: Instant) {
        self.blocked_since = now;
    }

    /// Returns the first limit that is reached if nothing happens until then.
    pub(super) fn next_limit(&self, now: Instant, context: &LifetimeContext<'_>) -> Option<(Instant, LifetimeLimit)> {
        let lifetimes = context.lifetimes;
        match context.state {
            TcpState::SynSent => lifetimes.syn.map(|limit| (self.since + limit, LifetimeLimit::TimedOut)),
            TcpState::SynReceived => lifetimes.syn_ack.map(|limit| (self.since + limit, LifetimeLimit::TimedOut)),
            TcpState::TimeWait => Some((self.since + lifetimes.time_wait, LifetimeLimit::TimeWaitOver)),
            TcpState::Transfer(sides) => {
                let limits =
                    [self.progress_limit(context), self.fin_limit(sides, lifetimes), self.keep_alive(now, context)];
                limits.into_iter().flatten().min_by_key(|(at, _)| *at)
            }
            TcpState::Listen | TcpState::Closed => None,
        }
    }

    /// Returns when the peer has left something unacknowledged, or a closed window unopened, for too long.
    fn progress_limit(&self, context: &LifetimeContext<'_>) -> Option<(Instant, LifetimeLimit)> {
        let (lifetimes, sender) = (context.lifetimes, context.sender);
        let progress = sender.loss().activity().last_progress;
        let is_outstanding = sender.buffer().scoreboard().outstanding() > 0;
        let (first_probe, last_probe) = self.probes;
        let stuck_since = if sender.loss().persist().is_running() {
            Some(self.blocked_since.max(progress))
        } else {
            is_outstanding.then_some(progress)
        };
        let silent_since = if sender.waits_for_window() {
            // A peer that answers to probes may keep its window closed for as long as it likes (RFC 9293 §3.8.6.1).
            self.is_unanswered().then_some(first_probe)
        } else {
            // The window may have been closed until a moment ago.
            is_outstanding.then_some(progress.max(last_probe))
        };
        let orphan = lifetimes.orphan.filter(|_| self.is_orphan);
        let limits = [
            (silent_since, lifetimes.data),
            (stuck_since, lifetimes.user_timeout),
            (stuck_since.map(|since| since.max(self.since)), orphan),
        ];
        let ends = limits.into_iter().filter_map(|(since, limit)| Some(since? + limit?)).min();
        ends.map(|at| (at, LifetimeLimit::TimedOut))
    }

    /// Returns when a keep-alive probe is to be sent to an idle peer, or when it has not answered to enough of them.
    fn keep_alive(&self, now: Instant, context: &LifetimeContext<'_>) -> Option<(Instant, LifetimeLimit)> {
        let KeepAlive { idle, interval, probes } = context.lifetimes.keep_alive?;
        let [idle, interval] = [idle, interval].map(|span| span.max(MIN_PROBE_INTERVAL));
        Some(if !context.sender.has_nothing_to_send() {
            // The retransmission timer finds out whether the peer is there.
            (now + idle, LifetimeLimit::Recheck)
        } else if !self.is_unanswered() {
            (self.last_received + idle, LifetimeLimit::Probe)
        } else {
            (
                self.probes.1 + interval,
                if self.unanswered < probes { LifetimeLimit::Probe } else { LifetimeLimit::TimedOut },
            )
        })
    }

    /// Returns when the peer's FIN should have arrived, which no application waits for.
    fn fin_limit(&self, sides: Sides, lifetimes: &Lifetimes) -> Option<(Instant, LifetimeLimit)> {
        let waits = sides.send == SendSide::FinAcked && sides.receive == ReceiveSide::Open && self.is_orphan;
        lifetimes.fin_wait.filter(|_| waits).map(|limit| (self.since + limit, LifetimeLimit::TimedOut))
    }
}
