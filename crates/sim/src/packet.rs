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

/// A segment or datagram on its way. Aligned so that what every link reads lies in one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
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

    /// Gives the place of the segment, to be written.
    #[inline]
    pub(crate) fn segment_mut(&mut self) -> &mut Segment {
        if matches!(self.content, Content::Datagram(_)) {
            self.content = Content::Segment(Segment::default());
        }
        match &mut self.content {
            Content::Segment(segment) => segment,
            Content::Datagram(_) => unreachable!("it has just been made a segment"),
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

impl PacketId {
    /// Stands where there is no packet.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

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
        *self.vacant() = packet;
        self.occupy()
    }

    /// Gives the place of the next packet, with an old one in it, to be written where it is: packets are large to copy. It
    /// stays vacant until [`Self::occupy`].
    #[inline]
    pub(crate) fn vacant(&mut self) -> &mut Packet {
        let id = self.free.last().copied().unwrap_or_else(|| self.grow());
        &mut self.places[id.0 as usize]
    }

    /// Takes the place that [`Self::vacant`] gave.
    #[inline]
    pub(crate) fn occupy(&mut self) -> PacketId {
        self.free.pop().unwrap_or_else(|| self.grow())
    }

    #[cold]
    fn grow(&mut self) -> PacketId {
        let id = PacketId(self.places.len() as u32);
        let content = Content::Segment(Segment::default());
        let (to, route, flow, group) = (EndpointId(0), RouteId(0), FlowId(0), GroupId(0));
        self.places.push(Packet { content, to, generation: 0, route, flow, group, bytes: 0, number: 0 });
        self.free.push(id);
        id
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
