//! Profiles: the configurations of ns-2, of the RFCs, of Linux, and our own for real-time media.

use super::Config;
use super::check::SACK_BLOCKS;
use super::groups::{
    AckConfig, BufferConfig, Dsack, GrowthConfig, IdleRto, InitialSsthresh, RecoveryConfig, SegmentConfig, TimerConfig,
    TimestampConfig, WindowConfig,
};
use crate::policy::acking::Acking;
use crate::policy::buffer::ReceiveBuffer;
use crate::policy::control::Control;
use crate::policy::control::cubic::CubicConfig;
use crate::policy::control::tolerant::TolerantParameters;
use crate::policy::dupthresh::Dupthresh;
use crate::policy::ecn::EcnMode;
use crate::policy::lifetimes::Lifetimes;
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::policy::recovery::rack::RackConfig;
use crate::policy::reduction::WindowReduction;
use crate::policy::rto::{RtoConfig, RtoRestart};
use crate::policy::segmentation::{IpVersion, Segmentation};
use crate::policy::spurious::{SpuriousDetection, Undo};
use crate::policy::window_probe::WindowProbe;
use crate::real_time::RealTime;
use earlybird_units::Duration;

/// RFC 5961 §7 speaks of ten challenges in 5 s, Linux (`tcp_invalid_ratelimit`) of one in half a second for each connection.
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);

/// The timer is never less than so much above the round trip: a few packets of sound may be missing in a row.
const EARLYBIRD_RTO_MARGIN: Duration = Duration::from_millis(30);

impl Config {
    /// Returns ns-2.35's defaults as the papers used them: 1000-byte segments, SACK, an ACK for every segment.
    pub const fn ns2() -> Self {
        Self {
            segments: SegmentConfig {
                mss: 1000,
                // ns-2 counts packets of `packetSize_` bytes of payload.
                segmentation: Segmentation::Simulated,
                ip: IpVersion::V4,
                nagle: false,
                pmtu_black_hole_detection: false,
            },
            buffers: BufferConfig { send: None, unsent_limit: None, receive: ReceiveBuffer::LikeWindow },
            window: WindowConfig {
                max: 64,
                initial: 2,
                // ns-2: `ssthresh_ = int(wnd_)` in `reset`.
                initial_ssthresh: InitialSsthresh::MaxWindow,
                precise_halving: true,
                integer_cwnd: false,
            },
            // The window of ns-2 grows with every ACK, used or not.
            growth: GrowthConfig { cwnd_validation: false, byte_counting: false, slow_start_after_idle: false },
            control: Control::Reno,
            pacing: false,
            ecn: EcnMode::Off,
            timestamps: TimestampConfig { enabled: false, required: false, validate_tsecr: false },
            acks: AckConfig {
                policy: Acking::EverySegment,
                sack_blocks: SACK_BLOCKS,
                dsack: Dsack::Off,
                challenge_interval: Duration::ZERO,
            },
            recovery: RecoveryConfig {
                scheme: Recovery::Sack1,
                rules: RecoveryRules::Ns2,
                limited_transmit: true,
                // `tcp-sack1.cc`, `send_much`: a hole found outside recovery ends the loop.
                sack1_hold_new_data: true,
                window_reduction: WindowReduction::Immediate,
                spurious: SpuriousDetection { forward_rto: false, undo: Undo::None },
                // Unused by this profile; a valid value for those that select RACK-TLP on top of it.
                rack: RackConfig::RFC,
                dupthresh: Dupthresh::ThreeDuplicates,
            },
            timers: TimerConfig {
                rto: RtoConfig::NS2,
                restart: RtoRestart::Progress,
                // `slow_start_restart_ true` is the default of ns-2.
                idle: IdleRto::Keep,
                window_probe: WindowProbe::NextByte,
            },
            lifetimes: Lifetimes::UNLIMITED,
            real_time: RealTime::OFF,
        }
    }

