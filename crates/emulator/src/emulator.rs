//! Forwards real packets over simulated links.

use crate::flow_routes::{FlowRoute, FlowRoutes, Side};
use crate::payloads::Payloads;
use earlybird_sim::{Content, LinkId, Network, Observer, Packet, PacketNetwork};
use earlybird_units::Instant;
use earlybird_wire::{Checksums, Datagram, Ecn, PacketSummary, mark_congested, parse, parse_udp_encapsulated};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A packet that leaves the network.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// The time at which it is due.
    pub due: Instant,
    /// The side that receives it.
    pub to: Side,
    /// Its bytes, unchanged except for an ECN mark.
    pub bytes: &'a [u8],
}

/// Packets that were not admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejections {
    /// Packets without a route, multicast packets and packets of other protocols.
    pub unrouted: u64,
    /// Packets above the memory limit.
    pub overflows: u64,
}

/// A network between two sides. Time must not go back from call to call.
#[derive(Debug)]
pub struct Emulator<O: Observer = ()> {
    packet_network: PacketNetwork<(Payloads, O)>,
    routes: FlowRoutes,
    is_within_udp: bool,
    rejections: Rejections,
}

/// The limit of bytes in flight, since a queue without limit could use up the memory.
const MAX_BYTES: usize = 1 << 30;

impl<O: Observer> Emulator<O> {
    /// Creates an emulator.
    pub fn new(network: Network, routes: FlowRoutes, observer: O) -> Self {
        let packet_network = PacketNetwork::new(network, (Payloads::default(), observer));
        Self { packet_network, routes, is_within_udp: false, rejections: Rejections::default() }
    }

    /// Expects TCP over UDP. Links then see the segments as if over IP: the UDP header counts nowhere, flows are identified by
    /// TCP ports (those of UDP are the same for all), per-flow queues see connections, and segments without payload are ACKs.
    #[must_use]
    pub fn within_udp(self) -> Self {
        Self { is_within_udp: true, ..self }
    }

    /// Admits an IP packet from a side.
    pub fn offer(&mut self, now: Instant, from: Side, bytes: &[u8]) {
        let read = if self.is_within_udp { PacketSummary::read_udp_encapsulated } else { PacketSummary::read };
        let envelope = read(bytes).ok();
        let known = envelope.and_then(|envelope| Some((envelope, *self.routes.find(from, &envelope)?)));
        let Some((envelope, route)) = known else {
            // Background traffic of the hosts (router solicitations, mDNS) must not enter the network and disturb flows.
            self.rejections.unrouted += 1;
            return;
        };
        if self.packet_network.observer_mut().0.bytes() + bytes.len() > MAX_BYTES {
            self.rejections.overflows += 1;
            return;
        }
        let external_id = self.packet_network.observer_mut().0.insert(from, bytes);
        let packet = packet(from, &route, &envelope, bytes.len());
        let content = self.segment_of(bytes).unwrap_or(packet.content);
        self.packet_network.send(now, Packet { external_id, content, ..packet });
    }

    /// Parses the TCP segment of a packet, if the observer needs packets.
    fn segment_of(&self, bytes: &[u8]) -> Option<Content> {
        let read =
            |bytes| if self.is_within_udp { parse_udp_encapsulated(bytes) } else { parse(bytes, Checksums::Ignore) };
        let parsed = if O::PACKETS { read(bytes).ok() } else { None };
        parsed.map(|parsed| Content::Segment(parsed.segment))
    }

    /// Returns the next packet that is due.
    pub fn poll(&mut self, now: Instant) -> Option<Delivery<'_>> {
        let (due, packet) = self.packet_network.poll_arrival(now)?;
        let (from, bytes) = self.packet_network.observer_mut().0.release(packet.external_id);
        // The simulated queue marked its descriptor only; copy the mark into the IP header and fix the checksum.
        if packet.ecn() == Ecn::Congested {
            mark_congested(bytes);
        }
        Some(Delivery { due, to: from.opposite(), bytes })
    }

    /// Returns when to call [`Self::poll`] next.
    pub fn deadline(&mut self) -> Option<Instant> {
        self.packet_network.poll_timeout()
    }

    /// Returns the number of rejected packets.
    pub const fn rejections(&self) -> Rejections {
        self.rejections
    }

    /// Returns the bytes in flight.
    pub fn bytes_in_flight(&mut self) -> usize {
        self.packet_network.observer_mut().0.bytes()
    }

    /// Returns the links with their counters.
    pub const fn network(&self) -> &Network {
        self.packet_network.network()
    }

    /// Returns the number of packets in the queue of a link.
    pub fn backlog(&mut self, now: Instant, link: LinkId) -> usize {
        self.packet_network.backlog(now, link)
    }

    /// Returns the observer.
    pub const fn observer_mut(&mut self) -> &mut O {
        &mut self.packet_network.observer_mut().1
    }

    /// Returns the network and the observer.
    pub fn into_parts(self) -> (Network, O) {
        let (network, (_, observer)) = self.packet_network.into_parts();
        (network, observer)
    }
}

/// Returns the packet as links and observers see it.
fn packet(from: Side, route: &FlowRoute, envelope: &PacketSummary, bytes: usize) -> Packet {
    let content = Datagram { len: envelope.payload.unwrap_or(0), ecn: envelope.ecn, ..Datagram::default() };
    // Of other protocols nothing tells that a packet is an ACK.
    let carries_data = envelope.payload.is_none_or(|bytes| bytes > 0);
    let bytes = bytes - usize::from(envelope.encapsulation);
    Packet {
        to: route.endpoint(from),
        generation: connection(envelope),
        flow: route.flow,
        group: route.group,
        number: if carries_data { 0 } else { Packet::PURE_ACK },
        ..Packet::external(route.route(from), bytes as u32, Content::Datagram(content))
    }
}

/// Returns the flow hash of a packet for per-flow queues: addresses, ports and protocol (RFC 8290 §4.1.1).
fn connection(envelope: &PacketSummary) -> u32 {
    let mut hasher = DefaultHasher::new();
    (envelope.source, envelope.destination, envelope.ports, envelope.protocol).hash(&mut hasher);
    hasher.finish() as u32
}
