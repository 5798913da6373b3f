//! Ending a connection: in order (RFC 9293 §3.6), by a reset, or by giving up.

use super::Connection;
use super::events::Event;
use super::state::{FirstToClose, ReceiveSide, SendSide, Sides, State};
use super::stray_reset::StrayReset;
use crate::policy::acking::AckDue;
use crate::trace::Cx;
use earlybird_units::Instant;
use earlybird_wire::{Flags, Segment};

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Each side had its FIN acknowledged.
    InOrder,
    /// This side reset the peer, or gave up before there was one.
    Aborted,
    /// The peer reset the connection.
    Reset,
    /// The peer refused the connection that this side opened.
    Refused,
    /// The peer did not answer for too long.
    TimedOut,
    /// The peer cannot be reached, as a router said while the connection was yet to be opened.
    Unreachable,
}

impl Ending {
    const fn event(self) -> Event {
        match self {
            Self::InOrder => Event::Closed,
            Self::Aborted => Event::Aborted,
            Self::Reset => Event::Reset,
            Self::Refused => Event::Refused,
            Self::TimedOut => Event::TimedOut,
            Self::Unreachable => Event::Unreachable,
        }
    }
}

impl Connection {
    /// Goes on with closing, if that has begun.
    #[inline]
    pub(super) fn close_if_finished(&mut self, now: Instant) {
        if self.state.is_open() && !self.receiver.is_finished() {
            return;
        }
        if let State::Transfer(sides) = self.state {
            self.go_on_closing(sides, now);
        }
    }

    pub(super) fn go_on_closing(&mut self, mut sides: Sides, now: Instant) {
        if sides.send == SendSide::FinQueued && self.sender.has_nothing_to_send() {
            sides.send = SendSide::FinAcked;
            self.lifetime.since = now;
        }
        if sides.receive == ReceiveSide::Open && self.receiver.is_finished() {
            sides.receive = ReceiveSide::FinReceived;
            self.events.tell(Event::PeerClosed);
        }
        if sides.first == FirstToClose::Nobody && sides.receive == ReceiveSide::FinReceived {
            sides.first = FirstToClose::Peer;
        }
        let is_news = self.state != State::Transfer(sides);
        self.state = State::Transfer(sides);
        if sides.send == SendSide::FinAcked && sides.receive == ReceiveSide::FinReceived {
            self.finish(sides, now);
        }
        if is_news {
            self.watch_limits(now);
        }
    }

    pub(super) fn finish(&mut self, sides: Sides, now: Instant) {
        self.sender.stop_timer();
        self.events.tell(Event::Closed);
        self.ending = Some(Ending::InOrder);
        if sides.first == FirstToClose::Us {
            self.state = State::TimeWait;
            self.lifetime.since = now;
        } else {
            self.state = State::Closed;
        }
    }

