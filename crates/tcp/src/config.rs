//! What a connection is made of: its parameters and its choice of policies.

pub(crate) mod check;
mod effect;

use crate::policy::acking::Acking;
use crate::policy::buffer::{BufferSize, ReceiveBuffer};
use crate::policy::choice::{Control, EcnMode, Recovery, RecoverySetup, Restart, RtoConfig, Trigger};
use crate::policy::control::CongestionControl;
use crate::policy::control::cubic::CubicConfig;
use crate::policy::control::factory::ControlSetup;
use crate::policy::control::reno::Halved;
use crate::policy::control::tolerant::TolerantParameters;
use crate::policy::lifetimes::Lifetimes;
use crate::policy::recovery::counting::Rules;
use crate::policy::recovery::rack::RackConfig;
use crate::policy::recovery::scheme::Scheme;
use crate::policy::reduction::WindowReduction;
use crate::policy::segmentation::{IpVersion, Segmentation, TIMESTAMPS};
use crate::policy::spurious::{SpuriousDetection, Undo};
use crate::policy::window_probe::WindowProbe;
use crate::real_time::RealTime;
use alloc::boxed::Box;
use earlybird_units::{Duration, SeedTree};

/// Parameters and policies of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Largest segment in bytes: of payload alone, or with its options, as [`Self::segmentation`] says.
    pub mss: u16,
    /// How the stream is cut into segments.
    pub segmentation: Segmentation,
    /// What carries the segments.
    pub ip: IpVersion,
    /// Segments that are repeated in vain become smaller: their path may swallow what is too large for it, and say nothing (RFC
    /// 2923 §2.1, RFC 4821 §4).
    pub finds_black_holes: bool,
    /// A short segment waits while another one is outstanding (RFC 9293 §3.7.4, Minshall's variant).
    pub nagle: bool,
    /// The most bytes that are held: written, and not acknowledged. `None`: without bound.
    pub send_buffer: Option<u64>,
    /// Nothing is taken while so many bytes or more wait to be sent for the first time.
    pub unsent_limit: Option<u64>,
    /// Largest congestion window in segments.
    pub window: u32,
    /// How much is held for an application that does not read, and offered to the peer.
    pub receive_buffer: ReceiveBuffer,
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
    /// Reno's window is of whole segments, as in Linux: ACKs are counted until they are a window (`tcp_cong_avoid_ai`), and a loss
    /// halves the window, used or not (`tcp_reno_ssthresh`), where RFC 5681's equation 4 halves what is in flight.
    pub whole_windows: bool,
    /// Use timestamps (RFC 7323).
    pub timestamps: bool,
    /// Where both sides agreed on timestamps, a segment without one is dropped (RFC 7323 §3.2); Linux takes it.
    pub requires_timestamps: bool,
    /// An answer to the SYN that echoes a time at which none was sent is refused, as Linux does; RFC 7323 does not ask for it.
    pub refuses_foreign_echoes: bool,
    /// How long after an answer to a segment that is not believed the next one is held back; none is if it is zero.
    pub challenge_interval: Duration,
    /// How long to wait for the peer before the connection ends by itself.
    pub lifetimes: Lifetimes,
    /// The most SACK blocks in an ACK.
    pub sack_blocks: usize,
    /// Tell in the first block what arrived twice (DSACK, RFC 2883).
    pub duplicate_sack: bool,
    /// Tell so of a SYN too that comes twice because both sides opened at once, as Linux does; RFC 2883 §4 speaks of data.
    pub duplicate_syn_sack: bool,
    /// Whether queues may mark segments in place of dropping them.
    pub ecn: EcnMode,
    /// When to acknowledge.
    pub acking: Acking,
    /// How much may be in flight.
    pub control: Control,
    /// The window grows only as far as it is used (RFC 7661); ns-2's grows with every ACK.
    pub grows_only_when_used: bool,
    /// ACKs grow the window by the segments that they acknowledge (RFC 3465, without a limit as in Linux), not by one each.
    pub counts_segments: bool,
    /// The window decays while nothing is sent, by half for each timeout, down to the initial one (RFC 5681 §4.1).
    pub restarts_after_idle: bool,
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
    /// `slow_start_restart_`); it also probes a closed window, which else has a timer of its own.
    pub keeps_idle_timer: bool,
    /// What asks a closed window.
    pub window_probe: WindowProbe,
    /// The policies for frames that are worthless when late.
    pub real_time: RealTime,
}

/// RFC 5961 §7 speaks of ten challenges in 5 s, Linux (`tcp_invalid_ratelimit`) of one in half a second for each connection.
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);

/// The timer is never less than so much above the round trip: a few packets of sound may be missing in a row.
const EARLYBIRD_RTO_MARGIN: Duration = Duration::from_millis(30);

