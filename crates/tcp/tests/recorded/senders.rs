//! Every kind of sender, by name.

use earlybird_tcp::{
    Acking, AgeReference, BbrParameters, Config, Control, CopaParameters, CubicConfig, EcnMode, NewRenoFlags,
    PertFlags, PragueParameters, RackConfig, RealTime, Recovery, Restart, RtoConfig, Segmentation, SendLimit,
    SlowStartRule, SpuriousDetection, Trigger, Undo, VegasParameters, WindowReduction,
};
use earlybird_units::Duration;

/// Returns every sender: the parts that go together, in the profiles that have them.
pub(crate) fn all() -> Vec<(String, Config)> {
    let parts = [controls(), recoveries(), details(), real_time()];
    parts.into_iter().flatten().map(|(name, config)| (name.to_owned(), config)).collect()
}

type Named = Vec<(&'static str, Config)>;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A window that roads and not itself limit.
fn ns2() -> Config {
    Config { window: 200, ..Config::ns2() }
}

fn rfc() -> Config {
    Config { window: 200, ..Config::rfc() }
}

/// Segments as real networks ask for them.
fn real() -> Config {
    Config { segmentation: Segmentation::Real, ..rfc() }
}

fn racked(control: Control) -> Config {
    Config { control, recovery: Recovery::Rack, window_reduction: WindowReduction::Proportional, ..rfc() }
}

fn controls() -> Named {
    let pert = |flags| Config { control: Control::Pert(flags), ..ns2() };
    let cubic = |parameters| Config { control: Control::Cubic(parameters), ..rfc() };
    let prague = Config { ecn: EcnMode::Accurate, ..racked(Control::Prague(PragueParameters::DEFAULT)) };
    let starts = |rule| cubic(CubicConfig { slow_start: rule, ..CubicConfig::RFC9438 });
    vec![
        ("sack-ns2", ns2()),
        ("sack-rfc", rfc()),
        ("linux", Config::linux()),
        ("real", real()),
        ("real-cubic", Config { control: Control::Cubic(CubicConfig::RFC9438), ..real() }),
        ("pert", pert(PertFlags::DEFAULT)),
        ("pert-text", pert(PertFlags::TEXT)),
        ("pert-guarded", pert(PertFlags::GUARDED)),
        ("pert-port", pert(PertFlags::PORT)),
        ("pert-flat", pert(PertFlags::FLAT)),
        ("pert-homogeneous", pert(PertFlags::HOMOGENEOUS)),
        ("pert-pi", pert(PertFlags::PI)),
        ("pert-rfc", Config { control: Control::Pert(PertFlags::DEFAULT), ..rfc() }),
        ("cubic-rfc9438", cubic(CubicConfig::RFC9438)),
        ("cubic-v21", cubic(CubicConfig::V21)),
        ("cubic-v23", cubic(CubicConfig::V23)),
        ("cubic-ns2", Config { control: Control::Cubic(CubicConfig::V21), ..ns2() }),
        ("cubic-hystart", starts(SlowStartRule::Hystart)),
        ("cubic-hystart-linux", starts(SlowStartRule::HystartLinux)),
        ("cubic-hystart++", starts(SlowStartRule::HystartPlusPlus)),
        ("bbr", racked(Control::Bbr(BbrParameters::DEFAULT))),
        ("bbr-rfc6675", Config { recovery: Recovery::Rfc6675, ..racked(Control::Bbr(BbrParameters::DEFAULT)) }),
        ("copa", Config { recovery: Recovery::Rack, control: Control::Copa(CopaParameters::DEFAULT), ..rfc() }),
        ("prague", prague),
        ("prague-classic", Config { ecn: EcnMode::Classic, ..prague }),
        ("vegas-ns2", Config { control: Control::Vegas(VegasParameters::NS2), recovery: Recovery::Vegas, ..ns2() }),
        ("vegas-linux", Config { control: Control::Vegas(VegasParameters::LINUX), ..rfc() }),
    ]
}

fn recoveries() -> Named {
    let reno = |second_fast_retransmit| Recovery::Reno { second_fast_retransmit };
    let newreno = |is_impatient, deflates| Recovery::NewReno(NewRenoFlags { is_impatient, deflates });
    let rack = |rack| Config { rack, ..racked(Control::Reno) };
    let detects =
        |forward_rto, undo| Config { spurious: SpuriousDetection { forward_rto, undo }, ..racked(Control::Reno) };
    vec![
        ("tahoe", Config { control: Control::Tahoe, recovery: Recovery::Tahoe, ..ns2() }),
        ("reno", Config { recovery: reno(false), ..ns2() }),
        ("reno-again", Config { recovery: reno(true), ..ns2() }),
        ("reno-rfc", Config { recovery: reno(true), ..rfc() }),
        ("newreno", Config { recovery: newreno(false, false), ..ns2() }),
        ("newreno-ns2-deflating", Config { recovery: newreno(false, true), ..ns2() }),
        ("newreno-impatient", Config { recovery: newreno(true, true), ..rfc() }),
        ("newreno-deflating", Config { recovery: newreno(false, true), ..rfc() }),
        ("rack", racked(Control::Reno)),
        ("rack-cubic", racked(Control::Cubic(CubicConfig::RFC9438))),
        ("rack-immediate", Config { window_reduction: WindowReduction::Immediate, ..racked(Control::Reno) }),
        ("rack-without-probes", rack(RackConfig { probes_tail: false, ..RackConfig::RFC })),
        ("rack-unadapting", rack(RackConfig { adapts_window: false, ..RackConfig::RFC })),
        ("rfc6675-proportional", Config { window_reduction: WindowReduction::Proportional, ..rfc() }),
        ("forward-rto", detects(true, Undo::None)),
        ("eifel", detects(false, Undo::Eifel)),
        ("undo-by-dsack", detects(false, Undo::DuplicateSack)),
        ("undo-either", detects(true, Undo::Either)),
    ]
}

fn details() -> Named {
    let early = |reference| Trigger::EarlyRetransmission(reference);
    vec![
        ("early", Config { trigger: early(AgeReference::Missing), ..ns2() }),
        ("early-last", Config { trigger: early(AgeReference::LastInOrder), ..ns2() }),
        (
            "early-pert",
            Config { trigger: early(AgeReference::Missing), control: Control::Pert(PertFlags::DEFAULT), ..ns2() },
        ),
        ("early-rfc", Config { trigger: early(AgeReference::Missing), ..rfc() }),
        ("few-outstanding", Config { trigger: Trigger::FewOutstanding, ..rfc() }),
        ("fine-timer", Config { rto: RtoConfig::NS2.fine_grained(), ..ns2() }),
        ("clocked-timer", Config { rto: RtoConfig { clock_phase: Some(millis(30)), ..RtoConfig::NS2 }, ..ns2() }),
        ("restart-on-duplicates", Config { restart: Restart::Duplicates, ..ns2() }),
        ("delayed", Config { acking: Acking::Delayed(millis(100)), ..ns2() }),
        ("every-second", Config { acking: Acking::SecondSegment(millis(40)), ..rfc() }),
        ("adaptive", Config { acking: Acking::Adaptive, ..rfc() }),
        ("classic-marks", Config { ecn: EcnMode::Classic, ..rfc() }),
        ("accurate-marks", Config { ecn: EcnMode::Accurate, ..racked(Control::Cubic(CubicConfig::RFC9438)) }),
        ("paced", Config { paces: true, ..rfc() }),
        ("nagle", Config { nagle: true, ..rfc() }),
        ("nagle-real", Config { nagle: true, ..real() }),
        ("small-window", Config { window: 6, ..rfc() }),
        ("small-window-ns2", Config { window: 6, limited_transmit: false, ..ns2() }),
        ("one-block", Config { sack_blocks: 1, duplicate_sack: false, ..rfc() }),
    ]
}

fn real_time() -> Named {
    let mode = |real_time| Config { real_time, ..rfc() };
    vec![
        ("mtcp", mode(RealTime::mtcp(SendLimit::Segments(20)))),
        ("tltcp", mode(RealTime::tltcp(millis(300)))),
        ("tcp-rc", mode(RealTime::tcp_rc())),
        ("mtp", mode(RealTime::mtp(SendLimit::Segments(20)))),
        ("limited-buffer", mode(RealTime::limited_buffer())),
        ("hollywood", mode(RealTime::hollywood(millis(250)))),
        ("earlybird-rt", Config::earlybird_rt(millis(250))),
    ]
}
