//! Addresses of RTMP, as encoders have them: the server, the name of the application, and the stream key.

use super::{AddressError, Options, error};
use std::fmt;
use std::net::SocketAddr;

/// The address at which a publisher is awaited.
#[derive(Clone, PartialEq, Eq)]
pub struct RtmpAddress {
    /// The local socket.
    pub socket: SocketAddr,
    /// The name of the application, such as `live`.
    pub application: String,
    /// The stream key, which the publisher must have.
    pub key: String,
}

impl RtmpAddress {
    /// Returns whether a publisher has this application and key.
    pub(crate) fn is_for(&self, application: &str, key: &str) -> bool {
        self.application == application && self.key == key
    }
}

// A key must not appear in logs.
impl fmt::Debug for RtmpAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { socket, application, .. } = self;
        write!(formatter, "RtmpAddress({socket}, {application})")
    }
}

/// The registered port of RTMP.
pub(super) const PORT: u16 = 1935;

impl Options<'_> {
    pub(super) fn rtmp(&self) -> Result<RtmpAddress, AddressError> {
        self.check_no_options()?;
        let path = self.url.path().trim_start_matches('/');
        let (application, key) = path
            .split_once('/')
            .filter(|(application, key)| !application.is_empty() && !key.is_empty())
            .ok_or_else(|| error(self.text, "has no application and key, such as rtmp://:1935/live/KEY"))?;
        Ok(RtmpAddress { socket: self.socket()?, application: application.into(), key: key.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;

    #[test]
    fn rtmp_addresses_have_an_application_and_a_key() {
        let Ok(Address::Rtmp(address)) = Address::parse("rtmp://:1936/live/studio/one") else { panic!("an address") };
        assert_eq!((&*address.application, &*address.key, address.socket.port()), ("live", "studio/one", 1936));
        assert!(!format!("{address:?}").contains("studio"));
        assert!(matches!(Address::parse("rtmp://127.0.0.1/live/one"), Ok(Address::Rtmp(a)) if a.socket.port() == PORT));
        for text in ["rtmp://:1935", "rtmp://:1935/live", "rtmp://:1935/live/", "rtmp://:1935//key"] {
            let error = Address::parse(text).expect_err(text).to_string();
            assert!(error.contains("such as rtmp://:1935/live/KEY"), "{error}");
        }
        assert!(Address::parse("rtmp://:1935/live/one?key=2").is_err());
    }
}