    /// Nothing but the peer's FIN can come for good reason, again because it was not known to be acknowledged. Resets are not
    /// obeyed, for an old duplicate would open the way to others (RFC 1337). Pure ACKs get no answer: two ends in this state
    /// would never stop.
    pub(super) fn on_time_wait_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            self.guard.drop_counters.resets += 1;
        } else if segment.flags & (Flags::SYN | Flags::ACK) == Flags::SYN {
            self.on_next_opening(now, segment);
        } else if segment.takes_sequence_space() {
            let end = segment.seq.at(segment.sequence_len());
            if segment.flags.contains(Flags::FIN) && end == self.peer.origin.at(self.receiver.nxt()) {
                self.receiver.due = AckDue::Now;
                self.begin_wait(now);
            } else {
                self.guard.drop_counters.out_of_window += 1;
                self.challenge(now);
            }
        }
    }

    /// The peer opens a connection anew: it is welcome if it cannot be taken for an old duplicate (RFC 6191 §2).
    fn on_next_opening(&mut self, now: Instant, syn: &Segment) {
        let position = syn.seq.unwrap_near(self.peer.origin, self.receiver.nxt());
        let is_behind = position.is_some_and(|position| position >= self.receiver.nxt());
        let stamp = syn.options.timestamps.filter(|_| self.config.timestamps.enabled).map(|stamps| stamps.value);
        let is_newer = match stamp.map(|stamp| stamp.wrapping_sub(self.peer.timestamp).cast_signed()) {
            Some(_) if !self.peer.timestamps => true,
            Some(ahead) => ahead > 0 || (ahead == 0 && is_behind),
            None => is_behind,
        };
        if is_newer {
            self.state = State::Closed;
            self.events.tell(Event::TimeWaitReused);
        } else {
            self.guard.drop_counters.openings += 1;
        }
        self.watch_limits(now);
    }

    /// Answers a segment that fits no connection with a reset that its sender will believe (RFC 9293 §3.10.7.1).
    pub(super) fn reject(&mut self, segment: &Segment) {
        self.due.rejection = StrayReset::of(segment);
    }

    /// The peer reset the connection. One that was opened from here and never came to be was refused (RFC 9293 §3.10.7.4).
    pub(super) fn on_reset(&mut self) {
        let is_opening = matches!(self.state, State::SynSent | State::SynReceived);
        self.end(if is_opening && self.is_active_opener { Ending::Refused } else { Ending::Reset });
    }

    /// Ends at once, and tells how.
    pub(super) fn end(&mut self, ending: Ending) {
        self.stop(ending);
        self.receiver.due = AckDue::Nothing;
        self.events.tell(ending.event());
    }

    fn stop(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
        self.state = State::Closed;
        self.due.opening = false;
        self.due.probe = false;
        self.lifetime.wakes = Instant::NEVER;
        self.sender.stop_timer();
        self.receiver.skip_nothing();
    }

    /// Ends because of what the peer sent, and answers as no connection does: the number that the peer acknowledges is the one at
    /// which it believes a reset (RFC 5961 §3.2), whether our FIN has reached it or not.
    pub(super) fn reset_peer(&mut self, segment: &Segment) {
        self.end(Ending::Aborted);
        self.reject(segment);
    }

    /// Ends the sending direction behind what was written.
    pub fn shutdown(&mut self) {
        match &mut self.state {
            State::Transfer(sides) if sides.send == SendSide::Open => {
                sides.send = SendSide::FinQueued;
                if sides.first == FirstToClose::Nobody {
                    sides.first = FirstToClose::Us;
                }
                self.sender.queue_fin();
            }
            // With Fast Open the FIN may have left.
            State::SynSent | State::SynReceived if !self.sender.buffer().queue().is_finished() => {
                self.sender.queue_fin()
            }
            State::Listen => self.stop(Ending::Aborted),
            State::SynSent | State::SynReceived | State::Transfer(_) | State::TimeWait | State::Closed => {}
        }
    }

    /// Leaves the connection to itself: what was written is still sent, and then a FIN; nobody will read any more.
    ///
    /// What arrived and was not read is lost, and so is what may still come: the peer is told by a reset (RFC 9293 §3.6.1,
    /// RFC 2525 §2.17). From now on [`Lifetimes::orphan`] and [`Lifetimes::fin_wait`] limit what the connection waits for.
    ///
    /// [`Lifetimes::orphan`]: crate::Lifetimes::orphan
    /// [`Lifetimes::fin_wait`]: crate::Lifetimes::fin_wait
    pub fn close(&mut self, cx: &mut Cx<'_>) {
        let is_lost = self.receiver.unread > 0 && matches!(self.state, State::Transfer(_) | State::SynReceived);
        if is_lost || self.state == State::SynSent {
            return self.abort();
        }
        self.shutdown();
        self.lifetime.is_orphan = true;
        if matches!(self.state, State::Transfer(_)) {
            self.lifetime.since = cx.now;
        }
        self.on_limit(cx.now);
    }

    /// Returns up: the peer is reset.
    pub fn abort(&mut self) {
        self.due.reset = matches!(self.state, State::Transfer(_) | State::SynReceived);
        self.stop(Ending::Aborted);
    }

    /// Returns how the connection ended, once it has; in TIME-WAIT it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }
}
