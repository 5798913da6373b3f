//! Events for the application.

/// Something that happened to a connection, for its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is done.
    Established,
    /// Bytes can be read.
    Readable,
    /// Everything written was acknowledged or abandoned.
    Drained,
    /// The peer will send no more.
    PeerClosed,
    /// The connection ended in order.
    Closed,
    /// The peer reset the connection.
    Reset,
    /// The peer has skipped more segments: [`Connection::losses_reported`](super::Connection::losses_reported) has grown.
    LossReported,
    /// The peer refused the connection that this side opened.
    Refused,
    /// The peer did not answer for too long: the connection ended ([`Lifetimes`](crate::Lifetimes)).
    TimedOut,
    /// Data arrived after [`Connection::close`](super::Connection::close), which will not be read: the peer was reset.
    Aborted,
    /// The same segment was sent four times without an answer (R1 of RFC 9293 §3.8.3). Retransmission continues.
    Unanswered,
    /// In TIME-WAIT the peer has opened a new connection between the same ports, and this one has ended (RFC 6191): the segment
    /// that was just passed in belongs to the listener.
    TimeWaitReused,
    /// There is room again after a short [`Connection::write`](super::Connection::write): at least a third of the send buffer.
    Writable,
    /// The peer cannot be reached, as a router reported before the handshake was done.
    Unreachable,
}

/// All events in the order in which they are reported.
const EVENTS: [Event; 14] = [
    Event::Established,
    Event::Readable,
    Event::Drained,
    Event::PeerClosed,
    Event::Closed,
    Event::Reset,
    Event::LossReported,
    Event::Refused,
    Event::TimedOut,
    Event::Aborted,
    Event::Unanswered,
    Event::TimeWaitReused,
    Event::Writable,
    Event::Unreachable,
];

/// The events that were not polled yet, each at most once: a set of bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Events(u16);

impl Events {
    /// Adds an event.
    pub(super) fn add(&mut self, event: Event) {
        self.0 |= 1 << event as u16;
    }

    /// Removes an event; returns whether it was in the set.
    #[inline]
    pub(super) fn remove(&mut self, event: Event) -> bool {
        let bit = 1 << event as u16;
        let was_set = self.0 & bit != 0;
        self.0 &= !bit;
        was_set
    }

    /// Returns whether the set is empty.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Removes and returns the first event.
    pub(super) fn next(&mut self) -> Option<Event> {
        if self.0 == 0 {
            return None;
        }
        // The lowest bit is the first event; the second line clears it.
        let event = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        EVENTS.get(event as usize).copied()
    }
}
