//! The states and what each does to rate and window (draft-ietf-ccwg-bbr, "Summary of Control Behavior in the State
//! Machine").

/// What BBR is doing; in series a number from 0 on, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Doubles the rate every round trip until the pipe is full.
    Startup,
    /// Lets the queue of startup run empty.
    Drain,
    /// `ProbeBW_DOWN`: sends more slowly than the path delivers, to leave room.
    Down,
    /// `ProbeBW_CRUISE`: sends as fast as the path delivers.
    Cruise,
    /// `ProbeBW_REFILL`: fills the pipe for one round trip, before it probes for more.
    Refill,
    /// `ProbeBW_UP`: sends faster than the path delivers, to see if it can do more.
    Up,
    /// Empties the pipe by half, to see the round trip without a queue.
    ProbeRtt,
}

/// 4·ln 2: the smallest gain with which the rate doubles each round trip.
const STARTUP_PACING_GAIN: f64 = 2.77;
const DEFAULT_CWND_GAIN: f64 = 2.0;

impl State {
    /// Returns `BBR.pacing_gain`.
    pub(super) const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_PACING_GAIN,
            Self::Drain => 0.5,
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
