//! How a connection ends by itself: its peer was silent for too long, or a state has lasted as long as it may.
//!
//! All limits share one deadline, and whoever comes to it looks again: progress moves a limit without touching the deadline.

use super::Connection;
use super::closing::Ending;
use super::events::Event;
use super::state::{ReceiveSide, SendSide, Sides, State};
use crate::policy::lifetimes::KeepAlive;
use crate::send::sender::TimeoutKind;
use crate::trace::Cx;
use earlybird_units::{Duration, Instant};

/// When the peer was heard, and since when it was not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifetime {
    /// When to look at the limits again.
    pub(super) wakes: Instant,
    /// When something came that was believed.
    pub(super) heard: Instant,
    /// When a state began that may last only so long.
    pub(super) since: Instant,
    /// When a closed window was first asked whether it has opened.
    blocked: Instant,
    /// First and last of the probes, and how many of them have no answer yet.
    probes: (Instant, Instant),
    unanswered: u32,
    /// The application asks no more.
    pub(super) is_orphan: bool,
}

/// What comes at a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// The peer counts as gone.
    GiveUp,
    /// TIME-WAIT is over.
    Over,
    /// The peer is asked whether it is there.
    Ask,
    /// Nothing: it is only time to look again.
    Look,
}

/// RFC 9293 §3.8.3: "The value of R1 SHOULD correspond to at least 3 retransmissions".
const RETRANSMISSIONS_BEFORE_WARNING: u16 = 3;

/// No peer is asked more often, whatever the application says.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

impl Default for Lifetime {
    fn default() -> Self {
        Self {
            wakes: Instant::NEVER,
            heard: Instant::ZERO,
            since: Instant::ZERO,
            blocked: Instant::ZERO,
            probes: (Instant::ZERO, Instant::ZERO),
            unanswered: 0,
            is_orphan: false,
        }
    }
}

impl Lifetime {
    /// Returns whether probes were sent that nothing was heard after.
    fn is_unanswered(&self) -> bool {
        self.unanswered > 0 && self.heard < self.probes.1
    }

    fn on_probe(&mut self, now: Instant) {
        if !self.is_unanswered() {
            self.probes.0 = now;
            self.unanswered = 0;
        }
        self.probes.1 = now;
        self.unanswered += 1;
    }
}

impl Connection {
    /// A state begins that may last only so long.
    pub(super) fn begin_wait(&mut self, now: Instant) {
        self.lifetime.since = now;
        self.watch_limits(now);
    }

    /// Sets the deadline for the limits as they are now.
    pub(super) fn watch_limits(&mut self, now: Instant) {
        self.lifetime.wakes = self.limit(now).map_or(Instant::NEVER, |(at, _)| at);
    }

    /// The deadline came: acts on a limit that is reached.
    #[cold]
    pub(super) fn on_limit(&mut self, now: Instant) {
        match self.limit(now) {
            Some((at, Limit::GiveUp)) if at <= now => return self.give_up_peer(),
            Some((at, Limit::Over)) if at <= now => self.state = State::Closed,
            Some((at, Limit::Ask)) if at <= now => {
                self.due.probe = true;
                self.lifetime.on_probe(now);
            }
            _ => {}
        }
        self.watch_limits(now);
    }

    /// A peer that does not answer to probes may be there all the same: it is told, as Linux does.
    fn give_up_peer(&mut self) {
        let is_alive_perhaps = self.lifetime.is_unanswered() && self.sender.has_nothing_to_send();
        self.due.reset = is_alive_perhaps && matches!(self.state, State::Transfer(_));
        self.end(Ending::TimedOut);
    }

    /// The retransmission timer ran out, or the persist timer.
    #[cold]
    pub(super) fn on_expiry(&mut self, now: Instant, expiry: TimeoutKind) {
        let first = self.sender.buffer().scoreboard().segment(self.sender.buffer().scoreboard().una());
        let warns = first.is_some_and(|(_, sent)| sent.transmissions == 1 + RETRANSMISSIONS_BEFORE_WARNING);
        if expiry == TimeoutKind::Loss {
            self.due.opening = matches!(self.state, State::SynSent | State::SynReceived);
            if warns {
                self.events.tell(Event::Unanswered);
            }
        }
        if self.sender.loss().persist().is_first() {
            self.lifetime.blocked = now;
        }
        if self.sender.waits_for_window() {
            self.lifetime.on_probe(now);
        }
        self.on_limit(now);
    }