    /// Returns current standards: RFC 5681, 6298, 6675, 3042, 7323, initial window of RFC 3390.
    pub const fn rfc() -> Self {
        Self::ns2()
            .with_segmentation(Segmentation::Real)
            .with_pmtu_black_hole_detection(true)
            // RFC 3390: min(4·MSS, max(2·MSS, 4380 B)) with 1000-byte segments.
            .with_initial_window(4)
            .with_initial_ssthresh(InitialSsthresh::Unbounded)
            // RFC 7661 and RFC 3465 are assumed by RFC 9438 §5.8 and by all current stacks.
            .with_cwnd_validation(true)
            .with_byte_counting(true)
            .with_slow_start_after_idle(true)
            .with_timestamps(true)
            .with_required_timestamps(true)
            .with_dsack(Dsack::Data)
            .with_challenge_interval(CHALLENGE_INTERVAL)
            .with_recovery_only(Recovery::Rfc6675)
            .with_rules(RecoveryRules::Rfc)
            .with_rto(RtoConfig::RFC)
            .with_idle_rto(IdleRto::Stop)
            .with_lifetimes(Lifetimes::RFC)
    }

    /// Returns what Linux 6.18 does by default: CUBIC with `HyStart`, RACK-TLP, proportional rate reduction, F-RTO, reductions
    /// undone by timestamps and DSACK, an initial window of ten (RFC 6928), and its retransmission timer.
    pub const fn linux() -> Self {
        Self::rfc()
            // Ethernet's 1500 bytes without the headers.
            .with_mss(1460)
            // `tcp_mtu_probing` is off.
            .with_pmtu_black_hole_detection(false)
            // RFC 9293 §3.7.4, SHOULD-7; `TCP_NODELAY` turns it off.
            .with_nagle(true)
            // A cap on the flight, 6 MB: no peer with that largest `tcp_rmem` offers more. A path that needs more needs a larger one.
            .with_max_window(4309)
            .with_window_probe(WindowProbe::Empty)
            .with_initial_window(10)
            .with_integer_cwnd(true)
            .with_receive_buffer(ReceiveBuffer::LINUX)
            .with_acking(Acking::Adaptive)
            .with_control_only(Control::Cubic(CubicConfig::LINUX))
            .with_recovery_only(Recovery::Rack)
            .with_rack(RackConfig::LINUX)
            .with_window_reduction(WindowReduction::Proportional)
            .with_spurious(SpuriousDetection { forward_rto: true, undo: Undo::Either })
            .with_rto(RtoConfig::LINUX)
            .with_rto_restart(RtoRestart::Repairs)
            // Linux accepts segments without the option (`tcp_fast_parse_options`).
            .with_required_timestamps(false)
            // `tcp_rcv_synsent_state_process`: `LINUX_MIB_PAWSACTIVEREJECTED`.
            .with_tsecr_validation(true)
            .with_dsack(Dsack::DataAndSyn)
            .with_lifetimes(Lifetimes::LINUX)
    }

    /// Returns our own real-time transport, for frames with a deadline of `deadline` after they were written.
    ///
    /// RACK-TLP detects losses, without waiting for reordering that was never seen. The window falls by proportional rate
    /// reduction if the delay shows that the loss was congestion. The timer detects that nothing arrives at all: it is fine-grained,
    /// restarts while anything arrives, and F-RTO undoes it. docs/real-time-mode.md has the reasons.
    pub const fn earlybird_rt(deadline: Duration) -> Self {
        // A window that DSACKs have widened is reset after recoveries; a stream on a lossy path is in a single one for minutes.
        let rack = RackConfig {
            expects_reordering: false,
            adapts_window: false,
            timeout_marks_first: true,
            ..RackConfig::RFC
        };
        let rto = RtoConfig { tick: EARLYBIRD_RTO_MARGIN, floor: EARLYBIRD_RTO_MARGIN, ..RtoConfig::RFC };
        Self::rfc()
            // RFC 6928.
            .with_initial_window(10)
            .with_control_only(Control::Tolerant(TolerantParameters::DEFAULT))
            .with_recovery_only(Recovery::Rack)
            .with_rack(rack)
            .with_window_reduction(WindowReduction::Proportional)
            .with_spurious(SpuriousDetection { forward_rto: true, undo: Undo::None })
            .with_rto(rto)
            .with_rto_restart(RtoRestart::Arrivals)
            // Its timer is shorter than the pauses between frames; what was used stays valid (RFC 7661 §4.4).
            .with_slow_start_after_idle(false)
            .with_real_time(RealTime::earlybird_rt(deadline))
    }
}