impl Config {
    /// Returns ns-2.35's defaults as the papers used them: 1000-byte segments, SACK, an ACK for every segment.
    pub fn ns2() -> Self {
        Self {
            mss: 1000,
            segmentation: Segmentation::Simulated,
            ip: IpVersion::V4,
            finds_black_holes: false,
            nagle: false,
            send_buffer: None,
            unsent_limit: None,
            window: 64,
            receive_buffer: ReceiveBuffer::LikeWindow,
            initial_window: 2,
            bounded_ssthresh: true,
            limited_transmit: true,
            holds_new_data: true,
            precise_halving: true,
            whole_windows: false,
            timestamps: false,
            requires_timestamps: false,
            refuses_foreign_echoes: false,
            challenge_interval: Duration::ZERO,
            lifetimes: Lifetimes::UNLIMITED,
            sack_blocks: check::SACK_BLOCKS,
            duplicate_sack: false,
            duplicate_syn_sack: false,
            ecn: EcnMode::Off,
            acking: Acking::EverySegment,
            control: Control::Reno,
            grows_only_when_used: false,
            counts_segments: false,
            restarts_after_idle: false,
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
            window_probe: WindowProbe::NextByte,
            real_time: RealTime::default(),
        }
    }

    /// Returns current standards: RFC 5681, 6298, 6675, 3042, 7323, initial window of RFC 3390.
    pub fn rfc() -> Self {
        Self {
            // RFC 3390: min(4·MSS, max(2·MSS, 4380 B)) with 1000-byte segments.
            initial_window: 4,
            segmentation: Segmentation::Real,
            finds_black_holes: true,
            bounded_ssthresh: false,
            timestamps: true,
            requires_timestamps: true,
            challenge_interval: CHALLENGE_INTERVAL,
            lifetimes: Lifetimes::RFC,
            duplicate_sack: true,
            grows_only_when_used: true,
            counts_segments: true,
            restarts_after_idle: true,
            recovery: Recovery::Rfc6675,
            rules: Rules::Rfc,
            rto: RtoConfig::RFC,
            keeps_idle_timer: false,
            ..Self::ns2()
        }
    }

    /// Returns what Linux 6.18 does by default: CUBIC with `HyStart`, RACK-TLP, proportional rate reduction, F-RTO, reductions
    /// taken back by timestamps and DSACK, an initial window of ten (RFC 6928), and its retransmission timer.
    pub fn linux() -> Self {
        Self {
            // Ethernet's 1500 bytes without the headers.
            mss: 1460,
            // `tcp_mtu_probing` is off.
            finds_black_holes: false,
            nagle: true,
            // A cap on what is in flight, 6 MB: no peer with that largest `tcp_rmem` offers more. A path that needs more
            // needs a larger one.
            window: 4309,
            window_probe: WindowProbe::Empty,
            initial_window: 10,
            whole_windows: true,
            receive_buffer: ReceiveBuffer::LINUX,
            acking: Acking::Adaptive,
            control: Control::Cubic(CubicConfig::LINUX),
            recovery: Recovery::Rack,
            rack: RackConfig::LINUX,
            window_reduction: WindowReduction::Proportional,
            spurious: SpuriousDetection { forward_rto: true, undo: Undo::Either },
            rto: RtoConfig::LINUX,
            restart: Restart::Repairs,
            requires_timestamps: false,
            refuses_foreign_echoes: true,
            duplicate_syn_sack: true,
            lifetimes: Lifetimes::LINUX,
            ..Self::rfc()
        }
    }

    /// Returns our own real-time transport, for frames that must be there `deadline` after they were written.
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
            // Its timer is shorter than the pauses between frames; what was used stays valid (RFC 7661 §4.4).
            restarts_after_idle: false,
            real_time: RealTime::earlybird_rt(deadline),
            ..Self::rfc()
        }
    }

    /// Returns the payload of a full segment beside what every segment has in options (RFC 6691 §2).
    pub fn payload(&self) -> u16 {
        let options = if self.segmentation == Segmentation::Real && self.timestamps { TIMESTAMPS } else { 0 };
        self.mss.saturating_sub(options as u16).max(1)
    }

    /// Returns the size of the receive buffer at first and at most.
    pub(crate) fn buffers(&self) -> [BufferSize; 2] {
        self.receive_buffer.sizes(u64::from(self.window) * u64::from(self.mss))
    }

    /// Returns how many full segments are offered at most.
    pub(crate) fn buffer_segments(&self) -> u64 {
        self.buffers()[1].offered().div_ceil(u64::from(self.mss))
    }

    /// Returns what a congestion control of such a connection is made from.
    pub fn control_setup(&self, seeds: SeedTree) -> ControlSetup {
        ControlSetup {
            mss: self.mss,
            largest_window: self.window,
            initial_window: self.initial_window,
            ssthresh: if self.bounded_ssthresh { f64::from(self.window) } else { f64::INFINITY },
            halved: self.halved(),
            recovery: self.recovery,
            seeds,
        }
    }

    pub(crate) fn halved(&self) -> Halved {
        match self.recovery.halved(self.rules, self.precise_halving) {
            Halved::Flight if self.whole_windows => Halved::Segments,
            halved => halved,
        }
    }

    pub(crate) fn build_control(&self, seeds: SeedTree) -> Box<dyn CongestionControl> {
        self.control.factory().build(&self.control_setup(seeds))
    }

    /// Makes a scheme of recovery: the one chosen, or one that gives way to it.
    pub(crate) fn build_recovery(&self, recovery: Recovery) -> Scheme {
        recovery.build(&RecoverySetup {
            limited_transmit: self.limited_transmit,
            holds_new_data: self.holds_new_data,
            largest_window: self.window,
            rules: self.rules,
            rack: self.rack,
        })
    }
}
