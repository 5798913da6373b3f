//! The states and their gains (draft-ietf-ccwg-bbr, "Summary of Control Behavior in the State Machine").

/// The state of BBR; in time series a number from 0, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Doubles the rate per RTT until the pipe is full.
    Startup,
    /// Drains the queue of Startup.
    Drain,
    /// `ProbeBW_DOWN`: sends below the bandwidth, to drain the queue and leave headroom.
    Down,
    /// `ProbeBW_CRUISE`: sends at the bandwidth.
    Cruise,
    /// `ProbeBW_REFILL`: fills the pipe for one RTT before the probe.
    Refill,
    /// `ProbeBW_UP`: sends above the bandwidth, to probe for more.
    Up,
    /// `ProbeRTT`: halves the flight, to measure the RTT without a queue.
    ProbeRtt,
}

/// `BBR.StartupPacingGain`, 4·ln 2: the smallest gain that doubles the rate per RTT.
const STARTUP_PACING_GAIN: f64 = 2.77;
/// `BBR.DefaultCwndGain`: the smallest gain of the window that does.
const DEFAULT_CWND_GAIN: f64 = 2.0;

impl State {
    /// Returns `BBR.pacing_gain`.
    pub(super) const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_PACING_GAIN,
            // `BBR.DrainPacingGain`: the inverse of the window's gain in Startup drains in one RTT what that has queued.
            Self::Drain => 0.5,
            // "ProbeBW_DOWN": slow enough to drain the queue of the probe, fast enough to keep the share.
            Self::Down => 0.9,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
            Self::Up => 1.25,
        }
    }

    /// Returns `BBR.cwnd_gain`.
    pub(super) const fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => 2.25,
            Self::ProbeRtt => 0.5,
            _ => DEFAULT_CWND_GAIN,
        }
    }

    /// `IsInAProbeBWState`.
    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`.
    pub(super) const fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}
