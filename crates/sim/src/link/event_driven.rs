//! Links that are served packet by packet, because their queue or their rate decides late.

use super::{Link, LinkSettings};
use crate::ids::SlotId;
use crate::packet::Packet;
use crate::service_schedule::{DeliveryOpportunities, RateChanges, VariableRate};
use crate::timestamp::Timestamp;
use earlybird_queue::{Discipline, Dropped, Queue, Waiting};
use earlybird_units::Instant;
use std::sync::Arc;

/// The service times of packets.
#[derive(Debug)]
enum ServiceSchedule {
    VariableRate(VariableRate),
    Opportunities(DeliveryOpportunities),
}

/// The fate of a packet at the entrance of an event-driven link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EnqueueOutcome {
    /// A loss rule dropped it.
    Lost,
    /// The queue dropped it on arrival.
    Refused,
    /// It is in the queue.
    Accepted,
}

/// Returns a packet as its queue sees it.
fn waiting(now: Instant, id: SlotId, packet: &Packet) -> Waiting {
    Waiting {
        id: id.number(),
        bytes: packet.bytes,
        since: now,
        ecn: packet.ecn(),
        // FQ-CoDel hashes this in place of addresses and ports, which simulated packets have not.
        connection: u64::from(packet.to.0) << 32 | u64::from(packet.generation),
        is_marked: false,
    }
}

/// A queue with its transmitter.
#[derive(Debug)]
pub(super) struct QueueServer {
    queue: Box<dyn Queue>,
    schedule: ServiceSchedule,
    dropped: Dropped,
    /// The end of the transmission in progress.
    free_at: Timestamp,
    /// A packet of which earlier opportunities sent a part, and the bytes that are left.
    partly_sent: Option<(Waiting, u32)>,
    /// Bytes left of the current opportunity.
    opportunity_left: u32,
    /// Whether a service event is scheduled.
    is_busy: bool,
}

