//! What a world tells while it runs.

use crate::external_stack::ExternalState;
use crate::ids::{FlowId, LinkId};
use crate::packet::Packet;
use earlybird_datagram as datagram;
use earlybird_tcp::{Connection, TraceEvent};
use earlybird_traffic::{Encoding, Playout};
use earlybird_units::Instant;

/// Why a link dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropCause {
    /// A rule of [`LinkSettings::losses`](crate::LinkSettings::losses), in front of the queue.
    Loss,
    /// The queue had no room, or meant to slow the sender down.
    Queue,
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// An endpoint sent it for the first time.
    Sent,
    /// An endpoint sent its data once more.
    Retransmitted,
    /// A link let it in.
    Entered(LinkId),
    /// A link dropped it.
    Dropped(LinkId, DropCause),
    /// A link let it out twice.
    Duplicated(LinkId),
    /// It reached its endpoint.
    Arrived,
}

/// Watches a world. Every method does nothing unless it is written, and then costs nothing.
pub trait Observer {
    /// Whether [`Self::on_packet`] is of any use, apart from drops, which are always told.
    const PACKETS: bool = false;
    /// Whether [`Self::on_state`] is of any use.
    const STATES: bool = false;

    /// Something happened to a packet. On links that no other link joins, this is told ahead of time.
    fn on_packet(&mut self, _at: Instant, _event: PacketEvent, _packet: &Packet) {}
    /// A connection that its application opened may have changed its state: after each arrival at it and each timer.
    fn on_state(&mut self, _at: Instant, _flow: FlowId, _arrived: Option<&Packet>, _connection: &Connection) {}
    /// A sender made a decision.
    fn on_trace(&mut self, _at: Instant, _flow: FlowId, _event: TraceEvent) {}
    /// A unit of media was written: `bytes` of the flow's stream end behind it.
    fn on_unit(&mut self, _at: Instant, _flow: FlowId, _bytes: u64) {}
    /// The receiver of a flow with units has `bytes` of its stream in order.
    fn on_delivered(&mut self, _at: Instant, _flow: FlowId, _bytes: u64) {}
    /// All of a unit sent as datagrams has arrived.
    fn on_unit_delivered(&mut self, _at: Instant, _flow: FlowId, _unit: u32) {}
    /// The listener of a flow played a unit, lost one, or did something else that is worth counting.
    fn on_playout(&mut self, _at: Instant, _flow: FlowId, _event: Playout) {}
    /// The encoder of a flow, or who streams for it, did something that is worth counting.
    fn on_encoding(&mut self, _at: Instant, _flow: FlowId, _event: Encoding) {}
    /// The moment set by `World::mark_at` has come; the open connections have received so many bytes.
    fn on_mark(&mut self, _received: &[(FlowId, u64)]) {}
    /// A connection came to its end, or the run did: the side that opened it, and the other one.
    fn on_end(&mut self, _at: Instant, _flow: FlowId, _opener: &Connection, _listener: &Connection) {}
    /// The run came to its end for a flow of datagrams.
    fn on_datagrams_end(&mut self, _flow: FlowId, _sender: &datagram::Endpoint, _received: u64) {}
    /// The run came to its end for a flow of a stack from outside: how its sender stands, and what its receiver got.
    fn on_guest_end(&mut self, _flow: FlowId, _sender: &ExternalState, _received: u64) {}
    /// It is time for a sample of a flow's opener …
    fn on_flow_probe(&mut self, _at: Instant, _flow: FlowId, _opener: &Connection) {}
    /// … of a stack from outside …
    fn on_guest_probe(&mut self, _at: Instant, _flow: FlowId, _sender: &ExternalState) {}
    /// … of the sender of a flow of datagrams …
    fn on_datagrams_probe(&mut self, _at: Instant, _flow: FlowId, _sender: &datagram::Endpoint) {}
    /// … and of a link.
    fn on_link_probe(&mut self, _at: Instant, _link: LinkId, _backlog: usize) {}
}

