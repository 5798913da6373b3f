//! Every kind of sender, by name.

use earlybird_tcp::{
    Acking, AgeReference, Bbr1Parameters, BbrParameters, Config, Control, CopaParameters, CubicConfig, Dsack,
    Dupthresh, EcnMode, NewRenoFlags, PertFlags, PragueParameters, RackConfig, RealTime, Recovery, RtoConfig,
    RtoRestart, Segmentation, SendBufferLimit, SlowStartRule, SpuriousDetection, Undo, VegasParameters,
    WindowReduction,
};
use earlybird_units::Duration;

/// Returns every sender: the parts that go together, in the profiles that have them.
pub(crate) fn all() -> Vec<(String, Config)> {
    owned([controls(), recoveries(), details(), real_time()].into_iter().flatten())
}

/// Returns named senders that are not drawn from: one more of those would change every drawn sender.
pub(crate) fn undrawn() -> Vec<(String, Config)> {
    let bbr1 = racked(Control::Bbr1(Bbr1Parameters::LINUX));
    owned([("bbr1", bbr1), ("bbr1-rfc6675", bbr1.with_recovery_only(Recovery::Rfc6675))].into_iter())
}

fn owned(named: impl Iterator<Item = (&'static str, Config)>) -> Vec<(String, Config)> {
    named.map(|(name, config)| (name.to_owned(), config)).collect()
}

type Named = Vec<(&'static str, Config)>;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A window that paths and not itself limit.
fn ns2() -> Config {
    Config::ns2().with_max_window(200)
}

fn rfc() -> Config {
    Config::rfc().with_max_window(200)
}

/// Segments as real networks ask for them.
fn real() -> Config {
    rfc().with_segmentation(Segmentation::Real)
}

fn racked(control: Control) -> Config {
    rfc()
        .with_control_only(control)
        .with_recovery_only(Recovery::Rack)
        .with_window_reduction(WindowReduction::Proportional)
}

fn controls() -> Named {
    let pert = |flags| ns2().with_control_only(Control::Pert(flags));
    let cubic = |parameters| rfc().with_control_only(Control::Cubic(parameters));
    let prague = racked(Control::Prague(PragueParameters::DEFAULT)).with_ecn(EcnMode::Accurate);
    let starts = |rule| cubic(CubicConfig { slow_start: rule, ..CubicConfig::RFC9438 });
    vec![
        ("sack-ns2", ns2()),
        ("sack-rfc", rfc()),
        ("linux", Config::linux()),
        ("real", real()),
        ("real-cubic", real().with_control_only(Control::Cubic(CubicConfig::RFC9438))),
        ("pert", pert(PertFlags::DEFAULT)),
        ("pert-text", pert(PertFlags::TEXT)),
        ("pert-guarded", pert(PertFlags::GUARDED)),
        ("pert-port", pert(PertFlags::PORT)),
        ("pert-flat", pert(PertFlags::FLAT)),
        ("pert-homogeneous", pert(PertFlags::HOMOGENEOUS)),
        ("pert-pi", pert(PertFlags::PI)),
        ("pert-rfc", rfc().with_control_only(Control::Pert(PertFlags::DEFAULT))),
        ("cubic-rfc9438", cubic(CubicConfig::RFC9438)),
        ("cubic-v21", cubic(CubicConfig::V21)),
        ("cubic-v23", cubic(CubicConfig::V23)),
        ("cubic-ns2", ns2().with_control_only(Control::Cubic(CubicConfig::V21))),
        ("cubic-hystart", starts(SlowStartRule::Hystart)),
        ("cubic-hystart-linux", starts(SlowStartRule::HystartLinux)),
        ("cubic-hystart++", starts(SlowStartRule::HystartPlusPlus)),
        ("bbr", racked(Control::Bbr(BbrParameters::DEFAULT))),
        ("bbr-rfc6675", racked(Control::Bbr(BbrParameters::DEFAULT)).with_recovery_only(Recovery::Rfc6675)),
        ("copa", rfc().with_recovery_only(Recovery::Rack).with_control_only(Control::Copa(CopaParameters::DEFAULT))),
        ("prague", prague),
        ("prague-classic", prague.with_ecn(EcnMode::Classic)),
        (
            "vegas-ns2",
            ns2().with_control_only(Control::Vegas(VegasParameters::NS2)).with_recovery_only(Recovery::Vegas),
        ),
        ("vegas-linux", rfc().with_control_only(Control::Vegas(VegasParameters::LINUX))),
    ]
}

fn recoveries() -> Named {
    let reno = |second_fast_retransmit| Recovery::Reno { second_fast_retransmit };
    let newreno = |is_impatient, deflates| Recovery::NewReno(NewRenoFlags { is_impatient, deflates });
    let rack = |rack| racked(Control::Reno).with_rack(rack);
    let detects = |forward_rto, undo| racked(Control::Reno).with_spurious(SpuriousDetection { forward_rto, undo });
    vec![
        ("tahoe", ns2().with_control_only(Control::Tahoe).with_recovery_only(Recovery::Tahoe)),
        ("reno", ns2().with_recovery_only(reno(false))),
        ("reno-again", ns2().with_recovery_only(reno(true))),
        ("reno-rfc", rfc().with_recovery_only(reno(true))),
        ("newreno", ns2().with_recovery_only(newreno(false, false))),
        ("newreno-ns2-deflating", ns2().with_recovery_only(newreno(false, true))),
        ("newreno-impatient", rfc().with_recovery_only(newreno(true, true))),
        ("newreno-deflating", rfc().with_recovery_only(newreno(false, true))),
        ("rack", racked(Control::Reno)),
        ("rack-cubic", racked(Control::Cubic(CubicConfig::RFC9438))),
        ("rack-immediate", racked(Control::Reno).with_window_reduction(WindowReduction::Immediate)),
        ("rack-without-probes", rack(RackConfig { probes_tail: false, ..RackConfig::RFC })),
        ("rack-unadapting", rack(RackConfig { adapts_window: false, ..RackConfig::RFC })),
        ("rfc6675-proportional", rfc().with_window_reduction(WindowReduction::Proportional)),
        ("forward-rto", detects(true, Undo::None)),
        ("eifel", detects(false, Undo::Eifel)),
        ("undo-by-dsack", detects(false, Undo::DuplicateSack)),
        ("undo-either", detects(true, Undo::Either)),
    ]
}

fn details() -> Named {
    let early = |reference| Dupthresh::EarlyRetransmission(reference);
    vec![
        ("early", ns2().with_dupthresh(early(AgeReference::Missing))),
        ("early-last", ns2().with_dupthresh(early(AgeReference::LastInOrder))),
        (
            "early-pert",
            ns2().with_dupthresh(early(AgeReference::Missing)).with_control_only(Control::Pert(PertFlags::DEFAULT)),
        ),
        ("early-rfc", rfc().with_dupthresh(early(AgeReference::Missing))),
        ("few-outstanding", rfc().with_dupthresh(Dupthresh::FewOutstanding)),
        ("fine-timer", ns2().with_rto(RtoConfig::NS2.fine_grained())),
        ("clocked-timer", ns2().with_rto(RtoConfig { clock_phase: Some(millis(30)), ..RtoConfig::NS2 })),
        ("restart-on-duplicates", ns2().with_rto_restart(RtoRestart::Duplicates)),
        ("delayed", ns2().with_acking(Acking::Delayed(millis(100)))),
        ("every-second", rfc().with_acking(Acking::SecondSegment(millis(40)))),
        ("adaptive", rfc().with_acking(Acking::Adaptive)),
        ("classic-marks", rfc().with_ecn(EcnMode::Classic)),
        ("accurate-marks", racked(Control::Cubic(CubicConfig::RFC9438)).with_ecn(EcnMode::Accurate)),
        ("paced", rfc().with_pacing(true)),
        ("nagle", rfc().with_nagle(true)),
        ("nagle-real", real().with_nagle(true)),
        ("small-window", rfc().with_max_window(6)),
        ("small-window-ns2", ns2().with_max_window(6).with_limited_transmit(false)),
        ("one-block", rfc().with_sack_blocks(1).with_dsack(Dsack::Off)),
    ]
}

fn real_time() -> Named {
    let mode = |real_time| rfc().with_real_time(real_time);
    vec![
        ("mtcp", mode(RealTime::mtcp(SendBufferLimit::Segments(20)))),
        ("tltcp", mode(RealTime::tltcp(millis(300)))),
        ("tcp-rc", mode(RealTime::tcp_rc())),
        ("mtp", mode(RealTime::mtp(SendBufferLimit::Segments(20)))),
        ("limited-buffer", mode(RealTime::limited_buffer())),
        ("hollywood", mode(RealTime::hollywood(millis(250)))),
        ("earlybird-rt", Config::earlybird_rt(millis(250))),
    ]
}
