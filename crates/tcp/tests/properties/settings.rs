//! Connections of every kind.

use earlybird_tcp::{
    Acking, AgeReference, AlphaRule, Backlog, Bbr1Parameters, BbrParameters, Config, Control, CopaParameters,
    CubicConfig, CurveTail, Delivery, Dupthresh, EcnMode, IdleRto, InitialSsthresh, Lifetimes, LossFactor, MaxDelay,
    NewRenoFlags, PertFlags, PiDesign, PragueParameters, RackConfig, RealTime, ReceiveBuffer, Recovery, RecoveryRules,
    RtoConfig, RtoRestart, Segmentation, SendBufferLimit, SkipResponse, SlowStartRule, SpuriousDetection, Undo,
    VegasParameters, WindowReduction,
};
use earlybird_units::Duration;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

/// A congestion control, whatever its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Reno,
    Pert,
    Cubic,
    Bbr,
    Bbr1,
    Copa,
    Prague,
    Tahoe,
    Vegas,
}

/// A recovery, whatever its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repair {
    Sack1,
    Rfc6675,
    Rack,
    Tahoe,
    Reno,
    NewReno,
    Vegas,
}

impl Family {
    const ALL: [Self; 9] = [
        Self::Reno,
        Self::Pert,
        Self::Cubic,
        Self::Bbr,
        Self::Bbr1,
        Self::Copa,
        Self::Prague,
        Self::Tahoe,
        Self::Vegas,
    ];

    /// Returns every recovery that goes with the control: Tahoe's with that alone, and Vegas' too.
    pub(crate) fn repairs(self) -> Vec<Repair> {
        use Repair::{NewReno, Rack, Reno, Rfc6675, Sack1, Tahoe, Vegas};
        let common = vec![Sack1, Rfc6675, Rack, Reno, NewReno];
        match self {
            Self::Tahoe => vec![Tahoe],
            Self::Vegas => common.into_iter().chain([Vegas]).collect(),
            Self::Reno | Self::Pert | Self::Cubic | Self::Bbr | Self::Bbr1 | Self::Copa | Self::Prague => common,
        }
    }

    fn control(self) -> BoxedStrategy<Control> {
        match self {
            Self::Reno => Just(Control::Reno).boxed(),
            Self::Pert => pert().prop_map(Control::Pert).boxed(),
            Self::Cubic => cubic().prop_map(Control::Cubic).boxed(),
            Self::Bbr => Just(Control::Bbr(BbrParameters::DEFAULT)).boxed(),
            Self::Bbr1 => Just(Control::Bbr1(Bbr1Parameters::LINUX)).boxed(),
            Self::Copa => copa().prop_map(Control::Copa).boxed(),
            Self::Prague => prague().prop_map(Control::Prague).boxed(),
            Self::Tahoe => Just(Control::Tahoe).boxed(),
            Self::Vegas => select(vec![VegasParameters::NS2, VegasParameters::LINUX]).prop_map(Control::Vegas).boxed(),
        }
    }
}

impl Repair {
    fn recovery(self) -> BoxedStrategy<Recovery> {
        match self {
            Self::Sack1 => Just(Recovery::Sack1).boxed(),
            Self::Rfc6675 => Just(Recovery::Rfc6675).boxed(),
            Self::Rack => Just(Recovery::Rack).boxed(),
            Self::Tahoe => Just(Recovery::Tahoe).boxed(),
            Self::Reno => {
                any::<bool>().prop_map(|second_fast_retransmit| Recovery::Reno { second_fast_retransmit }).boxed()
            }
            Self::NewReno => any::<[bool; 2]>()
                .prop_map(|[is_impatient, deflates]| Recovery::NewReno(NewRenoFlags { is_impatient, deflates }))
                .boxed(),
            Self::Vegas => Just(Recovery::Vegas).boxed(),
        }
    }
}

/// Any connection that can be configured, with windows and segments from the smallest up.
pub(crate) fn configs() -> impl Strategy<Value = Config> {
    any_of(configs_with)
}

