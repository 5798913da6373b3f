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
    /// The header of the transport above UDP.
    pub header: DatagramHeader,
}

/// The header of a transport above UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DatagramHeader {
    /// Nothing.
    #[default]
    Plain,
    /// TFRC, from the sender.
    TfrcData(TfrcData),
    /// TFRC, from the receiver.
    TfrcFeedback(TfrcFeedback),
    /// SRT, from the sender.
    SrtData(SrtData),
    /// SRT, from the receiver: an ACK.
    SrtAck(SrtAck),
    /// SRT, from the sender: the number of an ACK that arrived.
    SrtAckAck(u32),
    /// SRT, from the receiver: a loss report.
    SrtNak(SrtNak),
}

/// The fields that a TFRC sender adds to every datagram (RFC 5348 §3.2.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcData {
    /// Number of the datagram, from 0.
    pub sequence: u64,
    /// The time of its transmission.
    pub sent: Instant,
    /// The sender's estimate of the round-trip time, if it has one.
    pub rtt: Option<Duration>,
}

/// The feedback of a TFRC receiver (RFC 5348 §3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcFeedback {
    /// The transmission time of the last datagram that arrived (`t_recvdata`).
    pub echo: Instant,
    /// Time between its arrival and this report (`t_delay`).
    pub delay: Duration,
    /// Rate at which payload arrived, in bytes per second (`X_recv`).
    pub received_rate: f64,
    /// Loss events per datagram (`p`).
    pub loss_event_rate: f64,
}

/// The fields that an SRT sender adds to every packet (draft-sharabayko-srt-01 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrtData {
    /// Number of the packet, from 0.
    pub sequence: u32,
    /// The time at which it was written.
    pub written: Instant,
    /// Whether it was sent before.
    pub is_retransmission: bool,
}

/// The acknowledgement of an SRT receiver (§3.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrtAck {
    /// Number of the ACK, from 1.
    pub number: u32,
    /// The first packet that has neither arrived nor been abandoned.
    pub next: u32,
    /// The receiver's estimate of the round-trip time.
    pub rtt: Duration,
    /// The variance of the round-trip time.
    pub variance: Duration,
}

/// Packets that an SRT receiver misses: `first` up to `last`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SrtLosses {
    /// The first of them.
    pub first: u32,
    /// The last of them, which may be the same.
    pub last: u32,
}

/// A loss report of an SRT receiver (§3.2.5): up to three ranges, in rising order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SrtNak {
    ranges: [Option<SrtLosses>; 3],
}

impl SrtNak {
    /// Returns a report of the first three ranges.
    pub fn new(losses: impl Iterator<Item = SrtLosses>) -> Self {
        let mut nak = Self::default();
        nak.ranges.iter_mut().zip(losses).for_each(|(place, losses)| *place = Some(losses));
        nak
    }

    /// Returns the ranges.
    pub fn losses(&self) -> impl DoubleEndedIterator<Item = SrtLosses> + use<> {
        self.ranges.into_iter().flatten()
    }

    /// Returns the length in bytes: a number takes four bytes, a range two numbers (appendix A).
    const fn len(&self) -> usize {
        let mut len = 0;
        let mut index = 0;
        // A loop with an index: iterators cannot be used in a constant function.
        while index < self.ranges.len() {
            if let Some(losses) = self.ranges[index] {
                len += if losses.first == losses.last { 4 } else { 8 };
            }
            index += 1;
        }
        len
    }
}

impl Datagram {
    /// Returns the bytes of headers between IP and the payload: UDP's (RFC 768), and what the transport above adds.
    pub const fn header_len(&self) -> usize {
        UDP_HEADER + self.header.len()
    }

    /// Returns the bytes behind UDP's header.
    pub const fn body_len(&self) -> usize {
        self.header.len() + self.len as usize
    }
}

/// Length of the UDP header in bytes (RFC 768).
pub(crate) const UDP_HEADER: usize = 8;
/// Length of the header of every SRT packet in bytes (draft-sharabayko-srt-01 §3).
const SRT_HEADER: usize = 16;

impl DatagramHeader {
    /// Returns the length in bytes. A TFRC field takes four bytes: RFC 5348 leaves the encoding open.
    const fn len(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::TfrcData(_) => 12,
            Self::TfrcFeedback(_) => 16,
            Self::SrtData(_) | Self::SrtAckAck(_) => SRT_HEADER,
            // A full ACK has seven fields.
            Self::SrtAck(_) => SRT_HEADER + 28,
            Self::SrtNak(nak) => SRT_HEADER + nak.len(),
        }
    }
}
