//! Connections of every kind.

use earlybird_tcp::EcnMode;
use earlybird_tcp::{
    Acking, AgeReference, AlphaRule, BbrParameters, Config, Control, CubicConfig, CurveTail, LossFactor, MaxDelay,
    NewRenoFlags, PertFlags, PiDesign, PragueParameters, RackConfig, Recovery, RtoConfig, Rules, SlowStartRule,
    SpuriousDetection, Trigger, Undo, VegasParameters, WindowReduction,
};
use earlybird_units::Duration;
use proptest::prelude::*;
use proptest::sample::select;

/// Any connection that can be configured, with windows and segments from the smallest up.
pub(crate) fn configs() -> impl Strategy<Value = Config> {
    (plain_configs(), any::<[bool; 2]>(), undos()).prop_map(|(config, flags, undo)| with_options(config, flags, undo))
}

fn plain_configs() -> impl Strategy<Value = Config> {
    let numbers = (select(vec![1_u16, 10, 536, 1000, 1460]), 1_u32..=64, 1_u32..=10, 0_usize..=4);
    let flags = any::<[bool; 9]>();
    let ecn = select(vec![EcnMode::Off, EcnMode::Classic, EcnMode::Accurate]);
    (profiles(), numbers, (flags, ecn), schemes(), triggers(), ackings()).prop_map(
        |(profile, (mss, window, initial_window, sack_blocks), (flags, ecn), (control, recovery), trigger, acking)| {
            let [
                limited_transmit,
                precise_halving,
                timestamps,
                bounded_ssthresh,
                restart_on_duplicate,
                fine,
                idle,
                holds_new_data,
                paces,
            ] = flags;
            Config {
                ecn,
                mss,
                window,
                initial_window,
                sack_blocks,
                limited_transmit,
                holds_new_data,
                paces,
                precise_halving,
                timestamps,
                bounded_ssthresh,
                restart_on_duplicate,
                control,
                recovery: recovery.unwrap_or(profile.recovery),
                trigger,
                acking,
                keeps_idle_timer: idle,
                rto: if fine { profile.rto.fine_grained() } else { profile.rto },
                ..profile
            }
        },
    )
}

/// The profiles as they are, apart from control, trigger and acknowledging.
pub(crate) fn usual_configs() -> impl Strategy<Value = Config> {
    (profiles(), schemes(), triggers(), ackings(), any::<[bool; 3]>(), undos()).prop_map(
        |(profile, (control, recovery), trigger, acking, [timestamps, is_proportional, forward_rto], undo)| {
            let recovery = recovery.unwrap_or(profile.recovery);
            let config = Config { control, recovery, trigger, acking, timestamps, ..profile };
            with_options(config, [is_proportional, forward_rto], undo)
        },
    )
}

fn profiles() -> impl Strategy<Value = Config> {
    let rack =
        (any::<[bool; 3]>(), 0_u32..=8, 0_u64..300).prop_map(|([is_ns2, adapts, probes], eighths, delay)| Config {
            recovery: Recovery::Rack,
            rack: RackConfig {
                adapts_window: adapts,
                probes_tail: probes,
                reordering_window: f64::from(eighths) / 8.0,
                longest_ack_delay: Duration::from_millis(delay),
                ..RackConfig::RFC
            },
            ..if is_ns2 { Config::ns2() } else { Config::rfc() }
        });
    let by_default = Just(Config { recovery: Recovery::Rack, ..Config::rfc() });
    prop_oneof![Just(Config::ns2()), Just(Config::rfc()), by_default, rack]
}

/// Gives a configuration what its recovery can do of reducing in proportion and of taking reductions back.
fn with_options(config: Config, [is_proportional, forward_rto]: [bool; 2], undo: Undo) -> Config {
    let knows_flight = matches!(config.recovery, Recovery::Rfc6675 | Recovery::Rack);
    let keeps_reductions =
        matches!(config.recovery, Recovery::Sack1 | Recovery::Tahoe | Recovery::Vegas) || config.rules == Rules::Ns2;
    let spurious =
        if keeps_reductions { SpuriousDetection::default() } else { SpuriousDetection { forward_rto, undo } };
    let is_proportional = is_proportional && knows_flight;
    let window_reduction = if is_proportional { WindowReduction::Proportional } else { WindowReduction::Immediate };
    Config { window_reduction, spurious, ..config }
}

