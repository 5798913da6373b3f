//! Observers of a stack: of packets, for captures, and of decisions, for traces and logs.

use super::Id;
use crate::device::Path;
use earlybird_tcp::{Connection, Cx, SegmentMeta, Trace, TraceEvent};
use earlybird_units::Instant;
use earlybird_wire::Segment;
use std::fmt;

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Received.
    Rx,
    /// Transmitted.
    Tx,
}

/// Observes a stack, on the thread of the stack. Every method does nothing by default.
pub trait Observer: Send {
    /// Called for each packet in the format of the device: over UDP without IP header; with offload, a received packet may
    /// contain several segments, and checksums may be incomplete.
    fn on_packet(&mut self, _at: Instant, _direction: Direction, _path: Path, _packet: &[u8]) {}

    /// Called for each decision of the sender of a connection.
    fn on_trace(&mut self, _at: Instant, _id: Id, _event: TraceEvent) {}

    /// Called for each received segment, before the connection processes it.
    fn on_segment(&mut self, _at: Instant, _id: Id, _segment: &Segment) {}

    /// Called for each transmitted segment, with the part of the stream that it carries.
    fn on_transmit(&mut self, _at: Instant, _id: Id, _segment: &Segment, _carried: &SegmentMeta) {}

    /// Called after a segment, a timer or the application changed a connection.
    fn on_update(&mut self, _at: Instant, _id: Id, _connection: &Connection) {}
}

/// The observer of a stack, if there is one.
#[derive(Default)]
pub(super) struct ObserverSlot(pub(super) Option<Box<dyn Observer>>);

impl fmt::Debug for ObserverSlot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "ObserverSlot" } else { "none" })
    }
}

/// Forwards the trace of a connection to the observer, with the connection's identifier.
pub(super) struct TraceAdapter<'a> {
    observer: &'a mut ObserverSlot,
    now: Instant,
    id: Id,
}

impl TraceAdapter<'_> {
    pub(super) fn cx(&mut self) -> Cx<'_> {
        Cx { now: self.now, trace: self }
    }

    pub(super) fn on_transmit(&mut self, segment: &Segment, carried: &SegmentMeta) {
        if let Some(observer) = &mut self.observer.0 {
            observer.on_transmit(self.now, self.id, segment, carried);
        }
    }
}

impl Trace for TraceAdapter<'_> {
    fn record(&mut self, at: Instant, event: TraceEvent) {
        if let Some(observer) = &mut self.observer.0 {
            observer.on_trace(at, self.id, event);
        }
    }
}

impl ObserverSlot {
    pub(super) const fn trace_adapter(&mut self, now: Instant, id: Id) -> TraceAdapter<'_> {
        TraceAdapter { observer: self, now, id }
    }

    /// Calls `act` with a context that forwards the trace to the observer.
    pub(super) fn with_context<R>(&mut self, now: Instant, id: Id, act: impl FnOnce(&mut Cx<'_>) -> R) -> R {
        act(&mut self.trace_adapter(now, id).cx())
    }

    pub(super) fn on_packet(&mut self, at: Instant, direction: Direction, path: Path, packet: &[u8]) {
        if let Some(observer) = &mut self.0 {
            observer.on_packet(at, direction, path, packet);
        }
    }

    pub(super) fn on_segment(&mut self, at: Instant, id: Id, segment: &Segment) {
        if let Some(observer) = &mut self.0 {
            observer.on_segment(at, id, segment);
        }
    }

    pub(super) fn on_update(&mut self, at: Instant, id: Id, connection: &Connection) {
        if let Some(observer) = &mut self.0 {
            observer.on_update(at, id, connection);
        }
    }
}
