//! Datagrams of UDP, with or without RTP headers.

use crate::address::DatagramAddress;
use crate::ts::{self, PACKET_BYTES};
use rustix::net::sockopt::{set_ipv6_multicast_hops, set_ipv6_unicast_hops};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// A socket that sends units as datagrams.
#[derive(Debug)]
pub(crate) struct Datagrams {
    socket: UdpSocket,
    rtp: Option<Rtp>,
    /// The largest payload of TS packets.
    longest: usize,
}

/// State of RTP headers.
#[derive(Debug)]
struct Rtp {
    sequence: u16,
    source: u32,
}

/// Payload type of MPEG-2 transport streams (RFC 3551 §6), and the rate of its clock.
const MP2T: u8 = 33;
const RTP_CLOCK: u64 = 90_000;
/// Bytes of the header of RTP (RFC 3550 §5.1).
const RTP_HEADER: usize = 12;

impl Datagrams {
    /// Opens a socket to an address.
    ///
    /// # Errors
    ///
    /// If there is no route to the address, or the local address is none of this host.
    pub(super) fn open(to: &DatagramAddress, is_rtp: bool) -> io::Result<Self> {
        let header = if is_rtp { RTP_HEADER } else { 0 };
        let longest = to.longest.map_or(usize::MAX, |bytes| bytes.saturating_sub(header).max(PACKET_BYTES));
        Ok(Self { socket: connect(to)?, rtp: is_rtp.then(Rtp::random).transpose()?, longest })
    }

    /// Sends a unit with its source time. Returns whether it was sent.
    pub(super) fn put(&mut self, time_us: u64, bytes: &[u8]) -> bool {
        let longest = if ts::is_ts(bytes) { self.longest / PACKET_BYTES * PACKET_BYTES } else { usize::MAX };
        // ECONNREFUSED only means that no receiver listens now.
        bytes.chunks(longest).all(|part| match &mut self.rtp {
            Some(rtp) => self.socket.send(&rtp.packet(time_us, part)).is_ok(),
            None => self.socket.send(part).is_ok(),
        })
    }
}

fn connect(to: &DatagramAddress) -> io::Result<UdpSocket> {
    let is_v4 = to.socket.is_ipv4();
    let any: IpAddr = if is_v4 { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((to.local.unwrap_or(any), 0))?;
    if let Some(ttl) = to.ttl {
        match (to.socket.ip().is_multicast(), is_v4) {
            (true, true) => socket.set_multicast_ttl_v4(ttl.into())?,
            (true, false) => set_ipv6_multicast_hops(&socket, ttl.into())?,
            (false, true) => socket.set_ttl(ttl.into())?,
            (false, false) => set_ipv6_unicast_hops(&socket, Some(ttl))?,
        }
    }
    // Connected, so that a missing route is an error here, and ICMP errors are reported and ignored later.
    socket.connect(to.socket)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Rtp {
    /// Random initial values (RFC 3550 §5.1).
    fn random() -> io::Result<Self> {
        let mut random = [[0; 4]; 2];
        rustix::rand::getrandom(random.as_flattened_mut(), rustix::rand::GetRandomFlags::empty())?;
        let [source, sequence] = random.map(u32::from_be_bytes);
        Ok(Self { sequence: sequence as u16, source })
    }

    /// Prepends an RTP header to a unit (RFC 3550 §5.1, RFC 2250 §2).
    fn packet(&mut self, time_us: u64, bytes: &[u8]) -> Vec<u8> {
        self.sequence = self.sequence.wrapping_add(1);
        let timestamp = (time_us.wrapping_mul(RTP_CLOCK) / 1_000_000) as u32;
        let mut packet = Vec::with_capacity(RTP_HEADER + bytes.len());
        packet.extend([0x80, MP2T]);
        packet.extend(self.sequence.to_be_bytes());
        packet.extend(timestamp.to_be_bytes());
        packet.extend(self.source.to_be_bytes());
        packet.extend(bytes);
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::sockopt::ip_ttl;

    fn receiver() -> (UdpSocket, DatagramAddress) {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("it is bound");
        (socket, address.into())
    }

    /// The symptom: `ttl`, `localaddr` and `pkt_size` of addresses of `FFmpeg` were refused.
    #[test]
    fn datagrams_have_ttl_source_and_length_of_the_address() {
        let (receiver, address) = receiver();
        let address =
            DatagramAddress { local: Some([127, 0, 0, 9].into()), ttl: Some(7), longest: Some(600), ..address };
        let mut sink = Datagrams::open(&address, false).expect("a route");
        assert_eq!(ip_ttl(&sink.socket), Ok(7));
        let unit = [&[0x47][..], &[9; 187]].concat().repeat(7);
        assert!(sink.put(0, &unit));
        assert!(sink.put(0, &[1; 1000]), "no TS packets: it is sent whole");
        let lengths = [(); 4].map(|()| {
            let (length, from) = receiver.recv_from(&mut [0; 2000]).expect("a datagram");
            assert_eq!(from.ip(), IpAddr::from([127, 0, 0, 9]));
            length
        });
        assert_eq!(lengths, [564, 564, 188, 1000]);
    }

    #[test]
    fn rtp_headers_count_for_the_length() {
        let (receiver, address) = receiver();
        let mut sink = Datagrams::open(&DatagramAddress { longest: Some(564), ..address }, true).expect("a route");
        assert!(sink.put(0, &[&[0x47][..], &[9; 187]].concat().repeat(3)));
        let lengths = [(); 2].map(|()| receiver.recv(&mut [0; 2000]).expect("a datagram"));
        assert_eq!(lengths, [12 + 376, 12 + 188]);
    }

    #[test]
    fn a_local_address_of_another_host_is_refused_at_the_start() {
        let (_, address) = receiver();
        let error = Datagrams::open(&DatagramAddress { local: Some([192, 0, 2, 7].into()), ..address }, false);
        assert_eq!(error.expect_err("no such address").kind(), io::ErrorKind::AddrNotAvailable);
    }
}
