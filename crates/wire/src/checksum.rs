use crate::protocol;
use core::net::IpAddr;
use etherparse::checksum::Sum16BitWords;

/// Whether checksums are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// A packet with a wrong checksum is rejected.
    #[default]
    Verify,
    /// Not verified: the device has done so, or the packet comes from the same host, whose stack leaves them to a device.
    Ignore,
}

impl Checksums {
    /// Returns whether the sum over all that a checksum covers, itself included, is right. It is computed only if it is verified.
    pub(crate) fn allow(self, sum: impl FnOnce() -> Sum16BitWords) -> bool {
        // RFC 1071: the sum over data and its own checksum is all ones.
        self == Self::Ignore || sum().ones_complement() == 0
    }
}

/// Starts a sum with the pseudo header of TCP, UDP and IPv6's ICMP (RFC 9293 §3.1, RFC 8200 §8.1).
///
/// Addresses of different families give `None`.
pub(crate) fn pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, len: usize) -> Option<Sum16BitWords> {
    let sum = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            Sum16BitWords::new().add_slice(&source.octets()).add_slice(&destination.octets())
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            Sum16BitWords::new().add_slice(&source.octets()).add_slice(&destination.octets())
        }
        _ => return None,
    };
    // A sum of 16-bit words does not depend on the width of the length field: 16 bits in IPv4, 32 in IPv6.
    Some(sum.add_slice(&(len as u32).to_be_bytes()).add_2bytes([0, protocol]))
}

/// Returns what stands in a checksum field for a sum over everything else that it covers.
pub(crate) fn field(sum: &Sum16BitWords) -> u16 {
    // The sum is over words in the order of this machine.
    sum.ones_complement().to_be()
}

/// Returns the sum of the pseudo header, which a device that computes the checksum of TCP expects in its field.
pub(crate) fn partial_checksum(source: IpAddr, destination: IpAddr, len: usize) -> u16 {
    // `field` complements the sum; the device expects it without (Linux: `CHECKSUM_PARTIAL`).
    pseudo_header(source, destination, protocol::TCP, len).map_or(0, |sum| !field(&sum))
}
