//! Agents whose packets are UDP datagrams: those of crate `datagram`, and external stacks.
//!
//! They are behind a pointer and never inlined: most packets are TCP's, whose path stays short.

use crate::external_stack::{ExternalConnection, ExternalDatagram, ExternalEvent};
use crate::flow_stats::{FlowEnd, FlowGauges};
use crate::ids::SlotId;
use crate::packet::{Content, Packet};
use crate::payloads::Payloads;
use earlybird_datagram as datagram;
use earlybird_units::Instant;
use earlybird_wire::{Datagram, Ecn};

/// An agent over UDP.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "all lie behind a pointer, and most are ours")]
pub(crate) enum UdpAgent {
    Own(datagram::Endpoint),
    External(ExternalAgent),
}

/// An external connection with the simulator's state for it.
#[derive(Debug)]
pub(crate) struct ExternalAgent {
    pub(crate) connection: Box<dyn ExternalConnection>,
    /// Packets with data that it sent.
    sent: u64,
    ecn: bool,
    /// The payload of the packet that was just written.
    payload: Vec<u8>,
}

/// An event of an agent over UDP.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UdpEvent {
    Own(datagram::Event),
    External(ExternalEvent),
}

/// The number of a written packet, if it carries data, and whether it is a retransmission.
pub(crate) type Written = (Option<u64>, bool);

impl UdpAgent {
    /// Receives the packet in a slot. Segments are ignored: both ends of a flow are of one kind.
    #[cold]
    pub(crate) fn on_packet(&mut self, now: Instant, content: &Content, slot: SlotId, payloads: &mut Payloads) {
        let Content::Datagram(datagram) = content else { return };
        match self {
            Self::Own(endpoint) => endpoint.on_datagram(now, datagram),
            Self::External(external) => external.connection.on_datagram(now, datagram.ecn, payloads.take(slot)),
        }
    }

    /// Writes the next datagram into a packet.
    pub(crate) fn write_packet(&mut self, now: Instant, packet: &mut Packet) -> Option<Written> {
        match self {
            Self::Own(endpoint) => {
                let transmit = endpoint.poll_transmit(now)?;
                packet.content = Content::Datagram(transmit.datagram);
                Some((transmit.number, transmit.is_retransmission))
            }
            Self::External(external) => external.write_packet(now, packet),
        }
    }

    /// Stores the payload of the packet that was written into this slot.
    pub(crate) fn on_placed(&mut self, slot: SlotId, payloads: &mut Payloads) {
        if let Self::External(external) = self {
            payloads.put(slot, std::mem::take(&mut external.payload));
        }
    }

    pub(crate) fn poll_event(&mut self) -> Option<UdpEvent> {
        match self {
            Self::Own(endpoint) => endpoint.poll_event().map(UdpEvent::Own),
            Self::External(external) => external.connection.poll_event().map(UdpEvent::External),
        }
    }

    #[cold]
    pub(crate) fn poll_timeout(&mut self) -> Option<Instant> {
        match self {
            Self::Own(endpoint) => endpoint.poll_timeout(),
            Self::External(external) => external.connection.poll_timeout(),
        }
    }

    #[cold]
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        match self {
            Self::Own(endpoint) => endpoint.on_timeout(now),
            Self::External(external) => external.connection.on_timeout(now),
        }
    }

    #[cold]
    pub(crate) fn write(&mut self, bytes: u64) {
        match self {
            Self::Own(endpoint) => endpoint.write(bytes),
            Self::External(external) => external.connection.write(bytes),
        }
    }

    #[cold]
    pub(crate) fn write_unit(&mut self, bytes: u64) {
        match self {
            Self::Own(endpoint) => endpoint.write_unit(bytes),
            Self::External(external) => external.connection.write_unit(bytes),
        }
    }

    #[cold]
    pub(crate) fn received(&self) -> u64 {
        match self {
            Self::Own(endpoint) => endpoint.received(),
            Self::External(external) => external.connection.received(),
        }
    }

    /// Returns the values of a sender for time series, if it has any.
    pub(crate) fn gauges(&self) -> Option<FlowGauges> {
        match self {
            Self::Own(sender) => sender.gauges().map(FlowGauges::from),
            Self::External(sender) => Some(FlowGauges::from(&sender.connection.state())),
        }
    }

    /// Returns the counters of a sender whose receiver has got `received` bytes.
    pub(crate) fn flow_end(&self, received: u64) -> FlowEnd {
        match self {
            Self::Own(sender) => FlowEnd::of_datagrams(sender, received),
            Self::External(sender) => FlowEnd::of_external(&sender.connection.state(), received),
        }
    }

    /// Returns the stream position up to which data was read in order. Zero for agents without a stream.
    pub(crate) fn in_order(&self) -> u64 {
        match self {
            Self::Own(_) => 0,
            Self::External(external) => external.connection.in_order(),
        }
    }
}

impl ExternalAgent {
    pub(crate) fn new(connection: Box<dyn ExternalConnection>, ecn: bool) -> Self {
        Self { connection, sent: 0, ecn, payload: Vec::new() }
    }

    /// Data are always sent for the first time: QUIC repeats them in packets of new numbers (RFC 9002 §3).
    fn write_packet(&mut self, now: Instant, packet: &mut Packet) -> Option<Written> {
        let ExternalDatagram { payload, ecn, is_data } = self.connection.poll_transmit(now)?;
        // quinn always asks for ECN. Its ECN validation then finds that the path does not support it (RFC 9000
        // §13.4.2).
        let ecn = if self.ecn { ecn } else { Ecn::NotCapable };
        packet.content = Content::Datagram(Datagram { len: payload.len() as u16, ecn, ..Datagram::default() });
        self.payload = payload;
        let number = self.sent;
        self.sent += u64::from(is_data);
        Some((is_data.then_some(number), false))
    }
}
