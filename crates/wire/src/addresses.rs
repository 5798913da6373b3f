use core::net::IpAddr;

/// Addresses and ports of a segment, over IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addresses {
    /// Sender's address.
    pub source: IpAddr,
    /// Receiver's address, of the same family.
    pub destination: IpAddr,
    /// Sender's port.
    pub source_port: u16,
    /// Receiver's port.
    pub destination_port: u16,
}

/// The reason why an address cannot be that of a single host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Martian {
    /// No host has it: 0.0.0.0/8, `::`, or an IPv4-mapped IPv6 address.
    Unspecified,
    /// Many hosts have it: multicast.
    Multicast,
    /// All hosts of a network have it: 255.255.255.255, and the reserved rest of 240.0.0.0/4.
    Broadcast,
    /// Every host has it. Only the loopback device may carry it.
    Loopback,
}

impl Addresses {
    /// Returns the addresses of an answer.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }

    /// Returns why a segment with these addresses must be dropped without an answer, if it must.
    ///
    /// TCP drops segments from or to more than one host (RFC 9293 §3.9.2.3, MUST-57; RFC 1122 §3.2.1.3). The broadcast
    /// address of a subnet looks like any other without its mask. [`Martian::Loopback`] is the caller's
    /// choice; the other reasons take precedence.
    pub fn martian(&self) -> Option<Martian> {
        match (martian(self.source), martian(self.destination)) {
            // Loopback is reported only if neither address has a stronger reason.
            (None | Some(Martian::Loopback), Some(reason)) | (Some(reason), _) => Some(reason),
            (None, None) => None,
        }
    }
}

fn martian(address: IpAddr) -> Option<Martian> {
    if address.is_multicast() {
        return Some(Martian::Multicast);
    }
    if address.is_loopback() {
        return Some(Martian::Loopback);
    }
    match address {
        IpAddr::V4(v4) => match v4.octets()[0] {
            0 => Some(Martian::Unspecified),
            // 240.0.0.0/4 is reserved (RFC 1112 §4); multicast was sorted out above.
            240.. => Some(Martian::Broadcast),
            _ => None,
        },
        IpAddr::V6(v6) => (v6.is_unspecified() || v6.to_ipv4_mapped().is_some()).then_some(Martian::Unspecified),
    }
}
