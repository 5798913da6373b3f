//! The configuration of a connection: its parameters and its choice of policies, in groups.

mod build;
pub(crate) mod check;
mod effect;
pub(crate) mod groups;
mod profiles;
mod setters;

use crate::policy::control::Control;
use crate::policy::ecn::EcnMode;
use crate::policy::lifetimes::Lifetimes;
use crate::real_time::RealTime;
use groups::{
    AckConfig, BufferConfig, GrowthConfig, RecoveryConfig, SegmentConfig, TimerConfig, TimestampConfig, WindowConfig,
};

/// Parameters and policies of a connection.
///
/// A configuration starts from a profile; the `with_` methods change it. [`Self::check`] rejects incompatible policies.
///
/// ```
/// use earlybird_tcp::{Config, Control, CubicConfig};
///
/// let config = Config::rfc().with_mss(1400).with_control(Control::Cubic(CubicConfig::RFC9438));
/// assert_eq!((config.segments.mss, config.check()), (1400, Ok(())));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Segments: their size, the division of the stream, when short ones are sent.
    pub segments: SegmentConfig,
    /// Send and receive buffer.
    pub buffers: BufferConfig,
    /// Size and arithmetic of the congestion window.
    pub window: WindowConfig,
    /// Growth of the congestion window.
    pub growth: GrowthConfig,
    /// Congestion control.
    pub control: Control,
    /// Whether segments are paced: at the rate of the congestion control, or else at a window per RTT.
    pub pacing: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Timestamps (RFC 7323).
    pub timestamps: TimestampConfig,
    /// Acknowledgements that this side sends.
    pub acks: AckConfig,
    /// Detection and repair of losses.
    pub recovery: RecoveryConfig,
    /// Retransmission timer and window probes.
    pub timers: TimerConfig,
    /// The times after which a connection ends without its peer.
    pub lifetimes: Lifetimes,
    /// Real-time mode: the policies for frames with deadlines.
    pub real_time: RealTime,
}
