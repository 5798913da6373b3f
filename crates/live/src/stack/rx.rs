//! Received packets: demultiplexing to connections and listeners, and replies to the rest.

use super::connection_entry::ConnectionEntry;
use super::observer::Direction;
use super::{Id, ListenKey, Stack};
use crate::clock::Clock;
use crate::device::{Device, Encapsulation, Path, RxPacket};
use crate::event::EventKind;
use earlybird_tcp::{AcceptedRange, Cx, Ending, Opened, Response, RfcState, reject};
use earlybird_wire::{
    Addresses, Checksums, Flags, Icmp, IcmpError, Malformed, Martian, Parsed, Segment, parse, parse_bare, parse_icmp,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// IP protocol numbers of ICMP and its version for IPv6.
const ICMP: [u8; 2] = [1, 58];

impl<D: Device, C: Clock> Stack<D, C> {
    /// Processes a packet. Returns the number of segments that it contained.
    pub(super) fn on_packet(&mut self, received: &RxPacket, packet: &[u8]) -> usize {
        self.observer.on_packet(self.now, Direction::Rx, received.path, packet);
        match self.parse(packet, received) {
            // TCP-MD5 and TCP-AO (RFC 2385, RFC 5925) are not supported; a signed segment must not be accepted unverified.
            Ok(parsed) if parsed.signature.is_some() => self.counters.malformed += 1,
            Ok(parsed) => return self.on_parsed(&parsed, received, packet),
            Err(Malformed::Protocol(protocol)) if ICMP.contains(&protocol) => self.on_icmp(packet),
            Err(_) => self.counters.malformed += 1,
        }
        1
    }

    fn parse(&self, packet: &[u8], received: &RxPacket) -> Result<Parsed, Malformed> {
        match self.encapsulator.encapsulation {
            Encapsulation::Ip => parse(packet, received.checksums),
            Encapsulation::Udp => {
                let remote = received.path.remote;
                parse_bare(packet, remote.ip(), address_from_port(remote), received.ecn)
            }
        }
    }

    fn on_parsed(&mut self, parsed: &Parsed, received: &RxPacket, packet: &[u8]) -> usize {
        // GRO joined several segments. They are processed one by one, as each may cause an ACK and the congestion control counts
        // them.
        let Some(size) = received.segment_size.filter(|size| *size < parsed.segment.len) else {
            self.on_segment(parsed, received.path, packet);
            return 1;
        };
        let offsets = (0..parsed.segment.len).step_by(size.into());
        let count = offsets.len();
        for offset in offsets {
            self.on_segment(&split_segment(parsed, offset, size), received.path, packet);
        }
        count
    }

    fn on_segment(&mut self, parsed: &Parsed, path: Path, packet: &[u8]) {
        let (addresses, payload) = (parsed.addresses, &packet[parsed.payload.clone()]);
        if let Some(id) = self.connections.find(&addresses) {
            self.deliver(id, &parsed.segment, path, payload);
            if !self.release_time_wait(id) {
                return;
            }
        } else if !self.is_for_us(&addresses) {
            self.counters.misdirected += 1;
            return;
        }
        self.on_unmatched(&addresses, &parsed.segment, path, payload);
    }

    /// Passes a segment to its connection.
    fn deliver(&mut self, id: Id, segment: &Segment, path: Path, payload: &[u8]) {
        let Some(entry) = self.connections.get_mut(id) else { return };
        // Replies use the address that the peer sent to last.
        entry.path.local = path.local.or(entry.path.local);
        entry.last_received = self.now;
        self.observer.on_segment(self.now, id, segment);
        let taken = self.observer.with_context(self.now, id, |cx| entry.connection.on_segment(cx, segment));
        entry.store_payload(taken, payload);
        self.after_update(id);
    }

    /// Removes a connection in TIME-WAIT from the table if its port pair is reused (RFC 6191). Returns whether that happened: the
    /// SYN is then processed by the listener.
    fn release_time_wait(&mut self, id: Id) -> bool {
        let is_reused = self.connections.get(id).is_some_and(|entry| entry.is_time_wait_reused);
        if is_reused {
            self.connections.unmap(id);
        }
        is_reused
    }

    fn is_for_us(&self, addresses: &Addresses) -> bool {
        match self.encapsulator.encapsulation {
            // The kernel has checked the destination. Only the source may be spoofed; loopback is allowed for peers on this host.
            Encapsulation::Udp => matches!(
                Addresses { destination: addresses.source, ..*addresses }.martian(),
                None | Some(Martian::Loopback)
            ),
            Encapsulation::Ip => self.settings.has(addresses.destination) && addresses.martian().is_none(),
        }
    }

    /// Processes a segment of no connection: passes it to the listener of its port, or replies with a reset (RFC 9293 §3.10.7.1).
    fn on_unmatched(&mut self, addresses: &Addresses, segment: &Segment, path: Path, payload: &[u8]) {
        let Some(listen_entry) = self.listeners.get_mut(&listen_key(addresses)) else {
            return self.reset(addresses, segment, path);
        };
        // Checked before the listener: a handshake that completes would need a slot.
        if self.connections.len() >= self.settings.limits.connections {
            self.counters.over_limit += 1;
            return;
        }
        if self.encapsulator.encapsulation == Encapsulation::Udp && would_be_amplified(segment) {
            self.counters.amplification_dropped += 1;
            return;
        }
        match listen_entry.listener.on_segment(&mut Cx { now: self.now, trace: &mut () }, addresses, segment) {
            Response::Nothing => {}
            Response::Answer(answer) => self.reply(addresses, path, &answer),
            Response::Opened(Opened { connection, taken, is_fast_open }) => {
                let mut entry = ConnectionEntry::new(connection, *addresses, path, listen_entry.has_frames);
                entry.is_fast_open = is_fast_open;
                self.insert_incoming(entry, taken, payload);
            }
        }
    }

    fn reset(&mut self, addresses: &Addresses, segment: &Segment, path: Path) {
        self.counters.unmatched += 1;
        // A reset is never answered with a reset (RFC 9293 §3.5.2).
        let Some(answer) = reject(segment) else { return };
        if self.resets.try_acquire(self.now) {
            self.counters.resets += 1;
            self.reply(addresses, path, &answer);
        }
    }

    fn insert_incoming(&mut self, mut entry: ConnectionEntry, taken: AcceptedRange, payload: &[u8]) {
        entry.store_payload(taken, payload);
        entry.pending_events.add(EventKind::Incoming);
        let id = self.insert(entry);
        self.fit_route(id);
    }

    /// Notifies the listener that the handshake of a connection with early data (Fast Open) is complete or failed: it counts
    /// against the limit of pending Fast Open requests (RFC 7413 §5.1).
    pub(super) fn notify_listener(&mut self, id: Id) {
        let Some(entry) = self.connections.get_mut(id).filter(|entry| entry.is_fast_open) else { return };
        if entry.connection.state() == RfcState::SynReceived {
            return;
        }
        // Notify once.
        entry.is_fast_open = false;
        let was_reset = entry.connection.ending() == Some(Ending::Reset);
        if let Some(listen_entry) = self.listeners.get_mut(&listen_key(&entry.addresses)) {
            listen_entry.listener.on_settled(self.now, &entry.addresses, was_reset);
        }
    }

    /// Processes an ICMP error. The connection checks whether it refers to outstanding data (RFC 5927).
    fn on_icmp(&mut self, packet: &[u8]) {
        let Ok(report) = parse_icmp(packet, Checksums::Verify) else {
            self.counters.malformed += 1;
            return;
        };
        let Some(id) = self.connections.find(&report.addresses.reversed()) else { return };
        if self.apply_icmp(id, &report) {
            self.counters.icmp += 1;
            self.after_update(id);
        }
    }

    fn apply_icmp(&mut self, id: Id, report: &Icmp) -> bool {
        let Some(entry) = self.connections.get_mut(id) else { return false };
        match report.trouble {
            IcmpError::TooBig { mtu } => {
                self.observer.with_context(self.now, id, |cx| entry.connection.on_path_mtu(cx, mtu, report.seq))
            }
            trouble => entry.connection.on_unreachable(trouble, report.seq),
        }
    }
}

/// Returns one of the segments that the device joined: `size` bytes of payload from `offset` on.
fn split_segment(whole: &Parsed, offset: u16, size: u16) -> Parsed {
    let len = size.min(whole.segment.len - offset);
    let start = whole.payload.start + usize::from(offset);
    let mut flags = whole.segment.flags;
    // Splits flags as the sender's TSO does: CWR is on the first segment only, PSH and FIN on the last.
    if offset > 0 {
        flags -= Flags::CWR;
    }
    if offset + len < whole.segment.len {
        flags -= Flags::PSH | Flags::FIN;
    }
    let segment = Segment { seq: whole.segment.seq.at(offset.into()), len, flags, ..whole.segment };
    Parsed { segment, payload: start..start + usize::from(len), ..whole.clone() }
}

/// Returns whether the reply would be longer than the segment. A SYN-ACK repeats the options of the SYN and always adds the MSS.
/// Over UDP source addresses can be spoofed, so that such a SYN is dropped (no amplification).
fn would_be_amplified(segment: &Segment) -> bool {
    segment.flags.contains(Flags::SYN) && segment.options.mss.is_none()
}

/// Returns the key of the listener that a segment addresses.
pub(super) const fn listen_key(addresses: &Addresses) -> ListenKey {
    (addresses.destination_port, addresses.source.is_ipv6())
}

/// Encodes the UDP port of a peer as an IP address, which replaces the local address in the table of connections over UDP. Two
/// peers behind one NAT differ only in this port. The local address does not identify a connection there: a socket may be reached
/// at several.
pub(super) fn address_from_port(peer: SocketAddr) -> IpAddr {
    match peer {
        SocketAddr::V4(_) => Ipv4Addr::from_bits(peer.port().into()).into(),
        SocketAddr::V6(_) => Ipv6Addr::from_bits(peer.port().into()).into(),
    }
}

/// Returns the path to the peer of a half-open connection, for which a listener keeps only the addresses of the SYN. Reverses
/// [`address_from_port`].
pub(super) fn path_from(addresses: &Addresses, encapsulation: Encapsulation) -> Path {
    let port = match (encapsulation, addresses.destination) {
        (Encapsulation::Ip, _) => 0,
        (Encapsulation::Udp, IpAddr::V4(v4)) => v4.to_bits() as u16,
        (Encapsulation::Udp, IpAddr::V6(v6)) => v6.to_bits() as u16,
    };
    Path { local: None, remote: SocketAddr::new(addresses.source, port) }
}
