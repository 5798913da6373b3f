//! Fast Open's cookies (RFC 7413 §4.1): those that a listener gives out, and those that a client was given.

use earlybird_wire::FastOpen;
use siphasher::sip::SipHasher24;
use std::collections::HashMap;
use std::hash::Hasher;
use std::net::IpAddr;

/// Makes the cookie of a client as Linux does (`tcp_fastopen_cookie_gen`): a keyed hash of both addresses.
pub(crate) fn generate(key: &[u8; 16], client: IpAddr, server: IpAddr) -> Vec<u8> {
    let mut hasher = SipHasher24::new_with_key(key);
    for address in [client, server] {
        match address {
            IpAddr::V4(address) => hasher.write(&address.octets()),
            IpAddr::V6(address) => hasher.write(&address.octets()),
        }
    }
    hasher.finish().to_le_bytes().to_vec()
}

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
