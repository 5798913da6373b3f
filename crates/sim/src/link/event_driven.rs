//! Links whose departure times are unknown on arrival: their queue or their rate decides later.

use super::delay_log::DelayLog;
use super::reading::Held;
use super::{Link, LinkSettings};
use crate::ids::SlotId;
use crate::packet::Packet;
use crate::service_schedule::{DeliveryOpportunities, RateChanges, VariableRate};
use crate::timestamp::Timestamp;
use earlybird_queue::{Discipline, Dropped, Queue, QueueLimit, QueuedPacket};
use earlybird_units::{Duration, Instant};
use std::sync::Arc;

/// The service times of packets.
#[derive(Debug)]
enum ServiceSchedule {
    VariableRate(VariableRate),
    Opportunities(DeliveryOpportunities),
}

/// Result of enqueueing a packet at an event-driven link.
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
fn waiting(now: Instant, id: SlotId, packet: &Packet) -> QueuedPacket {
    QueuedPacket {
        id: id.number(),
        bytes: packet.bytes,
        since: now,
        ecn: packet.ecn(),
        // FQ-CoDel hashes this instead of addresses and ports, which simulated packets lack.
        connection: u64::from(packet.to.0) << 32 | u64::from(packet.generation),
        is_marked: false,
    }
}

/// Packets in the queue, and the times they spend there.
#[derive(Debug, Default)]
struct Delays {
    /// Packets in the queue, and the sum of their arrival times in nanoseconds.
    queued: u64,
    arrivals: u128,
    /// Time integral of the queue length, of packets that have left the queue.
    queue_time: Duration,
    /// Sum of the queueing delays of the packets whose transmission has begun.
    delay_sum: Duration,
    packets_started: u64,
    log: Option<DelayLog>,
}

impl Delays {
    fn enter(&mut self, now: Instant) {
        self.queued += 1;
        self.arrivals += u128::from(now.as_nanos());
    }

    fn leave(&mut self, now: Instant, since: Instant) {
        self.queued -= 1;
        self.arrivals -= u128::from(since.as_nanos());
        self.queue_time += now - since;
    }

    fn start(&mut self, now: Instant, since: Instant) {
        // The queueing delay ends when the transmission begins, and excludes it.
        self.leave(now, since);
        self.delay_sum += now - since;
        self.packets_started += 1;
        if let Some(log) = &mut self.log {
            log.note(now, now - since);
        }
    }

    /// Returns the time integral of the queue length up to now.
    fn queue_time_at(&self, now: Instant) -> Duration {
        let waited = u128::from(now.as_nanos()) * u128::from(self.queued) - self.arrivals;
        self.queue_time + Duration::from_nanos(u64::try_from(waited).unwrap_or(u64::MAX))
    }
}

/// A queue with its transmitter.
#[derive(Debug)]
pub(super) struct QueueServer {
    queue: Box<dyn Queue>,
    schedule: ServiceSchedule,
    dropped: Dropped,
    delays: Delays,
    /// The end of the transmission in progress.
    free_at: Timestamp,
    /// Bytes and group of the last packet whose transmission began.
    last_started: (u32, u32),
    /// A packet of which earlier opportunities sent a part, and the bytes that are left.
    partly_sent: Option<(QueuedPacket, u32)>,
    /// Bytes left of the current opportunity.
    opportunity_left: u32,
    /// Whether a service event is scheduled.
    is_busy: bool,
}

impl QueueServer {
    /// Makes the queue of an event-driven link. `None` if the analytic model applies.
    pub(super) fn of(settings: &LinkSettings) -> Option<Self> {
        // FIFO with drop-tail at a constant rate is exactly what the analytic model covers.
        if settings.discipline == Discipline::DropTail && settings.changes.is_none() && settings.outages.is_empty() {
            return None;
        }
        let outages = || settings.outages.clone();
        let schedule = match &settings.changes {
            Some(RateChanges::Opportunities { times, start }) => {
                ServiceSchedule::Opportunities(DeliveryOpportunities::new(Arc::clone(times), *start))
            }
            Some(RateChanges::Steps(steps)) => {
                ServiceSchedule::VariableRate(VariableRate::new(settings.rate, Arc::clone(steps), outages()))
            }
            None => ServiceSchedule::VariableRate(VariableRate::new(settings.rate, Arc::default(), outages())),
        };
        Some(Self {
            queue: settings.discipline.queue(settings.limit.passing_one(), settings.rate, settings.random.clone()),
            schedule,
            dropped: Dropped::new(),
            delays: Delays::default(),
            free_at: Timestamp::ZERO,
            last_started: (0, 0),
            partly_sent: None,
            opportunity_left: 0,
            is_busy: false,
        })
    }