/// The profiles as they are, except control, recovery and their options, trigger and acknowledging.
pub(crate) fn usual_configs() -> impl Strategy<Value = Config> {
    any_of(usual_configs_with)
}

fn any_of(configs: fn(Family, Repair) -> BoxedStrategy<Config>) -> impl Strategy<Value = Config> {
    let pairs =
        Family::ALL.into_iter().flat_map(|family| family.repairs().into_iter().map(move |repair| (family, repair)));
    Union::new(pairs.map(|(family, repair)| configs(family, repair)))
}

/// [`configs`] of one control and one recovery.
pub(crate) fn configs_with(family: Family, repair: Repair) -> BoxedStrategy<Config> {
    let numbers = (select(vec![1_u16, 10, 536, 1000, 1460]), 1_u32..=64, 1_u32..=10, 0_usize..=4, 0_u64..=40);
    let restarts = select(vec![RtoRestart::Progress, RtoRestart::Duplicates, RtoRestart::Repairs]);
    (usual_configs_with(family, repair), numbers, restarts, any::<[bool; 13]>())
        .prop_map(|(usual, (mss, window, initial_window, sack_blocks, halves), restart, flags)| {
            let [
                limited_transmit,
                precise_halving,
                timestamps,
                bounded_ssthresh,
                fine,
                keeps_idle_timer,
                hold_new_data,
                pacing,
                is_real,
                nagle,
                cwnd_validation,
                byte_counting,
                slow_start_after_idle,
            ] = flags;
            let segmentation = if is_real { Segmentation::Real } else { Segmentation::Simulated };
            usual
                .with_mss(mss)
                .with_segmentation(segmentation)
                .with_nagle(nagle)
                .with_max_window(window)
                .with_receive_buffer(receive_buffer(mss, halves))
                .with_initial_window(initial_window)
                .with_sack_blocks(sack_blocks)
                .with_limited_transmit(limited_transmit)
                .with_sack1_hold_new_data(hold_new_data)
                .with_pacing(pacing)
                .with_cwnd_validation(cwnd_validation)
                .with_byte_counting(byte_counting)
                .with_slow_start_after_idle(slow_start_after_idle)
                .with_precise_halving(precise_halving)
                .with_timestamps(timestamps)
                .with_initial_ssthresh(if bounded_ssthresh {
                    InitialSsthresh::MaxWindow
                } else {
                    InitialSsthresh::Unbounded
                })
                .with_rto_restart(restart)
                .with_idle_rto(if keeps_idle_timer { IdleRto::Keep } else { IdleRto::Stop })
                .with_rto(if fine { usual.timers.rto.fine_grained() } else { usual.timers.rto })
        })
        .boxed()
}

/// Returns a buffer of so many halves of a segment; a few grow; below one segment it is as large as the window.
fn receive_buffer(mss: u16, halves: u64) -> ReceiveBuffer {
    let bytes = (u64::from(mss) * halves).div_ceil(2);
    match halves {
        0 | 1 => ReceiveBuffer::LikeWindow,
        2..=6 => ReceiveBuffer::Tuned { initial: bytes, largest: 100 * bytes },
        _ => ReceiveBuffer::Fixed(bytes),
    }
}

/// [`usual_configs`] of one control and one recovery.
pub(crate) fn usual_configs_with(family: Family, repair: Repair) -> BoxedStrategy<Config> {
    let profiles = select(vec![Config::ns2(), Config::rfc()]);
    let scheme = (family.control(), repair.recovery(), racks());
    (profiles, scheme, triggers(), ackings(), any::<[bool; 3]>(), marks(), undos())
        .prop_map(|(profile, (control, recovery, rack), trigger, acking, flags, ecn, undo)| {
            let [timestamps, is_proportional, forward_rto] = flags;
            // A line may lose eight SYNs in a row. The witness knows segments by their ends, which pieces do not share.
            let profile = profile.with_lifetimes(Lifetimes::UNLIMITED).with_pmtu_black_hole_detection(false);
            let config = profile
                .with_control_only(control)
                .with_recovery_only(recovery)
                .with_rack(rack)
                .with_dupthresh(trigger)
                .with_acking(acking)
                .with_timestamps(timestamps)
                .with_ecn(ecn);
            with_options(config, [is_proportional, forward_rto], undo)
        })
        .boxed()
}

