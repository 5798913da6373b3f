//! Initial sequence numbers and timestamp offsets: keyed hashes of the addresses (RFC 6528). They need no state.

use crate::connection::Identity;
use core::hash::Hasher;
use core::net::IpAddr;
use earlybird_units::Instant;
use earlybird_wire::{Addresses, SeqNum};
use siphasher::sip::SipHasher24;

/// The purpose of a hash: equal addresses result in different numbers for different purposes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Origin,
    Timestamps,
    CookieBase,
    CookieCount,
}

/// The secret of a listener.
#[derive(Clone)]
pub(super) struct Secret(pub(super) [u8; 16]);

impl Secret {
    /// Returns a hash of both hosts and ports, and of a number.
    pub(super) fn of_peer(&self, purpose: Purpose, addresses: &Addresses, number: u32) -> u64 {
        let mut hasher = self.of_hosts(purpose, addresses);
        hasher.write(&addresses.source_port.to_be_bytes());
        hasher.write(&addresses.destination_port.to_be_bytes());
        hasher.write(&number.to_be_bytes());
        hasher.finish()
    }

    /// Returns a hasher that has both hosts.
    pub(super) fn of_hosts(&self, purpose: Purpose, addresses: &Addresses) -> SipHasher24 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(&[purpose as u8]);
        write_hosts(&mut hasher, addresses);
        hasher
    }
}

impl Identity {
    /// Returns an identity that cannot be guessed without `secret`: a sequence number that grows with time (RFC 6528), and a
    /// timestamp offset that is the same for all connections with one host (RFC 7323 §5.4). `addresses` are those of an incoming
    /// segment.
    pub fn keyed(secret: &[u8; 16], addresses: &Addresses, now: Instant) -> Self {
        let secret = Secret(*secret);
        // A tick of 4 µs (RFC 9293 §3.4.1): numbers of successive connections do not overlap.
        let clock = (now.as_nanos() / 4_000) as u32;
        let origin = secret.of_peer(Purpose::Origin, addresses, 0) as u32;
        let timestamp_offset = secret.of_hosts(Purpose::Timestamps, addresses).finish() as u32;
        Self { origin: SeqNum(origin.wrapping_add(clock)), timestamp_offset }
    }
}

/// Omits the secret.
impl core::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("Secret")
    }
}

/// Adds both hosts in network byte order.
pub(super) fn write_hosts(hasher: &mut SipHasher24, addresses: &Addresses) {
    for host in [addresses.source, addresses.destination] {
        match host {
            IpAddr::V4(host) => hasher.write(&host.octets()),
            IpAddr::V6(host) => hasher.write(&host.octets()),
        }
    }
}
