//! Probes of a closed window.

/// The segment that probes a closed window (RFC 9293 §3.8.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowProbe {
    /// The next byte of the stream, which the receiver may accept; with framing a whole frame.
    #[default]
    NextByte,
    /// An empty segment with an old sequence number, which must be answered (RFC 9293 §3.10.7.4), as in Linux.
    Empty,
}