fn racks() -> impl Strategy<Value = RackConfig> {
    let any_rack = (any::<[bool; 4]>(), 0_u32..=8, 0_u64..300).prop_map(
        |([adapts, probes, follows, believes], eighths, delay)| RackConfig {
            adapts_window: adapts,
            probes_tail: probes,
            rtt_from_highest_delivered: follows,
            trusts_sacked_retransmissions: believes,
            reordering_window: f64::from(eighths) / 8.0,
            longest_ack_delay: Duration::from_millis(delay),
            ..RackConfig::RFC
        },
    );
    prop_oneof![Just(RackConfig::RFC), any_rack]
}

/// Returns a configuration what its recovery can do of reducing in proportion and of taking reductions back.
fn with_options(config: Config, [is_proportional, forward_rto]: [bool; 2], undo: Undo) -> Config {
    let knows_flight = matches!(config.recovery.scheme, Recovery::Rfc6675 | Recovery::Rack);
    let keeps_reductions = matches!(config.recovery.scheme, Recovery::Sack1 | Recovery::Tahoe | Recovery::Vegas)
        || config.recovery.rules == RecoveryRules::Ns2;
    let spurious =
        if keeps_reductions { SpuriousDetection::default() } else { SpuriousDetection { forward_rto, undo } };
    let is_proportional = is_proportional && knows_flight;
    let window_reduction = if is_proportional { WindowReduction::Proportional } else { WindowReduction::Immediate };
    config.with_window_reduction(window_reduction).with_spurious(spurious)
}

fn marks() -> impl Strategy<Value = EcnMode> {
    select(vec![EcnMode::Off, EcnMode::Classic, EcnMode::Accurate])
}

fn undos() -> impl Strategy<Value = Undo> {
    select(vec![Undo::None, Undo::Eifel, Undo::DuplicateSack, Undo::Either])
}

fn pert() -> impl Strategy<Value = PertFlags> {
    let presets = vec![
        PertFlags::DEFAULT,
        PertFlags::TEXT,
        PertFlags::GUARDED,
        PertFlags::PORT,
        PertFlags::FLAT,
        PertFlags::HOMOGENEOUS,
        PertFlags::PI,
    ];
    prop_oneof![select(presets), pert_flags()]
}

fn copa() -> impl Strategy<Value = CopaParameters> {
    (1_u32..=40, 1_u64..=20_000, any::<bool>()).prop_map(|(twentieths, millis, competes)| CopaParameters {
        delta: f64::from(twentieths) / 20.0,
        min_rtt_window: Duration::from_millis(millis),
        competes,
    })
}

fn prague() -> impl Strategy<Value = PragueParameters> {
    (1_u32..=16, 0_u64..=50).prop_map(|(sixteenths, millis)| PragueParameters {
        gain: f64::from(sixteenths) / 16.0,
        virtual_rtt: Duration::from_millis(millis),
    })
}

fn cubic() -> impl Strategy<Value = CubicConfig> {
    let versions = vec![CubicConfig::RFC9438, CubicConfig::V21, CubicConfig::V23, CubicConfig::LINUX];
    let rules = vec![
        SlowStartRule::Standard,
        SlowStartRule::Hystart,
        SlowStartRule::HystartLinux,
        SlowStartRule::HystartPlusPlus,
    ];
    (select(versions), select(rules), any::<bool>()).prop_map(|(version, slow_start, fast_convergence)| CubicConfig {
        slow_start,
        fast_convergence,
        ..version
    })
}

