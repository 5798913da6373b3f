//! What passes between an endpoint and that which carries its packets.

use crate::endpoint::{Agent, Endpoint};
use crate::events::{Event, Kind};
use crate::ids::{EndpointId, FlowId};
use crate::observer::{Observer, PacketEvent};
use crate::packet::{Content, Packet};
use crate::slots::Place;
use crate::transit::Transit;
use crate::udp::Written;
use earlybird_tcp::{Connection, Cx, Trace, TraceEvent};
use earlybird_units::Instant;

impl Endpoint {
    /// Takes a packet that has come; says whether it was for this endpoint, and not for one before it in its place.
    #[inline]
    pub(super) fn take<O: Observer>(&mut self, id: EndpointId, place: Place, transit: &mut Transit<O>) -> bool {
        let packet = transit.events.slots.set_free(place);
        if self.generation != packet.generation {
            return false;
        }
        let now = transit.now.at;
        if O::PACKETS {
            transit.observer.on_packet(now, PacketEvent::Arrived, packet);
        }
        match &mut self.agent {
            Agent::Tcp(connection) => {
                let mut tracer = Tracer { flow: self.flow, observer: &mut transit.observer };
                read(connection, &mut Cx { now, trace: &mut tracer }, &packet.content);
            }
            Agent::Udp(agent) => agent.on_packet(now, &packet.content, place, &mut transit.parcels),
        }
        if O::STATES && id.is_opener() {
            self.tell_state(now, Some(packet), &mut transit.observer);
        }
        if self.reads_untold {
            self.agent.drain_readable();
        }
        true
    }

    /// Sends the segments that are to be sent, and sets the timer.
    #[inline]
    pub(super) fn answer<O: Observer>(&mut self, id: EndpointId, transit: &mut Transit<O>) {
        while let Some((packet, is_data)) = self.next_segment(id, transit) {
            transit.depart(packet);
            if !is_data && !self.agent.has_data() {
                // A segment without data is sent for want of anything better: nothing comes behind it, but behind the one
                // that ends a handshake.
                break;
            }
        }
        self.arm(id, transit);
    }

    /// Puts the next segment that a connection wants to be sent among those on their way; says whether it carries data.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the call costs a fifth of what it does, and comes with every packet")]
    fn next_segment<O: Observer>(&mut self, id: EndpointId, transit: &mut Transit<O>) -> Option<(Place, bool)> {
        let Transit { now, events, observer, .. } = transit;
        events.slots.fill(|packet| {
            let (number, is_retransmission) = self.write(now.at, packet, observer)?;
            self.address(packet, id.peer(), number);
            tell_sent(now.at, packet, is_retransmission, observer);
            Some(number.is_some())
        })
    }

    /// Writes what a connection wants to be sent next into a packet; gives its number if it carries data, and whether it was
    /// sent before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `next_segment`")]
    fn write<O: Observer>(&mut self, now: Instant, packet: &mut Packet, observer: &mut O) -> Option<Written> {
        let Agent::Tcp(connection) = &mut self.agent else { return None };
        let mut tracer = Tracer { flow: self.flow, observer };
        let segment = packet.segment_mut();
        let carried = connection.poll_transmit_into(&mut Cx { now, trace: &mut tracer }, segment)?;
        if let (Some(frame), Some(ledger)) = (carried.frame, &mut self.ledger) {
            ledger.on_carried(frame, &carried);
        }
        Some((carried.number, carried.is_retransmission))
    }

    /// The same as [`Self::answer`] for an agent over UDP, of which data may follow a packet without.
    #[cold]
    pub(super) fn answer_over_udp<O: Observer>(&mut self, id: EndpointId, transit: &mut Transit<O>) {
        while let Some(packet) = self.next_datagram(id, transit) {
            transit.depart(packet);
        }
        self.arm(id, transit);
    }

    fn next_datagram<O: Observer>(&mut self, id: EndpointId, transit: &mut Transit<O>) -> Option<Place> {
        let Transit { now, events, observer, parcels, .. } = transit;
        let (place, ()) = events.slots.fill(|packet| {
            let Agent::Udp(agent) = &mut self.agent else { return None };
            let (number, is_retransmission) = agent.write_packet(now.at, packet)?;
            self.address(packet, id.peer(), number);
            tell_sent(now.at, packet, is_retransmission, observer);
            Some(())
        })?;
        if let Agent::Udp(agent) = &mut self.agent {
            agent.on_placed(place, parcels);
        }
        Some(place)
    }

    /// Addresses a packet, whose content is written, to endpoint `to`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "every packet comes by, with many values that would have to be handed over"
    )]
    fn address(&self, packet: &mut Packet, to: EndpointId, number: Option<u64>) {
        packet.to = to;
        packet.generation = self.generation;
        packet.route = self.route;
        packet.flow = self.flow;
        packet.group = self.group;
        packet.bytes = self.headers.bytes_of(&packet.content);
        packet.number = number.map_or(Packet::PURE_ACK, |number| number as u32);
    }

    /// Makes sure that an event comes no later than the agent's deadline. Later deadlines wait for the event that
    /// is there: moving the timer with every ACK costs nothing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `next_segment`")]
    pub(super) fn arm<O: Observer>(&mut self, id: EndpointId, transit: &mut Transit<O>) {
        let Some(deadline) = self.agent.poll_timeout() else { return };
        if deadline != self.deadline {
            (self.deadline, self.deadline_set) = (deadline, transit.now);
        }
        if deadline < self.armed {
            self.enter_deadline(id, transit);
        }
    }

    #[inline(never)]
    fn enter_deadline<O: Observer>(&mut self, id: EndpointId, transit: &mut Transit<O>) {
        let (deadline, set) = (self.deadline, self.deadline_set);
        self.armed = deadline;
        let kind = if deadline - set.at <= self.last_hop { Kind::ShortTimer } else { Kind::Timer };
        transit.events.appoint(Event::new(set.until(deadline), kind, id.0));
    }
}

/// Returns a connection what came; agents of different kinds never talk to each other. Copied into its caller it takes
/// 17 instructions more a packet.
#[inline(never)]
fn read(connection: &mut Connection, cx: &mut Cx<'_>, content: &Content) {
    if let Content::Segment(segment) = content {
        let _ = connection.on_segment(cx, segment);
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "as of `next_segment`")]
fn tell_sent<O: Observer>(at: Instant, packet: &Packet, is_retransmission: bool, observer: &mut O) {
    if O::PACKETS {
        let event = if is_retransmission { PacketEvent::Retransmitted } else { PacketEvent::Sent };
        observer.on_packet(at, event, packet);
    }
}

/// Passes a connection's decisions on with the name of its flow.
pub(super) struct Tracer<'a, O> {
    pub(super) flow: FlowId,
    pub(super) observer: &'a mut O,
}

impl<O: Observer> Trace for Tracer<'_, O> {
    fn record(&mut self, at: Instant, event: TraceEvent) {
        self.observer.on_trace(at, self.flow, event);
    }
}
