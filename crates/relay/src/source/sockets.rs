//! Datagrams and connections from other programs of this machine or network.

use super::packets::{Foreign, Packets};
use super::{LOOK, Outlet, Read};
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread::sleep;

/// The longest datagram.
const LONGEST: usize = 1 << 16;

/// Opens a socket at which datagrams arrive, of a group if it is one's address.
pub(super) fn datagrams(address: SocketAddr, is_rtp: bool) -> io::Result<Read> {
    let socket = UdpSocket::bind(address)?;
    match address.ip() {
        IpAddr::V4(group) if group.is_multicast() => socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED)?,
        IpAddr::V6(group) if group.is_multicast() => socket.join_multicast_v6(&group, 0)?,
        _ => {}
    }
    socket.set_read_timeout(Some(LOOK))?;
    Ok(Box::new(move |outlet| {
        let mut buffer = vec![0; LONGEST];
        while outlet.is_wanted() {
            let count = match socket.recv(&mut buffer) {
                Ok(count) => count,
                Err(error) if is_nothing_yet(&error) => continue,
                Err(error) => return Err(error),
            };
            let payload = if is_rtp { rtp_payload(&buffer[..count]) } else { Some(&buffer[..count]) };
            if payload.is_some_and(|payload| !payload.is_empty() && !outlet.put(payload)) {
                break;
            }
        }
        Ok(())
    }))
}

fn is_nothing_yet(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// Returns what stands behind the header of RTP (RFC 3550 §5.1), if it is one.
fn rtp_payload(packet: &[u8]) -> Option<&[u8]> {
    let &first = packet.first().filter(|first| **first >> 6 == 2)?;
    let mut start = 12 + 4 * usize::from(first & 0xf);
    if first & 0x10 != 0 {
        let words = packet.get(start + 2..)?.first_chunk()?;
        start += 4 + 4 * usize::from(u16::from_be_bytes(*words));
    }
    let padding = if first & 0x20 != 0 { usize::from(*packet.last()?) } else { 0 };
    packet.get(start..packet.len().checked_sub(padding)?)
}

/// Reads a transport stream from whoever connects, or from where this connects to; and again when that has ended.
pub(super) fn stream(address: SocketAddr) -> io::Result<Read> {
    let listener = if address.ip().is_unspecified() { Some(TcpListener::bind(address)?) } else { None };
    if let Some(listener) = &listener {
        listener.set_nonblocking(true)?;
    }
    Ok(Box::new(move |outlet| {
        while outlet.is_wanted() {
            let connected = match &listener {
                Some(listener) => listener.accept().map(|(stream, _)| stream),
                None => TcpStream::connect(address),
            };
            match connected {
                Ok(stream) => read(stream, outlet)?,
                // Nobody is there yet.
                Err(_) => sleep(LOOK),
            }
        }
        Ok(())
    }))
}

fn read(mut stream: TcpStream, outlet: &Outlet) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(LOOK))?;
    let (mut packets, mut buffer) = (Packets::default(), vec![0; LONGEST]);
    while outlet.is_wanted() {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => match packets.take(&buffer[..count], |whole| outlet.put(whole)) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(Foreign) => return Err(super::file::foreign()),
            },
            Err(error) if is_nothing_yet(&error) => {}
            // The other program is gone; the next one may come.
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_the_payload_of_rtp_is_left_out() {
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