fn pert_flags() -> impl Strategy<Value = PertFlags> {
    let rules = vec![AlphaRule::Direct, AlphaRule::Ramped, AlphaRule::Literal];
    let flags = any::<([bool; 6], bool)>();
    (flags, select(rules)).prop_map(|(([is_adaptive, raw, flat, half, growth_on_response, pi], is_guarded), alpha)| {
        PertFlags {
            is_adaptive,
            is_guarded,
            max_delay: if raw { MaxDelay::Raw } else { MaxDelay::Smoothed },
            curve_tail: if flat { CurveTail::Flat } else { CurveTail::Gentle },
            alpha,
            growth_on_response,
            loss_factor: if half { LossFactor::Half } else { LossFactor::Beta },
            pi: pi.then_some(PiDesign::DEFAULT),
        }
    })
}

fn triggers() -> impl Strategy<Value = Dupthresh> {
    let early = [AgeReference::Missing, AgeReference::LastInOrder].map(Dupthresh::EarlyRetransmission);
    select(vec![Dupthresh::ThreeDuplicates, Dupthresh::FewOutstanding, Dupthresh::ThinStream, early[0], early[1]])
}

fn ackings() -> impl Strategy<Value = Acking> {
    let delays = || (1_u64..=200).prop_map(Duration::from_millis);
    let delayed = prop_oneof![delays().prop_map(Acking::Delayed), delays().prop_map(Acking::SecondSegment)];
    let spaced = delays().prop_map(|least| Acking::Spaced { least, most: least * 2 });
    prop_oneof![Just(Acking::EverySegment), delayed, Just(Acking::Adaptive), spaced]
}

/// The settings of a real-time endpoint, except those of the sender.
pub(crate) fn readers() -> impl Strategy<Value = RealTime> {
    let deadline = (1_u64..2000).prop_map(|millis| Delivery::SkipAtDeadline(Duration::from_millis(millis)));
    let deliveries = prop_oneof![Just(Delivery::InOrder), Just(Delivery::SkipWhenWaiting), deadline];
    (deliveries, any::<[bool; 2]>()).prop_map(|(delivery, [framing, skip_notice])| RealTime {
        delivery,
        framing,
        skip_notice,
        ..RealTime::default()
    })
}

fn limits() -> impl Strategy<Value = SendBufferLimit> {
    let window = (1_u32..30, 0_u32..5)
        .prop_map(|(tenths, extra)| SendBufferLimit::Window { per_window: f64::from(tenths) / 10.0, extra });
    prop_oneof![Just(SendBufferLimit::Unlimited), (1_u32..30).prop_map(SendBufferLimit::Segments), window]
}

fn backlogs() -> impl Strategy<Value = Backlog> {
    prop_oneof![
        limits().prop_map(Backlog::Block),
        limits().prop_map(Backlog::AbandonOldest),
        (1_u64..3000).prop_map(|millis| Backlog::AbandonPastDeadline(Duration::from_millis(millis))),
        (1_u64..3000).prop_map(|millis| Backlog::AbandonUndeliverable(Duration::from_millis(millis))),
    ]
}

/// Every mode of an endpoint for frames.
pub(crate) fn modes() -> impl Strategy<Value = RealTime> {
    let responses = prop_oneof![Just(SkipResponse::None), Just(SkipResponse::Reduce)];
    (readers(), backlogs(), responses, any::<bool>(), any::<bool>()).prop_map(
        |(reader, backlog, skip_response, never_retransmits, abandoned_stay_in_flight)| RealTime {
            framing: true,
            backlog,
            skip_response,
            never_retransmits,
            abandoned_stay_in_flight,
            ..reader
        },
    )
}

/// Timers and probes that a clean link never lets run out.
pub(crate) fn patient(config: Config) -> Config {
    let rto = RtoConfig { floor: Duration::from_secs(2), initial: Duration::from_secs(3), ..config.timers.rto };
    // A delayed ACK of several segments may be later than two round trips.
    config.with_rto(rto).with_rack(RackConfig { probes_tail: false, ..config.recovery.rack })
}

pub(crate) fn is_patient(config: &Config) -> bool {
    *config == patient(*config)
}