    /// Returns the first limit that is reached if nothing happens until then.
    fn limit(&self, now: Instant) -> Option<(Instant, Limit)> {
        let lifetimes = &self.config.lifetimes;
        let since = self.lifetime.since;
        match self.state {
            State::SynSent => lifetimes.opening.map(|limit| (since + limit, Limit::GiveUp)),
            State::SynReceived => lifetimes.answering.map(|limit| (since + limit, Limit::GiveUp)),
            State::TimeWait => Some((since + lifetimes.time_wait, Limit::Over)),
            State::Transfer(sides) => {
                let limits = [self.patience(), self.last_wait(sides), self.keep_alive(now)];
                limits.into_iter().flatten().min_by_key(|(at, _)| *at)
            }
            State::Listen | State::Closed => None,
        }
    }

    /// Returns when the peer has left something unacknowledged, or a closed window unopened, for too long.
    fn patience(&self) -> Option<(Instant, Limit)> {
        let progress = self.sender.loss().activity().last_progress;
        let is_outstanding = self.sender.buffer().scoreboard().outstanding() > 0;
        let (first_probe, last_probe) = self.lifetime.probes;
        let stuck_since = if self.sender.loss().persist().is_running() {
            Some(self.lifetime.blocked.max(progress))
        } else {
            is_outstanding.then_some(progress)
        };
        let silent_since = if self.sender.waits_for_window() {
            self.lifetime.is_unanswered().then_some(first_probe)
        } else {
            // The window may have been closed until a moment ago.
            is_outstanding.then_some(progress.max(last_probe))
        };
        let orphan = self.config.lifetimes.orphan.filter(|_| self.lifetime.is_orphan);
        let limits = [
            (silent_since, self.config.lifetimes.silence),
            (stuck_since, self.config.lifetimes.user_timeout),
            (stuck_since.map(|since| since.max(self.lifetime.since)), orphan),
        ];
        let ends = limits.into_iter().filter_map(|(since, limit)| Some(since? + limit?)).min();
        ends.map(|at| (at, Limit::GiveUp))
    }

    /// Returns when to ask a peer whether it is there, or when not to believe it any more. While something is outstanding,
    /// [`Self::patience`] is asked instead.
    fn keep_alive(&self, now: Instant) -> Option<(Instant, Limit)> {
        let KeepAlive { idle, interval, probes } = self.config.lifetimes.keep_alive?;
        let [idle, interval] = [idle, interval].map(|span| span.max(SHORTEST_INTERVAL));
        let Lifetime { heard, probes: (_, last), unanswered, .. } = self.lifetime;
        Some(if !self.sender.has_nothing_to_send() {
            (now + idle, Limit::Look)
        } else if !self.lifetime.is_unanswered() {
            (heard + idle, Limit::Ask)
        } else {
            (last + interval, if unanswered < probes { Limit::Ask } else { Limit::GiveUp })
        })
    }

    /// Returns when the peer's FIN should have come, for whom nobody waits.
    fn last_wait(&self, sides: Sides) -> Option<(Instant, Limit)> {
        let waits = sides.send == SendSide::FinAcked && sides.receive == ReceiveSide::Open && self.lifetime.is_orphan;
        self.config.lifetimes.fin_wait.filter(|_| waits).map(|limit| (self.lifetime.since + limit, Limit::GiveUp))
    }

    /// Sets how long the answer to this side's SYN may take, from when it first left (R2 of RFC 9293 §3.8.3).
    pub fn set_opening_limit(&mut self, cx: &mut Cx<'_>, limit: Option<Duration>) {
        self.config.lifetimes.opening = limit;
        self.watch_limits(cx.now);
    }

    /// Sets the user timeout: how long what was written may wait for an acknowledgement (RFC 5482, RFC 9293 §3.9.1).
    pub fn set_user_timeout(&mut self, cx: &mut Cx<'_>, limit: Option<Duration>) {
        self.config.lifetimes.user_timeout = limit;
        self.on_limit(cx.now);
    }

    /// Lets a silent peer be asked whether it is there, or not any more (RFC 9293 §3.8.4).
    pub fn set_keep_alive(&mut self, cx: &mut Cx<'_>, keep_alive: Option<KeepAlive>) {
        self.config.lifetimes.keep_alive = keep_alive;
        self.on_limit(cx.now);
    }
}
