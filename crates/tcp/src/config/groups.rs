//! The groups of [`Config`](super::Config).

use crate::policy::acking::Acking;
use crate::policy::buffer::ReceiveBuffer;
use crate::policy::dupthresh::Dupthresh;
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::policy::recovery::rack::RackConfig;
use crate::policy::reduction::WindowReduction;
use crate::policy::rto::{RtoConfig, RtoRestart};
use crate::policy::segmentation::{IpVersion, Segmentation};
use crate::policy::spurious::SpuriousDetection;
use crate::policy::window_probe::WindowProbe;
use earlybird_units::Duration;

/// Segments: their size, the division of the stream, when short ones are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentConfig {
    /// Largest segment in bytes: of the payload alone, or with its options, depending on [`Self::segmentation`].
    pub mss: u16,
    /// The rule that divides the stream into segments.
    pub segmentation: Segmentation,
    /// The IP version that carries the segments.
    pub ip: IpVersion,
    /// Whether a short segment waits while another one is outstanding (RFC 9293 §3.7.4, Minshall's variant).
    pub nagle: bool,
    /// Whether segments become smaller that time out repeatedly: the path may drop what exceeds its MTU without an ICMP message
    /// (RFC 2923 §2.1, RFC 4821 §4).
    pub pmtu_black_hole_detection: bool,
}

/// Send and receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferConfig {
    /// The most bytes that are written and not acknowledged. `None`: without bound.
    pub send: Option<u64>,
    /// The number of bytes not yet sent above which nothing more is taken from the application (Linux: `TCP_NOTSENT_LOWAT`).
    pub unsent_limit: Option<u64>,
    /// The receive buffer, which is the window that the peer is offered.
    pub receive: ReceiveBuffer,
}

/// Size and arithmetic of the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowConfig {
    /// Largest congestion window in segments.
    pub max: u32,
    /// Congestion window after the handshake in segments.
    pub initial: u32,
    /// The slow-start threshold after the handshake.
    pub initial_ssthresh: InitialSsthresh,
    /// Whether ns-2's senders halve the window without rounding it down to whole segments.
    pub precise_halving: bool,
    /// Whether Reno's window is of whole segments, as in Linux: ACKs are counted until they are a window (`tcp_cong_avoid_ai`), and a
    /// loss halves the window, used or not (`tcp_reno_ssthresh`), where RFC 5681's equation 4 halves the flight.
    pub integer_cwnd: bool,
}

/// The slow-start threshold of a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialSsthresh {
    /// The largest window (ns-2).
    MaxWindow,
    /// Without bound (RFC 5681 §3.1: "arbitrarily high").
    Unbounded,
}

/// Growth of the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrowthConfig {
    /// Whether the window grows only as far as it is used (RFC 7661); ns-2's grows with every ACK.
    pub cwnd_validation: bool,
    /// Whether ACKs grow the window by the segments that they acknowledge (RFC 3465, without a limit as in Linux), not by one each.
    pub byte_counting: bool,
    /// Whether the window decays while nothing is sent, by half for each RTO, down to the initial one (RFC 5681 §4.1, Linux:
    /// `tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
}

/// Timestamps (RFC 7323).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimestampConfig {
    /// Whether timestamps are used.
    pub enabled: bool,
    /// Whether a segment without one is dropped where both sides agreed on timestamps (RFC 7323 §3.2); Linux takes it.
    pub required: bool,
    /// Whether a SYN-ACK is refused that echoes a timestamp that was not sent. Linux does so; RFC 7323 does not ask for it.
    pub validate_tsecr: bool,
}

/// Acknowledgements that this side sends.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AckConfig {
    /// The acknowledgement policy.
    pub policy: Acking,
    /// The most SACK blocks in an ACK; 0: SACK is off.
    pub sack_blocks: usize,
    /// Whether duplicates are reported.
    pub dsack: Dsack,
    /// The shortest time between two challenge ACKs (RFC 5961); zero: no limit.
    pub challenge_interval: Duration,
}

/// Which duplicates the first SACK block reports (RFC 2883).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dsack {
    /// None.
    #[default]
    Off,
    /// Data that arrives twice.
    Data,
    /// Data, and a SYN that arrives twice because both sides opened at once, as in Linux; RFC 2883 §4 speaks of data.
    DataAndSyn,
}

/// Detection and repair of losses.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecoveryConfig {
    /// The scheme of recovery. A scheme that needs SACK is replaced by `NewReno` if the peer has none.
    pub scheme: Recovery,
    /// Whose rules the schemes without SACK follow.
    pub rules: RecoveryRules,
    /// Whether the first two duplicate ACKs send new data (RFC 3042).
    pub limited_transmit: bool,
    /// Whether [`Recovery::Sack1`] sends no new data outside recovery while it knows of a hole, as in ns-2.
    pub sack1_hold_new_data: bool,
    /// The reduction of the window during recovery (not with [`Recovery::Sack1`], which has its own estimate).
    pub window_reduction: WindowReduction,
    /// The detection of spurious retransmissions (not with [`Recovery::Sack1`]).
    pub spurious: SpuriousDetection,
    /// Parameters of RACK-TLP.
    pub rack: RackConfig,
    /// Which duplicate ACK means loss.
    pub dupthresh: Dupthresh,
}

/// Retransmission timer and window probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimerConfig {
    /// The retransmission timeout.
    pub rto: RtoConfig,
    /// Events that restart the retransmission timer beside ACKs of new data.
    pub restart: RtoRestart,
    /// The retransmission timer while nothing is outstanding.
    pub idle: IdleRto,
    /// The segment that probes a closed window.
    pub window_probe: WindowProbe,
}

/// The state of the retransmission timer when nothing is outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRto {
    /// It is stopped (RFC 6298 §5.2). A closed window is probed by the persist timer.
    Stop,
    /// It keeps running, and closes the window to one segment when it expires (ns-2: `slow_start_restart_`). It also probes a closed
    /// window.
    Keep,
}
