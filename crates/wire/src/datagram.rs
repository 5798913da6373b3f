use crate::Ecn;
use earlybird_units::{Duration, Instant};

/// A datagram without its payload: only the payload's length travels with it.
///
/// An application's unit – a frame, a packet of sound – goes in one datagram, or in several if it is larger than one may be.
/// Which part of which unit a datagram carries is the application's framing and counts as payload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Datagram {
    /// Number of the unit, from 0.
    pub unit: u32,
    /// Number of the part of the unit, from 0.
    pub part: u32,
    /// Number of parts of the unit; 0 if the datagram carries none.
    pub parts: u32,
    /// Payload bytes.
    pub len: u16,
    /// The ECN field of the packet that carries it.
    pub ecn: Ecn,
    /// What the transport above UDP adds.
    pub header: DatagramHeader,
}

/// What a transport above UDP adds to a datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DatagramHeader {
    /// Nothing.
    #[default]
    Plain,
    /// TFRC, from the sender.
    TfrcData(TfrcData),
    /// TFRC, from the receiver.
    TfrcFeedback(TfrcFeedback),
}

/// What a TFRC sender tells with every datagram (RFC 5348 §3.2.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcData {
    /// Number of the datagram, from 0.
    pub sequence: u64,
    /// When it was sent.
    pub sent: Instant,
    /// The sender's estimate of the round-trip time, if it has one.
    pub rtt: Option<Duration>,
}

/// What a TFRC receiver reports (RFC 5348 §3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcFeedback {
    /// When the last datagram that arrived had been sent (`t_recvdata`).
    pub echo: Instant,
    /// Time between its arrival and this report (`t_delay`).
    pub delay: Duration,
    /// Rate at which payload arrived, in bytes per second (`X_recv`).
    pub received_rate: f64,
    /// Loss events per datagram (`p`).
    pub loss_event_rate: f64,
}

impl Datagram {
    /// Gives the bytes of headers between IP and the payload: UDP's (RFC 768), and what the transport above adds.
    pub const fn header_len(&self) -> usize {
        UDP_HEADER + self.header.len()
    }

    /// Gives the bytes behind UDP's header.
    pub const fn body_len(&self) -> usize {
        self.header.len() + self.len as usize
    }
}

const UDP_HEADER: usize = 8;

impl DatagramHeader {
    /// Four bytes for each field: RFC 5348 leaves the encoding open.
    const fn len(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::TfrcData(_) => 12,
            Self::TfrcFeedback(_) => 16,
        }
    }
}
