use earlybird_wire::{Datagram, DatagramHeader};

/// A datagram to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmit {
    /// The datagram.
    pub datagram: Datagram,
    /// Number of the datagram among those of the sender; `None` for a report.
    pub number: Option<u64>,
    /// Whether its payload was sent before.
    pub is_retransmission: bool,
}

impl Transmit {
    /// Makes a datagram without payload.
    pub(crate) fn control(header: DatagramHeader) -> Self {
        Self { datagram: Datagram { header, ..Datagram::default() }, number: None, is_retransmission: false }
    }
}
