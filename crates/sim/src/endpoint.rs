//! One end of a connection or of a flow of datagrams.

use crate::agent::Agent;
use crate::external_stack::ExternalStack;
use crate::ids::{FlowId, GroupId, RouteId};
use crate::observer::Observer;
use crate::packet::{Content, Packet};
use crate::timestamp::Timestamp;
use crate::unit_io::UnitIo;
use earlybird_datagram as datagram;
use earlybird_tcp::Config;
use earlybird_traffic::{ReceiverId, SenderId};
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Datagram, Flags, Segment};

/// The header size that links count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderSize {
    /// ns-2: 40 bytes, and 8 for each SACK block; none around datagrams with payload.
    Ns2,
    /// ns-2's Vegas, which adds none to payload and opens with a packet of full size; else as ns-2.
    Ns2Vegas,
    /// IPv4, and TCP with its options as sent or UDP.
    Real,
}

impl HeaderSize {
    /// Returns the size of a packet with this segment in bytes.
    #[inline]
    pub const fn packet_bytes(self, segment: &Segment) -> u32 {
        let options = match self {
            Self::Ns2Vegas => return Self::vegas_bytes(segment),
            // ns-2 counts 8 bytes per SACK block, and no other options.
            Self::Ns2 => 8 * segment.options.sack.len(),
            Self::Real => segment.options.wire_len(),
        };
        40 + segment.len as u32 + options as u32
    }

    const fn vegas_bytes(segment: &Segment) -> u32 {
        match segment.options.mss {
            // ns-2's Vegas sends a full-sized packet instead of a SYN.
            Some(mss) if !segment.flags.contains(Flags::ACK) => mss.get() as u32,
            _ if segment.len > 0 => segment.len as u32,
            _ => Self::Ns2.packet_bytes(segment),
        }
    }

    /// Returns the size of a packet with this datagram in bytes.
    pub const fn datagram_bytes(self, datagram: &Datagram) -> u32 {
        let headers = match self {
            // ns-2's `Agent/UDP` and `Agent/TFRC` take their packet size for everything.
            Self::Ns2 | Self::Ns2Vegas if datagram.len > 0 => 0,
            Self::Ns2 | Self::Ns2Vegas => 40,
            Self::Real => 20 + datagram.header_len(),
        };
        datagram.len as u32 + headers as u32
    }

    #[inline]
    pub(crate) const fn bytes_of(self, content: &Content) -> u32 {
        match content {
            Content::Segment(segment) => self.packet_bytes(segment),
            Content::Datagram(datagram) => self.datagram_bytes(datagram),
        }
    }
}

/// Settings of a flow of TCP connections.
#[derive(Clone, Copy, Debug)]
pub struct EndpointSettings {
    /// The end that opens and sends data.
    pub opener: Config,
    /// The other end.
    pub listener: Config,
    /// The header size that links count.
    pub headers: HeaderSize,
    /// Whether connections end with a FIN in each direction. ns-2's one-way agents just stop.
    pub closes_with_fin: bool,
}

/// Settings of a flow of datagrams.
#[derive(Clone, Copy, Debug)]
pub struct DatagramSettings {
    /// Its endpoints.
    pub config: datagram::Config,
    /// The header size that links count.
    pub headers: HeaderSize,
}

/// Settings of a flow over an external stack. Its links count the headers of IPv4 and UDP.
#[derive(Clone, Copy, Debug)]
pub struct ExternalSettings {
    /// Makes its connections.
    pub stack: &'static dyn ExternalStack,
    /// The largest payload of a datagram that it sends, in bytes.
    pub mss: u16,
    /// Whether queues may mark its packets; else they leave as if the stack could not do with marks, which it finds out.
    pub ecn: bool,
}

/// The transport of a flow.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few of them")]
pub enum Carrier {
    /// TCP connections.
    Tcp(EndpointSettings),
    /// Datagrams.
    Datagrams(DatagramSettings),
    /// Connections of a stack from outside.
    External(ExternalSettings),
}

impl Carrier {
    /// Returns the largest payload of a segment or datagram in bytes.
    pub const fn mss(&self) -> u16 {
        match self {
            Self::Tcp(settings) => settings.opener.segments.mss,
            Self::Datagrams(settings) => settings.config.mss,
            Self::External(settings) => settings.mss,
        }
    }
}

impl From<EndpointSettings> for Carrier {
    fn from(settings: EndpointSettings) -> Self {
        Self::Tcp(settings)
    }
}

/// The reader of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// No application: data is read as soon as it is in order, and only its amount is counted.
    Discard,
    /// No application: reads units, always waits, and skips all that the transport lets it skip.
    Skipping,
    /// An application.
    Receiver(ReceiverId),
    /// The sender application, which reads the requests of this receiver.
    Requests(ReceiverId),
}

/// One end of a connection, attached to the network.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) agent: Agent,
    pub(crate) flow: FlowId,
    pub(crate) group: GroupId,
    pub(crate) sender: SenderId,
    pub(crate) route: RouteId,
    pub(crate) generation: u32,
    pub(crate) headers: HeaderSize,
    /// The earliest timer event in the queue for this endpoint.
    pub(crate) armed: Instant,
    /// The agent's deadline, and the time at which it was set, which orders it among simultaneous events.
    pub(crate) deadline: Instant,
    pub(crate) deadline_set: Timestamp,
    /// Propagation time of the link that brings packets here.
    pub(crate) last_link_delay: Duration,
    pub(crate) is_in_use: bool,
    pub(crate) reader: Reader,
    /// Whether data is read without a call to an application or observer.
    pub(crate) auto_read: bool,
    /// Bytes written for which the send buffer had no room.
    pub(crate) unwritten: u64,
    /// The units written here, if the peer's reader asks for them.
    pub(crate) unit_io: Option<Box<UnitIo>>,
}

/// The largest payload of a `DATA` frame of HTTP/2 (RFC 9113 §6.5.2, the initial value of `SETTINGS_MAX_FRAME_SIZE`).
const FRAME: u64 = 16_384;

impl Endpoint {
    /// Writes frame by frame until the send buffer takes no more, so that a limit of unsent bytes is exceeded by less than a frame.
    pub(crate) fn write_in_frames(&mut self) {
        while self.unwritten > 0 {
            let frame = self.unwritten.min(FRAME);
            let rest = self.agent.write(frame);
            self.unwritten -= frame - rest;
            if rest > 0 {
                break;
            }
        }
    }

    /// Reports the state of a TCP connection to the observer.
    pub(crate) fn report_state<O: Observer>(&self, at: Instant, arrived: Option<&Packet>, observer: &mut O) {
        if let Agent::Tcp(connection) = &self.agent {
            observer.on_state(at, self.flow, arrived, connection);
        }
    }
}
