//! Which policies there are, and how each is made.

use super::control::bbr::BbrParameters;
use super::control::copa::CopaParameters;
use super::control::cubic::CubicConfig;
use super::control::factory::ControlFactory;
use super::control::pert::PertFlags;
use super::control::prague::PragueParameters;
use super::control::reno::{Halved, RenoRules};
use super::control::tahoe::TahoeRules;
use super::control::tolerant::TolerantParameters;
use super::control::vegas::VegasParameters;
use super::recovery::counting::Rules;
use super::recovery::newreno::{NewReno, NewRenoFlags};
use super::recovery::rack::{Rack, RackConfig};
use super::recovery::rfc6675::Rfc6675;
use super::recovery::sack1::Sack1;
use super::recovery::scheme::Scheme;
use super::recovery::{reno, tahoe, vegas};
use super::rto::{CoarseEstimator, Estimator, LinuxEstimator, Rfc6298Estimator};
use super::trigger::{AgeReference, EarlyRetransmission, LossTrigger};
use alloc::boxed::Box;
use core::any::Any;
use core::ops::Deref;
use earlybird_units::{Duration, SeedTree};

/// Writes [`Control`], one line for each control of this crate: those without parameters with the type that makes them, the
/// others with that of their parameters, which make them.
macro_rules! controls {
    (
        plain { $($(#[$plain_doc:meta])* $plain:ident: $rules:path,)* }
        with parameters { $($(#[$doc:meta])* $name:ident($parameters:ty),)* }
    ) => {
        /// How much may be in flight: a congestion control and its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Control {
            $($(#[$plain_doc])* $plain,)*
            $($(#[$doc])* $name($parameters),)*
            /// One from outside this crate.
            Custom(CustomControl),
        }

        impl Control {
            /// Returns what makes it.
            pub fn factory(&self) -> &dyn ControlFactory {
                match self {
                    $(Self::$plain => &$rules,)*
                    $(Self::$name(parameters) => parameters,)*
                    Self::Custom(custom) => &**custom,
                }
            }
        }
    };
}

controls! {
    plain {
        /// Slow start, congestion avoidance, halving.
        Reno: RenoRules,
        /// Slow start, congestion avoidance; one segment after every loss.
        Tahoe: TahoeRules,
    }
    with parameters {
        /// Probabilistic early response.
        Pert(PertFlags),
        /// BBR version 3.
        Bbr(BbrParameters),
        /// Copa: the rate 1/(δ·dq).
        Copa(CopaParameters),
        /// A cubic function of the time since the last loss.
        Cubic(CubicConfig),
        /// Vegas: as many segments in the queue as its thresholds say.
        Vegas(VegasParameters),
        /// Prague: by the share of marks. Without [`EcnMode::Accurate`] it is Reno with pacing.
        Prague(PragueParameters),
        /// Reno's window, which tells congestion from noise by delay.
        Tolerant(TolerantParameters),
    }
}

impl Control {
    /// Makes a choice of a control from outside this crate.
    pub const fn custom(factory: &'static dyn ControlFactory) -> Self {
        Self::Custom(CustomControl(factory))
    }
}

/// A congestion control from outside this crate. Two are equal if they are the same value in the same place.
#[derive(Clone, Copy, Debug)]
pub struct CustomControl(&'static dyn ControlFactory);

impl Deref for CustomControl {
    type Target = dyn ControlFactory;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for CustomControl {
    fn eq(&self, other: &Self) -> bool {
        // Values without fields may all stand in one place.
        Any::type_id(self.0) == Any::type_id(other.0) && core::ptr::addr_eq(self.0, other.0)
    }
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
    /// The third, or the first where fewer than four are outstanding and nothing new can be sent (Linux 2.6.34 to 4.10:
    /// `tcp_thin_dupack`, Documentation/networking/tcp-thin.txt).
    ThinStream,
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
    /// Beside progress the repair of the first missing segment, with a recovery that finds losses by time: when it leaves again
    /// (Linux: `tcp_xmit_retransmit_queue`), and while SACK tells of what had left before it (`tcp_clean_rtx_queue`).
    Repairs,
}

/// How the timeout follows from round-trip times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// In whole ticks of a clock (ns-2, 4.3BSD).
    Coarse,
    /// Exactly (RFC 6298).
    Rfc6298,
    /// As Linux does: a sample with each ACK, and a variation that falls once per round trip and has a floor.
    Linux,
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
    /// How the timeout follows from round-trip times.
    pub rule: RtoRule,
    /// Where the coarse clock stands at time zero; drawn at random within a tick if left open, as ns-2 does.
    pub clock_phase: Option<Duration>,
    /// A stream with less than four segments in flight, which three duplicate ACKs cannot repair, does not double its timeout
    /// the first six times (Linux: `tcp_thin_linear_timeouts`, Documentation/networking/tcp-thin.rst).
    pub linear_when_thin: bool,
}

/// Whether to take part in explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// No.
    #[default]
    Off,
    /// As RFC 3168 §6.1 has it: marks are echoed until the sender says that it reduced its window.
    Classic,
    /// With the more accurate feedback of RFC 9768, or as [`Self::Classic`] with a peer that does not know it.
    Accurate,
}

/// What a recovery is made from, beside parameters of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecoverySetup {
    /// Send new data on the first two duplicate ACKs.
    pub(crate) limited_transmit: bool,
    /// No new data outside recovery while a hole is known.
    pub(crate) holds_new_data: bool,
    /// Largest usable window in segments.
    pub(crate) largest_window: u32,
    /// Whose rules the schemes without SACK follow.
    pub(crate) rules: Rules,
    /// Parameters of RACK-TLP.
    pub(crate) rack: RackConfig,
}

impl Recovery {
    pub(crate) fn build(self, setup: &RecoverySetup) -> Scheme {
        let limited_transmit = setup.limited_transmit;
        match self {
            Self::Sack1 => Scheme::Sack1(Sack1::new(limited_transmit, setup.holds_new_data)),
            Self::Rack => Scheme::Rack(Box::new(Rack::new(setup.rack, limited_transmit))),
            Self::Rfc6675 => Scheme::Rfc6675(Rfc6675::new(limited_transmit)),
            Self::Tahoe => Scheme::other(tahoe::Tahoe::new(limited_transmit)),
            Self::Reno { second_fast_retransmit } => {
                Scheme::other(reno::Reno::new(setup.rules, limited_transmit, second_fast_retransmit))
            }
            Self::Vegas => Scheme::other(vegas::Vegas::new(setup.largest_window)),
            Self::NewReno(flags) => Scheme::other(NewReno::new(setup.rules, flags, limited_transmit)),
        }
    }

    /// Returns whether it belongs to a control, and works with that alone.
    pub(crate) const fn belongs_to_control(self) -> bool {
        matches!(self, Self::Tahoe | Self::Vegas)
    }

    /// Returns whether it reads SACK: senders without get none, their peers are not asked for it.
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Sack1 | Self::Rfc6675 | Self::Rack)
    }

    /// Returns whether it knows which segments are lost and which in the network, so that a retransmission may wait. Where
    /// segments leave at a rate, an ACK often comes before the retransmission that an earlier one asked for: schemes made to
    /// send at once forget it then.
    pub(crate) const fn remembers_waiting(self) -> bool {
        matches!(self, Self::Rfc6675 | Self::Rack)
    }

    /// Returns the scheme for a peer without SACK.
    pub(crate) fn without_sack() -> Self {
        Self::NewReno(NewRenoFlags::default())
    }

    /// Returns what Reno's window rules halve beside this scheme.
    pub(crate) fn halved(self, rules: Rules, is_precise: bool) -> Halved {
        let halves_flight = match self {
            Self::Sack1 | Self::Vegas => false,
            Self::Rfc6675 | Self::Rack => true,
            Self::Tahoe | Self::Reno { .. } | Self::NewReno(_) => rules == Rules::Rfc,
        };
        match (halves_flight, is_precise) {
            (true, _) => Halved::Flight,
            (false, true) => Halved::Window,
            (false, false) => Halved::WholeWindow,
        }
    }
}

impl Trigger {
    pub(crate) fn build(self) -> LossTrigger {
        match self {
            Self::FewOutstanding => LossTrigger::FewOutstanding,
            Self::ThinStream => LossTrigger::ThinStream,
            Self::ThreeDuplicates => LossTrigger::ThreeDuplicates,
            Self::EarlyRetransmission(reference) => {
                LossTrigger::EarlyRetransmission(EarlyRetransmission::new(reference))
            }
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
        rule: RtoRule::Coarse,
        clock_phase: None,
        linear_when_thin: false,
    };
    /// RFC 6298: 1 ms clock, 1 s floor (2.4), 60 s ceiling (2.5), 1 s before the first sample (2.1).
    pub const RFC: Self = Self {
        tick: Duration::from_millis(1),
        floor: Duration::from_secs(1),
        ceiling: Duration::from_secs(60),
        initial: Duration::from_secs(1),
        rule: RtoRule::Rfc6298,
        clock_phase: None,
        linear_when_thin: false,
    };
    /// Linux 6.x: the floor is one of the variation (`tcp_rto_min_us`), 120 s ceiling (`TCP_RTO_MAX`), 1 s before the first
    /// sample (`TCP_TIMEOUT_INIT`).
    pub const LINUX: Self = Self {
        floor: Duration::from_millis(200),
        ceiling: Duration::from_secs(120),
        rule: RtoRule::Linux,
        ..Self::RFC
    };

    /// Makes the timer fine-grained: 1 ms tick and floor (ER-PERT paper).
    #[must_use]
    pub const fn fine_grained(self) -> Self {
        Self { tick: Duration::from_millis(1), floor: Duration::from_millis(1), ..self }
    }

    pub(crate) fn estimator(&self, seeds: SeedTree) -> Estimator {
        match self.rule {
            RtoRule::Rfc6298 => Estimator::Rfc6298(Rfc6298Estimator::new(self.tick)),
            RtoRule::Linux => Estimator::Linux(LinuxEstimator::new(self.floor)),
            RtoRule::Coarse => {
                let mut random = seeds.child("clock").random();
                let drawn = || random.duration_between(Duration::ZERO, self.tick);
                Estimator::Coarse(CoarseEstimator::new(self.tick, self.clock_phase.unwrap_or_else(drawn)))
            }
        }
    }
}
