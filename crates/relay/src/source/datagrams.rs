//! UDP and RTP sources, which the relay's event loop polls: a thread of their own would have to wake it for each datagram.

use super::{MediaUnit, Stamp};
use crate::address::DatagramAddress;
use rustix::net::sockopt::set_socket_recv_buffer_size;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// The largest datagram.
const LONGEST: usize = 1 << 16;
/// Requested size of the kernel's buffer: 160 ms at 100 Mb/s. `net.core.rmem_max` may allow less.
const KERNEL_BUFFER: usize = 2 << 20;
/// The most datagrams that are read in a turn, so that a flood of them does not keep the relay from sending.
const BATCH: usize = 64;

/// A socket that receives units.
#[derive(Debug)]
pub(super) struct Datagrams {
    socket: UdpSocket,
    is_rtp: bool,
    stamp: Stamp,
    buffer: Vec<u8>,
    /// The error that ended it.
    failure: Option<io::Error>,
}

impl Datagrams {
    /// Opens a UDP socket; joins the group of a multicast address on the network of the local one.
    pub(super) fn open(address: &DatagramAddress, is_rtp: bool, stamp: Stamp) -> io::Result<Self> {
        let socket = bind(address)?;
        socket.set_nonblocking(true)?;
        // A smaller buffer costs losses while the processor is busy, but works.
        let _ = set_socket_recv_buffer_size(&socket, KERNEL_BUFFER);
        Ok(Self { socket, is_rtp, stamp, buffer: vec![0; LONGEST], failure: None })
    }

    /// Returns the descriptor that is readable when datagrams have arrived; `None` after an error.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.failure.is_none().then(|| self.socket.as_fd())
    }

    /// Passes units that have arrived to `take`, up to a batch. Returns whether the source has ended, which it does after an error.
    pub(super) fn read(&mut self, mut take: impl FnMut(MediaUnit)) -> bool {
        for _ in 0..BATCH {
            match self.socket.recv(&mut self.buffer) {
                Ok(count) => {
                    let datagram = &self.buffer[..count];
                    let payload = if self.is_rtp { rtp_payload(datagram) } else { Some(datagram) };
                    if let Some(payload) = payload.filter(|payload| !payload.is_empty()) {
                        take(self.stamp.unit(payload));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => self.failure = Some(error),
            }
        }
        self.failure.is_some()
    }

    /// Returns the error that ended the source.
    pub(super) fn close(self) -> io::Result<()> {
        self.failure.map_or(Ok(()), Err)
    }
}

fn bind(address: &DatagramAddress) -> io::Result<UdpSocket> {
    let (at, local) = (address.socket, address.local);
    let at = SocketAddr::new(local.filter(|_| at.ip().is_unspecified()).unwrap_or(at.ip()), at.port());
    let socket = UdpSocket::bind(at)?;
    match at.ip() {
        IpAddr::V4(group) if group.is_multicast() => {
            let local = if let Some(IpAddr::V4(local)) = local { local } else { Ipv4Addr::UNSPECIFIED };
            socket.join_multicast_v4(&group, &local)?;
        }
        IpAddr::V6(group) if group.is_multicast() => socket.join_multicast_v6(&group, 0)?,
        _ => {}
    }
    Ok(socket)
}

/// Returns the payload of an RTP packet (RFC 3550 §5.1); `None` if it is invalid.
fn rtp_payload(packet: &[u8]) -> Option<&[u8]> {
    let &first = packet.first().filter(|first| **first >> 6 == 2)?;
    let mut start = 12 + 4 * usize::from(first & 0xf);
    // Header extension: its length is in 32-bit words.
    if first & 0x10 != 0 {
        // The extension starts with a profile-specific field of 16 bits.
        let words = packet.get(start + 2..)?.first_chunk()?;
        start += 4 + 4 * usize::from(u16::from_be_bytes(*words));
    }
    let padding = if first & 0x20 != 0 { usize::from(*packet.last()?) } else { 0 };
    packet.get(start..packet.len().checked_sub(padding)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rtp_headers_and_padding_are_removed() {
        let header = [0x80, 33, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3];
        let plain = [&header[..], b"media"].concat();
        assert_eq!(rtp_payload(&plain), Some(&b"media"[..]));
        let mut full = plain.clone();
        full[0] = 0x80 | 0x20 | 0x10 | 1;
        full.splice(12..12, [9, 9, 9, 9, 0, 0, 0, 1, 8, 8, 8, 8]);
        full.extend([0, 2]);
        assert_eq!(rtp_payload(&full), Some(&b"media"[..]));
        assert_eq!((rtp_payload(b"media"), rtp_payload(&full[..15])), (None, None));
    }
}
