//! Other protocols that arrive at the port of a relay, named so that users find what is addressed wrongly.

use crate::ts;
use earlybird_live::device::{Device, Encapsulation, RxQueue, TxQueue};
use std::io::{self, Read as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, sleep};
use std::time::Duration;

/// The last message of each other protocol: its name and the sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Foreign(Arc<Mutex<Vec<Message>>>);

type Message = (&'static str, SocketAddr);

/// A device of datagrams whose other protocols are named.
#[derive(Debug)]
pub(crate) struct Watched<D> {
    device: D,
    is_sealed: bool,
    foreign: Foreign,
    /// The synchronization source of the last datagram that looked like RTP: other data do so too, but not twice with the same source.
    rtp_source: Option<u32>,
}

/// The TCP port in the headers of relays, and the kinds of encrypted datagrams (see `earlybird-seal`).
const PORT: [u8; 2] = crate::message::TCP_PORT_OVER_UDP.to_be_bytes();
const SEALED_KINDS: std::ops::RangeInclusive<u8> = 1..=5;
/// The name of RTP.
const RTP: &str = "RTP";
/// The largest beginning of a TCP stream that is read: an RTMP client's first message has 1537 bytes.
const BEGINNING: usize = 2048;
/// Bytes of that message behind its version (RTMP specification 1.0 §5.2.3).
const RTMP_BYTES: usize = 1536;
/// The time that a TCP client may take to send it.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The ports that are left to other servers, which may start later (RFC 6335 §6: system ports).
const SYSTEM_PORTS: std::ops::RangeInclusive<u16> = 1..=1023;
/// The interval at which TCP clients are accepted.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl Foreign {
    fn set(&self, message: Message) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(name, _)| *name != message.0);
        all.push(message);
    }

    /// Returns the last message of each protocol, the newest last.
    pub(crate) fn get(&self) -> Vec<Message> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<D> Watched<D> {
    pub(crate) fn new(device: D, is_sealed: bool, foreign: Foreign) -> Self {
        Self { device, is_sealed, foreign, rtp_source: None }
    }
}

/// Returns whether a datagram has the format of those of relays: encrypted, or with a TCP header.
fn is_ours(datagram: &[u8], is_sealed: bool) -> bool {
    match datagram {
        [kind, ..] if is_sealed => SEALED_KINDS.contains(kind),
        [first, second, third, fourth, ..] => [*first, *second] == PORT || [*third, *fourth] == PORT,
        _ => false,
    }
}

/// Returns whether a datagram of RTP has the same source as the one before (RFC 3550 §5.1).
fn is_repeated(last: &mut Option<u32>, datagram: &[u8]) -> bool {
    let source = word(datagram, 8);
    source.is_some() && std::mem::replace(last, source) == source
}

/// Returns whether a datagram ends with its first packet of RTCP, or has another one behind it.
fn is_rtcp_length(datagram: &[u8]) -> bool {
    let words = word(datagram, 0).map_or(0, |word| word & 0xFFFF);
    let end = 4 * (words as usize + 1);
    datagram.len() == end || datagram.get(end).is_some_and(|first| first >> 6 == 2)
}

/// Returns 32 bits of a datagram.
fn word(datagram: &[u8], at: usize) -> Option<u32> {
    datagram.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Returns the name of the protocol of a datagram, if it is known.
pub(crate) fn of_datagram(datagram: &[u8]) -> Option<&'static str> {
    let word = |at| word(datagram, at);
    let [first, second, ..] = *datagram else { return None };
    Some(match first {
        _ if ts::is_ts(datagram) => "an MPEG transport stream",
        // A handshake of version 4 or 5 (draft-sharabayko-srt-01 §3.2.1).
        0x80 if second == 0 && matches!(word(16), Some(4 | 5)) => "SRT",
        // RFC 8489 §5: the magic cookie.
        0..=0x3F if word(4) == Some(0x2112_A442) => "STUN",
        // RFC 6347 §4.1: content type, and version 1.0 or 1.2.
        20..=23 if matches!(word(1).map(|word| word >> 16), Some(0xFEFF | 0xFEFD)) => "DTLS",
        // RFC 9000 §17.2, RFC 9369 §3.1: a long header of version 1 or 2, or version negotiation.
        0x80.. if matches!(word(1), Some(0 | 1 | 0x6B33_43CF)) && first & 0x40 != 0 => "QUIC",
        // RFC 3550 §6: sender reports to application-defined packets, whose length is in 32-bit words less one.
        0x80..=0xBF if (200..=204).contains(&second) && is_rtcp_length(datagram) => "RTCP",
        // RFC 3551 §6: static payload types, and dynamic ones.
        0x80..=0xBF if datagram.len() > 12 && matches!(second & 0x7F, 0..=34 | 96..) => RTP,
        _ if is_ours(datagram, false) => "a relay without passphrase",
        1 if datagram[1..].starts_with(&[0; 7]) && datagram.len() > 150 => "a relay with a passphrase",
        _ => return None,
    })
}

