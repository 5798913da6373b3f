use crate::ids::{EndpointId, FlowId, GroupId, RouteId};
use earlybird_wire::{Datagram, Ecn, Segment};

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    /// A segment of a TCP connection.
    Segment(Segment),
    /// A datagram.
    Datagram(Datagram),
}

/// A segment or datagram in the network. The first fields are those that every link reads.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Packet {
    /// The receiving endpoint …
    pub to: EndpointId,
    /// … and its generation: endpoint numbers are reused for new connections.
    pub generation: u32,
    /// The links that it has not crossed yet.
    pub route: RouteId,
    /// Its flow.
    pub flow: FlowId,
    /// The group of that flow.
    pub group: GroupId,
    /// Size on the links in bytes.
    pub bytes: u32,
    /// Number of the segment in its stream, or of the datagram in its flow; [`Packet::PURE_ACK`] if it carries no data.
    pub number: u32,
    /// Number given by the caller of [`PacketNetwork`](crate::PacketNetwork). Copies have the same number.
    pub external_id: u32,
    /// Its content.
    pub content: Content,
}

impl Packet {
    /// The number of a packet without a segment of its own.
    pub const PURE_ACK: u32 = u32::MAX;

    /// Makes a packet for [`PacketNetwork`](crate::PacketNetwork). It has no endpoint and counts as data.
    pub const fn external(route: RouteId, bytes: u32, content: Content) -> Self {
        let (to, flow, group) = (EndpointId(0), FlowId(0), GroupId(0));
        Self { to, generation: 0, route, flow, group, bytes, number: 0, external_id: 0, content }
    }

    /// Makes a packet for observers only: another network has carried it.
    pub const fn observed(to: EndpointId, flow: FlowId, bytes: u32, number: u32, content: Content) -> Self {
        Self { to, flow, number, ..Self::external(RouteId(0), bytes, content) }
    }

    /// Returns whether the packet carries part of the stream.
    pub const fn is_data(&self) -> bool {
        self.number != Self::PURE_ACK
    }

    /// Returns the segment, if it carries one.
    pub const fn segment(&self) -> Option<&Segment> {
        match &self.content {
            Content::Segment(segment) => Some(segment),
            Content::Datagram(_) => None,
        }
    }

    /// Returns the segment to write it.
    #[inline]
    pub(crate) fn segment_mut(&mut self) -> &mut Segment {
        // A reused slot may hold a datagram. Segments are overwritten in place: their fields are all set by the writer.
        if matches!(self.content, Content::Datagram(_)) {
            self.content = Content::Segment(Segment::default());
        }
        match &mut self.content {
            Content::Segment(segment) => segment,
            Content::Datagram(_) => unreachable!("it has just been made a segment"),
        }
    }

    /// Returns the ECN field.
    pub const fn ecn(&self) -> Ecn {
        match &self.content {
            Content::Segment(segment) => segment.ecn,
            Content::Datagram(datagram) => datagram.ecn,
        }
    }

    /// Sets CE (RFC 3168).
    pub const fn mark(&mut self) {
        match &mut self.content {
            Content::Segment(segment) => segment.ecn = Ecn::Congested,
            Content::Datagram(datagram) => datagram.ecn = Ecn::Congested,
        }
    }
}
