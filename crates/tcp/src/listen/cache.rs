//! The SYN cache: half-open handshakes of a listener, bounded in number; the oldest is evicted (RFC 4987 §3.3, §3.5).

use super::half_open::HalfOpen;
use alloc::collections::{BTreeMap, BTreeSet};
use earlybird_units::Instant;
use earlybird_wire::Addresses;

/// Half-open handshakes by peer, by age, and by the time of the next SYN-ACK retransmission. Trees instead of hash tables: their
/// cost does not depend on addresses that an attacker chooses.
#[derive(Debug)]
pub(super) struct SynCache {
    limit: usize,
    by_age: BTreeMap<u64, HalfOpen>,
    ages: BTreeMap<Addresses, u64>,
    deadlines: BTreeSet<(Instant, u64)>,
    next: u64,
}

/// Bytes of one entry in the three of them, without the overhead of the trees.
pub(super) const ENTRY_BYTES: usize =
    size_of::<(u64, HalfOpen)>() + size_of::<(Addresses, u64)>() + size_of::<(Instant, u64)>();

impl SynCache {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, by_age: BTreeMap::new(), ages: BTreeMap::new(), deadlines: BTreeSet::new(), next: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.by_age.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= self.limit
    }

    pub(super) fn get(&self, addresses: &Addresses) -> Option<&HalfOpen> {
        self.by_age.get(self.ages.get(addresses)?)
    }

    /// Returns the time of the next retransmission.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Returns the handshake whose retransmission is due, if any.
    pub(super) fn due(&self, now: Instant) -> Option<&HalfOpen> {
        let (_, age) = self.deadlines.first().filter(|(at, _)| *at <= now)?;
        self.by_age.get(age)
    }

    /// Inserts a handshake, and returns whether the oldest was evicted.
    pub(super) fn insert(&mut self, entry: HalfOpen) -> bool {
        let oldest = if self.is_full() { self.by_age.first_key_value().map(|(age, _)| *age) } else { None };
        if let Some(age) = oldest {
            self.remove_age(age);
        }
        // A limit of zero means SYN cookies only.
        if self.limit > 0 {
            self.put(self.next, entry);
            self.next += 1;
        }
        oldest.is_some()
    }

    /// Replaces a handshake; its age stays.
    pub(super) fn update(&mut self, entry: HalfOpen) {
        if let Some(age) = self.ages.get(&entry.addresses).copied() {
            self.remove_age(age);
            self.put(age, entry);
        }
    }

    pub(super) fn remove(&mut self, addresses: &Addresses) {
        if let Some(age) = self.ages.get(addresses).copied() {
            self.remove_age(age);
        }
    }

    fn put(&mut self, age: u64, entry: HalfOpen) {
        self.ages.insert(entry.addresses, age);
        self.deadlines.insert((entry.deadline, age));
        self.by_age.insert(age, entry);
    }

    fn remove_age(&mut self, age: u64) {
        if let Some(entry) = self.by_age.remove(&age) {
            self.ages.remove(&entry.addresses);
            self.deadlines.remove(&(entry.deadline, age));
        }
    }
}
