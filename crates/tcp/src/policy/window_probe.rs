//! What asks a closed window whether it is open by now.

/// What a sender asks a receiver with whose window is closed (RFC 9293 §3.8.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowProbe {
    /// The next byte of the stream, which the receiver may take; a whole frame where one write is one segment.
    #[default]
    NextByte,
    /// An empty segment with a number that was acknowledged, which must be answered (RFC 9293 §3.10.7.4). So does Linux.
    Empty,
}
