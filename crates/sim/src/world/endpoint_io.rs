//! Packets between an endpoint and the network.

use crate::agent::Agent;
use crate::endpoint::Endpoint;
use crate::events::{EventKind, SimEvent};
use crate::forwarding::Forwarder;
use crate::ids::SlotId;
use crate::ids::{EndpointId, FlowId};
use crate::observer::{Observer, PacketEvent};
use crate::packet::{Content, Packet};
use crate::udp_agent::Written;
use earlybird_tcp::{Connection, Cx, Trace, TraceEvent};
use earlybird_units::Instant;

impl Endpoint {
    /// Receives a packet. Returns `false` for a packet of an earlier connection of this endpoint number.
    #[inline]
    pub(super) fn take<O: Observer>(&mut self, id: EndpointId, slot: SlotId, forwarder: &mut Forwarder<O>) -> bool {
        let packet = forwarder.events.pool.set_free(slot);
        // Counted as neither arrived nor dropped: no endpoint expects it.
        if self.generation != packet.generation {
            return false;
        }
        let now = forwarder.now.at;
        if O::PACKETS {
            forwarder.observer.on_packet(now, PacketEvent::Arrived, packet);
        }
        match &mut self.agent {
            Agent::Tcp(connection) => {
                let mut tracer = Tracer { flow: self.flow, observer: &mut forwarder.observer };
                read(connection, &mut Cx { now, trace: &mut tracer }, &packet.content);
            }
            Agent::Udp(agent) => agent.on_packet(now, &packet.content, slot, &mut forwarder.payloads),
        }
        // A constant condition: runs without such an observer contain no code for it.
        if O::STATES && id.is_opener() {
            self.report_state(now, Some(packet), &mut forwarder.observer);
        }
        // Without an application, data is read at once: no event and no call is needed.
        if self.auto_read {
            self.agent.drain_readable();
        }
        true
    }

    /// Sends all pending segments and sets the timer.
    #[inline]
    pub(super) fn send_pending<O: Observer>(&mut self, id: EndpointId, forwarder: &mut Forwarder<O>) {
        while let Some((packet, is_data)) = self.next_segment(id, forwarder) {
            forwarder.depart(packet);
            if !is_data && !self.agent.has_data() {
                // A segment without data is the last one, except the final ACK of a handshake.
                break;
            }
        }
        self.arm(id, forwarder);
    }

    /// Writes the connection's next segment into a slot of the pool. Returns the slot, and whether the segment carries data.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "call overhead is 20 %, once per packet")]
    fn next_segment<O: Observer>(&mut self, id: EndpointId, forwarder: &mut Forwarder<O>) -> Option<(SlotId, bool)> {
        let Forwarder { now, events, observer, .. } = forwarder;
        events.pool.fill(|packet| {
            let (number, is_retransmission) = self.write(now.at, packet, observer)?;
            self.set_address(packet, id.peer(), number);
            report_sent(now.at, packet, is_retransmission, observer);
            Some(number.is_some())
        })
    }

    /// Writes the connection's next segment into a packet. Returns its number if it carries data, and whether it was
    /// sent before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `next_segment`")]
    fn write<O: Observer>(&mut self, now: Instant, packet: &mut Packet, observer: &mut O) -> Option<Written> {
        let Agent::Tcp(connection) = &mut self.agent else { return None };
        let mut tracer = Tracer { flow: self.flow, observer };
        let segment = packet.segment_mut();
        let carried = connection.poll_transmit_into(&mut Cx { now, trace: &mut tracer }, segment)?;
        if let (Some(frame), Some(unit_io)) = (carried.frame, &mut self.unit_io) {
            unit_io.on_carried(frame, &carried);
        }
        Some((carried.number, carried.is_retransmission))
    }

    /// The same as [`Self::send_pending`] for an agent over UDP. A datagram without data may be followed by one with data.
    #[cold]
    pub(super) fn send_datagrams<O: Observer>(&mut self, id: EndpointId, forwarder: &mut Forwarder<O>) {
        while let Some(packet) = self.next_datagram(id, forwarder) {
            forwarder.depart(packet);
        }
        self.arm(id, forwarder);
    }

    fn next_datagram<O: Observer>(&mut self, id: EndpointId, forwarder: &mut Forwarder<O>) -> Option<SlotId> {
        let Forwarder { now, events, observer, payloads, .. } = forwarder;
        let (slot, ()) = events.pool.fill(|packet| {
            let Agent::Udp(agent) = &mut self.agent else { return None };
            let (number, is_retransmission) = agent.write_packet(now.at, packet)?;
            self.set_address(packet, id.peer(), number);
            report_sent(now.at, packet, is_retransmission, observer);
            Some(())
        })?;
        if let Agent::Udp(agent) = &mut self.agent {
            agent.on_placed(slot, payloads);
        }
        Some(slot)
    }

    /// Addresses a packet, whose content is written, to endpoint `to`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called for every packet, with many arguments")]
    fn set_address(&self, packet: &mut Packet, to: EndpointId, number: Option<u64>) {
        packet.to = to;
        packet.generation = self.generation;
        packet.route = self.route;
        packet.flow = self.flow;
        packet.group = self.group;
        packet.bytes = self.headers.bytes_of(&packet.content);
        packet.number = number.map_or(Packet::PURE_ACK, |number| number as u32);
    }

    /// Ensures that there is an event no later than the agent's deadline. Later deadlines wait for the existing
    /// event: moving the timer with every ACK costs nothing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `next_segment`")]
    pub(super) fn arm<O: Observer>(&mut self, id: EndpointId, forwarder: &mut Forwarder<O>) {
        let Some(deadline) = self.agent.poll_timeout() else { return };
        // The time at which a timer was set breaks ties with packets, as in ns-2's scheduler.
        if deadline != self.deadline {
            (self.deadline, self.deadline_set) = (deadline, forwarder.now);
        }
        // An earlier event is needed. A later deadline waits for the pending event, which sets the timer again.
        if deadline < self.armed {
            self.schedule_timer(id, forwarder);
        }
    }

    #[inline(never)]
    fn schedule_timer<O: Observer>(&mut self, id: EndpointId, forwarder: &mut Forwarder<O>) {
        let (deadline, set) = (self.deadline, self.deadline_set);
        self.armed = deadline;
        // Packets that arrive at the deadline left their last link before the timer was set, or after.
        let kind = if deadline - set.at <= self.last_link_delay { EventKind::ShortTimer } else { EventKind::Timer };
        forwarder.events.schedule(SimEvent::new(set.until(deadline), kind, id.0));
    }
}

/// Passes a segment to a connection. Inlined into its caller it would cost
/// 17 more instructions per packet.
#[inline(never)]
fn read(connection: &mut Connection, cx: &mut Cx<'_>, content: &Content) {
    if let Content::Segment(segment) = content {
        let _ = connection.on_segment(cx, segment);
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "as of `next_segment`")]
fn report_sent<O: Observer>(at: Instant, packet: &Packet, is_retransmission: bool, observer: &mut O) {
    if O::PACKETS {
        let event = if is_retransmission { PacketEvent::Retransmitted } else { PacketEvent::Sent };
        observer.on_packet(at, event, packet);
    }
}

/// Forwards a connection's decisions to the observer, with the flow.
pub(super) struct Tracer<'a, O> {
    pub(super) flow: FlowId,
    pub(super) observer: &'a mut O,
}

impl<O: Observer> Trace for Tracer<'_, O> {
    fn record(&mut self, at: Instant, event: TraceEvent) {
        self.observer.on_trace(at, self.flow, event);
    }
}
