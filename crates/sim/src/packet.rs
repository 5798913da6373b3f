use crate::endpoint::EndpointId;
use crate::network::RouteId;
use earlybird_wire::Segment;

/// A flow: one application with all its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// A group of like flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// What it carries.
    pub segment: Segment,
    /// Where it goes …
    pub to: EndpointId,
    /// … and which user of that endpoint it is for: endpoints are used again.
    pub generation: u32,
    /// The links it takes …
    pub route: RouteId,
    /// … and how many of them it has entered.
    pub hop: u8,
    /// Whose it is.
    pub flow: FlowId,
    /// The group of that flow.
    pub group: GroupId,
    /// Size on the links in bytes.
    pub bytes: u32,
    /// Number of the segment in its stream; [`Packet::PURE_ACK`] if it carries none.
    pub number: u32,
}

impl Packet {
    /// The number of a packet without a segment of its own.
    pub const PURE_ACK: u32 = u32::MAX;

    /// Says whether the packet carries part of the stream.
    pub const fn is_data(&self) -> bool {
        self.number != Self::PURE_ACK
    }
}

// Packets are moved by value between pipes; a larger one would cost every link.
const _: () = assert!(size_of::<Packet>() <= 112);
