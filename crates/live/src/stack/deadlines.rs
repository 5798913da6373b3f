//! When which connection wants to be woken.

use super::Id;
use super::flows::Flows;
use earlybird_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A heap in which a connection has one entry that counts: that of [`Flow::queued`](super::flow::Flow::queued). A deadline that
/// moves back is entered anew when the old one comes; so moving a timer with every ACK costs nothing.
#[derive(Debug, Default)]
pub(super) struct Deadlines(BinaryHeap<Reverse<(Instant, Id)>>);

impl Deadlines {
    /// Takes note of what a connection asks for.
    pub(super) fn enter(&mut self, flows: &mut Flows, id: Id) {
        let Some(flow) = flows.get_mut(id) else { return };
        let Some(deadline) = flow.connection.poll_timeout() else { return };
        if deadline < flow.queued {
            flow.queued = deadline;
            self.0.push(Reverse((deadline, id)));
        }
    }

    /// Gives the first deadline.
    pub(super) fn first(&mut self, flows: &mut Flows) -> Option<Instant> {
        while let Some(&Reverse((at, id))) = self.0.peek() {
            let wanted = flows.get(id).filter(|flow| flow.queued == at).and_then(|flow| flow.connection.poll_timeout());
            if wanted == Some(at) {
                return Some(at);
            }
            self.drop_first(flows);
        }
        None
    }

    /// Takes the first one out if it has come.
    pub(super) fn take(&mut self, flows: &mut Flows, now: Instant) -> Option<Id> {
        self.first(flows).filter(|at| *at <= now)?;
        let Reverse((_, id)) = self.0.pop()?;
        flows.get_mut(id)?.queued = Instant::NEVER;
        Some(id)
    }

    /// Drops an entry that is out of date; if it was the one that counted, another takes its place.
    fn drop_first(&mut self, flows: &mut Flows) {
        let Some(Reverse((at, id))) = self.0.pop() else { return };
        if let Some(flow) = flows.get_mut(id).filter(|flow| flow.queued == at) {
            flow.queued = Instant::NEVER;
            self.enter(flows, id);
        }
    }
}