impl Observer for () {}

/// Makes the same call to both observers of a pair.
macro_rules! forward_to_both {
    ($self:ident, $each:ident => $call:expr) => {{
        {
            let $each = &mut $self.0;
            $call;
        }
        let $each = &mut $self.1;
        $call;
    }};
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    const PACKETS: bool = A::PACKETS || B::PACKETS;
    const STATES: bool = A::STATES || B::STATES;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        forward_to_both!(self, each => each.on_packet(at, event, packet));
    }

    fn on_state(&mut self, at: Instant, flow: FlowId, arrived: Option<&Packet>, connection: &Connection) {
        forward_to_both!(self, each => each.on_state(at, flow, arrived, connection));
    }

    fn on_trace(&mut self, at: Instant, flow: FlowId, event: TraceEvent) {
        forward_to_both!(self, each => each.on_trace(at, flow, event));
    }

    fn on_unit(&mut self, at: Instant, flow: FlowId, bytes: u64) {
        forward_to_both!(self, each => each.on_unit(at, flow, bytes));
    }

    fn on_delivered(&mut self, at: Instant, flow: FlowId, bytes: u64) {
        forward_to_both!(self, each => each.on_delivered(at, flow, bytes));
    }

    fn on_unit_delivered(&mut self, at: Instant, flow: FlowId, unit: u32) {
        forward_to_both!(self, each => each.on_unit_delivered(at, flow, unit));
    }

    fn on_playout(&mut self, at: Instant, flow: FlowId, event: Playout) {
        forward_to_both!(self, each => each.on_playout(at, flow, event));
    }

    fn on_encoding(&mut self, at: Instant, flow: FlowId, event: Encoding) {
        forward_to_both!(self, each => each.on_encoding(at, flow, event));
    }

    fn on_mark(&mut self, received: &[(FlowId, u64)]) {
        forward_to_both!(self, each => each.on_mark(received));
    }

    fn on_end(&mut self, at: Instant, flow: FlowId, opener: &Connection, listener: &Connection) {
        forward_to_both!(self, each => each.on_end(at, flow, opener, listener));
    }

    fn on_datagrams_end(&mut self, flow: FlowId, sender: &datagram::Endpoint, received: u64) {
        forward_to_both!(self, each => each.on_datagrams_end(flow, sender, received));
    }

    fn on_guest_end(&mut self, flow: FlowId, sender: &ExternalState, received: u64) {
        forward_to_both!(self, each => each.on_guest_end(flow, sender, received));
    }

    fn on_guest_probe(&mut self, at: Instant, flow: FlowId, sender: &ExternalState) {
        forward_to_both!(self, each => each.on_guest_probe(at, flow, sender));
    }

    fn on_flow_probe(&mut self, at: Instant, flow: FlowId, opener: &Connection) {
        forward_to_both!(self, each => each.on_flow_probe(at, flow, opener));
    }

    fn on_datagrams_probe(&mut self, at: Instant, flow: FlowId, sender: &datagram::Endpoint) {
        forward_to_both!(self, each => each.on_datagrams_probe(at, flow, sender));
    }

    fn on_link_probe(&mut self, at: Instant, link: LinkId, backlog: usize) {
        forward_to_both!(self, each => each.on_link_probe(at, link, backlog));
    }
}

impl<A: Observer> Observer for Option<A> {
    const PACKETS: bool = A::PACKETS;
    const STATES: bool = A::STATES;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        if let Some(observer) = self {
            observer.on_packet(at, event, packet);
        }
    }

    fn on_state(&mut self, at: Instant, flow: FlowId, arrived: Option<&Packet>, connection: &Connection) {
        if let Some(observer) = self {
            observer.on_state(at, flow, arrived, connection);
        }
    }

    fn on_trace(&mut self, at: Instant, flow: FlowId, event: TraceEvent) {
        if let Some(observer) = self {
            observer.on_trace(at, flow, event);
        }
    }
}
