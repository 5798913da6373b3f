//! What an application should know.

use earlybird_tcp as tcp;
use earlybird_tcp::Ending;

/// What an application should know of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A peer opened it: [`Stack::accept`](crate::Stack::accept) gives it at its port.
    Incoming(u16),
    /// The handshake is done.
    Established,
    /// There is something to read.
    Readable,
    /// There is room again for what could not be written.
    Writable,
    /// Everything written was acknowledged, or given up.
    Drained,
    /// The peer will send no more.
    PeerClosed,
    /// The peer stepped over frames.
    LossReported,
    /// The peer does not answer; the connection goes on trying.
    Unanswered,
    /// It is over. What arrived can still be read.
    Closed(Ending),
}

/// Events that were not told yet, each at most once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Untold(u16);

/// In the order in which they are told.
const ORDER: [Kind; 9] = [
    Kind::Incoming,
    Kind::Established,
    Kind::Readable,
    Kind::Writable,
    Kind::Drained,
    Kind::PeerClosed,
    Kind::LossReported,
    Kind::Unanswered,
    Kind::Closed,
];

/// An [`Event`] without what the connection knows itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
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

impl Untold {
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn add(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u16;
    }

    pub(crate) fn take(&mut self) -> Option<Kind> {
        let kind = ORDER.get(self.0.trailing_zeros() as usize).copied()?;
        self.0 &= self.0 - 1;
        Some(kind)
    }
}

impl Kind {
    /// Returns what a connection's own event means here; `None` for what only the stack has to know.
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
