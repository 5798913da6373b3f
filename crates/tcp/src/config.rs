//! What a connection is made of: its parameters and its choice of policies.

use crate::ecn::EcnMode;
use crate::policy::acking::Acking;
use crate::policy::control::CongestionControl;
use crate::policy::control::bbr::{Bbr, BbrParameters};
use crate::policy::control::cubic::CubicConfig;
use crate::policy::control::pert::{self, Pert, PertFlags};
use crate::policy::control::prague::{Prague, PragueParameters};
use crate::policy::control::reno::{Halved, Reno};
use crate::policy::control::tahoe::Tahoe;
use crate::policy::control::tolerant::{Tolerant, TolerantParameters};
use crate::policy::control::vegas::{Vegas, VegasParameters};
use crate::policy::recovery::counting::Rules;
use crate::policy::recovery::newreno::{NewReno, NewRenoFlags};
use crate::policy::recovery::rack::{Rack, RackConfig};
use crate::policy::recovery::rfc6675::Rfc6675;
use crate::policy::recovery::sack1::Sack1;
use crate::policy::recovery::{LossRecovery, reno, tahoe, vegas};
use crate::policy::reduction::WindowReduction;
use crate::policy::rto::{CoarseEstimator, Rfc6298Estimator, RtoEstimator};
use crate::policy::spurious::{SpuriousDetection, Undo};
use crate::policy::trigger::{AgeReference, EarlyRetransmission, FewOutstanding, LossTrigger, ThreeDuplicates};
use crate::real_time::RealTime;
use alloc::boxed::Box;
use earlybird_units::{Duration, SeedTree};

/// Parameters and policies of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Largest payload of a segment in bytes.
    pub mss: u16,
    /// Largest window in segments: of this sender, and offered to the peer's.
    pub window: u32,
    /// Window after the handshake in segments.
    pub initial_window: u32,
    /// Whether the slow-start threshold begins at the largest window (ns-2) or without bound (RFC 5681 §3.1).
    pub bounded_ssthresh: bool,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// ns-2's Sack1 sends no new data outside recovery while it knows of a hole.
    pub holds_new_data: bool,
    /// Halve without rounding down to whole segments.
    pub precise_halving: bool,
    /// Use timestamps (RFC 7323).
    pub timestamps: bool,
    /// The most SACK blocks in an ACK.
    pub sack_blocks: usize,
    /// Tell in the first block what arrived twice (DSACK, RFC 2883).
    pub duplicate_sack: bool,
    /// Whether queues may mark segments in place of dropping them.
    pub ecn: EcnMode,
    /// When to acknowledge.
    pub acking: Acking,
    /// How much may be in flight.
    pub control: Control,
    /// How losses are repaired. A scheme that needs SACK gives way to `NewReno` where the peer has none.
    pub recovery: Recovery,
    /// Segments leave at a rate, not in bursts: the control's, or one that spreads the window over the round trip.
    pub paces: bool,
    /// Whose rules the schemes without SACK follow.
    pub rules: Rules,
    /// How the window falls while losses are repaired (not with [`Recovery::Sack1`], which has its own estimate).
    pub window_reduction: WindowReduction,
    /// How needless retransmissions are found out (not with [`Recovery::Sack1`]).
    pub spurious: SpuriousDetection,
    /// Parameters of RACK-TLP.
    pub rack: RackConfig,
    /// Which duplicate ACK means loss.
    pub trigger: Trigger,
    /// The retransmission timer.
    pub rto: RtoConfig,
    /// What restarts the retransmission timer beside progress.
    pub restart: Restart,
    /// The timer runs on when nothing is outstanding and closes the window to one segment (ns-2's
    /// `slow_start_restart_`).
    pub keeps_idle_timer: bool,
    /// The policies for frames that are worthless when late.
    pub real_time: RealTime,
}

/// How much may be in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// Slow start, congestion avoidance, halving.
    Reno,
    /// Probabilistic early response.
    Pert(PertFlags),
    /// BBR version 3.
    Bbr(BbrParameters),
    /// Slow start, congestion avoidance; one segment after every loss.
    Tahoe,
    /// A cubic function of the time since the last loss.
    Cubic(CubicConfig),
    /// Vegas: as many segments in the queue as its thresholds say.
    Vegas(VegasParameters),
    /// Prague: by the share of marks. Without [`EcnMode::Accurate`] it is Reno with pacing.
    Prague(PragueParameters),
    /// Reno's window, which tells congestion from noise by delay.
    Tolerant(TolerantParameters),
}

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// ns-2's Sack1.
    Sack1,
    /// RFC 6675.
    Rfc6675,
    /// RACK-TLP, RFC 8985; `NewReno` if the peer knows no SACK.
    Rack,
    /// A fast retransmit, then slow start.
    Tahoe,
    /// Fast recovery, to the first ACK that goes forward.
    Reno {
        /// Any run of three duplicates begins a recovery, even within a window that was already reduced (ns-2's
        /// `bugFix_ 0`).
        second_fast_retransmit: bool,
    },
    /// Fast recovery, until everything sent before it is acknowledged.
    NewReno(NewRenoFlags),
    /// Vegas' fine timer; goes with that control only.
    Vegas,
}

