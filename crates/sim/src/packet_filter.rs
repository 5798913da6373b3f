use crate::ids::{FlowId, GroupId};
use crate::packet::Packet;

/// Selects packets by flow and group. The default selects all packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketFilter {
    /// Selects packets of this flow only.
    pub flow: Option<FlowId>,
    /// Selects packets of this group only.
    pub group: Option<GroupId>,
}

impl PacketFilter {
    /// Returns whether the filter selects this packet.
    pub fn matches(&self, packet: &Packet) -> bool {
        self.flow.is_none_or(|flow| flow == packet.flow) && self.group.is_none_or(|group| group == packet.group)
    }
}