    pub(super) fn keep_delays(&mut self, log: DelayLog) {
        self.delays.log = Some(log);
    }

    pub(super) fn delay_log(&self) -> Option<&DelayLog> {
        self.delays.log.as_ref()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether a packet waits or is being sent.
    fn is_occupied(&self, now: Timestamp) -> bool {
        !self.free_at.is_not_after(now) || self.partly_sent.is_some() || !self.queue.is_empty()
    }

    /// Returns how many bytes went by earlier opportunities of a packet that is not sent yet.
    fn begun_bytes(&self) -> u64 {
        self.partly_sent.as_ref().map_or(0, |(packet, left)| u64::from(packet.bytes - left))
    }

    /// Returns the next packet to send, and the end of its transmission.
    fn send(&mut self, now: Timestamp) -> Option<(QueuedPacket, Timestamp)> {
        if let ServiceSchedule::VariableRate(transmitter) = &mut self.schedule {
            // The transmission in progress has not ended: its end has a service event.
            if !self.free_at.is_not_after(now) {
                return None;
            }
            let packet = self.queue.dequeue(now.at, &mut self.dropped)?;
            self.delays.start(now.at, packet.since);
            self.free_at = transmitter.send(now, packet.bytes);
            return Some((packet, self.free_at));
        }
        self.take_next(now.at).map(|packet| (packet, now))
    }

    /// Returns the next packet that the current opportunity completes.
    fn take_next(&mut self, now: Instant) -> Option<QueuedPacket> {
        while self.opportunity_left > 0 {
            let (packet, left) = self.partly_sent.take().or_else(|| self.start_next(now))?;
            if left <= self.opportunity_left {
                self.opportunity_left -= left;
                return Some(packet);
            }
            self.partly_sent = Some((packet, left - self.opportunity_left));
            self.opportunity_left = 0;
        }
        None
    }

    /// Returns the next packet of the queue, and how many of its bytes are left to send.
    fn start_next(&mut self, now: Instant) -> Option<(QueuedPacket, u32)> {
        let packet = self.queue.dequeue(now, &mut self.dropped)?;
        self.delays.start(now, packet.since);
        Some((packet, packet.bytes))
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

    /// Returns the bits that were not sent by a time: those in the queue, and the rest of the packet on the wire.
    fn bits_unsent(&self, server: &QueueServer, at: Instant) -> f64 {
        let until = |time| self.cold.settings.bits_before(time);
        let on_wire = if server.free_at.at > at { until(server.free_at.at) - until(at) } else { 0.0 };
        (self.queued_bytes - server.begun_bytes()) as f64 * 8.0 + on_wire
    }

    /// Returns the packets and bytes at the link at a time, of all packets or of a group's.
    pub(super) fn held_by(&self, server: &QueueServer, at: Instant, group: Option<u32>) -> Held {
        let (bytes, group_on_wire) = server.last_started;
        let is_on_wire = server.free_at.at > at && group.is_none_or(|group| group == group_on_wire);
        let (on_wire, bytes_on_wire) = if is_on_wire { (1, u64::from(bytes)) } else { (0, 0) };
        let counted = group.map_or(&self.total, |group| &self.groups[group as usize]);
        let waiting = counted.packets_accepted() - counted.started.0 + on_wire;
        Held {
            queued: server.delays.queued,
            waiting: (waiting, counted.bytes_accepted - counted.started.1 + bytes_on_wire),
            bits_unsent: self.bits_unsent(server, at),
            queue_time: server.delays.queue_time_at(at),
            delay_sum: server.delays.delay_sum,
            packets_started: server.delays.packets_started,
        }
    }

    /// Enqueues a packet, unless a loss rule drops it.
    pub(crate) fn offer(&mut self, now: Timestamp, id: SlotId, packet: &Packet) -> EnqueueOutcome {
        self.take_readings_before(now.at);
        // Loss rules come first, in front of the queue, as in ns-2's error models on a link.
        let is_kept = !(self.has_losses && self.is_lost(now.at, packet));
        self.count(packet, is_kept);
        if !is_kept {
            self.count_loss(packet);
        }
        let Some(server) = self.server.as_mut().filter(|_| is_kept) else { return EnqueueOutcome::Lost };
        if let Some(queue_lengths) = self.queue_lengths.as_mut().filter(|_| self.cold.measured.contains(now.at)) {
            queue_lengths.count(packet, server.queue.len());
        }
        server.delays.enter(now.at);
        self.queued_bytes += u64::from(packet.bytes);
        let waiting = waiting(now.at, id, packet);
        if self.limit == QueueLimit::Packets(1) && server.is_occupied(now) {
            server.dropped.push_back(waiting);
        } else {
            server.queue.enqueue(now.at, waiting, &mut server.dropped);
        }
        // The discipline reports drops by packet; the new one may be among them.
        let is_refused = server.dropped.iter().any(|dropped| dropped.id == id.number());
        if is_refused { EnqueueOutcome::Refused } else { EnqueueOutcome::Accepted }
    }

    /// Returns when an idle link serves the packet that was enqueued. `None` if it is busy.
    pub(crate) fn wake(&mut self, now: Timestamp) -> Option<Timestamp> {
        let server = self.server.as_mut()?;
        // A packet that an idle link serves at once does not wait and sets no maximum; one that must wait for an opportunity
        // does.
        let waits = server.is_busy || matches!(server.schedule, ServiceSchedule::Opportunities(_));
        self.max_backlog = self.max_backlog.max(if waits { server.len() } else { 0 });
        if server.is_busy || server.len() == 0 {
            return None;
        }
        match &mut server.schedule {
            ServiceSchedule::VariableRate(transmitter) => {
                // Only a busy period carries a rounding remainder.
                transmitter.reset();
                let up = transmitter.up_from(now);
                if up != now {
                    // It waits for the end of an outage: others may come, and the queue decides which goes first.
                    (server.is_busy, self.max_backlog) = (true, self.max_backlog.max(1));
                }
                Some(up)
            }
            ServiceSchedule::Opportunities(_) => server.next_service(now),
        }
    }

    fn take_readings_before(&mut self, now: Instant) {
        if now >= self.next_reading {
            self.take_readings(now);
        }
    }

    /// Begins a service. Unused bytes of the last opportunity are lost.
    pub(crate) fn begin_service(&mut self, now: Instant) {
        self.take_readings_before(now);
        if let Some(QueueServer { schedule: ServiceSchedule::Opportunities(opportunities), opportunity_left, .. }) =
            self.server.as_deref_mut()
        {
            // mahimahi's opportunities do not accumulate: unused bytes are lost.
            *opportunity_left = opportunities.take(now);
        }
    }

    /// Returns the next packet that this service sends, with its arrival at the far end.
    pub(crate) fn send(&mut self, now: Timestamp) -> Option<(QueuedPacket, Timestamp)> {
        let (packet, sent) = self.server.as_mut()?.send(now)?;
        self.queued_bytes -= u64::from(packet.bytes);
        Some((packet, sent.after(self.delay, self.delay_seconds)))
    }

    /// Counts a packet that the link sends.
    pub(crate) fn count_sent(&mut self, packet: &Packet) {
        self.each_counter(packet, |counters| counters.start(packet.bytes));
        if let Some(server) = &mut self.server {
            server.last_started = (packet.bytes, packet.group.0);
        }
    }

    /// Ends a service. Returns the time of the next one.
    pub(crate) fn end_service(&mut self, now: Timestamp) -> Option<Timestamp> {
        let server = self.server.as_mut()?;
        self.max_backlog = self.max_backlog.max(server.len());
        server.next_service(now)
    }

    /// Returns the next packet that the queue has dropped.
    pub(crate) fn pop_dropped(&mut self) -> Option<QueuedPacket> {
        self.server.as_mut()?.dropped.pop_front()
    }

    pub(crate) fn count_drop(&mut self, now: Instant, since: Instant, packet: &Packet) {
        // Only the queue's length counts: the mean queueing delay is that of packets that were sent.
        if let Some(server) = &mut self.server {
            server.delays.leave(now, since);
        }
        self.queued_bytes -= u64::from(packet.bytes);
        self.each_counter(packet, |counters| counters.drop_later(packet.bytes));
        self.count_drop_later(now, since, packet);
    }

    pub(crate) fn count_mark(&mut self, now: Instant, since: Instant, packet: &Packet) {
        self.each_counter(packet, |counters| counters.packets_marked += 1);
        self.count_mark_later(now, since, packet);
    }
}
