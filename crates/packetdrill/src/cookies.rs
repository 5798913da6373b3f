//! Fast Open's cookies (RFC 7413 §4.1) that a client was given.

use earlybird_wire::FastOpen;
use std::collections::HashMap;
use std::net::IpAddr;

/// What a client remembers of a server (RFC 7413 §4.1.3).
#[derive(Clone, Debug, Default)]
pub(crate) struct Remembered {
    pub(crate) cookie: Option<FastOpen>,
    /// The largest segment that it takes.
    pub(crate) mss: Option<u16>,
    /// Requests that were not answered: after the first, the next goes into the option for experiments, and then out of it
    /// again for good.
    pub(crate) unanswered: u8,
}

/// What a client remembers of all servers.
#[derive(Debug, Default)]
pub(crate) struct Cookies(HashMap<IpAddr, Remembered>);

impl Cookies {
    pub(crate) fn of(&mut self, server: IpAddr) -> &mut Remembered {
        self.0.entry(server).or_default()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
