//! Identifiers of the parts of a world.

pub use earlybird_traffic::FlowId;

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// A list of links from one host to another, or the rest of it for a packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteId(pub(crate) u32);

impl RouteId {
    /// Returns the route without its first link.
    pub(crate) const fn rest(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A group of like flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// One end of a connection; the opener has an even number, its peer the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u32);

impl EndpointId {
    pub(crate) const fn peer(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// Returns whether this end opened the connection.
    pub const fn is_opener(self) -> bool {
        self.0 & 1 == 0
    }
}

/// The number of a slot in the pool of packets, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotId(u32);

impl SlotId {
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// Returns the index. That of `NONE` is out of bounds.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Queues identify packets by plain numbers.
impl SlotId {
    pub(crate) const fn from_number(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}
