//! UDP, RTP and TCP sources.

use super::splitter::{NotTs, TsSplitter};
use super::{POLL_INTERVAL, ReadLoop, UnitSender};
use crate::address::DatagramAddress;
use crate::foreign;
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread::sleep;

/// The largest datagram.
const LONGEST: usize = 1 << 16;

/// Opens a UDP socket; joins the group of a multicast address on the network of the local one.
pub(super) fn datagrams(address: &DatagramAddress, is_rtp: bool) -> io::Result<ReadLoop> {
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
    // Bounded, so that a stop is noticed.
    socket.set_read_timeout(Some(POLL_INTERVAL))?;
    Ok(Box::new(move |out| {
        let mut buffer = vec![0; LONGEST];
        while out.is_running() {
            let count = match socket.recv(&mut buffer) {
                Ok(count) => count,
                Err(error) if is_timeout(&error) => continue,
                Err(error) => return Err(error),
            };
            let payload = if is_rtp { rtp_payload(&buffer[..count]) } else { Some(&buffer[..count]) };
            if payload.is_some_and(|payload| !payload.is_empty() && !out.send(payload)) {
                break;
            }
        }
        Ok(())
    }))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
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

/// Reads a transport stream from a client that connects, or from a server. Reconnects when the stream ends.
pub(super) fn stream(address: SocketAddr) -> io::Result<ReadLoop> {
    // `tcp://:port` listens, `tcp://host:port` connects.
    let listener = if address.ip().is_unspecified() { Some(TcpListener::bind(address)?) } else { None };
    if let Some(listener) = &listener {
        listener.set_nonblocking(true)?;
    }
    Ok(Box::new(move |out| {
        while out.is_running() {
            let connected = match &listener {
                Some(listener) => listener.accept().map(|(stream, _)| stream),
                None => TcpStream::connect(address),
            };
            match connected {
                Ok(stream) => read(stream, out)?,
                // No peer yet.
                Err(_) => sleep(POLL_INTERVAL),
            }
        }
        Ok(())
    }))
}

/// The error of a stream that is none of TS packets, with the name of its protocol if that is known.
fn not_ts(beginning: &[u8]) -> io::Error {
    let error = super::file::not_ts();
    match foreign::of_stream(beginning) {
        Some(name) => io::Error::new(error.kind(), format!("this is {name}: {error}")),
        None => error,
    }
}

fn read(mut stream: TcpStream, out: &UnitSender) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(POLL_INTERVAL))?;
    let (mut splitter, mut buffer) = (TsSplitter::default(), vec![0; LONGEST]);
    while out.is_running() {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => match splitter.push(&buffer[..count], |whole| out.send(whole)) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(NotTs) => return Err(not_ts(&buffer[..count])),
            },
            Err(error) if is_timeout(&error) => {}
            // The other program has ended; another one may connect.
            Err(_) => return Ok(()),
        }
    }
    Ok(())
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
