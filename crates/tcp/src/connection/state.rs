//! The connection's state: handshake states, then one state for the transfer with a side each.

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TcpState {
    Listen,
    SynSent,
    SynReceived,
    Transfer(Sides),
    TimeWait,
    Closed,
}

/// The transfer state: how far each direction is closed, and which side closed first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) send: SendSide,
    pub(crate) receive: ReceiveSide,
    pub(crate) first: FirstToClose,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SendSide {
    #[default]
    Open,
    FinQueued,
    FinAcked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReceiveSide {
    #[default]
    Open,
    FinReceived,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FirstToClose {
    #[default]
    Nobody,
    Us,
    Peer,
}

/// The state's name in RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the RFC's")]
pub enum RfcState {
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
    Closed,
}

impl TcpState {
    /// Returns whether neither side has begun to close.
    #[inline]
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Transfer(Sides { send: SendSide::Open, receive: ReceiveSide::Open, .. }))
    }

    /// Returns the state's name in RFC 9293.
    pub(crate) fn rfc(self) -> RfcState {
        match self {
            Self::Listen => RfcState::Listen,
            Self::SynSent => RfcState::SynSent,
            Self::SynReceived => RfcState::SynReceived,
            Self::Transfer(sides) => sides.rfc(),
            Self::TimeWait => RfcState::TimeWait,
            Self::Closed => RfcState::Closed,
        }
    }
}

impl Sides {
    fn rfc(self) -> RfcState {
        match (self.send, self.receive) {
            (SendSide::Open, ReceiveSide::Open) => RfcState::Established,
            (SendSide::Open, ReceiveSide::FinReceived) => RfcState::CloseWait,
            (SendSide::FinQueued, ReceiveSide::Open) => RfcState::FinWait1,
            (SendSide::FinAcked, ReceiveSide::Open) => RfcState::FinWait2,
            (SendSide::FinQueued, ReceiveSide::FinReceived) if self.first == FirstToClose::Us => RfcState::Closing,
            (SendSide::FinQueued, ReceiveSide::FinReceived) => RfcState::LastAck,
            (SendSide::FinAcked, ReceiveSide::FinReceived) => RfcState::TimeWait,
        }
    }
}
