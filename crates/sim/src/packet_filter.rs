use crate::ids::{FlowId, GroupId};
use crate::packet::Packet;

/// Whose packets a rule concerns: everybody's unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketFilter {
    /// The only flow it concerns.
    pub flow: Option<FlowId>,
    /// The only group it concerns.
    pub group: Option<GroupId>,
}

impl PacketFilter {
    /// Returns whether the rule concerns this packet.
    pub fn matches(&self, packet: &Packet) -> bool {
        self.flow.is_none_or(|flow| flow == packet.flow) && self.group.is_none_or(|group| group == packet.group)
    }
}
