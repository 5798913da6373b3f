//! The server side of TCP Fast Open (RFC 7413 §4.1, §4.2.2): which SYN data is accepted, and from how many peers at a time.

use super::isn::write_hosts;
use alloc::collections::{BTreeSet, VecDeque};
use core::hash::Hasher;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Addresses, FastOpen, Segment};
use siphasher::sip::SipHasher24;

/// Settings for data on SYNs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FastOpenServer {
    /// The key of new cookies. Servers that share an address share it (RFC 7413 §6.3.4).
    pub key: [u8; 16],
    /// The previous key: its cookies are still accepted and replaced by new ones.
    pub backup_key: Option<[u8; 16]>,
    /// The most connections opened by data on a SYN whose handshake is incomplete; beyond that every SYN is a regular one (RFC
    /// 7413 §5.1, `PendingFastOpenRequests`).
    pub max_pending: usize,
    /// Whether data is accepted with a valid cookie only. Without cookies a spoofed address makes the server work and answer (RFC
    /// 7413 §6.3.3).
    pub needs_cookie: bool,
}

/// Omits the keys.
impl core::fmt::Debug for FastOpenServer {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (max_pending, needs_cookie) = (self.max_pending, self.needs_cookie);
        write!(formatter, "FastOpenServer {{ max_pending: {max_pending}, needs_cookie: {needs_cookie} }}")
    }
}

impl FastOpenServer {
    /// Returns the cookie for the sender of a segment: eight bytes, the same as Linux' for this key.
    pub fn cookie(&self, addresses: &Addresses) -> FastOpen {
        cookie_under(&self.key, addresses)
    }

    /// Returns whether a cookie was made with the current key.
    fn matches_key(&self, cookie: &FastOpen, addresses: &Addresses) -> bool {
        cookie_under(&self.key, addresses).as_slice() == cookie.as_slice()
    }

    /// Returns whether a cookie was made with the previous key.
    fn matches_backup_key(&self, cookie: &FastOpen, addresses: &Addresses) -> bool {
        self.backup_key.is_some_and(|key| cookie_under(&key, addresses).as_slice() == cookie.as_slice())
    }
}

fn cookie_under(key: &[u8; 16], addresses: &Addresses) -> FastOpen {
    let mut hasher = SipHasher24::new_with_key(key);
    write_hosts(&mut hasher, addresses);
    FastOpen::cookie(&hasher.finish().to_le_bytes()).unwrap_or(FastOpen::REQUEST)
}

/// The treatment of a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SynDecision {
    /// Its data is accepted, and the answer carries the cookie, if any.
    Accept(Option<FastOpen>),
    /// It is a regular SYN, and the answer carries the cookie, if any.
    Regular(Option<FastOpen>),
}

/// The time during which a connection that was reset counts as pending: else an attacker could reset its own and evade the limit
/// (RFC 7413 §5.1).
const RESET_COUNTS: Duration = Duration::from_secs(60);

/// Connections that were opened by data on a SYN and whose handshake is incomplete.
#[derive(Debug, Default)]
pub(super) struct PendingFastOpens {
    peers: BTreeSet<Addresses>,
    reset: VecDeque<Instant>,
}

impl PendingFastOpens {
    pub(super) fn insert(&mut self, addresses: Addresses) {
        self.peers.insert(addresses);
    }

    /// Removes a connection whose handshake is complete or that has ended.
    pub(super) fn settle(&mut self, now: Instant, addresses: &Addresses, was_reset: bool) {
        if self.peers.remove(addresses) && was_reset {
            self.reset.push_back(now + RESET_COUNTS);
        }
    }

    /// Returns whether one more may be opened.
    fn has_room(&mut self, now: Instant, most: usize) -> bool {
        self.reset.retain(|until| *until > now);
        self.peers.len() + self.reset.len() < most
    }

    /// Decides about a SYN.
    pub(super) fn decide(
        &mut self,
        now: Instant,
        server: &FastOpenServer,
        addresses: &Addresses,
        syn: &Segment,
    ) -> SynDecision {
        let option = syn.options.fast_open();
        // A SYN with neither option nor data is no Fast Open at all.
        if (option.is_none() && syn.len == 0) || !self.has_room(now, server.max_pending) {
            return SynDecision::Regular(None);
        }
        if !server.needs_cookie {
            return SynDecision::Accept(None);
        }
        let Some(cookie) = option else { return SynDecision::Regular(None) };
        let new = Some(server.cookie(addresses).experimental(cookie.is_experimental()));
        if server.matches_key(&cookie, addresses) {
            SynDecision::Accept(None)
        } else if server.matches_backup_key(&cookie, addresses) {
            // A cookie of the previous key is valid, and is replaced by a new one.
            SynDecision::Accept(new)
        } else {
            // An invalid cookie, or the request for one: fall back to a regular handshake and send a valid cookie (RFC 7413 §4.2.2).
            SynDecision::Regular(new)
        }
    }
}
