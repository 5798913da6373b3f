//! Addresses of `udp://` and `rtp://`, with the options of `FFmpeg`.

use super::{AddressError, Options, error, unknown};
use crate::ts::PACKET_BYTES;
use std::net::{IpAddr, SocketAddr};

/// A socket for datagrams, and the options of `FFmpeg`'s `udp://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatagramAddress {
    /// The socket that datagrams are sent to, or received at.
    pub socket: SocketAddr,
    /// The local address from which datagrams are sent, or on whose network they are received.
    pub local: Option<IpAddr>,
    /// The TTL of sent datagrams (IPv6: the hop limit).
    pub ttl: Option<u8>,
    /// The largest datagram of TS packets that is sent, in bytes.
    pub longest: Option<usize>,
}

/// The options of `udp://` and `rtp://`.
const OPTIONS: [&str; 3] = ["localaddr", "ttl", "pkt_size"];
/// The largest payload of UDP over IPv4.
const LONGEST: usize = 65_507;

impl From<SocketAddr> for DatagramAddress {
    fn from(socket: SocketAddr) -> Self {
        Self { socket, local: None, ttl: None, longest: None }
    }
}

impl Options<'_> {
    /// Returns the address of a datagram socket.
    pub(super) fn datagrams(&self) -> Result<DatagramAddress, AddressError> {
        if let Some((key, _)) = self.url.query_pairs().find(|(key, _)| !OPTIONS.contains(&&**key)) {
            let unknown = unknown("option", &key, &OPTIONS);
            return Err(error(self.text, &format!("has the {unknown}; allowed: {}", OPTIONS.join(", "))));
        }
        let socket = self.socket()?;
        Ok(DatagramAddress {
            local: self.local_address(socket)?,
            ttl: self.number("ttl", 1..=255)?.map(|ttl| ttl as u8),
            longest: self.number("pkt_size", PACKET_BYTES..=LONGEST)?,
            socket,
        })
    }

    fn local_address(&self, socket: SocketAddr) -> Result<Option<IpAddr>, AddressError> {
        let Some(text) = self.option("localaddr") else { return Ok(None) };
        let local = text.trim_matches(['[', ']']).parse::<IpAddr>();
        let local = local.map_err(|_| error(self.text, &format!("has localaddr={text}; allowed: an address of IP")))?;
        match socket.ip() {
            ip if !ip.is_unspecified() && ip.is_ipv4() != local.is_ipv4() => {
                Err(error(self.text, &format!("has localaddr={text}, which is of another version of IP than {ip}")))
            }
            IpAddr::V6(group) if group.is_multicast() => {
                Err(error(self.text, "has localaddr and a group of IPv6: name the interface by a route to the group"))
            }
            _ => Ok(Some(local)),
        }
    }

    pub(super) fn number(
        &self,
        name: &str,
        allowed: std::ops::RangeInclusive<usize>,
    ) -> Result<Option<usize>, AddressError> {
        let Some(text) = self.option(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| allowed.contains(number));
        let (least, most) = (allowed.start(), allowed.end());
        let number = number.ok_or_else(|| error(self.text, &format!("has {name}={text}; allowed: {least} to {most}")));
        number.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Address;
    use super::*;

    #[test]
    fn udp_had_no_options_of_ffmpeg() {
        let parsed = Address::parse("udp://239.0.0.1:5000?localaddr=192.0.2.7&ttl=4&pkt_size=1316");
        let socket = SocketAddr::from(([239, 0, 0, 1], 5000));
        let local = Some([192, 0, 2, 7].into());
        let expected = DatagramAddress { socket, local, ttl: Some(4), longest: Some(1316) };
        assert_eq!(parsed, Ok(Address::Udp(expected.clone())));
        assert_eq!(
            Address::parse("rtp://@239.0.0.1:5000?ttl=4&localaddr=192.0.2.7&pkt_size=1316"),
            Ok(Address::Rtp(expected))
        );
    }

    #[test]
    fn wrong_options_of_udp_are_explained() {
        for (options, words) in [
            ("ttl=0", "has ttl=0; allowed: 1 to 255"),
            ("ttl=far", "has ttl=far; allowed: 1 to 255"),
            ("pkt_size=100", "has pkt_size=100; allowed: 188 to 65507"),
            ("localaddr=eth0", "has localaddr=eth0; allowed: an address of IP"),
            ("localaddr=::1", "another version of IP than 192.0.2.1"),
            ("local_addr=192.0.2.7", "did you mean `localaddr`?"),
            ("latency=3", "unknown option `latency`; allowed: localaddr, ttl, pkt_size"),
        ] {
            let text = format!("udp://192.0.2.1:5000?{options}");
            let error = Address::parse(&text).expect_err(options).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