/// Returns the name of the protocol of a TCP stream, if it is known.
pub(crate) fn of_stream(beginning: &[u8]) -> Option<&'static str> {
    const METHODS: [&[u8]; 6] = [b"GET ", b"POST ", b"HEAD ", b"PUT ", b"OPTIONS ", b"CONNECT "];
    Some(match beginning {
        // RFC 8446 §5.1: a handshake record.
        [0x16, 3, ..] => "TLS",
        // RTMP specification 1.0 §5.2: version 3 and 1536 bytes, in which `FFmpeg` has a version of its own where the specification has zeros.
        [3, rest @ ..] if rest.len() >= RTMP_BYTES => "RTMP",
        _ if beginning.windows(8).take(256).any(|part| part == b"RTSP/1.0") => "RTSP",
        _ if METHODS.iter().any(|method| beginning.starts_with(method)) => "HTTP",
        _ if beginning.starts_with(b"SSH-") => "SSH",
        [ts::SYNC, ..] if beginning.get(ts::PACKET_BYTES) == Some(&ts::SYNC) => "an MPEG transport stream",
        _ => return None,
    })
}

/// Watches the TCP port beside the UDP port of a listener, to which players and encoders connect by mistake: reads the beginning of one
/// stream at a time, answers nothing, and closes it. Ends with the relay; a system port, or one in use, is not watched.
pub(crate) fn watch_tcp(address: SocketAddr, foreign: &Foreign) {
    if SYSTEM_PORTS.contains(&address.port()) {
        return;
    }
    let Ok(listener) = TcpListener::bind(address) else { return };
    let seen = Arc::downgrade(&foreign.0);
    if listener.set_nonblocking(true).is_ok() {
        // Without a thread nothing is named.
        let _ = thread::Builder::new().name("foreign".into()).spawn(move || accept(&listener, &seen));
    }
}

fn accept(listener: &TcpListener, seen: &Weak<Mutex<Vec<Message>>>) {
    while let Some(foreign) = seen.upgrade().map(Foreign) {
        if let Ok((stream, from)) = listener.accept() {
            let beginning = read_beginning(stream).unwrap_or_default();
            if let Some(name) = of_stream(&beginning) {
                foreign.set((name, from));
            }
        } else {
            drop(foreign);
            sleep(POLL_INTERVAL);
        }
    }
}

fn read_beginning(mut stream: TcpStream) -> io::Result<Vec<u8>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    let mut beginning = vec![0; BEGINNING];
    let mut length = stream.read(&mut beginning)?;
    // One more read, for a client whose first message has several segments.
    if beginning[0] == 3 && (1..=RTMP_BYTES).contains(&length) {
        length += stream.read(&mut beginning[length..])?;
    }
    beginning.truncate(length);
    Ok(beginning)
}

impl<D: Device> Device for Watched<D> {
    fn encapsulation(&self) -> Encapsulation {
        self.device.encapsulation()
    }

    fn mtu(&self) -> u16 {
        self.device.mtu()
    }

    fn has_black_holes(&self) -> bool {
        self.device.has_black_holes()
    }

