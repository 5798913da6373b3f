//! Callbacks for everything that happens in a run.

use crate::flow_stats::{FlowEnd, FlowGauges};
use crate::ids::{FlowId, LinkId};
use crate::packet::Packet;
use earlybird_tcp::{Connection, TraceEvent};
use earlybird_traffic::{Encoding, Playout, Transfer};
use earlybird_units::Instant;

/// The cause of a drop at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropCause {
    /// A loss rule of [`LinkSettings::losses`](crate::LinkSettings::losses), before the queue.
    Loss,
    /// The queue was full, or its discipline (AQM) dropped the packet.
    Queue,
}

/// An event in the life of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// An endpoint sent the packet for the first time.
    Sent,
    /// An endpoint sent the packet's data again.
    Retransmitted,
    /// A link accepted the packet.
    Entered(LinkId),
    /// A link dropped the packet.
    Dropped(LinkId, DropCause),
    /// A link delivered the packet twice.
    Duplicated(LinkId),
    /// The packet reached its endpoint.
    Arrived,
}

/// Observes a run. Observers change nothing. The default methods do nothing and cost nothing.
pub trait Observer {
    /// Whether [`Self::on_packet`] is called for all events. Drops are always reported.
    const PACKETS: bool = false;
    /// Whether [`Self::on_state`] is called.
    const STATES: bool = false;

    /// Called for each event of a packet. On links that only one other link feeds, the call is made before the time `at`.
    fn on_packet(&mut self, _at: Instant, _event: PacketEvent, _packet: &Packet) {}
    /// Called after each arrival and each timer at the end that opened a connection. Its state may have changed.
    fn on_state(&mut self, _at: Instant, _flow: FlowId, _arrived: Option<&Packet>, _connection: &Connection) {}
    /// Called for each decision of a sender.
    fn on_trace(&mut self, _at: Instant, _flow: FlowId, _event: TraceEvent) {}
    /// Called when the application writes a unit of media of `bytes` bytes.
    fn on_unit(&mut self, _at: Instant, _flow: FlowId, _bytes: u64) {}
    /// Called when the last unit is abandoned; its last `bytes` bytes are not sent.
    fn on_abandoned(&mut self, _flow: FlowId, _bytes: u64) {}
    /// Called when the receiver of a flow with units has the first `bytes` bytes of the stream in order.
    fn on_delivered(&mut self, _at: Instant, _flow: FlowId, _bytes: u64) {}
    /// Called when all parts of a unit that is sent as frames or datagrams have arrived.
    fn on_unit_delivered(&mut self, _at: Instant, _flow: FlowId, _unit: u32) {}
    /// Called for each event of the flow's receiver application, such as a unit played or lost.
    fn on_playout(&mut self, _at: Instant, _flow: FlowId, _event: Playout) {}
    /// Called for each event of the flow's encoder.
    fn on_encoding(&mut self, _at: Instant, _flow: FlowId, _event: Encoding) {}
    /// Called when a transfer of a given amount of data is complete.
    fn on_transfer(&mut self, _at: Instant, _flow: FlowId, _transfer: Transfer) {}
    /// Called at the time set by `World::end_warm_up_at`, with the counters of each open connection.
    fn on_warm_up_end(&mut self, _open: &[(FlowId, FlowEnd)]) {}
    /// Called at the end of each connection, or of the run.
    fn on_end(&mut self, _flow: FlowId, _end: &FlowEnd) {}
    /// Called once per sampling period for each open connection.
    fn on_probe(&mut self, _at: Instant, _flow: FlowId, _gauges: &FlowGauges) {}
    /// Called once per sampling period for each link, with the number of packets in its queue.
    fn on_link_probe(&mut self, _at: Instant, _link: LinkId, _backlog: usize) {}
}

impl Observer for () {}

/// Implements all methods of [`Observer`] by calls to each of the given `Option<&mut impl Observer>`.
// One list of methods serves pairs and `Option`, so that no method can be forgotten in one of them.
macro_rules! forward_all {
    ($self:ident => $targets:tt) => {
        forward_all!(@ $self $targets on_packet(at, event, packet): (at: Instant, event: PacketEvent, packet: &Packet));
        forward_all!(@ $self $targets on_state(at, flow, arrived, connection):
            (at: Instant, flow: FlowId, arrived: Option<&Packet>, connection: &Connection));
        forward_all!(@ $self $targets on_trace(at, flow, event): (at: Instant, flow: FlowId, event: TraceEvent));
        forward_all!(@ $self $targets on_unit(at, flow, bytes): (at: Instant, flow: FlowId, bytes: u64));
        forward_all!(@ $self $targets on_abandoned(flow, bytes): (flow: FlowId, bytes: u64));
        forward_all!(@ $self $targets on_delivered(at, flow, bytes): (at: Instant, flow: FlowId, bytes: u64));
        forward_all!(@ $self $targets on_unit_delivered(at, flow, unit): (at: Instant, flow: FlowId, unit: u32));
        forward_all!(@ $self $targets on_playout(at, flow, event): (at: Instant, flow: FlowId, event: Playout));
        forward_all!(@ $self $targets on_encoding(at, flow, event): (at: Instant, flow: FlowId, event: Encoding));
        forward_all!(@ $self $targets on_transfer(at, flow, transfer): (at: Instant, flow: FlowId, transfer: Transfer));
        forward_all!(@ $self $targets on_warm_up_end(open): (open: &[(FlowId, FlowEnd)]));
        forward_all!(@ $self $targets on_end(flow, end): (flow: FlowId, end: &FlowEnd));
        forward_all!(@ $self $targets on_probe(at, flow, gauges): (at: Instant, flow: FlowId, gauges: &FlowGauges));
        forward_all!(@ $self $targets on_link_probe(at, link, backlog): (at: Instant, link: LinkId, backlog: usize));
    };
    (@ $self:ident [$($target:expr),+] $name:ident $values:tt: ($($value:ident: $kind:ty),+)) => {
        fn $name(&mut $self, $($value: $kind),+) {
            $(if let Some(observer) = $target {
                observer.$name $values;
            })+
        }
    };
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    const PACKETS: bool = A::PACKETS || B::PACKETS;
    const STATES: bool = A::STATES || B::STATES;

    forward_all!(self => [Some(&mut self.0), Some(&mut self.1)]);
}

impl<A: Observer> Observer for Option<A> {
    const PACKETS: bool = A::PACKETS;
    const STATES: bool = A::STATES;

    forward_all!(self => [self.as_mut()]);
}
