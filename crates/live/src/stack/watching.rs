//! Who looks on: at packets, for captures, and at decisions, for plots and logs.

use super::Id;
use crate::device::Path;
use earlybird_tcp::{Connection, Cx, SegmentMeta, Trace, TraceEvent};
use earlybird_units::Instant;
use earlybird_wire::Segment;
use std::fmt;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It has arrived.
    In,
    /// It leaves.
    Out,
}

/// Looks on while a stack works, on whatever thread that is; does nothing unless it is written.
pub trait Watch: Send {
    /// A packet arrived or leaves, as the device has it: over UDP without IP header; with segmentation offload what arrives may be
    /// several segments in one, and checksums may be the device's to complete.
    fn on_packet(&mut self, _at: Instant, _way: Way, _path: Path, _packet: &[u8]) {}

    /// A connection's sender made a decision.
    fn on_trace(&mut self, _at: Instant, _id: Id, _event: TraceEvent) {}

    /// A segment came for a connection, which has not seen it.
    fn on_arrival(&mut self, _at: Instant, _id: Id, _segment: &Segment) {}

    /// A connection sends a segment, with this part of its stream.
    fn on_departure(&mut self, _at: Instant, _id: Id, _segment: &Segment, _carried: &SegmentMeta) {}

    /// Something happened to a connection: a segment came, a timer ran out, or its application did something.
    fn on_state(&mut self, _at: Instant, _id: Id, _connection: &Connection) {}
}

/// Who looks on, if anybody does.
#[derive(Default)]
pub(super) struct Watcher(pub(super) Option<Box<dyn Watch>>);

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "Watcher" } else { "nobody" })
    }
}

/// Passes on what a connection does, with its number.
pub(super) struct Teller<'a> {
    watcher: &'a mut Watcher,
    now: Instant,
    id: Id,
}

impl Teller<'_> {
    pub(super) fn cx(&mut self) -> Cx<'_> {
        Cx { now: self.now, trace: self }
    }

    pub(super) fn on_departure(&mut self, segment: &Segment, carried: &SegmentMeta) {
        if let Some(watch) = &mut self.watcher.0 {
            watch.on_departure(self.now, self.id, segment, carried);
        }
    }
}

impl Trace for Teller<'_> {
    fn record(&mut self, at: Instant, event: TraceEvent) {
        if let Some(watch) = &mut self.watcher.0 {
            watch.on_trace(at, self.id, event);
        }
    }
}

impl Watcher {
    pub(super) const fn teller(&mut self, now: Instant, id: Id) -> Teller<'_> {
        Teller { watcher: self, now, id }
    }

    /// Does something to a connection, and tells its decisions.
    pub(super) fn during<R>(&mut self, now: Instant, id: Id, act: impl FnOnce(&mut Cx<'_>) -> R) -> R {
        act(&mut self.teller(now, id).cx())
    }

    pub(super) fn on_packet(&mut self, at: Instant, way: Way, path: Path, packet: &[u8]) {
        if let Some(watch) = &mut self.0 {
            watch.on_packet(at, way, path, packet);
        }
    }

    pub(super) fn on_arrival(&mut self, at: Instant, id: Id, segment: &Segment) {
        if let Some(watch) = &mut self.0 {
            watch.on_arrival(at, id, segment);
        }
    }

    pub(super) fn on_state(&mut self, at: Instant, id: Id, connection: &Connection) {
        if let Some(watch) = &mut self.0 {
            watch.on_state(at, id, connection);
        }
    }
}
