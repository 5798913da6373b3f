//! What arrives: whose it is, and what becomes of what is nobody's.

use super::flow::Flow;
use super::watching::Way;
use super::{Door, Id, Stack};
use crate::clock::Clock;
use crate::device::{Arrival, Carriage, Device, Path};
use crate::event::Kind;
use earlybird_tcp::{AcceptedRange, Cx, Ending, Opened, Response, RfcState, reject};
use earlybird_wire::{
    Addresses, Checksums, Flags, Icmp, Malformed, Martian, Parsed, Segment, Trouble, parse, parse_bare, parse_icmp,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// ICMP's numbers among IP's protocols.
const ICMP: [u8; 2] = [1, 58];

impl<D: Device, C: Clock> Stack<D, C> {
    /// Takes a packet, and gives how many segments it was.
    pub(super) fn on_arrival(&mut self, arrival: &Arrival, packet: &[u8]) -> usize {
        self.watcher.on_packet(self.now, Way::In, arrival.path, packet);
        match self.read_packet(packet, arrival) {
            Ok(parsed) if parsed.signature.is_some() => self.counters.malformed += 1,
            Ok(parsed) => return self.on_parsed(&parsed, arrival, packet),
            Err(Malformed::Protocol(protocol)) if ICMP.contains(&protocol) => self.on_icmp(packet),
            Err(_) => self.counters.malformed += 1,
        }
        1
    }

    fn read_packet(&self, packet: &[u8], arrival: &Arrival) -> Result<Parsed, Malformed> {
        match self.form.carriage {
            Carriage::Ip => parse(packet, arrival.checksums),
            Carriage::Udp => {
                let remote = arrival.path.remote;
                parse_bare(packet, remote.ip(), disguised(remote), arrival.ecn)
            }
        }
    }

    fn on_parsed(&mut self, parsed: &Parsed, arrival: &Arrival, packet: &[u8]) -> usize {
        let Some(size) = arrival.segment_size.filter(|size| *size < parsed.segment.len) else {
            self.on_segment(parsed, arrival.path, packet);
            return 1;
        };
        let offsets = (0..parsed.segment.len).step_by(size.into());
        let count = offsets.len();
        for offset in offsets {
            self.on_segment(&piece(parsed, offset, size), arrival.path, packet);
        }
        count
    }

    fn on_segment(&mut self, parsed: &Parsed, path: Path, packet: &[u8]) {
        let (addresses, payload) = (parsed.addresses, &packet[parsed.payload.clone()]);
        if let Some(id) = self.flows.find(&addresses) {
            self.give(id, &parsed.segment, path, payload);
            if !self.has_made_way(id) {
                return;
            }
        } else if !self.is_for_us(&addresses) {
            self.counters.misdirected += 1;
            return;
        }
        self.on_stranger(&addresses, &parsed.segment, path, payload);
    }

    /// Hands a segment to its connection.
    fn give(&mut self, id: Id, segment: &Segment, path: Path, payload: &[u8]) {
        let Some(flow) = self.flows.get_mut(id) else { return };
        flow.path.local = path.local.or(flow.path.local);
        self.watcher.on_arrival(self.now, id, segment);
        let taken = self.watcher.during(self.now, id, |cx| flow.connection.on_segment(cx, segment));
        flow.keep(taken, payload);
        self.after(id);
    }

    /// A connection in TIME-WAIT may end for another one (RFC 6191).
    fn has_made_way(&mut self, id: Id) -> bool {
        let has_made_way = self.flows.get(id).is_some_and(|flow| flow.has_made_way);
        if has_made_way {
            self.flows.make_way(id);
        }
        has_made_way
    }

    fn is_for_us(&self, addresses: &Addresses) -> bool {
        match self.form.carriage {
            // The socket has the address, and who is not on this host cannot pretend to be.
            Carriage::Udp => matches!(
                Addresses { destination: addresses.source, ..*addresses }.martian(),
                None | Some(Martian::Loopback)
            ),
            Carriage::Ip => self.settings.has(addresses.destination) && addresses.martian().is_none(),
        }
    }

    /// A segment of no connection is for whoever listens at its port, else it is answered with a reset.
    fn on_stranger(&mut self, addresses: &Addresses, segment: &Segment, path: Path, payload: &[u8]) {
        let Some(entrance) = self.listeners.get_mut(&door(addresses)) else {
            return self.refuse(addresses, segment, path);
        };
        if self.flows.len() >= self.settings.limits.connections {
            self.counters.refused += 1;
            return;
        }
        if self.form.carriage == Carriage::Udp && is_answered_by_more(segment) {
            self.counters.held_back += 1;
            return;
        }
        match entrance.listener.on_segment(&mut Cx { now: self.now, trace: &mut () }, addresses, segment) {
            Response::Nothing => {}
            Response::Answer(answer) => self.answer(addresses, path, &answer),
            Response::Opened(Opened { connection, taken, is_early }) => {
                let mut flow = Flow::new(connection, *addresses, path, entrance.has_frames);
                flow.is_early = is_early;
                self.admit(flow, taken, payload);
            }
        }
    }

    fn refuse(&mut self, addresses: &Addresses, segment: &Segment, path: Path) {
        self.counters.strangers += 1;
        let Some(answer) = reject(segment) else { return };
        if self.resets.take(self.now) {
            self.counters.resets += 1;
            self.answer(addresses, path, &answer);
        }
    }

    fn admit(&mut self, mut flow: Flow, taken: AcceptedRange, payload: &[u8]) {
        flow.keep(taken, payload);
        flow.untold.add(Kind::Incoming);
        self.enter(flow);
    }

    /// Tells a listener that the handshake of a connection that it opened early is done, or will never be.
    pub(super) fn settle(&mut self, id: Id) {
        let Some(flow) = self.flows.get_mut(id).filter(|flow| flow.is_early) else { return };
        if flow.connection.state() == RfcState::SynReceived {
            return;
        }
        flow.is_early = false;
        let was_reset = flow.connection.ending() == Some(Ending::Reset);
        if let Some(entrance) = self.listeners.get_mut(&door(&flow.addresses)) {
            entrance.listener.on_settled(self.now, &flow.addresses, was_reset);
        }
    }

    /// A router reports on what was sent; the connection judges whether that can be.
    fn on_icmp(&mut self, packet: &[u8]) {
        let Ok(report) = parse_icmp(packet, Checksums::Verify) else {
            self.counters.malformed += 1;
            return;
        };
        let Some(id) = self.flows.find(&report.addresses.reversed()) else { return };
        if self.report(id, &report) {
            self.counters.reports += 1;
            self.after(id);
        }
    }

    fn report(&mut self, id: Id, report: &Icmp) -> bool {
        let Some(flow) = self.flows.get_mut(id) else { return false };
        match report.trouble {
            Trouble::TooBig { mtu } => {
                self.watcher.during(self.now, id, |cx| flow.connection.on_path_mtu(cx, mtu, report.seq))
            }
            trouble => flow.connection.on_unreachable(trouble, report.seq),
        }
    }
}

/// Returns one of the segments that a device has joined: as long as the first one, and behind it as much.
fn piece(whole: &Parsed, offset: u16, size: u16) -> Parsed {
    let len = size.min(whole.segment.len - offset);
    let start = whole.payload.start + usize::from(offset);
    let mut flags = whole.segment.flags;
    if offset > 0 {
        flags -= Flags::CWR;
    }
    if offset + len < whole.segment.len {
        flags -= Flags::PSH | Flags::FIN;
    }
    let segment = Segment { seq: whole.segment.seq.at(offset.into()), len, flags, ..whole.segment };
    Parsed { segment, payload: start..start + usize::from(len), ..whole.clone() }
}

/// Returns whether the answer to a segment is longer than it is: that to a SYN has the options that it has, and the MSS always. Over
/// UDP, where anybody can write another's address as its own, such a SYN gets none.
fn is_answered_by_more(segment: &Segment) -> bool {
    segment.flags.contains(Flags::SYN) && segment.options.mss.is_none()
}

/// Returns the port that a segment knocks at.
pub(super) const fn door(addresses: &Addresses) -> Door {
    (addresses.destination_port, addresses.source.is_ipv6())
}

/// Returns what stands in place of our own address in the table of connections over UDP: the port of the peer's socket. Two peers
/// behind one NAT differ in nothing else, and which of its addresses a socket was reached at makes no other connection.
pub(super) fn disguised(peer: SocketAddr) -> IpAddr {
    match peer {
        SocketAddr::V4(_) => Ipv4Addr::from_bits(peer.port().into()).into(),
        SocketAddr::V6(_) => Ipv6Addr::from_bits(peer.port().into()).into(),
    }
}

/// Returns the path to a peer of which nothing is known but what a listener has kept: the addresses in what it sent.
pub(super) fn path_to(addresses: &Addresses, carriage: Carriage) -> Path {
    let port = match (carriage, addresses.destination) {
        (Carriage::Ip, _) => 0,
        (Carriage::Udp, IpAddr::V4(v4)) => v4.to_bits() as u16,
        (Carriage::Udp, IpAddr::V6(v6)) => v6.to_bits() as u16,
    };
    Path { local: None, remote: SocketAddr::new(addresses.source, port) }
}
