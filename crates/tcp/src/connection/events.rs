//! What the application should know.

use super::Connection;

/// What the application should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// In the order in which they are told.
const EVENTS: [Event; 7] = [
    Event::Established,
    Event::Readable,
    Event::Drained,
    Event::PeerClosed,
    Event::Closed,
    Event::Reset,
    Event::LossReported,
];

/// The events that were not asked for yet, each at most once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Events(u16);

impl Events {
    pub(super) fn tell(&mut self, event: Event) {
        self.0 |= 1 << event as u16;
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
    /// Gives the next thing the application should know.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.next()
    }
}
