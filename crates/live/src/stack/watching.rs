//! Who looks on: at packets, for captures, and at decisions, for plots and logs.

use super::Id;
use crate::device::Path;
use earlybird_tcp::{Cx, Trace, TraceEvent};
use earlybird_units::Instant;
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
}

/// Who looks on, if anybody does.
#[derive(Default)]
pub(super) struct Watcher(pub(super) Option<Box<dyn Watch>>);

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "Watcher" } else { "nobody" })
    }
}

/// Passes a connection's decisions on with its number.
pub(super) struct Tracer<'a> {
    watcher: &'a mut Watcher,
    id: Id,
}

impl Trace for Tracer<'_> {
    fn record(&mut self, at: Instant, event: TraceEvent) {
        if let Some(watch) = &mut self.watcher.0 {
            watch.on_trace(at, self.id, event);
        }
    }
}

impl Watcher {
    /// Does something to a connection, and tells its decisions.
    pub(super) fn during<R>(&mut self, now: Instant, id: Id, act: impl FnOnce(&mut Cx<'_>) -> R) -> R {
        act(&mut Cx { now, trace: &mut Tracer { watcher: self, id } })
    }

    pub(super) fn on_packet(&mut self, at: Instant, way: Way, path: Path, packet: &[u8]) {
        if let Some(watch) = &mut self.0 {
            watch.on_packet(at, way, path, packet);
        }
    }
}
