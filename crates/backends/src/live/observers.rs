//! Observers of the stacks: decisions go to the run, and all events of openers to the event log.

use crate::event_log::SharedEventLog;
use earlybird_live::{Id, Observer};
use earlybird_sim::FlowId;
use earlybird_tcp::{Connection, SegmentMeta, TraceEvent};
use earlybird_units::Instant;
use earlybird_wire::Segment;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender};

/// Forwards the events of a stack.
pub(super) struct TraceAdapter {
    pub(super) decisions: Sender<(Instant, Id, TraceEvent)>,
    /// Present at the stack of the openers, if there is an event log.
    pub(super) openers: Option<OpenerLog>,
}

/// The adapter from openers to the event log.
pub(super) struct OpenerLog {
    event_log: SharedEventLog,
    /// The flow of each new connection.
    opened: Receiver<(Id, FlowId)>,
    flows: HashMap<Id, FlowId>,
    /// The segment that the connection handles now.
    arrived: Option<Segment>,
}

impl OpenerLog {
    pub(super) fn new(event_log: SharedEventLog, opened: Receiver<(Id, FlowId)>) -> Self {
        Self { event_log, opened, flows: HashMap::new(), arrived: None }
    }

    fn flow(&mut self, id: Id) -> Option<FlowId> {
        // Connections are announced by another part of the thread, perhaps after their first event.
        self.flows.extend(self.opened.try_iter());
        self.flows.get(&id).copied()
    }
}

impl Observer for TraceAdapter {
    fn on_trace(&mut self, at: Instant, id: Id, event: TraceEvent) {
        // The receiver is dropped at the end of the run: ignore the error.
        let _ = self.decisions.send((at, id, event));
        if let Some(openers) = &mut self.openers {
            openers.on_trace(at, id, event);
        }
    }

    fn on_segment(&mut self, at: Instant, id: Id, segment: &Segment) {
        if let Some(openers) = &mut self.openers {
            openers.on_segment(at, id, segment);
        }
    }

    fn on_transmit(&mut self, at: Instant, id: Id, segment: &Segment, carried: &SegmentMeta) {
        if let Some(openers) = &mut self.openers {
            openers.on_transmit(at, id, segment, carried);
        }
    }

    fn on_update(&mut self, at: Instant, id: Id, connection: &Connection) {
        if let Some(openers) = &mut self.openers {
            openers.on_update(at, id, connection);
        }
    }
}

impl Observer for OpenerLog {
    fn on_trace(&mut self, at: Instant, id: Id, event: TraceEvent) {
        if let Some(flow) = self.flow(id) {
            self.event_log.lock().on_trace(at, flow, event);
        }
    }

    fn on_segment(&mut self, at: Instant, id: Id, segment: &Segment) {
        self.arrived = Some(*segment);
        if let Some(flow) = self.flow(id) {
            self.event_log.lock().on_arrival(at, flow, segment);
        }
    }

    fn on_transmit(&mut self, at: Instant, id: Id, segment: &Segment, carried: &SegmentMeta) {
        if let Some(flow) = self.flow(id) {
            self.event_log.lock().on_departure(at, flow, segment, carried);
        }
    }

    fn on_update(&mut self, at: Instant, id: Id, connection: &Connection) {
        // The stack calls `on_arrival` before the connection handles the segment, and `on_state` after it.
        let arrived = self.arrived.take();
        if let Some(flow) = self.flow(id) {
            self.event_log.lock().on_state(at, flow, arrived.as_ref(), connection);
        }
    }
}
