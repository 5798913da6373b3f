//! Packets of real networks on simulated links.

use crate::parcels::Parcels;
use crate::ways::{Side, Way, Ways};
use earlybird_sim::{Content, LinkId, Network, Observer, Packet, PacketNetwork};
use earlybird_units::Instant;
use earlybird_wire::{Checksums, Datagram, Ecn, Envelope, mark_congested, parse, parse_in_udp};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A packet that comes out of the network.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// When it does.
    pub due: Instant,
    /// On which side.
    pub to: Side,
    /// Its bytes, which differ from those that went in by a queue's mark at most.
    pub bytes: &'a [u8],
}

/// What was not let into the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Packets that no route is for, those to many hosts among them, or that are no IP packets.
    pub strangers: u64,
    /// Packets for which there was no memory.
    pub overflows: u64,
}

/// A network that carries the packets of two sides. Time never goes back from call to call.
#[derive(Debug)]
pub struct Emulator<O: Observer = ()> {
    packet_network: PacketNetwork<(Parcels, O)>,
    ways: Ways,
    is_within_udp: bool,
    refusals: Refusals,
}

/// What may be on its way, in bytes: a queue without limit could take all memory.
const MOST_BYTES: usize = 1 << 30;

impl<O: Observer> Emulator<O> {
    /// Makes an emulator of this network.
    pub fn new(network: Network, ways: Ways, observer: O) -> Self {
        let packet_network = PacketNetwork::new(network, (Parcels::default(), observer));
        Self { packet_network, ways, is_within_udp: false, refusals: Refusals::default() }
    }

    /// The same, between hosts whose segments of TCP are carried by UDP. Links carry what the scenario means, segments in IP: the
    /// carrier's header counts nowhere, ways are told by the ports of TCP – those of UDP are the same for all –, each connection is
    /// one to queues that serve each, and a segment without payload is an ACK, not data.
    #[must_use]
    pub fn within_udp(self) -> Self {
        Self { is_within_udp: true, ..self }
    }

    /// Takes an IP packet that comes from a side.
    pub fn offer(&mut self, now: Instant, from: Side, bytes: &[u8]) {
        let read = if self.is_within_udp { Envelope::read_in_udp } else { Envelope::read };
        let envelope = read(bytes).ok();
        let known = envelope.and_then(|envelope| Some((envelope, *self.ways.of(from, &envelope)?)));
        let Some((envelope, way)) = known else {
            self.refusals.strangers += 1;
            return;
        };
        if self.packet_network.observer_mut().0.held() + bytes.len() > MOST_BYTES {
            self.refusals.overflows += 1;
            return;
        }
        let external_id = self.packet_network.observer_mut().0.keep(from, bytes);
        let packet = packet(from, &way, &envelope, bytes.len());
        let content = self.segment_of(bytes).unwrap_or(packet.content);
        self.packet_network.send(now, Packet { external_id, content, ..packet });
    }

    /// Reads the segment of TCP in a packet, if anybody is to be told of packets.
    fn segment_of(&self, bytes: &[u8]) -> Option<Content> {
        let read = |bytes| if self.is_within_udp { parse_in_udp(bytes) } else { parse(bytes, Checksums::Ignore) };
        let parsed = if O::PACKETS { read(bytes).ok() } else { None };
        parsed.map(|parsed| Content::Segment(parsed.segment))
    }

    /// Returns the next packet that has come out by now.
    pub fn poll(&mut self, now: Instant) -> Option<Delivery<'_>> {
        let (due, packet) = self.packet_network.poll_arrival(now)?;
        let (from, bytes) = self.packet_network.observer_mut().0.release(packet.external_id);
        if packet.ecn() == Ecn::Congested {
            mark_congested(bytes);
        }
        Some(Delivery { due, to: from.opposite(), bytes })
    }

    /// Returns the time at which to call [`Self::poll`].
    pub fn deadline(&mut self) -> Option<Instant> {
        self.packet_network.poll_timeout()
    }

    /// Returns what was not let in.
    pub const fn refusals(&self) -> Refusals {
        self.refusals
    }

    /// Returns how many bytes of packets are on their way.
    pub fn bytes_under_way(&mut self) -> usize {
        self.packet_network.observer_mut().0.held()
    }

    /// Returns the links with their counters.
    pub const fn network(&self) -> &Network {
        self.packet_network.network()
    }

    /// Returns how many packets wait at a link now.
    pub fn backlog(&mut self, now: Instant, link: LinkId) -> usize {
        self.packet_network.backlog(now, link)
    }

    /// Returns the observer.
    pub const fn observer_mut(&mut self) -> &mut O {
        &mut self.packet_network.observer_mut().1
    }

    /// Returns the network and the observer, at the end.
    pub fn into_parts(self) -> (Network, O) {
        let (network, (_, observer)) = self.packet_network.into_parts();
        (network, observer)
    }
}

/// Returns what links and observers see of a packet.
fn packet(from: Side, way: &Way, envelope: &Envelope, bytes: usize) -> Packet {
    let content = Datagram { len: envelope.payload.unwrap_or(0), ecn: envelope.ecn, ..Datagram::default() };
    let carries_data = envelope.payload.is_none_or(|bytes| bytes > 0);
    let bytes = bytes - usize::from(envelope.carrier);
    Packet {
        to: way.end(from),
        generation: connection(envelope),
        flow: way.flow,
        group: way.group,
        number: if carries_data { 0 } else { Packet::PURE_ACK },
        ..Packet::external(way.from(from), bytes as u32, Content::Datagram(content))
    }
}

/// Returns the number of a packet's connection for queues that serve each: a hash of addresses, ports and protocol
/// (RFC 8290 §4.1.1).
fn connection(envelope: &Envelope) -> u32 {
    let mut hasher = DefaultHasher::new();
    (envelope.source, envelope.destination, envelope.ports, envelope.protocol).hash(&mut hasher);
    hasher.finish() as u32
}
