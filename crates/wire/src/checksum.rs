use core::net::IpAddr;
use etherparse::checksum::Sum16BitWords;

/// Whether checksums are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// A packet whose checksums are wrong is refused.
    #[default]
    Verify,
    /// The device has verified them, or the sender is on the same host and has left them to a device that is not there.
    Ignore,
}

impl Checksums {
    /// Returns whether the sum over what a checksum covers, itself included, may stand. It is computed only to be looked at.
    pub(crate) fn allow(self, sum: impl FnOnce() -> Sum16BitWords) -> bool {
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
    Some(sum.add_slice(&(len as u32).to_be_bytes()).add_2bytes([0, protocol]))
}

/// Returns what stands in a checksum field for a sum over everything else that it covers.
pub(crate) fn field(sum: &Sum16BitWords) -> u16 {
    // The sum is over words in the order of this machine.
    sum.ones_complement().to_be()
}