    fn receive(&mut self, rx: &mut RxQueue) -> io::Result<()> {
        self.device.receive(rx)?;
        let Self { is_sealed, foreign, rtp_source, .. } = self;
        rx.retain_mut(|bytes, packet| {
            let datagram = &bytes[packet.range.clone()];
            if !is_ours(datagram, *is_sealed)
                && let Some(name) = of_datagram(datagram)
                && (name != RTP || is_repeated(rtp_source, datagram))
            {
                foreign.set((name, packet.path.remote));
            }
            true
        });
        Ok(())
    }

    fn send(&mut self, tx: &mut TxQueue) -> io::Result<()> {
        self.device.send(tx)
    }

    fn route_mtu(&self, remote: SocketAddr) -> Option<u16> {
        self.device.route_mtu(remote)
    }

    fn take_too_long(&mut self) -> Option<SocketAddr> {
        self.device.take_too_long()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.device.descriptor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_have_a_name_or_none(bytes: Vec<u8>, is_sealed: bool) {
            let _ = (of_datagram(&bytes), of_stream(&bytes), is_ours(&bytes, is_sealed), is_repeated(&mut None, &bytes));
        }
    }

    fn bytes(beginning: &[u8], length: usize) -> Vec<u8> {
        let mut all = beginning.to_vec();
        all.resize(length, 0);
        all
    }

    #[test]
    fn datagrams_of_other_protocols_have_names() {
        let srt = [&[0x80, 0, 0, 0][..], &[0; 12], &[0, 0, 0, 4]].concat();
        for (datagram, name) in [
            (bytes(&srt, 64), Some("SRT")),
            (bytes(&[0x80, 33, 0, 1], 1328), Some("RTP")),
            (bytes(&[0x80, 200, 0, 6], 28), Some("RTCP")),
            (bytes(&[0xC3, 0, 0, 0, 1, 8], 1200), Some("QUIC")),
            (bytes(&[0x16, 0xFE, 0xFD, 0], 150), Some("DTLS")),
            (bytes(&[0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42], 20), Some("STUN")),
            ([&[0x47][..], &[0; 187]].concat().repeat(7), Some("an MPEG transport stream")),
            (bytes(&[0xC3, 0x50, 0x10, 0x69], 40), Some("a relay without passphrase")),
            (bytes(&[1], 200), Some("a relay with a passphrase")),
            (bytes(b"anything", 100), None),
            (Vec::new(), None),
        ] {
            assert_eq!(of_datagram(&datagram), name, "{datagram:?}");
        }
    }

    #[test]
    fn streams_of_other_protocols_have_names() {
        for (beginning, name) in [
            (bytes(&[3], 1537), Some("RTMP")),
            (b"GET / HTTP/1.1\r\n".to_vec(), Some("HTTP")),
            (b"OPTIONS rtsp://host/ RTSP/1.0\r\n".to_vec(), Some("RTSP")),
            (bytes(&[0x16, 3, 1], 300), Some("TLS")),
            (b"SSH-2.0-x\r\n".to_vec(), Some("SSH")),
            (b"anything".to_vec(), None),
        ] {
            assert_eq!(of_stream(&beginning), name, "{beginning:?}");
        }
    }

    /// The symptom: random datagrams were named RTP or RTCP.
    #[test]
    fn rtp_is_named_when_its_source_is_repeated() {
        let packet = |source: u8| [&[0x80, 33, 0, 1, 0, 0, 0, 0][..], &[source; 4], &[7; 188]].concat();
        let mut last = None;
        assert_eq!([1, 2, 2].map(|source| is_repeated(&mut last, &packet(source))), [false, false, true]);
        assert_eq!(of_datagram(&bytes(&[0x80, 200, 9, 9], 60)), None);
    }

    #[test]
    fn datagrams_of_relays_are_not_foreign() {
        assert!(is_ours(&[0xC3, 0x50, 0x10, 0x69], false) && is_ours(&[0x10, 0x69, 0xC3, 0x50], false));
        assert!(is_ours(&[4, 9, 9, 9, 9], true) && !is_ours(&[0xC3, 0x50, 0x10, 0x69], true) && !is_ours(&[4], false));
    }
}
