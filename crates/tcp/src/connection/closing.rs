//! Ending a connection: in order (RFC 9293 §3.6), by a reset, or by giving up.

use super::Connection;
use super::events::Event;
use super::rejection::Rejection;
use super::state::{FirstToClose, ReceiveSide, SendSide, Sides, State};
use crate::policy::acking::AckDue;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Flags, Segment};

/// Twice the maximum segment lifetime, as Linux takes it (RFC 9293 §3.4.2 asks for four minutes).
const TIME_WAIT: Duration = Duration::from_secs(60);

impl Connection {
    /// Goes on with closing, if that has begun.
    #[inline]
    pub(super) fn close_if_finished(&mut self, now: Instant) {
        if let State::Transfer(sides) = self.state
            && (sides != Sides::default() || self.receiver.is_finished())
        {
            self.go_on_closing(sides, now);
        }
    }

    pub(super) fn go_on_closing(&mut self, mut sides: Sides, now: Instant) {
        if sides.send == SendSide::FinQueued && self.sender.has_nothing_to_send() {
            sides.send = SendSide::FinAcked;
        }
        if sides.receive == ReceiveSide::Open && self.receiver.is_finished() {
            sides.receive = ReceiveSide::FinReceived;
            self.events.tell(Event::PeerClosed);
        }
        if sides.first == FirstToClose::Nobody && sides.receive == ReceiveSide::FinReceived {
            sides.first = FirstToClose::Peer;
        }
        self.state = State::Transfer(sides);
        if sides.send == SendSide::FinAcked && sides.receive == ReceiveSide::FinReceived {
            self.finish(sides, now);
        }
    }

    pub(super) fn finish(&mut self, sides: Sides, now: Instant) {
        self.sender.timer.stop();
        self.events.tell(Event::Closed);
        if sides.first == FirstToClose::Us {
            self.state = State::TimeWait;
            self.time_wait_ends = Some(now + TIME_WAIT);
        } else {
            self.state = State::Closed;
        }
    }

    /// A FIN that comes again was not known to be acknowledged. Pure ACKs get no answer: two ends in this state would
    /// never stop.
    pub(super) fn on_time_wait_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.takes_sequence_space() {
            self.receiver.due = AckDue::Now;
        }
        if segment.flags.contains(Flags::FIN) {
            self.time_wait_ends = Some(now + TIME_WAIT);
        }
    }

    /// Answers a segment that fits no connection with a reset that its sender will believe (RFC 9293 §3.10.7.1).
    pub(super) fn reject(&mut self, segment: &Segment) {
        self.due.rejection = Rejection::of(segment);
    }

    pub(super) fn on_reset(&mut self) {
        self.end(Event::Reset);
    }

    pub(super) fn end(&mut self, event: Event) {
        self.state = State::Closed;
        self.due.opening = false;
        self.sender.timer.stop();
        self.receiver.due = AckDue::Nothing;
        self.receiver.skip_nothing();
        self.events.tell(event);
    }

    /// Ends the sending direction behind what was written.
    pub fn shutdown(&mut self) {
        match &mut self.state {
            State::Transfer(sides) if sides.send == SendSide::Open => {
                sides.send = SendSide::FinQueued;
                if sides.first == FirstToClose::Nobody {
                    sides.first = FirstToClose::Us;
                }
                self.sender.queue.fin_queued = true;
            }
            State::SynSent | State::SynReceived => self.sender.queue.fin_queued = true,
            State::Listen => self.state = State::Closed,
            State::Transfer(_) | State::TimeWait | State::Closed => {}
        }
    }

    /// Gives up: the peer is reset.
    pub fn abort(&mut self) {
        self.due.reset = matches!(self.state, State::Transfer(_) | State::SynReceived);
        self.state = State::Closed;
        self.due.opening = false;
        self.sender.timer.stop();
        self.receiver.skip_nothing();
    }
}
