//! Events for the application.

use earlybird_tcp as tcp;
use earlybird_tcp::Ending;

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A peer opened the connection to this port: [`Stack::accept`](crate::Stack::accept) returns it.
    Incoming(u16),
    /// The handshake is complete.
    Established,
    /// Data can be read.
    Readable,
    /// Data can be written again after a short write.
    Writable,
    /// All written data was acknowledged or abandoned.
    Drained,
    /// The peer sent its FIN.
    PeerClosed,
    /// The peer skipped frames.
    LossReported,
    /// The peer does not answer; the connection keeps retransmitting.
    Unanswered,
    /// The connection ended. Received data can still be read.
    Closed(Ending),
}

/// The set of events that the application has not polled yet: one bit per [`EventKind`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingEvents(u16);

/// The order in which events are returned.
const ORDER: [EventKind; 9] = [
    EventKind::Incoming,
    EventKind::Established,
    EventKind::Readable,
    EventKind::Writable,
    EventKind::Drained,
    EventKind::PeerClosed,
    EventKind::LossReported,
    EventKind::Unanswered,
    EventKind::Closed,
];

/// An [`Event`] without its data, which is read from the connection when the event is returned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventKind {
    Incoming,
    Established,
    Readable,
    Writable,
    Drained,
    PeerClosed,
    LossReported,
    Unanswered,
    Closed,
}

impl PendingEvents {
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn add(&mut self, kind: EventKind) {
        // A repeated event is one bit: an application that polls late gets it once.
        self.0 |= 1 << kind as u16;
    }

    pub(crate) fn take(&mut self) -> Option<EventKind> {
        let kind = ORDER.get(self.0.trailing_zeros() as usize).copied()?;
        // Clears the lowest bit that is set.
        self.0 &= self.0 - 1;
        Some(kind)
    }
}

impl EventKind {
    /// Maps an event of `tcp::Connection`. Returns `None` for events that only concern the stack.
    pub(crate) const fn of(event: tcp::Event) -> Option<Self> {
        use tcp::Event::{
            Aborted, Closed, Drained, Established, LossReported, PeerClosed, Readable, Refused, Reset, TimedOut,
            Unanswered, Unreachable, Writable,
        };
        Some(match event {
            Established => Self::Established,
            Readable => Self::Readable,
            Writable => Self::Writable,
            Drained => Self::Drained,
            PeerClosed => Self::PeerClosed,
            LossReported => Self::LossReported,
            Unanswered => Self::Unanswered,
            Closed | Reset | Refused | TimedOut | Aborted | Unreachable => Self::Closed,
            _ => return None,
        })
    }
}
