use crate::ids::{EndpointId, FlowId, GroupId, RouteId};
use earlybird_wire::{Datagram, Ecn, Segment};

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    /// A segment of a TCP connection.
    Segment(Segment),
    /// A datagram.
    Datagram(Datagram),
}

/// A segment or datagram on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// What it carries.
    pub content: Content,
    /// Where it goes …
    pub to: EndpointId,
    /// … and which user of that endpoint it is for: endpoints are used again.
    pub generation: u32,
    /// The links it has yet to take.
    pub route: RouteId,
    /// Whose it is.
    pub flow: FlowId,
    /// The group of that flow.
    pub group: GroupId,
    /// Size on the links in bytes.
    pub bytes: u32,
    /// Number of the segment in its stream, or of the datagram in its flow; [`Packet::PURE_ACK`] if it carries no data.
    pub number: u32,
}

impl Packet {
    /// The number of a packet without a segment of its own.
    pub const PURE_ACK: u32 = u32::MAX;

    /// Says whether the packet carries part of the stream.
    pub const fn is_data(&self) -> bool {
        self.number != Self::PURE_ACK
    }

    /// Gives the segment, if it carries one.
    pub const fn segment(&self) -> Option<&Segment> {
        match &self.content {
            Content::Segment(segment) => Some(segment),
            Content::Datagram(_) => None,
        }
    }

    /// Gives the ECN field.
    pub const fn ecn(&self) -> Ecn {
        match &self.content {
            Content::Segment(segment) => segment.ecn,
            Content::Datagram(datagram) => datagram.ecn,
        }
    }

    /// Marks the packet: a queue on its way is congested.
    pub const fn mark(&mut self) {
        match &mut self.content {
            Content::Segment(segment) => segment.ecn = Ecn::Congested,
            Content::Datagram(datagram) => datagram.ecn = Ecn::Congested,
        }
    }
}

/// A packet's place among those on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketId(u32);

#[cfg(test)]
impl PacketId {
    pub(crate) const fn numbered(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

/// All packets on their way. Places are used again, the last one first, so that they stay in the cache: rings of whole
/// packets per link would be walked through from end to end.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    places: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Packets {
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        let (id, place) = self.vacant();
        *place = packet;
        id
    }

    /// Gives a place, with an old packet in it, to be filled where it is: packets are large to copy.
    #[inline]
    pub(crate) fn vacant(&mut self) -> (PacketId, &mut Packet) {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        (id, &mut self.places[id.0 as usize])
    }

    #[cold]
    fn grow(&mut self) -> PacketId {
        let content = Content::Datagram(Datagram::default());
        let (to, route, flow, group) = (EndpointId(0), RouteId(0), FlowId(0), GroupId(0));
        self.places.push(Packet { content, to, generation: 0, route, flow, group, bytes: 0, number: 0 });
        PacketId(self.places.len() as u32 - 1)
    }

    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.places[id.0 as usize]
    }

    /// Gives how many packets are on their way.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Sets a place free; what was there can be read until another packet is put in.
    pub(crate) fn remove(&mut self, id: PacketId) -> &Packet {
        self.free.push(id);
        &self.places[id.0 as usize]
    }
}