fn undos() -> impl Strategy<Value = Undo> {
    select(vec![Undo::None, Undo::Eifel, Undo::DuplicateSack])
}

/// Controls with recoveries that go with them; none is the profile's.
fn schemes() -> impl Strategy<Value = (Control, Option<Recovery>)> {
    let any_control = (controls(), proptest::option::of(recoveries()));
    let tahoe = Just((Control::Tahoe, Some(Recovery::Tahoe)));
    let vegas = |recovery| (Control::Vegas(VegasParameters::LINUX), recovery);
    let vegas = any::<bool>().prop_map(move |is_agent| vegas(is_agent.then_some(Recovery::Vegas)));
    prop_oneof![4 => any_control, 1 => tahoe, 1 => vegas]
}

fn recoveries() -> impl Strategy<Value = Recovery> {
    let reno = any::<bool>().prop_map(|second_fast_retransmit| Recovery::Reno { second_fast_retransmit });
    let newreno = any::<[bool; 2]>()
        .prop_map(|[is_impatient, deflates]| Recovery::NewReno(NewRenoFlags { is_impatient, deflates }));
    prop_oneof![Just(Recovery::Sack1), Just(Recovery::Rfc6675), reno, newreno]
}

fn controls() -> impl Strategy<Value = Control> {
    let presets = vec![
        PertFlags::DEFAULT,
        PertFlags::TEXT,
        PertFlags::PORT,
        PertFlags::FLAT,
        PertFlags::HOMOGENEOUS,
        PertFlags::PI,
    ];
    let pert = prop_oneof![select(presets), pert_flags()];
    prop_oneof![
        Just(Control::Reno),
        pert.prop_map(Control::Pert),
        cubic().prop_map(Control::Cubic),
        Just(Control::Bbr(BbrParameters::DEFAULT)),
        prague().prop_map(Control::Prague)
    ]
}

fn prague() -> impl Strategy<Value = PragueParameters> {
    (1_u32..=16, 0_u64..=50).prop_map(|(sixteenths, millis)| PragueParameters {
        gain: f64::from(sixteenths) / 16.0,
        virtual_rtt: Duration::from_millis(millis),
    })
}

fn cubic() -> impl Strategy<Value = CubicConfig> {
    let versions = vec![CubicConfig::RFC9438, CubicConfig::V21, CubicConfig::V23];
    let rules = vec![SlowStartRule::Standard, SlowStartRule::Hystart, SlowStartRule::HystartPlusPlus];
    (select(versions), select(rules), any::<[bool; 2]>()).prop_map(
        |(version, slow_start, [fast_convergence, grows_only_when_used])| CubicConfig {
            slow_start,
            fast_convergence,
            grows_only_when_used,
            ..version
        },
    )
}

fn pert_flags() -> impl Strategy<Value = PertFlags> {
    let rules = vec![AlphaRule::Direct, AlphaRule::Ramped, AlphaRule::Literal];
    (any::<[bool; 6]>(), select(rules)).prop_map(|([is_adaptive, raw, flat, half, growth_on_response, pi], alpha)| {
        PertFlags {
            is_adaptive,
            max_delay: if raw { MaxDelay::Raw } else { MaxDelay::Smoothed },
            curve_tail: if flat { CurveTail::Flat } else { CurveTail::Gentle },
            alpha,
            growth_on_response,
            loss_factor: if half { LossFactor::Half } else { LossFactor::Beta },
            pi: pi.then_some(PiDesign::DEFAULT),
        }
    })
}

fn triggers() -> impl Strategy<Value = Trigger> {
    let early = [AgeReference::Missing, AgeReference::LastInOrder].map(Trigger::EarlyRetransmission);
    select(vec![Trigger::ThreeDuplicates, Trigger::FewOutstanding, early[0], early[1]])
}

fn ackings() -> impl Strategy<Value = Acking> {
    let delayed = (1_u64..=200).prop_map(|millis| Acking::Delayed(Duration::from_millis(millis)));
    prop_oneof![Just(Acking::EverySegment), delayed]
}

/// Timers and probes that a clean cable never lets run out.
pub(crate) fn patient(config: Config) -> Config {
    let rto = RtoConfig { floor: Duration::from_secs(2), initial: Duration::from_secs(3), ..config.rto };
    // A delayed ACK of several segments may be later than two round trips.
    Config { rto, rack: RackConfig { probes_tail: false, ..config.rack }, ..config }
}
