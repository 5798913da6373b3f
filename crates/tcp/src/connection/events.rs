//! What the application should know.

use super::Connection;

/// What the application should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is done.
    Established,
    /// Bytes can be read.
    Readable,
    /// Everything written was acknowledged or given up.
    Drained,
    /// The peer will send no more.
    PeerClosed,
    /// The connection ended in order.
    Closed,
    /// The peer reset the connection.
    Reset,
    /// The peer stepped over more than it had told before: [`Connection::losses_reported`] has grown.
    LossReported,
    /// The peer refused the connection that this side opened.
    Refused,
    /// The peer did not answer for too long: the connection ended ([`Lifetimes`](crate::Lifetimes)).
    TimedOut,
    /// Data came after [`Connection::close`], which nobody will read: the peer was reset.
    Aborted,
    /// The same segment was sent four times without an answer (R1 of RFC 9293 §3.8.3). The connection goes on trying.
    Unanswered,
    /// In TIME-WAIT the peer opened a new connection between the same ports, and this one ended to make way: the segment that
    /// was just given is for whoever listens (RFC 6191).
    TimeWaitReused,
    /// There is room again for what a [`Connection::write`] could not take: at least a third of the send buffer.
    Writable,
    /// The peer cannot be reached, as a router said while the connection was yet to be opened.
    Unreachable,
}

/// In the order in which they are told.
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

/// The events that were not asked for yet, each at most once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Events(u16);

impl Events {
    pub(super) fn tell(&mut self, event: Event) {
        self.0 |= 1 << event as u16;
    }

    /// Takes an event back; says whether it was to be told.
    #[inline]
    pub(super) fn forget(&mut self, event: Event) -> bool {
        let bit = 1 << event as u16;
        let was_told = self.0 & bit != 0;
        self.0 &= !bit;
        was_told
    }

    fn next(&mut self) -> Option<Event> {
        if self.0 == 0 {
            return None;
        }
        let event = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        EVENTS.get(event as usize).copied()
    }
}

impl Connection {
    /// Returns whether [`Self::poll_event`] may have something to tell, for those who ask often.
    #[must_use]
    #[inline]
    pub fn has_events(&self) -> bool {
        self.events.0 != 0 || self.wants_room
    }

    /// Returns the next thing the application should know.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.next().or_else(|| self.take_writable())
    }
}
