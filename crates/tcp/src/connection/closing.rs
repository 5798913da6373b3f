//! The end of a connection: in order (RFC 9293 §3.6), by a reset, or by a timeout.

use super::Connection;
use super::events::Event;
use super::state::{FirstToClose, ReceiveSide, SendSide, Sides, TcpState};
use super::stray_reset::StrayReset;
use crate::policy::acking::AckDue;
use crate::trace::Cx;
use earlybird_units::Instant;
use earlybird_wire::{Flags, Segment};

/// The way in which a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Each side had its FIN acknowledged.
    InOrder,
    /// This side aborted the connection.
    Aborted,
    /// The peer reset the connection.
    Reset,
    /// The peer refused the connection that this side opened.
    Refused,
    /// The peer did not answer for too long.
    TimedOut,
    /// The peer cannot be reached, as a router reported before the handshake was done.
    Unreachable,
}

impl Ending {
    /// Returns the event that reports the end.
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
    /// Continues to close, if that has begun.
    #[inline]
    pub(super) fn close_if_finished(&mut self, now: Instant) {
        if self.state.is_open() && !self.receiver.is_finished() {
            return;
        }
        if let TcpState::Transfer(sides) = self.state {
            self.continue_closing(sides, now);
        }
    }

    fn continue_closing(&mut self, mut sides: Sides, now: Instant) {
        if sides.send == SendSide::FinQueued && self.sender.has_nothing_to_send() {
            sides.send = SendSide::FinAcked;
            self.lifetime.since = now;
        }
        if sides.receive == ReceiveSide::Open && self.receiver.is_finished() {
            sides.receive = ReceiveSide::FinReceived;
            self.events.add(Event::PeerClosed);
        }
        if sides.first == FirstToClose::Nobody && sides.receive == ReceiveSide::FinReceived {
            sides.first = FirstToClose::Peer;
        }
        let has_changed = self.state != TcpState::Transfer(sides);
        self.state = TcpState::Transfer(sides);
        if sides.send == SendSide::FinAcked && sides.receive == ReceiveSide::FinReceived {
            self.finish(sides, now);
        }
        if has_changed {
            self.update_limits(now);
        }
    }

    /// Ends the connection in order. The side that closed first waits in TIME-WAIT.
    fn finish(&mut self, sides: Sides, now: Instant) {
        self.sender.stop_timer();
        self.events.add(Event::Closed);
        self.ending = Some(Ending::InOrder);
        if sides.first == FirstToClose::Us {
            self.state = TcpState::TimeWait;
            self.lifetime.since = now;
        } else {
            self.state = TcpState::Closed;
        }
    }

    /// Acts on a segment in TIME-WAIT. Only a retransmitted FIN is to be expected.
    pub(super) fn on_time_wait_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            // An old duplicate would end the protection against others (RFC 1337).
            self.drop_counters.resets += 1;
        } else if segment.flags & (Flags::SYN | Flags::ACK) == Flags::SYN {
            self.on_time_wait_syn(now, segment);
        } else if segment.takes_sequence_space() {
            // Pure ACKs get no answer: two ends in this state would answer each other for ever.
            let end = segment.seq.at(segment.sequence_len());
            if segment.flags.contains(Flags::FIN) && end == self.peer.origin.at(self.receiver.nxt()) {
                self.receiver.due = AckDue::Now;
                self.begin_wait(now);
            } else {
                self.drop_counters.out_of_window += 1;
                self.challenge(now);
            }
        }
    }

    /// Ends TIME-WAIT for a SYN that cannot be an old duplicate (RFC 6191 §2).
    fn on_time_wait_syn(&mut self, now: Instant, syn: &Segment) {
        let is_newer = self.peer.is_newer_syn(syn, self.receiver.nxt(), self.config.timestamps.enabled);
        if is_newer {
            self.state = TcpState::Closed;
            self.events.add(Event::TimeWaitReused);
        } else {
            self.drop_counters.unexpected_syns += 1;
        }
        self.update_limits(now);
    }

    /// Answers a segment that belongs to no connection with a reset that its sender accepts (RFC 9293 §3.10.7.1).
    pub(super) fn reject(&mut self, segment: &Segment) {
        self.pending.stray_reset = StrayReset::of(segment);
    }

    /// Ends the connection because of the peer's reset.
    pub(super) fn on_reset(&mut self) {
        // A connection that this side opened, and that was never established, was refused (RFC 9293 §3.10.7.4).
        let is_opening = matches!(self.state, TcpState::SynSent | TcpState::SynReceived);
        self.end(if is_opening && self.is_active_opener { Ending::Refused } else { Ending::Reset });
    }

    /// Ends the connection at once, and reports how.
    pub(super) fn end(&mut self, ending: Ending) {
        self.stop(ending);
        self.receiver.due = AckDue::Nothing;
        self.events.add(ending.event());
    }

    /// Ends the connection at once, without an event.
    fn stop(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
        self.state = TcpState::Closed;
        self.pending.syn = false;
        self.pending.probe = false;
        self.lifetime.deadline = Instant::NEVER;
        self.sender.stop_timer();
        self.receiver.disable_skipping();
    }

    /// Ends the connection, and resets the peer because of a segment.
    pub(super) fn reset_peer(&mut self, segment: &Segment) {
        self.end(Ending::Aborted);
        // As if there were no connection: the peer accepts a reset only at the number that it acknowledges (RFC 5961 §3.2), which
        // depends on whether our FIN has arrived.
        self.reject(segment);
    }

    /// Ends the sending direction after the written data.
    pub fn shutdown(&mut self) {
        match &mut self.state {
            TcpState::Transfer(sides) if sides.send == SendSide::Open => {
                sides.send = SendSide::FinQueued;
                if sides.first == FirstToClose::Nobody {
                    sides.first = FirstToClose::Us;
                }
                self.sender.queue_fin();
            }
            // With Fast Open the FIN may have left.
            TcpState::SynSent | TcpState::SynReceived if !self.sender.buffer().queue().is_finished() => {
                self.sender.queue_fin();
            }
            TcpState::Listen => self.stop(Ending::Aborted),
            TcpState::SynSent
            | TcpState::SynReceived
            | TcpState::Transfer(_)
            | TcpState::TimeWait
            | TcpState::Closed => {}
        }
    }

    /// Closes both directions: what was written is still sent, followed by a FIN; nothing is read any more.
    ///
    /// If data have arrived that were not read, or arrive later, the peer is reset, because they are lost (RFC 9293 §3.6.1,
    /// RFC 2525 §2.17). From now on [`Lifetimes::orphan`] and [`Lifetimes::fin_wait`] limit how long the connection waits.
    ///
    /// [`Lifetimes::orphan`]: crate::Lifetimes::orphan
    /// [`Lifetimes::fin_wait`]: crate::Lifetimes::fin_wait
    pub fn close(&mut self, cx: &mut Cx<'_>) {
        let is_lost = self.receiver.unread > 0 && matches!(self.state, TcpState::Transfer(_) | TcpState::SynReceived);
        if is_lost || self.state == TcpState::SynSent {
            return self.abort();
        }
        self.shutdown();
        self.lifetime.is_orphan = true;
        if matches!(self.state, TcpState::Transfer(_)) {
            self.lifetime.since = cx.now;
        }
        self.on_limit(cx.now);
    }

    /// Aborts the connection: the peer is reset.
    pub fn abort(&mut self) {
        self.pending.reset = matches!(self.state, TcpState::Transfer(_) | TcpState::SynReceived);
        self.stop(Ending::Aborted);
    }

    /// Returns how the connection ended; `None` while it has not. In TIME-WAIT it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }
}