/// Which duplicate ACK means loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The third.
    ThreeDuplicates,
    /// The third, or an earlier one that comes late.
    EarlyRetransmission(AgeReference),
    /// The third, or fewer where fewer are outstanding and nothing new can be sent (Early Retransmit, RFC 5827).
    FewOutstanding,
}

/// What restarts the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Progress alone (RFC 6298 §5).
    Progress,
    /// Duplicate ACKs outside recovery too (fine-grained RTO study).
    Duplicates,
    /// Whatever tells that something arrived, in recovery too: running out means silence. Goes with a recovery that finds the
    /// loss of a retransmission by itself.
    Arrivals,
}

/// Parameters of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Clock tick.
    pub tick: Duration,
    /// Smallest timeout, before back-off.
    pub floor: Duration,
    /// Largest timeout, after back-off.
    pub ceiling: Duration,
    /// Timeout before the first sample.
    pub initial: Duration,
    /// Round-trip times count in whole ticks (ns-2) instead of exactly (RFC 6298).
    pub is_coarse: bool,
    /// Where the coarse clock stands at time zero; drawn at random within a tick if left open, as ns-2 does.
    pub clock_phase: Option<Duration>,
}

/// The timer is never less than so much above the round trip: a few packets of sound may be missing in a row.
const EARLYBIRD_RTO_MARGIN: Duration = Duration::from_millis(30);

impl Config {
    /// Gives ns-2.35's defaults as the papers used them: 1000-byte segments, SACK, an ACK for every segment.
    pub fn ns2() -> Self {
        Self {
            mss: 1000,
            window: 64,
            initial_window: 2,
            bounded_ssthresh: true,
            limited_transmit: true,
            holds_new_data: true,
            precise_halving: true,
            timestamps: false,
            sack_blocks: 3,
            duplicate_sack: false,
            ecn: EcnMode::Off,
            acking: Acking::EverySegment,
            control: Control::Reno,
            recovery: Recovery::Sack1,
            paces: false,
            rules: Rules::Ns2,
            window_reduction: WindowReduction::Immediate,
            spurious: SpuriousDetection { forward_rto: false, undo: Undo::None },
            rack: RackConfig::RFC,
            trigger: Trigger::ThreeDuplicates,
            rto: RtoConfig::NS2,
            restart: Restart::Progress,
            keeps_idle_timer: true,
            real_time: RealTime::default(),
        }
    }

    /// Gives current standards: RFC 5681, 6298, 6675, 3042, 7323, initial window of RFC 3390.
    pub fn rfc() -> Self {
        Self {
            // RFC 3390: min(4·MSS, max(2·MSS, 4380 B)) with 1000-byte segments.
            initial_window: 4,
            bounded_ssthresh: false,
            timestamps: true,
            duplicate_sack: true,
            recovery: Recovery::Rfc6675,
            rules: Rules::Rfc,
            rto: RtoConfig::RFC,
            keeps_idle_timer: false,
            ..Self::ns2()
        }
    }

    /// Gives our own real-time transport, for frames that must be there `deadline` after they were written.
    ///
    /// Losses are found by RACK-TLP, without waiting for reordering that was never seen; the window falls by proportional
    /// rate reduction, if delay says that the loss was congestion; the timer means silence, not slowness: it is fine-grained,
    /// restarts while anything arrives, and F-RTO takes it back. docs/real-time-mode.md has the reasons.
    pub fn earlybird_rt(deadline: Duration) -> Self {
        Self {
            // RFC 6928.
            initial_window: 10,
            control: Control::Tolerant(TolerantParameters::DEFAULT),
            recovery: Recovery::Rack,
            rack: RackConfig { expects_reordering: false, ..RackConfig::RFC },
            window_reduction: WindowReduction::Proportional,
            spurious: SpuriousDetection { forward_rto: true, undo: Undo::None },
            rto: RtoConfig { tick: EARLYBIRD_RTO_MARGIN, floor: EARLYBIRD_RTO_MARGIN, ..RtoConfig::RFC },
            restart: Restart::Arrivals,
            real_time: RealTime::earlybird_rt(deadline),
            ..Self::rfc()
        }
    }

