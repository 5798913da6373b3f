//! TCP Fast Open on the side of the server (RFC 7413 §4.1, §4.2.2): whose data on a SYN is believed, and of how many at a time.

use super::keyed::write_hosts;
use alloc::collections::{BTreeSet, VecDeque};
use core::hash::Hasher;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Addresses, FastOpen, Segment};
use siphasher::sip::SipHasher24;

/// What a listener does with data on SYNs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FastOpenServer {
    /// The key of cookies that are given out. Servers that share an address share it (RFC 7413 §6.3.4).
    pub key: [u8; 16],
    /// The key of cookies that are still taken, after the other one became new: who shows one gets a new one.
    pub backup_key: Option<[u8; 16]>,
    /// How many connections that were opened by data on a SYN may wait for the end of their handshake at a time; beyond that
    /// every SYN is an ordinary one (RFC 7413 §5.1, `PendingFastOpenRequests`).
    pub max_pending: usize,
    /// Data are taken with a cookie only. Without it whoever sends under a false address makes the server work and answer
    /// (RFC 7413 §6.3.3).
    pub needs_cookie: bool,
}

/// Keys are nobody's business.
impl core::fmt::Debug for FastOpenServer {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (max_pending, needs_cookie) = (self.max_pending, self.needs_cookie);
        write!(formatter, "FastOpenServer {{ max_pending: {max_pending}, needs_cookie: {needs_cookie} }}")
    }
}

impl FastOpenServer {
    /// Returns the cookie for the sender of a segment: eight bytes, those that Linux would give.
    pub fn cookie(&self, addresses: &Addresses) -> FastOpen {
        cookie_under(&self.key, addresses)
    }

    /// Returns whether a cookie is one that is given out now.
    fn is_right(&self, shown: &FastOpen, addresses: &Addresses) -> bool {
        cookie_under(&self.key, addresses).as_slice() == shown.as_slice()
    }

    /// Returns whether a cookie is one that was given out before the keys changed.
    fn was_right(&self, shown: &FastOpen, addresses: &Addresses) -> bool {
        self.backup_key.is_some_and(|key| cookie_under(&key, addresses).as_slice() == shown.as_slice())
    }
}

fn cookie_under(key: &[u8; 16], addresses: &Addresses) -> FastOpen {
    let mut hasher = SipHasher24::new_with_key(key);
    write_hosts(&mut hasher, addresses);
    FastOpen::cookie(&hasher.finish().to_le_bytes()).unwrap_or(FastOpen::REQUEST)
}

/// What to do with a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Take its data, and give a cookie back.
    Accept(Option<FastOpen>),
    /// Treat it as any other, and give a cookie back.
    Ordinary(Option<FastOpen>),
}

/// How long one that was reset counts as pending: else an attacker resets its own and has no limit (RFC 7413 §5.1).
const RESET_COUNTS: Duration = Duration::from_secs(60);

/// The connections whose handshake goes on although they were opened.
#[derive(Debug, Default)]
pub(super) struct Pending {
    peers: BTreeSet<Addresses>,
    reset: VecDeque<Instant>,
}

impl Pending {
    pub(super) fn insert(&mut self, addresses: Addresses) {
        self.peers.insert(addresses);
    }

    /// One of them is settled.
    pub(super) fn settle(&mut self, now: Instant, addresses: &Addresses, was_reset: bool) {
        if self.peers.remove(addresses) && was_reset {
            self.reset.push_back(now + RESET_COUNTS);
        }
    }

    /// Returns whether there is room for one more.
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
    ) -> Decision {
        let option = syn.options.fast_open();
        if (option.is_none() && syn.len == 0) || !self.has_room(now, server.max_pending) {
            return Decision::Ordinary(None);
        }
        if !server.needs_cookie {
            return Decision::Accept(None);
        }
        let Some(shown) = option else { return Decision::Ordinary(None) };
        let new = Some(server.cookie(addresses).experimental(shown.is_experimental()));
        if server.is_right(&shown, addresses) {
            Decision::Accept(None)
        } else if server.was_right(&shown, addresses) {
            Decision::Accept(new)
        } else {
            Decision::Ordinary(new)
        }
    }
}
