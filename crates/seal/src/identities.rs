//! The keys of the peers of a listener.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of the key with which each peer has authenticated its initiation; other threads may read it.
#[derive(Clone, Debug, Default)]
pub struct Identities(Arc<Mutex<BTreeMap<SocketAddr, usize>>>);

impl Identities {
    /// Returns the number of the key of a peer, by the address that the stack knows.
    pub fn of(&self, address: SocketAddr) -> Option<usize> {
        self.with(|identities| identities.get(&address).copied())
    }

    pub(crate) fn insert(&self, address: SocketAddr, identity: usize) {
        self.with(|identities| identities.insert(address, identity));
    }

    pub(crate) fn retain(&self, is_known: impl Fn(&SocketAddr) -> bool) {
        self.with(|identities| identities.retain(|address, _| is_known(address)));
    }

    fn with<R>(&self, work: impl FnOnce(&mut BTreeMap<SocketAddr, usize>) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