    pub(crate) fn estimator(&self, seeds: SeedTree) -> Box<dyn RtoEstimator> {
        if !self.rto.is_coarse {
            return Box::new(Rfc6298Estimator::new(self.rto.tick));
        }
        let mut random = seeds.child("clock").random();
        let phase = self.rto.clock_phase.unwrap_or_else(|| random.duration_between(Duration::ZERO, self.rto.tick));
        Box::new(CoarseEstimator::new(self.rto.tick, phase))
    }

    pub(crate) fn control(&self, seeds: SeedTree) -> Box<dyn CongestionControl> {
        let ssthresh = if self.bounded_ssthresh { f64::from(self.window) } else { f64::INFINITY };
        match self.control {
            Control::Reno => Box::new(Reno::new(self.window, ssthresh, self.halved())),
            Control::Vegas(parameters) => {
                let window = Reno::new(self.window, ssthresh, self.halved());
                let is_agent = self.recovery == Recovery::Vegas;
                Box::new(Vegas::new(window, parameters, is_agent, f64::from(self.initial_window)))
            }
            Control::Prague(parameters) => {
                Box::new(Prague::new(Reno::new(self.window, ssthresh, self.halved()), parameters))
            }
            Control::Tolerant(parameters) => {
                Box::new(Tolerant::new(Reno::new(self.window, ssthresh, self.halved()), parameters))
            }
            Control::Tahoe => Box::new(Tahoe::new(Reno::new(self.window, ssthresh, self.halved()))),
            Control::Pert(flags) => {
                let window = pert::window(self.window, ssthresh);
                Box::new(Pert::new(window, flags, seeds.child("pert").random()))
            }
            Control::Bbr(parameters) => Box::new(Bbr::new(parameters, seeds.child("bbr").random())),
            Control::Cubic(cubic) => cubic.control(self.window, ssthresh, self.halved() == Halved::Flight),
        }
    }

    fn halved(&self) -> Halved {
        let halves_flight = match self.recovery {
            Recovery::Sack1 | Recovery::Vegas => false,
            Recovery::Rfc6675 | Recovery::Rack => true,
            Recovery::Tahoe | Recovery::Reno { .. } | Recovery::NewReno(_) => self.rules == Rules::Rfc,
        };
        match (halves_flight, self.precise_halving) {
            (true, _) => Halved::Flight,
            (false, true) => Halved::Window,
            (false, false) => Halved::WholeWindow,
        }
    }

    pub(crate) fn recovery(&self) -> Box<dyn LossRecovery> {
        match self.recovery {
            Recovery::Sack1 => Box::new(Sack1::new(self.limited_transmit, self.holds_new_data)),
            Recovery::Rack => Box::new(Rack::new(self.rack, self.limited_transmit)),
            Recovery::Rfc6675 => Box::new(Rfc6675::new(self.limited_transmit)),
            Recovery::Tahoe => Box::new(tahoe::Tahoe::new(self.limited_transmit)),
            Recovery::Reno { second_fast_retransmit } => {
                Box::new(reno::Reno::new(self.rules, self.limited_transmit, second_fast_retransmit))
            }
            Recovery::Vegas => Box::new(vegas::Vegas::new(self.window)),
            Recovery::NewReno(flags) => Box::new(NewReno::new(self.rules, flags, self.limited_transmit)),
        }
    }

    /// Gives the scheme for a peer without SACK.
    pub(crate) fn recovery_without_sack(&self) -> Box<dyn LossRecovery> {
        Box::new(NewReno::new(self.rules, NewRenoFlags::default(), self.limited_transmit))
    }

    pub(crate) fn trigger(&self) -> Box<dyn LossTrigger> {
        match self.trigger {
            Trigger::FewOutstanding => Box::new(FewOutstanding),
            Trigger::ThreeDuplicates => Box::new(ThreeDuplicates),
            Trigger::EarlyRetransmission(reference) => Box::new(EarlyRetransmission::new(reference)),
        }
    }
}

impl RtoConfig {
    /// ns-2.35: 10 ms ticks, 0.2 s floor, 60 s ceiling, 3 s before the first sample.
    pub const NS2: Self = Self {
        tick: Duration::from_millis(10),
        floor: Duration::from_millis(200),
        ceiling: Duration::from_secs(60),
        initial: Duration::from_secs(3),
        is_coarse: true,
        clock_phase: None,
    };
    /// RFC 6298: 1 ms clock, 1 s floor (2.4), 60 s ceiling (2.5), 1 s before the first sample (2.1).
    pub const RFC: Self = Self {
        tick: Duration::from_millis(1),
        floor: Duration::from_secs(1),
        ceiling: Duration::from_secs(60),
        initial: Duration::from_secs(1),
        is_coarse: false,
        clock_phase: None,
    };

    /// Makes the timer fine-grained: 1 ms tick and floor (ER-PERT paper).
    #[must_use]
    pub const fn fine_grained(self) -> Self {
        Self { tick: Duration::from_millis(1), floor: Duration::from_millis(1), ..self }
    }
}
