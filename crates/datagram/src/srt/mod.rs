//! SRT in live mode (draft-sharabayko-srt-01): lost packets are repaired as long as that is of use, and everything is
//! released a fixed time after it was written.
//!
//! The receiver reports a gap at once, and repeats the report at intervals; the sender sends retransmissions before
//! new packets. A packet that has not arrived when the next one is due is skipped; without one it is released when it arrives,
//! however late, as in Haivision's implementation. The sender drops packets that are older than the latency and a second.
//!
//! Assumptions and omissions:
//!
//! * The endpoints are connected from the start. The time base, which the handshake would give (§4.5.1.1), comes from the
//!   first packet that arrives. So does a latency in round trips: from the first round trip measured, for which the
//!   handshake would stand.
//! * Both clocks run alike: there is no drift to follow (§4.7).
//! * No encryption, no groups, no forward error correction, no light ACKs (they matter beyond 6,400 packets a second), no
//!   keep-alive, and no tolerance for reordering: a gap is a loss, which is the default of Haivision's implementation.
//! * A loss list of more than three ranges is sent in several packets.

mod acks;
mod buffer;
mod pace;
mod receiver;
mod round_trip;
mod sender;
mod window;

use earlybird_units::Duration;

pub use receiver::Receiver;
pub use sender::Sender;

/// Settings of a flow over SRT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The latency: a packet is released this long after its arrival on an empty path.
    pub latency: Latency,
    /// Share of the measured input rate that is left for repairs (draft: `OVERHEAD`, 25 % in Haivision's implementation);
    /// `None`: the sender is limited to 1 Gb/s, the draft's default, which is no limit to a live stream.
    pub overhead: Option<f64>,
}

/// The time that packets have for being repaired (§4.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Latency {
    /// A time of its own; 120 ms by default (§4.5.1).
    Fixed(Duration),
    /// So many round trips; the draft recommends three to four (§4.5.1).
    RoundTrips(f64),
    /// Whatever is left of this time from the writing after the way to the receiver: for a listener whose playback delay is
    /// known. A person would measure the path and subtract.
    FromWriting(Duration),
}

impl Parameters {
    /// The draft's defaults: 120 ms, and no limit to the rate.
    pub const DEFAULT: Self = Self { latency: Latency::Fixed(Duration::from_millis(120)), overhead: None };
}

impl Latency {
    /// Returns the latency over a path with this round-trip time.
    pub(crate) fn over(self, rtt: Duration) -> Duration {
        match self {
            Self::Fixed(latency) => latency,
            Self::RoundTrips(count) => rtt.mul_f64(count),
            Self::FromWriting(delay) => delay.saturating_sub(rtt / 2),
        }
    }
}

/// Packets that each side keeps at most: the default size of both buffers in Haivision's implementation
/// (`SRTO_SNDBUF`, `SRTO_RCVBUF`).
const CAPACITY: usize = 8192;