impl QueueServer {
    /// Makes the queue of an event-driven link. `None` if the analytic model applies.
    pub(super) fn of(settings: &LinkSettings) -> Option<Self> {
        // FIFO with drop-tail at a constant rate is exactly what the analytic model covers.
        if settings.discipline == Discipline::DropTail && settings.changes.is_none() {
            return None;
        }
        let schedule = match &settings.changes {
            Some(RateChanges::Opportunities(times)) => {
                ServiceSchedule::Opportunities(DeliveryOpportunities::new(Arc::clone(times)))
            }
            Some(RateChanges::Steps(steps)) => {
                ServiceSchedule::VariableRate(VariableRate::new(settings.rate, Arc::clone(steps)))
            }
            None => ServiceSchedule::VariableRate(VariableRate::new(settings.rate, Arc::default())),
        };
        Some(Self {
            queue: settings.discipline.queue(settings.limit, settings.rate, settings.random.clone()),
            schedule,
            dropped: Dropped::new(),
            free_at: Timestamp::ZERO,
            partly_sent: None,
            opportunity_left: 0,
            is_busy: false,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns how many bytes went by earlier opportunities of a packet that is not sent yet.
    fn begun_bytes(&self) -> u64 {
        self.partly_sent.as_ref().map_or(0, |(packet, left)| u64::from(packet.bytes - left))
    }

    /// Returns the next packet to send, and the end of its transmission.
    fn send(&mut self, now: Timestamp) -> Option<(Waiting, Timestamp)> {
        if let ServiceSchedule::VariableRate(wire) = &mut self.schedule {
            // The transmission in progress has not ended: its end has a service event.
            if !self.free_at.is_not_after(now) {
                return None;
            }
            let packet = self.queue.dequeue(now.at, &mut self.dropped)?;
            self.free_at = wire.send(now, packet.bytes);
            return Some((packet, self.free_at));
        }
        self.take_next(now.at).map(|packet| (packet, now))
    }

    /// Returns the next packet that the current opportunity completes.
    fn take_next(&mut self, now: Instant) -> Option<Waiting> {
        let fresh = |packet: Waiting| (packet, packet.bytes);
        while self.opportunity_left > 0 {
            let part = self.partly_sent.take().or_else(|| self.queue.dequeue(now, &mut self.dropped).map(fresh));
            let (packet, left) = part?;
            if left <= self.opportunity_left {
                self.opportunity_left -= left;
                return Some(packet);
            }
            self.partly_sent = Some((packet, left - self.opportunity_left));
            self.opportunity_left = 0;
        }
        None
    }

    /// Returns the time of the next service, if the link is not idle.
    fn next_service(&mut self, now: Timestamp) -> Option<Timestamp> {
        let next = match &mut self.schedule {
            ServiceSchedule::VariableRate(_) => Some(self.free_at).filter(|free_at| !free_at.is_not_after(now)),
            ServiceSchedule::Opportunities(opportunities) => {
                let has_more = self.partly_sent.is_some() || !self.queue.is_empty();
                has_more.then(|| now.until(opportunities.after(now.at)))
            }
        };
        self.is_busy = next.is_some();
        next
    }
}

impl Link {
    /// Returns whether an event serves the link's queue.
    pub(crate) fn is_event_driven(&self) -> bool {
        self.server.is_some()
    }

    /// Returns the bits that were not sent by the end: those in the queue, and the rest of the packet on the wire.
    pub(super) fn unsent_by(&self, server: &QueueServer) -> f64 {
        let until = |time| self.settings.bits_before(time);
        let on_wire = until(server.free_at.at.max(self.end)) - until(self.end);
        (self.queued_bytes - server.begun_bytes()) as f64 * 8.0 + on_wire
    }

    /// Enqueues a packet, unless a loss rule drops it.
    pub(crate) fn offer(&mut self, now: Timestamp, id: SlotId, packet: &Packet) -> EnqueueOutcome {
        // Loss rules come first, in front of the queue, as in ns-2's error models on a link.
        let is_kept = !(self.has_losses && self.is_lost(now.at, packet));
        self.count(now.at, packet, is_kept);
        let Some(server) = self.server.as_mut().filter(|_| is_kept) else { return EnqueueOutcome::Lost };
        if let Some(queue_lengths) = &mut self.queue_lengths {
            queue_lengths.count(now.at, packet, server.queue.len());
        }
        self.queued_bytes += u64::from(packet.bytes);
        server.queue.enqueue(now.at, waiting(now.at, id, packet), &mut server.dropped);
        // The discipline reports drops by packet; the new one may be among them.
        let is_refused = server.dropped.iter().any(|dropped| dropped.id == id.number());
        if is_refused { EnqueueOutcome::Refused } else { EnqueueOutcome::Accepted }
    }

    /// Returns when an idle link serves the packet that was enqueued. `None` if it is busy.
    pub(crate) fn wake(&mut self, now: Timestamp) -> Option<Timestamp> {
        let server = self.server.as_mut()?;
        // A packet that an idle link serves at once does not wait and sets no maximum.
        self.max_backlog = self.max_backlog.max(if server.is_busy { server.len() } else { 0 });
        if server.is_busy || server.len() == 0 {
            return None;
        }
        match &mut server.schedule {
            ServiceSchedule::VariableRate(wire) => {
                // Only a busy period carries a rounding remainder.
                wire.rest();
                Some(now)
            }
            ServiceSchedule::Opportunities(_) => server.next_service(now),
        }
    }

    /// Begins a service. Unused bytes of the last opportunity are lost.
    pub(crate) fn begin_service(&mut self, now: Instant) {
        if let Some(QueueServer { schedule: ServiceSchedule::Opportunities(opportunities), opportunity_left, .. }) =
            self.server.as_deref_mut()
        {
            // mahimahi's opportunities do not accumulate: what is left over is wasted.
            *opportunity_left = opportunities.take(now);
        }
    }

    /// Returns the next packet that this service sends, with its arrival at the far end.
    pub(crate) fn send(&mut self, now: Timestamp) -> Option<(Waiting, Timestamp)> {
        let (packet, sent) = self.server.as_mut()?.send(now)?;
        // The queueing delay ends when the transmission begins, and excludes it.
        self.waited += now.at - packet.since;
        self.queued_bytes -= u64::from(packet.bytes);
        Some((packet, sent.after(self.delay, self.delay_seconds)))
    }

    /// Ends a service. Returns the time of the next one.
    pub(crate) fn end_service(&mut self, now: Timestamp) -> Option<Timestamp> {
        let server = self.server.as_mut()?;
        self.max_backlog = self.max_backlog.max(server.len());
        server.next_service(now)
    }

    /// Returns the next packet that the queue has dropped.
    pub(crate) fn pop_dropped(&mut self) -> Option<Waiting> {
        self.server.as_mut()?.dropped.pop_front()
    }

    pub(crate) fn count_drop(&mut self, now: Instant, since: Instant, packet: &Packet) {
        self.waited += now - since;
        // Kept apart: the mean queueing delay is that of packets that were sent.
        self.dropped_queueing_delay += now - since;
        self.queued_bytes -= u64::from(packet.bytes);
        // Counted at the arrival time, so that packets of the warm-up are not counted after it.
        self.each_counter(since, packet, |counters| counters.drop_later(packet.bytes));
    }

    pub(crate) fn count_mark(&mut self, now: Instant, packet: &Packet) {
        self.each_counter(now, packet, |counters| counters.packets_marked += 1);
    }
}
