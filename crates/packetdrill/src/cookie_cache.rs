//! The client's cache of Fast Open cookies (RFC 7413 §4.1.3).

use earlybird_wire::FastOpen;
use std::collections::HashMap;
use std::net::IpAddr;

/// The cached state of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerEntry {
    pub(crate) cookie: Option<FastOpen>,
    /// The MSS of the server.
    pub(crate) mss: Option<u16>,
    /// Unanswered requests: after the first, the experimental option is tried; after the second, none.
    pub(crate) unanswered: u8,
}

/// The cached state of all servers.
#[derive(Debug, Default)]
pub(crate) struct CookieCache(HashMap<IpAddr, ServerEntry>);

impl CookieCache {
    pub(crate) fn of(&mut self, server: IpAddr) -> &mut ServerEntry {
        self.0.entry(server).or_default()
    }

    /// Clears the cache.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
